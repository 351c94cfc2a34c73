#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Holds the rules a compiler cannot: licence lines, who may call malloc and pthreads, sizes of files, words that promise upkeep, and that
# what docs/design.md says of where things live is so.
cd "$(dirname "$0")/../.." || exit 1
status=0
fail() { echo "lint: $*"; status=1; }
sources() { git ls-files 'vm/*' 'bpf/*' 'tools/*' 'tests/*' 'bench/*' 'bpftrace/*' | grep -E '\.(c|h|inc|def|bt|erl|sh)$'; }
for f in $(sources); do
	[ -f "$f" ] || continue
	case $f in
	bpf/* | tests/probes/record.*) want="GPL-2.0-only OR BSD-2-Clause" ;;
	*) want="Apache-2.0" ;;
	esac
	head -2 "$f" | grep -q "SPDX-License-Identifier: $want" || fail "$f: no licence line ($want)"
	lines=$(wc -l <"$f")
	case $f in
	vm/exec/loop.c | vm/exec/*.inc | *.def | bpf/vmlinux.h | *.erl) ;;
	*.c) [ "$lines" -le 1200 ] || fail "$f: $lines lines; 1200 at most" ;;
	*.h) [ "$lines" -le 400 ] || fail "$f: $lines lines; 400 at most" ;;
	esac
done
grep -nE '\b(malloc|calloc|realloc|free)\(' vm -r --include='*.c' --include='*.h' --include='*.inc' |
	grep -vE '^vm/base/alloc\.|//|^\S+:\s*\*|/\*' && fail "only vm/base/alloc calls malloc"
grep -nE '\bpthread_' vm -r --include='*.c' --include='*.inc' | grep -vE '^vm/base/(lock|library_lock|library_key)\.c' && fail "only vm/base/lock, library_lock and library_key touch pthreads"
grep -niE 'keep (this )?in sync' -r vm bpf tools && fail "a fact written twice: make it a table"
while read -r class; do
	[ "$(grep -rlwE "(rw)?lock_init\(.*LOCK_$class" vm --include='*.c' | wc -l)" = 1 ] || fail "locks.def: $class is not the class of the locks of one file"
done < <(sed -nE 's/^LOCK\((\w+),.*/\1/p' vm/base/locks.def)
list_places() { sed -n '/^## Where things live/,/^\*\*Arrows/{ s/^\([^ ]*[^ `]\)  .*/\1/p }' docs/design.md; }
while read -r place; do
	ls -d $(sed 's/<[a-z]*>/*/g' <<<"$place") >/dev/null 2>&1 || fail "docs/design.md: there is no $place"
done < <(list_places)
for room in $(git ls-files | sed -nE 's,^(vm/[^/]+|[^/]+)/.*,\1/,p' | sort -u); do
	[ "$room" = LICENSES/ ] || list_places | grep -q "^$room" || fail "docs/design.md does not say what $room is"
done
exit $status
