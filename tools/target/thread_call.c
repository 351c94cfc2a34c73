/* SPDX-License-Identifier: Apache-2.0 */
/* Source of the formats: proc(5). Invariant: of what is read anew a thread is told that slept at both times. */
#include "thread_call.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "net_table.h"

enum { MAX_THREADS = 1 << 16, TEXT_BYTES = 4096, ARGUMENTS = 6, NS_PER_MS = 1000000 };

enum about { ABOUT_NONE, ABOUT_PATH, ABOUT_FD };

static const struct {
    long number;
    const char *name;
    enum about about;
    int argument;
} calls[] = {
#define SYSTEM_CALL(name, about, argument) {SYS_##name, #name, ABOUT_##about, argument},
#include "system_calls.def"
};

/* The first bytes of a file of /proc; "": it cannot be read. */
__attribute__((format(printf, 3, 4)))
static bool read_proc(char *buf, size_t size, const char *format, ...)
{
    char path[96];
    va_list args;
    ssize_t n;
    int fd;

    va_start(args, format);
    vsnprintf(path, sizeof path, format, args);
    va_end(args);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? -1 : read(fd, buf, size - 1);
    if (fd >= 0)
        close(fd); /* which leaves errno as it is */
    buf[n > 0 ? n : 0] = '\0';
    return n > 0;
}

int thread_names(int pid, struct thread_name **out, size_t *n)
{
    const struct dirent *entry;
    char path[64];
    DIR *dir;

    *out = NULL;
    *n = 0;
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    dir = opendir(path);
    if (!dir)
        return -ESRCH;
    while (*n < MAX_THREADS && (entry = readdir(dir))) {
        struct thread_name *all = *n & (*n + 1) ? *out : realloc(*out, 2 * (*n + 1) * sizeof *all);
        struct thread_name one = {.id = atoi(entry->d_name)};

        if (!all) {
            closedir(dir);
            free(*out);
            *out = NULL;
            return -ENOMEM;
        }
        *out = all;
        if (!one.id || !read_proc(one.name, sizeof one.name, "/proc/%d/task/%d/comm", pid, one.id))
            continue;
        one.name[strcspn(one.name, "\n")] = '\0';
        all[(*n)++] = one;
    }
    closedir(dir);
    return 0;
}

bool thread_name_is_scheduler(const struct thread_name *name)
{
    static const char *const forms[] = {"%u_scheduler%n", "erts_sched_%u%n", "sched_%u%n"};
    unsigned number;

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        int end = -1;

        if (sscanf(name->name, forms[i], &number, &end) == 1 && end > 0 && !name->name[end])
            return true;
    }
    return false;
}

/* Its number in its own PID namespace, the innermost that it is in; 0: it has ended. */
static int inner_number(int pid, int thread)
{
    static const char numbers[] = "\nNSpid:";
    char text[TEXT_BYTES], *at, *end;
    int number = thread; /* a kernel without namespaces tells none */

    if (!read_proc(text, sizeof text, "/proc/%d/task/%d/status", pid, thread))
        return 0;
    at = strstr(text, numbers);
    for (at = at ? at + strlen(numbers) : text + strlen(text); *at == '\t'; at = end)
        number = (int)strtol(at, &end, 10);
    return number;
}

int thread_find(int pid, int number)
{
    struct thread_name *all;
    size_t n;
    int found = inner_number(pid, number) == number ? number : 0;

    if (found || thread_names(pid, &all, &n))
        return found;
    for (size_t i = 0; i < n && !found; i++)
        found = inner_number(pid, all[i].id) == number ? all[i].id : 0;
    free(all);
    return found;
}

/* ---- when it ran last */

static bool find_number(const char *text, const char *key, double *out)
{
    const char *at = strstr(text, key), *colon = at ? strchr(at, ':') : NULL;

    return colon && sscanf(colon + 1, "%lf", out) == 1;
}

/* On which processor it ran last; -1: not known. */
static int last_processor(int pid, int thread)
{
    enum { FIELDS_BEHIND_NAME = 36 };
    char text[TEXT_BYTES], *at;
    int field = 0;

    if (!read_proc(text, sizeof text, "/proc/%d/task/%d/stat", pid, thread))
        return -1;
    at = strrchr(text, ')');
    while (at && field++ <= FIELDS_BEHIND_NAME)
        at = strchr(at + 1, ' ');
    return at ? atoi(at + 1) : -1;
}

/* Of run times each processor has its own clock: what it shows by now, which our thread says when it runs there. */
static bool read_clock(int processor, double *out)
{
    char text[TEXT_BYTES];
    cpu_set_t before, only;
    bool read;

    CPU_ZERO(&only);
    if (processor < 0 || processor >= CPU_SETSIZE || sched_getaffinity(0, sizeof before, &before))
        return false;
    CPU_SET(processor, &only);
    if (sched_setaffinity(0, sizeof only, &only))
        return false;
    read = read_proc(text, sizeof text, "/proc/thread-self/sched") && find_number(text, "se.exec_start", out);
    sched_setaffinity(0, sizeof before, &before);
    return read;
}

static void read_times(int pid, int thread, struct thread_call *out)
{
    char text[TEXT_BYTES];
    double ran, now, switches;

    out->asleep_ns = out->switches = 0;
    if (!read_proc(text, sizeof text, "/proc/%d/task/%d/sched", pid, thread) ||
        !find_number(text, "se.exec_start", &ran))
        return;
    if (find_number(text, "nr_switches", &switches) && switches > 0)
        out->switches = (uint64_t)switches;
    if (read_clock(last_processor(pid, thread), &now) && now > ran)
        out->asleep_ns = (uint64_t)((now - ran) * NS_PER_MS);
}

bool thread_time_read(int pid, int thread, struct thread_time *out)
{
    static const char sleeps[] = "\nvoluntary_ctxt_switches:", state[] = "\nState:\t";
    char text[TEXT_BYTES];
    const char *at;

    if (!read_proc(text, sizeof text, "/proc/%d/task/%d/schedstat", pid, thread) ||
        sscanf(text, "%" SCNu64 " %" SCNu64, &out->cpu_ns, &out->queued_ns) != 2 ||
        !read_proc(text, sizeof text, "/proc/%d/task/%d/status", pid, thread))
        return false;
    at = strstr(text, state);
    out->state = at ? at[strlen(state)] : '\0';
    at = strstr(text, sleeps);
    if (!at || sscanf(at + strlen(sleeps), "%" SCNu64, &out->sleeps) != 1 ||
        !read_proc(out->name, sizeof out->name, "/proc/%d/task/%d/comm", pid, thread))
        return false;
    out->name[strcspn(out->name, "\n")] = '\0';
    return true;
}

/* ---- what it is about */

/* The peer of the socket with this number, in one of the kernel's tables. */
static bool find_peer(int pid, const char *table, unsigned long socket, char *buf, size_t size)
{
    char path[64], text[512], address[NET_ADDRESS_BYTES];
    struct net_line line;
    bool found = false;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/net/%s", pid, table);
    file = fopen(path, "re");
    while (file && !found && fgets(text, sizeof text, file))
        found = net_line_read(text, &line) && line.number == socket && line.remote_port;
    if (file)
        fclose(file);
    if (!found)
        return false;
    net_line_print_remote(&line, address);
    snprintf(buf, size, "%s:%u", address, line.remote_port);
    return true;
}

static void describe_fd(int pid, uint64_t fd, char *buf, size_t size)
{
    static const char *const tables[] = {"tcp", "tcp6", "udp", "udp6"};
    unsigned long socket;
    char path[64];
    ssize_t n;

    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, (int)fd);
    n = readlink(path, buf, size - 1);
    buf[n > 0 ? n : 0] = '\0';
    if (sscanf(buf, "socket:[%lu]", &socket) == 1)
        for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
            if (find_peer(pid, tables[i], socket, buf, size))
                return;
}

/* ---- */

/* "257 0xffffff9c 0x7f..." when it sleeps in one. */
static bool read_call(int pid, int thread, long *number, uint64_t arguments[ARGUMENTS])
{
    char text[256];

    return read_proc(text, sizeof text, "/proc/%d/task/%d/syscall", pid, thread) && isdigit((unsigned char)text[0]) &&
           sscanf(text, "%ld %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64, number,
                  &arguments[0], &arguments[1], &arguments[2], &arguments[3], &arguments[4], &arguments[5]) ==
               1 + ARGUMENTS;
}

int thread_calls_known(int pid)
{
    char text[256];

    errno = 0;
    return read_proc(text, sizeof text, "/proc/%d/task/%d/syscall", pid, pid) ? 0 : errno ? -errno : -ESRCH;
}

bool thread_call_read(int pid, int thread, const struct memory_file *memory, struct thread_call *out)
{
    uint64_t arguments[ARGUMENTS], again[ARGUMENTS];
    long number, later;
    size_t i = 0, n;

    if (!read_call(pid, thread, &number, arguments))
        return false;
    while (i < sizeof calls / sizeof *calls && calls[i].number != number)
        i++;
    if (i == sizeof calls / sizeof *calls)
        return false;
    out->call = calls[i].name;
    out->about[0] = '\0';
    if (calls[i].about == ABOUT_FD)
        describe_fd(pid, arguments[calls[i].argument], out->about, sizeof out->about);
    if (calls[i].about == ABOUT_PATH) {
        n = memory_file_read_some(memory, arguments[calls[i].argument], out->about, sizeof out->about - 1);
        out->about[n] = '\0';
    }
    read_times(pid, thread, out);
    return read_call(pid, thread, &later, again) && later == number && !memcmp(again, arguments, sizeof again);
}
