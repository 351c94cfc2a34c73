/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatch only. Invariant: cmds.def is the only list of subcommands. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "common/fail.h"
#include "common/nearest.h"
#include "probe/attach.h"

static const struct {
    const char *name, *text;
    int (*run)(int argc, char **argv);
} commands[] = {
#define CMD(name, text) {#name, text, cmd_##name},
#include "cmd/cmds.def"
};

static const struct {
    const char *words, *name;
} alike[] = {
#define ALIKE(words, name) {words, #name},
#include "cmd/cmds.def"
};

enum { NCOMMANDS = sizeof commands / sizeof *commands, NO_COMMAND = INT_MIN };

static void print_help(void)
{
    printf("Usage: erlsnoop COMMAND [options]\nWatches Erlang virtual machines through eBPF.\n\n");
    for (int i = 0; i < NCOMMANDS; i++)
        printf("  %-9s %s\n", commands[i].name, commands[i].text);
    printf("\nerlsnoop help COMMAND tells the options of each, erlsnoop --version the version.\n");
}

static void print_version(void)
{
    static const char left_out[] = LEFT_OUT;

    printf("erlsnoop " VERSION "\n%s%s%s", *left_out ? "Built without: " : "", left_out, *left_out ? "\n" : "");
}

static int run_command(int argc, char **argv)
{
    for (int i = 0; i < NCOMMANDS; i++)
        if (!strcmp(argv[0], commands[i].name))
            return commands[i].run(argc, argv);
    return NO_COMMAND;
}

/* Whether the word is one of those, which have spaces between. */
static bool is_one_of(const char *word, const char *words)
{
    for (size_t length; *words; words += length + strspn(words + length, " ")) {
        length = strcspn(words, " ");
        if (strlen(word) == length && !strncmp(word, words, length))
            return true;
    }
    return false;
}

/* The subcommand that was meant, or NULL. */
static const char *guess(const char *word)
{
    unsigned best = UINT_MAX;
    const char *meant = NULL;

    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++)
        if (is_one_of(word, alike[i].words))
            return alike[i].name;
    for (int i = 0; i < NCOMMANDS; i++)
        if (nearest_is(word, commands[i].name, &best))
            meant = commands[i].name;
    return meant;
}

static int complain(const char *word)
{
    const char *meant = guess(word);

    if (*word == '-')
        return fail(FAIL_USAGE, "the command comes first: erlsnoop COMMAND %s; see erlsnoop --help", word);
    if (meant)
        return fail(FAIL_USAGE, "no command '%s'; did you mean '%s'? erlsnoop --help tells all", word, meant);
    return fail(FAIL_USAGE, "no command '%s'; see erlsnoop --help", word);
}

static bool is_help(const char *word)
{
    return !strcmp(word, "-h") || !strcmp(word, "--help") || !strcmp(word, "help");
}

static int run(int argc, char **argv)
{
    char *help[] = {argc > 2 ? argv[2] : NULL, "--help", NULL};
    bool asks_help = argc > 1 && is_help(argv[1]);
    int status;

    if (argc < 2)
        return fail(FAIL_USAGE, "no command; see erlsnoop --help");
    if ((asks_help && argc > 3) || (!strcmp(argv[1], "--version") && argc > 2))
        return fail(FAIL_USAGE, "unexpected argument '%s'; see erlsnoop --help", argv[argc - 1]);
    if (asks_help && (argc == 2 || is_help(argv[2]))) {
        print_help();
        return 0;
    }
    if (!strcmp(argv[1], "--version")) {
        print_version();
        return 0;
    }
    status = asks_help ? run_command(2, help) : run_command(argc - 1, argv + 1);
    return status == NO_COMMAND ? complain(asks_help ? argv[2] : argv[1]) : status;
}

/* A standard descriptor that is closed would be the number of the next file opened, and printed to. */
static void hold_standard_files(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

/*
 * What a VM needs for a moment while it is looked at goes back to the kernel, whatever the order in which it is freed:
 * else the most that there ever was would stay. Source: mallopt(3), on the dynamic threshold.
 */
static void give_memory_back(void)
{
    mallopt(M_MMAP_THRESHOLD, 64 << 10);
    mallopt(M_ARENA_MAX, 1);
}

int main(int argc, char **argv)
{
    int status;

    give_memory_back();
    hold_standard_files();
    signal(SIGPIPE, SIG_IGN);
    attach_hush();
    status = run(argc, argv);
    if (status < 0 && !fail_said())
        fail(status, "%s failed: %s", argv[1], strerror(-status));
    errno = 0;
    if (fflush(stdout) && errno != EPIPE && !status)
        status = fail(-errno, "cannot write results: %s", strerror(errno));
    return status >= 0 ? status : status == FAIL_USAGE ? 2 : 1;
}
