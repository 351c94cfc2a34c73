#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Holds the include arrows of docs/design.md: each room may include only itself and the rooms listed for it.
cd "$(dirname "$0")/../.." || exit 1
declare -A may=(
	[base]=""
	[term]="base"
	[heap]="term base"
	[data]="heap term base"
	[proc]="data heap term base"
	[code]="proc data heap term base"
	[ets]="proc data heap term base"
	[io]="proc data heap term base"
	[driver]="io proc data heap term base"
	[nif]="code io proc data heap term base"
	[socket]="nif io proc data heap term base"
	[tty]="nif io proc data heap term base"
	[exec]="code proc data heap term base"
	[dist]="io code proc data heap term base"
	[trace]="code ets io proc data heap term base"
	[dump]="code dist ets io proc data heap term base"
	[bif]="code ets io dist trace dump driver nif proc data heap term base"
)
status=0
fail() { echo "lint: $*"; status=1; }
while IFS=: read -r f line inc; do
	room=${f#vm/} inc=${inc#*\"}
	room=${room%%/*} inc=${inc%%\"*}
	case $inc in */*) to=${inc%%/*} ;; *) continue ;; esac
	[ "$to" = "$room" ] && continue
	case " ${may[$room]-} " in *" $to "*) ;; *) fail "$f:$line: $room may not include $inc" ;; esac
done < <(grep -nE '^\s*#\s*include\s+"' vm/*/*)
grep -nE '#include "(\.\./)*(bpf|tools)/' -r vm && fail "vm may not include bpf or tools"
grep -nE '#include "(\.\./)*tools/' -r bpf 2>/dev/null && fail "bpf may not include tools"
grep -nE '#include "cmd_' tools/cmd_*.c 2>/dev/null && fail "a command may not include another"
grep -nE 'bpf/(libbpf|bpf)\.h|skel\.h' tools/sink_*.c 2>/dev/null && fail "a sink may not know libbpf"
exit $status
