#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Holds the include arrows of docs/design.md: each room may include only itself and the rooms listed for it.
cd "$(dirname "$0")/../.." || exit 1
declare -A vm_may=(
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
	[zstd]="nif proc data heap term base"
	[exec]="jit code proc data heap term base"
	[jit]="code proc data heap term base"
	[stencils]="jit exec code proc data heap term base"
	[dist]="io code proc data heap term base"
	[trace]="code ets io proc data heap term base"
	[dump]="code dist ets io proc data heap term base"
	[bif]="code ets io dist trace dump driver nif proc data heap term base"
)
declare -A tools_may=(
	[common]=""
	[event]="common"
	[target]="common"
	[otp]="target event common"
	[sink]="event common"
	[probe]="sink otp target event common"
	[view]="probe otp sink target event common"
	[recording]="view otp target sink event common"
	[profile]="common"
	[diagnose]="view probe sink otp target event common"
	[source]="view probe otp target event common"
	[session]="source recording view probe sink otp target event common"
	[serve]="session source view target event common"
	[cmd]="diagnose serve session source recording profile view probe sink otp target event common"
)
status=0
fail() { echo "lint: $*"; status=1; }
# Of the tree below $1, by the table $1_may. A file of another room is included by its room's name and its own.
hold() {
	local -n may=$1_may
	local f line inc room to
	for room in "$1"/*/; do
		room=$(basename "$room")
		[ -n "${may[$room]+known}" ] || [ "$1/$room" = tools/link ] || fail "$1/$room: no row in ${BASH_SOURCE[0]}"
	done
	while IFS=: read -r f line inc; do
		room=${f#"$1"/} inc=${inc#*\"}
		room=${room%%/*} inc=${inc%%\"*}
		case $inc in
		../../*) continue ;; # out of the tree: held below
		../*) fail "$f:$line: $inc is included by its room's name" && continue ;;
		*/*) to=${inc%%/*} ;;
		*) continue ;;
		esac
		[ "$to" = "$room" ] && continue
		case " ${may[$room]-} " in *" $to "*) ;; *) fail "$f:$line: $room may not include $inc" ;; esac
	done < <(grep -rnE '^\s*#\s*include\s+"' "$1"/*/ --include='*.[chid]*')
}
# The layers of vm/proc, from the top, as its README.md has them: a file each, `name layer`.
list_layers() {
	awk '/^\* / { layer++; sub(/^.*: /, "") } layer > 0 { for (i = 1; i <= NF; i++) print $i, layer }' vm/proc/README.md
}
hold_layers() {
	local -A layer=()
	local name number f line inc
	while read -r name number; do
		layer[$name]=$number
		ls vm/proc/"$name".[ch] >/dev/null 2>&1 || fail "vm/proc/README.md: there is no $name"
	done < <(list_layers)
	for f in vm/proc/*.[ch]; do
		name=${f##*/} name=${name%.*}
		[ -n "${layer[$name]-}" ] || fail "vm/proc/README.md does not say in which layer $name is"
	done
	while IFS=: read -r f line inc; do
		f=${f##*/} inc=${inc#*\"proc/} inc=${inc%%.*}
		[ "${layer[$inc]:-0}" -ge "${layer[${f%.*}]:-0}" ] || fail "vm/proc/$f:$line: proc/$inc.h is of a layer above"
	done < <(grep -nE '^\s*#\s*include\s+"proc/\w+\.h"' vm/proc/*.[ch])
}
hold vm
hold_layers
hold tools
grep -nE '#include "(\.\./)*(bpf|tools)/' -r vm && fail "vm may not include bpf or tools"
grep -nE '#include "(\.\./)*tools/' -r bpf && fail "bpf may not include tools"
grep -nE '#include "cmd_' tools/cmd/*.c && fail "a command may not include another"
grep -nE 'bpf/(libbpf|bpf)\.h|skel\.h' tools/sink/*.c && fail "a sink may not know libbpf"
exit $status
