/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: the cookie of a note's link is the slot of its site's description in the map "specs"; that of a hook's is
 * the slot of its process in "otp_layouts", with `which` of its row in the high half.
 */
#include "attach.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fail.h"
#include "kernel.h"
#include "uprobe.h"

/* What an entry of a hash takes beside its key and value, about; and what all entries that are made beforehand take. */
enum { ENTRY_BYTES = 64, FILLED_BYTES = 64 << 20 };
#define INITIAL_PIDNS_INO 0xEFFFFFFCu /* PROC_PID_INIT_INO of linux/proc_ns.h */

static int drop_message(enum libbpf_print_level level, const char *format, va_list args)
{
    if (!getenv("ERLSNOOP_DEBUG") || level == LIBBPF_DEBUG)
        return 0;
    return vfprintf(stderr, format, args);
}

void attach_hush(void)
{
    libbpf_set_print(drop_message);
}

struct wire_config attach_config(uint32_t vm)
{
    struct wire_config config = {.vm = vm};
    struct stat st;

    if (!stat("/proc/self/ns/pid", &st) && st.st_ino != INITIAL_PIDNS_INO) {
        config.pidns_dev = st.st_dev;
        config.pidns_ino = st.st_ino;
    }
    return config;
}

void attach_set_constants(struct bpf_object *object, const char *section, const void *value, size_t size)
{
    struct bpf_map *map = bpf_object__find_map_by_name(object, section);

    if (!map || bpf_map__set_initial_value(map, value, size)) {
        fail(-EINVAL, "the program has other settings in %s", section);
        abort();
    }
}

int attach_explain(int err, const char *what)
{
    if (err == -EACCES && !geteuid())
        return fail(err, "%s: this kernel does not accept it; ERLSNOOP_DEBUG=1 in the environment shows why", what);
    if (err == -EPERM || err == -EACCES)
        return fail(err, "%s: not permitted; run as root, or see erlsnoop doctor", what);
    if (err == -ENOTSUP)
        return fail(err, "%s: this kernel has no uprobes (CONFIG_UPROBE_EVENTS); see erlsnoop doctor", what);
    if (err == -EMFILE)
        return fail(err, "%s: too many open files; raise ulimit -n", what);
    if (err == -ESRCH && access("/sys/kernel", F_OK)) /* libbpf found no BTF of the kernel */
        return fail(err, "%s: " KERNEL_NO_SYSFS, what);
    return fail(err, "%s: %s; see erlsnoop doctor", what, strerror(-err));
}

/* Where the arguments of a probe stand, when all its sites agree; else all zero. */
static struct wire_spec find_fixed(const struct target *t, const char *probe)
{
    struct wire_spec fixed = {0};
    struct provider_site site;
    size_t cursor = 0, n = 0;

    while (t->provider->ops->next_site(t->elf, probe, &cursor, &site) == 1) {
        if (n++ && memcmp(&site.spec, &fixed, sizeof fixed))
            return (struct wire_spec){0};
        fixed = site.spec;
    }
    return fixed;
}

static const struct {
    const char *prefix;
    enum plan_source source;
    enum otp_side side;
} entries[] = {{"on_", PLAN_NOTE, OTP_ENTRY}, {"at_", PLAN_HOOK, OTP_ENTRY}, {"ret_", PLAN_HOOK, OTP_RETURN},
               {"out_", PLAN_HOOK, OTP_EXIT}};
enum { NENTRIES = sizeof entries / sizeof *entries };

/* Where a program goes, by its name. */
struct goal {
    enum plan_probe probe;
    enum plan_source source; /* NONE: to no probe */
    enum otp_side side;
};

static struct goal find_goal(const struct bpf_program *program)
{
    const char *name = bpf_program__name(program);

    for (size_t i = 0; i < NENTRIES; i++) {
        size_t len = strlen(entries[i].prefix);

        if (!strncmp(name, entries[i].prefix, len) && plan_find_probe(name + len) < PLAN_NEVENTS)
            return (struct goal){plan_find_probe(name + len), entries[i].source, entries[i].side};
    }
    return (struct goal){PLAN_NEVENTS, PLAN_NONE, OTP_ENTRY};
}

/* Programs that go on where others end, in the order of enum told_part of bpf/tell.bpf.h. */
static const char *const parts[] = {
#define PART(probe, family, calls, asked, behind, helpers) "then_" #probe "_" #family,
#define TELL_APART(probe, family, calls)
#include "tells.def"
};
enum { NPARTS = sizeof parts / sizeof *parts };

/* Its place among the parts; NPARTS: it is none. */
static uint32_t find_part(const struct bpf_program *program)
{
    uint32_t i = 0;

    while (i < NPARTS && strcmp(bpf_program__name(program), parts[i]))
        i++;
    return i;
}

/* Nobody wrote to them: where they are read again they come from the file again. */
void attach_forget_file(const struct bpf_object_skeleton *skeleton)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)skeleton->data;
    uintptr_t from = (begin + page - 1) / page * page, to = (begin + skeleton->data_sz) / page * page;

    if (from < to)
        madvise((void *)from, to - from, MADV_DONTNEED);
}

int attach_join(const struct bpf_object *object)
{
    int array = bpf_object__find_map_fd_by_name(object, "told_parts");
    struct bpf_program *program;

    bpf_object__for_each_program(program, object) {
        uint32_t part = find_part(program);
        int fd = bpf_program__fd(program);

        if (part < NPARTS && fd >= 0 && bpf_map_update_elem(array, &part, &fd, BPF_ANY))
            return attach_explain(-errno, "cannot join BPF programs");
    }
    return 0;
}

/* Of a hash whose entries are allocated as they are made: what all of them take; 0: it is none, or is not made. */
static uint64_t late_bytes(const struct bpf_map *map)
{
    enum bpf_map_type type = bpf_map__type(map);
    uint64_t copies = type == BPF_MAP_TYPE_PERCPU_HASH ? (uint64_t)libbpf_num_possible_cpus() : 1;

    if (!bpf_map__autocreate(map) || !(bpf_map__map_flags(map) & BPF_F_NO_PREALLOC))
        return 0;
    return bpf_map__max_entries(map) * (ENTRY_BYTES + bpf_map__key_size(map) + copies * bpf_map__value_size(map));
}

/* How much each such map may take at most, so that they all take FILLED_BYTES: the small ones stay as they are. */
static uint64_t bytes_each(const struct bpf_object *object)
{
    uint64_t least = 0, most = FILLED_BYTES;
    const struct bpf_map *map;

    while (most - least > ENTRY_BYTES) {
        uint64_t each = (least + most) / 2, all = 0;

        bpf_object__for_each_map(map, object)
            all += late_bytes(map) < each ? late_bytes(map) : each;
        least = all <= FILLED_BYTES ? each : least;
        most = all <= FILLED_BYTES ? most : each;
    }
    return least;
}

/* Where the kernel does not want programs of probes to allocate entries, they are there beforehand, maybe fewer. */
static void fill_maps(struct bpf_object *object)
{
    uint64_t each = bytes_each(object);
    struct bpf_map *map;

    bpf_object__for_each_map(map, object) {
        uint64_t bytes = late_bytes(map);

        if (bytes > each)
            bpf_map__set_max_entries(map, (uint32_t)(bpf_map__max_entries(map) * each / bytes));
        if (bytes)
            bpf_map__set_map_flags(map, bpf_map__map_flags(map) & ~(uint32_t)BPF_F_NO_PREALLOC);
    }
}

/*
 * Whether a program that the process has nothing for is loaded all the same: hooks may be found once a VM that starts
 * is far enough; who looks for what a VM lacks goes by programs. Notes stand in the file: where there are none, none
 * come.
 */
static bool may_come(const struct target *only, const struct plan *plan, struct goal goal)
{
    return plan->events[goal.probe].source == PLAN_NONE && (goal.source == PLAN_HOOK || only->elf->nnotes);
}

void attach_prepare(struct attach *a, struct bpf_object *object, const struct target *only, const struct plan *plan)
{
    struct wire_spec fixed[PLAN_NPROBES] = {0};
    struct bpf_program *program;
    static const char *const of_vms[] = {"otp_layouts", "vm_hits"};

    a->object = object;
    a->nslots = only ? OTP_FEW_LAYOUTS : OTP_MAX_LAYOUTS;
    for (size_t i = 0; i < sizeof of_vms / sizeof *of_vms; i++) {
        struct bpf_map *map = bpf_object__find_map_by_name(object, of_vms[i]);

        if (map)
            bpf_map__set_max_entries(map, a->nslots);
    }
    if (getenv("ERLSNOOP_FILLED_MAPS") || !kernel_has_late_maps())
        fill_maps(object);
    a->links.many = !getenv("ERLSNOOP_PERF_EVENTS") && uprobe_has_many();
    for (size_t i = 0; only && i < PLAN_NPROBES; i++)
        fixed[i] = find_fixed(only, plan_probe_name((enum plan_probe)i));
    attach_set_constants(object, ".rodata.sites", fixed, sizeof fixed);
    bpf_object__for_each_program(program, object) {
        struct goal goal = find_goal(program);

        if (goal.source == PLAN_NONE && find_part(program) == NPARTS)
            continue;
        if (a->links.many)
            bpf_program__set_expected_attach_type(program, (enum bpf_attach_type)UPROBE_ATTACH_MANY);
        if (plan && goal.source != PLAN_NONE && plan->events[goal.probe].source != goal.source &&
            !may_come(only, plan, goal))
            bpf_program__set_autoload(program, false);
    }
}

/* Says why a link cannot be made, but for -ESRCH. */
static int explain_link(int err)
{
    return err && err != -ESRCH ? attach_explain(err, "cannot attach a probe") : err;
}

/* `hooked`: the process whose functions these are, 0 for notes. Names depend on purges, whatever is looked at else. */
static int link_places(struct links_set *to, const struct bpf_program *program, const struct target *t, int pid,
                       int hooked, bool returns, const struct uprobe_place *places, size_t n)
{
    struct goal goal = find_goal(program);
    struct links_wish wish = {.program = bpf_program__fd(program),
                              .file = elf_file_fd(t->elf),
                              .pid = pid,
                              .owner = hooked,
                              .returns = returns,
                              .stays = goal.probe == PLAN_code__purge};

    return explain_link(links_add(to, &wish, places, n));
}

static int describe_site(struct attach *a, const struct provider_site *site, struct uprobe_place *out)
{
    int specs = bpf_object__find_map_fd_by_name(a->object, "specs");

    if (a->nspecs >= WIRE_MAX_SPECS)
        return fail(-E2BIG, "more than %d probe sites at once", WIRE_MAX_SPECS);
    if (bpf_map_update_elem(specs, &a->nspecs, &site->spec, BPF_ANY))
        return attach_explain(-errno, "cannot describe a probe site");
    *out = (struct uprobe_place){site->offset, site->semaphore, a->nspecs++};
    return 0;
}

/* Returns how many sites, described, at *places. Owns: the caller frees *places, after a failure too. */
static int find_places(struct attach *a, const struct target *t, const char *probe, struct uprobe_place **places)
{
    struct provider_site site;
    size_t cursor = 0;
    int n = 0, err = 0, bad = 0;

    while (!err && t->provider->ops->next_site(t->elf, probe, &cursor, &site) == 1) {
        struct uprobe_place *more = realloc(*places, (size_t)(n + 1) * sizeof *more);

        if (!more)
            return fail(-ENOMEM, "out of memory");
        *places = more;
        err = describe_site(a, &site, &more[n++]);
        bad = site.bad_args > bad ? site.bad_args : bad;
    }
    if (bad)
        note("%s of '%s': %d of its arguments cannot be read", probe, t->name, bad);
    return err ? err : n;
}

/* All notes of one program's probe. Returns how many. */
static int attach_note(struct attach *a, struct links_set *to, const struct bpf_program *program,
                       const struct target *t, const struct plan *plan, enum plan_probe probe, int pid)
{
    struct uprobe_place *places = NULL;
    int n = find_places(a, t, plan_probe_name(probe), &places);
    int err = n > 0 ? link_places(to, program, t, pid, 0, false, places, (size_t)n) : n;

    free(places);
    if (!err && plan->events[probe].why[0])
        note("%s of '%s' (%s): %s", plan_probe_name(probe), t->name, t->provider->name, plan->events[probe].why);
    return err ? err : n;
}

/* Whether the object has a program that would go to hooks of the probe. */
static bool has_hook(const struct attach *a, enum plan_probe probe)
{
    struct bpf_program *program;

    bpf_object__for_each_program(program, a->object) {
        struct goal goal = find_goal(program);

        if (goal.source == PLAN_HOOK && goal.probe == probe && bpf_program__autoload(program))
            return true;
    }
    return false;
}

int attach_notes(struct attach *a, struct links_set *to, const struct target *t, const struct plan *plan, int pid)
{
    struct bpf_program *program;
    size_t groups = to->n;
    uint32_t nspecs = a->nspecs;
    int sites = 0;

    if (t->elf->damaged)
        note("%d notes of '%s' are left alone: they make no sense, or lead to no probe site", t->elf->damaged, t->name);
    if (t->elf->unsafe)
        note("%d notes of '%s' are left alone: a probe there could overwrite what their function keeps below the stack "
             "pointer",
             t->elf->unsafe, t->name);
    bpf_object__for_each_program(program, a->object) {
        struct goal goal = find_goal(program);
        int n = 0;

        if (goal.source != PLAN_NOTE || !bpf_program__autoload(program))
            continue;
        if (plan->events[goal.probe].source == PLAN_NOTE)
            n = attach_note(a, to, program, t, plan, goal.probe, pid);
        else if (t->elf->nnotes && plan->events[goal.probe].source == PLAN_NONE &&
                 !(plan->vm && !has_hook(a, goal.probe)))
            note("'%s' (%s) has no probe %s", t->name, t->provider->name, plan_probe_name(goal.probe));
        if (n < 0) {
            links_cut(to, groups);
            a->nspecs = nspecs;
            return n;
        }
        sites += n;
    }
    return sites;
}

static int find_slots(const struct attach *a)
{
    return bpf_object__find_map_fd_by_name(a->object, "otp_slots");
}

static int set_layout(const struct attach *a, uint32_t slot, const struct otp_layout *layout)
{
    int map = bpf_object__find_map_fd_by_name(a->object, "otp_layouts");

    return bpf_map_update_elem(map, &slot, layout, BPF_ANY) ? attach_explain(-errno, "cannot describe a process") : 0;
}

/* All of the layout but whose it is: programs that run while attach_describe writes that see the rest whole. */
static int take_slot(struct attach *a, const struct otp_layout *layout, uint32_t *slot)
{
    struct otp_layout nobody = *layout;
    int err;

    nobody.vm = 0;
    for (uint32_t i = 0; i < a->nslots; i++) {
        if (a->slots[i])
            continue;
        err = set_layout(a, i, &nobody);
        a->slots[i] = err ? 0 : (int)layout->vm;
        *slot = i;
        return err;
    }
    return fail(-E2BIG, "more than %u stock Erlang VMs at once", a->nslots);
}

int attach_describe(struct attach *a, const struct plan *plan, uint32_t slot)
{
    int err = set_layout(a, slot, &plan->vm->layout);

    if (!err && bpf_map_update_elem(find_slots(a), &plan->vm->layout.vm, &slot, BPF_ANY))
        err = attach_explain(-errno, "cannot describe a process");
    return err;
}

static uint64_t make_cookie(const struct plan_hook *hook, uint32_t slot)
{
    return (uint64_t)hook->site.result << OTP_COOKIE_RESULT | (uint64_t)hook->which << OTP_COOKIE_WHICH | slot;
}

/* Whether it is set at the entry for the kernel to find the return by. */
static bool waits_for_return(const struct plan_hook *hook)
{
    return hook->side != OTP_ENTRY && hook->site.result == OTP_RESULT_RETURNED;
}

/* The hooks of one program's probe that wait for returns, or those that do not. Returns how many. */
static int attach_hooks_of(struct links_set *to, const struct bpf_program *program, const struct target *t,
                           const struct plan *plan, bool returns, uint32_t slot)
{
    struct uprobe_place *places = calloc(plan->nhooks + 1, sizeof *places);
    struct goal goal = find_goal(program);
    size_t n = 0;
    int err = 0;

    if (!places)
        return fail(-ENOMEM, "out of memory");
    for (const struct plan_hook *hook = plan->hooks; hook < plan->hooks + plan->nhooks; hook++)
        if (hook->probe == goal.probe && hook->side == goal.side && waits_for_return(hook) == returns)
            places[n++] = (struct uprobe_place){hook->site.offset, 0, make_cookie(hook, slot)};
    if (n)
        err = link_places(to, program, t, t->pid, t->pid, returns, places, n);
    free(places);
    return err ? err : (int)n;
}

/* All hooks of one program's probe. Returns how many. */
static int attach_hook(struct links_set *to, const struct bpf_program *program, const struct target *t,
                       const struct plan *plan, uint32_t slot)
{
    int n = attach_hooks_of(to, program, t, plan, false, slot);
    int more = n < 0 ? 0 : attach_hooks_of(to, program, t, plan, true, slot);

    return more < 0 ? more : n + more;
}

/* Clocks tick for all VMs: they are started with the first. Returns how many programs they run. */
static int attach_clocks(struct attach *a)
{
    struct bpf_program *program;
    int programs = 0, err = 0;

    bpf_object__for_each_program(program, a->object) {
        if (!a->clock_hz || bpf_program__type(program) != BPF_PROG_TYPE_PERF_EVENT || !bpf_program__autoload(program))
            continue;
        for (int cpu = 0; !err && !a->ticking && cpu < libbpf_num_possible_cpus(); cpu++) {
            int link = clock_link(bpf_program__fd(program), a->clock_hz, cpu);

            err = link == -ENODEV ? 0 : explain_link(link < 0 ? link : links_take(&a->links, link));
        }
        programs++;
    }
    a->ticking = programs > 0 && !err;
    return err ? err : programs;
}

/* Whether the program waits for a hook that this process has not. */
static bool lacks_hook(const struct plan *plan, const struct bpf_program *program, struct goal goal)
{
    return goal.source == PLAN_HOOK && plan->events[goal.probe].source == PLAN_NONE && !plan_is_extra(goal.probe) &&
           bpf_program__autoload(program);
}

const char *attach_lacks(const struct attach *a, const struct plan *plan)
{
    struct bpf_program *program;

    if (!a->object) /* the session attaches by itself */
        return NULL;
    bpf_object__for_each_program(program, a->object) {
        struct goal goal = find_goal(program);

        if (lacks_hook(plan, program, goal))
            return plan->events[goal.probe].why[0] ? plan->events[goal.probe].why
                                                   : "the functions that show this in other releases are hidden in it";
    }
    return NULL;
}

enum plan_source attach_serves(const struct bpf_object *object, const struct target *t, const struct plan *plan,
                               enum plan_probe *lacks)
{
    enum plan_source served = PLAN_NONE, wanted = t->provider->hooks ? PLAN_HOOK : PLAN_NOTE;
    struct bpf_program *program;

    *lacks = PLAN_NEVENTS;
    bpf_object__for_each_program(program, object) {
        struct goal goal = find_goal(program);
        enum plan_source source = goal.probe < PLAN_NPROBES ? plan->events[goal.probe].source : PLAN_NONE;

        if (goal.probe >= PLAN_NPROBES || !bpf_program__autoload(program))
            continue;
        if (source == goal.source && served != PLAN_HOOK)
            served = source;
        if (*lacks == PLAN_NEVENTS &&
            (plan_lacks_vital(plan, goal.probe) ||
             (source == PLAN_NONE && goal.source == wanted && !plan_is_extra(goal.probe))))
            *lacks = goal.probe;
    }
    return *lacks < PLAN_NEVENTS ? PLAN_NONE : served;
}

/* One line for each event that will not be told. */
static void print_lacking(const struct attach *a, const struct target *t, const struct plan *plan)
{
    bool printed[PLAN_NEVENTS] = {false};
    struct bpf_program *program;

    bpf_object__for_each_program(program, a->object) {
        struct goal goal = find_goal(program);

        if (!lacks_hook(plan, program, goal) || printed[goal.probe] || !plan->events[goal.probe].why[0])
            continue;
        printed[goal.probe] = true;
        note("%s of '%s' (process %d) is not reported: %s", plan_probe_name(goal.probe), t->name, t->pid,
             plan->events[goal.probe].why);
    }
}

int attach_hooks(struct attach *a, struct links_set *to, const struct target *t, const struct plan *plan,
                 uint32_t *slot)
{
    struct bpf_program *program;
    int sites = 0, err;

    if (!plan->vm)
        return 0;
    err = take_slot(a, &plan->vm->layout, slot);
    if (err)
        return err;
    bpf_object__for_each_program(program, a->object) {
        struct goal goal = find_goal(program);
        int n;

        if (goal.source != PLAN_HOOK || plan->events[goal.probe].source != PLAN_HOOK || !bpf_program__autoload(program))
            continue;
        n = attach_hook(to, program, t, plan, *slot);
        if (n < 0) {
            attach_drop(a, &(struct vm_set){&plan->vm->layout.vm, 1});
            return n;
        }
        sites += n;
    }
    err = attach_clocks(a);
    if (err < 0)
        return err;
    if (sites + err > 0)
        print_lacking(a, t, plan);
    return sites + err;
}

int attach_join_links(struct attach *a, struct links_opening *o)
{
    return explain_link(links_join(&a->links, o));
}

bool attach_is_hooked(const struct attach *a, int pid)
{
    for (size_t i = 0; i < OTP_MAX_LAYOUTS; i++)
        if (a->slots[i] == pid)
            return true;
    return false;
}

void attach_drop(struct attach *a, const struct vm_set *vms)
{
    links_drop(&a->links, vms);
    for (size_t i = 0; i < OTP_MAX_LAYOUTS; i++) {
        if (!a->slots[i] || !vm_set_has(vms, (uint32_t)a->slots[i]))
            continue;
        bpf_map_delete_elem(find_slots(a), &a->slots[i]);
        a->slots[i] = 0;
    }
}

void attach_pause(struct attach *a)
{
    links_leave(&a->links);
}

int attach_resume(struct attach *a)
{
    return explain_link(links_return(&a->links));
}

void attach_clear(struct attach *a)
{
    links_cut(&a->links, 0);
}
