#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs test binaries: each argument is a row of them ("A B:SUITE,SUITE B:-SUITE,-SUITE"), which run one after the other: whole,
# or those suites alone, or all but those. The rows run at the same time; all give way to the last, whose tests watch
# others and must not be late. Shows what a binary printed when it has ended, and closes with the tests that failed and one
# line that adds up all counts.
# A test that must be skipped prints a line `SKIP <name>: <reason>`, and is not counted as passed; with CI=true, which .ci/run
# sets, it is a failure, but for what tests/skips names.
set -u

# In a process of its own: for each binary $LOG/<name> has what it printed, $LOG/<name>.status its exit status.
run_row() {
	local bin name suites way=()
	[ "$1" = "$LAST" ] || way=(nice -n 5)
	for bin in $1; do
		name=$(basename "$bin")
		SECONDS=0
		IFS=:, read -ra suites <<<"$bin"
		"${way[@]}" "${suites[@]}" >"$LOG/$name" 2>&1
		echo $? >"$LOG/$name.status"
		flock "$LOG" bash -c 'echo "== $1 ($2 s)"; cat "$3"' - "$name" $SECONDS "$LOG/$name"
	done
}

if [ "$1" = --row ]; then
	run_row "$2"
	exit
fi
LOG=$(mktemp -d) LAST=${*: -1}
export LOG LAST
trap 'rm -rf "$LOG"' EXIT
checks=0 failures=0 errors=0 status=0
# Not in the background of this shell, where an interrupt would not reach them.
printf '%s\0' "$@" | xargs -0 -n 1 -P $# bash "$0" --row
logs=()
for bin in $*; do
	log=$LOG/$(basename "$bin")
	logs+=("$log")
	[ "$(cat "$log.status" 2>&1)" = 0 ] || status=1
	line=$(grep -E '^[0-9]+%: Checks:' "$log" | tail -1)
	if [ -z "$line" ]; then
		echo "$bin ended without its closing line"
		status=1
		continue
	fi
	read -r c f e < <(sed -E 's/.*Checks: ([0-9]+), Failures: ([0-9]+), Errors: ([0-9]+).*/\1 \2 \3/' <<<"$line")
	checks=$((checks + c)) failures=$((failures + f)) errors=$((errors + e))
done
skips=$(cat "${logs[@]}" 2>/dev/null | grep -c '^SKIP ')
if [ "${CI:-}" = true ]; then
	refused=$(grep -h '^SKIP ' "${logs[@]}" 2>/dev/null | grep -vEf <(grep -vE '^(#|$)' "$(dirname "$0")/skips"))
	lacking=$(grep -c . <<<"$refused")
	[ "$lacking" = 0 ] || { printf '%s\n' "$refused" | sed 's/^SKIP/with CI=true a failure: SKIP/'; status=1; }
	failures=$((failures + lacking)) skips=$((skips - lacking))
fi
# once more, so that the end of a long log names them
grep -hE '^[^ ]+:[0-9]+:[FE]:' "${logs[@]}" 2>/dev/null
echo "check: $((checks - failures - errors - skips)) passed, $((failures + errors)) failed, $skips skipped"
exit $status
