/* SPDX-License-Identifier: Apache-2.0 */
/* BPF programs put onto the probe sites of targets. */
#ifndef TOOLS_ATTACH_H
#define TOOLS_ATTACH_H

#include <bpf/libbpf.h>
#include <stdbool.h>

#include "target.h"

struct attach {
    struct bpf_object *object;
    int *links; /* descriptors */
    size_t nlinks;
    uint32_t nspecs; /* slots of the map "specs" in use */
    bool multi;      /* one link a program, without perf events (kernel 6.6 and later) */
};

/*
 * Before the load: chooses the kind of links, and when the only target is known (else NULL)
 * tells the programs where its arguments stand.
 */
void attach_prepare(struct attach *a, struct bpf_object *object, const struct target *only);
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
