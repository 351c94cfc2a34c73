#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Holds the rules a compiler cannot: licence lines, who may call malloc and pthreads, sizes and names of files, words that promise
# upkeep, and that what docs/design.md says of where things live is so.
cd "$(dirname "$0")/../.." || exit 1
status=0
fail() { echo "lint: $*"; status=1; }
# Not what git knows: of a tree from an archive, and of somebody else's, it knows nothing.
sources() { find vm bpf tools tests bench bpftrace -type f -regextype egrep -regex '.*\.(c|h|inc|def|bt|bt\.in|erl|sh)' | sort; }
[ "$(sources | wc -l)" -ge 500 ] || fail "only $(sources | wc -l) sources were found"
# One process for all files: the licence line of each, its size, and the width of its lines. It counts bytes (LC_ALL=C), without those
# that continue a UTF-8 character.
while read -r f; do
	[ -f "$f" ] && printf '%s\0' "$f"
done < <(sources) | LC_ALL=C xargs -0 awk '
	FNR == 1 { is_narrow = FILENAME ~ /^(vm|tools|bpf)\/.*\.(c|h|inc|def)$/ && FILENAME != "bpf/vmlinux.h" }
	FNR <= 2 && /SPDX-License-Identifier: / { licence[FILENAME] = $0 }
	{ lines[FILENAME] = FNR }
	is_narrow && length($0) + 7 * gsub(/\t/, "\t") > 120 && width($0) > 120 {
		fail(FILENAME ":" FNR ": " width($0) " columns; 120 at most")
	}
	function fail(text) { print "lint: " text; status = 1 }
	# A tab goes on to a multiple of 8.
	function width(line,    parts, n, i, at) {
		gsub(/[\200-\277]/, "", line)
		n = split(line, parts, "\t")
		for (i = 1; i < n; i++)
			at = int((at + length(parts[i])) / 8 + 1) * 8
		return at + length(parts[n])
	}
	function hold(f,    want, most) {
		want = f ~ /^bpf\/|^tests\/probes\/record\./ ? "GPL-2.0-only OR BSD-2-Clause" : "Apache-2.0"
		if (!index(licence[f], "SPDX-License-Identifier: " want))
			fail(f ": no licence line (" want ")")
		if (f ~ /^vm\/exec\/(loop\.c|.*\.inc)$|\.(def|erl)$|^bpf\/vmlinux\.h$/)
			return
		most = f ~ /^(vm|tools|bpf)\// ? 800 : 1200
		if (f ~ /\.c$/ && lines[f] > most)
			fail(f ": " lines[f] " lines; " most " at most")
		if (f ~ /\.h$/ && lines[f] > 400)
			fail(f ": " lines[f] " lines; 400 at most")
	}
	END {
		for (i = 1; i < ARGC; i++)
			hold(ARGV[i])
		exit status
	}' || status=1
grep -nE '\b(malloc|calloc|realloc|free)\(' vm -r --include='*.c' --include='*.h' --include='*.inc' |
	grep -vE '^vm/base/(alloc|arena)\.|//|^\S+:\s*\*|/\*' && fail "only vm/base/alloc and arena call malloc"
grep -nE '\bpthread_' vm -r --include='*.c' --include='*.inc' | grep -vE '^vm/base/(lock|library_lock|library_key)\.c' && fail "only vm/base/lock, library_lock and library_key touch pthreads"
grep -niE 'keep (this )?in sync' -r vm bpf tools && fail "a fact written twice: make it a table"
while read -r class; do
	[ "$(grep -rlwE "(rw)?lock_init\(.*LOCK_$class|LOCK_(STATIC|ZEROED)\($class\)" vm --include='*.c' | wc -l)" = 1 ] || fail "locks.def: $class is not the class of the locks of one file"
done < <(sed -nE 's/^LOCK\((\w+),.*/\1/p' vm/base/locks.def)
for name in $(find vm -name '*.[ch]' -printf '%f\n' | sort | uniq -d); do
	fail "a name of two files:" $(find vm -name "$name")
done
# What the arguments of each file operation are is a row of probes.def; for readers, of docs/dtrace.md, too.
while read -r row; do
	grep -qFx "$row" docs/dtrace.md || fail "docs/dtrace.md: no line $row"
done < <(sed -nE 's/^EFILE_OP\(([0-9]+), (\w+), (.*)\)$/\1, \2, \3/p' vm/probes.def | awk -F', ' '{
	text = ""
	for (i = 3; i <= NF; i++)
		if ($i != "\"\"")
			text = text (text == "" ? "" : ", ") "arg" i + 1 " " $i
	gsub(/"/, "", text)
	print "| " $1 " | " $2 " | " (text == "" ? "-" : text) " |"
}')
list_places() { sed -n '/^## Where things live/,/^\*\*Arrows/{ s/^\([^ ]*[^ `]\)  .*/\1/p }' docs/design.md; }
while read -r place; do
	ls -d $(sed 's/<[a-z]*>/*/g' <<<"$place") >/dev/null 2>&1 || fail "docs/design.md: there is no $place"
done < <(list_places)
for room in $(find [!.]* -path build -prune -o -type f -print | sed -nE 's,^([^/]+)/.*,\1/,p' | sort -u); do
	[ "$room" = LICENSES/ ] || list_places | grep -q "^$room" || fail "docs/design.md does not say what $room is"
done
# Each room, and each file in one, says what it is.
awk -f docs/map.awk $(ls -d vm/*/*.* vm/*/*/* tools/*/* bpf/* | LC_ALL=C sort) >/dev/null || status=1
exit $status
