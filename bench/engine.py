#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Part (h) of `make bench`: what an event costs that erlvm tells by the page, beside the other ways to have it: one note a
probe, LTTng's user space tracer, erlang:trace/3; what the flight recorder and several views at once cost; what erlsnoop itself
takes. Medians of BENCH_RUNS rounds, all ways in turn in each. No ratio is printed where either side lost events.
MANY: messages of the run in which all must be told. STOCK_CHROOTS: a directory with a Debian 13 in trixie/ (make check-stock),
whose OTP 27 has trace sessions."""
import collections, json, os, shutil, signal, statistics, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
SNOOP, ERLVM = os.path.join(BUILD, "erlsnoop"), os.path.join(BUILD, "erlvm")
os.environ["ERLSNOOP_BUDGET"] = "off"  # what an event costs is asked
RUNS = int(os.environ.get("BENCH_RUNS", "5"))
MANY = int(os.environ.get("MANY", "50000000"))
HOPS = 1000000
VIEWS = ("spawns", "msglat", "gc", "sched", "exits", "messages")
QUIET_VIEWS = ("ports", "drivers", "dist", "inet")  # whose sites the bench does not pass
HOP_EVENTS = 3   # of msglat by notes, round a ring: message__send, process__scheduled, process__unscheduled
WALL, CPU = 0, 1  # what a VM answers: nanoseconds by the clock, of processors
PAGE_EVENTS = 2  # by pages: the send tells whether the receiver runs
NOTES = "usdt:*:erlang:message__send { } usdt:*:erlang:process__scheduled { } usdt:*:erlang:process__unscheduled { }"


class Vm:
    """A VM that does work on demand (bench/stock.erl)."""

    def __init__(self, command, beams, root=""):
        if root:
            os.makedirs(root + beams)
            shutil.copy(f"{beams}/stock.beam", root + beams)
            command = ["chroot", root, *command]
        self.process = subprocess.Popen([*command, "+S", "1", "+sbwt", "none", "-noshell", "-pa", beams, "-s", "stock", "serve"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.pid = int(self.process.stdout.readline())

    def work(self, kind, n):
        """Nanoseconds of each: (by the clock, of processors)."""
        self.process.stdin.write(f"{kind} {n}\n")
        self.process.stdin.flush()
        wall, cpu = self.process.stdout.readline().split()
        return int(wall), int(cpu)

    def end(self):
        self.process.stdin.close()
        self.process.wait(30)


class Watcher:
    """A program that watches; it is ready when `ready` stands in its output."""

    def __init__(self, command, ready):
        self.begun = time.monotonic()
        self.out = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.out, stderr=subprocess.STDOUT)
        while ready not in self.text():
            if self.process.poll() is not None or time.monotonic() > self.begun + 30:
                self.process.kill()
                raise RuntimeError(self.text()[-200:].strip() or "does not begin")
            time.sleep(0.005)
        self.attached = time.monotonic() - self.begun

    def text(self):
        self.out.seek(0)
        return self.out.read()

    def memory(self):
        with open(f"/proc/{self.process.pid}/status") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))

    def end(self):
        """Asks it to end; its output, and the seconds that it took to end. (A wait with a limit would look every 50 ms.)"""
        begun = time.monotonic()
        limit = threading.Timer(30, self.process.kill)
        limit.start()
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait()
        limit.cancel()
        if status == -signal.SIGKILL:
            raise RuntimeError("does not end when it is asked to")
        return self.text(), time.monotonic() - begun


def lost(text):
    return sum(json.loads(line)["count"] for line in text.splitlines() if '"type":"lost"' in line)


def snoop(vm, *words):
    return [SNOOP, words[0], *words[1:], "--json", "-p", str(vm.pid), "0.25"]


def bpftrace(vm, programs):
    """It prints a line when it is attached."""
    return ["bpftrace", "-p", str(vm.pid), "-e", programs + ' interval:ms:100 { printf("up\\n"); }']


class Rows:
    """What is measured watched, each time right after the same unwatched: the machine's pace changes by half for minutes,
    and only two neighbours compare. Nanoseconds of all rounds; rows whose watcher lost events are marked."""

    def __init__(self):
        self.unwatched = collections.defaultdict(list)  # by row: (by the clock, of processors)
        self.pairs = collections.defaultdict(list)      # by row: (unwatched, watched) of such
        self.lttng = []
        self.lossy, self.failed = set(), {}
        self.attach, self.detach, self.kilobytes = [], [], []
        self.beside = collections.defaultdict(list)     # by VM: how many times a table takes with a recording beside it
        self.load, self.idle = [], []                   # of ten views: (by the clock, of processors) in seconds; percent
        self.resident = []                              # then, in MB

    def bare(self, row, vm, kind, n=HOPS):
        self.unwatched[row].append(vm.work(kind, n))

    def pair(self, row, vm, kind, n=HOPS):
        """The second of a pair, whose first was measured last."""
        self.pairs[row].append((self.unwatched[row][-1], vm.work(kind, n)))

    def traced(self, row, vm, kind):
        """The VM watches a ring itself."""
        self.bare(row, vm, "ring", HOPS // 5)
        self.pair(row, vm, kind, HOPS // 5)

    def watched(self, row, vm, kind, command, ready='"type"', n=HOPS):
        self.bare(row, vm, kind, n)
        try:
            watcher = Watcher(command, ready)
            self.pair(row, vm, kind, n)
            if command[0] == SNOOP:
                self.kilobytes.append(watcher.memory())
            text, took = watcher.end()
        except (OSError, RuntimeError) as why:
            self.failed[row] = str(why)
            return
        if command[0] == SNOOP:
            self.detach.append(took)
            if lost(text):
                self.lossy.add(row)

    def plain(self, row, of=WALL):
        """Nanoseconds of one unwatched."""
        return statistics.median(value[of] for value in self.unwatched[row])

    def more(self, row, of=WALL):
        """Nanoseconds that one takes more watched; None where it was not measured."""
        return statistics.median(seen[of] - plain[of] for plain, seen in self.pairs[row]) if self.pairs[row] else None

    def times(self, row, of=WALL):
        """How many times as long one takes watched."""
        return statistics.median(seen[of] / plain[of] for plain, seen in self.pairs[row])

    def ratio(self, row, other, a, b):
        """a / b, of those rows; or why there is none."""
        for name in (row, other):
            if name in self.failed:
                return "-"
            if name in self.lossy:
                return "lost events"
        return "%.2f" % (a / b) if a is not None and b else "-"


def recorder(vm, path, *options):
    return [SNOOP, "trace", "-p", str(vm.pid), "-o", path, *options, *VIEWS]


def line(text, value, unit, rest=""):
    print("      %-52s %9s %-3s %s" % (text, "-" if value is None else "%.0f" % value, unit, rest))


def show(rows, row, text, events):
    more = rows.more(row)
    why = rows.failed.get(row) or ("events were lost" if row in rows.lossy else "")
    rest = "" if more is None else "%.2f times unwatched" % rows.times(row)
    if more is not None and events > 1:
        rest = "%5.0f ns an event, %s" % (more / events, rest)
    line(text, more, "ns", why or rest)


class Lttng:
    """LTTng's own daemon and a C program that fires (lttng_peer.c); None where they cannot be had."""

    def __init__(self, work):
        self.work, self.peer, self.daemon = work, os.path.join(work, "lttng_peer"), None
        if not shutil.which("lttng") or not shutil.which("lttng-sessiond"):
            raise RuntimeError("no lttng (apt-get install lttng-tools liblttng-ust-dev)")
        built = subprocess.run(["cc", "-O2", "-I", HERE, "-o", self.peer, os.path.join(HERE, "lttng_peer.c"), "-llttng-ust", "-ldl"],
                               capture_output=True, text=True)
        if built.returncode:
            raise RuntimeError("liblttng-ust-dev is missing")
        self.daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            if subprocess.run(["lttng", "list"], capture_output=True).returncode == 0:
                return
            time.sleep(0.1)
        self.end()
        raise RuntimeError("its daemon does not start")

    def session(self, *words):
        return subprocess.run(["lttng", *words], capture_output=True, text=True, check=True).stdout

    def round(self, rows, n):
        """Nanoseconds of an event into a session that writes to disk."""
        name, out = f"erlsnoop-bench-{os.getpid()}", os.path.join(self.work, "lttng")
        self.session("create", name, "-o", out)
        self.session("enable-channel", "-u", "-s", name, "--subbuf-size=4M", "--num-subbuf=8", "c")
        self.session("enable-event", "-u", "-s", name, "-c", "c", "erlsnoop_bench:sent")
        self.session("start", name)
        rows.lttng.append(float(subprocess.run([self.peer, str(n)], capture_output=True, text=True, check=True).stdout))
        self.session("stop", name)
        listed = self.session("list", name)
        discarded = [l.split(":")[1].strip() for l in listed.splitlines() if "iscarded" in l]
        if discarded and any(d != "0" for d in discarded):
            rows.lossy.add("lttng")
        self.session("destroy", name)
        shutil.rmtree(out, ignore_errors=True)

    def end(self):
        self.daemon.terminate()
        self.daemon.wait(30)


def measure_events(rows, vm, lttng):
    rows.watched("batches", vm, "ring", snoop(vm, "msglat", "--source", "batches"))
    rows.watched("notes", vm, "ring", snoop(vm, "msglat", "--source", "notes"), n=HOPS // 5)
    if shutil.which("bpftrace"):
        rows.watched("empty", vm, "ring", bpftrace(vm, NOTES), "up", HOPS // 5)
    if lttng:
        lttng.round(rows, 3 * HOPS)


def report_events(rows, why_no_lttng):
    print("    a message round a ring, %d events by the page, %d by notes: %.0f ns unwatched; more when watched by" % (
        PAGE_EVENTS, HOP_EVENTS, rows.plain("batches")))
    show(rows, "batches", "erlsnoop msglat, from pages of events", PAGE_EVENTS)
    show(rows, "notes", "erlsnoop msglat, from notes", HOP_EVENTS)
    show(rows, "empty", "an empty BPF program at the same notes", HOP_EVENTS)
    lttng = statistics.median(rows.lttng) if rows.lttng else None
    if lttng:
        line("LTTng-UST to disk, an event of two integers", lttng, "ns", "events were lost" if "lttng" in rows.lossy else "")
    else:
        line("LTTng-UST", None, "", why_no_lttng or "")
    event = rows.more("batches")
    event = event / PAGE_EVENTS if event is not None else None
    note = rows.more("empty")
    print("      an event by the page: %s of LTTng's (0.3 is wanted), %s of a note's (0.1)" % (
        rows.ratio("batches", "lttng", event, lttng), rows.ratio("batches", "empty", event, note and note / HOP_EVENTS)))


def measure_recorder(rows, vm, work):
    for kind, n in (("call", HOPS // 2), ("work_call", HOPS // 10), ("busy_ring", HOPS // 2)):
        row = f"{kind} recorded"
        rows.bare(row, vm, kind, n)
        path = os.path.join(work, "ring.rec")
        watcher = subprocess.Popen(recorder(vm, path, "--ring", "2s"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        time.sleep(1)
        rows.pair(row, vm, kind, n)
        watcher.send_signal(signal.SIGINT)
        out, _ = watcher.communicate(timeout=60)
        numbers = out.split("\n")[1].split() if "\n" in out else []
        if len(numbers) > 4 and numbers[4] != "0":
            rows.lossy.add(row)


def report_recorder(rows):
    print("    the flight recorder, the events of all views:")
    for kind, text, wanted in (("work_call", "throughput of gen_server:call, with look-ups", 2),
                               ("call", "of a server that does nothing else", None),
                               ("busy_ring", "of a ring with 1 us of work a hop", 10)):
        slower = 100 * (1 - 1 / rows.times(f"{kind} recorded"))
        why = "%.1f us each unwatched" % (rows.plain(f"{kind} recorded") / 1000)
        if wanted:
            why += ", %d %% is wanted" % wanted
        lost_some = ", pages were lost" if f"{kind} recorded" in rows.lossy else ""
        print("      %-52s %9.1f %%   less (%s)%s" % (text, slower, why, lost_some))


def measure_views(rows, vm, source):
    for view in VIEWS:
        rows.watched(f"{source} {view}", vm, "ring", snoop(vm, view, "--source", source), n=HOPS // 5)
    rows.watched(f"{source} all", vm, "ring", snoop(vm, "watch", ",".join(VIEWS + QUIET_VIEWS), "--source", source), n=HOPS // 5)


def report_views(rows, source, text):
    alone = {view: rows.times(f"{source} {view}") - 1 for view in VIEWS if rows.pairs[f"{source} {view}"]}
    if not alone:
        return
    dearest = max(alone, key=alone.get)
    line(f"{text}: {dearest} alone, the dearest", rows.more(f"{source} {dearest}"), "ns", "a hop more")
    row = f"{source} all"
    times = rows.ratio(row, f"{source} {dearest}", rows.times(row) - 1 if rows.pairs[row] else None, alone[dearest])
    line(f"{text}: {len(VIEWS + QUIET_VIEWS)} at once", rows.more(row), "ns", f"a hop more, {times} times the dearest (1.5 is wanted)")


def tell_all(vm):
    """All of MANY messages, or how many were lost."""
    try:
        watcher = Watcher(snoop(vm, "msglat", "--source", "batches"), '"type"')
    except RuntimeError as why:
        print("    %d messages round a ring: %s" % (MANY, why))
        return
    vm.work("ring", MANY)
    time.sleep(0.5)
    text, _ = watcher.end()
    told = sum(json.loads(l)["messages"] for l in text.splitlines() if '"type":"msglat"' in l)
    print("    %d messages round a ring, %d events: %d told, %d events lost" % (MANY, PAGE_EVENTS * MANY, told, lost(text)))


def spent(pid):
    """Nanoseconds of processors that its threads have had."""
    tasks = f"/proc/{pid}/task"
    return sum(int(open(f"{tasks}/{task}/schedstat").read().split()[0]) for task in os.listdir(tasks))


def resident(pid):
    """MB of it in memory, with what it has mapped of the kernel's maps."""
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) / 1024 for line in f if line.startswith("VmRSS"))


def measure_beside(rows, name, vm, work, n):
    """What a table takes, and a recording beside it: of the VM and of erlsnoop together, a message round a ring in parts, so
    that the pages of one are read before the next."""
    took = {}
    for row, words in (("table", []), ("-o", ["-o", os.path.join(work, "beside.rec")])):
        try:
            watcher = Watcher(snoop(vm, "watch", "spawns,msglat", *words), '"type"')
        except RuntimeError as why:
            rows.failed[f"{name} beside"] = str(why)
            return
        before, vm_ns = spent(watcher.process.pid), 0
        for _ in range(10):
            vm_ns += n // 10 * vm.work("ring", n // 10)[CPU]
            time.sleep(0.3)
        took[row] = vm_ns + spent(watcher.process.pid) - before
        if lost(watcher.end()[0]):
            rows.lossy.add(f"{name} beside")
    rows.beside[name].append(took["-o"] / took["table"])


def report_beside(rows, name, text):
    times = "%.2f" % statistics.median(rows.beside[name]) if rows.beside[name] else rows.failed.get(f"{name} beside", "-")
    if f"{name} beside" in rows.lossy:
        times = "events were lost"
    print("    spawns,msglat of %s and a recording of it beside the table, processors of both: %s times the table alone (1.1)" % (
        text, times))


def measure_many(rows, stock):
    """Ten views of an erl that does nothing: until they are attached, and what they take then, of memory too."""
    watcher = Watcher([SNOOP, "watch", ",".join(VIEWS + QUIET_VIEWS), "--json", "-p", str(stock.pid), "1"], "watching")
    rows.load.append((watcher.attached, spent(watcher.process.pid) / 1e9))
    before, begun = spent(watcher.process.pid), time.monotonic()
    time.sleep(5)
    rows.idle.append((spent(watcher.process.pid) - before) / 1e7 / (time.monotonic() - begun))
    rows.resident.append(resident(watcher.process.pid))
    watcher.end()


def report_many(rows):
    wall, cpu = (statistics.median(value[of] for value in rows.load) for of in (WALL, CPU))
    print("    ten views of an idle erl, each second: attached after %.2f s (1.0), %.2f s of a processor; %.1f %% of one then, "
          "and %.0f MB (40)" % (wall, cpu, statistics.median(rows.idle), statistics.median(rows.resident)))


def first_lines(rows, vm):
    for _ in range(RUNS):
        watcher = Watcher([SNOOP, "msglat", "--json", "-p", str(vm.pid), "0.01"], '"type"')
        rows.attach.append(watcher.attached)
        rows.detach.append(watcher.end()[1])


def uprobes(vm):
    """The functions that msglat hooks, under bpftrace: an empty program at each."""
    at = f"/proc/{vm.pid}/exe"
    return bpftrace(vm, f"uprobe:{at}:erts_send_message {{ }} uprobe:{at}:erts_schedule {{ }} uretprobe:{at}:erts_schedule {{ }}")


def measure_stock(rows, vm, newer):
    rows.watched("stock msglat", vm, "ring", snoop(vm, "msglat"))
    if shutil.which("bpftrace"):
        rows.watched("stock uprobes", vm, "ring", uprobes(vm), "up")
    rows.traced("stock traced by a process", vm, "traced_ring")
    rows.traced("stock traced by a port", vm, "port_traced_ring")
    if newer:
        rows.traced("newer session", newer, "session_traced_ring")


def report_stock(rows):
    print("    an unmodified erl, a message round a ring: %.0f ns of processors unwatched; more when watched by" % rows.plain("stock msglat", CPU))
    for row, of, text in (("stock msglat", CPU, "erlsnoop msglat"), ("stock uprobes", CPU, "bpftrace, empty programs at the same functions"),
                          ("stock traced by a process", CPU, "erlang:trace/3 of send and running, to a process"),
                          ("stock traced by a port", CPU, "the same to a port that writes to a file"),
                          ("newer session", WALL, "a trace session of OTP 27, to a process, by the clock")):
        more = rows.more(row, of)
        rest = rows.failed.get(row) or ("events were lost" if row in rows.lossy else
                                        "msglat is %s of it" % rows.ratio("stock msglat", row, rows.more("stock msglat", of), more))
        if row == "newer session" and more is None:
            rest = "STOCK_CHROOTS has no trixie"
        line(text, more, "ns", "" if row == "stock msglat" else rest)


def main():
    print("(h) events told by the page, and what else tells them: medians of %d rounds" % RUNS)
    if os.geteuid() != 0:
        print("    SKIP: needs root")
        return
    rows = Rows()
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(["erlc", "-o", work, os.path.join(HERE, "stock.erl")], check=True)
        lttng = why = newer = None
        root = os.path.join(os.environ.get("STOCK_CHROOTS", "/none"), "trixie")
        try:
            lttng = Lttng(work)
        except RuntimeError as reason:
            why = str(reason)
        vm, stock = Vm([ERLVM], work), Vm(["erl"], work)
        if os.path.exists(f"{root}/usr/bin/erl"):
            newer = Vm(["erl"], work, root)
        try:
            for _ in range(RUNS):
                measure_events(rows, vm, lttng)
                measure_recorder(rows, vm, work)
                measure_views(rows, vm, "batches")
                measure_views(rows, vm, "notes")
                measure_stock(rows, stock, newer)
                measure_beside(rows, "erlvm", vm, work, 3 * HOPS)
                measure_beside(rows, "erl", stock, work, HOPS // 2)
                measure_many(rows, stock)
            report_events(rows, why)
            report_views(rows, "batches", "views from pages")
            report_views(rows, "notes", "views from notes")
            report_recorder(rows)
            tell_all(vm)
            first_lines(rows, vm)
            print("    erlsnoop: %.0f MB at most (40), first line after %.2f s (0.5), end after %.2f s (0.2), once %.2f" % (
                max(rows.kilobytes) / 1000, statistics.median(rows.attach), statistics.median(rows.detach), max(rows.detach)))
            report_beside(rows, "erlvm", "erlvm")
            report_beside(rows, "erl", "an unmodified erl")
            report_many(rows)
            report_stock(rows)
        finally:
            for started in (vm, stock, newer, lttng):
                if started:
                    started.end()
            shutil.rmtree(root + work, ignore_errors=True)


main()
