/* SPDX-License-Identifier: Apache-2.0 */
/* Two ring buffers as the kernel writes them, in files: records in two pieces, dropped, and not yet whole. */
#include <check.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "event/batch_ring.h"

enum { BYTES = 2 * BATCH_RING_WINDOW_BYTES, MOST = 512 };

/* As the kernel has it: the consumer's page, the producer's, the bytes. */
struct buffer {
    int file;
    char *all;
    struct batch_ring *ring;
};

static struct {
    size_t page;
    struct buffer first, spill;
    char got[16][MOST];
    size_t sizes[16], n, stop_at;
} t;

static void open_buffer(struct buffer *b)
{
    b->file = memfd_create("ring", 0);
    ck_assert_int_eq(ftruncate(b->file, (off_t)(2 * t.page + BYTES)), 0);
    b->all = mmap(NULL, 2 * t.page + BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, b->file, 0);
    ck_assert_ptr_ne(b->all, MAP_FAILED);
    b->ring = batch_ring_new(b->file, BYTES, MOST);
    ck_assert_ptr_ne(b->ring, NULL);
}

static void close_buffer(struct buffer *b)
{
    batch_ring_free(b->ring);
    munmap(b->all, 2 * t.page + BYTES);
    close(b->file);
}

static void open_rings(void)
{
    memset(&t, 0, sizeof t);
    t.page = (size_t)sysconf(_SC_PAGESIZE);
    open_buffer(&t.first);
    open_buffer(&t.spill);
}

static void close_rings(void)
{
    close_buffer(&t.first);
    close_buffer(&t.spill);
}

static uint64_t *consumer(struct buffer *b) { return (uint64_t *)b->all; }
static uint64_t *producer(struct buffer *b) { return (uint64_t *)(b->all + t.page); }

static void put_byte(struct buffer *b, uint64_t position, char byte)
{
    b->all[2 * t.page + position % BYTES] = byte;
}

/* Returns where its head is. */
static uint32_t *put_in(struct buffer *b, char fill, uint32_t size, uint32_t bits)
{
    uint64_t at = *producer(b);
    uint32_t *head = (uint32_t *)(b->all + 2 * t.page + at % BYTES);

    *head = size | bits;
    for (uint32_t i = 0; i < size; i++)
        put_byte(b, at + BPF_RINGBUF_HDR_SZ + i, fill);
    *producer(b) = at + BPF_RINGBUF_HDR_SZ + (size + 7) / 8 * 8;
    return head;
}

/* Filled with its time, which is the later the greater `fill` is. */
static uint32_t *put(char fill, uint32_t size, uint32_t bits)
{
    return put_in(&t.first, fill, size, bits);
}

static uint32_t *put_spilled(char fill, uint32_t size, uint32_t bits)
{
    return put_in(&t.spill, fill, size, bits);
}

static int take(void *ctx, void *record, size_t size)
{
    (void)ctx;
    memcpy(t.got[t.n], record, size);
    t.sizes[t.n++] = size;
    return t.n == t.stop_at;
}

static void read_rings(void)
{
    batch_ring_read(t.first.ring, t.spill.ring, take, NULL);
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
    read_rings();
    ck_assert_uint_eq(t.n, 2);
    expect(0, 'a', 23);
    expect(1, 'b', MOST);
    ck_assert_uint_eq(*consumer(&t.first), *producer(&t.first));
}
END_TEST

START_TEST(test_batch_ring_read_needs_no_second_buffer)
{
    put('a', 23, 0);
    batch_ring_read(t.first.ring, NULL, take, NULL);
    put('b', MOST, 0);
    put_spilled('x', 23, 0);
    batch_ring_read(t.first.ring, NULL, take, NULL);
    ck_assert_uint_eq(t.n, 2);
    expect(0, 'a', 23);
    expect(1, 'b', MOST);
    ck_assert_uint_eq(*consumer(&t.first), *producer(&t.first));
}
END_TEST

/* Every place where a record can be cut in two, and where its head is the last of a window or of the buffer. */
START_TEST(test_batch_ring_read_puts_pieces_together)
{
    uint64_t end = (uint64_t)(_i + 1) * BATCH_RING_WINDOW_BYTES;

    for (uint64_t begin = end - MOST; begin < end; begin += 8) {
        *consumer(&t.first) = *producer(&t.first) = begin;
        t.n = 0;
        put('x', MOST - 16, 0);
        read_rings();
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
    read_rings();
    ck_assert_uint_eq(t.n, 1);
    *head = 8;
    read_rings();
    ck_assert_uint_eq(t.n, 3);
    expect(2, 'c', 8);
}
END_TEST

START_TEST(test_batch_ring_read_ends_when_it_is_told)
{
    t.stop_at = 1;
    put('a', 8, 0);
    put('b', 8, 0);
    read_rings();
    ck_assert_uint_eq(t.n, 1);
    read_rings();
    expect(1, 'b', 8);
}
END_TEST

START_TEST(test_batch_ring_read_takes_the_earlier_of_two_buffers)
{
    put('a', 8, 0);
    put_spilled('-', 8, BPF_RINGBUF_DISCARD_BIT);
    put_spilled('b', 16, 0);
    put_spilled('c', 24, 0);
    put('d', 32, 0);
    put_spilled('e', 8, 0);
    read_rings();
    ck_assert_uint_eq(t.n, 5);
    for (size_t i = 0; i < 5; i++)
        expect(i, (char)('a' + i), (const size_t[]){8, 16, 24, 32, 8}[i]);
    ck_assert_uint_eq(*consumer(&t.spill), *producer(&t.spill));
    put('f', 8, 0);
    read_rings();
    expect(5, 'f', 8);
}
END_TEST

/* What is not whole may be followed by what is earlier than the other buffer's. */
START_TEST(test_batch_ring_read_waits_for_either_buffer)
{
    uint32_t *head = put_spilled('c', 8, BPF_RINGBUF_BUSY_BIT);

    put_spilled('a', 8, 0);
    put('b', 8, 0);
    read_rings();
    ck_assert_uint_eq(t.n, 0);
    *head = 8 | BPF_RINGBUF_DISCARD_BIT;
    read_rings();
    ck_assert_uint_eq(t.n, 2);
    expect(0, 'a', 8);
    expect(1, 'b', 8);
}
END_TEST

Suite *batch_ring_suite(void)
{
    Suite *suite = suite_create("batch_ring");
    TCase *ring = tcase_create("ring");

    tcase_add_checked_fixture(ring, open_rings, close_rings);
    tcase_add_test(ring, test_batch_ring_read_hands_records_over);
    tcase_add_test(ring, test_batch_ring_read_needs_no_second_buffer);
    tcase_add_loop_test(ring, test_batch_ring_read_puts_pieces_together, 0, 2);
    tcase_add_test(ring, test_batch_ring_read_waits_for_what_is_not_whole);
    tcase_add_test(ring, test_batch_ring_read_ends_when_it_is_told);
    tcase_add_test(ring, test_batch_ring_read_takes_the_earlier_of_two_buffers);
    tcase_add_test(ring, test_batch_ring_read_waits_for_either_buffer);
    suite_add_tcase(suite, ring);
    return suite;
}
