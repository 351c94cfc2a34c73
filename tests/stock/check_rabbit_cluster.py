# SPDX-License-Identifier: Apache-2.0
"""A RabbitMQ cluster of three nodes, one on the stock erl and two on erlvm: part of check_services.py, in whose chroot it runs.

Nodes boot and join; of a quorum queue and a mirrored one each node has a replica. Numbered messages are published with confirms through
one node and consumed through another, each once and in its order. An erlvm node is stopped, misses messages, and is started again: then
the others stop, and what it missed is consumed through it. All nodes have to stop with status 0.
  CLUSTER_MESSAGES    how many in each direction and queue (2000)
  STOCK_KEEP          a folder for the logs of what failed
"""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

from check_cluster import Epmd
from check_stock import BUILD, HERE, Failure

MESSAGES = int(os.environ.get("CLUSTER_MESSAGES", "2000"))
DEADLINE = 120 + MESSAGES // 100  # ends only what is stuck
FIRST_PORT = 15300  # below what the kernel gives to clients
PROGRAMS = "/usr/lib/rabbitmq/bin/"
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
QUEUES = ("quorum", "mirrored")
MIRRORING = {"ha-mode": "all", "ha-sync-mode": "automatic"}


def kill(process):
    """A process and what it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def await_that(what, is_so):
    until = time.monotonic() + DEADLINE
    while not is_so():
        if time.monotonic() > until:
            raise Failure("waited in vain until " + what)
        time.sleep(0.3)


class Node:
    """A node of the cluster: its VM's folder comes first in PATH."""

    def __init__(self, cluster, name, on_erlvm):
        self.cluster, self.name, self.vm = cluster, name + "@localhost", "erlvm" if on_erlvm else "erl"
        self.port = FIRST_PORT + 2 * len(cluster.nodes)
        self.folder = cluster.inside + "/" + name
        self.process = None
        self.env = dict(cluster.env, PATH=(cluster.inside + "/erlvm:" if on_erlvm else "") + PATH, RABBITMQ_NODENAME=self.name,
                        RABBITMQ_NODE_PORT=str(self.port), RABBITMQ_DIST_PORT=str(self.port + 1), RABBITMQ_LOG_BASE=self.folder,
                        RABBITMQ_MNESIA_BASE=self.folder, RABBITMQ_ENABLED_PLUGINS_FILE=self.folder + "/plugins",
                        RUNNING_UNDER_SYSTEMD="true")  # so that the emulator's exit status is the server's

    def start(self):
        root = self.cluster.root
        isolate = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc=" + root + "/proc", "chroot", root]
        with open(f"{self.cluster.folder}/{self.name}.log", "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(isolate + [PROGRAMS + "rabbitmq-server"], env=self.env, cwd="/", stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, start_new_session=True)

    def await_start(self):
        await_that(self.name + " listens", self.is_listening)
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as children:
            emulator = os.path.basename(os.readlink(f"/proc/{children.read().split()[0]}/exe"))
        if not emulator.startswith("erlvm" if self.vm == "erlvm" else "beam."):
            raise Failure(f"{self.name} runs on {emulator}")

    def is_listening(self):
        if self.process.poll() is not None:
            raise Failure(f"{self.name} ended with status {self.process.returncode}")
        with subprocess.Popen(["ss", "-ltnH", f"sport = :{self.port}"], stdout=subprocess.PIPE) as said:
            return bool(said.stdout.read())

    def ctl(self, *words):
        return self.cluster.run([PROGRAMS + "rabbitmqctl", "-q", "-n", self.name, *words], self.env)

    def ask(self, *words):
        return json.loads(self.ctl(*words, "--formatter", "json"))

    def running(self):
        """How many nodes of the cluster it says run."""
        return len(self.ask("cluster_status")["running_nodes"])

    def replicas(self):
        """{queue: how many nodes have all of it}."""
        rows = self.ask("list_queues", "name", "online", "synchronised_slave_pids")
        return {row["name"]: len(row["online"] or row["synchronised_slave_pids"] or "") + (row["name"] == "mirrored") for row in rows}

    def stop(self, others):
        """The others know that it has left before it closes its connections. Else one that sees its connection closed and hears that
        another's still answers takes that for a partition, on any VM."""
        self.ctl("stop_app")
        await_that(self.name + " has left", lambda: [node.running() for node in others] == [len(others)] * len(others))
        self.ctl("stop")
        try:
            status = self.process.wait(timeout=DEADLINE)
        except subprocess.TimeoutExpired:
            raise Failure(self.name + " does not stop") from None
        if status:
            raise Failure(f"{self.name} stopped with status {status}")


class Cluster:
    """The nodes, an epmd and a folder in the chroot. Use: with Cluster(root) as cluster."""

    def __init__(self, root):
        self.root, self.nodes, self.epmd = root, [], None
        self.folder = tempfile.mkdtemp(prefix="cluster-", dir=root + "/tmp")
        self.inside = "/" + os.path.relpath(self.folder, root)

    def __enter__(self):
        try:
            self.prepare()
        except BaseException as failure:
            self.__exit__(failure)
            raise
        return self

    def __exit__(self, failure=None, *_):
        for node in self.nodes:
            if node.process:
                kill(node.process)
        if self.epmd:
            self.epmd.end()
        if failure and os.environ.get("STOCK_KEEP"):
            shutil.copytree(self.folder, os.path.join(os.environ["STOCK_KEEP"], "cluster"), dirs_exist_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def prepare(self):
        os.mkdir(self.folder + "/erlvm")
        for name in ("erl", "erlvm"):
            shutil.copy(os.path.join(BUILD, name), self.folder + "/erlvm")
        with open(self.folder + "/.erlang.cookie", "w", encoding="ascii") as cookie:
            os.chmod(cookie.fileno(), 0o400)
            cookie.write("crumbs")
        plugins = [f"/usr/lib/rabbitmq/lib/{name}/plugins" for name in os.listdir(self.root + "/usr/lib/rabbitmq/lib")]
        self.epmd = Epmd()
        self.env = {"PATH": PATH, "HOME": self.inside, "LANG": "C.UTF-8", "ERL_EPMD_PORT": str(self.epmd.port),
                    "ERL_LIBS": plugins[0], "ERL_CRASH_DUMP": self.inside + "/dump"}
        self.run([self.inside + "/erlvm/erl", "-noinput", "-s", "erlang", "halt"], self.env)  # it runs here at all
        sources = [shutil.copy(os.path.join(HERE, name + ".erl"), self.folder) for name in ("rabbit_work", "rabbit_cluster")]
        self.run(["erlc", "-o", self.inside] + [self.inside + "/" + os.path.basename(source) for source in sources], self.env)
        for name, on_erlvm in (("a", True), ("b", True), ("c", False)):
            self.nodes.append(Node(self, name, on_erlvm))

    def run(self, words, env):
        """What a program in the chroot printed."""
        process = subprocess.Popen(["chroot", self.root] + words, env=env, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
        try:
            said = process.communicate(timeout=DEADLINE)[0]
        except subprocess.TimeoutExpired:
            raise Failure(" ".join(words) + " is stuck") from None
        finally:
            kill(process)
        if process.returncode:
            raise Failure(f"{' '.join(words)}: status {process.returncode}: {said.strip()[-600:]}")
        return said

    def work(self, *words):
        """A client on the stock erl: rabbit_cluster.erl."""
        self.run(["erl", "-noinput", "-pa", self.inside, "-s", "rabbit_cluster", "start"] + [str(word) for word in words], self.env)


def form(cluster):
    """Three nodes become one cluster, with replicas of both queues on each."""
    a, b, c = cluster.nodes
    for node in cluster.nodes:
        node.start()
    for node in cluster.nodes:
        node.await_start()
    for node in (b, c):
        for words in (("stop_app",), ("join_cluster", a.name), ("start_app",)):
            node.ctl(*words)
    for node in cluster.nodes:
        if node.running() != len(cluster.nodes):
            raise Failure(f"{node.name} says that {node.running()} nodes run")
    a.ctl("set_policy", "--apply-to", "queues", "mirroring", "^mirrored", json.dumps(MIRRORING))
    cluster.work("declare", a.port, "quorum", "quorum")
    cluster.work("declare", c.port, "mirrored", "classic")
    await_replicas(b)


def await_replicas(node):
    await_that("each node has all of each queue", lambda: node.replicas() == {name: 3 for name in QUEUES})


def pass_messages(cluster):
    """From an erlvm node to the stock one, back, and between those on erlvm; through each queue."""
    a, b, c = cluster.nodes
    for source, target in ((a, c), (c, b), (b, a)):
        begun = time.monotonic()
        for queue in QUEUES:
            cluster.work("pass", source.port, target.port, queue, 1, MESSAGES)
        say(f"{len(QUEUES) * MESSAGES} messages from a node on {source.vm} to one on {target.vm}", begun)


def miss_and_catch_up(cluster):
    """What b missed while it was stopped it gives when the others are gone: a quorum queue needs two, a mirrored one itself."""
    a, b, c = cluster.nodes
    b.stop([a, c])
    for queue in QUEUES:
        cluster.work("publish", c.port, queue, 1, MESSAGES)
    b.start()
    b.await_start()
    await_that("three nodes run again", lambda: [node.running() for node in cluster.nodes] == [3, 3, 3])
    await_replicas(c)
    a.stop([b, c])
    cluster.work("consume", b.port, "quorum", 1, MESSAGES)
    c.stop([b])
    cluster.work("consume", b.port, "mirrored", 1, MESSAGES)
    b.stop([])


def say(what, begun):
    print(f"{'cluster':<10} {what}, {time.monotonic() - begun:.1f} s", flush=True)


def check_cluster(root):
    with Cluster(root) as cluster:
        for step, what in ((form, "two nodes on erlvm and one on erl have formed a cluster"),
                           (pass_messages, "all messages were confirmed, and consumed once, in their order"),
                           (miss_and_catch_up, "a node on erlvm stopped, started again, caught up; all stopped")):
            begun = time.monotonic()
            step(cluster)
            say(what, begun)
