/* SPDX-License-Identifier: Apache-2.0 */
/* Atom tables made by hand, as OTP 25 and 29 lay them out, and wrong ones. A file stands for the memory: its offsets are the addresses. */
#include <check.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "otp/otp_atoms.h"
#include "otp/otp_check.h"

enum { TABLE = 0x1000, SEGMENTS = 0x2000, SEGMENT = 0x3000, ATOMS = 0x6000, ATOM_STEP = 0x1000, END = 0x20000 };
enum { HEAP_BITS = 0x20, SUB_BITS = 0x124, FLOAT = 0x18 }; /* headers of terms */

struct table {
    struct otp_layout layout;
    int fd;
    struct memory_file *memory; /* of it */
    uint32_t n;
};

static void put(const struct table *t, uint64_t at, const void *bytes, size_t size)
{
    ck_assert_int_eq(pwrite(t->fd, bytes, size, (off_t)at), (ssize_t)size);
}

static void put_word(const struct table *t, uint64_t at, uint64_t word)
{
    put(t, at, &word, sizeof word);
}

static void table_new(struct table *t, uint32_t release)
{
    *t = (struct table){.layout = {.release = release, .vm = 0x7fffffff, .atoms = TABLE}};
    memcpy(t->layout.off, otp_layout_find(release, true, false), OTP_NFIELDS * sizeof *t->layout.off);
    t->fd = memfd_create("atoms", MFD_CLOEXEC);
    ck_assert_int_eq(ftruncate(t->fd, END), 0);
    ck_assert_int_eq(memory_file_from_fd(t->fd, &t->memory), 0);
    put_word(t, TABLE + t->layout.off[OTP_INDEX_SEGMENTS], SEGMENTS);
    put_word(t, SEGMENTS, SEGMENT);
}

/* `header`: of the binary that holds the name, from OTP 28 on. */
static void add(struct table *t, const char *name, uint16_t length, uint64_t header)
{
    const uint16_t *off = t->layout.off;
    uint64_t atom = ATOMS + t->n * ATOM_STEP, binary = atom + 64, bytes = atom + 256;
    uint32_t index = t->n++;

    put_word(t, SEGMENT + index * 8, atom);
    put(t, atom + off[OTP_ATOM_INDEX], &index, sizeof index);
    put(t, atom + off[OTP_ATOM_LEN], &length, sizeof length);
    put(t, TABLE + off[OTP_INDEX_ENTRIES], &t->n, sizeof t->n);
    if (off[OTP_ATOM_NAME] != OTP_NOWHERE) {
        put_word(t, atom + off[OTP_ATOM_NAME], bytes);
    } else {
        put_word(t, atom + off[OTP_ATOM_BIN], binary | 2);
        put_word(t, binary, header);
        if (header == HEAP_BITS)
            bytes = binary + off[OTP_HEAP_BITS_DATA];
        put_word(t, binary + off[OTP_SUB_BITS_BASE], header == HEAP_BITS ? 0 : (bytes - 8) | 1); /* 8 bytes from its start, with a flag */
        put_word(t, binary + off[OTP_SUB_BITS_START], 8 * 8);
    }
    put(t, bytes, name, length < 1020 ? length : 1020);
}

static const uint32_t releases[] = {25, 29};

START_TEST(test_otp_atoms_reads_each_kind_of_name)
{
    char longest[1020], out[OTP_ATOM_TEXT];
    struct otp_atoms *atoms;
    struct table t;

    memset(longest, 'x', sizeof longest);
    table_new(&t, releases[_i]);
    add(&t, "short", 5, HEAP_BITS);
    add(&t, "", 0, HEAP_BITS);
    add(&t, "a\0b\0", 4, HEAP_BITS);
    add(&t, longest, 64, HEAP_BITS);
    add(&t, longest, 65, SUB_BITS);
    add(&t, longest, sizeof longest, SUB_BITS);
    ck_assert_int_eq(otp_atoms_new(&t.layout, t.memory, &atoms), 0);
    ck_assert_str_eq(otp_atoms_text(atoms, 0), "short");
    ck_assert_str_eq(otp_atoms_text(atoms, 1), "");
    ck_assert_str_eq(otp_atoms_text(atoms, 2), "a\xc0\x80" "b\xc0\x80");
    ck_assert_uint_eq(strlen(otp_atoms_text(atoms, 3)), 64);
    ck_assert_uint_eq(strlen(otp_atoms_text(atoms, 4)), 65);
    ck_assert_uint_eq(strlen(otp_atoms_text(atoms, 5)), sizeof longest);
    ck_assert(!strncmp(otp_atoms_text(atoms, 5), longest, sizeof longest));
    ck_assert(otp_atoms_text(atoms, 6) == NULL);
    add(&t, "later", 5, HEAP_BITS);
    ck_assert_str_eq(otp_atoms_text(atoms, 6), "later");
    ck_assert_uint_eq(otp_atoms_find(atoms, "later"), 6);
    ck_assert_uint_eq(otp_atoms_find(atoms, "none"), WIRE_NO_ATOM);
    ck_assert_int_eq(otp_atoms_read(&t.layout, t.memory, 5, out), 0);
    ck_assert_uint_eq(strlen(out), sizeof longest);
    otp_atoms_free(atoms);
    memory_file_close(t.memory);
}
END_TEST

START_TEST(test_otp_atoms_makes_nothing_up)
{
    char out[OTP_ATOM_TEXT], name[1020] = "name";
    struct otp_atoms *atoms;
    struct table t;
    uint32_t many = UINT32_MAX, other = 7;

    table_new(&t, releases[_i]);
    add(&t, name, 1021, SUB_BITS);                                             /* longer than any */
    add(&t, name, 4, HEAP_BITS);
    put(&t, ATOMS + ATOM_STEP + t.layout.off[OTP_ATOM_INDEX], &other, sizeof other); /* the atom of another index */
    add(&t, name, 4, HEAP_BITS);
    put_word(&t, SEGMENT + 2 * 8, END + 8); /* outside */
    add(&t, name, 4, FLOAT);                /* no binary */
    ck_assert_int_eq(otp_atoms_new(&t.layout, t.memory, &atoms), 0);
    for (uint32_t i = 0; i < t.n; i++) {
        bool plain = t.layout.release == 25 && i == 3;

        ck_assert_msg((otp_atoms_text(atoms, i) != NULL) == plain, "atom %u", i);
        ck_assert_msg((otp_atoms_read(&t.layout, t.memory, i, out) == 0) == plain, "atom %u alone", i);
    }
    put(&t, TABLE + t.layout.off[OTP_INDEX_ENTRIES], &many, sizeof many);
    ck_assert(otp_atoms_text(atoms, 100) == NULL);
    otp_atoms_free(atoms);
    ck_assert_int_eq(otp_atoms_new(&t.layout, t.memory, &atoms), -E2BIG);
    put_word(&t, TABLE + t.layout.off[OTP_INDEX_SEGMENTS], ~0ull << 8);
    ck_assert_int_eq(otp_atoms_read(&t.layout, t.memory, 3, out), -EFAULT);
    memory_file_close(t.memory);
}
END_TEST

Suite *otp_atoms_suite(void)
{
    Suite *suite = suite_create("otp_atoms");
    TCase *tables = tcase_create("tables");

    tcase_add_loop_test(tables, test_otp_atoms_reads_each_kind_of_name, 0, 2);
    tcase_add_loop_test(tables, test_otp_atoms_makes_nothing_up, 0, 2);
    suite_add_tcase(suite, tables);
    return suite;
}
