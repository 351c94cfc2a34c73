%% SPDX-License-Identifier: Apache-2.0
%% Which functions a stack trace begins with: operators with constants, native functions that stand in their own module; what naming a function
%% that nobody has is answered.
-module(error_frames).
-export([main/0, sub/1, sub_negative/1, add/1, add_negative/1, sub_large/1, sub_stack/1, take/1]).

sub(X) -> X - 5.
sub_negative(X) -> X - -5.
add(X) -> X + 5.
add_negative(X) -> X + -5.
sub_large(X) -> X - -(1 bsl 58).
sub_stack(X) -> take(X), Y = X - -7, take(Y).

take(X) -> X.

main() ->
    [frames(fun() -> ?MODULE:F(a) end) || F <- [sub, sub_negative, add, add_negative, sub_large, sub_stack]],
    frames(fun() -> erlang:function_exported(a, b, 1 bsl 70) end),
    frames(fun() -> erlang:function_exported(a, b, -(1 bsl 70)) end),
    erlang:display(erlang:function_exported(a, b, -1)),
    Z = zlib:open(),
    [frames(F) || F <- [fun() -> zlib:deflate(Z, "abc") end, fun() -> zlib:inflate(Z, <<"x">>) end, fun() -> zlib:deflateInit(Z, 77) end,
                        fun() -> zlib:deflateEnd(Z) end, fun() -> zlib:close(y) end, fun() -> zlib:set_controlling_process(Z, x) end,
                        fun() -> zlib:uncompress(<<"abc">>) end]],
    Name = <<119, 9, "nobody_17">>,
    _ = nobody_17,
    Bytes = <<131, 113, Name/binary, Name/binary, 97, 3>>,
    [frames(fun() -> binary_to_term(Bytes, [safe]) end) || _ <- [1, 2]],
    erlang:display(is_function(binary_to_term(Bytes), 3)),
    frames(fun() -> binary_to_term(Bytes, [safe]) end),
    erlang:display(binary_to_term(term_to_binary(fun lists:map/2), [safe]) =:= fun lists:map/2).

%% The class and the innermost functions, as far as this module.
frames(F) ->
    try F() of
        Value -> erlang:display({value, Value})
    catch
        Class:Reason:Stack -> erlang:display({Class, Reason, [{M, N, arity(A)} || {M, N, A, _} <- Stack, M =/= init, M =/= ?MODULE orelse not is_fun_name(N)]})
    end.

is_fun_name(N) -> hd(atom_to_list(N)) =:= $- orelse N =:= main orelse N =:= frames.

arity(A) when is_list(A) -> length(A);
arity(A) -> A.

%% expect: {error,badarith,[{error_frames,sub,1}]}
%% expect 27: {error,badarith,[{erlang,'-',2},{error_frames,sub,1}]}
%% expect: {error,badarith,[{erlang,'-',2},{error_frames,sub_negative,1}]}
%% expect: {error,badarith,[{error_frames,add,1}]}
%% expect 27: {error,badarith,[{erlang,'+',2},{error_frames,add,1}]}
%% expect: {error,badarith,[{error_frames,add_negative,1}]}
%% expect 27: {error,badarith,[{erlang,'+',2},{error_frames,add_negative,1}]}
%% expect: {error,badarith,[{erlang,'-',2},{error_frames,sub_large,1}]}
%% expect: {error,badarith,[{erlang,'-',2},{error_frames,sub_stack,1}]}
%% expect: {error,badarg,[{erlang,function_exported,3}]}
%% expect: {error,badarg,[{erlang,function_exported,3}]}
%% expect: false
%% expect: {error,not_initialized,[{zlib,enqueue_nif,2},{zlib,enqueue_input_1,2},{zlib,deflate,3}]}
%% expect: {error,not_initialized,[{zlib,enqueue_nif,2},{zlib,enqueue_input_1,2},{zlib,inflate,3}]}
%% expect: {error,bad_compression_level,[{zlib,arg_level,1},{zlib,deflateInit,6}]}
%% expect: {error,not_initialized,[{zlib,deflateEnd_nif,1}]}
%% expect: {error,badarg,[{zlib,close_nif,1}]}
%% expect: {error,badarg,[{zlib,set_controller_nif,2}]}
%% expect: {error,data_error,[{zlib,uncompress,1}]}
%% expect: {error,badarg,[{erlang,binary_to_term,2}]}
%% expect: {error,badarg,[{erlang,binary_to_term,2}]}
%% expect: true
%% expect: {error,badarg,[{erlang,binary_to_term,2}]}
%% expect: true
