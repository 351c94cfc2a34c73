#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Kernels before 6.8 give a BPF program and all that it calls, one under the other, 512 bytes of stack, each function's
# rounded up to 32, and eight functions. Works on what clang makes of each object: text of assembly. MOST=1 tells the deepest
# way of each program. Functions that bpf_loop calls are left out: kernels that have it count them themselves.
set -o pipefail
cd "$(dirname "$0")/../.." || exit 1
: "${BPF_CC:?the lint is run by make lint}"
for source in bpf/*.bpf.c; do
	echo "object $source"
	$BPF_CC -S -o - "$source" || exit 1
done | awk -v most="${MOST:-0}" '
	function deeper(bytes) { if (bytes > frame[name]) frame[name] = bytes }
	# What is called in another object of those that are linked into one.
	function defined(f) { return f in functions || !(bare(f) in everywhere) ? f : everywhere[bare(f)] }
	# What f needs with all below it; sets below[f], the function called that needs most, and depth[f].
	function need(f,    n, i, callees, sum, callee) {
		f = defined(f)
		if (f in needs)
			return needs[f]
		n = split(calls[f], callees, " ")
		depth[f] = 1
		for (i = 1; i <= n; i++) {
			callee = defined(callees[i])
			if (need(callee) > sum) {
				sum = needs[callee]
				below[f] = callee
			}
			if (depth[callee] >= depth[f])
				depth[f] = depth[callee] + 1
		}
		return needs[f] = int((frame[f] + (frame[f] == 0) + 31) / 32) * 32 + sum
	}
	function bare(f) { return substr(f, index(f, ":") + 1) }
	function way(f) { return bare(f) " " frame[f] + 0 (f in below ? " > " way(below[f]) : "") }
	$1 == "object" { object = $2; next }
	/^[a-z_0-9]+:/ { name = $1; sub(/:.*/, "", name); name = object ":" name; split("", copies); next }
	$1 == ".section" { program = $2 ~ /^"?(uprobe|perf_event)/; next }
	$1 == ".text" { program = 0; next }
	$1 == ".type" && $2 ~ /@function/ { sub(/,.*/, "", $2); functions[object ":" $2] = program; everywhere[$2] = object ":" $2; next }
	match($0, /\(r10 - [0-9]+\)/) { deeper(substr($0, RSTART + 7, RLENGTH - 8) + 0) }
	$2 == "=" && $3 == "r10" { copies[$1] = 1; next }
	$2 == "+=" && ($1 in copies) && $3 < 0 { deeper(-$3) }
	$2 == "=" || $2 == "+=" { delete copies[$1] }
	$1 == "call" && $2 ~ /^[a-z_]/ { calls[name] = calls[name] " " object ":" $2 }
	END {
		for (f in functions) {
			if (!functions[f])
				continue
			n++
			if (most)
				print need(f), f, way(f)
			if (need(f) > 512 || depth[f] > 8) {
				print "lint: " f " needs " needs[f] " bytes of stack in " depth[f] " functions: " way(f)
				status = 1
			}
		}
		if (n < 20) {
			print "lint: only " n + 0 " BPF programs were found"
			status = 1
		}
		exit status
	}'
