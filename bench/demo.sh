#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `make demo`: an Erlang program compiled by the stock erlc runs on erlvm, and erlsnoop tells what it does.
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
dir=$BUILD/demo
mkdir -p "$dir"
erlc -o "$dir" bench/demo.erl

bold= plain=
if [ -t 1 ]; then bold=$'\033[1m' plain=$'\033[0m'; fi

say() { printf '\n%s$ %s%s\n' "$bold" "$*" "$plain"; }
run() { say "$@"; "$@"; }

say "$BUILD/erlvm -quick -pa $dir -s demo start 30 &"
"$BUILD/erlvm" -quick -pa "$dir" -s demo start 30 &
vm=$!
trap 'kill $vm 2>/dev/null; wait $vm 2>/dev/null || true; rm -rf /tmp/erlsnoop-demo.$vm' EXIT
sleep 1
run "$BUILD/erlsnoop" list
if [ "$(id -u)" != 0 ]; then
	echo "the rest needs root: sudo make demo" >&2
	exit 0
fi
run "$BUILD/erlsnoop" spawns -p $vm 2 2
run "$BUILD/erlsnoop" msglat -p $vm 3 1
run "$BUILD/erlsnoop" efile -p $vm 3 1
run "$BUILD/erlsnoop" efile --events -p $vm 1 1 | head -24
