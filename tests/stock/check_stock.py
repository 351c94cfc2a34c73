#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Watches the unmodified Erlang of each Debian release and holds what erlsnoop counts against what the work says it did.

Each VM runs in a chroot, seen from outside: another mount namespace's files, and once another pid namespace.
  BUILD           where erlsnoop is
  STOCK_CHROOTS   a folder of ready chroots, named by suite (bookworm, trixie, sid); others are made by debootstrap under build/stock
  STOCK_OTPS      further Erlangs of this machine: "name=/path/to/erl ..."
  STOCK_ONLY      words; only the rows (release, case) that hold one of them
"""
import glob
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import perf_map

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
ERLSNOOP = os.path.join(BUILD, "erlsnoop")
os.environ["ERLSNOOP_BUDGET"] = "off"  # every event is to be counted, whatever it costs
DEADLINE = 90
INTERVAL = "0.3"
INTERVALS = {"upgrade": "2"}  # all versions come and go within one, so that each is named only if it was when it was seen
SILENT = ("stacks", "messages", "inet")  # they count, and have no --events
# Options of erl that a kind of work needs. +zdbbl: KB that a connection's queue holds before it suspends who sends.
FLAGS = {"dist": ("+zdbbl", "1", "-epmd_module", "stock_work", "-setcookie", "stock")}
SUITES = (("25", "bookworm"), ("27", "trixie"), ("29", "sid"))
# what is worked (a kind of stock_work), the subcommand, its row of totals
CASES = (
    ("spawns", "spawns", "spawns"),
    ("messages", "msglat", "msglat"),
    ("calls", "msglat", "msglat"),
    ("upgrade", "msglat", "msglat"),
    ("files", "efile", "efile_totals"),
    ("ports", "ports", "ports"),
    ("drivers", "drivers", "drivers"),
    ("sockets", "inet", "inet"),
    ("dist", "dist", "dist"),
    ("natives", "nifs", "nifs"),
    ("code", "code", "code"),
    ("tables", "ets", "ets"),
    ("timers", "timers", "timers"),
    ("exits", "exits", "exits"),
    ("collections", "gc", "gc"),
    ("copies", "memory", "memory"),
    ("lists", "messages", "messages"),
    ("mailboxes", "mailboxes", "mailboxes"),
    ("requests", "requests", "requests"),
    ("slices", "sched", "sched"),
    ("stacks_cpu", "stacks --proc stacks_actor", "stacks"),
    ("stacks_off", "stacks --off-cpu --proc stacks_actor", "stacks"),
    ("stacks_spawn", "stacks --event spawn --proc stacks_actor", "stacks"),
    ("stacks_send", "stacks --event send --proc stacks_actor", "stacks"),
    ("stacks_file", "stacks --event file --proc stacks_actor", "stacks"),
)
HIDDEN = {"29": ("mailboxes", "requests")}  # what a release does not tell
DOCTOR = ("doctor", "doctor", None)
MAP = ("map", "stacks", None)
MAP_OPTIONS = ("--hz 499", "--event gc", "--off-cpu")


class Failure(Exception):
    """One line that says what went wrong."""


class Otp:
    """An Erlang to watch: where its root is, and the command that runs it there."""

    def __init__(self, name, root="/", erl="erl", new_pids=False):
        self.name, self.root, self.erl, self.new_pids = name, root, erl, new_pids

    def command(self, words):
        inside = ["chroot", self.root] + words if self.root != "/" else words
        if self.new_pids:
            return ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc=" + os.path.join(self.root, "proc")] + inside
        return inside


def installed_release():
    erl = shutil.which("erl")
    if not erl:
        return None
    said = subprocess.run([erl, "-noinput", "-eval", "io:put_chars(erlang:system_info(otp_release)), halt()."],
                          capture_output=True, text=True, timeout=DEADLINE)
    return said.stdout.strip()


def make_chroot(suite, folder=None, packages="erlang-base", shows="usr/bin/erl"):
    """The chroot of a suite with these packages, the last of which brings the file `shows`; made when there is none. Failure when it cannot be had."""
    name = folder or suite
    ready = os.path.join(os.environ.get("STOCK_CHROOTS", ""), name)
    if os.environ.get("STOCK_CHROOTS") and os.path.exists(os.path.join(ready, shows)):
        return ready
    root = os.path.abspath(os.path.join("build", "stock", name))
    if os.path.exists(os.path.join(root, shows)):
        return root
    print(f"making a chroot of {suite}, {root}", flush=True)
    script = os.path.join(HERE, "..", "chroot.sh")
    made = subprocess.run(["bash", script, "make", root, suite, *packages.split()], capture_output=True, text=True, check=False)
    if made.returncode:
        raise Failure(" ".join((made.stdout + made.stderr).strip().splitlines()[-1:]))
    return root


def find_otps():
    """(those to watch, those that cannot be had with the reason)"""
    otps, skipped, host = [], [], installed_release()
    for release, suite in SUITES:
        if release == host:
            otps.append(Otp(release))
            continue
        try:
            root = make_chroot(suite)
            otps.append(Otp(release, root))
            if release == "27":
                otps.append(Otp(release + " pidns", root, new_pids=True))
        except Failure as why:
            skipped.append((release, str(why)))
    for word in os.environ.get("STOCK_OTPS", "").split():
        name, _, erl = word.partition("=")
        otps.append(Otp(name, erl=erl))
    return otps, skipped


class Lines:
    """The lines of a stream as they come, with a time limit."""

    def __init__(self, stream):
        self.queue = queue.Queue()
        threading.Thread(target=self.read, args=(stream,), daemon=True).start()

    def read(self, stream):
        for line in stream:
            self.queue.put(line.rstrip("\n"))
        self.queue.put(None)

    def next(self, what, seconds=DEADLINE):
        try:
            return self.queue.get(timeout=seconds)
        except queue.Empty:
            raise Failure(f"nothing more from {what} for {seconds} s") from None


def find_emulator(pid):
    """The process id, seen from here, of the emulator among the descendants."""
    try:
        if os.readlink(f"/proc/{pid}/exe").split("/")[-1].startswith("beam."):
            return pid
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
            below = [int(child) for child in children.read().split()]
    except OSError:
        return None
    return next((found for found in map(find_emulator, below) if found), None)


def make_library(folder):
    """The library of native functions, made here with the headers of this machine's Erlang: the releases' interface is one."""
    header = glob.glob("/usr/lib/erlang/usr/include/erl_nif.h") + glob.glob("/usr/lib/erlang/erts-*/include/erl_nif.h")
    if not header:
        raise Failure("no erl_nif.h of an Erlang is installed")
    Work.run_to_end(Otp("here"), ["cc", "-shared", "-fPIC", "-O1", "-I", os.path.dirname(header[0]), "-o",
                                  os.path.join(folder, "stock_nif.so"), os.path.join(HERE, "stock_nif.c")])


class Work:
    """One VM that works when told to, and says what it did."""

    def __init__(self, otp, kind, flags=()):
        self.folder = tempfile.mkdtemp(prefix="stock-", dir=os.path.join(otp.root, "tmp"))
        inside = "/" + os.path.relpath(self.folder, otp.root)
        for source in ("stock_work.erl", "stock_upgrade.erl", "stock_nif.erl"):
            shutil.copy(os.path.join(HERE, source), self.folder)
        if kind == "natives":
            make_library(self.folder)
        self.run_to_end(otp, ["erlc", "-o", inside, inside + "/stock_work.erl"])
        words = [otp.erl, "+S", "2", *FLAGS.get(kind, ()), *flags, "-noinput", "-kernel", "logger_level", "none",
                 "-stock_nodes", inside, "-pa", inside, "-s", "stock_work", "start", kind, inside]
        self.process = subprocess.Popen(otp.command(words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, errors="replace", start_new_session=True, cwd="/", env=dict(os.environ, HOME="/tmp", ERL_CRASH_DUMP="/dev/null"))
        self.lines = Lines(self.process.stdout)
        self.wait_for("ready")
        self.pid = find_emulator(self.process.pid)
        if not self.pid:
            raise Failure("no emulator among the processes of erl")

    @staticmethod
    def run_to_end(otp, words):
        done = subprocess.run(otp.command(words), capture_output=True, text=True, timeout=DEADLINE, check=False)
        if done.returncode:
            raise Failure(f"{words[0]}: {done.stdout.strip()} {done.stderr.strip()}")

    def wait_for(self, word):
        """The lines up to the word."""
        before = []
        while (line := self.lines.next("the VM")) != word:
            if line is None:
                raise Failure(f"the VM ended before '{word}': {' '.join(before[-3:])}")
            before.append(line)
        return before

    def go(self):
        with open(os.path.join(self.folder, "go"), "w", encoding="ascii"):
            pass

    def lives(self):
        return self.process.poll() is None

    def perf_map(self):
        """The path of the perf map that it writes, with +JPperf map: named by the process id that it has for itself."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as status:
            inner = next(line for line in status if line.startswith("NSpid:")).split()[-1]
        return f"/proc/{self.pid}/root/tmp/perf-{inner}.map"

    def end(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Watch:
    """erlsnoop on one VM, or on all."""

    def __init__(self, command, totals, pid=None, interval=INTERVAL):
        self.totals, self.rows = totals, []
        which = ["-p", str(pid)] if pid else ["-a"]
        words = command.split() + ([] if totals in SILENT else ["--events"])
        self.process = subprocess.Popen([ERLSNOOP] + words + ["--json"] + which + [interval], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.lines = Lines(self.process.stdout)
        self.read_results(1)

    def take(self, line):
        if line is None:
            raise Failure("erlsnoop ended: " + self.process.stderr.read().strip())
        self.rows.append(json.loads(line))
        return self.rows[-1]

    def read_results(self, n):
        while n:
            n -= self.take(self.lines.next("erlsnoop"))["type"] == self.totals

    def catch_up(self):
        """What has happened before is in the rows."""
        for _ in range(self.lines.queue.qsize()):
            self.take(self.lines.queue.get())
        self.read_results(2)

    def end(self):
        """All rows. What has happened before is in them."""
        self.process.send_signal(signal.SIGINT)
        while (line := self.lines.next("erlsnoop")) is not None:
            self.take(line)
        if self.process.wait(DEADLINE):
            raise Failure("erlsnoop failed: " + self.process.stderr.read().strip())
        return self.rows

    def kill(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


SHOWN = 90  # characters of a name that are compared: longer ones are cut by the tool


def fits(row, where):
    for member, want in where.items():
        have = str(row.get(member, ""))
        if want.endswith("*") or want.startswith("*"):
            if not (have.startswith(want[:-1]) if want.endswith("*") else have.endswith(want[1:])):
                return False
        elif have[:SHOWN] != want[:SHOWN]:
            return False
    return True


def counted(rows, told):
    found = [row for row in rows if row["type"] == told["table"] and fits(row, told["where"])]
    return len(found) if told["member"] is None else sum(row.get(told["member"], 0) for row in found)


class Result:
    def __init__(self, otp, case):
        self.otp, self.case = otp, case
        self.checks = self.expected = self.counted = 0
        self.wrong = []

    def compare(self, told, rows):
        have, want = counted(rows, told), told.get("expect")
        least, most = told.get("least", want or 0), told.get("most", want)
        self.checks += 1
        self.expected += want or 0
        self.counted += have if want is not None else 0
        if have < least or most is not None and have > most:
            where = " ".join(f"{k}={v[:40]!a}" for k, v in told["where"].items())
            bound = want if want is not None else f"{least} or more" if most is None else f"{most} or fewer"
            self.wrong.append(f"{told['table']} {where} {told['member'] or 'rows'}: expected {bound}, counted {have}")

    def line(self):
        verdict = "exact" if not self.wrong else "WRONG"
        return f"{self.otp:<12} {self.case:<18} {self.checks:>7} {self.expected:>9} {self.counted:>9}  {verdict}"


def has_notes(pid):
    """Whether this VM has notes: it prints reasons of exits itself, as terms, cut."""
    told = subprocess.run([ERLSNOOP, "list", "--json", "-p", str(pid)], capture_output=True, text=True, timeout=DEADLINE, check=True)
    return json.loads(told.stdout)["provider"] == "otp-usdt"


def is_printed(expected):
    """Whether a reason of an event is in it."""
    where = expected["where"]
    return expected["table"] == "exits_event" or where.get("event") == "death" and "name" in where


def run_case(otp, case):
    kind, command, totals = case
    result = Result(otp.name, f"{command.split()[0]} ({kind.removeprefix('stacks_')})")
    work = watch = None
    try:
        work = Work(otp, kind)
        noted = has_notes(work.pid)
        watch = Watch(command, totals, work.pid, INTERVALS.get(kind, INTERVAL))
        work.go()
        told = [json.loads(line) for line in work.wait_for("done")]
        rows = watch.end()
        if not work.lives():
            raise Failure("the VM is gone")
        for expected in told:
            if not (noted and is_printed(expected)):
                result.compare(expected, rows)
        if os.environ.get("STOCK_KEEP"):
            with open(os.path.join(os.environ["STOCK_KEEP"], f"{otp.name}-{kind}.json"), "w", encoding="utf-8") as kept:
                kept.writelines(json.dumps(row) + "\n" for row in rows)
    except (Failure, subprocess.SubprocessError, OSError, ValueError) as why:
        result.wrong.append(str(why))
    finally:
        if watch:
            watch.kill()
        if work:
            work.end()
    return result


SERVED = ("process__spawn", "process__exit", "process__scheduled", "message__send", "gc_minor__start", "efile_drv__entry", "efile_drv__return",
          "port__open", "port__command", "port__control", "port__busy", "port__not_busy", "port__exit", "driver__output", "driver__outputv",
          "driver__ready_input", "driver__return", "dist__outputv", "dist__input", "dist__port_busy", "dist__monitor",
          "process__port_unblocked", "nif__entry", "nif__return",
          "code__lookup__start", "code__lookup__end", "code__prepare__start", "code__purge__start", "code__kill",
          "ets__end", "timer__set", "timer__cancel")

# of a VM with notes too, whose own are silent
HOOKED = ("message__send", "process__spawn", "port__open", "port__control", "port__exit", "process__port_unblocked")


def run_doctor(otp):
    """Each event that a subcommand needs has a source, each that has none a reason, and one with notes has hooks where its notes are silent."""
    result = Result(otp.name, "doctor")
    work = None
    try:
        work = Work(otp, "spawns")
        told = subprocess.run([ERLSNOOP, "doctor", "--json", "-p", str(work.pid)], capture_output=True, text=True, timeout=DEADLINE, check=False)
        events = {row["event"]: row for row in map(json.loads, told.stdout.splitlines()) if row["type"] == "event"}
        noted = has_notes(work.pid)
        for name in SERVED:
            hooked = not noted or name.startswith(("efile", "dist")) or name in HOOKED
            wants = ("hook",) if hooked else ("note", "hook")
            result.checks += 1
            if events[name]["source"] not in wants:
                result.wrong.append(f"{name} is had from {events[name]['source']}: {events[name]['about']}")
        result.wrong += [f"{name}: nothing is said of it" for name, row in events.items() if not row["about"]]
    except (Failure, subprocess.SubprocessError, OSError, ValueError, KeyError) as why:
        result.wrong.append(str(why))
    finally:
        if work:
            work.end()
    return result


def run_map(otp):
    """Each name of code in stacks is what the perf map says that the VM writes itself."""
    result = Result(otp.name, "stacks (perf map)")
    for options in MAP_OPTIONS:
        work = watch = None
        try:
            work = Work(otp, "stacks_cpu", ["+JPperf", "map"])
            profile = os.path.join(work.folder, "profile")
            watch = Watch(f"stacks {options} --pprof {profile}", "stacks", work.pid)
            work.go()
            work.wait_for("done")
            watch.end()
            files = perf_map.code_of_files(f"/proc/{work.pid}/maps")
            held, wrong = perf_map.compare(perf_map.PerfMap(work.perf_map()), profile, files)
            os.unlink(work.perf_map())
            result.checks += held
            result.wrong += wrong if held else [f"stacks {options}: no frame is in the map"]
        except (Failure, subprocess.SubprocessError, OSError, ValueError) as why:
            result.wrong.append(str(why))
        finally:
            if watch:
                watch.kill()
            if work:
                work.end()
    return result


def run_together(otps):
    """All at once under one erlsnoop, which half of them start before; each is told by its own events."""
    result = Result("all at once", "spawns -a")
    works, watch = [], None
    try:
        works = [Work(otp, "spawns") for otp in otps[::2]]
        watch = Watch("spawns", "spawns")
        works += [Work(otp, "spawns") for otp in otps[1::2]]
        watch.catch_up()
        noted = {work.pid: has_notes(work.pid) for work in works}
        started = len(watch.rows)
        for work in works:
            work.go()
        told = [(work, json.loads(line)) for work in works for line in work.wait_for("done")]
        rows = watch.end()[started:]
        for work, expected in told:
            if expected["table"] == "spawns_event" and not (noted[work.pid] and is_printed(expected)):
                result.compare(expected, [row for row in rows if row.get("vm") == work.pid])
    except (Failure, subprocess.SubprocessError, OSError, ValueError) as why:
        result.wrong.append(str(why))
    finally:
        if watch:
            watch.kill()
        for work in works:
            work.end()
    return result


def wanted(otp, case):
    only = os.environ.get("STOCK_ONLY", "").split()
    if case[0] in HIDDEN.get(otp.name.split()[0], ()):
        return False
    return not only or any(word in f"{otp.name} {case[0]}".split() for word in only)


def run_all(runs):
    """Each a function and what it is given; prints each result, and all in the end. Returns how many are wrong."""
    results = []
    for run, what in runs:
        results.append(run(*what))
        print(results[-1].line(), flush=True)
        for wrong in results[-1].wrong:
            print("    " + wrong)
    print(f"\n{'OTP':<12} {'WATCHED BY':<18} {'CHECKS':>7} {'EXPECTED':>9} {'COUNTED':>9}")
    for result in results:
        print(result.line())
    return sum(bool(r.wrong) for r in results)


def main():
    if os.geteuid():
        print("check-stock needs root")
        return 1
    otps, skipped = find_otps()
    runs = [(run_case, (otp, case)) for otp in otps for case in CASES if wanted(otp, case)]
    runs += [(run_doctor, (otp,)) for otp in otps if wanted(otp, DOCTOR)]
    runs += [(run_map, (otp,)) for otp in otps if wanted(otp, MAP)]
    if otps and wanted(Otp("together"), CASES[0]):
        runs.append((run_together, (otps,)))
    wrong = run_all(runs)
    for release, why in skipped:
        print(f"SKIP OTP {release}: {why}")
    failed = wrong + (len(skipped) if os.environ.get("CI") == "true" else 0)
    print(f"check-stock: {len(runs) - wrong} exact, {failed} failed, {len(skipped)} skipped")
    return 1 if failed or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
