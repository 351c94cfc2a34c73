#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Holds our native functions against those of the machine's own Erlang/OTP 25: its table of built-in functions, and the natives of the
# modules that are preloaded. Each that we lack is a row of docs/coverage.md with its reason, and no row is of one that we have.
cd "$(dirname "$0")/../.." || exit 1
status=0
fail() { echo "lint: $*"; status=1; }
list_stock() {
	erl -noinput -eval '
		halt(case erlang:system_info(otp_release) of
			"25" ->
				Natives = [{M, F, A} || M <- erlang:pre_loaded(), {F, A} <- M:module_info(nifs)],
				Builtin = [{M, F, A} || {M, _} <- code:all_loaded(), {F, A} <- M:module_info(functions), erlang:is_builtin(M, F, A)],
				All = lists:usort(erlang:system_info(snifs) ++ Builtin ++ Natives),
				[io:format("~s:~s/~b~n", [M, F, A]) || {M, F, A} <- All],
				0;
			_ -> 3
		end).'
}
list_ours() {
	sed -nE 's/^(BIF|DIRECT|INSTRUCTION)\((\w+), "([^"]+)", ([0-9]+),.*/\2:\3\/\4/p' vm/bif/*.def vm/bif/*/*.def
	for f in vm/socket/prim_*.c; do # libraries that are linked in: { "name", arity, ... }
		grep -oE '\{ "nif_\w+", [0-9]+,' "$f" | sed -E "s,.*\"(\w+)\"\, ([0-9]+).*,$(basename "$f" .c):\1/\2,"
	done
	sed -nE 's/.*export_set_bif\(export_get\(am_(\w+), am_(\w+), ([0-9]+)\).*/\1:\2\/\3/p' vm/exec/call.c
}
# The functions of a row stand in its first column, in backquotes.
list_excused() {
	sed -nE '/^## Native functions/,/^## [^N]/ { /^\| `/ { /^\| [^|]* \| +[^| ][^|]* \|$/!s/^/!/; p } }' docs/coverage.md
}
stock=$(list_stock)
case $? in
0) ;;
3) echo "SKIP natives: no Erlang/OTP 25 on this machine"; exit 0 ;;
*) fail "erl does not tell its native functions"; exit 1 ;;
esac
[ "$(wc -l <<<"$stock")" -gt 400 ] || fail "erl tells only $(wc -l <<<"$stock") native functions"
while read -r row; do
	fail "docs/coverage.md: no reason: $row"
done < <(list_excused | sed -n 's/^!//p')
excused=$(list_excused | cut -d'|' -f2 | grep -oE '`[^`]+`' | tr -d '`')
dup=$(sort <<<"$excused" | uniq -d)
[ -z "$dup" ] || fail "docs/coverage.md: twice:" $dup
missing=$(LC_ALL=C comm -23 <(LC_ALL=C sort -u <<<"$stock") <(list_ours | LC_ALL=C sort -u))
for f in $(LC_ALL=C comm -23 <(echo "$missing") <(LC_ALL=C sort -u <<<"$excused")); do
	fail "$f is missing, and no row of docs/coverage.md says why"
done
for f in $(LC_ALL=C comm -13 <(echo "$missing") <(LC_ALL=C sort -u <<<"$excused")); do
	fail "docs/coverage.md: $f is not missing"
done
exit $status
