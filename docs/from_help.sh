#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# from_help.sh SCRIPT PROGRAM [NAME=VALUE...]: what the awk script makes, beside help.awk, of the help texts of the program and of its commands;
# the values are for the script.
set -eu
script=$1 program=$2
shift 2
export ASAN_OPTIONS=detect_leaks=0 # who has printed help has freed nothing
texts=$(mktemp -d)
trap 'rm -rf "$texts"' EXIT
"$program" --help >"$texts/--help"
files=()
for command in $(awk '/^  [a-z]/ { print $1 }' "$texts/--help"); do
	"$program" "$command" -h >"$texts/$command"
	files+=("$texts/$command")
done
first=13 # where the text of an entry begins
[ ${#files[@]} -gt 0 ] || first=21
awk "${@/#/-v}" -f "$(dirname "$0")/help.awk" -f "$script" column=$first "$texts/--help" column=18 "${files[@]}"
