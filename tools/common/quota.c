/* SPDX-License-Identifier: Apache-2.0 */
#include "quota.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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

/* The mount of the hierarchy of the CPU controller of version 1, or of version 2. */
static bool find_mount(bool second, struct mount *out)
{
    FILE *file = fopen("/proc/self/mountinfo", "re");
    char line[2 * PATH_MAX + 512], type[32], options[256];
    bool found = false;

    while (file && !found && fgets(line, sizeof line, file)) {
        const char *rest = strstr(line, " - ");

        found = rest && sscanf(rest, " - %31s %*s %255s", type, options) == 2 &&
                !strcmp(type, second ? "cgroup2" : "cgroup") && (second || has_word(options, "cpu")) &&
                sscanf(line, "%*s %*s %*s %4095s %4095s", out->root, out->folder) == 2;
    }
    if (file)
        fclose(file);
    return found;
}

/* The process's group in that hierarchy, as /proc tells it. */
static bool find_group(int pid, bool second, char *out, size_t size)
{
    char name[64], line[PATH_MAX + 256];
    bool found = false;
    FILE *file;

    snprintf(name, sizeof name, "/proc/%d/cgroup", pid);
    file = fopen(name, "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;

        if (!path)
            continue;
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        controllers++;
        found = second ? !*controllers : has_word(controllers, "cpu");
        if (found)
            found = (size_t)snprintf(out, size, "%s", path) < size;
    }
    if (file)
        fclose(file);
    return found;
}

/* The file's bytes, with a NUL behind them. False: it cannot be read. */
static bool read_text(const char *folder, const char *name, char *out, size_t size)
{
    char path[PATH_MAX + 32];
    FILE *file;
    size_t n;

    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path || !(file = fopen(path, "re")))
        return false;
    n = fread(out, 1, size - 1, file);
    out[n] = '\0';
    fclose(file);
    return n > 0;
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

/* False: the group in this folder has no quota. */
static bool read_group(const char *folder, bool second, struct quota *out)
{
    char text[1024];
    long long quota = 0, period = 0;
    struct stat is;

    if (second) {
        if (!read_text(folder, "cpu.max", text, sizeof text) || sscanf(text, "%lld %lld", &quota, &period) != 2)
            return false;
    } else {
        if (!read_text(folder, "cpu.cfs_quota_us", text, sizeof text) || sscanf(text, "%lld", &quota) != 1 ||
            !read_text(folder, "cpu.cfs_period_us", text, sizeof text) || sscanf(text, "%lld", &period) != 1)
            return false;
    }
    if (quota <= 0 || period <= 0 || !read_text(folder, "cpu.stat", text, sizeof text) || stat(folder, &is))
        return false;
    out->group = is.st_ino;
    out->processors = (double)quota / (double)period;
    out->periods = number_of(text, "nr_periods");
    out->throttled = number_of(text, "nr_throttled");
    out->held_ns = second ? number_of(text, "throttled_usec") * 1000 : number_of(text, "throttled_time");
    return true;
}

static bool read_nearest(int pid, bool second, struct quota *out)
{
    char group[PATH_MAX], folder[2 * PATH_MAX];
    struct mount mount;
    size_t root, end;

    if (!find_group(pid, second, group, sizeof group) || !find_mount(second, &mount))
        return false;
    root = strcmp(mount.root, "/") ? strlen(mount.root) : 0; /* a container sees a part of the hierarchy */
    if (strncmp(group, mount.root, root) || (group[root] && group[root] != '/') || !strncmp(group, "/..", 3))
        return false; /* and the group lies in another */
    end = strlen(mount.folder);
    snprintf(folder, sizeof folder, "%s%s", mount.folder, group + root);
    for (size_t length = strlen(folder); length >= end; length--) {
        if (folder[length] && folder[length] != '/')
            continue;
        folder[length] = '\0';
        if (read_group(folder, second, out))
            return true;
    }
    return false;
}

bool quota_read(int pid, struct quota *out)
{
    return read_nearest(pid, true, out) || read_nearest(pid, false, out);
}
