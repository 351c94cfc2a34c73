/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every script of bpftrace/ and every one-liner of ONELINERS.md, attached to a target that fires a known number of
 * probes: each must print the figure expected. One-liners are read from the file; one without an expectation fails.
 */
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "support.h"

enum { GROUP = 6, MAX_ONELINERS = 64, ROUNDS = 7 };

/* What the target fires in each of its ROUNDS. */
#define FIRES \
    "'process__spawn=3|<0.1%d.0>|a:f/1' 'process__spawn=1|<0.9%d.0>|b:g/2' " \
    "'process__exit=2|<0.1%d.0>|normal' 'process__exit=1|<0.9%d.0>|killed' " \
    "'process__exit_signal=1|<0.5.0>|<0.6.0>|boom' " \
    "'process__exit_signal__remote=1|<0.5.0>|b@h|<9.8.0>|noconnection' 'message__send=5|<0.5.0>|<0.6.0>|8|0|0|0' " \
    "'message__send=3|<0.7.0>|<0.8.0>|40|17|1|2' 'message__queued=2|<0.6.0>|8|%d|0|0|0' " \
    "'message__send__remote=1|<0.5.0>|b@h|reg|12|17|3|4' 'message__receive=1|<0.6.0>|8|3|0|0|0' " \
    "'message__receive=1|<0.8.0>|40|2|17|1|2' 'process__scheduled=1|<0.6.0>|c:h/3' " \
    "'process__hibernate=1|<0.6.0>|h:b/1' 'gc_minor__start=1|<0.6.0>|50' 'gc_minor__end=1|<0.6.0>|100' " \
    "'gc_major__start=1|<0.6.0>|60' 'gc_major__end=1|<0.6.0>|1000' 'copy__struct=2|7' " \
    "'copy__object=1|<0.6.0>|9' 'process__heap_grow=1|<0.6.0>|233|%d00' " \
    "'process__heap_shrink=1|<0.6.0>|500|400' 'bif__entry=2|<0.6.0>|erlang:md5/1' " \
    "'bif__return=1|<0.6.0>|erlang:md5/1' 'global__function__entry=4|<0.6.0>|lists:map/2|3' " \
    "'local__function__entry=1|<0.6.0>|m:l/1|%d' 'function__return=1|<0.6.0>|lists:map/2|3' " \
    "'process__unscheduled=1|<0.6.0>' " \
    "'efile_drv__entry=3|1|%d|tag|12|/a|/b|7|-8|9|1000000000000|#Port<0.1>|<0.6.0>' " \
    "'aio_pool__add=1|#Port<0.1>|%d' 'aio_pool__get=1|#Port<0.1>|%d' 'efile_drv__int_entry=3|1|%d|12' " \
    "'efile_drv__int_return=3|1|%d|12' 'efile_drv__return=3|1|%d|tag|12|0|2' " \
    "'efile_drv__return=1|1|99|tag|12|1|0' 'message__send=1|<0.6.0>|<0.5.0>|8|0|0|0' " \
    "'message__receive=1|<0.5.0>|8|0|0|0|0' 'user_trace__s1=1|told' " \
    "'user_trace__i4s4=1|<0.6.0>|tag|%d|2|-3|4|t1|t2|t3|t4' 'trace=1|<0.6.0>|send|[]|message|<0.7.0>' " \
    "'port__open=1|<0.6.0>|cat|#Port<0.5>' 'port__command=2|<0.6.0>|#Port<0.5>|cat|command' " \
    "'port__control=1|<0.6.0>|#Port<0.5>|cat|7' 'port__connect=1|<0.6.0>|#Port<0.5>|cat|<0.7.0>' " \
    "'driver__output=2|<0.6.0>|#Port<0.5>|cat|23' 'port__busy=1|#Port<0.5>' 'port__not_busy=1|#Port<0.5>' " \
    "'port__exit=1|<0.6.0>|#Port<0.5>|cat|normal' 'nif__entry=1|<0.6.0>|n:f/1' 'nif__return=2|<0.6.0>|n:f/1' " \
    "'port__open=1|<0.6.0>|tcp_inet|#Port<0.9>' 'port__control=3|<0.6.0>|#Port<0.9>|tcp_inet|0x03f1a303' " \
    "'driver__outputv=2|<0.6.0>|#Port<0.9>|tcp_inet|100' 'driver__return=2|tcp_inet|#Port<0.9>|outputv|2000' " \
    "'driver__init=1|d|3|2|1' 'driver__start=1|<0.6.0>|d|#Port<0.7>' " \
    "'driver__control=1|<0.6.0>|#Port<0.7>|d|5|100' 'driver__call=1|<0.6.0>|#Port<0.7>|d|6|10' " \
    "'driver__ready_input=1|<0.6.0>|#Port<0.7>|d' 'driver__ready_output=1|<0.6.0>|#Port<0.7>|d' " \
    "'driver__timeout=1|<0.6.0>|#Port<0.7>|d' 'driver__ready_async=1|<0.6.0>|#Port<0.7>|d' " \
    "'driver__process_exit=1|<0.6.0>|#Port<0.7>|d' 'driver__flush=1|<0.6.0>|#Port<0.7>|d' " \
    "'driver__stop=1|<0.6.0>|d|#Port<0.7>' 'driver__stop_select=1|d' 'driver__finish=1|d' " \
    "'dist__monitor=1|a@h|nodeup|b@h|visible|[]' 'dist__outputv=2|a@h|#Port<0.9>|b@h|100' " \
    "'dist__output=1|a@h|#Port<0.9>|b@h|10' 'dist__input=1|a@h|#Port<0.9>|b@h|50' " \
    "'dist__port_busy=1|a@h|#Port<0.9>|b@h|<0.6.0>' 'dist__port_not_busy=1|a@h|#Port<0.9>|b@h' " \
    "'process__port_unblocked=1|<0.6.0>|#Port<0.9>' 'ets__end=2|<0.6.0>|sessions|1|1500' " \
    "'ets__end=1|<0.6.0>|sessions|5|90000' 'ets__scan=1|<0.6.0>|sessions|1000|3' 'ets__wait=1|<0.6.0>|sessions|700' " \
    "'timer__set=3|<0.6.0>|room|5000' 'timer__cancel=2|<0.6.0>|-1' 'timer__cancel=1|<0.6.0>|400' " \
    "'timer__fire=2|undefined|700|room' 'timer__drop=1|<0.6.0>|900'"

/*
 * How a figure is taken from what was printed: lines that match (LINES), numbers of histograms in all (HIST), numbers of the
 * second column, or first when there is one only, in all (SUM). With `>` behind, the figure is the least that may be.
 */
struct expectation {
    const char *title, *how, *pattern;
    long figure;
};

static const struct expectation oneliners[] = {
    {"Births of processes, by initial call", "LINES", "^@\\[(a:f/1\\]: 21|b:g/2\\]: 7)$", 2},
    {"Deaths, by reason", "LINES", "^@\\[(normal\\]: 14|killed\\]: 7)$", 2},
    {"Who ends abnormally, as it happens", "LINES", "^<0\\.9[0-6]\\.0> killed$", ROUNDS},
    {"Births a second", "SUM", "^[0-9]+$", 4 * ROUNDS},
    {"Lifetimes in microseconds", "HIST", "", 3 * ROUNDS},
    {"Sizes of messages sent, in words", "LINES", "^\\[(8, 16\\) +42|32, 64\\) +21) ", 2},
    {"Who sends the most messages", "LINES", "^@\\[<0\\.(5\\.0>\\]: 35|7\\.0>\\]: 21)$", 2},
    {"The busiest pairs of sender and receiver", "LINES", "^@\\[<0\\.(5\\.0>, <0.6.0>\\]: 35|7\\.0>, <0.8.0>\\]: 21)$", 2},
    {"Lengths of mailboxes as messages arrive", "HIST", "", 2 * ROUNDS},
    {"The longest mailbox of each receiver", "LINES", "^@\\[<0\\.6\\.0>\\]: 13$", 1},
    {"Where processes resume when they are scheduled", "LINES", "^@\\[c:h/3\\]: 7$", 1},
    {"Time slices in microseconds", "HIST", "", ROUNDS},
    {"Pauses for young and full collections, in microseconds", "HIST", "", 2 * ROUNDS},
    {"Words that collections reclaim, by process", "LINES", "^@\\[<0\\.6\\.0>\\]: 7700$", 1},
    {"Heaps that grow, to how many words", "LINES", "^@\\[<0\\.6\\.0>\\]: 600$", 1},
    {"Built-in functions called, by name", "LINES", "^@\\[erlang:md5/1\\]: 14$", 1},
    {"Time in each built-in function, in nanoseconds", "LINES", "^@ns\\[erlang:md5/1\\]: [1-9][0-9]*$", 1},
    {"External calls, by function", "LINES", "^@\\[lists:map/2\\]: 28$", 1},
    {"Depth of the stack at calls within a module", "HIST", "", ROUNDS},
    {"File operations, by command number", "LINES", "^@\\[12\\]: 21$", 1},
    {"File operations that fail, with their errno", "LINES", "^@\\[12, 2\\]: 21$", 1},
    {"Jobs waiting for the async threads", "HIST", "", ROUNDS},
    {"Texts that Erlang code tells by user_trace_s1 of the module dyntrace, as they come", "LINES", "^told$", ROUNDS},
    {"First integers that Erlang code tells by p of the module dyntrace (of pn, the probe is user_trace__n and a number), in all",
     "LINES", "^@\\[<0\\.6\\.0>, tag\\]: 21$", 1},
    {"What a trace with the tracer {dyntrace, State} tells, as it happens", "LINES",
     "^<0\\.6\\.0> send message <0\\.7\\.0>$", ROUNDS},
};

/* A title may be followed by the script's argument; those of one title stand together. */
static const struct expectation scripts[] = {
    {"aio-queue.bt", "LINES", "^Largest async work queue size: 6$", 1},
    {"dist.bt", "LINES", "^(nodeup b@h visible \\[\\]|busy b@h: <0[.]6[.]0> is suspended|not busy b@h)$", 3 * ROUNDS},
    {"dist.bt", "LINES", "^@(out\\[b@h\\]: 21|out_bytes\\[b@h\\]: 1470|in\\[b@h\\]: 7|in_bytes\\[b@h\\]: 350)$", 4},
    {"dist.bt", "LINES", "^@suspends\\[b@h\\]: 7$", 1},
    {"dist.bt", "LINES", "^<0[.]6[.]0> goes on after [0-9]+ us$", ROUNDS},
    {"dist.bt", "HIST", "", ROUNDS},
    {"driver1.bt", "LINES", "^driver (init +d version 3[.]2 flags 0x1|(finish|stop_select) +d)$", 3 * ROUNDS},
    {"driver1.bt", "LINES", "^driver [a-z_]+ +d #Port<0[.]7> of <0[.]6[.]0>( command 5 100 bytes| command 6 10 bytes)?$",
     10 * ROUNDS},
    {"driver1.bt", "LINES", "^driver output(v +tcp_inet #Port<0[.]9> of <0[.]6[.]0> 100| +cat #Port<0[.]5> of "
     "<0[.]6[.]0> 23) bytes$", 4 * ROUNDS},
    {"drivers.bt", "LINES", "^@(calls\\[tcp_inet, outputv\\]: 14|ports_ns\\[#Port<0[.]9>, tcp_inet\\]: 28000)$", 2},
    {"drivers.bt", "HIST", "", 2 * ROUNDS},
    {"efile.bt", "LINES", "^efile_drv enter tag=[{]1,[0-9]+[}] user tag tag [|] RENAME [(]12[)] [|] args: /a /b , 7 -8 9 "
     "1000000000000 [(]port #Port<0[.]1>[)]$", 3 * ROUNDS},
    {"efile.bt", "LINES", "^async I/O worker tag=[{]1,[0-9]+[}] [|] RENAME [(]12[)] [|] efile_drv-int_(entry|return)$",
     6 * ROUNDS},
    {"efile.bt", "LINES", "^efile_drv return tag=[{]1,[0-9]+[}] user tag tag [|] RENAME [(]12[)] [|] errno 2$", 3 * ROUNDS},
    {"efile.bt", "LINES", "^efile_drv return tag=[{]1,[0-9]+[}] user tag tag [|] RENAME [(]12[)] [|] ok$", ROUNDS},
    {"efile.bt", "LINES", "^async I/O pool  #Port<0[.]1> (add|get) [|] queue length [0-6]$", 2 * ROUNDS},
    {"efile.bt", "HIST", "", 6 * ROUNDS},
    {"efile-syscalls.bt", "LINES", "^[{]1,[0-9]+[}] RENAME [(]12[)]$", 3 * ROUNDS},
    {"ets.bt", "LINES", "^@(calls\\[sessions, (LOOKUP\\]: 14|SELECT\\]: 7)|seen\\[sessions\\]: 7000|found\\[sessions\\]: 21)$", 4},
    {"ets.bt", "HIST", "", 4 * ROUNDS},
    {"timers.bt", "LINES", "^@(set\\[<0[.]6[.]0>\\]: 21|too_late\\[<0[.]6[.]0>\\]: 14|cancelled\\[<0[.]6[.]0>\\]: 7"
     "|fired\\[room\\]: 14|ended\\[<0[.]6[.]0>\\]: 7)$", 5},
    {"timers.bt", "HIST", "", 5 * ROUNDS},
    {"function-calls.bt", "LINES", "^<0[.]6[.]0> (enter [(]global[)] lists:map/2 depth 3|enter [(]local[)]  m:l/1 depth [0-6]"
     "|return +lists:map/2 depth 3) frames$", 6 * ROUNDS},
    {"function-calls.bt", "LINES", "^<0[.]6[.]0> (BIF (enter|return) +erlang:md5/1|NIF (enter|return) +n:f/1)$", 6 * ROUNDS},
    {"function-calls.bt '<0.7.0>'", "LINES", "^<", 0},
    {"garbage-collection.bt", "LINES", "^GC (minor start <0[.]6[.]0> needs 50|major start <0[.]6[.]0> needs 60) words$",
     2 * ROUNDS},
    {"garbage-collection.bt", "LINES", "^GC (minor end   <0[.]6[.]0> reclaimed 100|major end   <0[.]6[.]0> reclaimed 1000) "
     "words in [0-9]+ us$", 2 * ROUNDS},
    {"garbage-collection.bt", "HIST", "", 2 * ROUNDS},
    {"inet.bt", "LINES", "^open  tcp_inet #Port<0[.]9> by <0[.]6[.]0>$", ROUNDS},
    {"inet.bt", "LINES", "^@(controls\\[<0[.]6[.]0>, connect\\]: 21|bytes.*: 1400)$", 2},
    {"long-bifs.bt 1", "LINES", "^(BIF: <0[.]6[.]0> - erlang:md5/1|NIF: <0[.]6[.]0> - n:f/1) - [0-9]+ nanoseconds$",
     2 * ROUNDS},
    {"long-bifs.bt 100000000000", "LINES", "nanoseconds", 0},
    {"long-calls.bt 1", "LINES", "^CALL: <0[.]6[.]0> - lists:map/2 - [0-9]+ nanoseconds$", ROUNDS},
    {"long-calls.bt 100000000000", "LINES", "nanoseconds", 0},
    {"memory1.bt", "LINES", "^(copy_struct 7|copy_object to <0[.]6[.]0> 9|heap grow   <0[.]6[.]0> 233 -> (0|[1-6]00)|heap shrink "
     "<0[.]6[.]0> 500 -> 400) words$", 5 * ROUNDS},
    {"memory1.bt", "LINES", "^@(copied_words\\[copy_struct\\]: 98|copied_words\\[copy_object\\]: 63|grown_words: 469|"
     "shrunk_words: 700)$", 4},
    {"messages.bt", "LINES", "^send    <0[.][56][.]0> -> <0[.][56][.]0> 8 words$", 6 * ROUNDS},
    {"messages.bt", "LINES", "^send    <0[.]7[.]0> -> <0[.]8[.]0> 40 words, label 17 token [{]1,2[}]$", 3 * ROUNDS},
    {"messages.bt", "LINES", "^send    <0[.]5[.]0> -> reg on b@h 12 words, label 17 token [{]3,4[}]$", ROUNDS},
    {"messages.bt", "LINES", "^queued  <0[.]6[.]0> 8 words, queue length [0-9]+$", 2 * ROUNDS},
    {"messages.bt", "LINES", "^receive (<0[.]6[.]0> 8 words, queue length 3|<0[.]5[.]0> 8 words, queue length 0|<0[.]8[.]0> 40 "
     "words, queue length 2, label 17 token [{]1,2[}])$", 3 * ROUNDS},
    {"msg-sched.bt", "HIST", "", ROUNDS},
    {"msg-sched.bt", "LINES", "^@messages: 63$", 1},
    {"nifs.bt", "LINES", "^@calls\\[n:f/1\\]: 7$", 1},
    {"nifs.bt", "HIST", "", ROUNDS},
    {"ports.bt", "LINES", "^(open|close) +#Port<0[.]5> +cat +(by <0[.]6[.]0>|of <0[.]6[.]0>: normal)$", 2 * ROUNDS},
    {"ports.bt", "LINES", "^(connect #Port<0[.]5> +cat +by <0[.]6[.]0> to <0[.]7[.]0>|busy    #Port<0[.]5>|free    #Port<0[.]5> "
     "+was busy for [0-9]+ us)$", 3 * ROUNDS},
    {"ports.bt", "HIST", "", ROUNDS},
    {"ports.bt", "LINES", "^@(commands.*, cat, command\\]: 14|bytes.*, cat\\]: 322)$", 2},
    {"ports.bt", "LINES", "^@(controls\\[#Port<0[.]9>, tcp_inet, connect\\]: 21|controls_by_number\\[#Port<0[.]5>, cat, 7\\]: 7)$",
     2},
    {"process-scheduling.bt", "LINES", "^(schedule   <0[.]6[.]0> at c:h/3 on CPU [0-9]+|unschedule <0[.]6[.]0> ran [0-9]+ ns on CPU "
     "[0-9]+|hibernate  <0[.]6[.]0> to go on at h:b/1)$", 3 * ROUNDS},
    {"process-scheduling.bt", "HIST", "", ROUNDS},
    {"rename-path.bt", "LINES", "^[{]1,[0-9]+[}] (server <0[.]6[.]0> hands RENAME [(]12[)] over, [0-9]+ us after it took the "
     "request: /a /b|thread [0-9]+ (begins its system calls|ends them), [0-9]+ us after that|the result is back at server "
     "<0[.]6[.]0>, [0-9]+ us after it was handed over: errno 2)$", 12 * ROUNDS},
    {"rename-path.bt", "LINES", "^[{]1,[0-9]+[}] (server <0[.]6[.]0> -> caller <0[.]5[.]0>, who had asked [0-9]+ us before|caller "
     "<0[.]5[.]0> has the answer [0-9]+ us after it asked)$", 2 * ROUNDS},
    {"rename-path.bt 13", "LINES", "^[{]", 0},
    {"spawn-exit.bt", "LINES", " (spawn +<0\\.|exit +<0\\.|exit signal <0\\.5\\.0> +-> <0\\.6\\.0> boom$)", 8 * ROUNDS},
    {"spawn-exit.bt", "LINES", " exit signal <0[.]5[.]0> +-> <9[.]8[.]0> on b@h noconnection$", ROUNDS},
    {"spawn-exit-counts.bt", "SUM", "^[0-9]+ +[0-9]+ +[0-9]+$", 4 * ROUNDS},
    {"spawn-exit-counts.bt", "LINES", "^@by_(mfa\\[a:f/1\\]: 21|mfa\\[b:g/2\\]: 7|reason\\[normal\\]: 14|reason\\[killed\\]: 7)$",
     4},
    {"token.bt", "LINES", " 17 +[{]1,2[}] +(send +<0[.]7[.]0> -> <0[.]8[.]0> 40 words|receive +<0[.]8[.]0> queue length 2)$",
     4 * ROUNDS},
    {"token.bt", "LINES", " 17 +[{]3,4[}] +send +<0[.]5[.]0> -> reg on b@h 12 words$", ROUNDS},
    {"token.bt", "HIST", "", ROUNDS},
    {"token.bt 18", "LINES", "(send|receive)", 0},
    {"user.bt", "LINES", "^(<0[.]6[.]0> tag tag: [0-6] 2 -3 4 't1' 't2' 't3' 't4'|text: told)$", 2 * ROUNDS},
    {"user.bt", "LINES", "^@by_tag\\[tag\\]: 7$", 1},
};

/* The same, of bpftrace_target on erlvm; who did it is a variable of the shell there. */
static const struct expectation on_erlvm[] = {
    {"Births of processes, by initial call", "LINES", "^@\\[bpftrace_target:child/0\\]: 23$", 1},
    {"Deaths, by reason", "LINES", "^@\\[boom\\]: 5$", 1},
    {"Who ends abnormally, as it happens", "LINES", " boom$", 5},
    {"Births a second", "SUM>", "^[0-9]+$", 28},
    {"Lifetimes in microseconds", "HIST>", "", 28},
    {"Sizes of messages sent, in words", "HIST>", "", 103},
    {"Who sends the most messages", "LINES", "^@\\[$SENDER\\]: 101$", 1},
    {"The busiest pairs of sender and receiver", "LINES", "^@\\[$SENDER, $RECEIVER\\]: 101$", 1},
    {"Lengths of mailboxes as messages arrive", "HIST>", "", 103},
    {"The longest mailbox of each receiver", "LINES", "^@\\[$RECEIVER\\]: 102$", 1},
    {"Where processes resume when they are scheduled", "LINES", "^@\\[bpftrace_target:child/0\\]: [0-9]+$", 1},
    {"Time slices in microseconds", "HIST>", "", 28},
    {"Pauses for young and full collections, in microseconds", "HIST>", "", 11},
    {"Words that collections reclaim, by process", "LINES", "^@\\[$COLLECTOR\\]: [1-9][0-9]*$", 1},
    {"Heaps that grow, to how many words", "LINES", "^@\\[$GROWER\\]: [1-9][0-9]{4,}$", 1},
    {"Built-in functions called, by name", "LINES", "^@\\[erlang:md5/1\\]: 3$", 1},
    {"Time in each built-in function, in nanoseconds", "LINES", "^@ns\\[erlang:md5/1\\]: [1-9][0-9]{5,}$", 1},
    {"External calls, by function", "LINES", "^@\\[bpftrace_target:external/0\\]: 17$", 1},
    {"Depth of the stack at calls within a module", "HIST>", "", 17},
    {"File operations, by command number", "LINES", "^@\\[12\\]: 2$", 1},
    {"File operations that fail, with their errno", "LINES", "^@\\[12, 2\\]: 1$", 1},
    {"Jobs waiting for the async threads", "HIST>", "", 2},
    {"Texts that Erlang code tells by user_trace_s1 of the module dyntrace, as they come", "LINES", "^told$", 3},
    {"First integers that Erlang code tells by p of the module dyntrace (of pn, the probe is user_trace__n and a number), in all",
     "LINES", "^@\\[$TELLER, tag\\]: 42$", 1},
    {"What a trace with the tracer {dyntrace, State} tells, as it happens", "LINES", "^$TRACED send [1-7] ", 7},
    {"aio-queue.bt", "LINES", "^Largest async work queue size: [1-9][0-9]*$", 1},
    {"cpu-moves.bt", "LINES", "^$CALLER bpftrace_target:on_another/1 @ stack depth [0-9]+: CPU 0 -> 1$", 1},
    {"driver1.bt", "LINES", "^driver output +cat $PORT of $MAIN 23 bytes$", 5},
    {"driver1.bt", "LINES", "^driver outputv +tcp_inet $SOCKET of $MAIN (100|133) bytes$", 3},
    {"drivers.bt", "LINES", "^@(calls\\[tcp_inet, outputv\\]: 3|ports_ns\\[$PORT, spawn\\]: [1-9][0-9]*)$", 2},
    {"efile.bt", "LINES", "^efile_drv enter tag=.* user tag some-user-tag [|] RENAME [(]12[)] [|] args: (old-name new-name|a b) , "
     "0 0 0 0 [(]port #Port<", 2},
    {"efile.bt", "LINES", "^async I/O worker tag=.* [|] RENAME [(]12[)] [|] efile_drv-int_(entry|return)$", 4},
    {"efile.bt", "LINES", "^efile_drv return tag=.* user tag some-user-tag [|] RENAME [(]12[)] [|] (errno 2|ok)$", 2},
    {"efile-syscalls.bt", "LINES", "^[{].*[}] RENAME [|] rename = (-2|0), [0-9]+ ns$", 2},
    {"ets.bt", "LINES", "^@(calls\\[told, (LOOKUP\\]: 17|SELECT\\]: 3|DROP\\]: 1)|seen\\[told\\]: 300|found\\[told\\]: 3)$", 5},
    {"timers.bt", "LINES", "^@(set\\[$TIMED\\]: 41|too_late\\[$TIMED\\]: 5|cancelled\\[$TIMED\\]: 17|fired\\[$TIMED\\]: 5"
     "|ended\\[$TIMED\\]: 19)$", 5},
    {"function-calls.bt", "LINES", "^$CALLER (enter [(]global[)]|return        ) bpftrace_target:external/0 depth [0-9]+ frames$",
     34},
    {"garbage-collection.bt", "LINES", "^GC (minor|major) (start|end  ) $COLLECTOR ", 22},
    {"inet.bt", "LINES", "^(open  tcp_inet $SOCKET by $MAIN|close tcp_inet $SOCKET of $MAIN: normal)$", 2},
    {"inet.bt", "LINES", "^@(bytes\\[$SOCKET\\]: (300|399)|controls\\[$MAIN, (connect|accept|listen|recv)\\]: 1)$", 5},
    {"long-bifs.bt", "LINES", "^BIF: $CALLER - erlang:md5/1 - [0-9]{7,} nanoseconds$", 3},
    {"long-calls.bt", "LINES", "^CALL: $CALLER - bpftrace_target:slow/0 - [0-9]{8,} nanoseconds$", 3},
    {"memory1.bt", "LINES", "^copy_object to $RECEIVER 3 words$", 101},
    {"memory1.bt", "LINES>", "^heap grow   $GROWER [0-9]+ -> [0-9]+ words$", 3},
    {"messages.bt", "LINES", "^send    $SENDER -> $RECEIVER 3 words$", 101},
    {"messages.bt", "LINES", "^(queued|receive)  ?$RECEIVER 3 words, queue length [0-9]+$", 202},
    {"messages.bt", "LINES", "^send    $FIRST -> $SECOND 3 words, label 17 token [{]0,1[}]$", 1},
    {"msg-sched.bt", "HIST>", "", 28},
    {"nifs.bt", "LINES", "^@calls\\[dyntrace:user_trace_s1/1\\]: 3$", 1},
    {"ports.bt", "LINES", "^(open    $PORT +cat +by $MAIN|connect $PORT +cat +by $MAIN to $HEIR|close   $PORT +cat +of "
     "$HEIR: normal)$", 3},
    {"ports.bt", "LINES", "^@(bytes\\[$PORT, cat\\]: 115|commands\\[$PORT, cat, (command\\]: 5|connect\\]: 1|close\\]: 1))$", 4},
    {"process-scheduling.bt", "LINES", "^hibernate  $SLEEPER to go on at bpftrace_target:woken/0$", 1},
    {"process-scheduling.bt", "LINES", "^(schedule   $SLEEPER at .* on CPU [01]|unschedule $SLEEPER ran [0-9]+ ns on CPU [01])$", 4},
    {"rename-path.bt", "LINES", "^[{].*[}] server <.*> (hands RENAME [(]12[)] over, .* us after it took the request: (old-name "
     "new-name|a b)|-> caller $RENAMER, who had asked [0-9]+ us before)$", 4},
    {"rename-path.bt", "LINES", "^[{].*[}] (thread [0-9]+ (begins its system calls|ends them)|the result is back at server "
     "<.*>), [0-9]+ us after (that|it was handed over: errno 2|it was handed over: ok 0)$", 6},
    {"rename-path.bt", "LINES", "^[{].*[}] caller $RENAMER has the answer [0-9]+ us after it asked$", 2},
    {"spawn-exit.bt", "LINES", " (spawn .* bpftrace_target:child/0|exit .* boom)$", 28},
    {"spawn-exit-counts.bt", "LINES", "^@by_(mfa\\[bpftrace_target:child/0\\]: 23|reason\\[boom\\]: 5)$", 2},
    {"token.bt", "LINES", " 17 +[{]0,1[}] +(send +$FIRST -> $SECOND 3 words|queued +$SECOND .*|receive +$SECOND .*)$", 3},
    {"token.bt", "LINES", " 17 +[{]1,2[}] +(send +$SECOND -> $FIRST 0 words|queued +$FIRST .*|receive +$FIRST .*)$", 3},
    {"token.bt", "HIST", "", 2},
    {"user.bt", "LINES", "^($TELLER tag tag: (41 2 -3 4 't1' 't2' 't3' 't4'|1 0 0 0 '' '' '' '')|text: told)$", 5},
#if !defined(__SANITIZE_THREAD__) /* its notes of one probe have arguments in different places: no script reads them */
    {"user-probe-n.bt 17", "LINES", ":user_trace__n17: $TELLER tag tag: 5 0 0 0 'x' '' '' ''$", 1},
#endif
};

/*
 * What an OTP that is built with notes tells otherwise of the same, with the JIT. REFUSED: it lacks a probe, and somebody
 * says so, bpftrace or generate.sh; `what` is how often.
 */
static const struct expectation on_notes[] = {
    {"Built-in functions called, by name", "REFUSED", "", 1},
    {"Time in each built-in function, in nanoseconds", "REFUSED", "", 1},
    {"File operations, by command number", "REFUSED", "", 1},
    {"File operations that fail, with their errno", "REFUSED", "", 1},
    {"Jobs waiting for the async threads", "REFUSED", "", 1},
    {"What a trace with the tracer {dyntrace, State} tells, as it happens", "REFUSED", "", 1},
    {"aio-queue.bt", "REFUSED", "", 1},
    {"cpu-moves.bt", "REFUSED", "", 1},
    {"drivers.bt", "REFUSED", "", 1},
    {"efile.bt", "REFUSED", "", 1},
    {"efile-syscalls.bt", "REFUSED", "", 1},
    {"ets.bt", "REFUSED", "", 1},
    {"timers.bt", "REFUSED", "", 1},
    {"long-calls.bt", "REFUSED", "", 1},
    {"rename-path.bt", "REFUSED", "", 1},
    {"Where processes resume when they are scheduled", "LINES", "child", 0},
    {"External calls, by function", "LINES", "external", 0},
    {"Depth of the stack at calls within a module", "HIST", "", 0},
    {"function-calls.bt", "LINES>", "^<.*> NIF enter +prim_file:rename_nif/2$", 2},
    {"long-bifs.bt 1", "LINES", "^NIF: <.*> - prim_file:rename_nif/2 - [0-9]+ nanoseconds$", 2},
    {"memory1.bt", "LINES>", "^copy_struct 3 words$", 101},
    {"memory1.bt", "LINES>", "^heap grow   $GROWER [0-9]+ -> [0-9]+ words$", 3},
    {"msg-sched.bt", "LINES", "^@not_told: [1-9]", 1},
    {"nifs.bt", "LINES", "^@calls\\[prim_file:rename_nif/2\\]: 2$", 1},
    {"ports.bt", "LINES", "^(open    $PORT +cat +by $MAIN|connect $PORT +cat +by $MAIN to $HEIR|close   $PORT +cat +of "
     "$MAIN: normal)$", 3},
    {"ports.bt", "LINES", "^@(bytes\\[$PORT, cat\\]: 115|commands\\[$PORT, cat, command\\]: 5)$", 2},
    {"process-scheduling.bt", "LINES", "^hibernate  $SLEEPER to go on at bpftrace_target:woken/0$", 1},
    {"process-scheduling.bt", "LINES", "^(unschedule $SLEEPER on CPU [01]|@begin_not_told: [1-9][0-9]*)$", 3},
};

struct oneliner {
    char title[160], command[800];
};

/* Titles end with a colon; a command stands below, indented. */
static int read_oneliners(struct oneliner *out)
{
    FILE *file = fopen("bpftrace/ONELINERS.md", "r");
    char line[1024], title[160] = "";
    int n = 0;

    ck_assert_msg(file != NULL, "no bpftrace/ONELINERS.md");
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (!strncmp(line, "    ", 4) && strstr(line, "bpftrace -p PID") && n < MAX_ONELINERS) {
            snprintf(out[n].title, sizeof out[n].title, "%.*s", (int)strcspn(title, ":"), title);
            snprintf(out[n++].command, sizeof out->command, "%.799s", line + 4);
        } else if (line[0] && line[0] != ' ') {
            snprintf(title, sizeof title, "%.159s", line);
        }
    }
    fclose(file);
    return n;
}

static const char *find_oneliner(const char *title)
{
    static struct oneliner all[MAX_ONELINERS];
    int n = read_oneliners(all);

    for (int i = 0; i < n; i++)
        if (!strcmp(all[i].title, title))
            return all[i].command;
    ck_abort_msg("bpftrace/ONELINERS.md has no line \"%s\"", title);
    return NULL;
}

/*
 * bpftrace 0.27 asks tracefs for the kernel's functions, whatever it is to watch, and runs nothing where that is not mounted: it is,
 * for the process that runs a test and what that starts.
 */
static void require_tracefs(void)
{
    static const char at[] = "/sys/kernel/tracing";

    if (access("/sys/kernel/tracing/available_events", F_OK) && !unshare(CLONE_NEWNS) && !mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL))
        mount("tracefs", at, "tracefs", 0, NULL); /* fails: bpftrace says what it lacks */
}

/*
 * `watch COMMAND`, or `script VM NAME [ARGUMENT]`, for each, then `fire`; `figure FILE HOW PATTERN` prints one number. A
 * script that is a template is made for the VM.
 */
static const char prologue[] =
    "n=0 pids=()\n"
    "watch() { n=$((n+1)); eval \"exec env BPFTRACE_PERF_RB_PAGES=1024 ${1//-p PID/-p $p}\" > $n.out 2> $n.err & pids+=($!); }\n"
    "script() { if [ -e $SOURCE/bpftrace/$2 ] && [ -z \"$made\" ]; then cp $SOURCE/bpftrace/$2 .\n"
    "  else bash $SOURCE/bpftrace/generate.sh $1 $SOURCE/bpftrace/$2* > $n.$2 2> $2.why || { watch \"cat $2.why >&2\"; return; }\n"
    "    mv $n.$2 $2; fi\n"
    "  watch \"bpftrace -p PID $2 ${3:+'$3'}\"; }\n"
    "attached() { read -r call rest < /proc/$1/syscall 2>/dev/null; [ \"$call\" = 232 ] || [ \"$call\" = 281 ]; }\n"
    "fire() { for w in \"${pids[@]}\"; do for i in {1..400}; do attached $w && break; [ -e /proc/$w/exe ] || break; sleep .05; done; done\n"
    "  touch go; wait $p; wait; }\n"
    "figure() { case ${2%>} in\n"
    "  REFUSED) grep -cE \"couldn't get argument|no note of\" ${1%.out}.err ;;\n"
    "  LINES) grep -cE -- \"$3\" $1 ;;\n"
    "  HIST) awk -F'|' 'NF > 2 && /^[[(]/ { n = split($1, a, \" \"); s += a[n] } END { print s + 0 }' $1 ;;\n"
    "  SUM) grep -E -- \"$3\" $1 | awk '{ s += NF > 1 ? $2 : $1 } END { print s + 0 }' ;; esac; }\n";

/* Appends to the script of size SCRIPT_BYTES. */
enum { SCRIPT_BYTES = 20000 };

static __attribute__((format(printf, 2, 3))) void append(char *script, const char *format, ...)
{
    size_t used = strlen(script);
    va_list args;

    va_start(args, format);
    ck_assert_int_lt(vsnprintf(script + used, SCRIPT_BYTES - used, format, args), (int)(SCRIPT_BYTES - used));
    va_end(args);
}

/* Watches $p by a script, made for the VM where it is a template, or by a one-liner. */
static void append_watcher(char *script, const char *title, const char *vm)
{
    if (strstr(title, ".bt"))
        append(script, "script %s %s\n", vm, title);
    else
        append(script, "read -r -d '' c << 'EOC'\n%s\nEOC\nwatch \"$c\"\n", find_oneliner(title));
}

/* Runs the group of that number of the table's titles, all at the same time, on what `start` starts as $p. */
static void run_group(const struct expectation *all, size_t n, int group, const char *vm, const char *start)
{
    const struct expectation *e = all, *end = all + n, *first = NULL;
    char script[SCRIPT_BYTES] = "", figures[SCRIPT_BYTES] = "";
    int titles = 0, watched = 0;

    append(script, "%s%s", prologue, start);
    for (; e < end && titles <= (group + 1) * GROUP; e++) {
        bool is_new = e == all || strcmp(e->title, e[-1].title);

        if (is_new && ++titles > (group + 1) * GROUP)
            break;
        if (titles <= group * GROUP)
            continue;
        first = first ? first : e;
        if (is_new)
            append_watcher(script, e->title, vm), watched++;
        append(figures, "figure %d.out '%s' \"%s\"\n", watched, e->how, e->pattern);
    }
    if (!first)
        return;
    append(script, "fire; [ ! -e who ] || . ./who\n%stail -n 40 [0-9]*.out [0-9]*.err >&2\n", figures);

    const struct support_run *r = support_run("%s", script);
    const char *at = r->out;
    char wrong[4000] = "";

    for (end = e, e = first; e < end; e++, at += strcspn(at, "\n"), at += *at == '\n') {
        long figure = atol(at);
        size_t used = strlen(wrong);

        if (strchr(e->how, '>') ? figure < e->figure : figure != e->figure)
            snprintf(wrong + used, sizeof wrong - used, "%s: %ld, not %ld of %s\n", e->title, figure, e->figure, e->pattern);
    }
    ck_assert_msg(!*wrong, "%s%.6000s", wrong, r->err);
}

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static void run_on_emitter(const struct expectation *all, size_t n, int group)
{
    char start[SCRIPT_BYTES] = "";

    append(start, "$EMITTER -r %d -s 2 -w go %s > /dev/null & p=$!; runs $p emitter\n", ROUNDS, FIRES);
    run_group(all, n, group, "$EMITTER", start);
}

START_TEST(test_bpftrace_oneliners_print_what_is_expected)
{
    SUPPORT_BPF();
    require_tracefs();
    run_on_emitter(oneliners, COUNT_OF(oneliners), _i);
}
END_TEST

START_TEST(test_bpftrace_scripts_print_what_is_expected)
{
    SUPPORT_BPF();
    require_tracefs();
    run_on_emitter(scripts, COUNT_OF(scripts), _i);
}
END_TEST

START_TEST(test_bpftrace_tells_what_an_erlvm_did)
{
    SUPPORT_BPF();
    require_tracefs();
    run_group(on_erlvm, COUNT_OF(on_erlvm), _i, "$ERLVM",
              "erlc $SOURCE/tests/tools/bpftrace_target.erl\n"
              "$(dirname $ERLVM)/erl -noshell -pa . -s bpftrace_target run > vm.log 2>&1 & p=$!; runs $p erlvm\n");
}
END_TEST

static bool is_in(const struct expectation *all, size_t n, const char *name);

/* Rows of on_erlvm, but of titles that on_notes has, whose rows come behind. Returns how many. */
static size_t merge_on_notes(struct expectation out[])
{
    size_t n = 0;

    for (size_t i = 0; i < COUNT_OF(on_erlvm); i++)
        if (!is_in(on_notes, COUNT_OF(on_notes), on_erlvm[i].title))
            out[n++] = on_erlvm[i];
    memcpy(out + n, on_notes, sizeof on_notes);
    return n + COUNT_OF(on_notes);
}

START_TEST(test_bpftrace_tells_what_an_otp_with_notes_did)
{
    struct expectation all[COUNT_OF(on_erlvm) + COUNT_OF(on_notes)];
    size_t n = merge_on_notes(all);

    SUPPORT_BPF();
    if (!getenv("NOTES_ERL")) {
        if (!_i)
            printf("SKIP %s: NOTES_ERL names no erl with notes (make check-peer)\n", __func__);
        return;
    }
    require_tracefs();
    run_group(all, n, _i, "$(readlink /proc/$p/exe)",
              "erlc $SOURCE/tests/tools/bpftrace_target.erl\n"
              "made=1; $NOTES_ERL -noshell -pa . -s bpftrace_target run > vm.log 2>&1 & p=$!; runs $p beam.smp\n");
}
END_TEST

/* The CPUs are those that a process may run on; each firing is on another. */
START_TEST(test_bpftrace_tells_calls_that_change_cpu)
{
    const struct support_run *r;

    SUPPORT_BPF();
    require_tracefs();
    r = support_run("%s[ $(nproc) -gt 1 ] || { echo one CPU; exit; }\n"
                    "$EMITTER -c -r %d -s 2 -w go 'global__function__entry=1|<0.6.0>|lists:map/2|3' "
                    "'function__return=1|<0.6.0>|lists:map/2|3' > /dev/null & p=$!; runs $p emitter\n"
                    "script $EMITTER cpu-moves.bt; fire\n"
                    "grep -E '^<0[.]6[.]0> lists:map/2 @ stack depth 3: CPU [0-9]+ -> [0-9]+$' 1.out | wc -l; cat 1.out >&2",
                    prologue, ROUNDS);
    ck_assert_msg(!strcmp(r->out, "7\n") || !strcmp(r->out, "one CPU\n"), "%s%s", r->out, r->err);
}
END_TEST

/* 8,000 keys of which a script has room for 4,096, and then the heaviest: a one-liner has room, the script says what it left out. */
START_TEST(test_bpftrace_says_what_had_no_room)
{
    const struct support_run *r;

    SUPPORT_BPF();
    require_tracefs();
    r = support_run("%s$EMITTER -s 2 -w go 'message__send=8000|<0.1%%d.0>|<0.6.0>|8' 'message__send=5000|<0.9.0>|<0.6.0>|8' "
                    "'process__exit=8000|<0.1%%d.0>|reason %%d' > /dev/null & p=$!; runs $p emitter\n"
                    "read -r -d '' c << 'EOC'\n%s\nEOC\nwatch \"$c\"; script $EMITTER spawn-exit-counts.bt; fire\n"
                    "grep -c '^@.<0.9.0>.: 5000$' 1.out; grep -cE '^@.<0.1[0-9]+.0>.: 1$' 1.out; grep '^@no_room: [1-9]' 1.out\n"
                    "rows=$(grep -c '^@by_reason' 2.out) left=$(sed -n 's/^@no_room: //p' 2.out); echo $((rows + left))\n"
                    "[ $left -gt 0 ] && echo left out; tail -3 [12].out >&2",
                    prologue, find_oneliner("Who sends the most messages"));
    ck_assert_msg(!strcmp(r->out, "1\n8000\n8000\nleft out\n"), "%s%s", r->out, r->err);
}
END_TEST

START_TEST(test_bpftrace_says_that_a_script_is_for_another_vm)
{
    const struct support_run *r;

    SUPPORT_BPF();
    require_tracefs();
    r = support_run("%s$EMITTER -s 1 -w go 'user_trace__i4s4=1' > /dev/null & p=$!; runs $p emitter\n"
                    "script $ERLVM user.bt; fire; grep -c '^Made for another VM' 1.out; cat 1.out >&2", prologue);
    ck_assert_msg(!strcmp(r->out, "1\n"), "%s%s", r->out, r->err);
}
END_TEST

/* The tag that a process put goes with its request to the file server, which asks the pool of threads. */
START_TEST(test_bpftrace_tells_a_rename_with_its_tag)
{
    const struct support_run *r;

    SUPPORT_BPF();
    require_tracefs();
    r = support_run("%s$(dirname $ERLVM)/erl -noshell -eval 'W = fun W() -> case prim_file:read_file_info(\"go\") of "
                    "{ok, _} -> ok; _ -> timer:sleep(50), W() end end,\n"
                    "W(), dyntrace:put_tag(<<\"some-user-tag\">>), {error, enoent} = file:rename(\"old-name\", \"new-name\"), halt().' & p=$!\n"
                    "runs $p erlvm; script $ERLVM efile.bt; fire\n"
                    "grep -E 'enter .*user tag some-user-tag . RENAME .12. . args: (/.*/)?old-name (/.*/)?new-name , 0 0 0 0 .port #Port<' "
                    "1.out | wc -l\n"
                    "grep -E 'async I/O worker .* RENAME .12. . efile_drv-int_(entry|return)$' 1.out | wc -l\n"
                    "grep -E 'return .*user tag some-user-tag . RENAME .12. . errno 2$' 1.out | wc -l; head -c 900 1.out >&2\n",
                    prologue);
    ck_assert_msg(!strcmp(r->out, "1\n2\n1\n"), "%s%s", r->out, r->err);
}
END_TEST

/*
 * dist.bt, of a VM that sends to a node which is stopped until three processes are suspended: 325 messages, 24 of some
 * thousand bytes, 300 of 60,000, and what the nodes themselves say. Prints how often the node came, messages out and their
 * bytes, messages in, the processes that were suspended, how often, and how often they went on.
 *   vm, is   the command that starts it, and what then runs
 */
static const struct support_run *run_nodes(const char *vm, const char *is)
{
    return support_run(
        "%scat > far.erl <<'END'\n"
        "-module(far).\n-export([main/0]).\n"
        "main() ->\n"
        "    wait(\"go\"), pong = net_adm:ping('there@localhost'),\n"
        "    [to_sink(<<0:8000>>) || _ <- lists:seq(1, 23)], last(), file:write_file(\"linked\", \"1\"), wait(\"stopped\"),\n"
        "    Cast = fun() -> [to_sink(<<0:480000>>) || _ <- lists:seq(1, 100)] end,\n"
        "    Casters = [spawn_monitor(Cast) || _ <- [1, 2, 3]],\n"
        "    [receive {'DOWN', R, process, P, normal} -> ok end || {P, R} <- Casters], last(), halt().\n"
        "to_sink(What) -> {sink, 'there@localhost'} ! What.\n"
        "last() -> to_sink({self(), last}), receive done -> ok end.\n"
        "wait(Name) -> case prim_file:read_file_info(Name) of {ok, _} -> ok; _ -> timer:sleep(20), wait(Name) end.\n"
        "END\n"
        "erlc far.erl; node=\"-noinput -start_epmd false -erl_epmd_port $((20000 + $$ %% 20000)) -setcookie far\"\n"
        "erl $node -sname there@localhost -eval 'register(sink, spawn(fun F() -> receive {P, last} -> P ! done, F(); _ -> F() end "
        "end)), file:write_file(\"up\", \"1\")' > there.log & t=$!; await up\n"
        "%s $node -sname here@localhost -dist_listen false -pa . -s far main > vm.log 2>&1 & p=$!\n"
        "runs $p %s; script $(readlink /proc/$p/exe) dist.bt; for i in {1..400}; do attached $! && break; [ -e /proc/$!/exe ] || break; sleep .05; done\n"
        "touch go; await linked; kill -STOP $t; touch stopped\n"
        "suspended() { sed -nE \"s/^busy '?there@localhost'?: (<.*>) is suspended$/\\1/p\" 1.out; }\n"
        "for i in {1..600}; do [ $(suspended | sort -u | wc -l) -ge 3 ] && break; sleep .05; done; kill -CONT $t\n"
        "wait $p ${pids[@]}; kill $t; value() { n=$(sed -nE \"s/^@$1.'?there@localhost'?.: //p\" 1.out); echo ${n:-0}; }\n"
        "echo $(grep -cE \" nodeup '?there@localhost'? |^nodeup '?there@localhost'? \" 1.out) $(value out) $(value out_bytes) $(value in) $(suspended | sort -u | wc -l) "
        "$(suspended | wc -l) $(grep -cE '^<.*> goes on after [0-9]+ us$' 1.out); cat 1.out 1.err vm.log >&2",
        prologue, vm, is);
}

START_TEST(test_bpftrace_tells_messages_between_nodes)
{
    const struct support_run *r;
    long nodes, out, bytes, in, casters, suspended, resumed;

    SUPPORT_BPF();
    require_tracefs();
    r = run_nodes("$(dirname $ERLVM)/erl", "erlvm");
    ck_assert_msg(sscanf(r->out, "%ld %ld %ld %ld %ld %ld %ld", &nodes, &out, &bytes, &in, &casters, &suspended, &resumed) == 7,
                  "%s%.6000s", r->out, r->err);
    ck_assert_msg(nodes == 1 && out >= 325 && out < 345 && in >= 2 && in < 20, "%s%.6000s", r->out, r->err);
    ck_assert_msg(bytes > 18023000 && bytes < 18100000, "%s%.6000s", r->out, r->err);
    ck_assert_msg(casters == 3 && suspended >= 3 && resumed == suspended, "%s%.6000s", r->out, r->err);
}
END_TEST

/* Its notes give neither bytes nor what comes, nor who may go on. */
START_TEST(test_bpftrace_tells_messages_between_nodes_of_an_otp_with_notes)
{
    const struct support_run *r;
    long nodes, out, bytes, in, casters, suspended, resumed;

    SUPPORT_BPF();
    if (!getenv("NOTES_ERL"))
        return; /* which is said above */
    require_tracefs();
    r = run_nodes("made=1; $NOTES_ERL", "beam.");
    ck_assert_msg(sscanf(r->out, "%ld %ld %ld %ld %ld %ld %ld", &nodes, &out, &bytes, &in, &casters, &suspended, &resumed) == 7,
                  "%s%.6000s", r->out, r->err);
    ck_assert_msg(nodes == 1 && out >= 325 && out < 345 && !bytes && !in, "%s%.6000s", r->out, r->err);
    ck_assert_msg(casters == 3 && suspended >= 3 && !resumed, "%s%.6000s", r->out, r->err);
}
END_TEST

static bool is_in(const struct expectation *all, size_t n, const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < n; i++)
        if (!strncmp(all[i].title, name, len) && (!all[i].title[len] || all[i].title[len] == ' '))
            return true;
    return false;
}

/* dist.bt needs another node, and has a test of its own; in the emitter there are no numbered probes, and none that changes CPU. */
START_TEST(test_bpftrace_every_file_is_tested)
{
    const struct support_run *r = support_run("cd $SOURCE/bpftrace && ls *.bt *.bt.in | sed 's/.in$//'");
    static struct oneliner all[MAX_ONELINERS];
    int n = read_oneliners(all), files = 0;
    char name[64];

    for (const char *at = r->out; sscanf(at, "%63s", name) == 1; at += strlen(name) + 1, files++) {
        ck_assert_msg(is_in(scripts, COUNT_OF(scripts), name) || !strcmp(name, "cpu-moves.bt") ||
                      !strcmp(name, "user-probe-n.bt"), "bpftrace/%s is not tested on the emitter", name);
        ck_assert_msg(is_in(on_erlvm, COUNT_OF(on_erlvm), name) || !strcmp(name, "dist.bt"),
                      "bpftrace/%s is not tested on erlvm", name);
    }
    ck_assert_int_ge(files, 24);
    ck_assert_int_ge(n, 15);
    for (int i = 0; i < n; i++)
        ck_assert_msg(is_in(oneliners, COUNT_OF(oneliners), all[i].title) && is_in(on_erlvm, COUNT_OF(on_erlvm), all[i].title),
                      "the one-liner \"%s\" is not tested", all[i].title);
}
END_TEST

Suite *bpftrace_suite(void)
{
    Suite *suite = suite_create("bpftrace");
    TCase *lines = tcase_create("oneliners"), *files = tcase_create("scripts"), *live = tcase_create("live");
    TCase *vm = tcase_create("erlvm"), *notes = tcase_create("notes"), *nodes = tcase_create("nodes_with_notes");

    tcase_set_timeout(lines, 120);
    tcase_add_loop_test(lines, test_bpftrace_oneliners_print_what_is_expected, 0, (COUNT_OF(oneliners) + GROUP - 1) / GROUP);
    tcase_set_timeout(files, 120);
    tcase_add_loop_test(files, test_bpftrace_scripts_print_what_is_expected, 0, (COUNT_OF(scripts) + GROUP - 1) / GROUP);
    tcase_set_timeout(vm, 120);
    tcase_add_loop_test(vm, test_bpftrace_tells_what_an_erlvm_did, 0, (COUNT_OF(on_erlvm) + GROUP - 1) / GROUP);
    tcase_set_timeout(notes, 120);
    tcase_add_loop_test(notes, test_bpftrace_tells_what_an_otp_with_notes_did, 0, (COUNT_OF(on_erlvm) + GROUP - 1) / GROUP);
    tcase_set_timeout(nodes, 120);
    tcase_add_test(nodes, test_bpftrace_tells_messages_between_nodes_of_an_otp_with_notes);
    tcase_set_timeout(live, 120);
    tcase_add_test(live, test_bpftrace_every_file_is_tested);
    tcase_add_test(live, test_bpftrace_tells_calls_that_change_cpu);
    tcase_add_test(live, test_bpftrace_says_what_had_no_room);
    tcase_add_test(live, test_bpftrace_says_that_a_script_is_for_another_vm);
    tcase_add_test(live, test_bpftrace_tells_a_rename_with_its_tag);
    tcase_add_test(live, test_bpftrace_tells_messages_between_nodes);
    suite_add_tcase(suite, lines);
    suite_add_tcase(suite, files);
    suite_add_tcase(suite, vm);
    suite_add_tcase(suite, notes);
    suite_add_tcase(suite, nodes);
    suite_add_tcase(suite, live);
    return suite;
}
