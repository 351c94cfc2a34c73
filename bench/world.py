#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Part (j) of `make bench`: the world around a VM, erlvm beside the stock erl, probes off: echo over loopback TCP,
messages between two nodes, calls of native functions, os:cmd, memory of idle connections. Medians of BENCH_RUNS rounds,
the VMs in turn in each. The clients of the servers are the stock erl's for both, so only the server differs. No ratio
is printed where either side failed."""
import os, resource, socket, statistics, subprocess, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
VMS = {"erlvm": os.path.join(BUILD, "erlvm"), "erl": "erl"}
RUNS = int(os.environ.get("BENCH_RUNS", "5"))
TRIPS = 20000
TURNS = 10        # of each connection at least: in the first ones its memory is touched for the first time
IDLE = 20000
SPARE_FDS = 500  # that a VM has open beside its connections
SIZES = (("small", 8, 200000), ("1 kB", 1024, 100000), ("1 MB", 1 << 20, 200))
CALLS = (("plain", "without arguments", 3000000), ("add", "of two integers", 3000000),
         ("dirty", "on a dirty scheduler", 30000))
LIMIT_S = 120    # for one request


class Failed(Exception):
    pass


class Vm:
    """A VM that runs bench/world.erl."""

    def __init__(self, vm, beams, *flags):
        self.process = subprocess.Popen([VMS[vm], "+sbwt", "none", "+Q", "65536", *flags, "-noshell", "-pa", beams,
                                         "-kernel", "logger_level", "none", "-s", "world", "serve"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True)
        self.pid = int(self.process.stdout.readline() or 0)
        if not self.pid:
            raise Failed(f"{vm} does not start")

    def ask(self, *words):
        timer = threading.Timer(LIMIT_S, self.process.kill)
        timer.start()
        try:
            self.process.stdin.write(" ".join(str(w) for w in words) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline().strip()
        except BrokenPipeError:
            answer = ""
        finally:
            timer.cancel()
        if not answer or answer.startswith("failed"):
            raise Failed(answer or "the VM ended")
        return int(answer)

    def cpu_ns(self):
        with open(f"/proc/{self.pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * 1000000000 // os.sysconf("SC_CLK_TCK")

    def switches(self):
        """How often its threads gave a processor up, or lost it, so far."""
        total = 0
        for thread in os.listdir(f"/proc/{self.pid}/task"):
            try:
                with open(f"/proc/{self.pid}/task/{thread}/status") as f:
                    total += sum(int(line.split()[1]) for line in f if "voluntary_ctxt_switches" in line)
            except FileNotFoundError:  # it has ended meanwhile
                pass
        return total

    def resident(self):
        with open(f"/proc/{self.pid}/status") as f:
            return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmRSS"))

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def written(value, scale):
    return "-" if value is None else "%.*f" % (1 if value / scale < 1000 else 0, value / scale)


class Rows:
    """Values by row and VM, of all rounds; a VM that failed at a row has none there."""

    def __init__(self):
        self.values, self.failed, self.told = {}, {}, set()

    def measure(self, row, vm, measure):
        if (row, vm) in self.failed:
            return
        try:
            self.values.setdefault((row, vm), []).append(measure())
        except Failed as why:
            self.failed[row, vm] = str(why)

    def median(self, row, vm):
        return None if (row, vm) in self.failed else statistics.median(self.values[row, vm])

    def tell(self, vm, why):
        if (vm, why) not in self.told:
            print("      %s: %s" % (vm, why))
        self.told.add((vm, why))

    def show(self, row, text, unit, scale=1.0):
        ours, theirs = self.median(row, "erlvm"), self.median(row, "erl")
        ratio = "-" if ours is None or not theirs else "%.2f" % (ours / theirs)
        print("    %-46s%10s%10s%10s" % (f"{text}, {unit}", written(ours, scale), written(theirs, scale), ratio))
        for vm in VMS:
            if (row, vm) in self.failed:
                self.tell(vm, self.failed[row, vm][:66])


def connections():
    """Numbers of connections; those that the limit of descriptors forbids are left out."""
    return [n for n in (1, 100, 10000) if n + SPARE_FDS <= resource.getrlimit(resource.RLIMIT_NOFILE)[1]]


def measure_echo(rows, beams, client, vm, kind):
    """Nanoseconds of a round trip, by the clock and of the server's processors, and its server's switches of context."""
    server = Vm(vm, beams)
    try:
        port = server.ask(f"{kind}_server")
        for n in connections():
            trips = max(TRIPS, TURNS * n)
            client.ask("echo", port, n, n)  # they are connected and accepted
            begun, switches = server.cpu_ns(), server.switches()
            rows.measure((kind, n), vm, lambda: client.ask("echo", port, n, trips))
            rows.measure((kind, n, "cpu"), vm, lambda: (server.cpu_ns() - begun) / trips)
            rows.measure((kind, n, "switches"), vm, lambda: (server.switches() - switches) / trips)
        client.ask("disconnect")
    except Failed as why:
        for n in connections():
            for row in ((kind, n), (kind, n, "cpu"), (kind, n, "switches")):
                rows.failed[row, vm] = str(why)
    finally:
        server.end()


def measure_idle(rows, beams, client, vm):
    """Bytes of memory that the server holds for a connection that rests."""
    n = min(IDLE, resource.getrlimit(resource.RLIMIT_NOFILE)[1] - SPARE_FDS)
    server = Vm(vm, beams)
    try:
        port = server.ask("gen_tcp_server")
        client.ask("echo", port, 1, 1)
        begun = server.resident()
        rows.measure("idle", vm, lambda: client.ask("echo", port, n, n) * 0 + (server.resident() - begun) / n)
        client.ask("disconnect")
    finally:
        server.end()
    return n


def measure_nodes(rows, beams, epmd, pair):
    """Nanoseconds of a message from a node of the one VM to a node of the other."""
    row = pair[0] if pair[0] == pair[1] else "mixed"
    flags = ("-start_epmd", "false", "-epmd_port", str(epmd), "-kernel", "inet_dist_use_interface", "{127,0,0,1}")
    nodes = [Vm(vm, beams, *flags) for vm in pair]
    try:
        for i, node in enumerate(nodes):
            node.ask("node", f"{pair[0]}{i}@127.0.0.1")
        for name, size, count in SIZES:
            rows.measure(("node", name), row, lambda: nodes[0].ask("to_node", f"{pair[0]}1@127.0.0.1", size, count))
    finally:
        for node in nodes:
            node.end()


def measure_calls(rows, beams, vm):
    caller = Vm(vm, beams)
    try:
        caller.ask("nif", f"{beams}/world")
        for name, _, count in CALLS:
            rows.measure(("call", name), vm, lambda: caller.ask("call", name, count))
        rows.measure("os_cmd", vm, lambda: caller.ask("os_cmd", 50))
    finally:
        caller.end()


class Epmd:
    """An epmd of our own."""

    def __init__(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen(["epmd", "-port", str(self.port), "-address", "127.0.0.1"],
                                        stderr=subprocess.DEVNULL)
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                time.sleep(0.02)
        raise Failed("epmd does not start")

    def end(self):
        self.process.kill()
        self.process.wait()


def report(rows, idle):
    print("%-50s%10s%10s%10s" % ("", "erlvm", "erl", "ratio"))
    for kind in ("gen_tcp", "socket"):
        for n in connections():
            text = f"echo, {kind}, {n:,} connection{'s' * (n > 1)}"
            rows.show((kind, n), text, "us", 1000)
            rows.show((kind, n, "cpu"), "  processors of the server", "us", 1000)
            rows.show((kind, n, "switches"), "  switches of context of the server", "each")
    for name, _, _ in SIZES:
        rows.show(("node", name), f"a message to another node, {name}", "us", 1000)
        print("    %-46s%10s" % ("  from erlvm to erl, us", written(rows.median(("node", name), "mixed"), 1000)))
    for name, text, _ in CALLS:
        rows.show(("call", name), f"a native function {text}", "ns", 10)
    rows.show("os_cmd", 'os:cmd("true")', "us", 1000)
    rows.show("idle", f"an idle connection (of {idle:,})", "bytes")


def main():
    print("(j) the world around a VM: medians of %d rounds; ratio: erlvm's time over erl's" % RUNS)
    rows = Rows()
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(["erlc", "-o", work, os.path.join(HERE, "world.erl")], check=True)
        root = subprocess.run(["erl", "-noshell", "-eval", "io:put_chars(code:root_dir()), halt()."],
                              stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=True).stdout
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-I", f"{root}/usr/include", "-o", f"{work}/world.so",
                        os.path.join(HERE, "world_nif.c")], check=True)
        client, epmd = Vm("erl", work), Epmd()
        try:
            for _ in range(RUNS):
                for vm in VMS:
                    measure_echo(rows, work, client, vm, "gen_tcp")
                    measure_echo(rows, work, client, vm, "socket")
                    measure_calls(rows, work, vm)
                    idle = measure_idle(rows, work, client, vm)
                for pair in (("erlvm", "erlvm"), ("erl", "erl"), ("erlvm", "erl")):
                    measure_nodes(rows, work, epmd.port, pair)
        finally:
            client.end()
            epmd.end()
    report(rows, idle)


main()
