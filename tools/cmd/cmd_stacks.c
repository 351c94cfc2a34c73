/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks: where processes are on the CPU, how long they stand off it and where, where they are at an event.
 * Invariant: a frame has the name that the VM's own memory or files give it, or is shown as the number it is.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "common/clock.h"
#include "common/fail.h"
#include "common/tally.h"
#include "common/term_text.h"
#include "common/whole_file.h"
#include "otp/native.h"
#include "otp/otp_bifs.h"
#include "otp/otp_registered.h"
#include "otp/otp_stack.h"
#include "otp/otp_threads.h"
#include "probe/kernel.h"
#include "profile/profile.h"
#include "session/session.h"
#include "stacks_tables.h"
#include "target/memory.h"
#include "view/views.h"

#include "stacks.skel.h"

enum {
    NAME_BYTES = 512,
    MAX_FRAMES = OTP_STACK_FRAMES + STACKS_KERNEL + 2
};
enum { DEFAULT_HZ = 99, MAX_HZ = 4999 };

#define STACKS_GROUPS(GROUP) GROUP(owner, OWNER) GROUP(pid, PID) GROUP(mfa, MFA) GROUP(none, NONE)
enum stacks_group {
#define GROUP(name, upper) BY_##upper,
    STACKS_GROUPS(GROUP)
#undef GROUP
};
/* What --by and --event take, with a bar before each. */
#define CHOICE(name, of) "|" #name
static const char groups[] = STACKS_GROUPS(CHOICE), event_names[] = STACKS_EVENTS(CHOICE);
#undef CHOICE
/* Whether a process that is watched had the name asked for when the last result was told. */
enum stacks_presence { PRESENCE_UNKNOWN, PRESENCE_NO, PRESENCE_YES };

/* What is written as a file at the end. */
enum {
#define PROFILE_FILE(stem, text) FILE_##stem,
#include "profile/profile_files.def"
    NFILES
};

static const struct event {
    const char *name, *probe;
} events[] = {
#define EVENT(name, probe) {#name, #probe},
    STACKS_EVENTS(EVENT) STACKS_NOTES(EVENT)
#undef EVENT
};

/* A VM that is watched. */
struct stacks_vm {
    struct stacks_vm *next;
    struct otp_layout layout;
    struct native *native; /* NULL: native frames have no names */
    struct otp_bif *bifs;  /* of a stock emulator */
    size_t nbifs;
    struct names *names;
    char bif[NAME_BYTES];
};

struct state {
    enum stacks_mode mode;
    enum stacks_group by;
    const struct event *event; /* of MODE_EVENT: the first of its name */
    const char *who; /* the process asked for by name or initial call */
    char spelled[NAME_BYTES]; /* that, as views print it */
    struct wire_pid only;
    uint64_t hz;
    bool lines, folded, seen; /* seen: a stack of what was asked for */
    enum stacks_presence registered;
    const char *paths[NFILES]; /* NULL: not asked for */
    struct whole_file outputs[NFILES];
    struct stacks_vm *vms;
    struct profile *now, *whole; /* of this result; of all, with lines, for the files: NULL without */
    struct tally *counts;
    uint64_t frames, unnamed, idle; /* of this result; idle: samples without a process */
    double seconds; /* that were watched so far */
    int failed; /* -ENOMEM */
    char names[MAX_FRAMES][NAME_BYTES], files[MAX_FRAMES][256];
    struct profile_frame stack[MAX_FRAMES];
};

static const struct profile_units units_of[] = {[MODE_CPU] = {"cpu", "nanoseconds", 0},
                                                [MODE_OFF] = {"off-cpu", "nanoseconds", 0},
                                                [MODE_EVENT] = {"events", "count", 0}};

/* ---- VMs */

static struct stacks_vm *find_vm(const struct state *st, uint32_t pid)
{
    struct stacks_vm *vm = st->vms;

    while (vm && vm->layout.vm != pid)
        vm = vm->next;
    return vm;
}

static void free_vm(struct stacks_vm *vm)
{
    native_free(vm->native);
    free(vm->bifs);
    free(vm);
}

/* The built-in function that begins there, as of native_fall_back. */
static const char *name_bif(void *ctx, uint64_t begin)
{
    struct stacks_vm *vm = ctx;
    const struct otp_bif *bif = otp_bifs_at(vm->bifs, vm->nbifs, begin - vm->layout.bias);
    struct wire_name name = {.form = WIRE_MFA};

    if (!bif)
        return NULL;
    name.words[0] = bif->module;
    name.words[1] = bif->name;
    name.words[2] = bif->arity;
    return names_text(vm->names, vm->layout.vm, &name, vm->bif, sizeof vm->bif);
}

static int open_native(struct stacks_vm *vm, const struct target *t, const struct otp_vm *of)
{
    if (native_new(t->pid, &vm->native)) {
        note("native frames of '%s' (process %d) cannot be unwound", t->name, t->pid);
        return 0;
    }
    if (!of->symbols)
        return 0;
    native_fall_back(vm->native, name_bif, vm);
    return otp_bifs_find(otp_symbols_image(of->symbols), &vm->bifs, &vm->nbifs);
}

static int on_hooked(void *ctx, struct session *s, const struct target *t, const struct plan *plan, uint32_t slot)
{
    struct state *st = ctx;
    struct stacks_vm *vm = calloc(1, sizeof *vm), **at = &st->vms;
    uint32_t pid = (uint32_t)t->pid;
    int err = 0;

    if (!vm)
        return fail(-ENOMEM, "out of memory");
    vm->layout = plan->vm->layout;
    if (st->mode == MODE_OFF && plan->events[PLAN_process__runnable].source == PLAN_NONE)
        note("'%s' (process %d) does not report when processes are woken: the time that they then wait for a scheduler "
             "counts as waiting", t->name, t->pid);
    if (st->mode != MODE_OFF && !vm->layout.is_ours) /* threads of an erlvm name their scheduler themselves */
        err = otp_threads_put(names_memory(session_names(s), pid), &vm->layout, plan->vm->symbols, slot,
                              session_map(s, "threads"));
    if (err) {
        free_vm(vm);
        return fail(err, "the schedulers of '%s' (process %d) cannot be found: %s", t->name, t->pid, strerror(-err));
    }
    vm->names = session_names(s);
    if (st->mode == MODE_CPU && open_native(vm, t, plan->vm)) {
        free_vm(vm);
        return fail(-ENOMEM, "out of memory");
    }
    while (*at && (*at)->layout.vm != pid)
        at = &(*at)->next;
    if (*at) { /* the pid came again */
        vm->next = (*at)->next;
        free_vm(*at);
    }
    *at = vm;
    return 0;
}

/* ---- frames */

static void set_frame(struct state *st, size_t i, enum profile_kind kind, uint32_t line, uint64_t address)
{
    st->stack[i] = (struct profile_frame){kind, st->names[i], st->files[i], line, address};
}

static bool is_bottom(const struct state *st, size_t i)
{
    return st->stack[i].kind == PROFILE_ERLANG && !strcmp(st->names[i], OTP_CODE_BOTTOM);
}

/* Fails: -ENOENT: there is no code, and it is no frame. */
static int name_erlang(struct state *st, struct session *s, size_t i, uint32_t vm, uint64_t address, uint64_t purges)
{
    struct otp_code_place place = {.line = 0};
    int err = names_place(session_names(s), vm, address, purges, &place, st->names[i], NAME_BYTES);

    if (err == -ENOENT)
        return err;
    st->frames++;
    st->unnamed += err || place.kind == OTP_CODE_UNKNOWN;
    snprintf(st->files[i], sizeof st->files[i], "%s", err ? "" : place.file);
    set_frame(st, i, PROFILE_ERLANG, err ? 0 : place.line, address);
    return 0;
}

static void name_native(struct state *st, size_t i, const struct stacks_vm *vm, const struct otp_stack_frame *frame)
{
    st->files[i][0] = '\0';
    native_name(vm->native, frame->address, frame->caller, st->names[i], NAME_BYTES);
    st->frames++;
    st->unnamed += strstr(st->names[i], "0x") != NULL;
    set_frame(st, i, PROFILE_NATIVE, 0, frame->address - frame->caller);
}

static const char *name_call(struct session *s, const struct stacks_owner *owner, char *buf)
{
    struct wire_name name = {.form = WIRE_MFA, .words = {owner->module, owner->function, owner->arity}};

    return names_text(session_names(s), owner->vm, &name, buf, NAME_BYTES);
}

/* The registered name as views print it; NULL: it has none. */
static const char *name_registered(struct session *s, const struct stacks_owner *owner, char *buf)
{
    struct wire_name name = {.form = WIRE_REASON, .words = {WIRE_ATOM, owner->registered, 0}};

    return names_atom(session_names(s), owner->vm, owner->registered)
               ? names_text(session_names(s), owner->vm, &name, buf, NAME_BYTES) : NULL;
}

/* Whether --proc gave the registered name: as it is, or as it is printed, in Erlang's or Elixir's spelling. */
static bool is_name(const struct state *st, const char *registered)
{
    char shown[NAME_BYTES];

    term_text_atom(&(struct term_text){shown, sizeof shown, 0}, registered, 0);
    return !strcmp(registered, st->who) || !strcmp(shown, st->spelled);
}

static bool is_wanted(const struct state *st, struct session *s, const struct stacks_owner *owner)
{
    const char *registered = names_atom(session_names(s), owner->vm, owner->registered);
    char buf[NAME_BYTES];

    if (!st->who)
        return true;
    if (owner->module == (uint32_t)WIRE_NO_ATOM)
        return false;
    return (registered && is_name(st, registered)) || !strcmp(name_call(s, owner, buf), st->spelled);
}

/* The root of the stack, when stacks are grouped. Returns how many frames: 0 or 1. */
static size_t name_group(struct state *st, struct session *s, const struct stacks_owner *owner)
{
    char buf[NAME_BYTES], name[NAME_BYTES];
    const char *registered = name_registered(s, owner, name);

    st->files[0][0] = '\0';
    if (st->by == BY_NONE)
        return 0;
    if (owner->module == (uint32_t)WIRE_NO_ATOM)
        snprintf(st->names[0], NAME_BYTES, owner->arity == STACKS_NO_PROCESS ? "(no process)" : "(exiting)");
    else if (st->by == BY_PID)
        snprintf(st->names[0], NAME_BYTES, "<%u.%u.%u> %s", owner->pid.node, owner->pid.id, owner->pid.serial,
                 registered ? registered : name_call(s, owner, buf));
    else
        snprintf(st->names[0], NAME_BYTES, "%s",
                 st->by == BY_OWNER && registered ? registered : name_call(s, owner, buf));
    set_frame(st, 0, PROFILE_GROUP, 0, 0);
    return 1;
}

/*
 * Drops files and lines, which are not known of all of a function, and joins the frames of one that calls itself.
 * Returns how many are left.
 */
static size_t join_frames(struct profile_frame *stack, size_t n)
{
    size_t left = 0;

    for (size_t i = 0; i < n; i++) {
        if (left && stack[i].kind == stack[left - 1].kind && !strcmp(stack[i].name, stack[left - 1].name))
            continue;
        stack[left] = stack[i];
        stack[left].file = "";
        stack[left++].line = 0;
    }
    return left;
}

static void add_stack(struct state *st, size_t n, uint64_t count, uint64_t value)
{
    int err;

    st->seen = true;
    err = st->whole ? profile_add(st->whole, st->stack, n, count, value) : 0;

    if (!st->lines)
        n = join_frames(st->stack, n);
    if (!err)
        err = profile_add(st->now, st->stack, n, count, value);
    if (err)
        st->failed = err;
}

/* ---- on the CPU */

static size_t name_kernel(struct state *st, size_t n, const struct stacks_sample *sample)
{
    for (uint32_t i = sample->nkernel; i--; n++) {
        snprintf(st->names[n], NAME_BYTES, "%s", native_kernel_name(sample->kernel[i]));
        st->files[n][0] = '\0';
        set_frame(st, n, PROFILE_KERNEL, 0, sample->kernel[i]);
    }
    return n;
}

static void take_sample(struct state *st, struct session *s, const struct stacks_sample *sample)
{
    const struct wire_header *header = &sample->header;
    struct stacks_vm *vm = find_vm(st, header->vm);
    struct otp_stack stack = {.n = 0};
    size_t n;

    if (sample->nkernel > STACKS_KERNEL || !vm || !vm->native || !is_wanted(st, s, &sample->owner))
        return;
    n = name_group(st, s, &sample->owner);
    if (!sample->hend) {
        st->idle++;
        snprintf(st->names[n], NAME_BYTES, "%.*s", STACKS_COMM, sample->comm);
        st->files[n][0] = '\0';
        set_frame(st, n++, PROFILE_GROUP, 0, 0);
    }
    otp_stack_walk(sample, vm->layout.is_ours, vm->native, names_code(session_names(s), header->vm),
                   names_memory(session_names(s), header->vm), &stack);
    for (size_t i = stack.n; i--;) {
        int err = 0;

        if (stack.frames[i].native)
            name_native(st, n, vm, &stack.frames[i]);
        else
            err = name_erlang(st, s, n, header->vm, stack.frames[i].address - stack.frames[i].caller, sample->purges);
        n += !err && !is_bottom(st, n);
    }
    n = name_kernel(st, n, sample);
    add_stack(st, n, 1, 1000000000 / st->hz);
}

/* ---- off the CPU, and at events */

/* Words that are no code are no frames: what a process has left on its stack may look like one. */
static size_t name_frames(struct state *st, struct session *s, size_t n, const struct stacks_key *key,
                          const uint64_t *frames, uint64_t nframes)
{
    const struct stacks_vm *vm = find_vm(st, key->owner.vm);
    bool resumes = st->mode == MODE_OFF || (vm && vm->layout.is_ours); /* the first is no return address */

    for (uint64_t i = nframes < STACKS_FRAMES ? nframes : STACKS_FRAMES; i--;) {
        int err = name_erlang(st, s, n, key->owner.vm, frames[i] - (!resumes || i > 0), key->purges);

        n += !err && !is_bottom(st, n);
    }
    if (key->owner.runnable) {
        snprintf(st->names[n], NAME_BYTES, "(runnable)");
        st->files[n][0] = '\0';
        set_frame(st, n++, PROFILE_NATIVE, 0, 0);
    }
    return n;
}

/* Names a stack when it comes: what is found now is told later, when the VM may have ended. */
static void see_stack(struct state *st, struct session *s, const struct stacks_new *rec)
{
    uint64_t frames = st->frames, unnamed = st->unnamed;
    size_t n = name_group(st, s, &rec->key.owner);

    name_frames(st, s, n, &rec->key, (const uint64_t *)rec->frames, rec->nframes);
    st->frames = frames;
    st->unnamed = unnamed;
}

static void on_record(void *ctx, struct session *s, const struct wire_header *header, size_t size)
{
    if (header->kind == STACKS_SAMPLE && size >= sizeof(struct stacks_sample))
        take_sample(ctx, s, (const struct stacks_sample *)header);
    else if (header->kind == STACKS_NEW && size >= sizeof(struct stacks_new))
        see_stack(ctx, s, (const struct stacks_new *)header);
}

static int take_counts(struct state *st, struct session *s)
{
    const struct tally_row *rows;
    int err = tally_update(st->counts, session_map(s, "stacks"));
    size_t n = err ? 0 : tally_rows(st->counts, 0, &rows);

    for (size_t i = 0; i < n; i++) {
        const struct stacks_key *key = rows[i].key;
        const uint64_t *v = rows[i].values; /* struct stacks_value */
        size_t used;

        if (!is_wanted(st, s, &key->owner))
            continue;
        used = name_group(st, s, &key->owner);
        used = name_frames(st, s, used, key, v + 3, v[2]);
        add_stack(st, used, v[0], st->mode == MODE_OFF ? v[1] : v[0]);
    }
    return err;
}

/* ---- a process that was not seen */

static enum stacks_presence find_registered(const struct state *st, struct session *s, const struct otp_layout *layout)
{
    struct memory *memory = names_memory(session_names(s), layout->vm);
    uint64_t slot = 0, atom;
    int err = memory ? 0 : -ESRCH;

    while (!err && !(err = otp_registered_next(memory, layout, &slot, &atom))) {
        const char *name = names_atom(session_names(s), layout->vm, atom);

        if (name && is_name(st, name))
            return PRESENCE_YES;
    }
    return err == -ENOENT ? PRESENCE_NO : PRESENCE_UNKNOWN;
}

static void look_for_registered(struct state *st, struct session *s)
{
    st->registered = st->vms ? PRESENCE_NO : PRESENCE_UNKNOWN;
    for (const struct stacks_vm *vm = st->vms; vm && st->registered != PRESENCE_YES; vm = vm->next) {
        enum stacks_presence found = find_registered(st, s, &vm->layout);

        if (found != PRESENCE_NO)
            st->registered = found;
    }
}

static void print_unseen(const struct state *st)
{
    static const char *const did_nothing[] = {[MODE_CPU] = "took no processor: try --off-cpu, or longer",
                                              [MODE_OFF] = "was not scheduled",
                                              [MODE_EVENT] = "did none of these"};

    if (!st->who)
        note("no stack of process <0.%u.%u> was seen: it is gone, or %s", st->only.id, st->only.serial,
             did_nothing[st->mode]);
    else if (st->registered == PRESENCE_YES)
        note("no stack of '%s' was seen: it is there, and %s", st->who, did_nothing[st->mode]);
    else if (strchr(st->who, ':'))
        note("no stack of a process that began with '%s' was seen: there is none, or it %s", st->who,
             did_nothing[st->mode]);
    else if (st->registered == PRESENCE_NO)
        note("no process is registered as '%s' (--proc takes a registered name, <pid> or initial call M:F/A)", st->who);
    else
        note("no stack of '%s' was seen, and whether there is such a process is not known: a VM is gone", st->who);
}

/* ---- the result */

static int on_result(void *ctx, struct session *s)
{
    struct state *st = ctx;
    int err = st->failed;

    st->seconds += session_seconds(s);
    if (!err && st->mode != MODE_CPU)
        err = take_counts(st, s);
    if (!err)
        err = st->folded ? profile_write_folded(st->now, st->lines, session_sink(s)->out)
                         : stacks_print_tables(&(struct stacks_tables){st->now, st->mode, st->lines, st->frames,
                                                                     st->unnamed, st->idle},
                                               session_sink(s));
    if (!err && !st->seen && st->who)
        look_for_registered(st, s);
    profile_free(st->now);
    st->now = profile_new(&units_of[st->mode]);
    st->frames = st->unnamed = st->idle = 0;
    return err ? err : st->now ? 0 : -ENOMEM;
}

/* ---- files, written at the end with everything since the beginning */

static int write_files(struct state *st)
{
    static const char *const titles[] = {
        [MODE_CPU] = "On the CPU", [MODE_OFF] = "Off the CPU", [MODE_EVENT] = "At each "};
    static int (*const writers[])(const struct profile *, const struct profile_about *, FILE *) = {
#define PROFILE_FILE(stem, text) profile_write_##stem,
#include "profile/profile_files.def"
    };
    uint64_t took_ns = (uint64_t)(st->seconds * 1e9), count = 0;
    const char *event = st->mode == MODE_EVENT ? st->event->probe : "";
    char title[128], of[32] = "several VMs";
    struct profile_about about = {title, st->lines, clock_ns(CLOCK_REALTIME) - took_ns, took_ns};
    int err = 0;

    if (st->vms && !st->vms->next)
        snprintf(of, sizeof of, "process %u", st->vms->layout.vm);
    for (size_t i = 0; i < profile_stacks(st->whole); i++)
        count += profile_stack(st->whole, i).count;
    snprintf(title, sizeof title, "%s%s: %s, %" PRIu64 " samples in %.1f s", titles[st->mode], event, of, count,
             st->seconds);
    for (int i = 0; i < NFILES; i++)
        if (st->paths[i]) {
            FILE *out = whole_file_begin(&st->outputs[i]);
            int other = whole_file_end(&st->outputs[i], out ? writers[i](st->whole, &about, out) : -ENOMEM);

            err = err ? err : other;
        }
    return err;
}

/* ---- the command line */

static int set_off(void *ctx, const char *value)
{
    (void)value;
    ((struct state *)ctx)->mode = MODE_OFF;
    return 0;
}

static int set_event(void *ctx, const char *value)
{
    struct state *st = ctx;
    unsigned chosen;

    if (options_choice("--event", event_names + 1, value, &chosen))
        return FAIL_USAGE;
    if (st->mode == MODE_CPU)
        st->mode = MODE_EVENT;
    st->event = &events[chosen];
    return 0;
}

static int set_hz(void *ctx, const char *value)
{
    return options_number("--hz", value, 1, MAX_HZ, &((struct state *)ctx)->hz);
}

static int set_by(void *ctx, const char *value)
{
    unsigned chosen;
    int err = options_choice("--by", groups + 1, value, &chosen);

    ((struct state *)ctx)->by = (enum stacks_group)chosen;
    return err;
}

static int set_proc(void *ctx, const char *value)
{
    struct state *st = ctx;
    int end = 0;

    if (sscanf(value, "<0.%u.%u>%n", &st->only.id, &st->only.serial, &end) == 2 && end && !value[end])
        return 0;
    if (value[0] == '<')
        return fail(FAIL_USAGE, "--proc: '%s' is no local pid; write '<0.123.0>'", value);
    st->who = value;
    term_text_respell(&(struct term_text){st->spelled, sizeof st->spelled, 0}, value);
    return 0;
}

static int set_lines(void *ctx, const char *value)
{
    (void)value;
    ((struct state *)ctx)->lines = true;
    return 0;
}

static int set_folded(void *ctx, const char *value)
{
    (void)value;
    ((struct state *)ctx)->folded = true;
    return 0;
}

#define PROFILE_FILE(stem, text)                                                                   \
    static int set_##stem(void *ctx, const char *value)                                            \
    {                                                                                              \
        ((struct state *)ctx)->paths[FILE_##stem] = value;                                         \
        return 0;                                                                                  \
    }
#include "profile/profile_files.def"

static bool is_event(const char *name, const char *probe)
{
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (!strcmp(events[i].name, name) && !strcmp(events[i].probe, probe))
            return true;
    return false;
}

/* Whether this program of the skeleton serves what was asked for. Purges are always followed: names depend on them. */
static bool is_needed(const struct state *st, const char *program)
{
    const char *event;

    if (!strcmp(program, "at_code__purge"))
        return true;
    event = strchr(program, '_') + 1;
    switch (st->mode) {
    case MODE_CPU: return !strncmp(program, "clock_", 6);
    case MODE_OFF:
        return !strcmp(event, "process__unscheduled") || !strcmp(event, "process__scheduled") ||
               !strcmp(event, "process__runnable");
    default: return is_event(st->event->name, event);
    }
}

/* Processes that were scheduled out may have run meanwhile. */
static void on_missed(void *ctx, struct session *s)
{
    (void)ctx;
    session_forget(s, "aways");
}

static int run(struct state *st, const struct options *o)
{
    static const struct session_ops ops = {.record = on_record, .result = on_result, .hooked = on_hooked,
                                           .missed = on_missed, .hooks_only = true};
    struct session_ops with_clock = ops;
    struct stacks *skel = stacks__open();
    struct bpf_program *program;
    int err;

    if (skel) {
        skel->rodata->stacks_only = st->only;
        skel->rodata->stacks_by_pid = st->by == BY_PID;
        bpf_object__for_each_program(program, skel->obj) {
            bpf_program__set_autoload(program, is_needed(st, bpf_program__name(program)));
        }
    }
    with_clock.aside = st->folded;
    with_clock.clock_hz = st->mode == MODE_CPU ? st->hz : 0;
    with_clock.needs = st->mode == MODE_CPU ? 0 : 1u << KERNEL_LOOP;
    err = session_run(o, skel ? skel->skeleton : NULL, &with_clock, st);
    stacks__destroy(skel);
    return err;
}

static int check_options(const struct state *st, const struct options *o)
{
    if (st->mode == MODE_OFF && st->event)
        return fail(FAIL_USAGE, "choose one of --off-cpu and --event");
    if (st->mode != MODE_CPU && st->hz)
        return fail(FAIL_USAGE, "--hz is for time on the CPU: every event is counted");
    if (st->folded && o->form)
        return fail(FAIL_USAGE, "choose one of --folded and --%s", options_forms[o->form]);
    return 0;
}

static int begin(struct state *st)
{
    bool files = false;
    int err = 0;

    for (int i = 0; i < NFILES && !err; i++) {
        files |= st->paths[i] != NULL;
        err = whole_file_open(&st->outputs[i], st->paths[i]);
    }
    st->hz = st->hz ? st->hz : DEFAULT_HZ;
    st->now = profile_new(&units_of[st->mode]);
    st->whole = files ? profile_new(&units_of[st->mode]) : NULL;
    st->counts = tally_new(sizeof(struct stacks_key), sizeof(struct stacks_value) / 8, 2);
    if (!err && (!st->now || (files && !st->whole) || !st->counts))
        err = fail(-ENOMEM, "out of memory");
    return err;
}

static void end(struct state *st)
{
    while (st->vms) {
        struct stacks_vm *vm = st->vms;

        st->vms = vm->next;
        free_vm(vm);
    }
    native_kernel_free();
    profile_free(st->now);
    profile_free(st->whole);
    tally_free(st->counts);
    free(st);
}

int cmd_stacks(int argc, char **argv)
{
    struct state *st = calloc(1, sizeof *st);
    const struct options_extra extras[] = {
        {"off-cpu", NULL, "time from scheduled out to scheduled in, by stack", set_off, false},
        {"event", event_names + 1, "at each of these; file: an operation on files", set_event, false},
        {"hz", "N", "samples a second of each CPU (99)", set_hz, false},
        {"proc", "WHO", "only this registered name, <pid> or initial call M:F/A", set_proc, false},
        {"by", groups + 1, VIEW_BY_TEXT, set_by, false},
        {"lines", NULL, "a row for each line of source", set_lines, false},
        {"folded", NULL, "print folded stacks instead of tables", set_folded, false},
#define PROFILE_FILE(stem, text) {#stem, "FILE", text, set_##stem, false},
#include "profile/profile_files.def"
        {0}};
    const struct options_spec spec = {"stacks",
                                      "Where Erlang processes are: on the CPU (the default), off it, or at an event.",
                                      OPTIONS_TARGET | OPTIONS_PACE | OPTIONS_BUDGET,
                                      extras,
                                      st,
                                      NULL};
    struct options o;
    int err = st ? options_parse(&spec, argc, argv, &o) : fail(-ENOMEM, "out of memory");

    if (!err && !o.done)
        err = check_options(st, &o);
    if (err || o.done) {
        free(st);
        return err;
    }
    err = begin(st);
    if (!err)
        err = run(st, &o);
    if (!err && !st->seen && (st->who || st->only.id))
        print_unseen(st);
    if (!err && st->whole)
        err = write_files(st);
    end(st);
    return err;
}
