%% SPDX-License-Identifier: Apache-2.0
%% For programs that do the same with several kinds of sockets.

%% What Fun shows for the first of All; of the others, whether it is the same.
each(Fun, All) ->
    [Lines | Others] = [said(fun() -> Fun(One) end) || One <- All],
    [show(Line) || Line <- Lines],
    [compare(Lines, Other) || Other <- Others].

compare(Lines, Lines) -> show(the_same);
compare(_, Lines) -> [show({otherwise, Line}) || Line <- Lines].

said(Fun) ->
    put(said, []),
    Fun(),
    lists:reverse(erase(said)).

show(T) ->
    case get(said) of
        undefined -> io:format("~0p~n", [T]);
        Said -> put(said, [T | Said])
    end.
