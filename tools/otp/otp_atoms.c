/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: every number that is read from a VM is bounded before it is used; what cannot be read has no text. */
#include "otp_atoms.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEGMENT = 1024, /* atoms */
    MAX_ATOMS = 32 << 20,
    /* and half of all: whoever tells of more that is not there tells lies, each of which is a system call */
    MOST_UNREAD = 4096,
    MAX_HEAD = 64,
    SHORT_NAME = 64, /* bytes that a binary on the heap holds at most */
    MAX_BITS = 64,   /* bytes of a structure that stands for a binary */
    TAG_HEAP_BITS = 0x20, /* headers, the low six */
    TAG_SUB_BITS = 0x24,
};

struct otp_atoms {
    const struct otp_layout *layout;
    const struct memory_file *memory;
    char **texts;
    size_t n;
    size_t unread; /* of these, whose heads could not be read or are another atom's */
};

static uint64_t word_at(const char *bytes, size_t offset)
{
    uint64_t word;

    memcpy(&word, bytes + offset, sizeof word);
    return word;
}

/* ---- one name */

/* What an Atom says of its name. */
struct name {
    uint64_t at;   /* of its bytes; of the binary that holds them, from OTP 28 on */
    size_t length; /* SIZE_MAX: none that an atom can have */
};

static bool in_binary(const struct otp_layout *l)
{
    return l->off[OTP_ATOM_NAME] == OTP_NOWHERE;
}

/* Bytes of an Atom up to the end of what is used of it; 0 when the layout has no place for it. */
static size_t head_size(const struct otp_layout *l)
{
    size_t last = l->off[in_binary(l) ? OTP_ATOM_BIN : OTP_ATOM_NAME], len = l->off[OTP_ATOM_LEN];

    return last + 8 <= MAX_HEAD && len + 2 <= MAX_HEAD ? (last > len ? last : len) + 8 : 0;
}

static struct name parse_head(const struct otp_layout *l, const char head[MAX_HEAD])
{
    uint16_t length;

    memcpy(&length, head + l->off[OTP_ATOM_LEN], sizeof length);
    return (struct name){.at = in_binary(l) ? word_at(head, l->off[OTP_ATOM_BIN]) & ~7ull
                                            : word_at(head, l->off[OTP_ATOM_NAME]),
                         .length = length <= OTP_ATOM_BYTES ? length : SIZE_MAX};
}

/* Where the bytes of a name in a binary are; 0 when it is no such binary. */
static uint64_t find_bytes(const struct otp_layout *l, const struct memory_file *memory, uint64_t binary)
{
    size_t base = l->off[OTP_SUB_BITS_BASE], start = l->off[OTP_SUB_BITS_START];
    char bits[MAX_BITS];
    uint64_t header;

    if (!memory_file_read(memory, binary, &header, sizeof header))
        return 0;
    if ((header & 0x3f) == TAG_HEAP_BITS)
        return binary + l->off[OTP_HEAP_BITS_DATA];
    if ((header & 0x3f) != TAG_SUB_BITS || base + 8 > MAX_BITS || start + 8 > MAX_BITS ||
        !memory_file_read(memory, binary, bits, start + 8))
        return 0;
    return (word_at(bits, base) & ~3ull) + word_at(bits, start) / 8;
}

static bool read_bytes(const struct otp_layout *l, const struct memory_file *memory, const struct name *name, char *out)
{
    uint64_t at = in_binary(l) ? find_bytes(l, memory, name->at) : name->at;

    return at && name->length <= OTP_ATOM_BYTES && memory_file_read(memory, at, out, name->length);
}

static void write_text(char *out, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (!bytes[i])
            *out++ = (char)0xc0;
        *out++ = bytes[i] ? bytes[i] : (char)0x80;
    }
    *out = '\0';
}

/* Where the atoms of an erlvm's segment are, from the one with this index on, up to the segment's end. */
static bool find_ours(const struct otp_layout *l, const struct memory_file *memory, uint32_t index, uint64_t *at)
{
    const struct otp_ours *ours = &l->ours;
    uint64_t segment;

    if (!memory_file_read(memory, ours->segments + (uint64_t)(index >> ours->atom_bits) * 8, &segment, 8))
        return false;
    *at = segment + (uint64_t)(index & ((1u << ours->atom_bits) - 1)) * ours->atom_bytes;
    return true;
}

/* Where an atom is. Fails: -EFAULT; -ENOENT it is another. */
static int find_atom(const struct otp_layout *l, const struct memory_file *memory, uint32_t index, uint64_t *at)
{
    uint64_t segments, segment;
    uint32_t stored;

    if (l->is_ours)
        return find_ours(l, memory, index, at) ? 0 : -EFAULT;
    if (!memory_file_read(memory, l->atoms + l->off[OTP_INDEX_SEGMENTS], &segments, 8) ||
        !memory_file_read(memory, segments + index / SEGMENT * 8, &segment, 8) ||
        !memory_file_read(memory, segment + index % SEGMENT * 8, at, 8) ||
        !memory_file_read(memory, *at + l->off[OTP_ATOM_INDEX], &stored, sizeof stored))
        return -EFAULT;
    return stored == index ? 0 : -ENOENT;
}

int otp_atoms_read(const struct otp_layout *l, const struct memory_file *memory, uint32_t index, char *out)
{
    char head[MAX_HEAD], bytes[OTP_ATOM_BYTES];
    struct name name;
    uint64_t atom;
    int err = head_size(l) ? find_atom(l, memory, index, &atom) : -EFAULT;

    if (err || !memory_file_read(memory, atom, head, head_size(l)))
        return err ? err : -EFAULT;
    name = parse_head(l, head);
    if (!read_bytes(l, memory, &name, bytes))
        return -EFAULT;
    write_text(out, bytes, name.length);
    return 0;
}

/* ---- the table */

static char *make_text(const char *bytes, size_t length)
{
    size_t size = length + 1;
    char *text;

    for (size_t i = 0; i < length; i++)
        size += !bytes[i];
    text = malloc(size);
    if (text)
        write_text(text, bytes, length);
    return text;
}

/* What is read of `n` atoms of one segment. */
struct batch {
    struct memory_piece pieces[SEGMENT];
    struct name names[SEGMENT];
    char heads[SEGMENT][MAX_HEAD];
    char bytes[SEGMENT][MAX_BITS + SHORT_NAME];
};

/* One of an erlvm does not say which it is. */
static bool has_index(const struct otp_layout *l, const char head[MAX_HEAD], uint32_t index)
{
    uint32_t stored = index;

    if (!l->is_ours && l->off[OTP_ATOM_INDEX] + sizeof stored <= head_size(l))
        memcpy(&stored, head + l->off[OTP_ATOM_INDEX], sizeof stored);
    return stored == index;
}

/* Returns how many are not what should stand there. */
static size_t read_heads(const struct otp_atoms *a, struct batch *b, const uint64_t *pointers, size_t n)
{
    size_t unread = 0;

    for (size_t i = 0; i < n; i++)
        b->pieces[i] = (struct memory_piece){.address = pointers[i], .out = b->heads[i], .size = head_size(a->layout)};
    memory_file_read_many(a->memory, b->pieces, n);
    for (size_t i = 0; i < n; i++) {
        bool came = b->pieces[i].read && has_index(a->layout, b->heads[i], (uint32_t)(a->n + i));

        b->names[i] = came ? parse_head(a->layout, b->heads[i]) : (struct name){0, SIZE_MAX};
        unread += !came;
    }
    return unread;
}

/* Names that are short, as nearly all are; the others are read when they are asked for. */
static void read_names(const struct otp_atoms *a, struct batch *b, char **texts, size_t n)
{
    size_t data = in_binary(a->layout) ? a->layout->off[OTP_HEAP_BITS_DATA] : 0;

    data = data <= MAX_BITS ? data : 0;
    for (size_t i = 0; i < n; i++)
        b->pieces[i] = (struct memory_piece){
            .address = b->names[i].at, .out = b->bytes[i],
            .size = b->names[i].length <= SHORT_NAME ? data + b->names[i].length : 0};
    memory_file_read_many(a->memory, b->pieces, n);
    for (size_t i = 0; i < n; i++) {
        bool came = b->pieces[i].read && b->names[i].length <= SHORT_NAME &&
                    (!data || (b->bytes[i][0] & 0x3f) == TAG_HEAP_BITS);

        texts[i] = came ? make_text(b->bytes[i] + data, b->names[i].length) : NULL;
    }
}

/* From a->n on, up to the end of its segment or `entries`. */
static int read_segment(struct otp_atoms *a, struct batch *b, uint64_t table, uint32_t entries)
{
    uint64_t segment, pointers[SEGMENT];
    size_t first = a->n % SEGMENT, n = SEGMENT - first;

    n = n < entries - a->n ? n : entries - a->n;
    if (a->layout->is_ours) {
        if (!find_ours(a->layout, a->memory, (uint32_t)a->n, &segment)) /* its segments are not smaller */
            return -EFAULT;
        for (size_t i = 0; i < n; i++)
            pointers[i] = segment + i * a->layout->ours.atom_bytes;
    } else if (!memory_file_read(a->memory, table + a->n / SEGMENT * sizeof segment, &segment, sizeof segment) ||
               !memory_file_read(a->memory, segment + first * sizeof *pointers, pointers, n * sizeof *pointers)) {
        return -EFAULT;
    }
    a->unread += read_heads(a, b, pointers, n);
    read_names(a, b, a->texts + a->n, n);
    a->n += n;
    return a->unread > MOST_UNREAD && a->unread > a->n / 2 ? -EFAULT : 0;
}

/* Those that have come since the last look. */
static int read_new(struct otp_atoms *a)
{
    const struct otp_layout *l = a->layout;
    struct batch *batch;
    uint64_t table;
    uint32_t entries;
    char **texts;
    int err = 0;

    if (!head_size(l) || !memory_file_read(a->memory, l->atoms + l->off[OTP_INDEX_ENTRIES], &entries, sizeof entries) ||
        !memory_file_read(a->memory, l->atoms + l->off[OTP_INDEX_SEGMENTS], &table, sizeof table))
        return -EFAULT;
    if (entries > MAX_ATOMS || entries <= a->n)
        return entries > MAX_ATOMS ? -E2BIG : 0;
    texts = realloc(a->texts, entries * sizeof *texts);
    batch = texts ? malloc(sizeof *batch) : NULL;
    a->texts = texts ? texts : a->texts;
    if (!batch)
        return -ENOMEM;
    while (!err && a->n < entries)
        err = read_segment(a, batch, table, entries);
    free(batch);
    return err;
}

int otp_atoms_new(const struct otp_layout *layout, const struct memory_file *memory, struct otp_atoms **out)
{
    struct otp_atoms *a = calloc(1, sizeof *a);
    int err;

    if (!a)
        return -ENOMEM;
    a->layout = layout;
    a->memory = memory;
    err = read_new(a);
    if (err)
        otp_atoms_free(a);
    else
        *out = a;
    return err;
}

void otp_atoms_free(struct otp_atoms *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->n; i++)
        free(a->texts[i]);
    free(a->texts);
    free(a);
}

const char *otp_atoms_text(struct otp_atoms *a, uint64_t index)
{
    char text[OTP_ATOM_TEXT];

    if (index >= a->n && index < MAX_ATOMS)
        read_new(a);
    if (index >= a->n)
        return NULL;
    if (!a->texts[index] && !otp_atoms_read(a->layout, a->memory, (uint32_t)index, text))
        a->texts[index] = strdup(text);
    return a->texts[index];
}

void otp_atoms_keep_up(struct otp_atoms *a)
{
    read_new(a);
}

size_t otp_atoms_count(const struct otp_atoms *a)
{
    return a->n;
}

uint64_t otp_atoms_find(const struct otp_atoms *a, const char *text)
{
    for (size_t i = 0; i < a->n; i++)
        if (a->texts[i] && !strcmp(a->texts[i], text))
            return i;
    return WIRE_NO_ATOM;
}
