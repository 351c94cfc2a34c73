/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel and the rights allow. Invariant: each row is a fact that was tried or read,
 * and each "no" says what to do.
 */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cmd.h"
#include "common/fail.h"
#include "common/options.h"
#include "common/rights.h"
#include "probe/kernel.h"
#include "probe/plan.h"
#include "probe/watch.h"
#include "sink/sink.h"
#include "source/batch_source.h"
#include "source/verdict.h"
#include "target/target_find.h"


static const struct sink_column columns[] = {{"check", "CHECK", SINK_TEXT, 22},
                                             {"ok", "OK", SINK_TEXT, 3},
                                             {"found", "FOUND, OR WHAT TO DO", SINK_TEXT, 0}};
static const struct sink_table table = {"check", NULL, columns, 3};

static const struct sink_column command_columns[] = {{"pid", "PID", SINK_COUNT, 7},
                                                     {"command", "COMMAND", SINK_TEXT, 7},
                                                     {"works", "WORKS", SINK_TEXT, 5},
                                                     {"how", "HOW, OR WHY NOT", SINK_TEXT, -1}};
static const struct sink_table command_table = {"command", NULL, command_columns, 4};

static const struct sink_column vm_columns[] = {{"pid", "PID", SINK_COUNT, 7},
                                                {"provider", "PROVIDER", SINK_TEXT, 10},
                                                {"finding", "WHAT WORKS", SINK_TEXT, -1}};
static const struct sink_table vm_table = {"finding", NULL, vm_columns, 3};

static const struct sink_column event_columns[] = {{"pid", "PID", SINK_COUNT, 7},
                                                   {"event", "EVENT", SINK_TEXT, 28},
                                                   {"source", "SOURCE", SINK_TEXT, 6},
                                                   {"about", "COST, OR WHY NOT", SINK_TEXT, -1}};
static const struct sink_table event_table = {"event", NULL, event_columns, 4};

struct doctor {
    struct sink sink;
    int missing;
    bool each;    /* command and event of the VM is told, not those events only that a note does not tell all of */
    bool verbose; /* so are events that cannot be had */
    size_t unlisted; /* of these */
};

static void report(struct doctor *d, const char *check, bool ok, const char *text)
{
    d->missing += !ok;
    sink_row(&d->sink, &table,
             (struct sink_value[]){SINK_S(check), SINK_S(ok ? "yes" : "no"), SINK_S(text)});
}

static void read_line(const char *path, char *out, size_t size)
{
    FILE *file = fopen(path, "re");

    out[0] = '\0';
    if (!file)
        return;
    if (fgets(out, (int)size, file))
        out[strcspn(out, "\n")] = '\0';
    fclose(file);
}

static void check_kernel(struct doctor *d)
{
    struct utsname name;
    char text[128];

    uname(&name);
    report(d, "machine x86_64", !strcmp(name.machine, "x86_64"), name.machine);
    for (int i = 0; i < KERNEL_NNEEDS; i++) {
        const struct kernel_need_row *need = &kernel_needs[i];
        bool has = kernel_has((enum kernel_need)i);

        snprintf(text, sizeof text, "for %s: kernel %s or later", need->who, need->since);
        report(d, need->name, has, has ? name.release : text);
    }
}

static void check_uprobes(struct doctor *d)
{
    static const char dir[] = "/sys/bus/event_source/devices/uprobe";
    char text[64];

    read_line("/sys/bus/event_source/devices/uprobe/type", text, sizeof text);
    report(d, "uprobes", text[0],
           text[0]             ? dir
           : kernel_has_sysfs() ? "needs CONFIG_UPROBE_EVENTS in the kernel"
                               : KERNEL_NO_SYSFS);
    read_line("/sys/bus/event_source/devices/uprobe/format/ref_ctr_offset", text, sizeof text);
    report(d, "USDT semaphores", text[0], text[0]             ? text
           : kernel_has_sysfs() ? "needs kernel 4.20 or later"
                               : KERNEL_NO_SYSFS);
}

static void check_proc(struct doctor *d)
{
    bool ours = target_proc_is_ours();

    report(d, "/proc of this namespace", ours,
           ours ? "/proc" : "mount its own: unshare --mount-proc, or mount -t proc proc /proc");
}

/* Loads the smallest program that uprobes can run: the rights and the kernel's support in one. */
static void check_load(struct doctor *d)
{
    const struct bpf_insn code[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K}, {.code = BPF_JMP | BPF_EXIT}};
    int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "doctor", "GPL", code, 2, NULL);
    int err = fd < 0 ? errno : 0;

    report(d, "load BPF programs", !err,
           !err                               ? "loaded one"
           : err == EPERM || err == EACCES ? "run as root, or with CAP_BPF and CAP_PERFMON"
                                              : strerror(err));
    if (fd >= 0)
        close(fd);
}

/* Whether the executable of a process may be seen; one that has none, or has ended, may. */
static bool may_see(const char *pid)
{
    char path[300], target[1];

    snprintf(path, sizeof path, "/proc/%s/exe", pid);
    return readlink(path, target, sizeof target) >= 0 || (errno != EACCES && errno != EPERM);
}

/*
 * Some may be hidden from root too: it is the right that may be missing, and each process that shows whether it helps.
 */
static void check_processes(struct doctor *d)
{
    bool right = rights_have(CAP_SYS_PTRACE);
    int seen = 0, all = 0;
    DIR *dir = opendir("/proc");
    char text[96];

    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (atoi(entry->d_name) <= 0)
            continue;
        all++;
        seen += may_see(entry->d_name);
    }
    if (dir)
        closedir(dir);
    right &= seen > 1 || all == 1;
    snprintf(text, sizeof text, right ? "%d of %d" : "%d of %d; run as root, or with CAP_SYS_PTRACE", seen, all);
    report(d, "see other processes", right, text);
}

static void check_rights(struct doctor *d)
{
    bool types = !access("/sys/kernel/btf/vmlinux", R_OK), perf;
    char text[64];

    check_processes(d);
    read_line("/proc/sys/kernel/perf_event_paranoid", text, sizeof text);
    perf = rights_have(CAP_PERFMON) || rights_have(CAP_SYS_ADMIN) || atoi(text) < 2;
    report(d, "perf_event_paranoid", perf, perf ? text : "run as root, or with CAP_PERFMON");
    report(d, "kernel types (BTF)", types,
           types               ? "/sys/kernel/btf/vmlinux"
           : kernel_has_sysfs() ? "needs CONFIG_DEBUG_INFO_BTF in the kernel"
                               : KERNEL_NO_SYSFS);
}

/* What is had of one event, and how: by the page where the VM hands pages over, as long as nothing else is said. */
static void print_event(struct doctor *d, const struct target *t, const struct plan *plan, enum plan_probe probe)
{
    static const char *const sources[] = {[PLAN_NONE] = "none", [PLAN_NOTE] = "note", [PLAN_HOOK] = "hook"};
    const struct plan_event *event = &plan->events[probe];
    bool pages = batch_source_tells(t, plan_probe_name(probe));
    const char *about = pages                        ? "by the page, about 50 ns"
                        : event->why[0]              ? event->why
                        : event->source == PLAN_NONE ? "no place known in this VM"
                        : event->source == PLAN_NOTE ? "one trap; the VM also prints strings"
                                                     : otp_cost_text(event->cost);

    sink_row(&d->sink, &event_table,
             (struct sink_value[]){SINK_N((uint64_t)t->pid), SINK_S(plan_probe_name(probe)),
                                   SINK_S(pages ? "pages" : sources[event->source]), SINK_S(about)});
}

/* Names of the subcommands that work, or of those that do not. */
static size_t list_commands(const struct verdict *verdicts, bool work, char *text, size_t size)
{
    size_t used = 0;

    for (size_t i = 0; i < VERDICT_COMMANDS; i++)
        if (verdicts[i].works == work)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", verdict_commands[i]);
    return used;
}

/* One line a VM: which subcommands work, as the shorter of two lists. */
static void print_finding(struct doctor *d, const struct target *t, const struct plan *plan,
                          const struct verdict *verdicts)
{
    char text[sizeof "all but stacks; no hooks: " + VIEWS_NAMES_BYTES + sizeof plan->refused] = "";
    size_t works = 0, used;

    for (size_t i = 0; i < VERDICT_COMMANDS; i++)
        works += verdicts[i].works;
    if (!works) {
        snprintf(text, sizeof text, "none: %s", verdicts[0].text);
    } else {
        bool most = works > VERDICT_COMMANDS / 2;

        used = most ? (size_t)snprintf(text, sizeof text, works < VERDICT_COMMANDS ? "all but " : "all") : 0;
        used += works < VERDICT_COMMANDS ? list_commands(verdicts, !most, text + used, sizeof text - used) : 0;
        snprintf(text + used, sizeof text - used, "%s%s", plan->refused[0] ? "; no hooks: " : "", plan->refused);
    }
    sink_row(&d->sink, &vm_table,
             (struct sink_value[]){SINK_N((uint64_t)t->pid), SINK_S(t->provider->name), SINK_S(text)});
}

static void print_commands(struct doctor *d, const struct target *t, const struct verdict *verdicts)
{
    for (size_t i = 0; i < VERDICT_COMMANDS; i++)
        sink_row(&d->sink, &command_table,
                 (struct sink_value[]){SINK_N((uint64_t)t->pid), SINK_S(verdict_commands[i]),
                                       SINK_S(verdicts[i].works ? "yes" : "no"), SINK_S(verdicts[i].text)});
}

static void print_events(struct doctor *d, const struct target *t, const struct plan *plan)
{
    for (size_t i = 0; i < PLAN_NPROBES; i++)
        if (plan->events[i].source != PLAN_NONE &&
            (d->each || (plan->events[i].source == PLAN_NOTE && plan->events[i].why[0])))
            print_event(d, t, plan, (enum plan_probe)i);
    for (size_t i = 0; d->verbose && i < PLAN_NPROBES; i++)
        if (plan->events[i].source == PLAN_NONE)
            print_event(d, t, plan, (enum plan_probe)i);
}

static int check_target(void *ctx, struct target *t)
{
    struct doctor *d = ctx;
    struct verdict verdicts[VERDICT_COMMANDS];
    struct plan *plan;
    int err;

    err = plan_new(t, false, &plan);
    if (err)
        return err;
    verdict_all(t, plan, verdicts);
    print_finding(d, t, plan, verdicts);
    if (d->each)
        print_commands(d, t, verdicts);
    print_events(d, t, plan);
    d->unlisted = d->each && !d->verbose ? PLAN_NPROBES - plan_count(plan) : 0;
    plan_free(plan);
    return 0;
}

int cmd_doctor(int argc, char **argv)
{
    static const struct options_spec spec = {
        "doctor", "Shows what the kernel and your rights allow, and with -p a VM's events.",
        OPTIONS_PID | OPTIONS_VERBOSE,
        NULL, NULL, NULL};
    struct doctor d = {0};
    struct target only;
    struct options o;
    int err = options_parse(&spec, argc, argv, &o);

    if (err || o.done)
        return err;
    if ((err = watch_require_files(&o)))
        return err;
    if (o.name && (err = target_find(o.name, &o.pid)))
        return err;
    if (o.pid && (err = target_require(o.pid, &only)))
        return err;
    sink_init(&d.sink, stdout, o.form, false);
    check_kernel(&d);
    check_uprobes(&d);
    check_proc(&d);
    check_load(&d);
    check_rights(&d);
    d.each = o.pid;
    d.verbose = o.verbose;
    err = o.pid ? check_target(&d, &only) : target_each(&(struct target_visitor){.found = check_target, .ctx = &d});
    if (o.pid)
        target_close(&only);
    if (!err)
        err = sink_end(&d.sink);
    if (!err && d.missing)
        return fail(-ENOTSUP, "%d of the checks say no, and what to do", d.missing);
    if (!err && d.unlisted)
        note("nothing is missing here; events that such VMs do not have, which -v lists: %zu", d.unlisted);
    return err;
}
