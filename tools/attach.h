/* SPDX-License-Identifier: Apache-2.0 */
/* BPF programs put onto the probe sites of targets. */
#ifndef TOOLS_ATTACH_H
#define TOOLS_ATTACH_H

#include <bpf/libbpf.h>

#include "target.h"

struct attach {
    struct bpf_object *object; /* loaded */
    struct bpf_link **links;
    size_t nlinks;
    uint32_t nspecs; /* slots of the map "specs" in use */
};

/*
 * Attaches every program that is loaded and named for a probe of this provider, for process
 * `pid` only or for all (-1). Notes on standard error what the target lacks. Returns how many
 * sites. Fails: said.
 */
int attach_target(struct attach *a, const struct target *target, int pid);
/* Removes every probe; the semaphores fall back to what they were. */
void attach_clear(struct attach *a);
/* Says why the kernel refused, with what to do. Returns err. */
int attach_explain(int err, const char *what);

#endif
