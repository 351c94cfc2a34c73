/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where threads of a program are, some times for each second that they run: the kernel writes down their registers and
 * the top of their stacks. Nothing is put into the program. Source: perf_event_open(2).
 */
#ifndef TOOLS_THREAD_SAMPLES_H
#define TOOLS_THREAD_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

enum { THREAD_SAMPLES_HZ = 97, THREAD_SAMPLE_WORDS = 128, THREAD_SAMPLES_WHY_BYTES = 160 };

struct thread_samples;

/* What the program would go on with: also of a thread that was in the kernel. */
struct thread_sample {
    uint64_t ip, words[THREAD_SAMPLE_WORDS]; /* words: from the stack pointer on */
    size_t n;
};

/* Owns: thread_samples_free frees. Fails: -errno, with the reason in `why`; -ENOMEM. No message. */
int thread_samples_new(const int *threads, size_t n, struct thread_samples **out, char why[THREAD_SAMPLES_WHY_BYTES]);
void thread_samples_free(struct thread_samples *samples);
/* Tells `take` those that came since the last time; what there was no room for is lost. */
void thread_samples_read(struct thread_samples *samples, void (*take)(void *ctx, const struct thread_sample *sample),
                         void *ctx);

#endif
