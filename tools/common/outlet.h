/* SPDX-License-Identifier: Apache-2.0 */
/* Where the results go, when their reader may be slow or gone. */
#ifndef TOOLS_OUTLET_H
#define TOOLS_OUTLET_H

#include <stdio.h>

struct outlet {
    FILE *file; /* print to this */
    int out, signals;
    int failed;   /* an errno; ETIMEDOUT: given up */
};

/*
 * Writes to `out` wait for the reader, but once a signal came, which `signals` tells (signals.h), for
 * a second at most. Owns: neither descriptor.
 */
int outlet_open(struct outlet *o, int out, int signals);
void outlet_close(struct outlet *o);

#endif
