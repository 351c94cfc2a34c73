#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Holds our native functions against the libraries of OTP 27 and 29 whose roots are OTP27_ROOT and OTP29_ROOT: no module imports what
# nobody has, and the natives that there are only stubs for are rows of docs/coverage.md, no more and no less. What names none is skipped.
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build} status=0
fail() { echo "lint: $*"; status=1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
list_rows() { # of the sections of docs/coverage.md whose head matches: the functions of the first column, in backquotes
	awk -v head="$1" '/^## / { here = $0 ~ head } here && /^\| `/' docs/coverage.md | cut -d'|' -f2 | grep -oE '`[^`]+`' | tr -d '`' | LC_ALL=C sort -u
}
# hold RELEASE ROOT OWN SECTIONS: rows of the section OWN are of what is not there; those of SECTIONS, a pattern, excuse.
hold() {
	export ERLVM_ROOT=$2
	if ! "$build/erlvm" -noshell -eval 'case compile:file("tests/lint/library_natives", [{outdir, "'"$work"'"}]) of {ok, _} -> halt(0); _ -> halt(1) end.' ||
		! "$build/erlvm" -noshell -pa "$work" -s library_natives main >"$work/told" || ! grep -qE '^[0-9]{3,} modules$' "$work/told"; then
		fail "erlvm does not tell what the library of OTP $1 in $2 wants"
		return
	fi
	while read -r line; do
		fail "OTP $1: $line"
	done < <(grep -E ' is imported and not there$| does not load' "$work/told")
	sed -nE 's, is a stub without a native$,,p' "$work/told" | LC_ALL=C sort -u >"$work/stubs"
	list_rows "^## ($4)\$" >"$work/rows"
	for f in $(LC_ALL=C comm -23 "$work/stubs" "$work/rows"); do
		fail "$f of OTP $1 has no native, and no row of docs/coverage.md says why"
	done
	for f in $(list_rows "^## $3\$" | LC_ALL=C comm -23 - "$work/stubs"); do
		fail "docs/coverage.md: $f is there"
	done
}
for release in 27 29; do
	root=OTP${release}_ROOT
	if [ ! -d "${!root:-}" ]; then
		echo "SKIP library: $root names no installation of OTP $release"
	elif [ $release = 27 ]; then
		hold 27 "${!root}" "Later libraries" "Native functions|Later libraries"
	else
		hold 29 "${!root}" "The library of OTP 29" "Native functions|Later libraries|The library of OTP 29"
	fi
done
exit $status
