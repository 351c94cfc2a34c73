%% SPDX-License-Identifier: Apache-2.0
%% What suites ask of common_test's ct, without its server: a case's time limit is the harness's.
-module(ct).
-export([fail/1, fail/2, log/1, log/2, log/3, log/4, log/5, pal/1, pal/2, pal/3, pal/4, pal/5, print/1, print/2,
         comment/1, comment/2, sleep/1, timetrap/1, get_timetrap_info/0, get_config/1, get_config/2, get_progname/0,
         capture_start/0, capture_stop/0, capture_get/0, capture_get/1, require/1]).

fail(Reason) -> exit({test_case_failed, Reason}).
fail(Format, Arguments) -> fail(lists:flatten(io_lib:format(Format, Arguments))).

log(Text) -> log(Text, []).
log(Format, Arguments) when is_list(Arguments) -> io:format(user, Format ++ "~n", Arguments);
log(_Category, Text) -> log(Text, []).
log(Format, Arguments, _Options) when is_list(Format) -> log(Format, Arguments);
log(_Category, Format, Arguments) -> log(Format, Arguments).
log(_Category, Importance, Format, Arguments) when is_integer(Importance) -> log(Format, Arguments);
log(_Category, Format, Arguments, _Options) -> log(Format, Arguments).
log(_Category, _Importance, Format, Arguments, _Options) -> log(Format, Arguments).

pal(Text) -> log(Text).
pal(A, B) -> log(A, B).
pal(A, B, C) -> log(A, B, C).
pal(A, B, C, D) -> log(A, B, C, D).
pal(A, B, C, D, E) -> log(A, B, C, D, E).
print(Text) -> log(Text).
print(Format, Arguments) -> log(Format, Arguments).
comment(Text) -> log("~tp", [Text]).
comment(Format, Arguments) -> log(Format, Arguments).

sleep(infinity) -> timer:sleep(infinity);
sleep({hours, N}) -> timer:sleep(timer:hours(N));
sleep({minutes, N}) -> timer:sleep(timer:minutes(N));
sleep({seconds, N}) -> timer:sleep(timer:seconds(N));
sleep(Ms) -> timer:sleep(Ms).

timetrap(_) -> ok.
get_timetrap_info() -> {infinity, {false, 1}}.
get_config(_) -> undefined.
get_config(_, Default) -> Default.
require(_) -> {error, not_available}.
get_progname() ->
    case init:get_argument(progname) of
        {ok, [[Name | _] | _]} -> Name;
        _ -> "erl"
    end.

capture_start() -> otp_case:capture(true).
capture_stop() -> otp_case:capture(false).
capture_get() -> otp_case:captured().
capture_get(_) -> otp_case:captured().
