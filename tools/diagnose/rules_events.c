/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules that go by what views counted: what is too short for looks, or leaves nothing in memory. A rule is asked only
 * where all the views were told that it cannot do without. Rates are of the time that was watched.
 */
#include <stdio.h>
#include <string.h>

#include "event/event.h"
#include "event/hist.h"
#include "findings.h"
#include "sink/sink.h"

enum { NS_TEXT = 16 };

#define MS 1000000ull

static const char *ns_text(uint64_t ns, char buf[NS_TEXT])
{
    sink_format_ns(buf, NS_TEXT, ns);
    return buf;
}

/* How many there were at a time, on average, of what lasted so long all together. */
static double at_a_time(const struct evidence *e, uint64_t ns)
{
    return (double)ns / 1e9 / e->counted->seconds;
}

static uint64_t median(const struct wire_hist *hist)
{
    return hist_percentile(hist, 0.5);
}

static uint64_t mean(const struct wire_hist *hist)
{
    return hist->count ? hist->sum / hist->count : 0;
}

/* ---- ends of processes */

static const char *most_frequent_reason(const struct evidence *e)
{
    const char *reason;

    return counted_row(e->counted, VIEW_TABLE_exits_by_reason, 0, &reason) ? reason : "?";
}

void find_crashes(const struct evidence *e, struct findings *out)
{
    enum { LEAST = 5 };
    const struct row_exits_by_owner *row;
    const char *owner;
    char lived[NS_TEXT], within[64];

    for (size_t i = 0; (row = counted_row(e->counted, VIEW_TABLE_exits_by_owner, i, &owner)); i++) {
        double per_s = (double)row->count / e->counted->seconds;

        if (row->count < LEAST || per_s < 0.5)
            continue;
        snprintf(within, sizeof within, ", half of them within %s", ns_text(median(&row->lifetime), lived));
        findings_add(out, FINDING_crashes, findings_least((per_s < 1 ? 45 : 52) + 10 * findings_tens(per_s), 82), 0,
                     owner, "%llu of them ended abnormally, %.1f a second%s; the most frequent reason is %s",
                     row->count, per_s, row->lifetime.count ? within : "", most_frequent_reason(e));
    }
}

/* Of slices that lasted, and of collections in them, as far as they were told. */
void find_crash_costs(const struct evidence *e, struct findings *out)
{
    const struct row_exits_by_owner *exits;
    const char *owner;
    char each[NS_TEXT], all[NS_TEXT], collected[NS_TEXT];

    for (size_t i = 0; (exits = counted_row(e->counted, VIEW_TABLE_exits_by_owner, i, &owner)); i++) {
        const struct row_sched_by_owner *sched = counted_find(e->counted, VIEW_TABLE_sched_by_owner, owner);
        const struct row_gc_by_owner *gc = counted_find(e->counted, VIEW_TABLE_gc_by_owner, owner);
        double busy = sched ? at_a_time(e, sched->ran) : 0;

        if (!sched || busy < 0.03 || sched->ran / exits->count < 50 * MS)
            continue;
        findings_add(out, FINDING_crash_costs, findings_least(55 + 40 * busy, 85), 0, owner,
                     "%llu of them ended abnormally, and they ran for %s, %s for each end, %s of it in "
                     "collections; the most frequent reason is %s",
                     exits->count, ns_text(sched->ran, all), ns_text(sched->ran / exits->count, each),
                     gc ? ns_text(gc->pause.sum, collected) : "nothing", most_frequent_reason(e));
    }
}

/* ---- calls */

/* Who gave up most. */
static const char *most_impatient(const struct evidence *e)
{
    const struct row_requests_by_caller *row;
    const char *name, *best = "?";
    uint64_t most = 0;

    for (size_t i = 0; (row = counted_row(e->counted, VIEW_TABLE_requests_by_caller, i, &name)); i++)
        if (row->gave_up > most) {
            most = row->gave_up;
            best = name;
        }
    return best;
}

void find_calls_time_out(const struct evidence *e, struct findings *out)
{
    const struct row_requests_by_server *row;
    const char *server;
    char waited[NS_TEXT], service[NS_TEXT];

    for (size_t i = 0; (row = counted_row(e->counted, VIEW_TABLE_requests_by_server, i, &server)); i++) {
        double part = row->calls ? findings_least((double)row->gave_up / (double)row->calls, 1) : 1;

        if (row->gave_up < 2)
            continue;
        findings_add(out, FINDING_calls_time_out,
                     findings_least(58 + 10 * part + 8 * findings_tens((double)row->gave_up), 90), 0, server,
                     "%llu of %llu calls were given up, most of them by %s; half of those it took had "
                     "waited %s, and it took %s (half of them) to reply",
                     row->gave_up, row->calls, most_impatient(e),
                     row->waited.count ? ns_text(median(&row->waited), waited) : "?",
                     row->service.count ? ns_text(median(&row->service), service) : "?");
    }
}

void find_server_slow(const struct evidence *e, struct findings *out)
{
    const struct row_requests_by_server *row;
    const char *server;
    char waited[NS_TEXT], most[NS_TEXT], service[NS_TEXT];

    for (size_t i = 0; (row = counted_row(e->counted, VIEW_TABLE_requests_by_server, i, &server)); i++) {
        double queue = at_a_time(e, row->waited.sum);

        if (row->waited.count < 5 || median(&row->waited) < 20 * MS || queue < 0.5)
            continue;
        findings_add(out, FINDING_server_slow, findings_least(50 + 15 * findings_tens(queue), 82), 0, server,
                     "%.1f calls waited for it at a time, half of them %s or longer, one %s; it took %s (half of them) "
                     "to reply",
                     queue, ns_text(median(&row->waited), waited), ns_text(row->waited.max, most),
                     row->service.count ? ns_text(median(&row->service), service) : "?");
    }
}

/* ---- files */

static bool is_sync(uint64_t op)
{
    return op == EV_EFILE_FSYNC || op == EV_EFILE_FDATASYNC;
}

/* In system calls; all of it where that is not told. What waited for a thread was not slow itself. */
static const struct wire_hist *spent_by(const struct row_efile_by_op *row)
{
    return row->work.count ? &row->work : &row->total;
}

static uint64_t spent_on(const struct told_efile_op *told)
{
    return told->work == VIEW_UNKNOWN ? told->total : told->work;
}

/* The row of the kind of operation that took most time of those that are slow; NULL: none is. */
static const struct row_efile_by_op *slowest_op(const struct evidence *e, uint64_t *which)
{
    const struct row_efile_by_op *best = NULL;

    for (uint64_t op = 0; op < EV_EFILE_OPS; op++) {
        const struct row_efile_by_op *row = counted_number(e->counted, VIEW_TABLE_efile_by_op, op);
        double busy = row ? at_a_time(e, spent_by(row)->sum) : 0;
        bool slow = row && ((busy >= 0.1 && mean(spent_by(row)) >= 10 * MS) ||
                            (is_sync(op) && busy >= 0.5 && mean(spent_by(row)) >= MS));

        if (!slow || (best && spent_by(best)->sum >= spent_by(row)->sum))
            continue;
        best = row;
        *which = op;
    }
    return best;
}

/* Of the slowest ones of the kind the slowest whose owner is known; else the slowest; NULL: none of it is there. */
static const struct counted_slow *slowest_of(const struct evidence *e, uint64_t op)
{
    const struct counted_slow *slow, *best = NULL;

    for (size_t i = 0; (slow = counted_slow(e->counted, VIEW_SLOWEST_efile_op, i)); i++) {
        const struct told_efile_op *told = slow->record;

        if ((uint64_t)told->story.command != op)
            continue;
        if (!best || (*slow->owner && !*best->owner) ||
            (!*slow->owner == !*best->owner && spent_on(told) > spent_on(best->record)))
            best = slow;
    }
    return best;
}

void find_disk_slow(const struct evidence *e, struct findings *out)
{
    uint64_t op = 0;
    const struct row_efile_by_op *row = slowest_op(e, &op);
    const struct counted_slow *slow = row ? slowest_of(e, op) : NULL;
    const struct told_efile_op *told = slow ? slow->record : NULL;
    char all[NS_TEXT], each[NS_TEXT], most[NS_TEXT], example[400] = "";
    const struct wire_hist *spent;
    double busy;

    if (!row)
        return;
    spent = spent_by(row);
    busy = at_a_time(e, spent->sum);
    if (slow)
        snprintf(example, sizeof example, ": %s", slow->what);
    findings_add(out, FINDING_disk_slow,
                 findings_least(52 + 20 * findings_least(busy, 1) + 10 * findings_tens((double)mean(spent) / 1e7), 85),
                 told ? told->story.pid : 0, slow ? slow->owner : "",
                 "%llu operations %s took %s, %s each, the longest %s%s", spent->count,
                 view_table(VIEW_TABLE_efile_by_op)->number(op), ns_text(spent->sum, all), ns_text(mean(spent), each),
                 ns_text(spent->max, most), example);
    if (slow)
        findings_also(out, FINDING_disk_slow, slow->what);
}

/* ---- code */

/* Who was told most often that there is no such module, if that was most of the times; else nobody. */
static const char *most_in_vain(const struct evidence *e)
{
    const struct row_code_by_owner *row;
    const char *owner, *most = NULL;
    unsigned long long all = 0, times = 0;

    for (size_t i = 0; (row = counted_row(e->counted, VIEW_TABLE_code_by_owner, i, &owner)); i++) {
        all += row->missing;
        if (row->missing > times) {
            times = row->missing;
            most = owner;
        }
    }
    return times * 2 > all ? most : NULL;
}

void find_module_missing(const struct evidence *e, struct findings *out)
{
    enum { LEAST = 5 };
    const struct row_code_missing *row;
    const char *module, *owner = most_in_vain(e);
    char each[NS_TEXT], took[64], by[300] = "";

    if (owner)
        snprintf(by, sizeof by, "; most lookups in vain are by %s", owner);
    for (size_t i = 0; (row = counted_row(e->counted, VIEW_TABLE_code_missing, i, &module)); i++) {
        double per_s = (double)row->times / e->counted->seconds;

        if (row->times < LEAST || per_s < 0.5)
            continue;
        snprintf(took, sizeof took, ", %s each", ns_text(mean(&row->took), each));
        findings_add(out, FINDING_module_missing, findings_least(42 + 8 * findings_tens(per_s), 75), 0, module,
                     "looked for %llu times, %.1f a second%s%s", row->times, per_s, row->took.count ? took : "", by);
    }
}

/* Who had most of them; NULL: nobody. */
static const struct row_code_old *most_killed(const struct evidence *e, const char **owner)
{
    const struct row_code_old *most = NULL, *row;
    const char *name;

    for (size_t i = 0; (row = counted_row(e->counted, VIEW_TABLE_code_old, i, &name)); i++)
        if (row->killed && (!most || row->killed > most->killed)) {
            most = row;
            *owner = name;
        }
    return most;
}

void find_purge_kills(const struct evidence *e, struct findings *out)
{
    enum { LEAST = 2 };
    const struct row_code_by_module *row;
    const char *module, *owner = NULL;
    const struct row_code_old *most = most_killed(e, &owner);

    for (size_t i = 0; (row = counted_row(e->counted, VIEW_TABLE_code_by_module, i, &module)); i++) {
        if (row->killed < LEAST)
            continue;
        findings_add(out, FINDING_purge_kills, findings_least(52 + 10 * findings_tens((double)row->killed), 85), 0,
                     module, "its purges killed %llu processes, which ran old code; most of all that were killed so, "
                     "%llu, were %s", row->killed, most ? most->killed : 0, most ? owner : "not known");
        if (most)
            findings_also(out, FINDING_purge_kills, owner);
    }
}

/* ---- ports and nodes */

/* The port of a connection to a node is busy as long as that: then it is the node's finding. */
static bool is_as_busy_as_node(const struct evidence *e, uint64_t busy_ns)
{
    const struct row_dist_links *row;

    for (size_t i = 0; (row = counted_row(e->counted, VIEW_TABLE_dist_links, i, NULL)); i++)
        if (row->suspends && (double)row->busy.sum >= 0.7 * (double)busy_ns &&
            (double)row->busy.sum <= 1.4 * (double)busy_ns)
            return true;
    return false;
}

void find_port_suspends(const struct evidence *e, struct findings *out)
{
    const struct row_ports_by_port *row;
    const char *port, *owner = "?";
    char most[NS_TEXT];

    counted_row(e->counted, VIEW_TABLE_ports_by_owner, 0, &owner);
    for (size_t i = 0; (row = counted_row(e->counted, VIEW_TABLE_ports_by_port, i, &port)); i++) {
        double busy = at_a_time(e, row->busy.sum);

        if (busy < 0.1 || is_as_busy_as_node(e, row->busy.sum))
            continue;
        findings_add(out, FINDING_port_suspends, findings_least(50 + 30 * busy, 80), 0, port,
                     "it was busy for %.0f%% of the time, %llu times, once for %s; most is sent to ports by %s",
                     100 * busy, row->busy.count, ns_text(row->busy.max, most), owner);
        findings_also(out, FINDING_port_suspends, owner);
    }
}

/* The node that suspended processes most often, "": none did; and who was suspended longest, all together. */
static const char *most_suspending(const struct evidence *e)
{
    const struct row_dist_links *row;
    const char *name, *best = "";
    uint64_t most = 0;

    for (size_t i = 0; (row = counted_row(e->counted, VIEW_TABLE_dist_links, i, &name)); i++)
        if (row->suspends > most) {
            most = row->suspends;
            best = name;
        }
    return best;
}

void find_node_suspends(const struct evidence *e, struct findings *out)
{
    const struct row_dist_by_owner *row, *worst = NULL;
    const char *name, *owner = "?", *node = most_suspending(e);
    unsigned long long all = 0, times = 0;
    char most[NS_TEXT];

    for (size_t i = 0; (row = counted_row(e->counted, VIEW_TABLE_dist_by_owner, i, &name)); i++) {
        all += row->suspended.sum;
        times += row->suspended.count;
        if (worst && worst->suspended.sum >= row->suspended.sum)
            continue;
        worst = row;
        owner = name;
    }
    if (!worst || !*node || at_a_time(e, all) < 0.05)
        return;
    findings_add(out, FINDING_node_suspends, findings_least(50 + 15 * findings_tens(10 * at_a_time(e, all)), 85), 0,
                 node, "processes were suspended %llu times, %.2f of them at a time, once for %s; most of it %s",
                 times, at_a_time(e, all), ns_text(worst->suspended.max, most), owner);
    findings_also(out, FINDING_node_suspends, owner);
}

/* ---- schedulers and collections */

static uint64_t longest_part(const struct wire_hist *cpu, const struct wire_hist *asleep)
{
    return cpu->max > asleep->max ? cpu->max : asleep->max;
}

/* How many values of the histogram are about so large or larger. */
static uint64_t count_from(const struct wire_hist *hist, uint64_t value)
{
    uint64_t n = 0;

    for (int slot = 0; slot < WIRE_HIST_SLOTS; slot++)
        n += hist_slot_low(slot) >= value ? hist->slots[slot] : 0;
    return n;
}

/* Who had the longest of them: maxima are exact. NULL: it is in no row. */
static const char *find_holder(const struct evidence *e, uint64_t longest)
{
    const struct row_sched_by_owner *row;
    const char *owner;

    for (size_t i = 0; (row = counted_row(e->counted, VIEW_TABLE_sched_by_owner, i, &owner)); i++)
        if (row->cpu.max == longest || row->asleep.max == longest)
            return owner;
    return NULL;
}

/* "; X waited 30 ms for a scheduler meanwhile", of the one that waited longest and is not the holder. */
static void name_who_waited(const struct evidence *e, const char *holder, char *out, size_t size)
{
    const struct row_msglat_by_owner *row;
    const char *name, *who = NULL;
    uint64_t most = 10 * MS;
    char waited[NS_TEXT];

    out[0] = '\0';
    for (size_t i = 0; (row = counted_row(e->counted, VIEW_TABLE_msglat_by_owner, i, &name)); i++)
        if (row->latency.max > most && strcmp(name, holder)) {
            most = row->latency.max;
            who = name;
        }
    if (who)
        snprintf(out, size, "; %s waited %s for a scheduler", who, ns_text(most, waited));
}

/* " in m:f/1", of the native function whose longest call took about as long. */
static void name_function(const struct evidence *e, uint64_t longest, char *out, size_t size)
{
    const struct row_nifs_by_mfa *row;
    const char *mfa;

    out[0] = '\0';
    for (size_t i = 0; !*out && (row = counted_row(e->counted, VIEW_TABLE_nifs_by_mfa, i, &mfa)); i++)
        if (row->took.max > longest - longest / 4 && row->took.max < longest + longest / 4)
            snprintf(out, size, ", in %s", mfa);
}

void find_scheduler_held(const struct evidence *e, struct findings *out)
{
    enum { LONG_MS = 30 };
    const struct row_sched_by_kind *row =
        counted_number(e->counted, VIEW_TABLE_sched_by_kind, VIEW_SCHEDULER_NORMAL);
    uint64_t longest = row ? longest_part(&row->cpu, &row->asleep) : 0;
    unsigned long long times = row ? count_from(&row->cpu, LONG_MS * MS) + count_from(&row->asleep, LONG_MS * MS) : 0;
    const char *holder = longest >= LONG_MS * MS ? find_holder(e, longest) : NULL;
    char most[NS_TEXT], function[256], others[300];

    if (!holder || (times < 2 && longest < 100 * MS))
        return;
    name_function(e, longest, function, sizeof function);
    name_who_waited(e, holder, others, sizeof others);
    findings_add(out, FINDING_scheduler_held,
                 findings_least(50 + 12 * findings_tens((double)longest / 1e6 / LONG_MS) +
                                    8 * findings_tens((double)times / e->counted->seconds),
                                85),
                 0, holder, "it held a scheduler for %s%s; %llu %s of 30 ms or longer%s",
                 ns_text(longest, most), function, times, times == 1 ? "slice was" : "slices were", others);
}

/* Of the time in which threads of the VM could run, the part in which they had a processor. */
static double had_processors(const struct evidence *e)
{
    double ran, waited;

    return evidence_threads(e, &ran, &waited) && ran > 0 ? ran / (ran + waited) : 1;
}

/* A collection lasts until it is over by the clock: where others take the machine's processors, it waits, too. */
void find_gc_costs(const struct evidence *e, struct findings *out)
{
    const struct row_gc_by_owner *row;
    const char *owner;
    char all[NS_TEXT], most[NS_TEXT];
    double had = had_processors(e);

    for (size_t i = 0; (row = counted_row(e->counted, VIEW_TABLE_gc_by_owner, i, &owner)); i++) {
        double part = at_a_time(e, row->pause.sum), longest = had * (double)row->pause.max;

        if (longest < 20 * MS || (had * part < 0.05 && longest < 200 * MS))
            continue;
        findings_add(out, FINDING_gc_costs,
                     findings_least(45 + 40 * findings_least(had * part, 1) + 10 * findings_tens(longest / 2e7), 82), 0,
                     owner, "%llu collections took %s, %.0f%% of the time; the longest %s", row->pause.count,
                     ns_text(row->pause.sum, all), 100 * part, ns_text(row->pause.max, most));
    }
}
