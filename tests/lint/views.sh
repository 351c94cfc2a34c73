#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Holds bpf/views.def against what its rows name: probes and their arguments (vm/probes.def), the functions of stock emulators that stand for
# them (tools/target/providers.def, bpf/hook.bpf.h), handlers (bpf/view_<view>.h), the family that builds those, and what leads to a view.
cd "$(dirname "$0")/../.." || exit 1
status=0
fail() { echo "lint: $*"; status=1; }
rows() { sed -nE "s/^$1\(([^)]*)\).*/\1/p" "$2"; }
has() { grep -qE "$1" "${@:2}"; }
has_hook() { has "^ *(HOOK|CALLBACK)\($1," tools/target/providers.def && has "int (at|ret|out)_$1\(" bpf/hook*.bpf.h; }

while IFS=', ' read -r view probe source args; do
	row="bpf/views.def: ON($view, $probe)"
	has "^PROBE\($probe," vm/probes.def || fail "$row: probes.def has no such probe"
	for arg in $(tr -d '"' <<<"$args"); do
		has "^ARG\($probe, [0-9]+, $arg," vm/probes.def || fail "$row: the probe has no argument $arg"
	done
	case $source in
	NOTES|TRAPS) ;;
	ANY | HOOKS) has_hook "$probe" || fail "$row: $source, but no function stands for the probe in providers.def and hook*.bpf.h" ;;
	*) fail "$row: $source is no source" ;;
	esac
	has "view_${view}_on_$probe\(" "bpf/view_$view.h" || fail "$row: bpf/view_$view.h does not handle it"
done < <(rows ON bpf/views.def)

while IFS=', ' read -r view event; do
	has "^EVENT\($event\)" tools/target/providers.def || fail "bpf/views.def: NEEDS($view, $event): providers.def has no such event"
done < <(rows NEEDS bpf/views.def)

while IFS=', ' read -r view filter _; do
	has "VIEW_FILTER\($view, $filter\)" "bpf/view_$view.h" || fail "bpf/views.def: FILTER($view, $filter) filters nothing"
done < <(rows FILTER bpf/views.def)

while IFS=', ' read -r view family; do
	has '^#include "handlers\.h"' "bpf/$family.bpf.c" || [ "$family" = core ] || fail "bpf/$family.bpf.c does not build the view $view"
	has "^ON\($view," bpf/views.def || fail "bpf/views.def: $view is told of nothing"
done < <(sed -nE 's/^(VIEW|HELPER)\((\w+, \w+).*/\2/p' bpf/views.def)

# What leads to each view.
while read -r view; do
	has "^ADVICE\($view," bpf/views.def || fail "bpf/views.def: nothing leads to $view (ADVICE)"
done < <(sed -nE 's/^VIEW\((\w+),.*/\1/p' bpf/views.def)
exit $status
