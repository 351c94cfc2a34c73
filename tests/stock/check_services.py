#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""RabbitMQ, ejabberd and an Elixir server of Debian 12 under load, watched: the node stays up, every message that was published is consumed.

Prints messages a second and processor time a message, watched against unwatched in windows that alternate. Not asserted: the ratios.
  BUILD, STOCK_CHROOTS    as check_stock.py; the chroot is named "bookworm"
  SERVICE_WINDOWS         windows a subcommand, each between two unwatched ones (3), SERVICE_SECONDS their length (5)
  ATTACH_ROUNDS           how often a subcommand is attached and detached under load (100; `make soak` does it more often)
  STOCK_KEEP              a folder for the logs of what failed
  SERVICES                which (rabbitmq ejabberd elixir cluster); the last is what check_rabbit_cluster.py does, on erlvm
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from check_rabbit_cluster import check_cluster
from check_stock import DEADLINE, ERLSNOOP, HERE, Failure, Lines, find_emulator, make_chroot

WINDOWS = int(os.environ.get("SERVICE_WINDOWS", "3"))
SECONDS = float(os.environ.get("SERVICE_SECONDS", "5"))
ROUNDS = int(os.environ.get("ATTACH_ROUNDS", "100"))
COMMANDS = {"spawns": "births", "msglat": "messages", "efile": "ended", "stacks": "samples"}  # and the total that it tells
# Ports of ours are below what the kernel gives to clients, so that no client of somebody else has one.
EPMD = {"ERL_EPMD_PORT": "14370"}  # epmds of the host are not ours


class Service:
    """A server in the chroot, in a pid namespace of its own, and how load is put on it."""

    def __init__(self, name, load, port, command, env=None, erl_libs=""):
        self.name, self.load, self.port = name, load, str(port)
        self.command, self.env, self.erl_libs = command, env or {}, erl_libs


def services(root):
    plugins = [d for d in (os.path.join("/usr/lib/rabbitmq/lib", d, "plugins") for d in os.listdir(root + "/usr/lib/rabbitmq/lib"))]
    return (
        Service("rabbitmq", "rabbit_load", 15672, ["/usr/lib/rabbitmq/bin/rabbitmq-server"],
                {"HOME": "/var/lib/rabbitmq", "RABBITMQ_NODENAME": "rabbit@localhost", "RABBITMQ_NODE_PORT": "15672",
                 "RABBITMQ_DIST_PORT": "15673", "RABBITMQ_LOG_BASE": "{}/log", "RABBITMQ_MNESIA_BASE": "{}/db"}, plugins[0]),
        Service("ejabberd", "xmpp_load", 15222,
                ["ejabberdctl", "-c", "{}/none", "-f", "{}/ejabberd.yml", "-s", "{}/db", "-l", "{}/log", "foreground"]),
        Service("elixir", "shop_load", 15322, ["elixir", "{}/elixir_serve.exs", "15322"], {"HOME": "/tmp"}),
    )


def thread_time(file):
    with open(file, encoding="ascii") as stat:
        return int(stat.read().split()[0])


class Running:
    """A server and its load. Use: with Running(...) as running."""

    def __init__(self, root, service):
        self.root, self.service, self.processes = root, service, []
        self.folder = tempfile.mkdtemp(prefix="service-", dir=root + "/tmp")
        self.inside = "/" + os.path.relpath(self.folder, root)
        for folder in ("/log", "/db"):
            os.mkdir(self.folder + folder)
        for source in ("service_load.erl", service.load + ".erl", "ejabberd.yml", "elixir_serve.exs"):
            shutil.copy(os.path.join(HERE, source), self.folder)
        subprocess.run(["chmod", "-R", "a+rwX", self.folder], check=True)  # servers leave root

    def __enter__(self):
        try:
            self.start()
        except BaseException as failure:
            self.__exit__(failure)
            raise
        return self

    def __exit__(self, failure=None, *_):
        for process in reversed(self.processes):
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        if failure and os.environ.get("STOCK_KEEP"):
            shutil.copytree(self.folder, os.path.join(os.environ["STOCK_KEEP"], self.service.name), dirs_exist_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def popen(self, words, env, **how):
        filled = [word.replace("{}", self.inside) for word in words]
        full = dict(os.environ, **EPMD, **{k: v.replace("{}", self.inside) for k, v in env.items()})
        process = subprocess.Popen(filled, env=full, cwd="/", stdin=subprocess.DEVNULL, start_new_session=True, **how)
        self.processes.append(process)
        return process

    def is_listening(self):
        return bool(subprocess.run(["ss", "-ltnH", "sport = :" + self.service.port], capture_output=True, text=True, check=True).stdout)

    def start(self):
        if self.is_listening():
            raise Failure(f"somebody listens on port {self.service.port} already")
        isolate = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc=" + self.root + "/proc", "chroot", self.root]
        with open(self.folder + "/server.log", "w", encoding="utf-8") as log:
            self.server = self.popen(isolate + self.service.command, self.service.env, stdout=log, stderr=log)
        self.pid = self.await_server()
        chroot = ["chroot", self.root]
        env = {"HOME": "/tmp", "ERL_LIBS": self.service.erl_libs, "ERL_CRASH_DUMP": "/dev/null"}
        compiled = self.popen(chroot + ["erlc", "-o", "{}", "{}/service_load.erl", "{}/" + self.service.load + ".erl"], env)
        if compiled.wait(DEADLINE):
            raise Failure("the load does not compile")
        self.client = self.popen(chroot + ["erl", "-noinput", "-pa", "{}", "-s", self.service.load, "start", self.service.port, "{}"],
                                 env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.lines = Lines(self.client.stdout)

    def await_server(self):
        """The emulator that listens."""
        until = time.monotonic() + DEADLINE
        while time.monotonic() < until:
            pid = find_emulator(self.server.pid)
            if self.is_listening() and pid:
                return pid
            if self.server.poll() is not None:
                break
            time.sleep(0.2)
        raise Failure(f"{self.service.name} does not come up; see its log")

    def next_counts(self):
        line = self.lines.next("the load")
        words = (line or "").split()
        if len(words) != 3 or words[0] not in ("published", "total"):
            raise Failure("the load failed: " + str(line))
        return words[0], int(words[1]), int(words[2])

    def counts_now(self):
        """(time, consumed, processor time of the server in nanoseconds), all of now."""
        while self.lines.queue.qsize():
            self.next_counts()
        _, _, consumed = self.next_counts()
        try:
            spent = sum(thread_time(f"/proc/{self.pid}/task/{thread}/schedstat") for thread in os.listdir(f"/proc/{self.pid}/task"))
        except OSError:
            raise Failure("the node is gone") from None
        return time.monotonic(), consumed, spent

    def window(self):
        """(messages a second, nanoseconds a message) of the next seconds."""
        begun = self.counts_now()
        time.sleep(SECONDS)
        spent = [b - a for a, b in zip(begun, self.counts_now())]
        if not spent[1]:
            raise Failure("no message came through in a window")
        return spent[1] / spent[0], spent[2] / spent[1]

    def finish(self):
        """(published, consumed) at the end."""
        with open(self.folder + "/stop", "w", encoding="ascii"):
            pass
        while (counts := self.next_counts())[0] != "total":
            pass
        if self.server.poll() is not None or find_emulator(self.server.pid) != self.pid:
            raise Failure("the node is gone")
        return counts[1:]


def watch(running, command):
    """A window while a subcommand looks on: (rate, nanoseconds a message, its total, its losses)."""
    ready, told = os.pipe()
    tool = subprocess.Popen([ERLSNOOP, command, "--json", "-p", str(running.pid), "--ready-fd", str(told)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, pass_fds=[told])
    os.close(told)
    try:
        os.read(ready, 1)  # or it ends, which is said below
        rate, spent = running.window()
        tool.send_signal(signal.SIGINT)
        out, err = tool.communicate(timeout=DEADLINE)
    finally:
        os.close(ready)
        tool.kill()
    if tool.returncode:
        raise Failure("erlsnoop failed: " + err.strip())
    rows = [json.loads(line) for line in out.splitlines()]
    told = sum(row[COMMANDS[command]] for row in rows if COMMANDS[command] in row)
    return rate, spent, told, sum(row["count"] for row in rows if row["type"] == "lost")


def median(values):
    return sorted(values)[len(values) // 2]


def compare(running, command):
    """Watched windows against the mean of the unwatched before and after each."""
    rates, spent, told, lost = [], [], 0, 0
    for _ in range(WINDOWS):
        before = running.window()
        watched = watch(running, command)
        after = running.window()
        rates.append(2 * watched[0] / (before[0] + after[0]))
        spent.append((before[1] + after[1]) / 2 / watched[1])
        told, lost = told + watched[2], lost + watched[3]
    print(f"{running.service.name:<10} {command:<8} {before[0]:>10.0f} {100 * median(rates):>12.0f} % {before[1] / 1000:>8.1f} us "
          f"{100 * median(spent):>14.0f} % {told:>12} {lost:>8}", flush=True)
    if not told and command != "efile":
        raise Failure(f"{command} told nothing")


def attach_often(running):
    """Attaches and detaches under load; how long a round takes."""
    begun = time.monotonic()
    for i in range(ROUNDS):
        command = ("spawns", "msglat")[i % 2]
        done = subprocess.run([ERLSNOOP, command, "--json", "-p", str(running.pid), "0.01", "1"], capture_output=True, text=True, timeout=DEADLINE, check=False)
        if done.returncode or '"type":"lost"' in done.stdout:
            raise Failure(f"round {i}: {done.stderr.strip()} {done.stdout[-200:]}")
        while running.lines.queue.qsize():
            running.next_counts()
    print(f"{running.service.name:<10} {ROUNDS} times attached and detached under load, {(time.monotonic() - begun) / ROUNDS * 1000 if ROUNDS else 0:.0f} ms each")


def check_service(root, service):
    with Running(root, service) as running:
        running.window()  # warm
        for command in COMMANDS:
            compare(running, command)
        attach_often(running)
        published, consumed = running.finish()
    print(f"{service.name:<10} node up to the end; {published} published, {consumed} consumed")
    if published != consumed:
        raise Failure(f"{published - consumed} messages lost")


def needs_root_and_chroot(check):
    """(the chroot, 0); (None, the status to end with), which is said"""
    if os.geteuid():
        print(f"{check} needs root")
        return None, 1
    try:
        return make_chroot("bookworm", packages="rabbitmq-server ejabberd elixir", shows="usr/bin/elixir"), 0
    except Failure as why:
        print(f"SKIP {check}: {why}")
        return None, 1 if os.environ.get("CI") == "true" else 0


def run_checks(name, wanted, checks):
    """Those of (name, function, arguments) that are wanted, one after the other; the status to end with, which is said"""
    failed = 0
    for of, check, arguments in checks:
        if of not in wanted:
            continue
        try:
            check(*arguments)
        except (Failure, subprocess.TimeoutExpired) as why:
            print(f"{of}: {why}")
            failed += 1
    print(f"{name}: " + (f"{failed} failed" if failed else "passed"))
    return 1 if failed else 0


def main():
    root, status = needs_root_and_chroot("check-services")
    if not root:
        return status
    wanted = os.environ.get("SERVICES", "rabbitmq ejabberd elixir cluster").split()
    print(f"{'SERVICE':<10} {'WATCHER':<8} {'MESSAGES/S':>10} {'THROUGHPUT':>14} {'CPU EACH':>11} {'PER CPU SECOND':>16} {'TOLD':>12} {'LOST':>8}")
    checks = [(service.name, check_service, (root, service)) for service in services(root)] + [("cluster", check_cluster, (root,))]
    return run_checks("check-services", wanted, checks)


if __name__ == "__main__":
    sys.exit(main())
