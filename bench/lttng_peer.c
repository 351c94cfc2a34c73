/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an event of LTTng's user space tracer costs: fires argv[1] events of two integers from one thread and prints the
 * nanoseconds that each took. bench/engine.py runs it with nobody listening and into a session that writes to disk.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int argc, char **argv)
{
    unsigned long n = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
    double begun = now_ns();

    if (n == 0) {
        fprintf(stderr, "usage: lttng_peer EVENTS\n");
        return 2;
    }
    for (unsigned long i = 0; i < n; i++)
        lttng_ust_tracepoint(erlsnoop_bench, sent, i, 3);
    printf("%.1f\n", (now_ns() - begun) / n);
    return 0;
}
