/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ports, sockets among them, and callbacks of drivers. */
#define FAMILY_ports
#include "view.bpf.h"
#include "handlers.h"

#include "tell.bpf.h"
#include "hook_driver.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
