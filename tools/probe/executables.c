/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: one that is watched, or whose processes have hooks, is never forgotten. */
#include "executables.h"

#include <stdlib.h>
#include <string.h>

static struct executable_key key_of(const struct stat *st)
{
    struct executable_key key;

    memset(&key, 0, sizeof key);
    key.dev = st->st_dev;
    key.ino = st->st_ino;
    return key;
}

struct executable *executables_find(const struct executables *files, const struct stat *st)
{
    const struct executable_key key = key_of(st);
    struct executable *file;

    HASH_FIND(hh, files->table, &key, sizeof key, file);
    return file;
}

static void make_room(struct executables *files)
{
    struct executable *file = HASH_COUNT(files->table) < EXECUTABLES_MOST ? NULL : files->table;

    while (file && (file->watched || file->hooks))
        file = file->hh.next;
    if (!file)
        return;
    HASH_DEL(files->table, file);
    free(file);
}

struct executable *executables_add(struct executables *files, const struct stat *st)
{
    struct executable *file = executables_find(files, st);

    if (!file) {
        make_room(files);
        file = calloc(1, sizeof *file);
        if (!file)
            return NULL;
        file->key = key_of(st);
        HASH_ADD(hh, files->table, key, sizeof file->key, file);
        if (!table_has(file)) {
            free(file);
            return NULL;
        }
    }
    file->changed = st->st_ctim;
    return file;
}

void executables_free(struct executables *files)
{
    struct executable *file, *next;

    HASH_ITER(hh, files->table, file, next)
    {
        HASH_DEL(files->table, file);
        free(file);
    }
}
