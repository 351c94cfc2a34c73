#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the test binaries given, shows what each printed, and closes with those that failed and one line that adds up their counts.
# A test that must be skipped prints a line `SKIP <name>: <reason>`, and is not counted as passed; with CI=true, which .ci/run
# sets, a skip for want of BPF is a failure.
set -u
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
checks=0 failures=0 errors=0 status=0
for bin in "$@"; do
	echo "== $(basename "$bin")"
	"$bin" 2>&1 | tee "$log/$(basename "$bin")"
	[ "${PIPESTATUS[0]}" -eq 0 ] || status=1
	line=$(grep -E '^[0-9]+%: Checks:' "$log/$(basename "$bin")" | tail -1)
	if [ -z "$line" ]; then
		echo "$bin ended without its closing line"
		status=1
		continue
	fi
	read -r c f e < <(sed -E 's/.*Checks: ([0-9]+), Failures: ([0-9]+), Errors: ([0-9]+).*/\1 \2 \3/' <<<"$line")
	checks=$((checks + c)) failures=$((failures + f)) errors=$((errors + e))
done
skips=$(cat "$log"/* 2>/dev/null | grep -c '^SKIP ')
bpf=$(cat "$log"/* 2>/dev/null | grep -c '^SKIP .*BPF')
if [ "${CI:-}" = true ] && [ "$bpf" -gt 0 ]; then
	echo "$bpf tests were skipped for want of BPF, and CI=true"
	failures=$((failures + bpf)) skips=$((skips - bpf)) status=1
fi
# once more, so that the end of a long log names them
grep -hE '^[^ ]+:[0-9]+:[FE]:' "$log"/* 2>/dev/null
echo "check: $((checks - failures - errors - skips)) passed, $((failures + errors)) failed, $skips skipped"
exit $status
