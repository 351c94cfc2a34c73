/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What all families of views share: maps and settings (family.bpf.h), and the program that sees code go. */
#include "view.bpf.h"
#include "note.bpf.h"
#include "hook.bpf.h"
#include "otp_purge.bpf.h"
#include "tell.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
