#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each command of erlsnoop on an erl and on an erlvm that run: a line each, "command NAME: works" or why not.
# commands.sh BUILD BEAMS [ERLSNOOP], in an empty folder. Where erlvm does not run the library, its half is a line that
# says so.
BUILD=$1 BEAMS=$2
snoop=${3:-$BUILD/erlsnoop}
export ERLSNOOP_BUDGET=off # a trap that qemu interprets is dear
# Views that some event of an erl, by hooks, or of an erlvm is for: those of processes and files, and the others.
def=$(dirname "$0")/../../bpf/views.def
rows() { sed -nE "s/^VIEW\((\w+), ($1),.*/\1/p" "$def"; }
hooked() { for view; do grep -qE "^ON\($view, \w+, (ANY|HOOKS)," "$def" && echo "$view"; done | xargs; }
most="msg_sched|requests|efile_latency"
views=$(rows "$most" | xargs) more=$(rows '\w+' | grep -vwE "$(rows "$most" | xargs | tr ' ' '|')" | xargs)

# say NAME STATUS PATTERN: whether `out` has what the command should tell.
say() {
	if [ "$2" = 0 ] && grep -qE "$3" out; then
		echo "command $1: works"
	else
		echo "command $1: no: status $2, $(grep -v '^$' err out | tail -1 | cut -c1-200)"
	fi
}

# run NAME PATTERN ARG...
run() {
	local name=$1 pattern=$2
	shift 2
	timeout 150 "$snoop" "$@" > out 2> err
	say "$name" $? "$pattern"
}

# run_views NAME VIEWS ARG...: at once, so that programs are loaded once; the first counter of each is not zero.
run_views() {
	local vm=$1 views=$2 view counted
	shift 2
	timeout 240 "$snoop" watch "${views// /,}" "$@" --json 3 1 > out 2> err
	local status=$?
	if [ $status != 0 ] && [ "$views" != "${views% *}" ]; then # one that is refused does not hide the others
		for view in $views; do run_views "$vm" "$view" "$@"; done
		return
	fi
	for view in $views; do
		counted="\"type\":\"$view\",(\"[a-z_]*\":)?[^,]*[1-9]"
		[ "$view" = efile ] && counted='"type":"efile","op":"[A-Z_]*","count":[1-9]'
		say "$view $vm" $status "$counted"
	done
	grep '"type":"lost"' out | sed 's/.*"count":\([0-9]*\),"why":"\(.*\)".*/lost in '"$vm"': \1 \2/'
}

# run_known VIEWS: of an erl. Skipped is only what needs functions that its release hides, by doctor's own words: whatever
# else a kernel or compiler keeps from working stays a failure.
run_known() {
	local view known=
	"$snoop" doctor -p $vm --json > told_by_doctor 2>&1
	for view in $1; do
		if grep "\"command\":\"$view\",\"works\":\"no\"" told_by_doctor | grep -q 'are hidden in it'; then
			echo "skipped $view erl: its release does not tell it"
		else
			known+=" $view"
		fi
	done
	run_views erl "${known# }" -p $vm
}

node="-start_epmd false -erl_epmd_port 4370 -setcookie kernels"
# The VM that is watched, connected to an erl that stays. Two VMs run, so each command names one.
start() {
	rm -f up
	"$@" $node -sname target@localhost -dist_listen false -s kernel_target main > vm.log 2>&1 &
	vm=$!
	for _ in $(seq 600); do [ -e up ] && return; sleep .2; done
	echo "command start: no: $*: $(tail -1 vm.log)"
}

erl -noinput +S 1 $node -sname peer@localhost -eval 'file:write_file("peer_up", "1")' > peer.log 2>&1 &
peer=$!
for _ in $(seq 600); do [ -e peer_up ] && break; sleep .2; done
start erl -noinput +S 1 -pa "$BEAMS"
run_known "$(hooked $views)"
run_known "$(hooked $more)"
run "stacks erl" kernel_target:spin/1 stacks -p $vm 4 1
run "stacks --event send erl" kernel_target:loop/3 stacks --event send -p $vm 4 1
run "stacks --off-cpu erl" kernel_target:loop/3 stacks --off-cpu --json -p $vm 4 1
kill $vm
if ! "$BUILD/erlvm" -quick -s erlang halt > out 2>&1 && grep -q "^erlvm: the library in " out; then
	echo "skipped $(cut -d: -f1-2 out)"
	kill $peer
	exit
fi
start "$BUILD/erlvm" -noinput +S 1 -pa "$BEAMS"
run_views "erlvm by pages" "$views $more" -p $vm
run_views "erlvm by notes" "$views" -p $vm --source notes
run_views "erlvm by notes" "$more" -p $vm --source notes
run "stacks erlvm" kernel_target:spin/1 stacks -p $vm 4 1
run "stacks --event send erlvm" kernel_target:loop/3 stacks --event send -p $vm 4 1
run "stacks --off-cpu erlvm" kernel_target:loop/3 stacks --off-cpu --json -p $vm 4 1
timeout 150 "$snoop" trace -o rec -p $vm --max-time 2s --files 1 > out 2> err
status=$?
"$snoop" report rec spawns,msglat > out 2>> err
say "trace and report" $status kernel_target:child/1
"$snoop" serve -p $vm --listen 127.0.0.1:9464 > out 2> err &
serve=$!
for _ in $(seq 300); do
	curl -s http://127.0.0.1:9464/metrics > out
	grep -q 'spawns_births_total{.*[1-9]' out && break
	sleep .5
done
kill $serve
wait $serve
say serve $? 'spawns_births_total\{.*[1-9]'
run list target@localhost list
kill $vm $peer
