/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls of servers, each by the number of its reference: sent, taken by the server, replied to, taken by the caller. A
 * caller may give up, or end, before it is replied to, and the server may go.
 * Invariant: a call is among the states from the first step of it that is seen until it has ended; one whose caller
 * gave up or ended stays until the server replies, for that reply comes too late.
 */
#ifndef BPF_VIEW_REQUESTS_H
#define BPF_VIEW_REQUESTS_H

VIEW_INLINE struct name_text *view_requests_server(struct state_requests_calls *call)
{
    _Static_assert(sizeof(struct name_text) == sizeof call->server, "a name has room there");
    return (struct name_text *)&call->server;
}

/* The server is `pid`; one of another node may be told by a name. */
VIEW_INLINE void view_requests_name(const struct ev_request__step *ev, struct state_requests_calls *call)
{
    struct name_text *server = view_requests_server(call);

    if (ev_id_kind(ev->pid) == BATCH_NAME)
        view_term(&ev->head, ev_term_of(BATCH_SHAPE_ATOM, 0, ev_id_rest(ev->pid)), server);
    else
        view_owner(&ev->head, ev->pid, server);
    name_copy(&call->told.server, server);
}

/* A call that was not seen before: of the server `pid`. */
VIEW_INLINE struct state_requests_calls *view_requests_begin(const struct ev_request__step *ev, __u64 now)
{
    struct state_requests_calls *call = requests_calls_make(&ev->head, 0, ev->reference);

    if (!call)
        return 0;
    call->number = ev->reference;
    call->caller.id = ev->peer;
    call->told.began = now;
    call->told.pid = ev_id_kind(ev->peer) == BATCH_PID ? ev->peer : 0;
    call->told.waited = VIEW_UNKNOWN;
    call->told.service = VIEW_UNKNOWN;
    call->told.reply = VIEW_UNKNOWN;
    view_requests_name(ev, call);
    return call;
}

/* The call that the caller began before, if its reply was under way when the caller gave up, and did not reach it. */
VIEW_INLINE struct state_requests_calls *view_requests_missed(const struct ev_head *h, __u64 number)
{
    struct state_requests_calls *call = requests_calls_get(h, 0, number);

    return call && call->given_up_ns && call->replied_ns ? call : 0;
}

/* Returns as view_requests_missed. One that was seen before is handed on to another server. */
VIEW_INLINE struct state_requests_calls *view_requests_sent(const struct ev_request__step *ev,
                                                            struct state_requests_calls *call, __u64 now)
{
    struct state_requests_callers *caller;
    __u64 last;

    if (call) {
        call->sent_ns = now;
        return 0;
    }
    VIEW_ADD(requests_totals_row(&ev->head), calls, 1);
    call = view_requests_begin(ev, now);
    if (!call)
        return 0;
    call->sent_ns = now;
    call->waits_ns = now;
    VIEW_ADD(requests_by_server_row(&ev->head, view_requests_server(call)), calls, 1);
    caller = ev_id_kind(ev->peer) == BATCH_PID ? requests_callers_upsert(&ev->head, ev->peer) : 0;
    if (!caller)
        return 0;
    last = caller->call;
    caller->call = ev->reference;
    return last ? view_requests_missed(&ev->head, last) : 0;
}

VIEW_INLINE void view_requests_taken(const struct ev_request__step *ev, struct state_requests_calls *call, __u64 now)
{
    if (!call) {
        VIEW_ADD(requests_totals_row(&ev->head), unseen, 1);
        call = view_requests_begin(ev, now);
    }
    if (!call)
        return;
    if (call->taken_ns) /* by another server before */
        view_requests_name(ev, call);
    call->taken_ns = now;
    if (!call->sent_ns)
        return;
    call->told.waited = now > call->sent_ns ? now - call->sent_ns : 0;
    VIEW_OBSERVE(requests_by_server_row(&ev->head, view_requests_server(call)), waited, call->told.waited);
}

VIEW_INLINE __u64 view_requests_replied(const struct ev_request__step *ev, struct state_requests_calls *call, __u64 now)
{
    if (call->replied_ns)
        return REQUESTS_GOES_ON;
    call->replied_ns = now;
    if (call->taken_ns) {
        call->told.service = now > call->taken_ns ? now - call->taken_ns : 0;
        VIEW_OBSERVE(requests_by_server_row(&ev->head, view_requests_server(call)), service, call->told.service);
    }
    if (call->given_up_ns)
        return REQUESTS_TOO_LATE;
    return ev_id_kind(call->caller.id) == BATCH_REMOTE ? REQUESTS_SERVED : REQUESTS_GOES_ON;
}

/* Steps of the caller. What is replied to when the caller gives up may be in its mailbox, where it looks once more. */
VIEW_INLINE __u64 view_requests_left(__s64 step, struct state_requests_calls *call, __u64 now)
{
    if (step == REQUEST_ANSWERED) {
        if (call->replied_ns)
            call->told.reply = now > call->replied_ns ? now - call->replied_ns : 0;
        return REQUESTS_ANSWERED;
    }
    if (call->given_up_ns || (step == REQUEST_DOWN && call->replied_ns))
        return REQUESTS_GOES_ON;
    call->given_up_ns = now;
    call->waits_ns = 0;
    if (step == REQUEST_GONE)
        return REQUESTS_CALLER_GONE;
    if (call->replied_ns)
        return REQUESTS_GOES_ON;
    return step == REQUEST_DOWN ? REQUESTS_SERVER_GONE : REQUESTS_GAVE_UP;
}

VIEW_INLINE void view_requests_count(const struct ev_head *h, struct state_requests_calls *call, __u64 end)
{
    struct row_requests_totals *totals = requests_totals_row(h);
    bool gave_up = end == REQUESTS_GAVE_UP, late = end == REQUESTS_TOO_LATE || (gave_up && call->replied_ns);
    struct row_requests_by_server *row = gave_up || late ? requests_by_server_row(h, view_requests_server(call)) : 0;

    VIEW_ADD(totals, answered, end == REQUESTS_ANSWERED);
    VIEW_ADD(totals, gave_up, gave_up);
    VIEW_ADD(totals, late, late);
    VIEW_ADD(totals, down, end == REQUESTS_SERVER_GONE);
    VIEW_ADD(totals, gone, end == REQUESTS_CALLER_GONE);
    VIEW_ADD(row, gave_up, gave_up);
    VIEW_ADD(row, late, late);
}

/* What its caller, the process that the event is about, knows of it. */
VIEW_INLINE void view_requests_count_caller(const struct ev_head *h, ev_id pid, struct state_requests_calls *call,
                                            __u64 end)
{
    struct row_requests_by_caller *row;
    VIEW_NAME(owner);

    view_owner(h, pid, &owner);
    name_copy(&call->told.owner, &owner);
    if (end == REQUESTS_CALLER_GONE || !call->sent_ns)
        return;
    row = requests_by_caller_row(h, &owner);
    VIEW_OBSERVE(row, took, call->told.total);
    VIEW_ADD(row, gave_up, end == REQUESTS_GAVE_UP);
    if (end == REQUESTS_ANSWERED && call->told.reply != VIEW_UNKNOWN)
        VIEW_OBSERVE(row, reply, call->told.reply);
}

VIEW_INLINE void view_requests_tell(const struct ev_head *h, struct told_requests_call *told, __u64 now)
{
    struct told_requests_call *record;

    told->header = (struct wire_header){now, h->vm, VIEW_RECORD_requests_call};
    if (told->total != VIEW_UNKNOWN)
        requests_call_keep(h, told, told->total);
    record = told->total < VIEW_FILTER(requests, slower) ? 0 : requests_call_record(h, now);
    if (!record)
        return;
    VIEW_COPY(record, told);
    VIEW_TELL(record);
}

/* pid: of the event. at: when the call ended so. */
VIEW_INLINE void view_requests_end(const struct ev_head *h, ev_id pid, struct state_requests_calls *call, __u64 end,
                                   __u64 at)
{
    bool stays = end == REQUESTS_CALLER_GONE || (end == REQUESTS_GAVE_UP && !call->replied_ns);
    __u64 number = call->number;

    call->told.end = end;
    call->told.total = call->sent_ns && at > call->told.began ? at - call->told.began : VIEW_UNKNOWN;
    view_requests_count(h, call, end);
    if (end != REQUESTS_TOO_LATE && end != REQUESTS_SERVED)
        view_requests_count_caller(h, pid, call, end);
    view_requests_tell(h, &call->told, view_ns(h));
    if (!stays)
        requests_calls_drop(h, 0, number);
}

VIEW_INLINE void view_requests_on_request__step(const struct ev_request__step *ev)
{
    struct state_requests_calls *call = requests_calls_get(&ev->head, 0, ev->reference);
    __u64 at = view_ns(&ev->head), end = REQUESTS_GOES_ON;
    ev_id pid = ev->pid;

    if (ev->step == REQUEST_SENT) {
        call = view_requests_sent(ev, call, at);
        if (!call)
            return;
        pid = ev->peer;
        at = call->given_up_ns;
        end = REQUESTS_GAVE_UP;
    } else if (ev->step == REQUEST_TAKEN) {
        view_requests_taken(ev, call, at);
    } else if (call) {
        end = ev->step == REQUEST_REPLIED ? view_requests_replied(ev, call, at)
                                          : view_requests_left(ev->step, call, at);
    }
    if (call && end != REQUESTS_GOES_ON)
        view_requests_end(&ev->head, pid, call, end, at);
}

/* The call that the process which ends still waits for, if any, which it no more knows then; 0: none. */
VIEW_INLINE __u64 view_requests_last(const struct ev_head *h, ev_id pid)
{
    struct state_requests_callers caller;

    return requests_callers_take(h, pid, &caller) ? caller.call : 0;
}

VIEW_INLINE void view_requests_on_process__exit(const struct ev_process__exit *ev)
{
    __u64 number = view_requests_last(&ev->head, ev->pid), at = view_ns(&ev->head), end = REQUESTS_GAVE_UP;
    struct state_requests_calls *call = number ? requests_calls_get(&ev->head, 0, number) : 0;

    if (!call)
        return;
    if (call->given_up_ns && call->replied_ns)
        at = call->given_up_ns;
    else
        end = view_requests_left(REQUEST_GONE, call, at);
    if (end != REQUESTS_GOES_ON)
        view_requests_end(&ev->head, ev->pid, call, end, at);
}

#endif
