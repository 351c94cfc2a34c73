/* SPDX-License-Identifier: Apache-2.0 */
#include "efile_text.h"

#include <stdio.h>
#include <string.h>

#include "common/term_text.h"

/* What a command is called, and what its arguments hold. */
struct op_text {
    const char *name, *s1, *s2, *ints[EFILE_INTS];
};

static const struct op_text *find_op(uint64_t command)
{
    static const struct op_text ops[] = {
#define EFILE_OP(number, op, s1, s2, i1, i2, i3, i4) [number] = {#op, s1, s2, {i1, i2, i3, i4}},
#include "../../vm/probes.def"
    };
    static const struct op_text unknown = {"?", "s1", "s2", {"i1", "i2", "i3", "i4"}};

    return command < sizeof ops / sizeof *ops && ops[command].name ? &ops[command] : &unknown;
}

static const struct efile_story *story_of(const void *record)
{
    return &((const struct told_efile_op *)record)->story;
}

const char *efile_text_op(uint64_t command)
{
    return find_op(command)->name;
}

void efile_text_name(char *out, size_t size, const void *record, const struct view_namer *namer)
{
    const struct efile_story *story = story_of(record);

    (void)namer;
    if (story->tag == EFILE_NO_TAG)
        snprintf(out, size, "{%u,-}", story->thread);
    else
        snprintf(out, size, "{%u,%llu}", story->thread, (unsigned long long)story->tag);
}

/* An operation on a path has no descriptor. */
static bool is_absent(const char *name, int64_t value)
{
    return value < 0 && strcmp(name, "fd") == 0;
}

static void add_asked(struct term_text *out, const struct efile_story *story)
{
    const struct op_text *op = find_op(story->command);

    term_text_add(out, "%s (%llu)", op->name, (unsigned long long)story->command);
    if (*op->s1 && story->s1[0])
        term_text_add(out, " %s", story->s1);
    if (*op->s2 && story->s2[0])
        term_text_add(out, " %s", story->s2);
    for (int i = 0; i < EFILE_INTS; i++)
        if (*op->ints[i] && story->known & 1u << i && !is_absent(op->ints[i], story->ints[i]))
            term_text_add(out, " %s=%lld", op->ints[i], (long long)story->ints[i]);
    if (story->user_tag[0])
        term_text_add(out, " [%s]", story->user_tag);
}

static void add_result(struct term_text *out, const struct efile_story *story)
{
    const char *name = story->success ? NULL : strerrorname_np((int)story->err);

    if (story->success)
        term_text_add(out, "ok");
    else
        term_text_add(out, "%s (errno %u)", name ? name : "error", story->err);
}

void efile_text_asked(char *out, size_t size, const void *record, const struct view_namer *namer)
{
    const struct efile_story *story = story_of(record);
    struct term_text text = {out, size, 0};

    add_asked(&text, story);
    if (story->owner.form != WIRE_TEXT || story->owner.text[0])
        term_text_add(&text, " by %s", namer->name(namer->ctx, ((const struct told_efile_op *)record)->header.vm,
                                                   &story->owner));
}

void efile_text_result(char *out, size_t size, const void *record, const struct view_namer *namer)
{
    (void)namer;
    add_result(&(struct term_text){out, size, 0}, story_of(record));
}

void efile_text_what(char *out, size_t size, const void *record, const struct view_namer *namer)
{
    (void)namer;
    add_asked(&(struct term_text){out, size, 0}, story_of(record));
}

void efile_text_all(char *out, size_t size, const void *record, const struct view_namer *namer)
{
    const struct efile_story *story = story_of(record);
    struct term_text text = {out, size, 0};

    (void)namer;
    add_asked(&text, story);
    if (story->success)
        return;
    term_text_add(&text, ": ");
    add_result(&text, story);
}
