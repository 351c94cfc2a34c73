/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Code: what is looked for and loaded. */
#define FAMILY_code
#include "view.bpf.h"
#include "handlers.h"

#include "tell.bpf.h"
#include "hook_code.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
