/* SPDX-License-Identifier: Apache-2.0 */
/* What a process has, tables and terms, of an erlvm whose memory says what no VM's does: each ends, within bounds. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "otp/names.h"
#include "otp/snapshot_memory.h"
#include "otp/snapshot_one.h"
#include "otp/snapshot_tables.h"
#include "otp/snapshot_terms.h"
#include "support.h"
#include "support_erlvm.h"

enum { FEW = 100, LISTED = 5 };

struct fake {
    struct otp_vm vm;
    struct erlvm_layout ours;
    struct names *names;
    struct snapshot *snapshot;
    struct snapshot_process process;
};

static void fake_start(struct fake *f)
{
    struct memory *memory;
    char why[160];

    f->vm.layout.vm = (uint32_t)getpid();
    f->names = names_new();
    ck_assert_int_eq(memory_open(getpid(), &memory), 0);
    ck_assert_int_eq(erlvm_layout_read(memory, fake_base + FAKE_TABLE, &f->ours, why, sizeof why), 0);
    memory_close(memory);
    erlvm_layout_fill(&f->ours, &f->vm.layout);
    f->vm.ours = &f->ours;
    ck_assert_int_eq(names_add(f->names, &f->vm.layout, &f->ours), 0);
    ck_assert_int_eq(snapshot_new(&f->vm, f->names, &f->snapshot), 0);
    f->process = (struct snapshot_process){.id = ev_id_of_pid(0, 0), .address = fake_base + FAKE_PROCESS};
}

static void fake_end(struct fake *f)
{
    snapshot_free(f->snapshot);
    names_free(f->names);
}

static int count_peer(void *ctx, const struct snapshot_peer *peer)
{
    (void)peer;
    ++*(uint64_t *)ctx;
    return 0;
}

static int count_message(void *ctx, uint64_t term)
{
    (void)term;
    ++*(uint64_t *)ctx;
    return 0;
}

static int count_pair(void *ctx, uint64_t key, uint64_t value)
{
    (void)key, (void)value;
    ++*(uint64_t *)ctx;
    return 0;
}

static int count_table(void *ctx, const struct snapshot_table_info *table)
{
    (void)table;
    ++*(uint64_t *)ctx;
    return 0;
}

/* ---- what is laid: at FAKE_FREE what the process leads to */

static void lead_to(enum erlvm_field field, uint64_t at)
{
    fake_set(FAKE_PROCESS, field, at, 8);
}

static void lay_links_that_lead_to_themselves(void)
{
    lead_to(ERLVM_PROC_LINKS, fake_base + FAKE_FREE);
    fake_set(FAKE_FREE, ERLVM_PEERS_FIRST, fake_base + FAKE_FREE + 64, 8);
    fake_set(FAKE_FREE + 64, ERLVM_PEER_NEXT, fake_base + FAKE_FREE + 64, 8);
}

static void lay_links_that_lead_nowhere(void)
{
    lead_to(ERLVM_PROC_LINKS, 0x7fffffff0000);
    lead_to(ERLVM_PROC_MONITORS, 1);
}

static void lay_monitors_that_lead_to_themselves(void)
{
    lead_to(ERLVM_PROC_MONITORS, fake_base + FAKE_FREE);
    fake_set(FAKE_FREE, ERLVM_PEERS_FIRST, fake_base + FAKE_FREE + 64, 8);
    fake_set(FAKE_FREE + 64, ERLVM_PEER_NEXT, fake_base + FAKE_FREE + 64, 8);
    fake_set(FAKE_FREE + 64, ERLVM_PEER_KIND, fake_numbers[ERLVM_PEER_IS_MONITOR], 1);
}

static void lay_monitors_that_lead_nowhere(void)
{
    lead_to(ERLVM_PROC_MONITORS, 0x7fffffff0000);
}

static void lay_messages_that_lead_to_themselves(void)
{
    lead_to(ERLVM_PROC_FIRST, fake_base + FAKE_FREE);
    fake_set(FAKE_FREE, ERLVM_SIGNAL_NEXT, fake_base + FAKE_FREE, 8);
    fake_set(FAKE_FREE, ERLVM_SIGNAL_TERM, fake_atom(1), 8);
}

static void lay_signals_that_lead_to_themselves(void)
{
    lay_messages_that_lead_to_themselves();
    fake_set(FAKE_FREE, ERLVM_SIGNAL_KIND, 3, 1);
}

static void lay_a_message_that_leads_nowhere(void)
{
    lay_messages_that_lead_to_themselves();
    fake_set(FAKE_FREE, ERLVM_SIGNAL_NEXT, UINT64_MAX - 7, 8);
}

static void lay_a_dictionary_beyond_the_memory(void)
{
    lead_to(ERLVM_PROC_DICT, fake_base + FAKE_FREE);
    fake_set(FAKE_FREE, ERLVM_DICT_ROOM, UINT32_MAX, 4);
    fake_set(FAKE_FREE, ERLVM_DICT_PAIRS, fake_atom(1), 8);
}

static void lay_nothing(void)
{
}

/* As an erlvm told of itself that knew nothing of it. */
static void lay_an_older_table(void)
{
    fake_put(FAKE_TABLE + 12, offsetof(struct layout, parts[LAYOUT_ROOM_PEERS]), 4);
}

enum { PEERS, MONITORS, MESSAGES, DICTIONARY };

static const struct {
    void (*lay)(void);
    int what, err;
    uint64_t told;
    bool more, moved;
} lies[] = {
    {lay_nothing, PEERS, 0, 0, false, false},
    {lay_links_that_lead_to_themselves, PEERS, 0, SNAPSHOT_MOST_PEERS, true, false},
    {lay_links_that_lead_nowhere, PEERS, 0, 0, false, true},
    {lay_an_older_table, PEERS, -ENOTSUP, 0, false, false},
    {lay_nothing, MONITORS, 0, 0, false, false},
    {lay_monitors_that_lead_to_themselves, MONITORS, 0, SNAPSHOT_MOST_PEERS, true, false},
    {lay_monitors_that_lead_nowhere, MONITORS, 0, 0, false, true},
    {lay_an_older_table, MONITORS, -ENOTSUP, 0, false, false},
    {lay_nothing, MESSAGES, 0, 0, false, false},
    {lay_messages_that_lead_to_themselves, MESSAGES, 0, FEW, true, false},
    {lay_signals_that_lead_to_themselves, MESSAGES, 0, 0, true, false},
    {lay_a_message_that_leads_nowhere, MESSAGES, 0, 1, false, true},
    {lay_an_older_table, MESSAGES, -ENOTSUP, 0, false, false},
    {lay_nothing, DICTIONARY, 0, 0, false, false},
    {lay_a_dictionary_beyond_the_memory, DICTIONARY, 0, 1, false, true},
};

START_TEST(test_snapshot_one_of_an_erlvm_that_lies_is_bounded)
{
    struct fake f = {0};
    struct snapshot_seen seen;
    uint64_t n = 0;
    int err;

    fake_lay();
    lies[_i].lay();
    fake_start(&f);
    err = lies[_i].what == PEERS      ? snapshot_peers(f.snapshot, &f.process, count_peer, &n, &seen)
          : lies[_i].what == MONITORS ? snapshot_monitors(f.snapshot, &f.process, &seen)
          : lies[_i].what == MESSAGES ? snapshot_messages(f.snapshot, &f.process, FEW, count_message, &n, &seen)
                                      : snapshot_dictionary(f.snapshot, &f.process, count_pair, &n, &seen);
    ck_assert_int_eq(err, lies[_i].err);
    n = lies[_i].what == MONITORS ? seen.read : n;
    ck_assert_uint_eq(n, lies[_i].what == DICTIONARY && lies[_i].told ? seen.read : lies[_i].told);
    ck_assert_int_eq(seen.more, lies[_i].more);
    ck_assert_int_eq(seen.moved, lies[_i].moved);
    fake_end(&f);
}
END_TEST

/* ---- ETS */

static void lay_table(uint64_t at, uint64_t next)
{
    fake_set(at, ERLVM_TABLE_NEXT, next ? fake_base + next : 0, 8);
    fake_set(at, ERLVM_TABLE_NAME, fake_atom(7), 8);
    fake_set(at, ERLVM_TABLE_OWNER, OTP_TAG_PID, 8);
    fake_set(at, ERLVM_TABLE_KEY, 1, 4);
}

static void lay_tables(void)
{
    uint64_t root = fake_root(LAYOUT_ROOM_TABLES);

    fake_set(root, ERLVM_TABLES_FIRST, fake_base + FAKE_FREE, 8);
    fake_set(root, ERLVM_TABLES_COUNT, LISTED, 8);
    for (uint64_t i = 0; i < LISTED; i++)
        lay_table(FAKE_FREE + 128 * i, i + 1 < LISTED ? FAKE_FREE + 128 * (i + 1) : 0);
}

static void lay_tables_that_lead_to_themselves(void)
{
    lay_tables();
    lay_table(FAKE_FREE + 128, FAKE_FREE);
}

static void lay_more_tables_than_there_can_be(void)
{
    lay_tables_that_lead_to_themselves();
    fake_set(fake_root(LAYOUT_ROOM_TABLES), ERLVM_TABLES_COUNT, UINT64_MAX, 8);
}

static void lay_what_is_no_table(void)
{
    lay_tables();
    fake_set(FAKE_FREE + 128, ERLVM_TABLE_TYPE, 17, 4);
    fake_set(FAKE_FREE + 256, ERLVM_TABLE_NAME, OTP_NIL, 8);
}

static void lay_a_table_that_leads_nowhere(void)
{
    lay_tables();
    fake_set(FAKE_FREE + 128, ERLVM_TABLE_NEXT, 0x7fffffff0000, 8);
}

static const struct {
    void (*lay)(void);
    int err;
    uint64_t told, unclear, gone;
} tables[] = {
    {lay_tables, 0, LISTED, 0, 0},
    {lay_tables_that_lead_to_themselves, 0, LISTED + 64, 0, 0},
    {lay_more_tables_than_there_can_be, 0, (1 << 20) + 64, 0, 0},
    {lay_what_is_no_table, 0, LISTED - 2, 2, 0},
    {lay_a_table_that_leads_nowhere, 0, 2, 0, 1},
    {lay_an_older_table, -ENOTSUP, 0, 0, 0},
};

START_TEST(test_snapshot_tables_of_an_erlvm_that_lies_are_bounded)
{
    struct fake f = {0};
    struct snapshot_count count;
    uint64_t n = 0;

    fake_lay();
    tables[_i].lay();
    fake_start(&f);
    ck_assert_int_eq(snapshot_tables(f.snapshot, count_table, &n, &count), tables[_i].err);
    ck_assert_uint_eq(n, tables[_i].told);
    ck_assert_uint_eq(count.unclear, tables[_i].unclear);
    ck_assert_uint_eq(count.gone, tables[_i].gone);
    fake_end(&f);
}
END_TEST

/* What cannot be had is missing, and a line says why. */
START_TEST(test_snapshot_memory_of_an_older_erlvm_is_missing)
{
    struct snapshot_memory memory;
    struct fake f = {0};

    fake_lay();
    lay_an_older_table();
    fake_start(&f);
    snapshot_memory(f.snapshot, &memory);
    ck_assert(!memory.has[SNAPSHOT_MEMORY_TOTAL] && !memory.has[SNAPSHOT_MEMORY_PROCESSES] && memory.why);
    ck_assert(memory.has[SNAPSHOT_MEMORY_ATOM] && memory.bytes[SNAPSHOT_MEMORY_ATOM] > 0);
    fake_end(&f);
}
END_TEST

/* ---- terms */

enum { LIST = OTP_TAG_LIST, BOXED = OTP_TAG_BOXED, SELF = 0x5e1f0000 /* and a tag: a pointer to the term itself */ };

#define HEADER(arity, subtag) ((uint64_t)(arity) << 6 | (subtag) << 2)
#define SMALL(n) ((uint64_t)(n) << 4 | OTP_TAG_SMALL)

static const struct {
    uint64_t words[6];
    unsigned tag;
    enum snapshot_form form;
    const char *begins;
} terms[] = {
    {{SMALL(1), SELF | LIST}, LIST, SNAPSHOT_SHAPE, "[integer, ...](<=16384 and more)"},
    {{SMALL(1), SELF | LIST}, LIST, SNAPSHOT_CONTENTS, "[1, 1, 1, "},
    {{SELF | LIST, OTP_NIL}, LIST, SNAPSHOT_SHAPE, "[[[[[[[[[[[[...]]"},
    {{SELF | LIST, SELF | LIST}, LIST, SNAPSHOT_SHAPE, "[[[[[[[[[[[["},
    {{SMALL(1), SMALL(2)}, LIST, SNAPSHOT_SHAPE, "[integer | integer]"},
    {{SMALL('a'), OTP_NIL}, LIST, SNAPSHOT_SHAPE, "string(<=1)"},
    {{SMALL('"'), OTP_NIL}, LIST, SNAPSHOT_CONTENTS, "\"\\\"\""},
    {{HEADER(1, 0), SELF | BOXED}, BOXED, SNAPSHOT_SHAPE, "{{{{{{{{{{{{...}}}}}}}}}}}}"},
    {{HEADER(1ull << 57, 0), SMALL(1), OTP_NIL}, BOXED, SNAPSHOT_SHAPE, "{integer, [], "},
    {{HEADER(0, 0)}, BOXED, SNAPSHOT_SHAPE, "{}"},
    {{HEADER(1ull << 57, 2), 0}, BOXED, SNAPSHOT_SHAPE, "integer(<="},
    {{HEADER(2, 9), UINT64_MAX}, BOXED, SNAPSHOT_CONTENTS, "?"},
    {{HEADER(2, 9), 3, 0x636261}, BOXED, SNAPSHOT_CONTENTS, "<<\"abc\">>"},
    {{HEADER(2, 9), 1ull << 40}, BOXED, SNAPSHOT_SHAPE, "binary(<=1099511627776)"},
    {{HEADER(5, 8), 1ull << 40, 0, 0, 0x7fffffff0000}, BOXED, SNAPSHOT_CONTENTS, "binary(1099511627776)"},
    {{HEADER(5, 10), 1, 0, 0, SELF | BOXED}, BOXED, SNAPSHOT_CONTENTS, "?"},
    {{1ull << 40 << 8 | 11 << 2, SELF | BOXED}, BOXED, SNAPSHOT_SHAPE, "#{"},
    {{1 << 8 | 2 << 6 | 11 << 2, UINT64_MAX}, BOXED, SNAPSHOT_SHAPE, "#{...}"},
    {{HEADER(1, 6), 0x7ff8000000000000}, BOXED, SNAPSHOT_CONTENTS, "nan"},
    {{0}, BOXED, SNAPSHOT_SHAPE, "{}"},
    {{5}, BOXED, SNAPSHOT_SHAPE, "?"},
};

START_TEST(test_snapshot_terms_that_lie_end)
{
    uint64_t term = fake_base + FAKE_FREE + terms[_i].tag;
    struct fake f = {0};
    char text[600];

    fake_lay();
    for (size_t i = 0; i < 6; i++) {
        uint64_t word = terms[_i].words[i];

        fake_put(FAKE_FREE + 8 * i, (word & ~3ull) == SELF ? fake_base + FAKE_FREE + (word & 3) : word, 8);
    }
    fake_start(&f);
    snapshot_term_text(f.snapshot, term, terms[_i].form, text, sizeof text);
    ck_assert_msg(!strncmp(text, terms[_i].begins, strlen(terms[_i].begins)), "%s: %s", terms[_i].begins, text);
    ck_assert_uint_lt(strlen(text), sizeof text);
    snapshot_term_text(f.snapshot, term, terms[_i].form, text, 8); /* what does not fit is cut */
    ck_assert_uint_lt(strlen(text), 8);
    ck_assert_str_eq(snapshot_term_text(f.snapshot, 0x7fffffff0002, SNAPSHOT_SHAPE, text, sizeof text), "?");
    fake_end(&f);
}
END_TEST

Suite *snapshot_one_suite(void)
{
    Suite *suite = suite_create("snapshot_one");
    TCase *lying = tcase_create("lies");

    tcase_add_loop_test(lying, test_snapshot_one_of_an_erlvm_that_lies_is_bounded, 0, sizeof lies / sizeof *lies);
    tcase_add_loop_test(lying, test_snapshot_tables_of_an_erlvm_that_lies_are_bounded, 0,
                        sizeof tables / sizeof *tables);
    tcase_add_test(lying, test_snapshot_memory_of_an_older_erlvm_is_missing);
    tcase_add_loop_test(lying, test_snapshot_terms_that_lie_end, 0, sizeof terms / sizeof *terms);
    suite_add_tcase(suite, lying);
    return suite;
}
