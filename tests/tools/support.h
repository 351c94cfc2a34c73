/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests of tools share: running a shell command in a fresh folder that is its current one, with $ERLSNOOP,
 * $EMITTER, $ERLVM, $BEAMS (compiled probe_target) and $SOURCE (the top of the tree) set. `erlc` compiles what it has compiled
 * before, in whatever test, by taking the .beam from the build's folder. In it wait:
 *   attached PID [N]  until that erlsnoop holds links to its probes, more than N of them, and takes no more
 *   turns PID N     until that process has waited for something N times more; erlsnoop -a looks for new VMs each time
 *   let_go PID PROBE  until that erlsnoop -a has let go of all VMs that have ended by now; it looks at PROBE
 *   runs PID NAME   until the process runs the executable of that name
 *   await FILE      until there is something in the file; for 20 s at most (times CK_TIMEOUT_MULTIPLIER), then
 *                   the script ends with a line that says so
 *   comes FILE      until the file is there, in the same way
 *   terminal N CMD  for the command, whose standard output is a terminal of N columns (0: of no known size) and goes on to ours
 */
#ifndef TESTS_TOOLS_SUPPORT_H
#define TESTS_TOOLS_SUPPORT_H

#include <check.h>
#include <stdbool.h>

#include "../bpf.h"

struct support_run {
    int status; /* exit status, or 128 + signal */
    char out[1 << 18], err[1 << 14];
};

/* Runs a bash script; the result is good until the next run. */
const struct support_run *support_run(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The pid of the machine's own Erlang, up, in a group of its own that the caller ends. */
int support_start_erl(void);
/* The number of member `key` in the first JSON line that holds `mark`; -1 when there is none. */
long support_number(const char *json, const char *mark, const char *key);
/*
 * Runs `erlsnoop COMMAND --events`, in each form of results, on an emitter that fires FIRES (bash words; "$evil" in them holds
 * control characters, bad UTF-8 and quotes), and asserts that none of it comes out raw. `out` has the table's lines.
 */
const struct support_run *support_hostile(const char *command, const char *fires);
/*
 * Interrupts `erlsnoop COMMAND` while an emitter with ARGS fires on and on, and asserts that firings before that, and
 * none after it, are told by member `key` of the JSON line that holds `mark`, and that the probe is off afterwards.
 */
void support_interrupt(const char *command, const char *args, const char *mark, const char *key);
/* Runs `erlsnoop COMMAND --json -a` from before the first firing of two emitters with these arguments; keeps the lines that match. */
const struct support_run *support_two_vms(const char *command, const char *args1, const char *args2, const char *lines);
/* The sum of member `key` in all JSON lines that hold `mark`. */
long support_sum(const char *json, const char *mark, const char *key);
/*
 * Rows of tables with room for so many keys, in the lines that hold `mark`, add up to all there were, each once: those
 * without room are one row. They are told as lost, too; by a machine so slow that the table was read before it was full,
 * fewer or none are.
 */
void support_told_or_lost(const struct support_run *r, const char *mark, long all, long room);
/* How many lines hold `mark`. */
int support_lines(const char *text, const char *mark);
/* Whether both stand in the text, the one before the other. */
bool support_in_order(const char *text, const char *first, const char *then);
/* The longest line, in bytes. */
int support_width(const char *text);

/*
 * Functions of a module of Erlang. stands(Pid) returns when the process does not go on, each time that it is looked at;
 * runs(Pid, {M, F, A}) when it runs this function or waits in it; full(Socket) when the socket takes nothing more.
 */
#define SUPPORT_ERL_STANDS                                                                                                 \
    "stands(P) -> stands(P, 3).\n"                                                                                         \
    "stands(_, 0) -> ok;\n"                                                                                                \
    "stands(P, N) ->\n"                                                                                                    \
    "    receive after 20 -> ok end, {_, S} = process_info(P, status),\n"                                                  \
    "    stands(P, case S =:= waiting orelse S =:= suspended of true -> N - 1; false -> 3 end).\n"
#define SUPPORT_ERL_RUNS                                                                                                   \
    "runs(P, F) ->\n"                                                                                                      \
    "    {_, At} = process_info(P, current_function), At =:= F orelse begin receive after 5 -> ok end, runs(P, F) end.\n"
#define SUPPORT_ERL_FULL                                                                                                   \
    "full(S) ->\n"                                                                                                         \
    "    {ok, [{_, N}]} = inet:getstat(S, [send_pend]), N > 0 orelse begin receive after 5 -> ok end, full(S) end.\n"

enum {
    SUPPORT_NPROBES = 0 /* that the emitter has: all but ranges */
#define PROBE(probe, family, nargs, watch, text) +1
#include "../../vm/probes.def"
};

/* Whether the machine's emulator exports its functions, as those up to OTP 28 do. */
bool support_emulator_exports(void);
#define SUPPORT_EXPORTS()                                                                          \
    do {                                                                                           \
        if (!support_emulator_exports()) {                                                         \
            printf("SKIP %s: the emulator of this Erlang does not export its functions\n", __func__); \
            return;                                                                                \
        }                                                                                          \
    } while (0)

#define SUPPORT_BPF()                                                                              \
    do {                                                                                           \
        if (!bpf_allowed(__func__))                                                                \
            return;                                                                                \
    } while (0)

#endif
