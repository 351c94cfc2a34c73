/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Calls of servers. */
#define FAMILY_requests
#include "view.bpf.h"
#include "handlers.h"

#include "tell.bpf.h"
#include "hook_request.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
