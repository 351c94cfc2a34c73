/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executables that were looked at, VM or not, so that looking again and again is cheap. A file that we watch keeps its
 * inode while we do; the inode of another may become another file, whose time of change is another.
 */
#ifndef TOOLS_EXECUTABLES_H
#define TOOLS_EXECUTABLES_H

#include <stdbool.h>
#include <sys/stat.h>

#include "common/table.h"

/* Of those that are no VM's the ones that were added first are forgotten: they are looked at again. */
enum { EXECUTABLES_MOST = 4096 };

struct executable {
    struct executable_key {
        dev_t dev;
        ino_t ino;
    } key;
    struct timespec changed;
    bool watched;
    bool hooks; /* its processes are looked at one by one: they have hooks, or their memory is read */
    UT_hash_handle hh;
};

/* Begins as zeros. */
struct executables {
    struct executable *table;
};

/* NULL: it is not known. */
struct executable *executables_find(const struct executables *files, const struct stat *st);
/* The one that is known, or a new one; it was looked at as it is now. NULL: out of memory. */
struct executable *executables_add(struct executables *files, const struct stat *st);
void executables_free(struct executables *files);

#endif
