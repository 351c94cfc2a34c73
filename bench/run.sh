#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `make bench`: prints ratios, everything side by side in one run.
#   (a) erlvm with probes compiled in but off, against the same without probes: instructions (callgrind) and time
#   (b) what an enabled event costs: bench/events.sh
#   (c) workloads on erlvm, on the stock erl (JIT), and on an interpreter flavour of it where there is one
#   (d) what watching an unmodified erl costs, and how a flood of stacks ends: bench/stock.sh
#   (e) every native function on erlvm and on the stock erl (JIT): bench/natives.py
#   (f) what erlvm carries: the start, idle processes, timers, a large term, deaths, undefined functions: bench/otp.sh
#   (g) how long natives keep a scheduler from other processes, on erlvm and on erl: bench/natives.py
#   (h) events told by the page beside notes, LTTng and erlang:trace/3; the flight recorder; several views: bench/engine.py
#   (i) what concerns all of 100,000 processes, and how long the others stand still for it: bench/stops.erl
#   (j) the world around it: echo, messages between nodes, native functions, os:cmd, idle connections: bench/world.py
#   (k) tables and ports found by one process and by two at once: bench/tables.erl
#   (l) what stays resident ten seconds after a peak of memory, of every kind: bench/peaks.py
#   (m) reading 100,000 processes from outside, once, and names of some: bench/snapshot.c
#   (n) programs of the kinds that people publish as benchmarks, and of libraries' hot paths: bench/programs.erl
# BENCH_ONLY="a c"     parts to run          BENCH_RUNS=5    runs of each (medians are shown)
# BENCH_DIV=10         1/N of the work       BENCH_SET="fib ring"   workloads of (c); of (e) and (g) the rows with this text in their names; programs of (n)
# BENCH_FLAGS="+JIT off" flags of erlvm in (n)
# ERL_EMU=/path/to/erl an Erlang whose emulator is the interpreter flavour
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
parts=${BENCH_ONLY:-a b c d e f g h i j k l m n}
runs=${BENCH_RUNS:-5}
div=${BENCH_DIV:-10}
ours=$BUILD/erlvm
bare=${BENCH_BARE:-build/variant-noprobes/erlvm}
dir=$BUILD/bench
mkdir -p "$dir"
[ "$dir/vmbench.beam" -nt bench/vmbench.erl ] || erlc -o "$dir" bench/vmbench.erl
export VMBENCH_DIR=$dir

# run_once VM WORKLOAD DIV: microseconds (of the whole work), or nothing when it failed
run_once() {
	timeout 600 $1 -noshell -pa "$dir" -run vmbench main "$2" "div=$3" halt 2>/dev/null |
		awk -v w="$2" '$1 == w { print $2; exit }'
}

# medians FILE: lines "KEY VALUE" to "KEY MEDIAN"
medians() {
	sort -k1,1 -k2,2n "$1" | awk '
		$1 != key { if (n) print key, v[int((n + 1) / 2)]; key = $1; n = 0 }
		{ v[++n] = $2 }
		END { if (n) print key, v[int((n + 1) / 2)] }'
}

# instructions VM WORKLOAD DIV: executed, the start of the VM taken off
instructions() {
	local total idle
	total=$(count_refs "$1" "$2" "$3") idle=$(count_refs "$1" noop 1)
	echo $((total - idle))
}
# Of the loop alone: which modules get machine code goes by time.
count_refs() {
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" +S 1 +JIT off -noshell -pa "$dir" \
		-run vmbench main "$2" "div=$3" halt 2>&1 >/dev/null | awk '/Collected/ { print $4 }'
}

bench_probes() {
	echo "(a) probes compiled in but off, against PROBES=0"
	if [ ! -x "$bare" ]; then
		echo "    $bare is missing: make PROBES=0 $bare"
		return
	fi
	local results=$dir/probes.txt w d
	: > "$results"
	for ((i = 0; i < runs; i++)); do
		for w in fib ring; do
			[ $w = fib ] && d=11 || d=10
			echo "$w.on $(run_once "$ours" $w $d)" >> "$results"
			echo "$w.off $(run_once "$bare" $w $d)" >> "$results"
		done
	done
	printf '    %-6s %16s %16s %8s %8s\n' work instructions without ratio time
	for w in fib ring; do
		local on=0 off=0
		if [ "$(grep -c "^$w.o[nf]* [0-9]" "$results")" != $((2 * runs)) ]; then
			echo "    $w fails on $ours or $bare"
			continue
		fi
		if command -v valgrind > /dev/null; then
			[ $w = fib ] && d=121 || d=30
			on=$(instructions "$ours" $w $d) off=$(instructions "$bare" $w $d)
		fi
		medians "$results" | awk -v w=$w -v on="$on" -v off="$off" '
			$1 == w ".on" { a = $2 } $1 == w ".off" { b = $2 }
			END { printf "    %-6s %16s %16s %8s %8s\n", w, on ? on : "no valgrind", off ? off : "-",
			      off ? sprintf("%.4f", on / off) : "-", b ? sprintf("%.3f", a / b) : "-" }'
	done
	echo
}

# The workloads of vmbench's names/0, less the one that measures memory.
workloads="fib tak loop nrev sort msort hof gctree bin binparse utf8 bignum bignum256 nbody maps smallmap bigmap
trycatch dispatch t2b ring spawns pingpong pingpong2s bigmsg selrecv monref many_procs timers_cancel
timers_fire gencall ets ets_ordered ets_counter file scanparse"

print_ratios() {
	awk -v emu="$1" '
		{ split($1, k, "."); if (!(k[1] in seen)) { order[++n] = k[1]; seen[k[1]] = 1 } v[$1] = $2 }
		function ms(x) { return x == "" ? "-" : sprintf("%.1f", x / 1000) }
		function ratio(a, b) { return a == "" || b == "" ? "-" : sprintf("%.2f", a / b) }
		END {
			printf "    %-14s %11s %11s %11s %9s %9s\n", "work, ms", "erlvm", "erl (JIT)", "erl (emu)", "/JIT", "/emu"
			for (i = 1; i <= n; i++) {
				w = order[i]; a = v[w ".ours"]; j = v[w ".jit"]; e = v[w ".emu"]
				printf "    %-14s %11s %11s %11s %9s %9s\n", w, ms(a), ms(j), ms(e), ratio(a, j), ratio(a, e)
				if (a != "" && j != "") { lj += log(a / j); nj++ }
				if (a != "" && e != "") { le += log(a / e); ne++ }
			}
			printf "    %-14s %11s %11s %11s %9s %9s\n", "geometric mean", "", "", "",
			       nj ? sprintf("%.2f", exp(lj / nj)) : "-", ne ? sprintf("%.2f", exp(le / ne)) : "-"
		}'
}

# An Erlang of the interpreter flavour: ERL_EMU, or the installed one when it has that flavour too.
find_interpreter() {
	erl -emu_flavor emu -noshell -eval 'emu = erlang:system_info(emu_flavor), halt().' > /dev/null 2>&1 && echo "erl -emu_flavor emu"
	return 0
}

bench_workloads() {
	local emu=${ERL_EMU:-} results=$dir/workloads.txt i w value
	[ -n "$emu" ] || emu=$(find_interpreter)
	echo "(c) workloads: medians of $runs, 1/$div of the work${emu:+, interpreter: $emu}"
	: > "$results"
	for ((i = 0; i < runs; i++)); do
		for w in ${BENCH_SET:-$workloads}; do
			for vm in ours jit emu; do
				case $vm in
				ours) value=$(run_once "$ours +P 1000000" "$w" "$div") ;;
				jit) value=$(run_once "erl +P 1000000" "$w" "$div") ;;
				emu) value=${emu:+$(run_once "$emu +P 1000000" "$w" "$div")} ;;
				esac
				[ -z "$value" ] || echo "$w.$vm $value" >> "$results"
			done
		done
	done
	medians "$results" > "$dir/medians.txt"
	for w in ${BENCH_SET:-$workloads}; do
		grep "^$w\." "$dir/medians.txt" || echo "$w.none "
	done | print_ratios "$emu"
	echo
}

# The least of three runs: what else the machine does only adds to a gap.
bench_stops() {
	local i vm
	echo "(i) 100,000 processes wait, +S 2: one operation, and the longest stand-still of a 1 ms ticker, ms"
	[ "$dir/stops.beam" -nt bench/stops.erl ] || erlc -o "$dir" bench/stops.erl
	for ((i = 0; i < 3; i++)); do
		for vm in "$ours" erl; do
			timeout 300 $vm +S 2 -noshell -pa "$dir" -run stops main | sed "s/^/${vm##*/} /"
		done
	done | awk '
		{ at = $1 SUBSEP $2 }
		!($2 in seen) { seen[$2]; order[++n] = $2 }
		!(at in ms) || $3 < ms[at] { ms[at] = $3 }
		!(at in gap) || $4 < gap[at] { gap[at] = $4 }
		END {
			printf "    %-36s %9s %9s %9s %9s\n", "", "erlvm", "erl", "gap", "erl gap"
			for (i = 1; i <= n; i++) {
				o = "erlvm" SUBSEP order[i]; e = "erl" SUBSEP order[i]
				printf "    %-36s %9.3f %9.3f %9.1f %9.1f\n", order[i], ms[o], ms[e], gap[o], gap[e]
			}
		}'
	echo
}

# The least of three runs.
bench_tables() {
	local i vm
	echo "(k) what is found in tables of the VM by one process and by two at once, +S 2, ns a call"
	[ "$dir/tables.beam" -nt bench/tables.erl ] || erlc -o "$dir" bench/tables.erl
	for ((i = 0; i < 3; i++)); do
		for vm in "$ours" erl; do
			timeout 300 $vm +S 2 -noshell -pa "$dir" -run tables main | sed "s/^/${vm##*/} /"
		done
	done | awk '
		{ at = $1 SUBSEP $2 }
		!($2 in seen) { seen[$2]; order[++n] = $2 }
		!(at in ns) || $3 < ns[at] { ns[at] = $3 }
		END {
			printf "    %-36s %9s %9s\n", "", "erlvm", "erl"
			for (i = 1; i <= n; i++)
				printf "    %-36s %9.1f %9.1f\n", order[i], ns["erlvm" SUBSEP order[i]], ns["erl" SUBSEP order[i]]
		}'
	echo
}

# The VM waits in a shell of its own; it ends when its standard input does.
bench_snapshots() {
	local vm pid
	echo "(m) reading 100,000 processes of a VM from outside; names of one: who it is, where it stands"
	[ "$dir/snapshots.beam" -nt bench/snapshots.erl ] || erlc -o "$dir" bench/snapshots.erl
	printf "    %-6s %10s %10s %10s %12s\n" "" processes "CPU ms" ms "us a name"
	for vm in "$ours" erl; do
		coproc NODE { timeout 600 $vm +P 1048576 -noshell -pa "$dir" -run snapshots main 100000 2>/dev/null; }
		read -r pid <&"${NODE[0]}"
		"$dir/snapshot" "$pid" "$runs" | awk -v vm="${vm##*/}" '{ printf "    %-6s %10d %10.1f %10.1f %12.1f\n", vm, $1, $2, $3, $4 }'
		echo end >&"${NODE[1]}"
		wait "$NODE_PID" || true
	done
	echo
}

# The least of all runs: three in each start of a VM, and the starts take turns.
bench_programs() {
	local i vm
	echo "(n) programs: the least of $runs starts of three runs, ms"
	[ "$dir/programs.beam" -nt bench/programs.erl ] || erlc -o "$dir" bench/programs.erl
	for ((i = 0; i < runs; i++)); do
		for vm in "$ours${BENCH_FLAGS:+ $BENCH_FLAGS}" erl; do
			timeout 600 $vm -noshell -pa "$dir" -run programs main ${BENCH_SET:-} < /dev/null |
				sed "s/^/$([ "$vm" = erl ] && echo erl || echo erlvm) /"
		done
	done | awk '
		{ name = $2; us = $3; at = $1 SUBSEP name }
		!(name in seen) { seen[name]; order[++n] = name; hash[name] = $4 }
		$4 != hash[name] { differs[name] }
		!(at in least) || us < least[at] { least[at] = us }
		END {
			printf "    %-14s %11s %11s %9s\n", "program", "erlvm", "erl (JIT)", "/JIT"
			for (i = 1; i <= n; i++) {
				p = order[i]; a = least["erlvm" SUBSEP p]; b = least["erl" SUBSEP p]
				if (a == "" || b == "" || p in differs) {
					printf "    %-14s %11s %11s %9s\n", p, a == "" ? "-" : a / 1000, b == "" ? "-" : b / 1000,
					       p in differs ? "another result" : "failed"
					continue
				}
				printf "    %-14s %11.1f %11.1f %9.2f\n", p, a / 1000, b / 1000, a / b
				sum += log(a / b); count++
				if (a / b > worst) { worst = a / b; who = p }
			}
			if (count)
				printf "    %-14s %33.2f\n    %-14s %33.2f %s\n", "geometric mean", exp(sum / count), "worst", worst, who
		}'
	echo
}

for part in $parts; do
	case $part in
	a) bench_probes ;;
	b) if [ -f bench/events.sh ]; then BUILD=$BUILD bash bench/events.sh; fi ;;
	c) bench_workloads ;;
	d) BUILD=$BUILD bash bench/stock.sh ;;
	e) BUILD=$BUILD BENCH_RUNS=${BENCH_RUNS:-3} python3 bench/natives.py times ;;
	f) BUILD=$BUILD BENCH_RUNS=$runs bash bench/otp.sh ;;
	g) BUILD=$BUILD BENCH_RUNS=${BENCH_RUNS:-3} python3 bench/natives.py gaps ;;
	h) BUILD=$BUILD BENCH_RUNS=$runs python3 bench/engine.py ;;
	i) bench_stops ;;
	j) BUILD=$BUILD BENCH_RUNS=$runs python3 bench/world.py ;;
	k) bench_tables ;;
	l) BUILD=$BUILD BENCH_RUNS=${BENCH_RUNS:-1} python3 bench/peaks.py ;;
	m) bench_snapshots ;;
	n) bench_programs ;;
	*) echo "bench/run.sh: no part $part" >&2; exit 2 ;;
	esac
done
