/* SPDX-License-Identifier: Apache-2.0 */
/* Where the results go, when their reader may be slow or gone. */
#ifndef TOOLS_OUTPUT_H
#define TOOLS_OUTPUT_H

#include <stdio.h>

struct output {
    FILE *file; /* print to this */
    int out, signals;
    int failed;   /* an errno; ETIMEDOUT: given up */
};

/*
 * Writes to `out` wait for the reader, but once a signal came, which `signals` tells (signals.h), for
 * a second at most. Owns: neither descriptor.
 */
int output_open(struct output *o, int out, int signals);
void output_close(struct output *o);

#endif
