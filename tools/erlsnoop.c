/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatch only. Invariant: cmds.def is the only list of subcommands. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe/attach.h"
#include "cmd/cmd.h"
#include "common/fail.h"

static const struct {
    const char *name, *text;
    int (*run)(int argc, char **argv);
} commands[] = {
#define CMD(name, text) {#name, text, cmd_##name},
#include "cmd/cmds.def"
};

enum { NCOMMANDS = sizeof commands / sizeof *commands };

static void print_help(void)
{
    printf("Usage: erlsnoop COMMAND [options]\nWatches Erlang virtual machines through eBPF.\n\n");
    for (int i = 0; i < NCOMMANDS; i++)
        printf("  %-9s %s\n", commands[i].name, commands[i].text);
    printf("\nerlsnoop COMMAND -h tells the options of each, erlsnoop --version the version.\n");
}

static void print_version(void)
{
    static const char left_out[] = LEFT_OUT;

    printf("erlsnoop " VERSION "\n%s%s%s", *left_out ? "Built without: " : "", left_out, *left_out ? "\n" : "");
}

static int run(int argc, char **argv)
{
    if (argc < 2)
        return fail(FAIL_USAGE, "no command; see erlsnoop --help");
    if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
        print_help();
        return 0;
    }
    if (!strcmp(argv[1], "--version")) {
        print_version();
        return 0;
    }
    for (int i = 0; i < NCOMMANDS; i++)
        if (!strcmp(argv[1], commands[i].name))
            return commands[i].run(argc - 1, argv + 1);
    return fail(FAIL_USAGE, "no command '%s'; see erlsnoop --help", argv[1]);
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
    if (status && !fail_said())
        fail(status, "%s failed%s%s", argv[1], status < 0 ? ": " : "", status < 0 ? strerror(-status) : "");
    errno = 0;
    if (fflush(stdout) && errno != EPIPE && !status)
        status = fail(-errno, "cannot write results: %s", strerror(errno));
    return status == 0 ? 0 : status == FAIL_USAGE ? 2 : 1;
}
