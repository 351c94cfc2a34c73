/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: a struct target that was opened has an ELF file and a provider. */
#include "target.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/fail.h"
#include "common/rights.h"
#include "memory.h"
#include "red_zone.h"

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
    red_zone_guard(t->elf);
    return 0;
}

/*
 * The name in the first flag of one of these lists that the arguments hold, lists in turn; NULL without. Source:
 * erl(1), init(3).
 */
static const char *find_name(const char *args, const char *end)
{
    static const char *const flags[][2] = {{"-name", "-sname"}, {"-s", "-run"}};

    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        for (const char *at = args, *next; at < end && strcmp(at, "-extra"); at = next) {
            next = at + strlen(at) + 1;
            if (next < end && isalpha((unsigned char)*next) && (!strcmp(at, flags[i][0]) || !strcmp(at, flags[i][1])))
                return next;
        }
    }
    return NULL;
}

/*
 * The whole name of a node that is in a distribution, `rabbit@a` where it was told `rabbit`, from the memory of an
 * emulator of OTP that names the object; it stands there as an atom is written, in quotes. Source: erl_node_tables.c.
 */
static bool read_node(struct target *t)
{
    uint64_t address = elf_file_address(t->elf, elf_file_bias(t->elf, t->pid), "erts_this_node_sysname_BUFFER");
    char text[sizeof t->name], *node = text;
    struct memory *memory;
    int err;

    if (!address || memory_open(t->pid, &memory))
        return false;
    err = memory_read(memory, address, text, sizeof text);
    memory_close(memory);
    text[sizeof text - 1] = '\0';
    if (err || !strchr(text, '@'))
        return false;
    if (*node == '\'')
        *strchrnul(++node, '\'') = '\0';
    if (!strcmp(node, "nonode@nohost"))
        return false;
    snprintf(t->name, sizeof t->name, "%s", node);
    return true;
}

/* Every VM of a machine may be a beam.smp: what it was told to be tells it from the others. */
static void read_name(struct target *t)
{
    char path[64], args[32768];
    const char *name = NULL;
    size_t n = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/cmdline", t->pid);
    file = fopen(path, "re");
    if (file) {
        n = fread(args, 1, sizeof args - 1, file);
        fclose(file);
        args[n] = '\0';
        name = find_name(args, args + n);
    }
    if (name) {
        snprintf(t->name, sizeof t->name, "%s", name);
        return;
    }
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

    int err = open_path(out);

    if (!err && !read_node(out))
        read_name(out);
    return err == -ESRCH ? -ENOEXEC : err; /* a kernel thread, or a zombie, has no executable */
}

int target_require(int pid, struct target *out)
{
    int err = target_open_pid(pid, out);

    switch (err) {
    case 0: return 0;
    case -ESRCH: return fail(err, "no process with pid %d", pid);
    case -EACCES:
    case -EPERM:
        return fail(err, "not permitted to look at process %d (%s); %s", pid, rights_explain(err),
                    geteuid() == 0 ? "root has no rights over it here" : "run as root");
    case -ENOEXEC: return fail(err, "process %d is no Erlang VM; see erlsnoop list", pid);
    default: return fail(err, "cannot look at process %d: %s", pid, strerror(-err));
    }
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
    if (v->skip && (stat(path, &asked) || v->skip(v->ctx, pid, &asked)))
        return 0;
    err = target_open_pid(pid, &t);
    if (err == -ENOEXEC && v->other && !stat(path, &now) && same_file(&asked, &now))
        v->other(v->ctx, &asked);
    if (err)
        return 0;
    if (!v->skip || same_file(&asked, &t.elf->st))
        stop = v->found(v->ctx, &t);
    target_close(&t);
    return stop;
}

/* The next process that /proc has; 0: there is none, or that cannot be read (*err: -errno). */
static int next_pid(DIR *dir, int *err)
{
    struct dirent *entry;

    while (errno = 0, entry = readdir(dir))
        if (atoi(entry->d_name) > 0)
            return atoi(entry->d_name);
    *err = -errno;
    return 0;
}

int target_try_each(const struct target_visitor *v, int *unread)
{
    DIR *dir = opendir("/proc");
    int stop = 0, pid;

    *unread = dir ? 0 : -errno;
    while (dir && !stop && (pid = next_pid(dir, unread)))
        stop = visit(v, pid);
    if (dir)
        closedir(dir);
    return stop;
}

int target_each(const struct target_visitor *v)
{
    int unread, stop = target_try_each(v, &unread);

    return unread ? fail(unread, "cannot read /proc: %s", strerror(-unread)) : stop;
}

bool target_proc_is_ours(void)
{
    char text[32];
    ssize_t n = readlink("/proc/self", text, sizeof text - 1);

    text[n > 0 ? n : 0] = '\0';
    return atoi(text) == getpid();
}

bool target_is_passing(int err)
{
    return err == -EMFILE || err == -ENFILE || err == -ENOMEM;
}

/* What follows the name in /proc/PID/stat, from field 3 on. Fails: -errno; -ESRCH: the process is gone. */
static int read_stat(int pid, char *text, size_t size, const char **fields)
{
    char path[64], *after;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    file = fopen(path, "re");
    if (!file)
        return target_is_passing(-errno) ? -errno : -ESRCH;
    text[fread(text, 1, size - 1, file)] = '\0'; /* a name may hold line ends */
    after = strrchr(text, ')');
    fclose(file);
    *fields = after ? after + 1 : NULL;
    return after ? 0 : -ESRCH;
}

static int parent_of(int pid)
{
    char text[1024];
    const char *fields;
    int parent = 0;

    if (!read_stat(pid, text, sizeof text, &fields))
        sscanf(fields, " %*c %d", &parent);
    return parent;
}

int target_read_life(int pid, struct target_life *out)
{
    char text[1024];
    const char *fields;
    char state;
    int err;

    *out = (struct target_life){.pid = pid};
    err = read_stat(pid, text, sizeof text, &fields);
    if (err)
        return err;
    if (sscanf(fields,
               " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu %*u %*d %*u %llu",
               &state, &out->started, &out->code) != 3)
        return -ESRCH;
    /* One that is ending has no memory any more, and no code in it, before it is a zombie. */
    return state == 'Z' || state == 'X' || !out->code ? -ESRCH : 0;
}

bool target_lives(int pid)
{
    struct target_life life;

    return target_read_life(pid, &life) != -ESRCH;
}

bool target_goes_on(const struct target_life *life)
{
    struct target_life now;
    int err = target_read_life(life->pid, &now);

    return err ? err != -ESRCH : target_same_life(&now, life);
}

bool target_same_life(const struct target_life *a, const struct target_life *b)
{
    return a->pid == b->pid && a->started == b->started && a->code == b->code;
}

/* Whether the control group (v2) of the process, or one above it, is frozen. Source: cgroups(7), cgroup-v2.rst. */
static bool is_frozen(int pid)
{
    char path[64], line[PATH_MAX], events[PATH_MAX + 64];
    bool frozen = false;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/cgroup", pid);
    file = fopen(path, "re");
    events[0] = '\0';
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, "0::", 3))
            snprintf(events, sizeof events, "/sys/fs/cgroup%.*s/cgroup.events", (int)strcspn(line + 3, "\n"), line + 3);
    if (file)
        fclose(file);
    file = events[0] ? fopen(events, "re") : NULL;
    while (file && fgets(line, sizeof line, file))
        frozen |= !strcmp(line, "frozen 1\n");
    if (file)
        fclose(file);
    return frozen;
}

const char *target_halt(int pid)
{
    char text[1024];
    const char *fields;

    if (read_stat(pid, text, sizeof text, &fields))
        return NULL;
    if (fields[0] == ' ' && fields[1] == 'T')
        return "is stopped by a signal; nothing happens in it until kill -CONT";
    if (fields[0] == ' ' && fields[1] == 't')
        return "is stopped by a debugger; nothing happens in it until that lets it go on";
    return is_frozen(pid) ? "is in a control group that is frozen; nothing happens in it until that is thawed" : NULL;
}

double target_age_s(int pid)
{
    struct target_life life;
    struct timespec now;

    if (target_read_life(pid, &life) || clock_gettime(CLOCK_BOOTTIME, &now))
        return 0;
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9 - (double)life.started / (double)sysconf(_SC_CLK_TCK);
}

bool target_descends(int pid, int ancestor)
{
    for (int depth = 0; pid > 0 && depth < 64; depth++, pid = parent_of(pid))
        if (pid == ancestor)
            return true;
    return false;
}

uint64_t target_resident_bytes(int pid)
{
    char path[64];
    unsigned long long size, resident = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/statm", pid);
    file = fopen(path, "re");
    if (file && fscanf(file, "%llu %llu", &size, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}
