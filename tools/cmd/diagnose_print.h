/* SPDX-License-Identifier: Apache-2.0 */
/* What diagnose found, told: as a table for people, or as rows for programs. */
#ifndef TOOLS_DIAGNOSE_PRINT_H
#define TOOLS_DIAGNOSE_PRINT_H

#include "diagnose/findings.h"
#include "sink/sink.h"

/* All of it stays the caller's. */
struct diagnosis {
    uint32_t pid;
    const char *name;     /* of the VM: untrusted */
    const char *no_ports; /* why its ports cannot be read; "": they can, or that is not known */
    const char *file;     /* the recording that tells of it, and that alone; NULL: it was looked at */
    const struct evidence *evidence;
    const struct counted *counted; /* NULL: nothing was to be attached */
    const struct findings *found;
    int ended; /* why there was no more to be seen of the VM; 0: there was */
};

enum {
    DIAGNOSIS_LEAST_LOOKS = 8, /* fewer do not tell what grows */
    DIAGNOSIS_SEE_BYTES = 4352,
    DIAGNOSIS_FOUND = 3, /* the exit status when something was found */
};

/* The findings, `shown` of them at most, and what is not known. */
void diagnosis_print(const struct diagnosis *d, struct sink *sink, size_t shown);
/* The command that shows more of a finding. Returns `buf`. */
const char *diagnosis_see(const struct diagnosis *d, const struct finding *f, char buf[DIAGNOSIS_SEE_BYTES]);

#endif
