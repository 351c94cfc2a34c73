/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about single processes. Scores say how much others suffer; each is capped where it never is the worst. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "findings.h"
#include "sink/sink.h"

/* The share of the looks at a process. */
static double share(const struct evidence_process *p, unsigned looks)
{
    return p->looks ? (double)looks / p->looks : 0;
}

static uint64_t reductions_done(const struct evidence_process *p)
{
    return p->last.reductions > p->first.reductions ? p->last.reductions - p->first.reductions : 0;
}

/* Those that come and go are looked at a few times only, which says little. */
static bool is_long_here(const struct evidence *e, const struct evidence_process *p)
{
    return e->looks >= 4 && p->looks * 2 >= e->looks;
}

/* It runs, or waits for its turn. */
static double busy_share(const struct evidence_process *p)
{
    return share(p, p->running + p->runnable + p->collecting);
}

/* 0 for up to a hundred, 10 for each ten times that. */
static double weight_of_messages(uint64_t messages)
{
    return messages > 100 ? 10 * findings_tens((double)messages / 100) : 0;
}

/* Since it is remembered; never 0. */
static double seconds_of(const struct evidence *e, const struct evidence_process *p)
{
    return e->last.ns > p->first_ns ? (double)(e->last.ns - p->first_ns) / 1e9 : 1e-9;
}

static double growth_per_s(const struct evidence *e, const struct evidence_process *p)
{
    return ((double)p->last.messages - (double)p->first.messages) / seconds_of(e, p);
}

/* ---- mailboxes: each process gets one of these findings at most */

enum mailbox_case { MAILBOX_FINE, MAILBOX_SEARCHED, MAILBOX_GROWS, MAILBOX_WAITS, MAILBOX_IGNORED, MAILBOX_LONG };

enum { FEW = 100, MANY = 1000 };

static enum mailbox_case judge_mailbox(const struct evidence *e, const struct evidence_process *p)
{
    bool grows = p->last.messages >= FEW && p->last.messages > p->first.messages + p->first.messages / 10 &&
                 share(p, p->grew) >= 0.3;

    if (!is_long_here(e, p) || p->most_messages < FEW || share(p, p->suspended) > 0.5)
        return MAILBOX_FINE;
    if (p->kept + 1 == p->looks && share(p, p->waiting) >= 0.9)
        return MAILBOX_IGNORED; /* nobody takes the first */
    if (p->least_messages >= MANY && share(p, p->skipping) >= 0.5 && busy_share(p) >= 0.5)
        return MAILBOX_SEARCHED;
    if (p->least_messages >= FEW && share(p, p->waiting) >= 0.5 && share(p, p->skipping) >= 0.5)
        return MAILBOX_WAITS;
    if (grows)
        return MAILBOX_GROWS;
    return p->least_messages >= MANY && busy_share(p) >= 0.5 ? MAILBOX_LONG : MAILBOX_FINE;
}

static const char *what_it_does(const struct evidence_process *p)
{
    return busy_share(p) >= 0.9   ? "works all the time"
           : busy_share(p) >= 0.3 ? "works much of the time"
                                  : "waits most of the time";
}

/* It takes what comes first, whoever still waits for that. */
void find_calls_abandoned(const struct evidence *e, struct findings *out)
{
    char name[EVIDENCE_TEXT], place[EVIDENCE_TEXT];

    for (const struct evidence_process *p = e->processes; p && findings_room(out, FINDING_calls_abandoned);
         p = p->hh.next) {
        enum mailbox_case is = judge_mailbox(e, p);

        if (!is_long_here(e, p) || p->abandoned < 2 || p->abandoned * 2 < p->calls_read ||
            (is != MAILBOX_FINE && is != MAILBOX_GROWS && is != MAILBOX_LONG))
            continue;
        findings_add(out, FINDING_calls_abandoned, findings_least(65 + weight_of_messages(p->last.messages), 91),
                     p->last.id, evidence_name(e, &p->last, name),
                     "%" PRIu64 " messages wait; of %" PRIu64 " calls at its front nobody waits for %" PRIu64
                     ": %" PRIu64 " callers have given up, %" PRIu64 " have ended; it %s, in %s", p->last.messages,
                     p->calls.calls, p->calls.gave_up + p->calls.ended, p->calls.gave_up, p->calls.ended,
                     what_it_does(p), evidence_place(e, &p->last, place));
    }
}

void find_mailbox_grows(const struct evidence *e, struct findings *out)
{
    char name[EVIDENCE_TEXT], place[EVIDENCE_TEXT];

    for (const struct evidence_process *p = e->processes; p && findings_room(out, FINDING_mailbox_grows);
         p = p->hh.next) {
        if (judge_mailbox(e, p) != MAILBOX_GROWS)
            continue;
        findings_add(out, FINDING_mailbox_grows, findings_least(60 + weight_of_messages(p->last.messages), 90),
                     p->last.id, evidence_name(e, &p->last, name),
                     "%" PRIu64 " messages wait, %.0f more each second; it %s, in %s", p->last.messages,
                     growth_per_s(e, p), what_it_does(p), evidence_place(e, &p->last, place));
    }
}

void find_selective_receive(const struct evidence *e, struct findings *out)
{
    char name[EVIDENCE_TEXT], place[EVIDENCE_TEXT];

    for (const struct evidence_process *p = e->processes; p && findings_room(out, FINDING_selective_receive);
         p = p->hh.next)
        if (judge_mailbox(e, p) == MAILBOX_SEARCHED)
            findings_add(out, FINDING_selective_receive, findings_least(65 + weight_of_messages(p->last.messages), 92),
                         p->last.id, evidence_name(e, &p->last, name),
                         "%" PRIu64 " messages wait, and in %.0f%% of the looks it was searching among them, in %s",
                         p->last.messages, 100 * share(p, p->skipping), evidence_place(e, &p->last, place));
}

/* It waits in a call of gen: for the answer of another, which it may never get. */
static bool waits_in_call(const char *place)
{
    static const char call[] = "gen:do_call";

    return !strncmp(place, call, strlen(call));
}

void find_mailbox_waits(const struct evidence *e, struct findings *out)
{
    char name[EVIDENCE_TEXT], place[EVIDENCE_TEXT];

    for (const struct evidence_process *p = e->processes; p && findings_room(out, FINDING_mailbox_waits);
         p = p->hh.next) {
        enum mailbox_case is = judge_mailbox(e, p);

        if (is == MAILBOX_WAITS || (is == MAILBOX_IGNORED && waits_in_call(evidence_place(e, &p->last, place))))
            findings_add(out, FINDING_mailbox_waits, findings_least(55 + weight_of_messages(p->last.messages), 85),
                         p->last.id, evidence_name(e, &p->last, name),
                         "%" PRIu64 " messages wait while it waits for something else, in %s", p->last.messages,
                         evidence_place(e, &p->last, place));
    }
}

void find_mailbox_ignored(const struct evidence *e, struct findings *out)
{
    char name[EVIDENCE_TEXT], place[EVIDENCE_TEXT];

    for (const struct evidence_process *p = e->processes; p && findings_room(out, FINDING_mailbox_ignored);
         p = p->hh.next) {
        double grows = growth_per_s(e, p);

        if (judge_mailbox(e, p) == MAILBOX_IGNORED && !waits_in_call(evidence_place(e, &p->last, place)))
            findings_add(out, FINDING_mailbox_ignored,
                         findings_least(40 + weight_of_messages(p->last.messages) + (grows > 0 ? 15 : 0), 85),
                         p->last.id, evidence_name(e, &p->last, name),
                         "%" PRIu64 " messages, %.0f more each second, and it took none: it waits for another, in %s",
                         p->last.messages, grows, place);
    }
}

void find_mailbox_long(const struct evidence *e, struct findings *out)
{
    char name[EVIDENCE_TEXT], place[EVIDENCE_TEXT];

    for (const struct evidence_process *p = e->processes; p && findings_room(out, FINDING_mailbox_long); p = p->hh.next)
        if (judge_mailbox(e, p) == MAILBOX_LONG)
            findings_add(out, FINDING_mailbox_long, findings_least(45 + weight_of_messages(p->least_messages), 75),
                         p->last.id, evidence_name(e, &p->last, name),
                         "never less than %" PRIu64 " messages waited; it %s, in %s", p->least_messages,
                         what_it_does(p), evidence_place(e, &p->last, place));
}

/* A server of OTP that many ask. The handlers of a logger have names of their own behind this. */
static bool is_asked_by_many(const char *name)
{
    static const char *const names[] = {"file_server_2",          "code_server", "logger", "global_name_server", "user",
                                        "application_controller", "inet_db",     "rex",    "standard_error"};
    static const char handler[] = "logger_std_h_";

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return !strncmp(name, handler, strlen(handler));
}

void find_bottleneck(const struct evidence *e, struct findings *out)
{
    enum { QUEUED = 3 };
    char name[EVIDENCE_TEXT];

    for (const struct evidence_process *p = e->processes; p; p = p->hh.next)
        if (is_long_here(e, p) && p->least_messages >= QUEUED && p->ignoring < p->looks &&
            judge_mailbox(e, p) == MAILBOX_FINE && is_asked_by_many(evidence_name(e, &p->last, name)))
            findings_add(out, FINDING_bottleneck,
                         findings_least(55 + 10 * findings_tens((double)p->least_messages), 85), p->last.id, name,
                         "never less than %" PRIu64 " wait for it, %" PRIu64 " at most", p->least_messages,
                         p->most_messages);
}

/* ---- processes that do not get on */

static bool waits_for_port_or_node(const struct evidence *e, ev_id id)
{
    for (const struct evidence_open *o = e->open; o; o = o->hh.next)
        if ((o->key.kind == PENDING_PORT_WAIT || o->key.kind == PENDING_NODE_WAIT || o->key.kind == PENDING_PORT) &&
            o->last.id == id)
            return true;
    return false;
}

/*
 * Whoever waits to send is suspended, too; of a port that is no socket only the first of these is known. So is the code
 * purger while it waits for schedulers.
 */
void find_suspended(const struct evidence *e, struct findings *out)
{
    double most = e->ports ? 49 : 85;
    char name[EVIDENCE_TEXT], place[EVIDENCE_TEXT];

    for (const struct evidence_process *p = e->processes; p && findings_room(out, FINDING_suspended); p = p->hh.next)
        if (is_long_here(e, p) && share(p, p->suspended) > 0.9 && !reductions_done(p) &&
            p->id != e->tripwires.purger && !waits_for_port_or_node(e, p->last.id))
            findings_add(out, FINDING_suspended, findings_least(55 + weight_of_messages(p->last.messages * 100), most),
                         p->last.id, evidence_name(e, &p->last, name),
                         "it did not run for %.1f s, with %" PRIu64 " messages; in %s", seconds_of(e, p),
                         p->last.messages, evidence_place(e, &p->last, place));
}

void find_exit_slow(const struct evidence *e, struct findings *out)
{
    const struct evidence_end *end = &e->slowest_end;
    char parent[EVIDENCE_TEXT];

    if (e->looks >= 4 && end->looks >= 3)
        findings_add(out, FINDING_exit_slow, findings_least(50 + 5.0 * end->looks, 75), end->is.id, end->name,
                     "it was ending for %.1f s; it was started by %s", end->seconds,
                     end->is.parent ? evidence_name_of(e, end->is.parent, parent) : "a process that has ended");
}

/* Not where the machine kept the VM's threads from running. */
void find_long_native(const struct evidence *e, struct findings *out)
{
    double between = e->looks > 1 ? evidence_seconds(e) / (e->looks - 1) : 0, ran, waited;
    bool held = e->last.has_quota && e->last.quota.held_ns != e->first.quota.held_ns;
    char name[EVIDENCE_TEXT], place[EVIDENCE_TEXT];

    if (held || !evidence_threads(e, &ran, &waited) || waited > ran)
        return;
    for (const struct evidence_process *p = e->processes; p && findings_room(out, FINDING_long_native);
         p = p->hh.next) {
        double seconds = p->longest_stuck * between;

        if (seconds < 0.2)
            continue;
        findings_add(out, FINDING_long_native, findings_least(60 + 20 * seconds, 88), p->last.id,
                     evidence_name(e, &p->last, name),
                     "it has had a scheduler for %.1f s without a pause, which no Erlang code does; in %s", seconds,
                     evidence_place(e, &p->last, place));
    }
}

/* NULL: none has a scheduler most of the time, again and again. */
static const struct evidence_process *who_runs_most(const struct evidence *e)
{
    const struct evidence_process *most = NULL;

    for (const struct evidence_process *p = e->processes; p; p = p->hh.next)
        if (is_long_here(e, p) && share(p, p->running) >= 0.7 && reductions_done(p) &&
            (!most || p->running > most->running))
            most = p;
    return most;
}

/* Schedulers give each that can run its turn: where one gets it again and again, and another never, it comes first. */
void find_never_run(const struct evidence *e, struct findings *out)
{
    const struct evidence_process *first = who_runs_most(e), *worst = NULL;
    double between = e->looks > 1 ? evidence_seconds(e) / (e->looks - 1) : 0;
    char name[EVIDENCE_TEXT], victim[EVIDENCE_TEXT];
    unsigned n = 0;

    for (const struct evidence_process *p = e->processes; p && first; p = p->hh.next) {
        if (p->longest_stuck * between >= 1)
            return; /* who stands behind that waits for it alone */
        if (p->longest_unrun * between < 1)
            continue;
        n++;
        worst = !worst || p->longest_unrun > worst->longest_unrun ? p : worst;
    }
    if (n)
        findings_add(out, FINDING_never_run, findings_least(70 + 10 * findings_tens(n), 90), first->last.id,
                     evidence_name(e, &first->last, name),
                     "%u process%s could run and had no turn for a second or longer, %s for %.1f s, while it ran in "
                     "%.0f%% of the looks", n, n == 1 ? "" : "es", evidence_name(e, &worst->last, victim),
                     worst->longest_unrun * between, 100 * share(first, first->running));
}

/* ---- memory */

void find_huge_heap(const struct evidence *e, struct findings *out)
{
    enum { HUGE_BYTES = 100 << 20 };

    char name[EVIDENCE_TEXT];

    for (const struct evidence_process *p = e->processes; p && findings_room(out, FINDING_huge_heap); p = p->hh.next) {
        uint64_t bytes = snapshot_memory_bytes(&p->last);
        double part = e->last.memory ? (double)bytes / (double)e->last.memory : 0;
        double collected = share(p, p->collecting);
        char size[16];

        if (bytes < HUGE_BYTES || (part < 0.3 && collected < 0.1))
            continue;
        sink_format_size(size, sizeof size, bytes);
        findings_add(out, FINDING_huge_heap,
                     findings_least(40 + 20 * findings_tens((double)bytes / HUGE_BYTES) + 100 * collected, 88),
                     p->last.id, evidence_name(e, &p->last, name),
                     "%s, %.0f%% of all heaps; it was being collected in %.0f%% of the looks", size, 100 * part,
                     100 * collected);
    }
}

/* That of which there is less than much is a remark. */
static double weight_of_binaries(uint64_t held)
{
    enum { MUCH = 64 << 20, SOME = 4 << 20 };

    if (held < SOME)
        return 0;
    if (held < MUCH)
        return findings_least(25 + 20 * findings_tens((double)held / SOME), 45);
    return findings_least(45 + 20 * findings_tens((double)held / MUCH), 80);
}

/*
 * All that do little are one finding, named by the one that holds most. A binary that several hold counts for each: the
 * sum is no more than what the program has.
 */
void find_binaries_held(const struct evidence *e, struct findings *out)
{
    enum { LITTLE_PER_S = 200000 };
    const struct evidence_process *most = NULL;
    uint64_t held = 0, holders = 0;
    char size[16], own[16], name[EVIDENCE_TEXT], place[EVIDENCE_TEXT];

    for (const struct evidence_process *p = e->processes; p; p = p->hh.next) {
        uint64_t bytes = snapshot_binary_bytes(&p->last);

        if (bytes < EVIDENCE_BINARIES || bytes < 4 * snapshot_memory_bytes(&p->last) ||
            (double)reductions_done(p) / seconds_of(e, p) > LITTLE_PER_S)
            continue;
        held += bytes;
        holders++;
        most = !most || bytes > snapshot_binary_bytes(&most->last) ? p : most;
    }
    held = e->last.resident && held > e->last.resident ? e->last.resident : held;
    if (!weight_of_binaries(held))
        return;
    sink_format_size(size, sizeof size, held);
    sink_format_size(own, sizeof own, snapshot_binary_bytes(&most->last));
    findings_add(out, FINDING_binaries_held, weight_of_binaries(held), most->last.id,
                 evidence_name(e, &most->last, name),
                 "%" PRIu64 " processes that do little hold up to %s; it alone %s, in %s", holders, size, own,
                 evidence_place(e, &most->last, place));
}

/* ---- births */

/* Of those it starts even the smallest began large. */
void find_state_copied(const struct evidence *e, struct findings *out)
{
    enum { FAT_BYTES = 64 << 10 };

    for (const struct evidence_parent *p = e->parents; p && findings_room(out, FINDING_state_copied); p = p->hh.next) {
        double per_s = (double)p->births / evidence_seconds(e);
        uint64_t bytes = snapshot_memory_bytes(&p->child);
        char size[16], name[EVIDENCE_TEXT];

        if (per_s < 5 || bytes < FAT_BYTES || !p->id)
            continue;
        sink_format_size(size, sizeof size, bytes);
        findings_add(
            out, FINDING_state_copied, findings_least(50 + 10 * findings_tens((double)bytes * per_s / (1 << 20)), 80),
            p->id, evidence_name_of(e, p->id, name),
            "it starts %.0f processes a second, and each of them had %s or more when it was seen first", per_s, size);
    }
}

static const struct evidence_parent *most_births(const struct evidence *e)
{
    const struct evidence_parent *most = NULL;

    for (const struct evidence_parent *p = e->parents; p; p = p->hh.next)
        most = !most || p->births > most->births ? p : most;
    return most;
}

void find_processes_leak(const struct evidence *e, struct findings *out)
{
    const struct evidence_parent *most = most_births(e);
    double net = (double)e->last.processes - (double)e->first.processes, per_s = net / evidence_seconds(e);
    double full = e->process_limit ? (double)e->last.processes / (double)e->process_limit : 0;
    char child[EVIDENCE_TEXT], parent[EVIDENCE_TEXT], place[EVIDENCE_TEXT];

    if (!most || e->looks < 4 || e->processes_grew * 2 < e->looks || per_s < 1 || net < 20)
        return;
    findings_add(out, FINDING_processes_leak, findings_least(50 + 10 * findings_tens(per_s) + 30 * full, 88),
                 most->child.id, evidence_name(e, &most->child, child),
                 "%.0f more each second, %" PRIu64 " now; most come from %s and wait in %s", per_s, e->last.processes,
                 most->id ? evidence_name_of(e, most->id, parent) : "a process that has ended",
                 evidence_place(e, &most->child, place));
}

/* The owner of most crashes, if they are at least half as many as the births; NULL: births end otherwise. */
static const struct row_exits_by_owner *crashing_child(const struct evidence *e, double births_per_s, const char **name)
{
    const struct row_exits_by_owner *row = counted_row(e->counted, VIEW_TABLE_exits_by_owner, 0, name);

    return row && (double)row->count / e->counted->seconds >= births_per_s / 2 ? row : NULL;
}

static void add_storm(const struct evidence *e, struct findings *out, const struct evidence_parent *p,
                      double births_per_s)
{
    bool known = e->counted && e->counted->told[VIEW_exits];
    const char *child = NULL;
    const struct row_exits_by_owner *crashes = known ? crashing_child(e, births_per_s, &child) : NULL;
    double per_s = crashes ? (double)crashes->count / e->counted->seconds : births_per_s;
    char name[EVIDENCE_TEXT];

    if (crashes) {
        findings_add(out, FINDING_restart_storm, findings_least(60 + 8 * findings_tens(per_s), 85), p->id,
                     evidence_name_of(e, p->id, name),
                     "%.0f of its children crash each second, %s, and it starts them again", per_s, child);
        findings_also(out, FINDING_restart_storm, child);
    } else if (!known) {
        findings_add(out, FINDING_restart_storm, findings_least(35 + 8 * findings_tens(per_s), 49), p->id,
                     evidence_name_of(e, p->id, name),
                     "%.0f of its children are born each second, and as many end: started again, or for one task each",
                     per_s);
    }
}

/*
 * Children of a supervisor that come and go, as many as there were. That they crash is told by their exits; else it may
 * have been asked for each of them, one a connection say: a remark, or nothing where exits are told.
 */
void find_restart_storm(const struct evidence *e, struct findings *out)
{
    for (const struct evidence_parent *p = e->parents; p && findings_room(out, FINDING_restart_storm); p = p->hh.next) {
        double per_s = (double)p->births / evidence_seconds(e);

        if (per_s >= 2 && (p->deaths + 2) * 10 >= p->births * 9 && evidence_is_supervisor(e, p))
            add_storm(e, out, p, per_s);
    }
}

/* Who watches each that is born has more to watch: that is no leak. A reading that was missed is none that grew. */
void find_monitors_leak(const struct evidence *e, struct findings *out)
{
    double born = (double)e->last.processes - (double)e->first.processes;
    char name[EVIDENCE_TEXT], place[EVIDENCE_TEXT];

    for (const struct evidence_watcher *w = e->watchers; w && findings_room(out, FINDING_monitors_leak);
         w = w->hh.next) {
        double seconds = (double)(e->waits_ns - w->first_ns) / 1e9, net = (double)w->last - (double)w->first;
        double per_s = seconds > 0 ? net / seconds : 0;

        if (w->readings < 3 || w->grew + 1 < w->readings || net < 20 || per_s < 1 || net < 2 * born)
            continue;
        findings_add(out, FINDING_monitors_leak, findings_least(50 + 10 * findings_tens(per_s), 80), w->id,
                     evidence_name(e, &w->is, name),
                     "%.0f more each second, %" PRIu64 " now, more in each reading; in %s", per_s, w->last,
                     evidence_place(e, &w->is, place));
    }
}

/* Who puts a persistent term of a stock emulator is suspended until all schedulers have the new ones; NULL: nobody was,
 * but for ports. */
static const struct evidence_process *most_suspended(const struct evidence *e)
{
    const struct evidence_process *most = NULL;

    for (const struct evidence_process *p = e->processes; p; p = p->hh.next)
        if (p->suspended && reductions_done(p) && p->id != e->tripwires.purger && p->id != e->sweeper.id &&
            !waits_for_port_or_node(e, p->last.id) && (!most || p->suspended > most->suspended))
            most = p;
    return most;
}

void find_literals_swept(const struct evidence *e, struct findings *out)
{
    enum { MUCH_PER_S = 300000, MANY = 300 };
    const struct evidence_sweeper *s = &e->sweeper;
    double seconds = s->id ? (double)(e->last.ns - s->first_ns) / 1e9 : 0;
    double per_s = seconds > 0 ? (double)(s->last - s->first) / seconds : 0;
    const struct evidence_process *putter = per_s >= MUCH_PER_S ? most_suspended(e) : NULL;
    char name[EVIDENCE_TEXT];

    if (per_s < MUCH_PER_S || e->last.processes < MANY || s->worked * 2 < s->looks)
        return;
    findings_add(out, FINDING_literals_swept, findings_least(52 + 10 * findings_tens(per_s / MUCH_PER_S), 85),
                 putter ? putter->id : 0, putter ? evidence_name(e, &putter->last, name) : "",
                 "the collector of literals executed %.0f reductions a second, asking %" PRIu64 " processes each time",
                 per_s, e->last.processes);
}
