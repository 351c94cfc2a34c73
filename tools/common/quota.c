/* SPDX-License-Identifier: Apache-2.0 */
#include "quota.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where a hierarchy of groups is mounted: the folder there, and which of its groups that is. */
struct mount {
    char folder[PATH_MAX], root[PATH_MAX];
};

/* Whether the words with commas between have this one. */
static bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ',') && (!at[length] || at[length] == ',' || at[length] == '\n'))
            return true;
    return false;
}

static int cannot_read(const char *path, char why[QUOTA_WHY_BYTES])
{
    int err = -errno;

    snprintf(why, QUOTA_WHY_BYTES, "%.180s: %s", path, strerror(-err));
    return err;
}

/* The mount of the hierarchy of the CPU controller of version 1, or of version 2. Fails: -errno. */
static int find_mount(bool second, struct mount *out, char why[QUOTA_WHY_BYTES])
{
    FILE *file = fopen("/proc/self/mountinfo", "re");
    char line[2 * PATH_MAX + 512], type[32], options[256];
    bool found = false;

    if (!file)
        return cannot_read("/proc/self/mountinfo", why);
    while (!found && fgets(line, sizeof line, file)) {
        const char *rest = strstr(line, " - ");

        found = rest && sscanf(rest, " - %31s %*s %255s", type, options) == 2 &&
                !strcmp(type, second ? "cgroup2" : "cgroup") && (second || has_word(options, "cpu")) &&
                sscanf(line, "%*s %*s %*s %4095s %4095s", out->root, out->folder) == 2;
    }
    fclose(file);
    snprintf(why, QUOTA_WHY_BYTES, "control groups are not mounted here");
    return found ? 0 : -ENOTSUP;
}

/*
 * The process's group in the hierarchy with the CPU controller, which is that of version 1 where it has one. Fails:
 * -ENOENT there is none; -errno.
 */
static int find_group(int pid, bool *second, char *out, size_t size, char why[QUOTA_WHY_BYTES])
{
    char name[64], line[PATH_MAX + 256];
    int err = -ENOENT;
    FILE *file;

    snprintf(name, sizeof name, "/proc/%d/cgroup", pid);
    *second = true;
    file = fopen(name, "re");
    if (!file)
        return errno == ENOENT ? -ESRCH : cannot_read(name, why);
    while (*second && fgets(line, sizeof line, file)) {
        char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;

        if (!path)
            continue;
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        controllers++;
        if (*controllers && !has_word(controllers, "cpu"))
            continue;
        *second = !*controllers;
        err = (size_t)snprintf(out, size, "%s", path) < size ? 0 : -ENAMETOOLONG;
        snprintf(why, QUOTA_WHY_BYTES, "%s: a path is too long", name);
    }
    if (ferror(file))
        err = cannot_read(name, why);
    fclose(file);
    return err;
}

/* The file's bytes, with a NUL behind them. Fails: -errno. */
static int read_text(const char *folder, const char *name, char *out, size_t size, char why[QUOTA_WHY_BYTES])
{
    char path[PATH_MAX + 32];
    FILE *file;
    size_t n;
    int err = 0;

    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path) {
        snprintf(why, QUOTA_WHY_BYTES, "a path is too long");
        return -ENAMETOOLONG;
    }
    file = fopen(path, "re");
    if (!file)
        return cannot_read(path, why);
    n = fread(out, 1, size - 1, file);
    if (ferror(file))
        err = cannot_read(path, why);
    out[n] = '\0';
    fclose(file);
    return err;
}

/* What stands behind the word at the beginning of a line; 0: there is no such line. */
static uint64_t number_of(const char *text, const char *word)
{
    size_t length = strlen(word);
    uint64_t n = 0;

    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (!strncmp(line, word, length) && line[length] == ' ' && sscanf(line + length, "%" SCNu64, &n) == 1)
            return n;
    return 0;
}

/* Fails: -ENOENT the group in this folder has no quota; -errno. */
static int read_limit(const char *folder, bool second, long long *quota, long long *period, char why[QUOTA_WHY_BYTES])
{
    char text[1024];
    int err = read_text(folder, second ? "cpu.max" : "cpu.cfs_quota_us", text, sizeof text, why);

    if (err)
        return err;
    if (second)
        return sscanf(text, "%lld %lld", quota, period) == 2 ? 0 : -ENOENT; /* "max 100000" */
    if (sscanf(text, "%lld", quota) != 1 || *quota <= 0)
        return -ENOENT;
    err = read_text(folder, "cpu.cfs_period_us", text, sizeof text, why);
    return err ? err : sscanf(text, "%lld", period) == 1 ? 0 : -ENOENT;
}

static int read_group(const char *folder, bool second, struct quota *out, char why[QUOTA_WHY_BYTES])
{
    char text[1024];
    long long quota = 0, period = 0;
    struct stat is;
    int err = read_limit(folder, second, &quota, &period, why);

    if (err)
        return err;
    if (quota <= 0 || period <= 0)
        return -ENOENT;
    err = read_text(folder, "cpu.stat", text, sizeof text, why);
    if (err)
        return err == -ENOENT ? -ENOTSUP : err;
    if (stat(folder, &is))
        return cannot_read(folder, why);
    out->group = is.st_ino;
    out->processors = (double)quota / (double)period;
    out->periods = number_of(text, "nr_periods");
    out->throttled = number_of(text, "nr_throttled");
    out->held_ns = second ? number_of(text, "throttled_usec") * 1000 : number_of(text, "throttled_time");
    return 0;
}

/* The group's folder. A container sees a part of the hierarchy, and the group may lie in another. Fails: -errno. */
static int find_folder(int pid, bool *second, char *out, size_t size, size_t *end, char why[QUOTA_WHY_BYTES])
{
    char group[PATH_MAX];
    struct mount mount;
    size_t root;
    int err = find_group(pid, second, group, sizeof group, why);

    err = err ? err : find_mount(*second, &mount, why);
    if (err)
        return err;
    root = strcmp(mount.root, "/") ? strlen(mount.root) : 0;
    if (strncmp(group, mount.root, root) || (group[root] && group[root] != '/') || !strncmp(group, "/..", 3)) {
        snprintf(why, QUOTA_WHY_BYTES, "its control group lies outside of what is mounted here");
        return -ENOTSUP;
    }
    *end = strlen(mount.folder);
    snprintf(out, size, "%s%s", mount.folder, group + root);
    if (!access(out, F_OK))
        return 0;
    err = cannot_read(out, why);
    return err == -ENOENT ? -ENOTSUP : err;
}

int quota_read(int pid, struct quota *out, char why[QUOTA_WHY_BYTES])
{
    char folder[2 * PATH_MAX];
    size_t end;
    bool second;
    int err = find_folder(pid, &second, folder, sizeof folder, &end, why);

    if (err)
        return err;
    err = -ENOENT;
    for (size_t length = strlen(folder); err == -ENOENT && length >= end; length--) {
        if (folder[length] && folder[length] != '/')
            continue;
        folder[length] = '\0';
        err = read_group(folder, second, out, why);
    }
    return err;
}
