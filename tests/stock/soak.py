#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attaches to an unmodified erl under load and detaches again, many times, some by a kill: the node answers right, does not grow, and has its own code back.

  BUILD          where erlsnoop is
  ERL            the erl (erl)
  SOAK_ROUNDS    how often (1000)
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from check_stock import DEADLINE, ERLSNOOP, HERE, Failure, Lines

ERL = os.environ.get("ERL", "erl")
ROUNDS = int(os.environ.get("SOAK_ROUNDS", "1000"))
COMMANDS = ("spawns", "msglat", "efile")
KILL_EVERY = 10  # rounds
SAMPLES = 40  # of the node's memory
GROWTH_KB = 4096  # what the last quarter of the samples may lie above the first


class Node:
    """An erl that works and checks its own answers. Use: with Node() as node."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="soak-")
        try:
            subprocess.run(["erlc", "-o", self.folder, os.path.join(HERE, "..", "..", "bench", "stock.erl")], check=True, timeout=DEADLINE)
            self.process = subprocess.Popen([ERL, "+S", "2", "-noinput", "-pa", self.folder, "-s", "stock", "load"], stdin=subprocess.DEVNULL,
                                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
                                            env=dict(os.environ, HOME="/tmp", ERL_CRASH_DUMP="/dev/null"))
        except BaseException:
            shutil.rmtree(self.folder)
            raise
        self.lines = Lines(self.process.stdout)
        self.pid = int(self.lines.next("erl"))
        self.answers = 0
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        shutil.rmtree(self.folder)

    def check_answers(self):
        """All that it said meanwhile, and one answer more."""
        before = self.answers
        while self.lines.queue.qsize() or self.answers == before:
            line = self.lines.next("erl")
            if not (line or "").isdigit():
                raise Failure("the node: " + str(line))
            self.answers = int(line)

    def rss_kb(self):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))

    def changed_code(self):
        """How many bytes of the executable's code in memory are not those of its file."""
        exe = os.readlink(f"/proc/{self.pid}/exe")
        changed = 0
        with open(f"/proc/{self.pid}/maps", encoding="utf-8") as maps, open(f"/proc/{self.pid}/mem", "rb") as memory, open(exe, "rb") as file:
            for line in maps:
                words = line.split(maxsplit=5)
                if "x" not in words[1] or words[-1].strip() != exe:
                    continue
                begin, end = (int(word, 16) for word in words[0].split("-"))
                memory.seek(begin)
                file.seek(int(words[2], 16))
                there = memory.read(end - begin)
                changed += sum(a != b for a, b in zip(there, file.read(end - begin)))
        return changed


def start_watch(node, command, *interval):
    return subprocess.Popen([ERLSNOOP, command, "--json", "-p", str(node.pid), *interval], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def check_sight(node):
    """That probes are seen in the code while a watch is on; else their absence says nothing."""
    watch = start_watch(node, "msglat", "0.1")
    watch.stdout.readline()
    seen = node.changed_code()
    watch.send_signal(signal.SIGINT)
    watch.communicate(timeout=DEADLINE)
    if not seen:
        raise Failure("no probe stands in the code while it is watched")
    return seen


def watch_once(node, command):
    done, err = start_watch(node, command, "0.01", "1").communicate(timeout=DEADLINE)
    said = [line for line in err.splitlines() if not line.startswith("erlsnoop: watching ")]
    if said or '"type":"lost"' in done or '"type"' not in done:
        raise Failure(f"{command}: {err.strip()} {done[-200:]}")


def watch_and_kill(node, command):
    watch = start_watch(node, command, "0.01")
    line = watch.stdout.readline()
    watch.kill()
    _, err = watch.communicate(timeout=DEADLINE)
    if not line:
        raise Failure(f"{command}: {err.strip()}")


def soak(node):
    sizes = []
    probes = check_sight(node)
    begun = time.monotonic()
    for i in range(ROUNDS):
        (watch_and_kill if i % KILL_EVERY == KILL_EVERY - 1 else watch_once)(node, COMMANDS[i % len(COMMANDS)])
        if i % max(1, ROUNDS // SAMPLES) == 0:
            node.check_answers()
            sizes.append(node.rss_kb())
        if i % 100 == 99:
            print(f"soak: {i + 1} of {ROUNDS}", flush=True)
    spent = time.monotonic() - begun
    node.check_answers()
    left = node.changed_code()
    quarter = max(1, len(sizes) // 4)
    first, last = max(sizes[:quarter]), min(sizes[-quarter:])
    print(f"soak: {ROUNDS} times attached and detached, {1000 * spent / max(1, ROUNDS):.0f} ms each; {node.answers} answers right; "
          f"{first} kB at first, {last} kB at last; bytes of code changed: {probes} while watched, {left} at the end")
    if left:
        raise Failure(f"{left} bytes of the node's code are not its own any more")
    if last > first + GROWTH_KB:
        raise Failure(f"the node grew by {last - first} kB")


def main():
    if os.geteuid():
        print("soak needs root")
        return 1
    if not shutil.which(ERL):
        print("SKIP soak: no erl")
        return 0
    try:
        with Node() as node:
            soak(node)
    except (Failure, subprocess.SubprocessError) as why:
        print(f"soak: {why}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
