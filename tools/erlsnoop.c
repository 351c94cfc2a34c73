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
#include "common/options.h"
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
    printf("\nerlsnoop help COMMAND has the options of each, erlsnoop --version the version.\n");
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

static bool is_command(const char *word)
{
    for (int i = 0; i < NCOMMANDS; i++)
        if (!strcmp(word, commands[i].name))
            return true;
    return false;
}

/* What the word is the beginning of, if of one command alone. */
static const char *complete(const char *word)
{
    const char *meant = NULL;

    for (int i = 0; strlen(word) > 2 && i < NCOMMANDS; i++) {
        if (strncmp(word, commands[i].name, strlen(word)))
            continue;
        if (meant)
            return NULL;
        meant = commands[i].name;
    }
    return meant;
}

/* The subcommand that was meant, or NULL. */
static const char *guess(const char *word)
{
    static const char *const own[] = {"help", "--version"};
    unsigned best = UINT_MAX;
    const char *meant = NULL;

    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++)
        if (options_has_word(alike[i].words, word))
            return alike[i].name;
    if (options_has_word("version -V -v ver", word))
        return own[1];
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (nearest_is(word, own[i], &best))
            meant = own[i];
    for (int i = 0; i < NCOMMANDS; i++)
        if (nearest_is(word, commands[i].name, &best))
            meant = commands[i].name;
    return meant ? meant : complete(word);
}

static int complain(const char *word)
{
    const char *meant = guess(word);

    if (!meant && *word == '-')
        return fail(FAIL_USAGE, "no command stands beside '%s'; see erlsnoop --help", word);
    if (meant)
        return fail(FAIL_USAGE, "no command '%s'; did you mean '%s'? erlsnoop --help lists all", word, meant);
    return fail(FAIL_USAGE, "no command '%s'; see erlsnoop --help", word);
}

static bool is_help(const char *word)
{
    return !strcmp(word, "-h") || !strcmp(word, "--help") || !strcmp(word, "help");
}

/*
 * Options and numbers may stand before the command: the place of the first word that is one, and not the value of the
 * option before it; else of the first at all. 1: it stands where it should, or there is none.
 */
static int find_command(int argc, char **argv)
{
    int first = 0;

    if (argv[1][0] != '-' && argv[1][strspn(argv[1], "0123456789.")])
        return 1;
    for (int i = 2; i < argc && strcmp(argv[i], "--"); i++) {
        if (!is_command(argv[i]))
            continue;
        if (argv[i - 1][0] != '-' || options_is_flag(argv[i - 1]))
            return i;
        first = first ? first : i;
    }
    return first ? first : 1;
}

/* Moves the command before what stands before it. */
static void bring_forward(char **argv, int at)
{
    char *command = argv[at];

    memmove(argv + 2, argv + 1, (size_t)(at - 1) * sizeof *argv);
    argv[1] = command;
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
    if (!asks_help)
        bring_forward(argv, find_command(argc, argv));
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
