/* SPDX-License-Identifier: Apache-2.0 */
/* Messages on standard error. Invariant: a message is one line, and safe on a terminal. */
#include "fail.h"

#include <stdarg.h>
#include <stdio.h>

#include "escape.h"

static void print_line(const char *format, va_list args)
{
    char raw[1024], safe[2048];

    vsnprintf(raw, sizeof raw, format, args);
    escape_text(safe, sizeof safe, raw, sizeof raw);
    fflush(NULL);
    fprintf(stderr, "erlsnoop: %s\n", safe);
}

static bool said;

bool fail_said(void)
{
    return said;
}

int fail(int status, const char *format, ...)
{
    va_list args;

    said = true;
    va_start(args, format);
    print_line(format, args);
    va_end(args);
    return status;
}

void note(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_line(format, args);
    va_end(args);
}
