/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: a note is attached once a file, hooks once a process; a process that ended or runs
 * another program has no hooks left after the next look.
 */
#include "watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fail.h"
#include "target/target_find.h"

enum { SCAN_WAIT_NS = 10000000, SCAN_ALL_NS = 250000000, LOOK_NS = 100000000 };
enum { EARLY_S = 10, FILES_NEEDED = 64, PLANNED_US = 1000 /* how often the first look asks for plans */ };

/* What became of a required target. */
static int require_sites(const struct watch *w, int sites, const struct target *t, const struct plan *plan)
{
    const char *lacks = sites ? NULL : attach_lacks(&w->attach, plan);

    if (sites > 0)
        return 0;
    if (!target_lives(t->pid))
        return fail(-ESRCH, "the process with pid %d has ended", t->pid);
    if (sites)
        return sites;
    if (plan->refused[0])
        return fail(-ENOTSUP, "'%s' cannot be watched: %s", t->name, plan->refused);
    if (lacks)
        return fail(-ENOTSUP, "'%s' cannot be watched: %s", t->name, lacks);
    return fail(-ENOTSUP, "'%s' (%s) has none of the probes needed%s; erlsnoop doctor -p %d shows which commands work",
                t->name, t->provider->text,
                t->provider->hooks ? ": erlvm has them, the manual says who else" : "", t->pid);
}

/* Seconds since the process started; of a command's, no more than since we let the command go, which we held back. */
static double find_age_s(const struct watch *w, int pid)
{
    double age_s = target_age_s(pid);
    double went_s = w->child.went_ns ? (double)(clock_ns(CLOCK_MONOTONIC) - w->child.went_ns) / 1e9 : age_s;

    return went_s < age_s ? went_s : age_s;
}

/* Whether one that is not far enough, or so it seems when it is busy, is looked at again. */
static bool is_patient(const struct watch *w, int pid)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec - w->since.tv_sec <= EARLY_S || find_age_s(w, pid) <= EARLY_S;
}

/* ---- one target */

static const char *const known_texts[] = {
#define OTP_ATOM(name, text) text,
    OTP_ATOMS(OTP_ATOM)
#undef OTP_ATOM
};

/* Those of a VM that was planned by a thread came with its plan. */
static int add_names(struct watch *w, const struct otp_vm *vm)
{
    return w->named == vm->layout.vm ? 0 : names_add(w->names, &vm->layout, vm->ours);
}

static int hook_process(struct watch *w, struct links_set *to, const struct target *t, struct plan *plan,
                        uint32_t *slot)
{
    int err;

    if (!plan->vm)
        return 0;
    err = add_names(w, plan->vm);
    if (err && !target_lives(t->pid))
        return -ESRCH;
    if (err)
        note("names of '%s' (process %d) cannot be read: %s", t->name, t->pid, strerror(-err));
    for (size_t i = 0; i < OTP_NKNOWN; i++)
        plan->vm->layout.known[i] = (uint32_t)names_find_atom(w->names, (uint32_t)t->pid, known_texts[i]);
    return attach_hooks(&w->attach, to, t, plan, slot);
}

/*
 * Makes links, or groups begun for them: of notes for process `pid` or all (-1), unless `noted` already, and of hooks.
 * Returns how many sites.
 */
static int link_target(struct watch *w, struct links_set *to, const struct target *t, struct plan *plan, int pid,
                       bool noted, struct attach_sites *sites)
{
    *sites = (struct attach_sites){0, 0, 0};
    if (w->ops.hooks_only && !plan->vm)
        return 0;
    sites->notes = noted ? 0 : attach_notes(&w->attach, to, t, plan, pid);
    if (sites->notes < 0)
        return sites->notes;
    sites->hooks = hook_process(w, to, t, plan, &sites->slot);
    return sites->hooks < 0 ? sites->hooks : sites->notes + sites->hooks;
}

/* Its links are made: its hooks tell from now on, and who reads that knows of it. Notes name processes, too. */
static int notify_linked(struct watch *w, const struct target *t, const struct plan *plan,
                       const struct attach_sites *sites)
{
    int err = plan->vm ? attach_describe(&w->attach, plan, sites->slot) : 0;

    if (err || !plan->vm || (!sites->hooks && !plan->vm->ours && !t->elf->nnotes))
        return err;
    names_follow(w->names, (uint32_t)t->pid, bpf_object__find_map_fd_by_name(w->attach.object, "otp_layouts"),
                 bpf_object__find_map_fd_by_name(w->attach.object, "otp_purged"), sites->slot);
    return w->ops.hooked ? w->ops.hooked(w->ops.ctx, t, plan, sites->slot) : 0;
}

static int attach_places(struct watch *w, const struct target *t, struct plan *plan, int pid, bool noted)
{
    struct attach_sites sites;
    int n = link_target(w, &w->attach.links, t, plan, pid, noted, &sites);
    int err = n < 0 ? 0 : notify_linked(w, t, plan, &sites);

    return err ? err : n;
}

/* Whether the session attaches to it itself. */
static bool is_own(const struct watch *w, const struct target *t)
{
    return w->ops.attach && (!w->ops.serves || w->ops.serves(w->ops.ctx, t));
}

/* What the session attaches to itself has names for who reads its memory alone. */
static int notify_found(struct watch *w, const struct plan *plan, bool own, int sites)
{
    int err;

    if (sites < 0 || !plan->vm || !w->ops.found || (own && add_names(w, plan->vm)))
        return sites;
    err = w->ops.found(w->ops.ctx, plan);
    return err ? err : sites;
}

static int attach_target(struct watch *w, const struct target *t, struct plan *plan, int pid, bool noted)
{
    bool own = is_own(w, t);

    w->pid = t->pid;
    return notify_found(w, plan, own, own ? w->ops.attach(w->ops.ctx, t, pid, noted)
                                        : attach_places(w, t, plan, pid, noted));
}

/* The target that was asked for: once it is far enough, it must have what is needed. A command whose VM has ended may
 * start another. */
static int attach_required(struct watch *w, const struct target *t)
{
    struct plan *plan;
    int err = plan_new(t, w->ops.hooks_only, &plan), sites = 0;

    if (err)
        return err;
    if (!plan->early || !is_patient(w, t->pid)) {
        hold_stop(&w->hold, t->pid);
        sites = attach_target(w, t, plan, t->pid, w->vms > 0);
        w->waits = sites <= 0 && w->child.pid && !target_lives(t->pid);
        if (!w->waits)
            err = require_sites(w, sites || !w->vms ? sites : w->vms, t, plan);
        w->vms += sites > 0;
    }
    if (!err && !w->waits && plan->vm && (w->ops.hooks_only || !plan->vm->ours) && w->child.pid)
        note("'%s' (process %d) is watched from %.2f s after its start", t->name, t->pid, find_age_s(w, t->pid));
    plan_free(plan);
    if (err || !w->waits)
        hold_let_go(&w->hold);
    return err;
}

/* ---- what a command starts */

/* A process has become another program: if that is a VM it is attached to before it runs. */
static void attach_begun(void *ctx, pid_t pid)
{
    struct watch *w = ctx;
    struct target t;

    if (!w->waits || w->held_err || target_open_pid(pid, &t))
        return;
    w->held_err = attach_required(w, &t);
    target_close(&t);
}

/* Where nothing may be held the VM is looked for. */
int watch_release(struct watch *w)
{
    if (w->waits)
        hold_open(&w->hold, w->child.pid);
    return child_release(&w->child);
}

int watch_held_fd(const struct watch *w)
{
    return hold_fd(&w->hold);
}

int watch_see_held(struct watch *w)
{
    hold_look(&w->hold, attach_begun, w);
    return w->held_err;
}

/* ---- all targets */

static struct watch_process *find_process(struct watch *w, int pid)
{
    for (size_t i = 0; i < w->nprocesses; i++)
        if (w->processes[i].life.pid == pid)
            return &w->processes[i];
    return NULL;
}

static int remember_process(struct watch *w, const struct target_life *life, bool watched)
{
    struct watch_process *all = realloc(w->processes, (w->nprocesses + 1) * sizeof *all);

    if (!all)
        return fail(-ENOMEM, "out of memory");
    w->processes = all;
    all[w->nprocesses++] = (struct watch_process){*life, watched};
    return 0;
}

static bool skip_known(void *ctx, int pid, const struct stat *st)
{
    const struct watch *w = ctx;
    const struct executable *file = executables_find(&w->files, st);
    struct target_life life;

    if (pid <= w->passed || planner_has(&w->planner, pid))
        return true;
    if (!file)
        return false;
    if (file->hooks)
        return find_process(ctx, pid) != NULL;
    if (file->watched && !find_process(ctx, pid) && !target_read_life(pid, &life))
        remember_process(ctx, &life, true);
    return file->watched ||
           (file->changed.tv_sec == st->st_ctim.tv_sec && file->changed.tv_nsec == st->st_ctim.tv_nsec);
}

static void remember_other(void *ctx, const struct stat *st)
{
    struct watch *w = ctx;
    struct executable *file = executables_add(&w->files, st);

    if (file)
        file->watched = file->hooks = false;
}

/* Whether this look has taken as long as it may. */
static bool is_over(const struct watch *w)
{
    return w->turn_end_ns && clock_ns(CLOCK_MONOTONIC) > w->turn_end_ns;
}

static void take_names(struct watch *w, struct planner_job *job)
{
    if (!job->names || job->plan->early)
        return;
    names_take(w->names, job->names);
    job->names = NULL;
    w->named = job->plan->vm->layout.vm;
}

/*
 * A VM that cannot be watched is not the end of watching others. One that ends while it is attached to is remembered
 * too: the next look lets go of what was opened for it. sites: a failure, said, where it is negative.
 */
static int settle(struct watch *w, const struct planner_job *job, int sites)
{
    const struct target *t = &job->target;
    struct executable *file = executables_add(&w->files, &t->elf->st);
    const char *why = job->plan->refused[0] ? job->plan->refused : attach_lacks(&w->attach, job->plan);

    if (!file)
        return fail(-ENOMEM, "out of memory");
    file->watched |= sites > 0 && t->elf->nnotes;
    w->vms += sites > 0;
    if ((sites < 0 || (!sites && why)) && target_lives(t->pid))
        note("'%s' (process %d) is not watched%s%s", t->name, t->pid, why ? ": " : "", why ? why : "");
    return file->hooks || file->watched ? remember_process(w, &job->life, sites > 0 || file->watched) : 0;
}

static int settle_linked(struct watch *w, const struct planner_job *job, int sites)
{
    int err = sites < 0 ? 0 : notify_linked(w, &job->target, job->plan, &job->sites);

    w->pid = job->target.pid;
    return settle(w, job, notify_found(w, job->plan, false, err ? err : sites));
}

/* Has its links made by a thread, where there are some, else it is settled. */
static int begin_links(struct watch *w, struct planner_job *job, bool noted)
{
    struct links_opening *o = links_begin(&w->attach.links);
    int sites = o ? link_target(w, &o->links, &job->target, job->plan, -1, noted, &job->sites)
                  : fail(-ENOMEM, "out of memory");

    if (sites > 0 && o->links.n) {
        links_open(o);
        job->opening = o;
        return 0;
    }
    if (o)
        links_give_up(&w->attach.links, o);
    return settle_linked(w, job, sites);
}

/* Its links are made. Of a process that has ended, or runs another program by now, nothing is told. */
static int end_links(struct watch *w, struct planner_job *job)
{
    int err = attach_join_links(&w->attach, job->opening), sites = err ? err : job->sites.notes + job->sites.hooks;

    job->opening = NULL;
    if (err && job->plan->vm)
        attach_drop(&w->attach, &(struct vm_set){&job->plan->vm->layout.vm, 1});
    return target_goes_on(&job->life) ? settle_linked(w, job, sites) : settle(w, job, sites);
}

/* Whether links are being made to the notes of its file, for whoever runs that. */
static bool is_being_noted(const struct watch *w, const struct planner_job *job)
{
    const struct stat *st = &job->target.elf->st;

    for (const struct planner_job *j = w->planner.jobs; j < w->planner.jobs + PLANNER_JOBS; j++)
        if (j->life.pid && j->opening && j->sites.notes && j->target.elf->st.st_dev == st->st_dev &&
            j->target.elf->st.st_ino == st->st_ino)
            return true;
    return false;
}

/* One that is young may not be far enough yet. One that nothing could be learned of is looked at again. */
static int attach_planned(struct watch *w, struct planner_job *job)
{
    struct plan *plan = job->plan;
    struct executable *file;

    if (plan->passing)
        return 0;
    file = executables_add(&w->files, &job->target.elf->st);
    if (!file)
        return fail(-ENOMEM, "out of memory");
    file->hooks |= job->target.provider->hooks || plan->vm || plan->early;
    if (plan->early && is_patient(w, job->target.pid))
        return 0;
    if (is_own(w, &job->target))
        return settle(w, job, attach_target(w, &job->target, plan, -1, file->watched));
    return begin_links(w, job, file->watched);
}

/* Goes on with one that is planned, but for one that runs another program by now; or is looked at again later. */
static int go_on_with(struct watch *w, struct planner_job *job)
{
    int err;

    if (job->err)
        return job->err;
    if (job->opening)
        return end_links(w, job);
    if (!target_goes_on(&job->life) || is_being_noted(w, job))
        return 0;
    take_names(w, job);
    err = attach_planned(w, job);
    w->named = 0;
    return err;
}

static int attach_all_planned(struct watch *w)
{
    struct planner_job *job;
    int err = 0;

    while (!err && !is_over(w) && (job = planner_next(&w->planner))) {
        err = go_on_with(w, job);
        if (!job->opening)
            planner_free(job);
    }
    return err;
}

/* Whether it started after we did. */
static bool is_new(const struct watch *w, int pid)
{
    uint64_t since_ns = (uint64_t)w->since.tv_sec * 1000000000u + (uint64_t)w->since.tv_nsec;

    return target_age_s(pid) < (double)(clock_ns(CLOCK_MONOTONIC) - since_ns) / 1e9;
}

/*
 * Nonzero ends the look: there is no room for another. The first look, which has no end, would run after those that
 * start meanwhile.
 */
static int find_another(void *ctx, struct target *t)
{
    struct watch *w = ctx;
    struct target_life life;

    if (!w->turn_end_ns && is_new(w, t->pid)) {
        w->cut_short = true;
        return 0;
    }
    if (target_read_life(t->pid, &life))
        return 0;
    if (!planner_start(&w->planner, t, &life, w->ops.hooks_only, !is_own(w, t) || w->ops.found))
        return 1;
    w->found = t->pid;
    return 0;
}

static void drop_processes(struct watch *w, const struct vm_set *vms)
{
    attach_drop(&w->attach, vms);
    if (w->ops.ended)
        w->ops.ended(w->ops.ctx, vms);
    for (size_t i = 0; i < vms->n; i++)
        names_end(w->names, vms->vms[i]);
}

/* Forgets processes that have ended, or run another program: all at once, as walking through maps takes its time. */
static int drop_ended(struct watch *w)
{
    uint32_t *ended = calloc(w->nprocesses + 1, sizeof *ended);
    size_t kept = 0, n = 0;

    if (!ended)
        return fail(-ENOMEM, "out of memory");
    for (size_t i = 0; i < w->nprocesses; i++) {
        if (target_goes_on(&w->processes[i].life))
            w->processes[kept++] = w->processes[i];
        else
            ended[n++] = (uint32_t)w->processes[i].life.pid;
    }
    w->nprocesses = kept;
    if (n)
        drop_processes(w, &(struct vm_set){ended, n});
    free(ended);
    return 0;
}

/* Visits the processes that run. Where /proc cannot be read, which is said once, that is tried again. */
static int look(struct watch *w, const struct target_visitor *visitor)
{
    int unread, stop = target_try_each(visitor, &unread);

    if (unread && !w->blind)
        note("no VM can be looked for at the moment, which is tried again: cannot read /proc: %s", strerror(-unread));
    w->blind = unread != 0;
    return stop;
}

/* Goes on behind the process where the last look had to end, so that each has its turn. */
static void look_on(struct watch *w)
{
    bool full;

    w->found = 0;
    full = look(w, &(struct target_visitor){skip_known, remember_other, find_another, w});
    w->passed = full ? w->found : 0;
    w->cut_short |= full;
}

/* Attaches to all that ran before us. */
static int scan_first(struct watch *w)
{
    int err = 0;

    do {
        look_on(w);
        while (!err && !planner_is_idle(&w->planner)) {
            usleep(PLANNED_US);
            err = attach_all_planned(w);
        }
    } while (!err && w->passed);
    return err;
}

/*
 * Attaches to new VMs for LOOK_NS, as results are due meanwhile. More are looked for once the plans are made of those
 * that were found.
 */
static int scan_again(struct watch *w)
{
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    int err = 0;

    if (now_ns - w->dropped_ns >= SCAN_ALL_NS) {
        w->dropped_ns = now_ns;
        err = drop_ended(w);
    }
    w->turn_end_ns = now_ns + LOOK_NS;
    w->cut_short = false;
    if (!err)
        err = attach_all_planned(w);
    if (!err && planner_is_idle(&w->planner))
        look_on(w);
    w->cut_short |= !planner_is_idle(&w->planner);
    return err;
}

/* The first VM among the processes that the command started. */
static bool skip_stranger(void *ctx, int pid, const struct stat *st)
{
    const struct watch *w = ctx;

    (void)st;
    return !w->waits || !target_descends(pid, w->child.pid);
}

static int attach_descendant(void *ctx, struct target *t)
{
    return attach_required(ctx, t);
}

/* ---- the life of a watch */

/* Before the load. A command that is no VM may be a script that starts one. */
static int open_only(struct watch *w)
{
    int pid = w->options->pid, err;

    if (w->child.pid) {
        err = target_open_file(w->child.path, &w->only);
        w->waits = err != 0;
        return err ? 0 : plan_new(&w->only, w->ops.hooks_only, &w->plan);
    }
    if (w->options->all)
        return 0;
    err = pid ? 0 : target_find(w->options->name, &pid);
    if (err)
        return err;
    target_read_life(pid, &w->life); /* fails where target_require does */
    err = target_require(pid, &w->only);
    return err ? err : plan_new(&w->only, w->ops.hooks_only, &w->plan);
}

/* With -a each hook of each process is a file: as many as may be are allowed. libbpf does not always say that they
 * ran out. */
int watch_require_files(const struct options *options)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit))
        return 0;
    if (options->all) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur >= FILES_NEEDED)
        return 0;
    return fail(-EMFILE, "only %d open files are allowed; raise ulimit -n to %d at least", (int)limit.rlim_cur,
                FILES_NEEDED);
}

int watch_require(const struct options *options)
{
    if (!target_proc_is_ours())
        return fail(-ENOTSUP, "/proc here is of another pid namespace; mount its own "
                              "(unshare --mount-proc, mount -t proc proc /proc), or "
                              "run where /proc is mounted");
    return watch_require_files(options);
}

int watch_open(struct watch *w, const struct options *options, const struct watch_ops *ops)
{
    int err;

    *w = (struct watch){.options = options, .ops = *ops, .names = names_new(), .hold.fd = -1};
    clock_gettime(CLOCK_MONOTONIC, &w->since);
    err = w->names ? 0 : fail(-ENOMEM, "out of memory");
    if (!err && options->child)
        err = child_start(options->child, &w->child);
    if (!err)
        err = open_only(w);
    if (!err && w->plan && w->child.pid)
        w->only.pid = w->child.pid; /* from here on: the file was looked at as one that does not run */
    return err;
}

void watch_prepare(struct watch *w, struct bpf_object *object)
{
    bool final = w->plan && !w->plan->early;

    attach_prepare(&w->attach, object, w->only.elf ? &w->only : NULL, final ? w->plan : NULL);
}

uint64_t watch_processes(const struct watch *w)
{
    const struct otp_vm *vm = w->plan ? w->plan->vm : NULL;
    uint64_t most, now;

    if (!vm || vm->ours || otp_vm_limit(vm, &most) || otp_vm_processes(vm, &now))
        return 0;
    return now < most / 4 ? now * 4 : most;
}

/* The one target that is known. */
static int attach_only(struct watch *w)
{
    int sites = 0;

    w->waits = w->plan->early;
    if (!w->waits || w->child.pid)
        sites = attach_target(w, &w->only, w->plan, w->only.pid, false);
    if (!w->waits)
        sites = require_sites(w, sites, &w->only, w->plan) ? -1 : sites;
    w->vms += sites > 0;
    plan_free(w->plan); /* megabytes: an emulator's text and symbols */
    w->plan = NULL;
    return sites < 0 ? sites : 0;
}

int watch_begin(struct watch *w)
{
    int err;

    if (w->options->all) {
        err = scan_first(w);
        if (!err && !w->vms)
            note("no Erlang VM that can be watched yet; waiting for one");
        return err;
    }
    return w->plan ? attach_only(w) : 0;
}

int watch_again(struct watch *w)
{
    if (w->options->all)
        return scan_again(w);
    if (w->child.pid && watch_see_held(w))
        return w->held_err;
    if (w->child.pid)
        return look(w, &(struct target_visitor){.skip = skip_stranger, .found = attach_descendant, .ctx = w});
    return w->waits ? attach_required(w, &w->only) : 0;
}

bool watch_replaced(const struct watch *w)
{
    struct target_life now;

    return w->life.pid && !target_read_life(w->life.pid, &now) && !target_same_life(&now, &w->life);
}

/* Of the VMs that are watched the first that is stopped, and by what; 0: none is. */
static int find_halted(const struct watch *w, const char **halt)
{
    int pid = w->options->all ? 0 : w->pid;

    *halt = pid ? target_halt(pid) : NULL;
    for (size_t i = 0; !*halt && i < w->nprocesses; i++) {
        pid = w->processes[i].life.pid;
        *halt = target_halt(pid);
    }
    return *halt ? pid : 0;
}

void watch_notify_halt(struct watch *w)
{
    const char *halt;
    int pid = find_halted(w, &halt);

    if (pid && !w->halted)
        note("the VM with pid %d %s", pid, halt);
    w->halted = pid != 0;
}

void watch_each(const struct watch *w, void (*vm)(void *ctx, const struct target_life *life, bool watched), void *ctx)
{
    struct target_life life;

    for (size_t i = 0; i < w->nprocesses; i++)
        vm(ctx, &w->processes[i].life, w->processes[i].watched);
    if (!w->options->all && w->vms && !target_read_life(w->pid, &life))
        vm(ctx, &life, true);
}

void watch_each_life(const struct watch *w, void (*vm)(void *ctx, const struct target_life *life), void *ctx)
{
    int only = w->vms ? w->pid : w->only.pid;

    for (size_t i = 0; i < w->nprocesses; i++)
        if (w->processes[i].watched)
            vm(ctx, &w->processes[i].life);
    if (!w->options->all && only)
        vm(ctx, &(struct target_life){.pid = only, .started = w->life.pid == only ? w->life.started : 0});
}

uint64_t watch_interval_ns(const struct watch *w)
{
    return w->waits || w->cut_short ? SCAN_WAIT_NS : w->options->all || w->life.pid ? SCAN_ALL_NS : 0;
}

int watch_end(const struct watch *w)
{
    return w->child.pid ? w->child.pid : w->only.pid;
}

bool watch_leave(struct watch *w, int pid)
{
    struct watch_process *process = find_process(w, pid);

    if (!process || !attach_is_hooked(&w->attach, pid))
        return false;
    attach_drop(&w->attach, &(struct vm_set){&(uint32_t){(uint32_t)pid}, 1});
    process->watched = false;
    return true;
}

void watch_stop(struct watch *w)
{
    for (struct planner_job *job = w->planner.jobs; job < w->planner.jobs + PLANNER_JOBS; job++) {
        if (job->opening)
            links_give_up(&w->attach.links, job->opening);
        job->opening = NULL;
    }
    attach_clear(&w->attach);
}

void watch_close(struct watch *w)
{
    watch_stop(w);
    planner_close(&w->planner);
    hold_close(&w->hold);
    if (w->child.pid)
        child_finish(&w->child);
    if (w->only.elf)
        target_close(&w->only);
    plan_free(w->plan);
    names_free(w->names);
    executables_free(&w->files);
    free(w->processes);
}
