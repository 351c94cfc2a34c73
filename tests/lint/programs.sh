#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every BPF program must look at which process runs it: kernels let others through their own filter. A function does
# when its body calls one that does; probe_tgid() of bpf/probe.bpf.h is the first. A program that does nothing needs
# none, nor does one that others go on to once they have looked (then_<probe>_<family>).
cd "$(dirname "$0")/../.." || exit 1
awk '
	{ sub(/[ \t]*\\$/, "") } # bodies in macros
	/SEC\("(uprobe|perf_event)"\)/ { program = 1; next }
	!open && /^[ \t]*[A-Za-z_][A-Za-z_0-9 ]*[ *]+[a-z_0-9#]+\([^;]*$/ {
		name = $0
		sub(/\(.*/, "", name)
		sub(/.*[ *]/, "", name)
		next
	}
	/^[ \t]*\{$/ && name != "" && !open {
		open = name
		match($0, /\{/)
		depth = RSTART
		if (program)
			programs[open] = FILENAME
		program = 0
		next
	}
	open && /^[ \t]*\}/ && match($0, /\}/) == depth { open = ""; name = ""; next }
	open { body[open] = body[open] "\n" $0 }
	END {
		looks["probe_tgid"] = 1
		do {
			found = 0
			for (f in body)
				for (l in looks)
					if (!(f in looks) && body[f] ~ "(^|[^a-z_0-9])" l "\\(") {
						looks[f] = 1
						found = 1
						break
					}
		} while (found)
		for (p in programs) {
			n++
			if (p !~ /^then_/ && !(p in looks) && body[p] !~ /^\n[ \t]*return 0;$/) {
				print "lint: " programs[p] ": program " p " does not look at which process runs it"
				status = 1
			}
		}
		if (n < 17) {
			print "lint: only " n + 0 " BPF programs were found"
			status = 1
		}
		exit status
	}' bpf/*.bpf.h bpf/*.bpf.c
