/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Processes: their births and ends, messages, schedulers, collections. */
#define FAMILY_msg_sched
#include "view.bpf.h"
#include "handlers.h"

#include "tell.bpf.h"
#include "hook_arrival.bpf.h"
#include "hook_process.bpf.h"
#include "hook_mailbox.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
