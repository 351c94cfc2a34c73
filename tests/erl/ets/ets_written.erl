%% SPDX-License-Identifier: Apache-2.0
%% ets: the identifier of a table still names it when it comes back from a text or a binary, and no more when the table is gone.
-module(ets_written).
-export([main/0]).

main() ->
    T = ets:new(t, [public]),
    Text = ref_to_list(T),
    Bytes = term_to_binary({T, [T]}),
    Others = [ets:new(x, []) || _ <- lists:seq(1, 100)],
    p(ets:insert(list_to_ref(Text), {1, a})),
    {Read, [Read]} = binary_to_term(Bytes),
    p({Read =:= T, ets:lookup(Read, 1), ets:info(Read, size)}),
    p(ets:delete(hd(Others))),
    p(catch_error(fun() -> ets:lookup(make_ref(), 1) end)),
    p(ets:delete(Read)),
    p([catch_error(fun() -> ets:lookup(Gone, 1) end) || Gone <- [T, Read, list_to_ref(Text)]]),
    p(ets:info(T)).

p(T) -> erlang:display(T).

catch_error(F) -> try F() catch error:Reason -> Reason end.
%% expect: true
%% expect: {true,[{1,a}],1}
%% expect: true
%% expect: badarg
%% expect: true
%% expect: [badarg,badarg,badarg]
%% expect: undefined
