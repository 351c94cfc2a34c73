#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every native function on erlvm beside the stock erl (JIT): nanoseconds a call, small, typical and large arguments.
The two VMs run native_bench.erl in turn; of each row the least time of all runs counts, on both sides.
BENCH_SET: only rows whose names have this text in them; BENCH_RUNS: runs of each VM.
The whole table: build/bench/natives.txt."""
import glob, math, os, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
VMS = (os.path.join(BUILD, "erlvm"), "erl")
LIMIT = 1.5
# Below this a difference of two measured times says nothing: shorter times count as this.
LEAST_NS = 2.0


def run_driver(vm, beams, work, function, *arguments):
    command = [vm, "+S", "1", "-noinput", "-pa", beams, "-run", "native_bench", function, *map(str, arguments)]
    done = subprocess.run(command, cwd=work, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if done.returncode:
        sys.exit("natives.py: %s ended (%d): %s" % (vm, done.returncode, (done.stdout + done.stderr)[-2000:]))


def list_natives(beams, work):
    """Those of either VM; what each has of its own must be there on both."""
    natives = set()
    for vm in VMS:
        run_driver(vm, beams, work, "list", f"{work}/natives")
        natives.update(open(f"{work}/natives").read().splitlines())
    with open(f"{work}/natives", "w") as f:
        f.writelines(line + "\n" for line in sorted(natives))
    return sorted(natives)


def read_rows(path):
    """{row: (nanoseconds, arity, answer)}"""
    rows = (line.rstrip("\n").split("\t") for line in open(path, errors="replace"))
    return {row: (float(time), arity, answer) for time, arity, answer, row in rows}


def merge(best, rows):
    for row, measured in rows.items():
        best[row] = min(measured, best.get(row, measured))


def take_off_empty(best):
    """Leaves {row: (nanoseconds, answer)}: what the loop costs is taken off."""
    empty = {row.split("/")[1]: time for row, (time, _, _) in best.items() if row.startswith("empty/")}
    return {row: (max(time - empty[arity], LEAST_NS), answer) for row, (time, arity, answer) in best.items()
            if not row.startswith("empty/")}


def measure(beams, work, runs, text):
    """One {row: (nanoseconds, answer)} for each VM. Its files are new in every run."""
    best = ({}, {})
    for _ in range(runs):
        for i, vm in enumerate(VMS):
            with tempfile.TemporaryDirectory() as files:
                run_driver(vm, beams, files, "run", f"{files}/out", f"{work}/natives", 10, text)
                merge(best[i], read_rows(f"{files}/out"))
    return [take_off_empty(each) for each in best]


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


def main():
    runs, text = int(os.environ.get("BENCH_RUNS", "3")), os.environ.get("BENCH_SET", "")
    out = os.path.join(BUILD, "bench", "natives.txt")
    os.makedirs(os.path.dirname(out), exist_ok=True)
    print("(e) native functions: nanoseconds a call, the least of %d runs; rows over %.1f" % (runs, LIMIT))
    print("    %-58s %14s %14s %8s" % ("", "erlvm", "erl (JIT)", "ratio"), flush=True)
    with tempfile.TemporaryDirectory() as beams, tempfile.TemporaryDirectory() as work:
        sources = glob.glob(os.path.join(HERE, "native_*.erl")) + [os.path.join(HERE, "../tests/natives/native_spec.erl")]
        subprocess.run(["erlc", "+nowarn_deprecated_function", "-o", beams, *sources], check=True)
        natives = list_natives(beams, work)
        report(*measure(beams, work, runs, text), natives, out)
    print("    the whole table: %s" % os.path.relpath(out))


if __name__ == "__main__":
    main()
