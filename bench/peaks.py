#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Part (l) of `make bench`: what stays resident ten seconds after a peak of memory, erlvm beside the stock erl, each
peak in a VM of its own (bench/peaks.erl). Medians of BENCH_RUNS; the last line names the row with the worst ratio.
BENCH_SET has the peaks to make."""
import os, socket, statistics, subprocess, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
VMS = {"erlvm": os.path.join(BUILD, "erlvm"), "erl": "erl"}
RUNS = int(os.environ.get("BENCH_RUNS", "1"))
LIMIT_S = 120  # for one peak
PEAKS = {"nothing": "no peak", "processes": "200,000 processes", "rounds": "14 rounds of them",
         "monitored": "3 rounds, monitored", "linked": "a chain of 200,000 links", "messages": "400,000 messages queued",
         "drained": "as many at one, received", "heaps": "200 heaps of 1.6 MB", "large_heaps": "8 heaps of 48 MB",
         "one_term": "a term of 240 MB", "dictionaries": "100 process dictionaries",
         "binaries": "2,000 binaries of 100 kB", "small_binaries": "1,000,000 binaries of 200 B",
         "timers": "500,000 timers", "ets": "a table of 1,000,000 rows", "ets_rows": "its rows, one by one",
         "ports": "200 port programs", "sockets": "400 connections", "peer": "fragments of a node that has gone",
         "peers_messages": "20 messages of a node, 4 MB each"}


class Epmd:
    """One of our own, for those that talk to a node."""

    def __enter__(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen(["epmd", "-port", str(self.port), "-address", "127.0.0.1"],
                                        stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def start(vm, beams, epmd, peak):
    return subprocess.Popen([VMS[vm], "+P", "1000000", "-start_epmd", "false", "-epmd_port", str(epmd.port), "-noshell",
                             "-pa", beams, "-run", "peaks", "main", peak, "-s", "erlang", "halt"],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def figures(process):
    """[resident at the peak, afterwards, memory(total) before, afterwards] in MB; None when it failed."""
    try:
        out = process.communicate(timeout=LIMIT_S)[0].split()
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None
    return [int(x) for x in out] if process.returncode == 0 and len(out) == 4 else None


def measure(peak, beams, epmd):
    """{vm: figures}, the medians. Both make it at once: nothing here is timed."""
    runs = {vm: [] for vm in VMS}
    for _ in range(RUNS):
        for vm, process in [(vm, start(vm, beams, epmd, peak)) for vm in VMS]:
            runs[vm].append(figures(process))
    return {vm: None if None in all else [statistics.median(c) for c in zip(*all)] for vm, all in runs.items()}


def show(text, of):
    """Prints a row, returns its ratio. 0: a side failed."""
    if None in of.values():
        print(f"    {text:36}" + " ".join("  failed" if of[vm] is None else "      ok" for vm in VMS))
        return 0
    (peak, after, before, total), (_, erl_after, erl_before, erl_total) = of["erlvm"], of["erl"]
    print(f"    {text:34}{peak:6.0f}{after:6.0f}{erl_after:6.0f}{after / erl_after:6.2f}"
          f"{total - before:+9.0f}{erl_total - erl_before:+9.0f}", flush=True)
    return after / erl_after


def main():
    print(f"(l) resident ten seconds after a peak, MB: medians of {RUNS}; how much more memory(total) tells then")
    print(f"    {'':34}{'peak':>6}{'erlvm':>6}{'erl':>6}{'ratio':>6}{'total':>9}{'erl':>9}")
    worst = (0, "-")
    with tempfile.TemporaryDirectory() as beams, Epmd() as epmd:
        subprocess.run(["erlc", "-o", beams, os.path.join(HERE, "peaks.erl")], check=True)
        for peak in os.environ.get("BENCH_SET", " ".join(PEAKS)).split():
            worst = max(worst, (show(PEAKS[peak], measure(peak, beams, epmd)), PEAKS[peak]))
    print(f"    worst: {worst[0]:.2f}, {worst[1]}\n")


main()
