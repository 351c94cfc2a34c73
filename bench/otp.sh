#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What erlvm carries against erl, side by side, medians of BENCH_RUNS: the start, idle processes, timers, a large term, deaths,
# functions that are not there.
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
runs=${BENCH_RUNS:-5}
dir=$BUILD/bench
mkdir -p "$dir"
[ "$dir/footing.beam" -nt bench/footing.erl ] || erlc -o "$dir" bench/footing.erl
export ERL_CRASH_DUMP_SECONDS=0

# Milliseconds from the command to the end.
measure_start() {
	local begin=$EPOCHREALTIME end
	"$1" -noshell -eval 'halt().' > /dev/null < /dev/null
	end=$EPOCHREALTIME
	echo $(((${end/./} - ${begin/./}) / 1000))
}

measure() {
	if [ "$2" = start ]; then
		measure_start "$1"
	else
		timeout 300 "$1" +P 1000000 -noshell -pa "$dir" -s footing "$2" -s erlang halt < /dev/null
	fi
}

median() {
	sort -n | awk '{ v[NR] = $1 } END { if (NR) print v[int((NR + 1) / 2)] }'
}

echo "(f) erlvm against erl: medians of $runs"
printf '    %-42s %10s %10s %8s\n' "" erlvm erl ratio
while IFS='|' read -r name what; do
	: > "$dir/ours" && : > "$dir/stock"
	for ((i = 0; i < runs; i++)); do
		measure "$BUILD/erlvm" "$name" >> "$dir/ours"
		measure erl "$name" >> "$dir/stock"
	done
	a=$(median < "$dir/ours") b=$(median < "$dir/stock")
	awk -v w="$what" -v a="$a" -v b="$b" 'BEGIN { printf "    %-42s %10s %10s %8s\n", w, a, b, (b > 0) ? sprintf("%.2f", a / b) : "-" }'
done << 'ROWS'
start|start to halt, ms
idle|an idle process, bytes (of 500,000)
timers|timers a second (of 300,000)
term|a term of 100 MB sent, collected twice, ms
downs|200,000 'DOWN's awaited in order, ms
undefined|undefined functions a second (of 2,000)
ROWS
echo
