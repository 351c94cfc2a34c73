#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Holds our native functions against the library of OTP 27 whose root is OTP27_ROOT: no module of it imports what nobody has, and the
# natives that it has only stubs for are rows of docs/coverage.md, no more and no less. Skipped where it names none.
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build} status=0
fail() { echo "lint: $*"; status=1; }
if [ ! -d "${OTP27_ROOT:-}" ]; then
	echo "SKIP library: OTP27_ROOT names no installation of OTP 27"
	exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export ERLVM_ROOT=$OTP27_ROOT
if ! "$build/erlvm" -noshell -eval 'case compile:file("tests/lint/library_natives", [{outdir, "'"$work"'"}]) of {ok, _} -> halt(0); _ -> halt(1) end.' ||
	! "$build/erlvm" -noshell -pa "$work" -s library_natives main >"$work/told" || ! grep -qE '^[0-9]{3,} modules$' "$work/told"; then
	fail "erlvm does not tell what the library of OTP 27 in $OTP27_ROOT wants"
	exit 1
fi
while read -r line; do
	fail "OTP 27: $line"
done < <(grep -E ' is imported and not there$| does not load' "$work/told")
sed -nE 's, is a stub without a native$,,p' "$work/told" | LC_ALL=C sort -u >"$work/stubs"
list_rows() { # of the sections of docs/coverage.md whose head matches: the functions of the first column, in backquotes
	awk -v head="$1" '/^## / { here = $0 ~ head } here && /^\| `/' docs/coverage.md | cut -d'|' -f2 | grep -oE '`[^`]+`' | tr -d '`' | LC_ALL=C sort -u
}
list_rows '^## (Native functions|Later libraries)$' >"$work/rows"
for f in $(LC_ALL=C comm -23 "$work/stubs" "$work/rows"); do
	fail "$f of OTP 27 has no native, and no row of docs/coverage.md says why"
done
for f in $(list_rows '^## Later libraries$' | LC_ALL=C comm -23 - "$work/stubs"); do
	fail "docs/coverage.md: $f is there"
done
exit $status
