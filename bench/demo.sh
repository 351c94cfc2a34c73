#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `make demo`: an Erlang program compiled by the stock erlc runs on erlvm, and erlsnoop tells what it does. Where the installed library is
# not of the release that erlvm runs, the program runs on the stock erl.
set -eu -o pipefail
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
dir=$BUILD/demo
mkdir -p "$dir"
erlc -o "$dir" bench/demo.erl

bold= plain= vm=
if [ -t 1 ]; then bold=$'\033[1m' plain=$'\033[0m'; fi

say() { printf '\n%s$ %s%s\n' "$bold" "$*" "$plain"; }
fail() { echo "demo: $*" >&2; exit 1; }
end() {
	[ -n "$vm" ] || return 0
	kill "$vm" 2>/dev/null || true
	wait "$vm" 2>/dev/null || true
	rm -rf "/tmp/erlsnoop-demo.$vm"
}
trap end EXIT

# What is watched must be there before and after it was.
check_vm() {
	local status=0
	kill -0 "$vm" 2>/dev/null && return
	wait "$vm" || status=$?
	fail "${command[0]} (process $vm) has ended with status $status, so there is nothing to watch"
}
run() {
	say "$@"
	"$@" || { check_vm; fail "$1 failed"; }
	check_vm
}

command=("$BUILD/erlvm" -quick)
if ! said=$("$BUILD/erlvm" -quick -s erlang halt 2>&1); then
	[[ $said = "erlvm: the library in "* ]] || fail "$BUILD/erlvm does not run: $said"
	said=${said#erlvm: } said=${said%%: name*}
	echo "${said^}, so the stock erl is watched here."
	command=(erl -noinput -kernel logger_level error)
fi
command+=(-pa "$dir" -s demo start 600)
say "${command[*]} &"
"${command[@]}" &
vm=$!
until [ -d "/tmp/erlsnoop-demo.$vm" ]; do # the program makes it when it has begun
	check_vm
	sleep .1
done
run "$BUILD/erlsnoop" list
if [ "$(id -u)" != 0 ]; then
	echo "the rest needs root: sudo make demo" >&2
	exit 0
fi
run "$BUILD/erlsnoop" spawns -p "$vm" 2 2
run "$BUILD/erlsnoop" msglat -p "$vm" 3 1
run "$BUILD/erlsnoop" efile -p "$vm" 3 1
run "$BUILD/erlsnoop" efile --events -p "$vm" 1 1 | sed -n 1,24p
