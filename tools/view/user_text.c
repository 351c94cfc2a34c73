/* SPDX-License-Identifier: Apache-2.0 */
#include "user_text.h"

#include "common/term_text.h"

void user_text_all(char *out, size_t size, const void *record, const struct view_namer *namer)
{
    const struct user_story *story = &((const struct told_user_told *)record)->story;
    struct term_text text = {out, size, 0};
    int last = USER_TEXTS;

    (void)namer;
    if (!story->has_ints) {
        term_text_add(&text, "%.*s", USER_TEXT_BYTES, story->texts[0]);
        return;
    }
    for (int i = 0; i < USER_INTS; i++)
        term_text_add(&text, "%s%lld", i ? " " : "", (long long)story->ints[i]);
    while (last > 0 && !story->texts[last - 1][0])
        last--;
    for (int i = 0; i < last; i++)
        term_text_add(&text, " \"%.*s\"", USER_TEXT_BYTES, story->texts[i]);
}
