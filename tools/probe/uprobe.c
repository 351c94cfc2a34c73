/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source: struct bpf_attr of linux/bpf.h (link_create.uprobe_multi, kernel 6.6) and
 * perf_event_open(2); libbpf before 1.3 cannot make the first.
 * Invariant: a descriptor that is returned is all that holds the link; closing it detaches.
 */
#include "uprobe.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apart.h"
#include "common/clock.h"
#include "target/memory.h"

enum {
    REF_CTR_SHIFT = 32,
    RETURNS = 1 /* config bit 0, format/retprobe */,
    MANY_RETURNS = 1 /* BPF_F_UPROBE_MULTI_RETURN */
};

struct many_attr {
    uint32_t program, target, attach_type, link_flags;
    uint64_t path, offsets, ref_ctr_offsets, cookies;
    uint32_t count, flags, pid, pad;
};

union attr {
    struct many_attr many;
    char bytes[128]; /* what the kernel does not know must be zero */
};

static int create_link(void *attr)
{
    int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, attr, sizeof(union attr));

    return fd < 0 ? -errno : fd;
}

static int create_many(const struct many_attr *many)
{
    union attr attr;

    memset(&attr, 0, sizeof attr);
    attr.many = *many;
    return apart_call(create_link, &attr);
}

/* The smallest program that uprobes can run, for links of many places or of one. Returns its descriptor, or -errno. */
static int load_empty(bool many)
{
    const struct bpf_insn code[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K}, {.code = BPF_JMP | BPF_EXIT}};
    LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = many ? (enum bpf_attach_type)UPROBE_ATTACH_MANY : 0);

    return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "empty", "GPL", code, 2, &opts);
}

/* A link that cannot be made: its path is `path`, its offsets stand nowhere. Returns what the kernel says. */
static int try_many(int program, const char *path, int pid)
{
    int link = create_many(&(struct many_attr){.program = (uint32_t)program,
                                               .attach_type = UPROBE_ATTACH_MANY,
                                               .path = (uintptr_t)path,
                                               .offsets = 1,
                                               .count = 1,
                                               .pid = (uint32_t)pid});

    if (link >= 0)
        close(link);
    return link;
}

struct thread_trial {
    int program, refused;
};

/* Asks for links that are for this thread alone. */
static void *try_thread(void *ctx)
{
    struct thread_trial *trial = ctx;

    trial->refused = try_many(trial->program, "/proc/self/exe", gettid());
    return NULL;
}

/*
 * Whether a link for a process counts all its threads: a kernel where it does knows no process by the number of a
 * thread.
 */
static bool filters_processes(int program)
{
    struct thread_trial trial = {program, 0};
    pthread_t thread;

    if (pthread_create(&thread, NULL, try_thread, &trial))
        return false;
    pthread_join(thread, NULL);
    return trial.refused == -ESRCH;
}

/* A link to a folder is refused for being none by a kernel that knows such links, for the type by others. */
bool uprobe_has_many(void)
{
    int program = load_empty(true);
    bool has;

    if (program < 0)
        return false;
    has = try_many(program, "/", 0) == -EBADF && filters_processes(program);
    close(program);
    return has;
}

int uprobe_link_many(int program, const char *path, int pid, bool returns, const struct uprobe_place *places, size_t n)
{
    uint64_t *columns = calloc(n, 3 * sizeof *columns), *offsets = columns, *semaphores = columns + n,
             *cookies = columns + 2 * n;
    int link;

    if (!columns)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        offsets[i] = places[i].offset;
        semaphores[i] = places[i].semaphore;
        cookies[i] = places[i].cookie;
    }
    link = create_many(&(struct many_attr){.program = (uint32_t)program,
                                           .attach_type = UPROBE_ATTACH_MANY,
                                           .path = (uintptr_t)path,
                                           .offsets = (uintptr_t)offsets,
                                           .ref_ctr_offsets = (uintptr_t)semaphores,
                                           .cookies = (uintptr_t)cookies,
                                           .count = (uint32_t)n,
                                           .flags = returns ? MANY_RETURNS : 0,
                                           .pid = pid > 0 ? (uint32_t)pid : 0});
    free(columns);
    return link;
}

static int read_uprobe_type(void)
{
    FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
    int type = -1;

    if (!file)
        return -ENOTSUP;
    if (fscanf(file, "%d", &type) != 1)
        type = -ENOTSUP;
    fclose(file);
    return type;
}

struct event_link {
    struct perf_event_attr attr;
    int program, pid;
    uint64_t cookie;
};

static int create_event(void *ctx)
{
    struct event_link *l = ctx;
    LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = l->cookie);
    int event = (int)syscall(SYS_perf_event_open, &l->attr, l->pid > 0 ? l->pid : -1, l->pid > 0 ? -1 : 0, -1,
                             PERF_FLAG_FD_CLOEXEC);
    int link;

    if (event < 0)
        return -errno;
    link = bpf_link_create(l->program, event, BPF_PERF_EVENT, &opts);
    close(event); /* the link keeps it */
    return link;
}

int uprobe_link_one(int program, const char *path, int pid, bool returns, const struct uprobe_place *place)
{
    int type = read_uprobe_type();
    struct event_link l = {.attr = {.size = sizeof l.attr,
                                    .type = (uint32_t)type,
                                    .config = place->semaphore << REF_CTR_SHIFT | (returns ? RETURNS : 0),
                                    .uprobe_path = (uintptr_t)path,
                                    .probe_offset = place->offset},
                           .program = program,
                           .pid = pid,
                           .cookie = place->cookie};

    return type < 0 ? type : apart_call(create_event, &l);
}

/* ---- the price of a trap */

/* Where in this program's file its code is. */
struct own_code {
    uint64_t address, offset; /* offset: 0 until it is found */
};

static bool take_own(void *context, const struct memory_mapping *m)
{
    struct own_code *code = context;

    if (code->address < m->start || code->address >= m->end)
        return false;
    code->offset = code->address - m->start + m->offset;
    return true;
}

/* 0: it is not found. */
static uint64_t own_offset(uint64_t address)
{
    struct own_code code = {.address = address};

    memory_each_mapping(getpid(), take_own, &code);
    return code.offset;
}

/* Where a probe stands that is measured: at an instruction that the kernel does itself, as those of hooks are. */
void uprobe_milestone(void);
__asm__(".text\n.globl uprobe_milestone\n.type uprobe_milestone, @function\n"
        "uprobe_milestone: push %rbp\npop %rbp\nret\n.size uprobe_milestone, . - uprobe_milestone\n");

/* Processor time of this thread for passing the milestone so often; the least of some tries. */
static uint64_t pass_milestone(int times)
{
    uint64_t least = ~0ull;

    for (int i = 0; i < 5; i++) {
        uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID), took;

        for (int k = 0; k < times; k++)
            uprobe_milestone();
        took = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
        least = took < least ? took : least;
    }
    return least;
}

/* Opens the event of a uprobe, which sets its trap, and closes it. */
static int pass_event(void *ctx)
{
    int event = (int)syscall(SYS_perf_event_open, ctx, getpid(), -1, -1, PERF_FLAG_FD_CLOEXEC);

    if (event < 0)
        return -errno;
    close(event);
    return 0;
}

bool uprobe_settle(void)
{
    static uint64_t offset;
    int type = read_uprobe_type();
    struct perf_event_attr attr = {
        .size = sizeof attr, .type = (uint32_t)type, .uprobe_path = (uintptr_t)"/proc/self/exe"};

    offset = offset ? offset : own_offset((uintptr_t)uprobe_milestone);
    attr.probe_offset = offset;
    return type >= 0 && offset && !apart_call(pass_event, &attr);
}

uint64_t uprobe_trap_ns(void)
{
    enum { TIMES = 300 };
    struct uprobe_place place = {.offset = own_offset((uintptr_t)uprobe_milestone)};
    int program = place.offset ? load_empty(false) : -1;
    int link = program < 0 ? -1 : uprobe_link_one(program, "/proc/self/exe", getpid(), false, &place);
    struct bpf_prog_info info = {0};
    uint32_t size = sizeof info;
    uint64_t trap = 0;

    if (link >= 0) {
        trap = pass_milestone(TIMES) / TIMES;
        if (!bpf_obj_get_info_by_fd(program, &info, &size) && info.run_cnt && info.run_time_ns / info.run_cnt < trap)
            trap -= info.run_time_ns / info.run_cnt;
        close(link);
    }
    if (program >= 0)
        close(program);
    return trap;
}

/* ---- processes whose system calls are filtered */

enum { SYS_URETPROBE = 335 /* of x86-64 */, STUCK_S = 10 };

/* What the trial's probe is at. */
static __attribute__((noinline, noclone)) int probed(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x + 1;
}

/* The child: under a filter that kills for that one system call, waits for the probe and runs into it. */
static void run_filtered(int begin, int end)
{
    static struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_URETPROBE, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
    char byte;

    close(end);
    alarm(STUCK_S);
    prctl(PR_SET_DUMPABLE, 0); /* it may die, but leaves no dump */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        _exit(0); /* no filters here */
    _exit(read(begin, &byte, 1) == 1 && probed(1) == 2 ? 0 : 1);
}

/* Whether the child ends well with a probe of the program in it; a probe that cannot be had harms nobody. */
static bool try_return(int program, bool many, int child, int begin)
{
    struct uprobe_place place = {.offset = own_offset((uintptr_t)probed)};
    int link, status = 1;

    link = many ? uprobe_link_many(program, "/proc/self/exe", child, true, &place, 1)
                : uprobe_link_one(program, "/proc/self/exe", child, true, &place);
    if (write(begin, "", 1) != 1)
        kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (link < 0)
        return true;
    close(link);
    return WIFEXITED(status) && !WEXITSTATUS(status);
}

bool uprobe_returns_pass_filters(void)
{
    bool many = uprobe_has_many(), passed = true;
    int program = load_empty(many), pair[2], child;

    if (program < 0 || pipe(pair)) {
        if (program >= 0)
            close(program);
        return true;
    }
    child = fork();
    if (!child)
        run_filtered(pair[0], pair[1]);
    if (child > 0)
        passed = try_return(program, many, child, pair[1]);
    close(pair[0]);
    close(pair[1]);
    close(program);
    return passed;
}
