/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: what comes out is valid UTF-8 without control characters, whatever comes in. */
#include "escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Length of the UTF-8 sequence at `in` (RFC 3629), or of C0 80 for NUL, 0 when it is none; its code point. */
static size_t decode(const unsigned char *in, size_t left, uint32_t *point)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t len = in[0] < 0x80 ? 1 : in[0] >> 5 == 6 ? 2 : in[0] >> 4 == 14 ? 3 : in[0] >> 3 == 30 ? 4 : 0;

    if (!len || len > left)
        return 0;
    *point = len == 1 ? in[0] : in[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if (in[i] >> 6 != 2)
            return 0;
        *point = *point << 6 | (in[i] & 0x3f);
    }
    if (in[0] == 0xc0 && !*point)
        return len;
    if (*point < least[len] || *point > 0x10ffff || *point >> 11 == 0x1b)
        return 0;
    return len;
}

/* C0, DEL, C1; marks, separators and overrides that change lines or direction. */
static bool is_dangerous(uint32_t p)
{
    return p < 0x20 || (p >= 0x7f && p < 0xa0) || p == 0xad || p == 0x61c ||
           (p >= 0x200b && p <= 0x200f) || (p >= 0x2028 && p <= 0x202e) ||
           (p >= 0x2060 && p <= 0x206f) || p == 0xfeff;
}

size_t escape_text(char *out, size_t size, const char *in, size_t limit)
{
    size_t len = strnlen(in, limit), used = 0, columns = 0, step;

    for (size_t i = 0; i < len; i += step) {
        const unsigned char *at = (const unsigned char *)in + i;
        uint32_t point = 0;
        size_t valid = decode(at, len - i, &point), shown;

        step = valid ? valid : 1;
        shown = valid && !point ? 1 : step;
        if (valid && !is_dangerous(point)) {
            if (used + step + 1 > size)
                break;
            memcpy(out + used, at, step);
            used += step;
            columns++;
            continue;
        }
        if (used + 4 * shown + 1 > size)
            break;
        for (size_t k = 0; k < shown; k++)
            used += (size_t)snprintf(out + used, size - used, "\\x%02x", valid && !point ? 0 : at[k]);
        columns += 4 * shown;
    }
    if (size)
        out[used] = '\0';
    return columns;
}

/* Between double quotes, where a backslash escapes; other characters by their number, in that format. */
static size_t escape_quoted(char *out, size_t size, const char *in, size_t limit, const char *number)
{
    size_t len = strnlen(in, limit), used = 0, step;

    for (size_t i = 0; i < len; i += step) {
        const unsigned char *at = (const unsigned char *)in + i;
        uint32_t point = 0xfffd;
        size_t valid = decode(at, len - i, &point);
        char piece[12];

        step = valid ? valid : 1;
        if (!valid || is_dangerous(point))
            snprintf(piece, sizeof piece, number, valid ? (unsigned)point & 0xffff : 0xfffd);
        else if (point == '"' || point == '\\')
            snprintf(piece, sizeof piece, "\\%c", (char)point);
        else
            snprintf(piece, sizeof piece, "%.*s", (int)step, (const char *)at);
        if (used + strlen(piece) + 1 > size)
            break;
        memcpy(out + used, piece, strlen(piece));
        used += strlen(piece);
    }
    if (size)
        out[used] = '\0';
    return used;
}

size_t escape_json(char *out, size_t size, const char *in, size_t limit)
{
    return escape_quoted(out, size, in, limit, "\\u%04x");
}

size_t escape_erlang(char *out, size_t size, const char *in, size_t limit)
{
    return escape_quoted(out, size, in, limit, "\\x{%x}");
}

/* U+FFFE and U+FFFF are valid UTF-8, and no characters of XML. */
void escape_xml(FILE *out, const char *in)
{
    char clean[4096];

    escape_text(clean, sizeof clean, in, sizeof clean);
    for (const char *at = clean; *at; at++) {
        switch (*at) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        case '\'': fputs("&#39;", out); break;
        default:
            if (!strncmp(at, "\xef\xbf\xbe", 3) || !strncmp(at, "\xef\xbf\xbf", 3)) {
                fputs("\xef\xbf\xbd", out);
                at += 2;
            } else {
                fputc(*at, out);
            }
        }
    }
}
