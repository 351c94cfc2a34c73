/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: a struct target that was opened has an ELF file and a provider. */
#include "target.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"

static int open_path(struct target *t)
{
    int err = elf_file_new(t->path, &t->elf);

    if (err)
        return err == -ENOENT && t->pid ? -ESRCH : err;
    t->provider = provider_find(t->elf);
    if (!t->provider) {
        target_close(t);
        return -ENOEXEC;
    }
    snprintf(t->path, sizeof t->path, "/proc/self/fd/%d", elf_file_fd(t->elf));
    return 0;
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
    snprintf(out->name, sizeof out->name, "%.31s", basename(path));
    return open_path(out);
}

void target_close(struct target *t)
{
    elf_file_free(t->elf);
    t->elf = NULL;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* A process may run another file from one moment to the next; that one is not asked about yet. */
static int visit(const struct target_visitor *v, int pid)
{
    char path[64];
    struct stat asked, now;
    struct target t;
    int stop = 0, err;

    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    if (v->skip && (stat(path, &asked) || v->skip(v->ctx, &asked)))
        return 0;
    err = target_open_pid(pid, &t);
    if (err == -ENOEXEC && v->skip && !stat(path, &now) && same_file(&asked, &now))
        v->other(v->ctx, &asked);
    if (err)
        return 0;
    if (!v->skip || same_file(&asked, &t.elf->st))
        stop = v->found(v->ctx, &t);
    target_close(&t);
    return stop;
}

int target_each(const struct target_visitor *v)
{
    DIR *dir = opendir("/proc");
    struct dirent *entry;
    int stop = 0;

    if (!dir)
        return fail(-errno, "cannot read /proc: %s", strerror(errno));
    while (!stop && (entry = readdir(dir)))
        if (atoi(entry->d_name) > 0)
            stop = visit(v, atoi(entry->d_name));
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
