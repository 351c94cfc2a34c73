/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: a struct target that was opened has an ELF file and a provider. */
#include "target.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int open_path(struct target *t)
{
    struct stat st;
    int err;

    if (stat(t->path, &st))
        return errno == ENOENT && t->pid ? -ESRCH : -errno;
    t->dev = st.st_dev;
    t->ino = st.st_ino;
    err = elf_file_new(t->path, &t->elf);
    if (err)
        return err;
    t->provider = provider_find(t->elf);
    if (t->provider)
        return 0;
    target_close(t);
    return -ENOEXEC;
}

static void read_name(struct target *t)
{
    char path[64];
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/comm", t->pid);
    file = fopen(path, "re");
    if (!file)
        return;
    if (fgets(t->name, sizeof t->name, file))
        t->name[strcspn(t->name, "\n")] = '\0';
    fclose(file);
}

int target_open_pid(int pid, struct target *out)
{
    *out = (struct target){.pid = pid};
    snprintf(out->path, sizeof out->path, "/proc/%d", pid);
    if (access(out->path, F_OK))
        return -ESRCH;
    snprintf(out->path, sizeof out->path, "/proc/%d/exe", pid);
    read_name(out);

    int err = open_path(out);

    return err == -ESRCH ? -ENOEXEC : err; /* a kernel thread, or a zombie, has no executable */
}

int target_open_file(const char *path, struct target *out)
{
    *out = (struct target){0};
    snprintf(out->path, sizeof out->path, "%s", path);
    return open_path(out);
}

void target_close(struct target *t)
{
    elf_file_free(t->elf);
    t->elf = NULL;
}

static bool skip_pid(const struct target_visitor *v, int pid, struct stat *st)
{
    char path[64];

    if (!v->skip)
        return false;
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    return stat(path, st) || v->skip(v->ctx, st->st_dev, st->st_ino);
}

/* It may have run another file since; that one is not asked about yet. */
static bool is_file_asked(const struct target_visitor *v, const struct target *t, const struct stat *st)
{
    return !v->skip || (t->dev == st->st_dev && t->ino == st->st_ino);
}

int target_each(const struct target_visitor *v)
{
    DIR *dir = opendir("/proc");
    struct dirent *entry;
    struct target t;
    struct stat st;
    int stop = 0;

    if (!dir)
        return -errno;
    while (!stop && (entry = readdir(dir))) {
        int pid = atoi(entry->d_name);

        if (pid <= 0 || skip_pid(v, pid, &st) || target_open_pid(pid, &t))
            continue;
        if (is_file_asked(v, &t, &st))
            stop = v->found(v->ctx, &t);
        target_close(&t);
    }
    closedir(dir);
    return stop;
}

static int parent_of(int pid)
{
    char path[64], text[512] = "", *after;
    FILE *file;
    int parent = 0;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    file = fopen(path, "re");
    if (!file)
        return 0;
    if (fgets(text, sizeof text, file) && (after = strrchr(text, ')')))
        sscanf(after, ") %*c %d", &parent);
    fclose(file);
    return parent;
}

bool target_descends(int pid, int ancestor)
{
    for (int depth = 0; pid > 0 && depth < 64; depth++, pid = parent_of(pid))
        if (pid == ancestor)
            return true;
    return false;
}
