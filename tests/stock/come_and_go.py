#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`erlsnoop serve -a` while thousands of short-lived VMs come and go: its memory, its descriptors and what it keeps in the
kernel stay as they are, each VM by notes that lives long enough for a look is told, and nothing is lost.

  BUILD      where erlsnoop, erlvm and the emitter of tests/tools are
  ERL        the erl (erl)
  SOAK_VMS   how many (10000): of a hundred 90 by notes (the emitter), 9 erlvm, one erl

Runs itself again in a pid namespace of its own, so that no other VM of the machine is watched.
"""
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
ERLSNOOP, ERLVM, EMITTER = (os.path.join(BUILD, name) for name in ("erlsnoop", "erlvm", "tests/emitter"))
ERL = os.environ.get("ERL", "erl")
VMS = int(os.environ.get("SOAK_VMS", "10000"))
AT_ONCE = 6
SAMPLES = 40
GROWTH_KB = 8192  # what the last quarter of the samples may lie above the second, when all is warm
SHORT = """
-module(short).
-export([main/0, stay/0, child/1]).
stay() -> receive stop -> ok end.
child(N) -> lists:seq(1, N), receive stop -> ok after 1 -> ok end.
main() ->
    [spawn(short, child, [N]) ! hello || N <- lists:seq(1, 20)],
    {error, enoent} = prim_file:read_file("no such file"),
    receive after 50 -> halt(0) end.
"""
HIDE = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def command(number):
    kind = number % 100
    if kind == 99:
        return [ERL, "+S", "1", "-noshell", "-s", "short", "main"]
    if kind >= 90:
        return [ERLVM, "-quick", "-pa", ".", "-s", "short", "main"]
    return [EMITTER, "-d", str(random.randrange(30000)), f"process__spawn=5||m{number % 7}:f/1", "process__exit=3",
            "process__spawn=2||other%d:f/0", "message__send=4", "message__queued=4"]


class Crowd:
    """Some threads that start one VM after the other, until there were enough."""

    def __init__(self):
        self.begun = 0
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.run) for _ in range(AT_ONCE)]
        for thread in self.threads:
            thread.start()

    def run(self):
        while True:
            with self.lock:
                number = self.begun
                self.begun += number < VMS
            if number >= VMS:
                return
            subprocess.run(command(number), check=False, **HIDE)

    def lives(self):
        return any(thread.is_alive() for thread in self.threads)


def rss_kb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def entries(pid):
    """Of the hashes in the kernel that have one for what happened, by name."""
    found = {}
    for fd in os.listdir(f"/proc/{pid}/fdinfo"):
        try:
            with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii") as info:
                number = re.search(r"^map_id:\s*(\d+)", info.read(), re.MULTILINE)
        except OSError:
            continue
        said = number and subprocess.run(["bpftool", "map", "dump", "id", number.group(1)], capture_output=True, text=True, check=False)
        name = number and subprocess.run(["bpftool", "map", "show", "id", number.group(1)], capture_output=True, text=True, check=False)
        kind = name and re.match(r"\d+: (?:percpu_|lru_)*hash\s+name (\S+)", name.stdout)
        n = kind and re.search(r"Found (\d+) element", said.stdout)
        if n and int(n.group(1)):
            found[kind.group(1)] = int(n.group(1))
    return found


def page(url):
    with urllib.request.urlopen(url) as answer:
        return answer.read().decode()


def shown(url):
    """How many VMs the page has."""
    return len(re.findall(r"^erlsnoop_up\{.*\} [01]$", page(url), re.MULTILINE))


def check(serve, url):
    crowd, begun, sizes = Crowd(), time.monotonic(), []
    while crowd.lives():
        time.sleep(1)
        sizes.append(rss_kb(serve.pid))
        if len(sizes) % 30 == 0:
            print(f"come_and_go: {crowd.begun} of {VMS}: {sizes[-1]} kB, {descriptors(serve.pid)} descriptors", flush=True)
    spent = time.monotonic() - begun
    until = time.monotonic() + 60
    while shown(url) > 2 and time.monotonic() < until:  # the two that stay
        time.sleep(0.2)
    told, left = page(url), entries(serve.pid)
    quarter = max(1, len(sizes) // 4)
    first, last = max(sizes[quarter:2 * quarter]), max(sizes[-quarter:])
    births = sum(int(n) for n in re.findall(r"^erlsnoop_spawns_births_total\{.*\} (\d+)", told, re.MULTILINE))
    lost = re.findall(r'^(erlsnoop_lost_total.* [1-9]\d*)$', told, re.MULTILINE)
    print(f"come_and_go: {VMS} VMs in {spent:.0f} s; {first} kB in the second quarter, {last} kB in the last, "
          f"{rss_kb(serve.pid)} kB at the end; {descriptors(serve.pid)} descriptors; in the kernel {left}; {births} births still told")
    wrong = [f"lost: {line}" for line in lost if "they are told" not in line]
    if last > first + GROWTH_KB:
        wrong.append(f"it grew by {last - first} kB")
    return wrong, left


def main():
    if os.geteuid():
        print("come_and_go needs root")
        return 1
    if "--inside" not in sys.argv:
        return subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", sys.executable, os.path.abspath(__file__), "--inside"],
                              check=False).returncode
    with tempfile.TemporaryDirectory(prefix="come-and-go-") as folder:
        os.chdir(folder)
        with open("short.erl", "w", encoding="ascii") as file:
            file.write(SHORT)
        subprocess.run(["erlc", "short.erl"], check=True)
        keeper = subprocess.Popen([EMITTER, "-s", "100000", "process__spawn=1"], **HIDE)  # the file is known from then on
        other = subprocess.Popen([ERLVM, "-quick", "-pa", ".", "-s", "short", "stay"], **HIDE)
        serve = subprocess.Popen([ERLSNOOP, "serve", "-a", "--linger", "2s", "--listen", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
        try:
            url = next(found.group(0) for line in serve.stderr for found in [re.search(r"http://\S+", line)] if found)
            threading.Thread(target=serve.stderr.read, daemon=True).start()
            while len(re.findall(r"^erlsnoop_up\{.*\} 1$", page(url), re.MULTILINE)) < 2:  # the two that stay
                time.sleep(0.2)
            at_first = descriptors(serve.pid)
            wrong, left = check(serve, url)
            if descriptors(serve.pid) > at_first:
                wrong.append(f"{descriptors(serve.pid)} descriptors, {at_first} at first")
            if left.get("view_names", 0) > 100:
                wrong.append(f"names of VMs that ended are left in the kernel: {left}")
        finally:
            for process in (serve, keeper, other):
                process.terminate()
                process.wait()
    for line in wrong:
        print(f"come_and_go: {line}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
