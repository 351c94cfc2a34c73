#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`erlsnoop diagnose` of servers that are well: RabbitMQ, ejabberd and an Elixir server of Debian 12 under full, closed
load, and a node that does nothing, diagnosed again and again.

Fails where something of the server is found with a score above 50. What is found of the machine (somebody else takes
its processors) is printed: it may be so. Printed, and not asserted: messages a processor second while it is diagnosed,
against the mean of the unwatched time before and after; memory of erlsnoop; how long after its ten seconds it answers.
  BUILD, STOCK_CHROOTS    as check_stock.py
  HEALTHY_SECONDS         of diagnosing, of each (600)
  HEALTHY                 which (rabbitmq ejabberd elixir idle)
"""
import json
import os
import subprocess
import sys
import time

from check_services import Failure, Running, median, needs_root_and_chroot, run_checks, services
from check_stock import DEADLINE, ERLSNOOP

SECONDS = float(os.environ.get("HEALTHY_SECONDS", "600"))
WINDOW = 10  # as long as a diagnosis looks
MOST_SCORE = 50
OF_THE_MACHINE = ("starved", "cpu_stolen")


class Diagnosis:
    """One of ten seconds that is under way."""

    def __init__(self, pid):
        env = {name: value for name, value in os.environ.items() if name != "ERLSNOOP_BUDGET"}
        self.begun = time.monotonic()
        self.tool = subprocess.Popen([ERLSNOOP, "diagnose", "--all", "--json", "-d", str(WINDOW), "-p", str(pid)],
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
        self.kilobytes = 0

    def look(self):
        with open(f"/proc/{self.tool.pid}/status", encoding="ascii") as status:
            self.kilobytes = max([self.kilobytes] + [int(line.split()[1]) for line in status if line.startswith("VmHWM")])

    def end(self):
        """(findings, seconds that it took beyond its window)"""
        while self.tool.poll() is None and time.monotonic() < self.begun + WINDOW + DEADLINE:
            self.look()
            time.sleep(0.02)
        self.tool.kill()
        took = time.monotonic() - self.begun - WINDOW
        out, err = self.tool.communicate()
        if self.tool.returncode not in (0, 3):
            raise Failure("erlsnoop failed: " + err.strip())
        rows = [json.loads(line) for line in out.splitlines()]
        return [row for row in rows if row["type"] == "diagnosis"], took


class Server:
    """What a diagnosis costs a server: told by the load on it."""

    def __init__(self, running):
        self.running, self.pid, self.before = running, running.pid, None

    def spent(self, begun):
        """Nanoseconds of processors a message since then."""
        now = self.running.counts_now()
        if now[1] == begun[1]:
            raise Failure("no message came through in a window")
        return (now[2] - begun[2]) / (now[1] - begun[1])

    def unwatched(self):
        begun = self.running.counts_now()
        time.sleep(WINDOW / 2)
        return self.spent(begun)

    def diagnosed(self):
        """(findings, seconds beyond the window, kilobytes, messages a processor second of the unwatched)"""
        self.before = self.before or self.unwatched()
        diagnosis, begun = Diagnosis(self.pid), self.running.counts_now()
        time.sleep(WINDOW)
        watched = self.spent(begun)
        found, took = diagnosis.end()
        after = self.unwatched()
        ratio, self.before = (self.before + after) / 2 / watched, after
        return found, took, diagnosis.kilobytes, ratio


class Idle:
    """A node that does nothing."""

    def __init__(self):
        self.node = subprocess.Popen(["erl", "-noinput", "-eval", "io:put_chars(\"up\\n\")."], stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE)
        self.pid = self.node.pid

    def __enter__(self):
        self.node.stdout.readline()  # to start is no idleness
        return self

    def __exit__(self, *_):
        self.node.kill()
        self.node.wait()

    def diagnosed(self):
        diagnosis = Diagnosis(self.pid)
        found, took = diagnosis.end()
        return found, took, diagnosis.kilobytes, None


def diagnose_on(name, server):
    """Again and again. Failure: something of the server was found."""
    told, ratios, late, kilobytes, until = {}, [], [], 0, time.monotonic() + SECONDS
    while time.monotonic() < until:
        found, took, memory, ratio = server.diagnosed()
        for row in found:
            told.setdefault(row["rule"], []).append(row["score"])
        late.append(took)
        kilobytes = max(kilobytes, memory)
        ratios += [ratio] if ratio else []
    cost = f"{100 * median(ratios):.0f} %" if ratios else "-"
    print(f"{name:<10} {len(late):>9} {cost:>14} {kilobytes / 1000:>7.0f} MB {median(late):>9.2f} s {max(late):>7.2f} s", flush=True)
    for rule, scores in sorted(told.items(), key=lambda row: -max(row[1])):
        print(f"{'':<10} {rule}: {len(scores)} times, score {max(scores):.0f} at most", flush=True)
    alarms = sum(score > MOST_SCORE for rule, scores in told.items() if rule not in OF_THE_MACHINE for score in scores)
    if alarms:
        raise Failure(f"{alarms} findings above {MOST_SCORE} of a server that is well")


def diagnose_server(root, service):
    with Running(root, service) as running:
        running.window()  # warm
        diagnose_on(service.name, Server(running))
        running.finish()


def diagnose_idle():
    with Idle() as node:
        diagnose_on("idle", node)


def main():
    root, status = needs_root_and_chroot("check-healthy")
    if not root:
        return status
    wanted = os.environ.get("HEALTHY", "rabbitmq ejabberd elixir idle").split()
    checks = [(service.name, diagnose_server, (root, service)) for service in services(root)] + [("idle", diagnose_idle, ())]
    print(f"{'SERVER':<10} {'DIAGNOSED':>9} {'PER CPU SECOND':>14} {'MEMORY':>10} {'ANSWERED':>11} {'AT MOST':>9}")
    return run_checks("check-healthy", wanted, checks)


if __name__ == "__main__":
    sys.exit(main())
