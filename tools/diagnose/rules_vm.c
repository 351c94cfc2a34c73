/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about the VM as a whole: its schedulers, ports and connections, tables, and the machine under it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "findings.h"
#include "sink/sink.h"

static double share(const struct evidence *e, unsigned looks)
{
    return e->looks ? (double)looks / e->looks : 0;
}

void find_halted(const struct evidence *e, struct findings *out)
{
    if (e->halted)
        findings_add(out, FINDING_halted, 100, 0, "", "it %s", e->halted);
}

/* ---- the machine */

void find_throttled(const struct evidence *e, struct findings *out)
{
    double held, part;

    if (!e->first.has_quota || !e->last.has_quota || e->first.quota.group != e->last.quota.group ||
        e->last.quota.held_ns < e->first.quota.held_ns)
        return;
    held = (double)(e->last.quota.held_ns - e->first.quota.held_ns) / 1e9;
    part = held / evidence_seconds(e);
    if (part >= 0.02)
        findings_add(out, FINDING_throttled, findings_least(60 + 40 * part, 92), 0, "",
                     "it may have %.2f processors, and was held back for %.1f s of %.1f, %" PRIu64 " times",
                     e->last.quota.processors, held, evidence_seconds(e),
                     e->last.quota.throttled - e->first.quota.throttled);
}

void find_starved(const struct evidence *e, struct findings *out)
{
    bool held = e->last.has_quota && e->last.quota.held_ns > e->first.quota.held_ns;
    double ran, waited;

    if (!evidence_threads(e, &ran, &waited) || held || waited < 0.25 * evidence_seconds(e) ||
        waited < 0.3 * (ran + waited))
        return;
    findings_add(out, FINDING_starved, findings_least(30 + 40 * waited / evidence_seconds(e), 80), 0, "",
                 "its threads ran for %.1f s and waited for a processor for %.1f s", ran, waited);
}

void find_busy_waiting(const struct evidence *e, struct findings *out)
{
    double work = e->looks ? (double)e->running / e->looks : 0, ran, waited, cores;

    if (e->looks < 8 || !evidence_threads(e, &ran, &waited))
        return;
    cores = ran / evidence_seconds(e);
    if (cores < 0.3 || work > cores / 3)
        return;
    findings_add(out, FINDING_busy_waiting, findings_least(35 + 20 * (cores - work), e->last.has_quota ? 70 : 49), 0,
                 "", "it took %.1f processors, and processes ran on %.1f of them", cores, work);
}

/* ---- schedulers */

static double open_seconds(const struct evidence_open *o)
{
    uint64_t seen = o->last_ns - o->first_ns;

    return (double)(o->last.age_ns > seen ? o->last.age_ns : seen) / 1e9;
}

/* NULL: nothing of the kind is under way. */
static const struct evidence_open *longest(const struct evidence *e, enum pending_kind kind)
{
    const struct evidence_open *best = NULL;

    for (const struct evidence_open *o = e->open; o; o = o->hh.next)
        if (o->key.kind == kind && (!best || open_seconds(o) > open_seconds(best)))
            best = o;
    return best;
}

/* `what`: what the pool does for longest, as far as that is known; else what one of them did is told. */
static void find_full(const struct evidence *e, struct findings *out, enum snapshot_scheduler_type type,
                      enum finding_rule rule, double score, const struct evidence_open *what)
{
    const struct evidence_schedulers *s = &e->schedulers[type];
    char place[EVIDENCE_TEXT] = "";

    if (!e->has_schedulers || e->looks < 4 || !s->n || share(e, s->full) < 0.5)
        return;
    findings_add(out, rule, score * share(e, s->full) + (s->most_queued ? 10 : -25), what ? what->last.id : s->one,
                 what ? what->last.what : s->one ? evidence_place_of(e, s->one, place) : place,
                 "all %" PRIu64 " were taken in %.0f%% of the looks, and up to %" PRIu64 " processes waited for one",
                 s->n, 100 * share(e, s->full), s->most_queued);
}

void find_dirty_io_full(const struct evidence *e, struct findings *out)
{
    const struct evidence_open *file = longest(e, PENDING_FILE);

    find_full(e, out, SNAPSHOT_DIRTY_IO, FINDING_dirty_io_full, 88, file ? file : longest(e, PENDING_NATIVE));
}

void find_dirty_cpu_full(const struct evidence *e, struct findings *out)
{
    find_full(e, out, SNAPSHOT_DIRTY_CPU, FINDING_dirty_cpu_full, 78, longest(e, PENDING_NATIVE));
}

void find_file_hangs(const struct evidence *e, struct findings *out)
{
    char name[EVIDENCE_TEXT];

    for (const struct evidence_open *o = e->open; o && findings_room(out, FINDING_file_hangs); o = o->hh.next)
        if (o->key.kind == PENDING_FILE && open_seconds(o) >= 1)
            findings_add(out, FINDING_file_hangs, findings_least(60 + 3 * open_seconds(o), 80), o->last.id,
                         o->last.what, "%s has waited in it for %.1f s", evidence_name_of(e, o->last.id, name),
                         open_seconds(o));
}

void find_queues_uneven(const struct evidence *e, struct findings *out)
{
    const struct evidence_schedulers *s = &e->schedulers[SNAPSHOT_NORMAL];

    if (e->has_schedulers && e->looks >= 8 && s->n > 1 && share(e, s->uneven) >= 0.5)
        findings_add(out, FINDING_queues_uneven, findings_least(20 + 30 * share(e, s->uneven), 49), 0, "",
                     "in %.0f%% of the looks one had a queue while another had nothing; up to %" PRIu64 " waited",
                     100 * share(e, s->uneven), s->most_queued);
}

void find_overloaded(const struct evidence *e, struct findings *out)
{
    const struct evidence_schedulers *s = &e->schedulers[SNAPSHOT_NORMAL];
    double queued = e->looks ? (double)s->queued / e->looks : 0;

    if (e->has_schedulers && e->looks >= 8 && s->n && queued > 4.0 * (double)s->n)
        findings_add(out, FINDING_overloaded, findings_least(30 + 10 * findings_tens(queued / (double)s->n), 49), 0, "",
                     "%.0f processes wait for each of %" PRIu64 " schedulers", queued / (double)s->n, s->n);
}

/* ---- ports and nodes */

/* ", 12 messages wait for it", as far as that is known. */
static const char *waiting_messages(const struct evidence *e, ev_id id, char buf[64])
{
    const struct evidence_process *process = evidence_find(e, id);

    buf[0] = '\0';
    if (process)
        snprintf(buf, 64, "; %" PRIu64 " messages wait for it", process->last.messages);
    return buf;
}

/* A port that somebody waits to send to is busy; a socket that takes nothing need not be: its owner waits for it. */
static bool is_of_busy_port(const struct evidence *e, ev_id owner)
{
    for (const struct evidence_port *p = e->ports; p; p = p->hh.next)
        if (p->last.owner == owner)
            return true;
    return false;
}

/* A port of a connection to a node: its owner is a process of the protocol between nodes. */
static bool is_connection(const struct evidence *e, const char *owner)
{
    return e->has_open[PENDING_NODE] && strstr(owner, "_dist:") != NULL;
}

void find_port_busy(const struct evidence *e, struct findings *out)
{
    char name[EVIDENCE_TEXT], owner[EVIDENCE_TEXT], size[16], messages[64];

    for (const struct evidence_port *p = e->ports; p && findings_room(out, FINDING_port_busy); p = p->hh.next) {
        if (e->looks < 4 || share(e, p->busy) < 0.5 || is_connection(e, evidence_name_of(e, p->last.owner, owner)))
            continue;
        if (!snapshot_port_name(e->snapshot, &p->last, name, sizeof name) || !*name)
            snprintf(name, sizeof name, "a port");
        sink_format_size(size, sizeof size, p->most_waiting);
        findings_add(out, FINDING_port_busy, 60 + 30 * share(e, p->busy), p->last.owner,
                     owner, "%s is busy, with %s that it does not take%s", name,
                     size, waiting_messages(e, p->last.owner, messages));
    }
    for (const struct evidence_open *o = e->open; o && findings_room(out, FINDING_port_busy); o = o->hh.next)
        if (o->key.kind == PENDING_PORT_WAIT && open_seconds(o) >= 0.5 && o->last.id && !is_of_busy_port(e, o->last.id))
            findings_add(out, FINDING_port_busy, findings_least(65 + 3 * open_seconds(o), 85), o->last.id,
                         evidence_name_of(e, o->last.id, owner), "it has waited for %s for %.1f s%s",
                         *o->last.what ? o->last.what : "a socket", open_seconds(o),
                         waiting_messages(e, o->last.id, messages));
}

void find_node_busy(const struct evidence *e, struct findings *out)
{
    uint64_t waiters = 0;

    for (const struct evidence_open *o = e->open; o; o = o->hh.next)
        waiters += o->key.kind == PENDING_NODE_WAIT;
    for (const struct evidence_open *o = e->open; o; o = o->hh.next)
        if (o->key.kind == PENDING_NODE && open_seconds(o) >= 0.5)
            findings_add(out, FINDING_node_busy, findings_least(75 + 3 * open_seconds(o), 93), 0, o->last.what,
                         "its queue has been full for %.1f s, and %" PRIu64 " processes wait to send to nodes",
                         open_seconds(o), waiters);
}

/* ---- tables */

void find_atoms_grow(const struct evidence *e, struct findings *out)
{
    double per_s = ((double)e->last.atoms - (double)e->first.atoms) / evidence_seconds(e), left;

    if (!e->first.has_atoms || e->looks < 8 || e->atoms_grew * 2 < e->looks || per_s < 1)
        return;
    left = (double)(e->atom_limit - e->last.atoms) / per_s;
    findings_add(out, FINDING_atoms_grow,
                 left < 86400          ? 88
                 : left < 30 * 86400.0 ? 70
                                       : 50,
                 0, "", "%.0f new ones each second; %" PRIu64 " of %" PRIu64 ": full in %.1f %s", per_s, e->last.atoms,
                 e->atom_limit, left < 86400 ? left / 3600 : left / 86400, left < 86400 ? "hours" : "days");
}

void find_near_limit(const struct evidence *e, struct findings *out)
{
    const struct {
        const char *what;
        uint64_t n, limit;
    } tables[] = {{"processes", e->last.processes, e->process_limit},
                  {"atoms", e->last.has_atoms ? e->last.atoms : 0, e->atom_limit}};

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        double part = tables[i].limit ? (double)tables[i].n / (double)tables[i].limit : 0;

        if (part >= 0.8)
            findings_add(out, FINDING_near_limit, 60 + 200 * (part - 0.8), 0, tables[i].what,
                         "%" PRIu64 " of at most %" PRIu64, tables[i].n, tables[i].limit);
    }
}

void find_ports_leak(const struct evidence *e, struct findings *out)
{
    double net = (double)e->last.ports - (double)e->first.ports, per_s = net / evidence_seconds(e);

    if (e->first.has_ports && e->looks >= 8 && e->ports_grew * 2 >= e->looks && per_s >= 1 && net >= 20)
        findings_add(out, FINDING_ports_leak, findings_least(50 + 10 * findings_tens(per_s), 80), 0, "",
                     "%.0f more each second, %" PRIu64 " now", per_s, e->last.ports);
}

/* The connection that is held most; how many others are, too. */
void find_sends_held(const struct evidence *e, struct findings *out)
{
    const struct evidence_held *most = NULL;
    char others[64] = "";
    unsigned n = 0;

    for (const struct evidence_held *h = e->held; h; h = h->hh.next) {
        if (!h->is_ours || h->looks < 3 || h->looks * 10 < e->held_looks)
            continue;
        n++;
        most = !most || h->looks > most->looks ? h : most;
    }
    if (!n)
        return;
    if (n > 1)
        snprintf(others, sizeof others, ", and of %u other connection%s", n - 1, n > 2 ? "s" : "");
    findings_add(out, FINDING_sends_held,
                 findings_least(52 + 20.0 * most->looks / e->held_looks + 5 * findings_tens(n), 80), 0, most->last.text,
                 "in %.0f%% of the looks %" PRIu32 " bytes or so waited, for up to %" PRIu32 " ms, until what was sent "
                 "before was acknowledged, where a round trip takes %.1f ms%s",
                 100.0 * most->looks / e->held_looks, most->last.bytes, most->most_ms, most->last.round_us / 1e3,
                 others);
}
