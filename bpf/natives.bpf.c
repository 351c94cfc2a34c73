/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Native functions, those of ets and of timers among them, and what Erlang code tells through one (dyntrace). */
#define FAMILY_natives
#include "view.bpf.h"
#include "handlers.h"

#include "tell.bpf.h"
#include "hook_ets.bpf.h"
#include "hook_nif.bpf.h"
#include "hook_timer.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
