#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Part (d) of `make bench`: what watching an unmodified erl costs, medians of ROUNDS rounds, all watchers side by side in each.
# ERL=/path/to/erl         the erl that is watched
# NOTES_ERL=/path/to/erl   one built --with-dynamic-trace=systemtap, whose message-send note bpftrace reads
# Beside wall clock it tells processor time of the VM, which other work on the machine does not change.
set -u
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
ROUNDS=${ROUNDS:-5}
N=${N:-1000000}
ERL=${ERL:-erl}
NOTES_ERL=${NOTES_ERL:-}
export ERLSNOOP_BUDGET=off # what an event costs is asked, but where a row says otherwise
echo "(d) an unmodified erl, watched: medians of $ROUNDS rounds"
[ "$(id -u)" = 0 ] || { echo "    SKIP: needs root"; exit 0; }
command -v "$ERL" > /dev/null || { echo "    SKIP: no erl"; exit 0; }
dir=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null; rm -rf "$dir"' EXIT
erlc -o "$dir" bench/stock.erl || exit 1

# start_vm NAME ERL FLAG...: a VM that works on demand; its process id is in ${pid[NAME]}.
declare -A pid to from
start_vm() {
	local name=$1 in out; shift
	mkfifo "$dir/$name.in" "$dir/$name.out"
	"$@" -noshell -pa "$dir" -s stock serve < "$dir/$name.in" > "$dir/$name.out" 2> /dev/null & started+=($!)
	exec {in}> "$dir/$name.in" {out}< "$dir/$name.out"
	to[$name]=$in from[$name]=$out
	read -r -t 30 -u "$out" "pid[$name]" || { echo "    SKIP: $1 does not start"; exit 1; }
	started+=("${pid[$name]}")
}
work() { # VM KIND: "WALL CPU"
	echo "$2 $N" >&"${to[$1]}"
	read -r -t 300 -u "${from[$1]}" spent && echo "$spent"
}

# watched ROW VM KIND READY WATCHER...: a line of ROW's results, while the watcher ({}: the VM's process id), of which READY is a line, looks on.
watched() {
	local row=$1 vm=$2 kind=$3 ready=$4 w; shift 4
	: > "$dir/watch" # what the last one said
	"${@//\{\}/${pid[$vm]}}" > "$dir/watch" 2> "$dir/error" & w=$!
	for ((i = 0; i < 400; i++)); do grep -q "$ready" "$dir/watch" && break; sleep 0.05; done
	if [ $i = 400 ]; then
		kill -KILL $w 2> /dev/null
		echo "    $1 does not watch: $(tail -1 "$dir/error")"
		exit 1
	fi
	work "$vm" "$kind" > "$dir/spent"
	kill -INT $w 2> /dev/null
	for ((i = 0; i < 100; i++)); do kill -0 $w 2> /dev/null || break; sleep 0.05; done
	kill -KILL $w 2> /dev/null
	wait $w 2> /dev/null
	# bpftrace that did not see all gives no result
	[ "${1##*/}" != bpftrace ] || [ "$(awk '$1 == "@n:" { print $2 }' "$dir/watch")" -ge "$N" ] 2> /dev/null || return 0
	cat "$dir/spent" >> "$dir/$row"
}
snoop() { watched "$1" "$2" "$3" '"type"' "$BUILD/erlsnoop" "$4" --json -p {} 0.25; }
governed() { watched "$1" "$2" "$3" '"type"' "$BUILD/erlsnoop" "$4" --budget 10% --json -p {} 0.25; }
note() { watched "$1" notes send up bpftrace -p {} -e "usdt:*:erlang:message__send { @n = count(); $2 } interval:ms:200 { printf(\"up\\n\"); } BEGIN { @runs[\"\"] = 1; @sent[\"\"] = 1; }"; }

median() { sort -n | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "-" }'; }
of() { cut -d' ' -f"$2" "$dir/$1" 2> /dev/null | median; } # ROW 1 (wall) or 2 (processor)

# What bpftrace/msg-sched.bt does at a send, which is what msglat does.
question='if (@runs[str(arg1)] == 0 && @sent[str(arg1)] == 0) { @sent[str(arg1)] = nsecs; }'

start_vm calls "$ERL"
start_vm ring "$ERL" +S 1 +sbwt none
tools="msglat spawns efile"
notes=
if [ -z "$NOTES_ERL" ]; then notes="SKIP: NOTES_ERL names no erl with notes"
elif ! command -v bpftrace > /dev/null; then notes="SKIP: no bpftrace"
else start_vm notes "$NOTES_ERL" +S 1 +sbwt none; fi
for vm in "${!pid[@]}"; do work "$vm" send > /dev/null; done
for ((round = 0; round < ROUNDS; round++)); do
	work calls call >> "$dir/calls"
	for tool in $tools; do snoop "calls.$tool" calls call "$tool"; done
	governed calls.budget calls call msglat
	for kind in send ring; do
		work ring $kind >> "$dir/$kind"
		snoop $kind.msglat ring $kind msglat
	done
	work ring traced_ring >> "$dir/ring.traced"
	[ -n "$notes" ] && continue
	work notes send >> "$dir/notes"
	note notes.counted ''
	note notes.asked "$question"
done

echo "    gen_server:call of a server that does nothing: $(of calls 1) ns each unwatched"
for tool in $tools; do
	awk -v t=$tool -v w="$(of calls 1)" -v c="$(of calls 2)" -v ww="$(of calls.$tool 1)" -v cw="$(of calls.$tool 2)" 'BEGIN {
		printf "      under %-8s throughput %5.1f %%, per processor second %5.1f %%, %d ns more each\n", t, 100 * w / ww, 100 * c / cw, cw - c }'
done
awk -v w="$(of calls 1)" -v c="$(of calls 2)" -v ww="$(of calls.budget 1)" -v cw="$(of calls.budget 2)" 'BEGIN {
	printf "      under msglat with its budget of 10 %%: throughput %5.1f %%, per processor second %5.1f %%\n", 100 * w / ww, 100 * c / cw }'

# cost ROW PLAIN: processor time that an event costs more.
cost() { echo $(($(of "$1" 2) - $(of "$2" 2))); }
against() { awk -v a="$1" -v b="$2" 'BEGIN { print (b > 0) ? sprintf("%.2f", a / b) : "-" }'; }
send=$(cost send.msglat send)
hop=$(cost ring.msglat ring) traced=$(cost ring.traced ring)
echo "    a send, processor time: $(of send 2) ns unwatched; more when watched by"
printf '      %-60s %6d ns\n' "erlsnoop msglat" "$send"
if [ -n "$notes" ]; then
	echo "      message-send note under bpftrace: $notes"
else
	for row in counted asked; do
		[ $row = counted ] && what="counted" || what="as msg-sched.bt asks"
		[ -s "$dir/notes.$row" ] || { echo "      message-send note under bpftrace, $what: did not see all"; continue; }
		note=$(cost notes.$row notes)
		printf '      %-60s %6d ns, msglat is %s of it\n' "message-send note under bpftrace, $what" "$note" "$(against "$send" "$note")"
	done
fi
echo "    a message round a ring (sent, receiver scheduled): $(of ring 2) ns unwatched; more when watched by"
printf '      %-60s %6d ns\n' "erlsnoop msglat" "$hop"
printf '      %-60s %6d ns, msglat is %s of it\n' "erlang:trace(all, true, [send, running])" "$traced" "$(against "$hop" "$traced")"

for ((round = 0; round < ROUNDS; round++)); do
	for tool in $tools; do
		begun=$(date +%s%N)
		"$BUILD/erlsnoop" $tool --json -p "${pid[calls]}" 0.01 1 | head -1 > "$dir/first"
		[ -s "$dir/first" ] && echo $((($(date +%s%N) - begun) / 1000000)) >> "$dir/first.$tool"
	done
done
for tool in $tools; do echo "    from start to first output, $tool: $(median < "$dir/first.$tool") ms"; done

# How a flood of stacks ends: samples a second that are kept and lost, and the time from SIGINT to the end.
flood() { # ROW PID OPTION...
	local row=$1 vm=$2 w begun; shift 2
	"$BUILD/erlsnoop" stacks "$@" --json -p "$vm" > "$dir/flood" 2> /dev/null & w=$!
	sleep 4
	begun=$(date +%s%N)
	kill -INT $w
	wait $w || return 0
	echo "$((($(date +%s%N) - begun) / 1000000)) $(awk -F'[:,]' '/"type":"stacks"/ { for (i = 1; i < NF; i++) if ($i == "\"samples\"") kept = $(i + 1) }
		/"type":"lost"/ { for (i = 1; i < NF; i++) if ($i == "\"count\"") lost += $(i + 1) } END { printf "%d %d", kept / 4, lost / 4 }' "$dir/flood")" >> "$dir/$row"
}
erlc -o "$dir" tests/tools/stacks_target.erl || exit 1
(cd "$dir" && exec "$ERL" -noshell -pa . -s stacks_target storm > /dev/null 2>&1) & storm=$! started+=($!)
for ((i = 0; i < 400; i++)); do [ -e "$dir/ready" ] && break; sleep 0.05; done
echo "ring 1000000000" >&"${to[ring]}"
for ((round = 0; round < ROUNDS; round++)); do
	flood flood.99 $storm --hz 99
	flood flood.4999 $storm --hz 4999
	flood flood.off "${pid[ring]}" --off-cpu
	flood flood.send "${pid[ring]}" --event send
done
echo "    stacks of a VM that is busy on every CPU: samples a second kept and lost, from SIGINT to the end"
for row in "99 storm, 99 a second of each CPU" "4999 storm, 4,999 a second of each CPU" "off ring, off the CPU" "send ring, at each send"; do
	printf '      %-60s %8s kept %8s lost %6s ms\n' "${row#* }" "$(of "flood.${row%% *}" 2)" "$(of "flood.${row%% *}" 3)" "$(of "flood.${row%% *}" 1)"
done
