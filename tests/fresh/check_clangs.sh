#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The BPF programs, built by each clang that the machine's release has (CLANGS="19 21" names some), and loaded and run with each by
# erlsnoop's commands: verifiers refuse what one compiler makes and another does not.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
passed=0 failed=0 skipped=0

is_there() {
	command -v "clang-$1" >/dev/null && return
	apt-cache show "clang-$1" >/dev/null 2>&1 || return
	[ "$(id -u)" = 0 ] && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "clang-$1" >/dev/null 2>&1
}

try_clang() {
	local folder=$BUILD/clang-$1 said bad
	make BUILD="$BUILD" "$folder/erlsnoop" >"$folder.log" 2>&1 || { tail -5 "$folder.log"; return 1; }
	said=$(mkdir -p "$folder/run" && cd "$folder/run" && rm -rf ./* && bash "$OLDPWD/tests/kernels/commands.sh" "$BUILD" "$BUILD/kernel_beams" \
		"$folder/erlsnoop" 2>&1)
	bad=$(grep -vE ': works$|^skipped ' <<<"$said")
	echo "clang-$1: $(grep -c ': works$' <<<"$said") commands work${bad:+, not:}"
	[ -z "$bad" ] || sed 's/^/    /' <<<"$bad"
	grep '^skipped ' <<<"$said"
	[ -z "$bad" ] && grep -q ': works$' <<<"$said"
}

mkdir -p "$BUILD/kernel_beams" && erlc -o "$BUILD/kernel_beams" tests/kernels/kernel_target.erl || exit 1
for version in ${CLANGS:-14 16 19 21}; do
	if ! is_there "$version"; then
		echo "SKIP clang-$version: this release does not package it"
		skipped=$((skipped + 1))
	elif try_clang "$version"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
	fi
done
echo "check-clangs: $passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
