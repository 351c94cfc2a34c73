/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that fires given probes given counts: the target of tool tests, in place of a VM.
 *   emitter [-c] [-r ROUNDS] [-d DELAY_US] [-e] [-u FILE] [-w FILE] [-s SECONDS] [-x PROGRAM] PROBE=COUNT[|ARG]... ...
 * Each round fires every PROBE in turn, COUNT times. An ARG replaces the argument of its
 * position (an empty one does not); `%d` in it becomes the number of the firing, from 0.
 * Without, arguments look like a VM's. -d sleeps after each firing, -w waits for FILE to
 * exist before the first, -s sleeps after the last. Prints a line a probe: its name, how
 * often its guard was on and how often off. -x runs PROGRAM in its own place at the end. -e waits
 * until somebody looks at every PROBE, and its trap stands in the code, a minute at most.
 * -c moves to another CPU for each firing, where it may run on several.
 * -u goes through rounds for as long as somebody looks at the first PROBE, a minute at most, and makes FILE after the
 * first of them; then come those of -r.
 * In place of a PROBE, +FILE makes FILE, and @FILE waits for FILE to exist.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "usdt.h"

enum { MAX_ARGS = 12, MAX_TEXT = 400, MAX_SPECS = 128 };

struct probe {
    const char *name;
    int nargs;
    const char *types[MAX_ARGS];
    const char *units[MAX_ARGS];
    bool (*fire)(const int64_t *v);
    bool (*is_on)(void);
};

struct spec {
    const struct probe *probe; /* NULL: a file is made, or waited for */
    const char *makes, *awaits;
    long count, number, on, off;
    char *args[MAX_ARGS];
    char text[MAX_ARGS][MAX_TEXT];
};

#define V(p, i) (probe_arg_##p##_##i)(intptr_t)v[i]
#define VALUES_1(p) V(p, 0)
#define VALUES_2(p) VALUES_1(p), V(p, 1)
#define VALUES_3(p) VALUES_2(p), V(p, 2)
#define VALUES_4(p) VALUES_3(p), V(p, 3)
#define VALUES_5(p) VALUES_4(p), V(p, 4)
#define VALUES_6(p) VALUES_5(p), V(p, 5)
#define VALUES_7(p) VALUES_6(p), V(p, 6)
#define VALUES_8(p) VALUES_7(p), V(p, 7)
#define VALUES_9(p) VALUES_8(p), V(p, 8)
#define VALUES_10(p) VALUES_9(p), V(p, 9)
#define VALUES_11(p) VALUES_10(p), V(p, 10)
#define VALUES_12(p) VALUES_11(p), V(p, 11)

#define PROBE(probe, family, nargs, watch, text)                                                          \
    static PROBE_COLD __attribute__((cold)) void probe_##probe(const int64_t *v)                   \
    {                                                                                              \
        (void)v;                                                                                   \
        PROBE_FIRE(probe, VALUES_##nargs(probe));                                                  \
    }                                                                                              \
    static bool fire_##probe(const int64_t *v)                                                     \
    {                                                                                              \
        if (!PROBE_ON(probe))                                                                      \
            return false;                                                                          \
        probe_##probe(v);                                                                          \
        return true;                                                                               \
    }                                                                                              \
    static bool is_on_##probe(void) { return PROBE_ON(probe); }
#include "probes.def"

static struct probe probes[] = {
#define PROBE(probe, family, nargs, watch, text) {#probe, nargs, {0}, {0}, fire_##probe, is_on_##probe},
#include "probes.def"
};
enum { NPROBES = sizeof probes / sizeof *probes };

static struct probe *find_probe(const char *name, size_t len)
{
    for (int i = 0; i < NPROBES; i++)
        if (!strncmp(probes[i].name, name, len) && !probes[i].name[len])
            return &probes[i];
    return NULL;
}

static void set_arg(const char *name, int index, const char *type, const char *unit)
{
    struct probe *p = find_probe(name, strlen(name));

    if (p) {
        p->types[index] = type;
        p->units[index] = unit;
    }
}

static void fill_types(void)
{
#define ARG(probe, index, arg, type, unit) set_arg(#probe, index, #type, #unit);
#include "probes.def"
}

/* The text of an argument: as given, or what a VM would print for its unit. */
static const char *text_of(struct spec *s, int i)
{
    static const struct {
        const char *unit, *text;
    } defaults[] = {{"pid", "<0.1%d.0>"}, {"name", "<0.1%d.0>"},       {"mfa", "lists:map/2"},
                    {"node", "a@host"},   {"port", "#Port<0.1%d>"}, {"term", "normal"}, {"caller", "undefined"},
                    {"module", "lists"}};
    const char *from = s->args[i] && *s->args[i] ? s->args[i] : NULL;

    for (size_t k = 0; !from && k < sizeof defaults / sizeof *defaults; k++)
        if (!strcmp(defaults[k].unit, s->probe->units[i]))
            from = defaults[k].text;
    if (!from)
        from = strcmp(s->probe->types[i], "STR") ? "%d" : "text";

    const char *mark = strstr(from, "%d");

    if (!mark)
        return from;
    snprintf(s->text[i], MAX_TEXT, "%.*s%ld%s", (int)(mark - from), from, s->number, mark + 2);
    return s->text[i];
}

static void fire_once(struct spec *s)
{
    int64_t v[MAX_ARGS] = {0};

    for (int i = 0; i < s->probe->nargs; i++) {
        const char *text = text_of(s, i);

        v[i] = strcmp(s->probe->types[i], "STR") ? strtoll(text, NULL, 0) : (intptr_t)text;
    }
    if (s->probe->fire(v))
        s->on++;
    else
        s->off++;
    s->number++;
}

static int parse_spec(struct spec *s, char *word)
{
    char *eq = strchr(word, '=');

    s->makes = *word == '+' ? word + 1 : NULL;
    s->awaits = *word == '@' ? word + 1 : NULL;
    if (s->makes || s->awaits)
        return 0;
    if (!eq || !(s->probe = find_probe(word, (size_t)(eq - word)))) {
        fprintf(stderr, "emitter: no such probe: %s\n", word);
        return -1;
    }
    s->count = strtol(eq + 1, &word, 10);
    for (int i = 0; i < MAX_ARGS && *word == '|'; i++) {
        size_t len = strcspn(++word, "|");

        s->args[i] = strndup(word, len);
        word += len;
    }
    return 0;
}

/* The program's code in memory, and where it begins in the program's file. */
struct code {
    uintptr_t begin, end;
    off_t offset;
};

static struct code find_code(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    struct code code = {0, 0, 0}, each;
    char line[4096];

    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %*s %lx", &each.begin, &each.end, &each.offset) == 3 &&
            (uintptr_t)find_code >= each.begin && (uintptr_t)find_code < each.end)
            code = each;
    if (maps)
        fclose(maps);
    return code;
}

/* Bytes of it that are not as in the file. */
static int count_traps(void)
{
    struct code code = find_code();
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), traps = 0;
    char bytes[65536];

    for (ssize_t got = 1; got > 0 && code.begin < code.end; code.begin += (size_t)got, code.offset += got) {
        size_t left = code.end - code.begin;

        got = pread(file, bytes, left < sizeof bytes ? left : sizeof bytes, code.offset);
        for (ssize_t i = 0; i < got; i++)
            traps += ((const volatile char *)code.begin)[i] != bytes[i];
    }
    close(file);
    return traps;
}

static int count_probes(const struct spec *specs, int n)
{
    int probes = 0;

    for (int i = 0; i < n; i++) {
        int first = 0;

        while (specs[first].probe != specs[i].probe)
            first++;
        probes += specs[i].probe && first == i;
    }
    return probes;
}

/* The kernel raises a semaphore first, and puts the trap there then: each probe has one site here. */
static void wait_until_on(const struct spec *specs, int n)
{
    int left = 60 * 200, probes = count_probes(specs, n);

    for (int i = 0; i < n; i++)
        for (; specs[i].probe && !specs[i].probe->is_on() && left; left--)
            usleep(5000);
    for (; count_traps() < probes && left; left--)
        usleep(5000);
}

static void move_to_another_cpu(const cpu_set_t *allowed)
{
    static int cpu;
    cpu_set_t one;

    do
        cpu = (cpu + 1) % CPU_SETSIZE;
    while (!CPU_ISSET(cpu, allowed));
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static void make_file(const char *name)
{
    close(open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

static void wait_for_file(const char *name)
{
    while (access(name, F_OK))
        usleep(5000);
}

static void fire_round(struct spec *specs, int n, long delay_us, const cpu_set_t *cpus)
{
    for (int i = 0; i < n; i++) {
        if (specs[i].makes)
            make_file(specs[i].makes);
        if (specs[i].awaits)
            wait_for_file(specs[i].awaits);
        for (long k = 0; k < specs[i].count; k++) {
            if (cpus)
                move_to_another_cpu(cpus);
            fire_once(&specs[i]);
            if (delay_us)
                usleep((useconds_t)delay_us);
        }
    }
}

static void fire_while_on(struct spec *specs, int n, long delay_us, const cpu_set_t *cpus, const char *file)
{
    time_t end = time(NULL) + 60;

    while (specs->probe->is_on() && time(NULL) < end) {
        fire_round(specs, n, delay_us, cpus);
        make_file(file);
    }
}

int main(int argc, char **argv)
{
    static struct spec specs[MAX_SPECS];
    long rounds = 1, delay_us = 0, linger_s = 0;
    const char *wait_for = NULL, *next = NULL, *rounds_file = NULL;
    cpu_set_t allowed, *cpus = NULL;
    bool wait_on = false;
    int opt, n = 0;

    fill_types();
    while ((opt = getopt(argc, argv, "cer:d:u:w:s:x:")) != -1) {
        switch (opt) {
        case 'c':
            sched_getaffinity(0, sizeof allowed, &allowed);
            cpus = &allowed;
            break;
        case 'e': wait_on = true; break;
        case 'r': rounds = atol(optarg); break;
        case 'd': delay_us = atol(optarg); break;
        case 'u': rounds_file = optarg; break;
        case 'w': wait_for = optarg; break;
        case 's': linger_s = atol(optarg); break;
        case 'x': next = optarg; break;
        default: return 2;
        }
    }
    for (; optind < argc && n < MAX_SPECS; optind++, n++)
        if (parse_spec(&specs[n], argv[optind]))
            return 2;
    if (wait_for)
        wait_for_file(wait_for);
    if (wait_on)
        wait_until_on(specs, n);
    if (rounds_file)
        fire_while_on(specs, n, delay_us, cpus, rounds_file);
    for (long r = 0; r < rounds; r++)
        fire_round(specs, n, delay_us, cpus);
    for (int i = 0; i < n; i++)
        if (specs[i].probe)
            printf("%s %ld %ld\n", specs[i].probe->name, specs[i].on, specs[i].off);
    fflush(stdout);
    sleep((unsigned)linger_s);
    return next ? execl(next, next, (char *)NULL) : 0;
}
