#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Part (b) of `make bench`: nanoseconds of the VM's processor time that an event costs more when somebody watches its note (part (h): by
# the page), medians of five rounds, all watchers side by side in each round. One scheduler, so that each message makes its receiver wait.
export ERLSNOOP_BUDGET=off # every event is to be told
set -u
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
ROUNDS=${ROUNDS:-5}
RING=${RING:-200000}
SPAWN=${SPAWN:-20000}
[ "$(id -u)" = 0 ] || { echo "bench: part (b) needs root"; exit 0; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
erlc -o "$dir" bench/events.erl || exit 1

# run KIND N WATCHER...: the VM's nanoseconds per message or process while the watcher ({} stands for its pid) looks on; "lost" when the
# watcher did not tell all of it.
run() {
	local kind=$1 n=$2 go=$dir/go vm w; shift 2
	rm -f "$go"
	"$BUILD/erlvm" -quick +S 1 -pa "$dir" -s events start "$kind" "$n" "$go" >"$dir/out" 2>&1 & vm=$!
	if [ $# -gt 0 ]; then
		sleep 0.3 # until it is erlvm that runs with this pid
		"${@//\{\}/$vm}" >"$dir/watch" 2>&1 & w=$!
		sleep 2.5
	fi
	touch "$go"
	wait $vm
	[ $# -gt 0 ] && { kill -INT $w 2>/dev/null; wait $w 2>/dev/null; }
	if [ $# -gt 0 ] && grep -qi lost "$dir/watch"; then
		echo lost
	else
		awk -v k="$kind" '$1 == k { print $2 }' "$dir/out"
	fi
}
# "-" where one run is not whole: its figure would be too good.
median() { sort -n | awk '$1 !~ /^[0-9]+$/ { bad = 1 } { v[NR] = $1 } END { print NR && !bad ? v[int((NR + 1) / 2)] : "-" }'; }

send='usdt:*:erlang:message__send { } usdt:*:erlang:process__scheduled { } usdt:*:erlang:process__unscheduled { }'
birth='usdt:*:erlang:process__spawn { } usdt:*:erlang:process__exit { }'
for _ in $(seq "$ROUNDS"); do
	run ring "$RING" >>"$dir/ring.plain"
	run ring "$RING" bpftrace -p {} -e "$send" >>"$dir/ring.empty"
	run ring "$RING" "$BUILD/erlsnoop" msglat --source notes -p {} >>"$dir/ring.erlsnoop"
	run ring "$RING" bpftrace -p {} bpftrace/msg-sched.bt >>"$dir/ring.bpftrace"
	run spawn "$SPAWN" >>"$dir/spawn.plain"
	run spawn "$SPAWN" bpftrace -p {} -e "$birth" >>"$dir/spawn.empty"
	run spawn "$SPAWN" "$BUILD/erlsnoop" spawns --source notes -p {} >>"$dir/spawn.erlsnoop"
	run spawn "$SPAWN" bpftrace -p {} bpftrace/spawn-exit-counts.bt >>"$dir/spawn.bpftrace"
	for k in ring spawn; do
		n=$([ $k = ring ] && echo "$RING" || echo "$SPAWN")
		erl +S 1 -noshell -pa "$dir" -s events traced $k "$n" >>"$dir/$k.erl"
	done
done

report() {
	local kind=$1 plain watched=$2 question=$3
	plain=$(median <"$dir/$kind.plain")
	echo
	echo "$question: unwatched $plain ns each; more when watched by"
	for w in empty erlsnoop bpftrace; do
		awk -v p="$plain" -v v="$(median <"$dir/$kind.$w")" -v b="$(median <"$dir/$kind.bpftrace")" -v w="$w" -v c="$watched" '
			BEGIN { sub(/^erlsnoop$/, c, w); sub(/^empty$/, "an empty BPF program", w); sub(/^bpftrace$/, "the bpftrace script", w)
			if (v == "-") printf "  %-28s lost events\n", w
			else if (b == "-") printf "  %-28s %8d ns\n", w, v - p
			else printf "  %-28s %8d ns   %.2f of the bpftrace script\n", w, v - p, (b > p) ? (v - p) / (b - p) : 0 }'
	done
	plain=$(awk '{ print $2 }' "$dir/$kind.erl" | median)
	printf '  %-28s %8d ns   (unwatched there: %d ns each)\n' "erlang:trace/3 on stock erl" \
		"$(awk '{ print $3 - $2 }' "$dir/$kind.erl" | median)" "$plain"
}
report ring "erlsnoop msglat by notes" "A message round a ring (sent, receiver scheduled, unscheduled)"
report spawn "erlsnoop spawns by notes" "A process (born, died)"

# All of MANY messages, told exactly, or what is missing.
MANY=${MANY:-1000000}
echo
ns=$(run ring "$MANY" "$BUILD/erlsnoop" msglat --json --source notes -p {})
told=$(grep -o '"messages":[0-9]*' "$dir/watch" | cut -d: -f2)
lost=$(grep -c '"type":"lost"' "$dir/watch")
echo "$MANY messages round a ring, and 100 that end it: erlsnoop msglat by notes told ${told:-none}, $lost kinds of loss, $ns ns a message"
[ "${told:-0}" = $((MANY + 100)) ] && [ "$lost" = 0 ] && echo "  exact" || echo "  NOT EXACT"
