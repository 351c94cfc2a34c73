/* SPDX-License-Identifier: Apache-2.0 */
#include "erlvm_needed.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const char *test; /* that runs; NULL: none yet, fixtures do */
    bool by_fixture;
    char refusal[512];
} needed;

/* libcheck calls it in a test's process at its start, and tells nobody else the test's name. The linker puts ours
 * before it (--wrap). */
void __real_tcase_fn_start(const char *name, const char *file, int line);
void __wrap_tcase_fn_start(const char *name, const char *file, int line);

void __wrap_tcase_fn_start(const char *name, const char *file, int line)
{
    needed.test = name;
    if (needed.by_fixture)
        erlvm_needed();
    __real_tcase_fn_start(name, file, line);
}

void erlvm_ask(void)
{
    static const char refused[] = "erlvm: the library in ";
    const char *build = getenv("BUILD");
    char command[600], said[512];
    FILE *vm;

    snprintf(command, sizeof command, "%s/erlvm -quick -s erlang halt 2>&1 </dev/null", build ? build : "build");
    vm = popen(command, "r");
    if (!vm)
        return;
    if (fgets(said, sizeof said, vm) && !strncmp(said, refused, sizeof refused - 1))
        snprintf(needed.refusal, sizeof needed.refusal, "%.*s", (int)strcspn(said + sizeof "erlvm:", ":\n"),
                 said + sizeof "erlvm:");
    pclose(vm);
}

const char *erlvm_refusal(void)
{
    return needed.refusal;
}

void erlvm_needed(void)
{
    needed.by_fixture = !needed.test;
    if (!needed.refusal[0] || needed.by_fixture)
        return;
    printf("SKIP %s: %s\n", needed.test, needed.refusal);
    fflush(stdout);
    exit(EXIT_SUCCESS); /* which libcheck takes for a test that has passed */
}
