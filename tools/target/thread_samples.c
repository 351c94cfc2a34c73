/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: a record is read only as far as it says that it goes, and never past what the kernel has written. */
#include "thread_samples.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    DATA_BYTES = 16 * PAGE, /* a power of two pages */
    MOST_RECORD = 4096,
};

struct sampled {
    int event;
    struct perf_event_mmap_page *page; /* and DATA_BYTES behind it */
};

struct thread_samples {
    size_t n;
    struct sampled threads[];
};

static int open_one(int thread, struct sampled *out)
{
    struct perf_event_attr attr = {
        .size = sizeof attr,
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .freq = 1,
        .sample_freq = THREAD_SAMPLES_HZ,
        .sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
        .sample_regs_user = 1ull << PERF_REG_X86_SP | 1ull << PERF_REG_X86_IP,
        .sample_stack_user = THREAD_SAMPLE_WORDS * sizeof(uint64_t),
        .watermark = 1, /* nobody waits for it: it is read when there is time */
        .wakeup_watermark = DATA_BYTES,
    };
    void *page;

    out->event = (int)syscall(SYS_perf_event_open, &attr, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (out->event < 0)
        return -errno;
    page = mmap(NULL, PAGE + DATA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, out->event, 0);
    if (page == MAP_FAILED) {
        int err = -errno;

        close(out->event);
        return err;
    }
    out->page = page;
    return 0;
}

int thread_samples_new(const int *threads, size_t n, struct thread_samples **out, char why[THREAD_SAMPLES_WHY_BYTES])
{
    struct thread_samples *s = calloc(1, sizeof *s + n * sizeof *s->threads);
    int err = s ? 0 : -ENOMEM;

    for (size_t i = 0; i < n && !err; i++) {
        err = open_one(threads[i], &s->threads[s->n]);
        if (err == -ESRCH) /* it has ended */
            err = 0;
        else
            s->n += !err;
    }
    if (err) {
        snprintf(why, THREAD_SAMPLES_WHY_BYTES, "where its threads are cannot be sampled: %s", strerror(-err));
        thread_samples_free(s);
        return err;
    }
    *out = s;
    return 0;
}

void thread_samples_free(struct thread_samples *s)
{
    for (size_t i = 0; s && i < s->n; i++) {
        munmap(s->threads[i].page, PAGE + DATA_BYTES);
        close(s->threads[i].event);
    }
    free(s);
}

/* ---- reading */

static void copy_out(const struct sampled *t, uint64_t at, void *to, size_t size)
{
    const char *data = (const char *)t->page + PAGE;
    size_t from = at & (DATA_BYTES - 1), first = size < DATA_BYTES - from ? size : DATA_BYTES - from;

    memcpy(to, data + from, first);
    memcpy((char *)to + first, data, size - first);
}

/* The registers, by their numbers (SP before IP), then how much of the stack there is room for, it, and how much of
 * that is. False: it is none, as of a thread of the kernel. */
static bool parse(const unsigned char *record, size_t size, struct thread_sample *out)
{
    uint64_t head[4], had; /* which registers (0: none), SP, IP, room */

    if (size < sizeof head)
        return false;
    memcpy(head, record, sizeof head);
    if (!head[0] || head[3] > sizeof out->words || size < sizeof head + head[3] + sizeof had)
        return false;
    memcpy(&had, record + sizeof head + head[3], sizeof had);
    had = had < head[3] ? had : head[3];
    out->ip = head[2];
    out->n = had / sizeof *out->words;
    memcpy(out->words, record + sizeof head, out->n * sizeof *out->words);
    return true;
}

static void read_one(struct sampled *t, void (*take)(void *ctx, const struct thread_sample *sample), void *ctx)
{
    uint64_t head = __atomic_load_n(&t->page->data_head, __ATOMIC_ACQUIRE), at = t->page->data_tail;
    unsigned char record[MOST_RECORD];

    while (head - at >= sizeof(struct perf_event_header)) {
        struct perf_event_header is;
        struct thread_sample sample;

        copy_out(t, at, &is, sizeof is);
        if (is.size < sizeof is || is.size > head - at)
            break;
        if (is.type == PERF_RECORD_SAMPLE && is.size <= sizeof record) {
            copy_out(t, at + sizeof is, record, is.size - sizeof is);
            if (parse(record, is.size - sizeof is, &sample))
                take(ctx, &sample);
        }
        at += is.size;
    }
    __atomic_store_n(&t->page->data_tail, head, __ATOMIC_RELEASE);
}

void thread_samples_read(struct thread_samples *s, void (*take)(void *ctx, const struct thread_sample *sample),
                         void *ctx)
{
    for (size_t i = 0; i < s->n; i++)
        read_one(&s->threads[i], take, ctx);
}
