/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code: modules that are asked for, with whom asks and whether they are found, and modules that are loaded, from when
 * their code begins to be prepared until it is in place; what is purged, and whom that finds in old code, or kills. A
 * process asks for one module at a time, and purges one.
 */
#ifndef BPF_VIEW_CODE_H
#define BPF_VIEW_CODE_H

/* Words of the column "event". */
enum { CODE_LOADED, CODE_FOUND, CODE_MISSING, CODE_DELETED, CODE_PURGED, CODE_STAYED, CODE_LINGERS, CODE_KILLED };

VIEW_APART int view_code_tell(const struct ev_head *h, __u32 what, ev_id pid, __u64 took,
                              const struct name_text *module)
{
    struct told_code_told *record =
        took < VIEW_FILTER(code, slower) ? 0 : code_told_record(h, view_ns(h));

    if (!record)
        return 0;
    record->event = what;
    record->pid = pid;
    record->took = took;
    name_copy(&record->module, module);
    VIEW_TELL(record);
    return 0;
}

VIEW_INLINE void view_code_on_code__lookup__start(const struct ev_code__lookup__start *ev)
{
    struct state_code_lookups *lookup = code_lookups_make(&ev->head, 0, ev->pid);
    VIEW_NAME(module);

    if (!lookup)
        return;
    lookup->begun_ns = view_ns(&ev->head);
    lookup->whom = (struct view_whom){ev->pid, ev->head.where};
    view_node(&ev->head, ev->module, &module);
    lookup->module = view_keep_name(&ev->head, &module);
}

/* Of the module that was not found. */
VIEW_APART int view_code_miss(const struct ev_head *h, __u64 took, const struct name_text *module)
{
    struct row_code_missing *row = code_missing_row(h, module);

    VIEW_ADD(row, times, 1);
    if (took != VIEW_UNKNOWN)
        VIEW_OBSERVE(row, took, took);
    return 0;
}

VIEW_APART int view_code_asked(const struct ev_head *h, ev_id pid, bool found, __u64 took)
{
    struct row_code_by_owner *row;
    VIEW_NAME(owner);

    view_owner(h, pid, &owner);
    row = code_by_owner_row(h, &owner);
    VIEW_ADD(row, asked, 1);
    VIEW_ADD(row, missing, !found);
    if (took != VIEW_UNKNOWN)
        VIEW_OBSERVE(row, took, took);
    return 0;
}

/* How long the process asked; VIEW_UNKNOWN: since before we watched. */
VIEW_INLINE __u64 view_code_answered(const struct ev_head *h, ev_id pid)
{
    struct state_code_lookups *lookup = code_lookups_get(h, 0, pid);
    __u64 now = view_ns(h), since;

    if (!lookup)
        return VIEW_UNKNOWN;
    since = lookup->begun_ns;
    code_lookups_drop(h, 0, pid);
    return now > since ? now - since : 0;
}

/* The same by the module. Its name stands in a frame of its own, beside that of the owner's. */
VIEW_APART int view_code_answer(const struct ev_code__lookup__end *ev, __u64 took)
{
    VIEW_NAME(module);

    view_node(&ev->head, ev->module, &module);
    if (!ev->found)
        view_code_miss(&ev->head, took, &module);
    return view_code_tell(&ev->head, ev->found ? CODE_FOUND : CODE_MISSING, ev->pid, took, &module);
}

VIEW_INLINE void view_code_on_code__lookup__end(const struct ev_code__lookup__end *ev)
{
    struct row_code_totals *totals = code_totals_row(&ev->head);
    __u64 took = view_code_answered(&ev->head, ev->pid);

    VIEW_ADD(totals, asked, 1);
    VIEW_ADD(totals, missing, !ev->found);
    view_code_asked(&ev->head, ev->pid, ev->found, took);
    view_code_answer(ev, took);
}

VIEW_INLINE void view_code_on_code__prepare__start(const struct ev_code__prepare__start *ev)
{
    struct state_code_loads *load;
    VIEW_NAME(module);

    view_node(&ev->head, ev->module, &module);
    load = code_loads_make(&ev->head, 0, name_hash(&module));
    if (load)
        load->begun_ns = view_ns(&ev->head);
}

VIEW_INLINE void view_code_on_code__prepare__end(const struct ev_code__prepare__end *ev)
{
    VIEW_NAME(module);

    if (ev->prepared)
        return;
    VIEW_ADD(code_totals_row(&ev->head), refused, 1);
    view_node(&ev->head, ev->module, &module);
    code_loads_drop(&ev->head, 0, name_hash(&module));
}

/* How long the module's load took; VIEW_UNKNOWN: it was prepared before we watched. */
VIEW_INLINE __u64 view_code_loaded(const struct ev_head *h, const struct name_text *module)
{
    __u64 hash = name_hash(module), now = view_ns(h), since;
    struct state_code_loads *load = code_loads_get(h, 0, hash);

    if (!load)
        return VIEW_UNKNOWN;
    since = load->begun_ns;
    code_loads_drop(h, 0, hash);
    return now > since ? now - since : 0;
}

VIEW_INLINE void view_code_on_code__load(const struct ev_code__load *ev)
{
    struct row_code_by_module *row;
    VIEW_NAME(module);
    __u64 took;

    VIEW_ADD(code_totals_row(&ev->head), loaded, 1);
    view_node(&ev->head, ev->module, &module);
    took = view_code_loaded(&ev->head, &module);
    row = code_by_module_row(&ev->head, &module);
    VIEW_ADD(row, loaded, 1);
    if (took != VIEW_UNKNOWN)
        VIEW_OBSERVE(row, took, took);
    if (ev->words != EV_NO_WORDS)
        VIEW_OBSERVE(row, size, ev->words);
    view_code_tell(&ev->head, CODE_LOADED, ev->pid, took, &module);
}

VIEW_INLINE void view_code_on_code__delete(const struct ev_code__delete *ev)
{
    VIEW_NAME(module);

    VIEW_ADD(code_totals_row(&ev->head), deleted, 1);
    view_node(&ev->head, ev->module, &module);
    VIEW_ADD(code_by_module_row(&ev->head, &module), deleted, 1);
    view_code_tell(&ev->head, CODE_DELETED, ev->pid, VIEW_UNKNOWN, &module);
}

VIEW_INLINE void view_code_on_code__purge__start(const struct ev_code__purge__start *ev)
{
    struct state_code_purges *purge = code_purges_make(&ev->head, 0, ev->pid);

    if (purge)
        purge->begun_ns = view_ns(&ev->head);
}

VIEW_INLINE void view_code_on_code__purge__end(const struct ev_code__purge__end *ev)
{
    struct row_code_totals *totals = code_totals_row(&ev->head);
    struct state_code_purges *purge = code_purges_get(&ev->head, 0, ev->pid);
    __u64 now = view_ns(&ev->head), took = VIEW_UNKNOWN;
    bool purged = ev->purged != 0;
    struct row_code_by_module *row;
    VIEW_NAME(module);

    if (purge) {
        took = now > purge->begun_ns ? now - purge->begun_ns : 0;
        code_purges_drop(&ev->head, 0, ev->pid);
    }
    VIEW_ADD(totals, purged, purged);
    VIEW_ADD(totals, unpurged, !purged);
    view_node(&ev->head, ev->module, &module);
    row = code_by_module_row(&ev->head, &module);
    VIEW_ADD(row, purged, purged);
    VIEW_ADD(row, unpurged, !purged);
    if (took != VIEW_UNKNOWN)
        VIEW_OBSERVE(row, purge, took);
    view_code_tell(&ev->head, purged ? CODE_PURGED : CODE_STAYED, ev->pid, took, &module);
}

VIEW_APART struct row_code_old *view_code_old_row(const struct ev_head *h, ev_id pid)
{
    VIEW_NAME(owner);

    view_owner(h, pid, &owner);
    return code_old_row(h, &owner);
}

VIEW_INLINE void view_code_on_code__linger(const struct ev_code__linger *ev)
{
    VIEW_NAME(module);

    VIEW_ADD(code_totals_row(&ev->head), lingered, 1);
    VIEW_ADD(view_code_old_row(&ev->head, ev->pid), lingered, 1);
    view_node(&ev->head, ev->module, &module);
    view_code_tell(&ev->head, CODE_LINGERS, ev->pid, VIEW_UNKNOWN, &module);
}

VIEW_INLINE void view_code_on_code__kill(const struct ev_code__kill *ev)
{
    VIEW_NAME(module);

    VIEW_ADD(code_totals_row(&ev->head), killed, 1);
    VIEW_ADD(view_code_old_row(&ev->head, ev->pid), killed, 1);
    view_node(&ev->head, ev->module, &module);
    VIEW_ADD(code_by_module_row(&ev->head, &module), killed, 1);
    view_code_tell(&ev->head, CODE_KILLED, ev->pid, VIEW_UNKNOWN, &module);
}

VIEW_INLINE void view_code_on_process__exit(const struct ev_process__exit *ev)
{
    code_lookups_drop(&ev->head, 0, ev->pid);
}

#endif
