/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages on standard error. Invariant: a message is safe on a terminal, where it is broken between words; elsewhere
 * it is one line.
 */
#include "fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "escape.h"

enum { MOST_COLUMNS = 10000, LEAST_COLUMNS = 20 };

/* Of the terminal that standard error is; 0: it is none. */
static int line_columns(void)
{
    const char *said = getenv("COLUMNS");
    int columns = said ? atoi(said) : 0;
    struct winsize size;

    if (!isatty(STDERR_FILENO))
        return 0;
    if (columns <= 0 && !ioctl(STDERR_FILENO, TIOCGWINSZ, &size))
        columns = size.ws_col;
    return columns >= LEAST_COLUMNS && columns <= MOST_COLUMNS ? columns : 0;
}

static int count_columns(const char *text, size_t bytes)
{
    int columns = 0;

    for (size_t i = 0; i < bytes; i++)
        columns += (text[i] & 0xc0) != 0x80;
    return columns;
}

/* Words, as many as fit to a line; one that is longer than a line has its own. */
static void print_words(const char *text, int columns)
{
    int used = 0;

    for (const char *word = text; *word; word += strspn(word, " ")) {
        size_t bytes = strcspn(word, " ");
        int wide = count_columns(word, bytes);
        const char *before = word == text ? "" : used + 1 + wide > columns ? "\n  " : " ";

        used = *before == '\n' ? 2 + wide : used + (int)strlen(before) + wide;
        fprintf(stderr, "%s%.*s", before, (int)bytes, word);
        word += bytes;
    }
    fputc('\n', stderr);
}

static void print_line(const char *format, va_list args)
{
    int columns = line_columns();
    char raw[1024], safe[2048] = "erlsnoop: ";
    size_t used = strlen(safe);

    vsnprintf(raw, sizeof raw, format, args);
    escape_text(safe + used, sizeof safe - used, raw, sizeof raw);
    fflush(NULL);
    if (columns)
        print_words(safe, columns);
    else
        fprintf(stderr, "%s\n", safe);
}

static bool said;
static char *kept; /* where a message goes in place of standard error; NULL: nowhere */
static size_t kept_size;

bool fail_said(void)
{
    return said;
}

void fail_keep(char *text, size_t size)
{
    kept = text;
    kept_size = size;
    if (text)
        text[0] = '\0';
}

int fail(int status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (kept) {
        vsnprintf(kept, kept_size, format, args);
    } else {
        said = true;
        print_line(format, args);
    }
    va_end(args);
    return status;
}

void note(const char *format, ...)
{
    va_list args;

    if (kept)
        return;
    va_start(args, format);
    print_line(format, args);
    va_end(args);
}
