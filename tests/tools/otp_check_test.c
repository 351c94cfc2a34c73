/* SPDX-License-Identifier: Apache-2.0 */
/* otp_check on the machine's own Erlang: it holds, and everything made wrong on purpose is refused. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "otp/otp_check.h"
#include "otp/otp_vm.h"
#include "target/provider_otp.h"
#include "support.h"

/* A node that runs, and the layout that its build should have. */
struct node {
    int pid;
    struct otp_symbols *symbols;
    struct memory_file *memory;
    struct otp_layout layout;
    char why[200];
};

static const char *const field_names[] = {
#define FIELD(name, structure, member, what) #name,
#include "../../bpf/otp_fields.def"
};

static uint64_t locate(struct node *n, const char *name)
{
    struct otp_place place;

    ck_assert_int_eq(otp_symbols_find(n->symbols, name, &place), 0);
    return place.address + n->layout.bias;
}

static int check(struct node *n)
{
    strcpy(n->why, "nothing said");
    return otp_check(n->memory, otp_symbols_image(n->symbols), &n->layout, n->why, sizeof n->why);
}

static int check_ports(struct node *n)
{
    strcpy(n->why, "nothing said");
    return otp_check_ports(n->memory, &n->layout, n->why, sizeof n->why);
}

/* False, with a SKIP line, when no offsets are known of the machine's Erlang. */
static bool node_start(struct node *n)
{
    char exe[64], release[16];
    struct elf_file *elf;
    uint32_t jit = 0;
    const uint16_t *off;

    memset(n, 0, sizeof *n);
    n->pid = support_start_erl();
    ck_assert_int_eq(memory_file_open(n->pid, &n->memory), 0);
    snprintf(exe, sizeof exe, "/proc/%d/exe", n->pid);
    ck_assert_int_eq(elf_file_new(exe, &elf), 0);
    provider_otp_release(elf, release, sizeof release);
    elf_file_read_symbol(elf, "etp_beamasm", &jit, sizeof jit);
    n->layout.release = (uint32_t)atoi(release);
    off = otp_layout_find(n->layout.release, jit, elf->nnotes > 0);
    n->layout.bias = elf_file_bias(elf, n->pid);
    elf_file_free(elf);
    ck_assert_int_eq(otp_symbols_new(exe, NULL, &n->symbols), 0);
    if (!off) {
        printf("SKIP otp_check: no offsets of OTP %s are known\n", release);
        return false;
    }
    memcpy(n->layout.off, off, OTP_NFIELDS * sizeof *off);
    n->layout.procs = locate(n, "erts_proc");
    n->layout.atoms = locate(n, "erts_atom_table");
    n->layout.ports = locate(n, "erts_port");
    return true;
}

static void node_stop(struct node *n)
{
    memory_file_close(n->memory);
    kill(-n->pid, SIGKILL);
    waitpid(n->pid, NULL, 0);
    otp_symbols_free(n->symbols);
}

#define WITH_NODE(n)                                                                               \
    struct node n;                                                                                 \
    if (!node_start(&n)) {                                                                         \
        node_stop(&n);                                                                             \
        return;                                                                                    \
    }

START_TEST(test_otp_check_holds_on_the_machines_own)
{
    WITH_NODE(n);

    for (int i = 0; i < 23; i++)
        ck_assert_msg(check(&n) == 0, "%s", n.why);
    ck_assert_int_eq(n.layout.packing.number_bits, n.layout.release < 26 ? 15 : 28);
    node_stop(&n);
}
END_TEST

/* A child that the VM has forked runs the VM's program until it runs its own: to be looked at again, not refused. */
START_TEST(test_otp_check_waits_for_a_process_that_became_another_program)
{
    WITH_NODE(n);
    struct target t;
    struct otp_vm *vm = NULL;

    ck_assert_int_eq(target_open_pid(n.pid, &t), 0);
    t.pid = getpid();
    ck_assert_int_eq(otp_vm_new(&t, &vm, n.why, sizeof n.why), -EAGAIN);
    ck_assert_msg(strstr(n.why, "memory map") != NULL, "%s", n.why);
    target_close(&t);
    node_stop(&n);
}
END_TEST

/* Each shifted alone by a word, either way, is refused. */
static const enum otp_field guarded[] = {
    OTP_PROC_ID,       OTP_PROC_REG,         OTP_PROC_HEAP,     OTP_PROC_HEND,         OTP_PROC_HEAP_SZ,
    OTP_PROC_I,        OTP_PROC_INITIAL,     OTP_PROC_STATE,    OTP_PROC_GROUP_LEADER, OTP_PROC_SIZE,
    OTP_PTAB_TAB,      OTP_PTAB_MAX,         OTP_PTAB_PIX_MASK, OTP_PTAB_CL_MASK,      OTP_PTAB_CLI_MASK,
    OTP_PTAB_CL_SHIFT, OTP_PTAB_CLI_SHIFT,   OTP_INDEX_ENTRIES, OTP_INDEX_SEGMENTS,    OTP_ATOM_INDEX,
    OTP_ATOM_LEN,      OTP_PTAB_ELEMENT_SIZE, OTP_REG_NAME,     OTP_REG_PROCESS,       OTP_PROC_PARENT,
    OTP_PROC_HIGH_WATER,
};

/* Likewise, by the check of ports. */
static const enum otp_field guarded_ports[] = {
    OTP_PORT_CONNECTED, OTP_PORT_NAME,      OTP_PORT_DRIVER,    OTP_PORT_DATA, OTP_PORT_STATE,
    OTP_PORT_SIZE,      OTP_PORT_QUEUE_SIZE, OTP_PORT_LOCK_SIZE, OTP_DRIVER_NAME,
};

/* And of ports that carry the connection to a node. */
static const enum otp_field guarded_connections[] = {OTP_PORT_SPECIFIC, OTP_PORT_NODE, OTP_NODE_NAME, OTP_NODE_STATE};

/*
 * Members that the check of a node cannot hold alone, by what holds them instead: members of Process and their bits only move with
 * the guarded ones (test_otp_check_refuses_a_member_more), what else is read proves itself at each reading, or nothing does. A field
 * is in this list or among the guarded; docs/design.md says it in words.
 */
static const enum otp_field unguarded[] = {
    OTP_PROC_HTOP, OTP_PROC_STOP, OTP_PROC_FVALUE, OTP_PROC_ARGS, OTP_PROC_QUEUE, OTP_PROC_MQ_LEN, OTP_PROC_DICTIONARY, OTP_PROC_TERMINATE,
    OTP_PROC_SAVE,
    OTP_PROC_OLD_HEND, OTP_PROC_OLD_HTOP, OTP_PROC_OLD_HEAP, OTP_PROC_SCHEDULER, OTP_STATE_FREE, OTP_STATE_EXITING, OTP_STATE_RUNNING,
    OTP_STATE_GC, OTP_STATE_SYS, OTP_STATE_DIRTY, OTP_STATE_DIRTY_CPU, OTP_STATE_DIRTY_IO, OTP_PTAB_INVALID, OTP_PTAB_COUNT,
    OTP_PROC_REDS, OTP_PROC_FLAGS, OTP_PROC_MIDDLE_LEN, OTP_PROC_MIDDLE_SIGNALS, OTP_PROC_SIG_LEN, OTP_PROC_OUTER_LEN,
    OTP_PROC_OUTER_MLEN, OTP_PROC_OUTER_SIGNALS, OTP_PROC_BUFFERS, OTP_PROC_FRAGMENTS, OTP_PROC_BINARIES,
    OTP_PROC_OLD_BINARIES, OTP_STATE_SUSPENDED, OTP_STATE_ACTIVE, OTP_STATE_ACTIVE_SYS, OTP_STATE_DIRTY_ACTIVE,
    OTP_STATE_DIRTY_SYS, OTP_FLAG_HIBERNATED,
    OTP_ATOM_NAME, OTP_ATOM_BIN, /* one or the other, by release; texts of the first atoms hold it */
    /* names and lines of code: a module's first and last function must name one module, its functions ascend, lines lie in their tables */
    OTP_CODE_INFO_MFA, OTP_CODE_INFO_SIZE, OTP_CODE_NFUNCTIONS, OTP_CODE_FUNCTIONS, OTP_CODE_LINES, OTP_LINES_FNAMES, OTP_LINES_LOC_SIZE,
    OTP_LINES_LOC, OTP_LINES_FUNCTIONS,
    /* schedulers: their numbers count up from one, and their threads are the process's */
    OTP_SCHED_PORT, OTP_SCHED_QUEUE, OTP_SCHED_REDS, OTP_SCHED_REGISTERS, OTP_SCHED_TID, OTP_SCHED_CURRENT, OTP_SCHED_TYPE, OTP_SCHED_NO, OTP_SCHED_DIRTY_NO, OTP_SCHED_SIZE,
    /* members of ports only move with the guarded ones (test_otp_check_ports_refuses_a_member_more) */
    OTP_PORT_FLAGS, OTP_PORT_IS_EXIT, OTP_PORT_IS_BUSY, OTP_PORT_IS_FULL, OTP_PORT_STATE_CONNECTED, OTP_PORT_STATE_EXITING,
    OTP_PORT_QUEUED, OTP_PORT_COMMANDS, OTP_PORT_READ, OTP_PORT_WRITTEN, OTP_PORT_STATE_CLOSING, OTP_PORT_STATE_FREE, OTP_PORT_STATE_INITIALIZING,
    /* the word before it says the same, and programs read of a node only what names its port, or is connected */
    OTP_NODE_CONTROLLER, OTP_PORT_STATE_CONNECTION,
    /* the words beside it say the same */
    OTP_INDEX_LIMIT,
    /* nothing but what snapshots tell of a node that says so itself (snapshot_test.c) */
    OTP_SIGNAL_NEXT, OTP_SIGNAL_MESSAGES, OTP_BUFFER_SIZE, OTP_BUFFER_LEN, OTP_BUFFER_MLEN, OTP_QUEUE_LEN,
    OTP_COMMANDS_BYTES,
    /* nothing but who is told to wait (open_test.c): each stands in the table of processes */
    OTP_PORT_WAITERS, OTP_NODE_NEXT, OTP_NODE_QUEUE, OTP_NODE_WAITERS, OTP_QUEUE_BUSY,
    /* nothing */
    OTP_FLAG_TRAPS, OTP_PEER_OTHER, OTP_PROC_GEN_GCS, OTP_OUTPUT_VECTOR, OTP_SENDING_NODE, OTP_SENDING_OUTPUT,
    OTP_SENDING_PROCESS, OTP_WAITER_PID, OTP_WAITER_NEXT,
    OTP_PORT_FORCES, OTP_HEAP_BITS_DATA, OTP_SUB_BITS_BASE, OTP_SUB_BITS_START, OTP_FILE_ERRNO, OTP_FILE_FD, OTP_PATH_BYTES,
};

START_TEST(test_otp_check_says_of_each_field_whether_it_is_guarded)
{
    int said[OTP_NFIELDS] = {0};

    for (size_t i = 0; i < sizeof guarded / sizeof *guarded; i++)
        said[guarded[i]]++;
    for (size_t i = 0; i < sizeof guarded_ports / sizeof *guarded_ports; i++)
        said[guarded_ports[i]]++;
    for (size_t i = 0; i < sizeof guarded_connections / sizeof *guarded_connections; i++)
        said[guarded_connections[i]]++;
    for (size_t i = 0; i < sizeof unguarded / sizeof *unguarded; i++)
        said[unguarded[i]]++;
    for (int field = OTP_PROC_LINKS; field <= OTP_INDEX_BUCKETS; field++)
        said[field]++; /* what ps alone reads, and holds against itself: nothing else (ps_test.c) */
    for (int field = 0; field < OTP_NFIELDS; field++)
        ck_assert_msg(said[field] == 1, "%s is said to be guarded or not %d times", field_names[field], said[field]);
}
END_TEST

START_TEST(test_otp_check_refuses_each_shifted_offset)
{
    WITH_NODE(n);

    for (size_t i = 0; i < sizeof guarded / sizeof *guarded; i++)
        for (int by = -8; by <= 8; by += 16) {
            n.layout.off[guarded[i]] += by;
            ck_assert_msg(check(&n) < 0, "%s shifted by %d passes", field_names[guarded[i]], by);
            ck_assert_str_ne(n.why, "nothing said");
            n.layout.off[guarded[i]] -= by;
        }
    ck_assert_msg(check(&n) == 0, "%s", n.why);
    node_stop(&n);
}
END_TEST

/* What another version or a patched build would look like: all members behind some place moved. */
START_TEST(test_otp_check_refuses_a_member_more)
{
    WITH_NODE(n);
    struct otp_layout right = n.layout;

    for (uint16_t place = 8; place <= right.off[OTP_PROC_SIZE]; place += 8) {
        n.layout = right;
        for (int field = OTP_PROC_ID; field <= OTP_PROC_SIZE; field++)
            if (right.off[field] != OTP_NOWHERE && right.off[field] >= place)
                n.layout.off[field] += 8;
        ck_assert_msg(check(&n) == -ENOTSUP, "a word more at %u passes", place);
    }
    node_stop(&n);
}
END_TEST

START_TEST(test_otp_check_ports_holds_on_the_machines_own)
{
    WITH_NODE(n);

    ck_assert_msg(check(&n) == 0, "%s", n.why);
    for (int i = 0; i < 23; i++)
        ck_assert_msg(check_ports(&n) == 0, "%s", n.why);
    ck_assert_int_ne(n.layout.port_packing.data_mask, 0);
    node_stop(&n);
}
END_TEST

static void refuses_each_shifted(struct node *n, const enum otp_field *fields, size_t nfields)
{
    ck_assert_msg(check(n) == 0, "%s", n->why);
    for (size_t i = 0; i < nfields; i++)
        for (int by = -8; by <= 8; by += 16) {
            n->layout.off[fields[i]] += by;
            ck_assert_msg(check_ports(n) == -ENOTSUP, "%s shifted by %d passes", field_names[fields[i]], by);
            ck_assert_str_ne(n->why, "nothing said");
            n->layout.off[fields[i]] -= by;
        }
    ck_assert_msg(check_ports(n) == 0, "%s", n->why);
}

START_TEST(test_otp_check_ports_refuses_each_shifted_offset)
{
    WITH_NODE(n);

    refuses_each_shifted(&n, guarded_ports, sizeof guarded_ports / sizeof *guarded_ports);
    node_stop(&n);
}
END_TEST

/* A TCP port that nobody listens at. */
static int free_port(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int s = socket(AF_INET, SOCK_STREAM, 0);

    ck_assert_int_eq(bind(s, (struct sockaddr *)&at, size), 0);
    ck_assert_int_eq(getsockname(s, (struct sockaddr *)&at, &size), 0);
    close(s);
    return ntohs(at.sin_port);
}

/* Of a node that is connected to another. */
START_TEST(test_otp_check_ports_refuses_each_shifted_offset_of_connections)
{
    int port = free_port(), other;
    char flags[256];
    struct node n;

    snprintf(flags, sizeof flags, "-start_epmd false -erl_epmd_port %d -setcookie check -sname other@localhost", port);
    setenv("ERL_AFLAGS", flags, 1);
    other = support_start_erl();
    snprintf(flags, sizeof flags,
             "-start_epmd false -erl_epmd_port %d -setcookie check -sname here@localhost -dist_listen false "
             "-eval true=lists:any(fun(_)->net_kernel:connect_node(other@localhost)end,lists:seq(1,9))", port);
    setenv("ERL_AFLAGS", flags, 1);
    if (node_start(&n))
        refuses_each_shifted(&n, guarded_connections, sizeof guarded_connections / sizeof *guarded_connections);
    node_stop(&n);
    kill(-other, SIGKILL);
    waitpid(other, NULL, 0);
}
END_TEST

START_TEST(test_otp_check_ports_refuses_a_member_more)
{
    WITH_NODE(n);
    struct otp_layout right = n.layout;

    ck_assert_msg(check(&n) == 0, "%s", n.why);
    right = n.layout;
    for (uint16_t place = 8; place <= right.off[OTP_PORT_SIZE]; place += 8) {
        n.layout = right;
        for (int field = OTP_PORT_FLAGS; field <= OTP_PORT_SIZE; field++)
            if (right.off[field] >= place)
                n.layout.off[field] += 8;
        ck_assert_msg(check_ports(&n) == -ENOTSUP, "a word more at %u passes", place);
    }
    node_stop(&n);
}
END_TEST

START_TEST(test_otp_check_ports_refuses_another_table)
{
    WITH_NODE(n);

    ck_assert_msg(check(&n) == 0, "%s", n.why);
    for (int i = 0; i < 3; i++) {
        n.layout.ports = i == 0 ? n.layout.procs : i == 1 ? locate(&n, "erts_port") + 64 : ~0ull - 64;
        ck_assert_int_eq(check_ports(&n), -ENOTSUP);
    }
    node_stop(&n);
}
END_TEST

START_TEST(test_otp_check_refuses_tables_of_other_builds)
{
    static const uint32_t releases[] = {25, 27, 29};
    WITH_NODE(n);
    uint16_t right[OTP_NFIELDS];
    const uint16_t *off;
    int refused = 0;

    memcpy(right, n.layout.off, sizeof right);
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++)
        for (int build = 0; build < 4; build++) {
            off = otp_layout_find(releases[i], build & 1, build & 2);
            ck_assert(off != NULL);
            memcpy(n.layout.off, off, sizeof right);
            if (off[OTP_PROC_SIZE] == right[OTP_PROC_SIZE] && releases[i] == n.layout.release)
                continue;
            ck_assert_int_eq(check(&n), -ENOTSUP);
            refused++;
        }
    ck_assert_int_eq(refused, 10);
    ck_assert(otp_layout_find(24, true, false) == NULL);
    node_stop(&n);
}
END_TEST

START_TEST(test_otp_check_refuses_wrong_addresses)
{
    WITH_NODE(n);
    struct otp_layout right = n.layout;

    n.layout.procs += 64;
    ck_assert_int_lt(check(&n), 0);
    n.layout = right;
    n.layout.procs = n.layout.atoms;
    ck_assert_int_lt(check(&n), 0);
    n.layout = right;
    n.layout.atoms += 8;
    ck_assert_int_lt(check(&n), 0);
    n.layout = right;
    n.layout.atoms = ~0ull - 64;
    ck_assert_int_eq(check(&n), -ENOTSUP);
    n.layout = right;
    n.layout.bias += 4096;
    ck_assert_int_eq(check(&n), -ENOTSUP);
    n.layout = right;
    ck_assert_int_eq(check(&n), 0);
    node_stop(&n);
}
END_TEST

/* The executable as bytes, so that a copy can be made wrong. */
static char *executable_bytes(int pid, size_t *size)
{
    char path[64], *bytes = malloc(64 << 20);
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    file = fopen(path, "r");
    ck_assert(bytes != NULL && file != NULL);
    *size = fread(bytes, 1, 64 << 20, file);
    fclose(file);
    return bytes;
}

static int check_against(struct node *n, const char *bytes, size_t size)
{
    char path[] = "/tmp/erlsnoop-check-XXXXXX";
    int fd = mkstemp(path), err;
    struct otp_image *image;

    ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
    close(fd);
    strcpy(n->why, "no such file");
    err = otp_image_new(path, &image);
    unlink(path);
    if (err)
        return err;
    err = otp_check(n->memory, image, &n->layout, n->why, sizeof n->why);
    otp_image_free(image);
    return err;
}

START_TEST(test_otp_check_refuses_another_file)
{
    WITH_NODE(n);
    struct otp_image *image = otp_symbols_image(n.symbols);
    uint64_t middle = otp_image_offset(image, image->text + image->text_size / 2);
    size_t size;
    char *bytes = executable_bytes(n.pid, &size);

    ck_assert_msg(check_against(&n, bytes, size) == 0, "%s", n.why);
    bytes[middle] ^= 1;
    ck_assert_int_eq(check_against(&n, bytes, size), -ENOTSUP);
    ck_assert_msg(strstr(n.why, "not that of its file") != NULL, "%s", n.why);
    bytes[middle] ^= 1;
    ck_assert_int_lt(check_against(&n, bytes, middle), 0);
    ck_assert_int_lt(check_against(&n, bytes, size / 16), 0);
    free(bytes);
    node_stop(&n);
}
END_TEST

START_TEST(test_otp_check_says_when_it_is_gone)
{
    WITH_NODE(n);

    kill(-n.pid, SIGKILL);
    waitpid(n.pid, NULL, 0);
    ck_assert_int_eq(check(&n), -ENOTSUP); /* otp_vm_new, which opens the memory, says that it has ended */
    otp_symbols_free(n.symbols);
}
END_TEST

Suite *otp_check_suite(void)
{
    Suite *suite = suite_create("otp_check");
    TCase *live = tcase_create("live");

    tcase_set_timeout(live, 120);
    tcase_add_test(live, test_otp_check_holds_on_the_machines_own);
    tcase_add_test(live, test_otp_check_waits_for_a_process_that_became_another_program);
    tcase_add_test(live, test_otp_check_says_of_each_field_whether_it_is_guarded);
    tcase_add_test(live, test_otp_check_refuses_each_shifted_offset);
    tcase_add_test(live, test_otp_check_refuses_a_member_more);
    tcase_add_test(live, test_otp_check_ports_holds_on_the_machines_own);
    tcase_add_test(live, test_otp_check_ports_refuses_each_shifted_offset);
    tcase_add_test(live, test_otp_check_ports_refuses_each_shifted_offset_of_connections);
    tcase_add_test(live, test_otp_check_ports_refuses_a_member_more);
    tcase_add_test(live, test_otp_check_ports_refuses_another_table);
    tcase_add_test(live, test_otp_check_refuses_tables_of_other_builds);
    tcase_add_test(live, test_otp_check_refuses_wrong_addresses);
    tcase_add_test(live, test_otp_check_refuses_another_file);
    tcase_add_test(live, test_otp_check_says_when_it_is_gone);
    suite_add_tcase(suite, live);
    return suite;
}
