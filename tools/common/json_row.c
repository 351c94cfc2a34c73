/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: nothing behind the text's end is read; a zero byte in a text becomes U+FFFD, so that it ends nothing. */
#include "json_row.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *text;
    size_t size, at;
};

static bool is_next(const struct reader *r, char c)
{
    return r->at < r->size && r->text[r->at] == c;
}

static void skip_blanks(struct reader *r)
{
    while (r->at < r->size && r->text[r->at] && strchr(" \t\r\n", r->text[r->at]))
        r->at++;
}

static bool skip(struct reader *r, char c)
{
    skip_blanks(r);
    if (!is_next(r, c))
        return false;
    r->at++;
    return true;
}

/* Four hexadecimal digits from there on; -1: they are none. */
static long hex_at(const struct reader *r, size_t at)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    long value = 0;

    for (size_t i = at; i < at + 4; i++) {
        const char *digit = i < r->size && r->text[i] ? strchr(digits, r->text[i]) : NULL;
        long is = digit ? digit - digits : 0;

        if (!digit)
            return -1;
        value = value * 16 + (is < 16 ? is : is - 6);
    }
    return value;
}

static char *put_character(char *out, uint32_t c)
{
    c = !c || (c >= 0xd800 && c < 0xe000) ? 0xfffd : c;
    if (c < 0x80) {
        *out++ = (char)c;
        return out;
    }
    if (c >= 0x10000)
        *out++ = (char)(0xf0 | c >> 18);
    if (c >= 0x800)
        *out++ = (char)(c >= 0x10000 ? 0x80 | (c >> 12 & 0x3f) : 0xe0 | c >> 12);
    *out++ = (char)(c >= 0x800 ? 0x80 | (c >> 6 & 0x3f) : 0xc0 | c >> 6);
    *out++ = (char)(0x80 | (c & 0x3f));
    return out;
}

/* Behind \u: a character, or two of the halves that make one. NULL: it is none. */
static char *read_number(struct reader *r, char *out)
{
    long high = hex_at(r, r->at), low = -1;

    if (high < 0)
        return NULL;
    r->at += 4;
    if (high >= 0xd800 && high < 0xdc00 && is_next(r, '\\') && r->at + 1 < r->size && r->text[r->at + 1] == 'u')
        low = hex_at(r, r->at + 2);
    if (low < 0xdc00 || low >= 0xe000)
        return put_character(out, (uint32_t)high);
    r->at += 6;
    return put_character(out, 0x10000 + ((uint32_t)high - 0xd800) * 0x400 + ((uint32_t)low - 0xdc00));
}

/* Behind a backslash. NULL: it is no escape. */
static char *read_escape(struct reader *r, char *out)
{
    static const char letters[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    const char *letter = r->at < r->size && r->text[r->at] ? strchr(letters, r->text[r->at]) : NULL;

    if (is_next(r, 'u')) {
        r->at++;
        return read_number(r, out);
    }
    if (!letter)
        return NULL;
    r->at++;
    *out++ = means[letter - letters];
    return out;
}

/* What is written is never longer than what is read. */
static int read_text(struct reader *r, char **out)
{
    char *to = *out = malloc(r->size - r->at);

    if (!to)
        return -ENOMEM;
    for (r->at++; to && r->at < r->size && r->text[r->at] != '"';) {
        char c = r->text[r->at];

        if ((unsigned char)c < ' ')
            return -EINVAL;
        r->at++;
        if (c == '\\')
            to = read_escape(r, to);
        else
            *to++ = c;
    }
    if (!to || !is_next(r, '"'))
        return -EINVAL;
    r->at++;
    *to = '\0';
    return 0;
}

/* A number, true, false, null: as it is written. */
static int read_word(struct reader *r, char **out)
{
    static const char letters[] = "+-.0123456789abcdefghijklmnopqrstuvwxyzE";
    size_t begin = r->at;

    while (r->at < r->size && r->text[r->at] && strchr(letters, r->text[r->at]))
        r->at++;
    if (r->at == begin)
        return -EINVAL;
    *out = strndup(r->text + begin, r->at - begin);
    return *out ? 0 : -ENOMEM;
}

static int read_member(struct reader *r, struct json_row *row)
{
    struct json_member *member = &row->members[row->n];
    int err;

    skip_blanks(r);
    if (row->n == JSON_ROW_MEMBERS || !is_next(r, '"'))
        return -EINVAL;
    *member = (struct json_member){0};
    row->n++;
    err = read_text(r, &member->name);
    if (err || !skip(r, ':'))
        return err ? err : -EINVAL;
    skip_blanks(r);
    return is_next(r, '"') ? read_text(r, &member->value) : read_word(r, &member->value);
}

static int read_row(struct reader *r, struct json_row *row)
{
    int err = skip(r, '{') ? 0 : -EINVAL;

    if (!err && skip(r, '}'))
        return 0;
    do
        err = err ? err : read_member(r, row);
    while (!err && skip(r, ','));
    return err ? err : skip(r, '}') ? 0 : -EINVAL;
}

int json_row_parse(const char *text, size_t size, struct json_row *out, size_t *at)
{
    struct reader r = {text, size, 0};
    int err;

    out->n = 0;
    err = read_row(&r, out);
    if (!err)
        skip_blanks(&r);
    *at = r.at;
    return err ? err : r.at == size ? 0 : -EINVAL;
}

const char *json_row_get(const struct json_row *row, const char *name)
{
    for (size_t i = 0; i < row->n; i++)
        if (!strcmp(row->members[i].name, name))
            return row->members[i].value;
    return "";
}

void json_row_free(struct json_row *row)
{
    for (size_t i = 0; i < row->n; i++) {
        free(row->members[i].name);
        free(row->members[i].value);
    }
    row->n = 0;
}
