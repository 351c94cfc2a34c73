/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* File operations. */
#define FAMILY_efile_latency
#include "view.bpf.h"
#include "handlers.h"

#include "tell.bpf.h"
#include "hook_efile_queue.bpf.h"
#include "hook_efile.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
