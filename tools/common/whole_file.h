/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that is there as a whole or not at all: it is written beside its place and moved there once nothing failed, so
 * that what stood there before stays until then. A pipe or a device is written to as it is.
 *
 *   err = whole_file_open(&f, path);     when the command line was read
 *   out = whole_file_begin(&f);          when there is something to write
 *   err = whole_file_end(&f, err);
 */
#ifndef TOOLS_WHOLE_FILE_H
#define TOOLS_WHOLE_FILE_H

#include <limits.h>
#include <stdio.h>

struct whole_file {
    const char *name; /* as it was given, for messages; NULL: no file is wanted */
    char path[PATH_MAX];
    int special; /* descriptor of what is no regular file; -1: it is one */
    FILE *file;  /* in memory */
    char *bytes;
    size_t size;
};

/* `name` NULL: no file is wanted. It is kept, not copied. Fails: said, when it could not be written. */
int whole_file_open(struct whole_file *f, const char *name);
/* What is printed to it is kept until the end. NULL: out of memory, which whole_file_end is to be told. */
FILE *whole_file_begin(struct whole_file *f);
/*
 * `err`: 0, or why it is not whole; then nothing is written, and the failure is said. Returns the failure. Frees what f
 * holds.
 */
int whole_file_end(struct whole_file *f, int err);

#endif
