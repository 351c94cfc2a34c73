#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clusters of two nodes, the unmodified Erlang of each Debian release and erlvm with the library of each: the first asks for the connection, and works
with processes of the other.

What the nodes do is tests/erl/dist/dist_nodes.erl, and what the first has to print are the `%% expect:` lines of that file. One line a pairing. The
stock releases are paired with each other too: what fails there is no fault of erlvm's.
  BUILD           where erlvm is
  STOCK_CHROOTS   as check_stock.py
  CLUSTER_ONLY    words; only the pairings "first second" that hold one of them
"""
import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import check_stock

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "..", "erl", "dist", "dist_nodes.erl")
OURS = os.path.join(check_stock.BUILD, "erl")
DEADLINE = 120
LIBRARIES = "libgmp10 zlib1g libzstd1 libpcre2-8-0"  # of erlvm, as packages
FOLDER = "tmp"
TO_THE_TEST = ("first ended", "second ended", "the same")  # what dist_nodes adds to the lines of the nodes


def read_expected():
    """What the first node prints."""
    with open(SOURCE, encoding="utf-8") as source:
        lines = [line[len("%% expect: "):].rstrip("\n") for line in source if line.startswith("%% expect: ")]
    return [line for line in lines if not line.startswith(TO_THE_TEST)]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Erlvm(check_stock.Otp):
    """erlvm with the library of a stock Erlang, in the chroot of that: programs of the library run with its libc, too."""

    def __init__(self, stock):
        super().__init__("erlvm-" + stock.name, root=stock.root, erl=OURS)
        if stock.root != "/":
            self.erl = self.install()

    def install(self):
        """erlvm's path in the chroot, where it is put with the libraries that it needs."""
        script = os.path.join(HERE, "..", "chroot.sh")
        added = subprocess.run(["bash", script, "run", self.root, "sh", "-c", "apt-get -qq update && apt-get -qq install -y " + LIBRARIES],
                               capture_output=True, text=True, check=False)
        if added.returncode:
            raise check_stock.Failure(" ".join(added.stderr.strip().splitlines()[-1:]))
        inside = os.path.join(self.root, FOLDER, "erlvm")
        os.makedirs(inside, exist_ok=True)
        for name in ("erlvm", "erl"):
            shutil.copy(os.path.join(check_stock.BUILD, name), inside)
        return "/" + os.path.join(FOLDER, "erlvm", "erl")


class Epmd:
    """One of this run's own, which the nodes of a pairing ask for each other's port."""

    def __init__(self):
        self.port = free_port()
        self.process = subprocess.Popen(["epmd", "-port", str(self.port), "-address", "127.0.0.1"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + DEADLINE
        while not self.listens():
            if time.monotonic() > end or self.process.poll() is not None:
                raise check_stock.Failure("epmd does not listen")
            time.sleep(0.05)

    def listens(self):
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", self.port)) == 0

    def end(self):
        self.process.kill()
        self.process.wait()


def start(otp, beams, epmd, name, words):
    """A node that ends when its standard input does."""
    inside = tempfile.mkdtemp(prefix="cluster-", dir=os.path.join(otp.root, FOLDER))
    shutil.copy(os.path.join(beams, "dist_nodes.beam"), inside)
    os.chmod(inside, 0o755)
    path = "/" + os.path.relpath(inside, otp.root)
    command = [otp.erl, "-noshell", "-pa", path, "-name", name, "-setcookie", "crumbs", "-start_epmd", "false", "+zdbbl", "64",
               "-kernel", "inet_dist_use_interface", "{127,0,0,1}", "logger_level", "none", "-s", "dist_nodes"] + words
    node = subprocess.Popen(otp.command(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                            cwd="/", start_new_session=True, env=dict(os.environ, ERL_EPMD_PORT=str(epmd.port), HOME="/tmp", ERL_CRASH_DUMP="/dev/null"))
    node.folder = inside
    return node


def end(node):
    """Whatever is left of a node."""
    if node.poll() is None:
        os.killpg(node.pid, signal.SIGKILL)
    node.wait()
    shutil.rmtree(node.folder, ignore_errors=True)


def run_pairing(first, second, beams):
    """The lines that the first printed, and how both ended."""
    epmd = Epmd()
    nodes = []
    try:
        nodes.append(start(second, beams, epmd, "b@127.0.0.1", ["second"]))
        nodes.append(start(first, beams, epmd, "a@127.0.0.1", ["first", "b@127.0.0.1"] + left_out(first, second)))
        late = threading.Timer(DEADLINE, lambda: [n.poll() is None and os.killpg(n.pid, signal.SIGKILL) for n in nodes])
        late.start()
        lines = [line.rstrip("\n") for line in nodes[1].stdout]
        status = [nodes[1].wait(), nodes[0].wait()]
        late.cancel()
        return lines, status
    finally:
        for node in nodes:
            end(node)
        epmd.end()


def first_difference(expected, lines):
    for n, want in enumerate(expected):
        got = lines[n] if n < len(lines) else "nothing"
        if got != want:
            return f"'{want}' was to come, and '{got}' came"
    return f"'{lines[len(expected)]}' came after all" if len(lines) > len(expected) else None


def check_pairing(first, second, beams, expected):
    """None, or what is wrong."""
    expected = [line for line in expected if line.split()[0] not in left_out(first, second)]
    lines, status = run_pairing(first, second, beams)
    return first_difference(expected, lines) or (f"the nodes ended with {status}" if any(status) else None)


def left_out(first, second):
    """OTP 25's pg ends when a node of OTP 29 sends it what its own pg sends."""
    releases = sorted(otp.name.removeprefix("erlvm-") for otp in (first, second))
    return ["pg"] if releases == ["25", "29"] else []


def find_pairings():
    """[(first, second)], each erlvm with each other and with each stock release both ways, stock releases among themselves; with what cannot be had."""
    stock, skipped = check_stock.find_otps()
    stock = [otp for otp in stock if not otp.new_pids]
    ours = [Erlvm(otp) for otp in stock if otp.root != "/" or otp.erl == "erl"]
    crossed = list(itertools.product(ours, ours + stock)) + list(itertools.product(stock, ours))
    return crossed + list(itertools.combinations(stock, 2)), skipped


def describe(first, second):
    left = left_out(first, second)
    return "as two nodes of OTP 25" + (f", without {left[0]}, which these releases cannot do" if left else "")


def main():
    wanted = os.environ.get("CLUSTER_ONLY", "").split()
    pairings, skipped = find_pairings()
    expected, failed = read_expected(), 0
    with tempfile.TemporaryDirectory(prefix="cluster-") as beams:
        subprocess.run(["erlc", "-o", beams, SOURCE], check=True, stdout=subprocess.DEVNULL)
        for first, second in pairings:
            name = f"{first.name} {second.name}"
            if wanted and not any(word in name for word in wanted):
                continue
            wrong = check_pairing(first, second, beams, expected)
            failed += wrong is not None
            print(f"{'not ok' if wrong else 'ok'} {name}: " + (wrong or describe(first, second)), flush=True)
    for release, why in skipped:
        print(f"skipped {release}: {why}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
