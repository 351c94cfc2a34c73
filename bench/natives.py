#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every native function on erlvm beside the stock erl (JIT). natives.py times: nanoseconds a call, for small, typical and
large arguments (native_bench.erl). natives.py gaps: the longest time in which no other process ran, in milliseconds, beside a
call with huge arguments and beside calls in a loop (native_gaps.erl). Rows that look bad are measured again. The two VMs run
in turn; of each row the least of all runs counts, on both sides.
BENCH_SET: only rows whose names have this text in them; BENCH_RUNS: runs of each VM.
The whole tables: build/bench/natives.txt, gaps.txt."""
import glob, math, os, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
VMS = (os.path.join(BUILD, "erlvm"), "erl")
LIMIT = 1.5
REPEATS = 4
# Below this a difference of two measured times says nothing: shorter times count as this.
LEAST_NS = 2.0
# No gap is to be longer than GAP_MS, nor than erl's by more than TICK_MS, which the ticker itself may be late.
GAP_MS, TICK_MS = 20, 1


def run_driver(vm, beams, work, module, function, *arguments):
    command = [vm, "+S", "1", "-noinput", "-pa", beams, "-run", module, function, *map(str, arguments)]
    done = subprocess.run(command, cwd=work, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if done.returncode:
        sys.exit("natives.py: %s ended (%d): %s" % (vm, done.returncode, (done.stdout + done.stderr)[-2000:]))


def list_natives(beams, work):
    """Those of either VM; what each has of its own must be there on both."""
    natives = set()
    for vm in VMS:
        run_driver(vm, beams, work, "native_bench", "list", f"{work}/natives")
        natives.update(open(f"{work}/natives").read().splitlines())
    with open(f"{work}/natives", "w") as f:
        f.writelines(line + "\n" for line in sorted(natives))
    return sorted(natives)


def read_rows(path):
    """{row: (nanoseconds, answer)}"""
    rows = (line.rstrip("\n").split("\t") for line in open(path, errors="replace"))
    return {row: (max(float(time), LEAST_NS), answer) for time, answer, row in rows}


def measure(beams, work, runs, text):
    """One {row: (nanoseconds, answer)} for each VM: all rows `runs` times, those over LIMIT up to REPEATS times as often.
    Where the loader put code and stack makes a nanosecond or two a call, for as long as a VM runs; on a shared machine
    whole runs are slower by half. Files are new in every run."""
    best, rows = ({}, {}), []
    for turn in range(REPEATS * runs):
        if turn >= runs:
            slow = [row for row in best[0].keys() & best[1].keys() if best[0][row][0] > LIMIT * best[1][row][0]]
            if not slow:
                break
            rows = [write_rows(work, slow)]
        for i, vm in enumerate(VMS):
            with tempfile.TemporaryDirectory() as files:
                run_driver(vm, beams, files, "native_bench", "run", f"{files}/out", f"{work}/natives", 10, text, *rows)
                for row, measured in read_rows(f"{files}/out").items():
                    best[i][row] = min(measured, best[i].get(row, measured))
    return best


def write_rows(work, rows):
    with open(f"{work}/rows", "w") as f:
        f.writelines(row + "\n" for row in rows)
    return f"{work}/rows"


def report(ours, stock, natives, out):
    raising = sorted(row for row in ours.keys() | stock.keys()
                     if any(side.get(row, (0, "raises: no row"))[1].startswith("raises") for side in (ours, stock)))
    rows = sorted(ours.keys() & stock.keys() - set(raising), key=lambda row: -ours[row][0] / stock[row][0])
    ratios = [ours[row][0] / stock[row][0] for row in rows]
    with open(out, "w") as table:
        for row, r in zip(rows, ratios):
            table.write(line(row, ours[row][0], stock[row][0], r))
    for row, r in zip(rows, ratios):
        if r > LIMIT:
            sys.stdout.write("    " + line(row, ours[row][0], stock[row][0], r))
    for row in raising:
        print("    raises: %s: %s | %s" % (row, ours.get(row, (0, "no row"))[1], stock.get(row, (0, "no row"))[1]))
    for row in rows:
        if ours[row][1] != stock[row][1]:
            print("    another answer: %s" % row)
    measured = {row.split(" ")[0] for row in rows if ":" in row.split(" ")[0]}
    names = {"%s:%s/%s" % tuple(native.split(" ")) for native in natives}
    print("    %d natives, %d measured in %d rows, %d not (native_args:left_out/1 says why, or BENCH_SET names others)" % (
        len(names), len(measured & names), len(rows), len(names - measured)))
    if rows:
        print("    over %.1f: %d rows; geometric mean %.2f; worst %.2f (%s)" % (
            LIMIT, sum(r > LIMIT for r in ratios), math.exp(sum(map(math.log, ratios)) / len(rows)), ratios[0], rows[0]))


def line(row, ours, stock, r):
    return "%-58s %14.1f %14.1f %8.2f\n" % (row, ours, stock, r)


def measure_gaps(beams, work, runs, text):
    """One {(called, row): milliseconds} for each VM, the least of all runs: one of everything, then of what is_bad still."""
    best, rows = ({}, {}), []
    for _ in range(runs):
        for i, vm in enumerate(VMS):
            with tempfile.TemporaryDirectory() as files:
                run_driver(vm, beams, files, "native_gaps", "run", f"{files}/out", f"{work}/natives", 20, text, *rows)
                for line in open(f"{files}/out", errors="replace"):
                    gap, called, row = line.rstrip("\n").split("\t")
                    best[i][called, row] = min(float(gap), best[i].get((called, row), math.inf))
        bad = [key for key in best[0] if is_bad(key, *best)]
        if not bad:
            break
        rows = [write_rows(work, ("%s\t%s" % key for key in bad))]
    return best


def is_bad(key, ours, stock):
    return ours.get(key, math.inf) > min(stock.get(key, 0) + TICK_MS, GAP_MS)


def report_gaps(ours, stock, out):
    rows = sorted(ours.keys() | stock.keys(), key=lambda key: -ours.get(key, math.inf))
    lines = {key: "%-66s %11.1f %11.1f\n" % (" ".join(key), ours.get(key, math.nan), stock.get(key, math.nan)) for key in rows}
    worse = [key for key in rows if is_bad(key, ours, stock)]
    with open(out, "w") as table:
        table.writelines(lines[key] for key in rows)
    sys.stdout.writelines("    " + lines[key] for key in worse)
    print("    %d rows; over erl's by more than %d ms, or over %d ms: %d" % (len(rows), TICK_MS, GAP_MS, len(worse)))


def main():
    part, runs, text = sys.argv[1], int(os.environ.get("BENCH_RUNS", "3")), os.environ.get("BENCH_SET", "")
    out = os.path.join(BUILD, "bench", {"times": "natives.txt", "gaps": "gaps.txt"}[part])
    os.makedirs(os.path.dirname(out), exist_ok=True)
    if part == "times":
        print("(e) native functions: nanoseconds a call, the least of %d runs, of bad rows of up to %d; rows over %.1f" % (
            runs, REPEATS * runs, LIMIT))
        print("    %-58s %14s %14s %8s" % ("", "erlvm", "erl (JIT)", "ratio"), flush=True)
    else:
        print("(g) the longest time in which nobody else ran beside a native, +S 1: milliseconds, the least of up to %d runs; bad rows" % runs)
        print("    %-66s %11s %11s" % ("", "erlvm", "erl (JIT)"), flush=True)
    with tempfile.TemporaryDirectory() as beams, tempfile.TemporaryDirectory() as work:
        sources = [*glob.glob(os.path.join(HERE, "native_*.erl")), os.path.join(HERE, "../tests/natives/native_spec.erl")]
        subprocess.run(["erlc", "+nowarn_deprecated_function", "-o", beams, *sources], check=True)
        natives = list_natives(beams, work)
        if part == "times":
            report(*measure(beams, work, runs, text), natives, out)
        else:
            report_gaps(*measure_gaps(beams, work, runs, text), out)
    print("    the whole table: %s" % os.path.relpath(out))


if __name__ == "__main__":
    main()
