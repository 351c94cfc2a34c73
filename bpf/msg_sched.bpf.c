/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Processes: their births and ends, messages, schedulers, collections. */
#define FAMILY_msg_sched
#include "view.bpf.h"

#include "view_owners.h"
#include "view_exits.h"
#include "view_gc.h"
#include "view_messages.h"
#include "view_msglat.h"
#include "view_sched.h"
#include "view_spawns.h"

#include "tell.bpf.h"
#include "hook_process.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
