/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots of the ports of an erlvm whose memory says what no VM's does. */
#include <errno.h>
#include <unistd.h>

#include "otp/names.h"
#include "otp/snapshot.h"
#include "support.h"
#include "support_erlvm.h"

enum { ALL = FAKE_CHAINS * FAKE_CHAIN };

struct told {
    unsigned n, seen[ALL];
};

static int keep_port(void *ctx, const struct snapshot_port *port)
{
    struct told *told = ctx;
    uint64_t number = port->id & 0xffff;

    told->n++;
    if (number < ALL) {
        told->seen[number]++;
        ck_assert_uint_eq(port->queued_bytes, number + 2);
        ck_assert_uint_eq(port->owner, ev_id_of_pid(0, 0));
    }
    return told->n == 100000;
}

static void lay_nothing(void)
{
}

static void lay_a_chain_that_leads_to_itself(void)
{
    fake_set(fake_port(ALL - 1), ERLVM_PORT_NEXT, fake_base + fake_port(FAKE_CHAINS - 1), 8);
}

static void lay_chains_that_lead_nowhere(void)
{
    fake_set(fake_port(0), ERLVM_PORT_NEXT, 0x7fffffff0000, 8);
    fake_set(fake_port(1), ERLVM_PORT_NEXT, UINT64_MAX - 5, 8);
}

static void lay_what_is_no_port(void)
{
    fake_set(fake_port(5), ERLVM_PORT_ID, OTP_TAG_PID, 8);
}

static void lay_one_that_is_closed(void)
{
    fake_set(fake_port(5), ERLVM_PORT_STATE, fake_numbers[ERLVM_PORT_IS_CLOSED], 4);
}

static void lay_a_number_beyond_all_bounds(void)
{
    fake_set(fake_port(5), ERLVM_PORT_QUEUED, UINT64_MAX - 1, 8);
}

static void lay_more_chains_than_there_can_be(void)
{
    fake_put(FAKE_NUMBERS + 0x100 * LAYOUT_ROOM_PORTS + 4 * (ERLVM_PORTS_BITS - ERLVM_PORTS_BUCKETS), 25, 4);
}

static void lay_chains_beyond_the_memory(void)
{
    fake_put(FAKE_NUMBERS + 0x100 * LAYOUT_ROOM_PORTS + 4 * (ERLVM_PORTS_BITS - ERLVM_PORTS_BUCKETS), 20, 4);
}

/* As an erlvm told of itself that knew no row of ports. */
static void lay_an_older_table(void)
{
    fake_put(FAKE_TABLE + 12, offsetof(struct layout, parts[LAYOUT_ROOM_PORTS]), 4);
}

static const struct {
    void (*lay)(void);
    int err;
    uint64_t told, gone, unclear;
} lies[] = {
    {lay_nothing, 0, ALL, 0, 0},
    {lay_a_chain_that_leads_to_itself, -EBADMSG, 0, 0, 0},
    {lay_chains_that_lead_nowhere, 0, ALL - 2 * (FAKE_CHAIN - 1), 2, 0},
    {lay_what_is_no_port, 0, ALL - 1, 0, 1},
    {lay_one_that_is_closed, 0, ALL - 1, 1, 0},
    {lay_a_number_beyond_all_bounds, 0, ALL - 1, 0, 1},
    {lay_more_chains_than_there_can_be, -ENOTSUP, 0, 0, 0},
    {lay_chains_beyond_the_memory, -ESRCH, 0, 0, 0},
    {lay_an_older_table, -ENOTSUP, 0, 0, 0},
};

START_TEST(test_snapshot_ports_of_an_erlvm_that_lies_are_bounded)
{
    struct otp_vm vm = {.layout = {.vm = (uint32_t)getpid()}};
    struct erlvm_layout ours;
    struct snapshot_count count;
    struct told told = {0};
    struct names *names = names_new();
    struct memory *memory;
    struct snapshot *s;
    char why[160];

    fake_lay();
    lies[_i].lay();
    ck_assert_int_eq(memory_open(getpid(), &memory), 0);
    ck_assert_int_eq(erlvm_layout_read(memory, fake_base + FAKE_TABLE, &ours, why, sizeof why), 0);
    memory_close(memory);
    erlvm_layout_fill(&ours, &vm.layout);
    vm.ours = &ours;
    ck_assert_int_eq(names_add(names, &vm.layout, &ours), 0);
    ck_assert_int_eq(snapshot_new(&vm, names, &s), 0);
    ck_assert_int_eq(snapshot_ports(s, keep_port, &told, &count), lies[_i].err);
    if (!lies[_i].err) {
        ck_assert_uint_eq(count.read, lies[_i].told);
        ck_assert_uint_eq(count.gone, lies[_i].gone);
        ck_assert_uint_eq(count.unclear, lies[_i].unclear);
        ck_assert_uint_eq(count.listed, ALL);
        ck_assert_uint_eq(told.n, count.read);
        for (size_t i = 0; i < ALL; i++)
            ck_assert_uint_le(told.seen[i], 1);
    }
    snapshot_free(s);
    names_free(names);
}
END_TEST

Suite *snapshot_ports_suite(void)
{
    Suite *suite = suite_create("snapshot_ports");
    TCase *lying = tcase_create("lies");

    tcase_add_loop_test(lying, test_snapshot_ports_of_an_erlvm_that_lies_are_bounded, 0, sizeof lies / sizeof *lies);
    suite_add_tcase(suite, lying);
    return suite;
}
