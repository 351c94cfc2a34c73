/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Other nodes. */
#define FAMILY_dist
#include "view.bpf.h"
#include "handlers.h"

#include "tell.bpf.h"
#include "hook_dist.bpf.h"
#include "hook_dist_busy.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
