/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What Erlang code tells by the functions of the module dyntrace: counts by tag, by text and by process. */
#ifndef BPF_VIEW_USER_H
#define BPF_VIEW_USER_H

/* In place of a text that is empty. */
VIEW_INLINE void view_user_label(const struct ev_head *h, const struct ev_text *text, struct name_text *name)
{
    view_label(h, text, name);
    if (name->words[0] & 0xff)
        return;
    name->words[0] = 0x29656e6f6e28ull; /* "(none)" */
    name->used = 7;
}

VIEW_INLINE void view_user_text(const struct ev_head *h, const struct ev_text *text, char *out)
{
    out[0] = 0;
    view_text(h, text, out, USER_TEXT_BYTES);
}

/* name: room for one, so that the stack holds one at a time. */
VIEW_INLINE void view_user_tell(const struct ev_user_trace__i4s4 *ev, struct name_text *name)
{
    struct told_user_told *record = user_told_record(&ev->head, view_ns(&ev->head));

    if (!record)
        return;
    record->pid = ev->pid;
    record->story.has_ints = 1;
    record->story.ints[0] = ev->i1;
    record->story.ints[1] = ev->i2;
    record->story.ints[2] = ev->i3;
    record->story.ints[3] = ev->i4;
    view_user_text(&ev->head, &ev->s1, record->story.texts[0]);
    view_user_text(&ev->head, &ev->s2, record->story.texts[1]);
    view_user_text(&ev->head, &ev->s3, record->story.texts[2]);
    view_user_text(&ev->head, &ev->s4, record->story.texts[3]);
    view_label(&ev->head, &ev->user_tag, name);
    name_copy(&record->tag, name);
    VIEW_TELL(record);
}

VIEW_INLINE void view_user_on_user_trace__i4s4(const struct ev_user_trace__i4s4 *ev)
{
    __u64 number = ev->i1 > 0 ? ev->i1 : 0;
    struct row_user_by_text *text;
    VIEW_NAME(name);
    struct row_user_by_tag *tag;

    VIEW_ADD(user_totals_row(&ev->head), told, 1);
    view_user_label(&ev->head, &ev->user_tag, &name);
    tag = user_by_tag_row(&ev->head, &name);
    VIEW_ADD(tag, count, 1);
    VIEW_OBSERVE(tag, i1, number);
    view_label(&ev->head, &ev->s1, &name);
    if (name.words[0] & 0xff) {
        text = user_by_text_row(&ev->head, &name);
        VIEW_ADD(text, count, 1);
        VIEW_OBSERVE(text, i1, number);
    }
    view_owner(&ev->head, ev->pid, &name);
    VIEW_ADD(user_by_owner_row(&ev->head, &name), count, 1);
    view_user_tell(ev, &name);
}

VIEW_INLINE void view_user_on_user_trace__s1(const struct ev_user_trace__s1 *ev)
{
    struct told_user_told *record;
    VIEW_NAME(name);

    VIEW_ADD(user_totals_row(&ev->head), texts, 1);
    view_user_label(&ev->head, &ev->message, &name);
    VIEW_ADD(user_by_text_row(&ev->head, &name), count, 1);
    record = user_told_record(&ev->head, view_ns(&ev->head));
    if (!record)
        return;
    record->pid = 0;
    record->story.has_ints = 0;
    view_user_text(&ev->head, &ev->message, record->story.texts[0]);
    view_no_name(&record->tag);
    VIEW_TELL(record);
}

#endif
