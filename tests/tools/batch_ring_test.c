/* SPDX-License-Identifier: Apache-2.0 */
/* A ring buffer as the kernel writes it, in a file: records in two pieces, dropped, and not yet whole. */
#include <check.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "batch_ring.h"

enum { BYTES = 4096, MOST = 512 };

static struct {
    int file;
    size_t page;
    char *all; /* the consumer's page, the producer's, the bytes */
    struct batch_ring *ring;
    char got[16][MOST];
    size_t sizes[16], n, stop_at;
} t;

static void open_ring(void)
{
    memset(&t, 0, sizeof t);
    t.page = (size_t)sysconf(_SC_PAGESIZE);
    t.file = memfd_create("ring", 0);
    ck_assert_int_eq(ftruncate(t.file, (off_t)(2 * t.page + BYTES)), 0);
    t.all = mmap(NULL, 2 * t.page + BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, t.file, 0);
    ck_assert_ptr_ne(t.all, MAP_FAILED);
    t.ring = batch_ring_new(t.file, BYTES, MOST);
    ck_assert_ptr_ne(t.ring, NULL);
}

static void close_ring(void)
{
    batch_ring_free(t.ring);
    munmap(t.all, 2 * t.page + BYTES);
    close(t.file);
}

static uint64_t *consumer(void) { return (uint64_t *)t.all; }
static uint64_t *producer(void) { return (uint64_t *)(t.all + t.page); }

static void put_byte(uint64_t position, char byte) { t.all[2 * t.page + position % BYTES] = byte; }

/* Returns where its head is. */
static uint32_t *put(char fill, uint32_t size, uint32_t bits)
{
    uint64_t at = *producer();
    uint32_t *head = (uint32_t *)(t.all + 2 * t.page + at % BYTES);

    *head = size | bits;
    for (uint32_t i = 0; i < size; i++)
        put_byte(at + BPF_RINGBUF_HDR_SZ + i, fill);
    *producer() = at + BPF_RINGBUF_HDR_SZ + (size + 7) / 8 * 8;
    return head;
}

static int take(void *ctx, void *record, size_t size)
{
    (void)ctx;
    memcpy(t.got[t.n], record, size);
    t.sizes[t.n++] = size;
    return t.n == t.stop_at;
}

static void expect(size_t i, char fill, size_t size)
{
    char want[MOST];

    memset(want, fill, size);
    ck_assert_uint_lt(i, t.n);
    ck_assert_uint_eq(t.sizes[i], size);
    ck_assert_mem_eq(t.got[i], want, size);
}

START_TEST(test_batch_ring_read_hands_records_over)
{
    put('a', 23, 0);
    put('-', 100, BPF_RINGBUF_DISCARD_BIT);
    put('b', MOST, 0);
    batch_ring_read(t.ring, take, NULL);
    ck_assert_uint_eq(t.n, 2);
    expect(0, 'a', 23);
    expect(1, 'b', MOST);
    ck_assert_uint_eq(*consumer(), *producer());
}
END_TEST

/* Every place where a record can be cut in two, and where its head is the last of the buffer. */
START_TEST(test_batch_ring_read_puts_pieces_together)
{
    for (uint64_t begin = BYTES - MOST; begin < BYTES; begin += 8) {
        *consumer() = *producer() = begin;
        t.n = 0;
        put('x', MOST - 16, 0);
        batch_ring_read(t.ring, take, NULL);
        expect(0, 'x', MOST - 16);
    }
}
END_TEST

START_TEST(test_batch_ring_read_waits_for_what_is_not_whole)
{
    uint32_t *head;

    put('a', 8, 0);
    head = put('b', 8, BPF_RINGBUF_BUSY_BIT);
    put('c', 8, 0);
    batch_ring_read(t.ring, take, NULL);
    ck_assert_uint_eq(t.n, 1);
    *head = 8;
    batch_ring_read(t.ring, take, NULL);
    ck_assert_uint_eq(t.n, 3);
    expect(2, 'c', 8);
}
END_TEST

START_TEST(test_batch_ring_read_ends_when_it_is_told)
{
    t.stop_at = 1;
    put('a', 8, 0);
    put('b', 8, 0);
    batch_ring_read(t.ring, take, NULL);
    ck_assert_uint_eq(t.n, 1);
    batch_ring_read(t.ring, take, NULL);
    expect(1, 'b', 8);
}
END_TEST

Suite *batch_ring_suite(void)
{
    Suite *suite = suite_create("batch_ring");
    TCase *ring = tcase_create("ring");

    tcase_add_checked_fixture(ring, open_ring, close_ring);
    tcase_add_test(ring, test_batch_ring_read_hands_records_over);
    tcase_add_test(ring, test_batch_ring_read_puts_pieces_together);
    tcase_add_test(ring, test_batch_ring_read_waits_for_what_is_not_whole);
    tcase_add_test(ring, test_batch_ring_read_ends_when_it_is_told);
    suite_add_tcase(suite, ring);
    return suite;
}
