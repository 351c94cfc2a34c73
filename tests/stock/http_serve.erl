%% SPDX-License-Identifier: Apache-2.0
%% A server of each HTTP library: GET / is answered by "Hello, world\n", with cowboy POST /echo by its own body.
%%   http_serve:start([Library, Port])   Library: "cowboy", "mochiweb", "inets"
-module(http_serve).
-export([start/1, init/2, do/1]).

-define(HELLO, <<"Hello, world\n">>).
-define(MANY, 1000000000). % requests of a connection

%% Some servers end with the process that started them.
start([Library, Port]) ->
    Self = self(),
    spawn_link(fun() -> listen(Library, list_to_integer(Port)), Self ! up, receive never -> ok end end),
    receive up -> ok end.

listen("cowboy", Port) ->
    {ok, _} = application:ensure_all_started(cowboy),
    Routes = cowboy_router:compile([{'_', [{"/echo", ?MODULE, echo}, {"/", ?MODULE, hello}]}]),
    {ok, _} = cowboy:start_clear(?MODULE, [{ip, {127, 0, 0, 1}}, {port, Port}],
        #{env => #{dispatch => Routes}, max_keepalive => ?MANY});
listen("mochiweb", Port) ->
    Answer = fun(Request) -> mochiweb_request:ok({"text/plain", ?HELLO}, Request) end,
    {ok, _} = mochiweb_http:start([{ip, {127, 0, 0, 1}}, {port, Port}, {name, ?MODULE}, {loop, Answer}]);
listen("inets", Port) ->
    {ok, _} = application:ensure_all_started(inets),
    {ok, _} = inets:start(httpd, [{bind_address, {127, 0, 0, 1}}, {port, Port}, {server_name, "localhost"},
        {server_root, "/tmp"}, {document_root, "/tmp"}, {modules, [?MODULE]}, {max_keep_alive_request, ?MANY}]).

%% A handler of cowboy.
init(Request, hello) ->
    {ok, cowboy_req:reply(200, #{<<"content-type">> => <<"text/plain">>}, ?HELLO, Request), hello};
init(Request, echo) ->
    {ok, Body, Rest} = cowboy_req:read_body(Request),
    {ok, cowboy_req:reply(200, #{}, Body, Rest), echo}.

%% A module of httpd.
do(_) ->
    Head = [{code, 200}, {content_type, "text/plain"}, {content_length, integer_to_list(byte_size(?HELLO))}],
    {break, [{response, {response, Head, binary_to_list(?HELLO)}}]}.
