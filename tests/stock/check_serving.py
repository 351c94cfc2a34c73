#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Servers of this Debian served from erlvm and from the machine's erl in turn: RabbitMQ, ejabberd, and HTTP by cowboy (RabbitMQ's), mochiweb and httpd.

Each boots, answers a known amount of work, every answer right, and stops cleanly with status 0. Prints what of the work was done
a second and what processor time of the server each took; not asserted: the ratios.
  BUILD            where erl (erlvm's) is
  SERVING          which (rabbitmq ejabberd cowboy mochiweb inets); those whose packages are not installed are skipped
  SERVING_ROUNDS   turns of each VM (2)
  SERVING_PUBLISHED, SERVING_LOGINS, SERVING_MESSAGES, SERVING_REQUESTS
                   the work of a turn (100000, 1000, 100000, 50000)
  SERVING_KEEP     a folder for the logs of what failed
"""
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
OURS = os.path.join(os.path.abspath(os.environ.get("BUILD", "build")), "erl")
STOCK = shutil.which("erl")
PUBLISHED, LOGINS, MESSAGES, REQUESTS = (
    os.environ.get("SERVING_" + name, some)
    for name, some in (("PUBLISHED", "100000"), ("LOGINS", "1000"), ("MESSAGES", "100000"), ("REQUESTS", "50000")))
ROUNDS = int(os.environ.get("SERVING_ROUNDS", "2"))
DEADLINE = 180 + int(PUBLISHED) // 1000  # ends only what is stuck
EPMD = {"ERL_EPMD_PORT": "14369"}  # epmds of the host are not ours
BODY = 20000
EJABBERDCTL = "/usr/sbin/ejabberdctl"
RABBITMQ = "/usr/lib/rabbitmq/bin/rabbitmq-server"
COWBOY = "/usr/lib/rabbitmq/lib/*/plugins"
MOCHIWEB = "/usr/lib/erlang/lib/mochiweb"


class Failure(Exception):
    """One line that says what went wrong."""


def run(words, **how):
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True,
                              timeout=DEADLINE, check=False, **how)
    except subprocess.TimeoutExpired:
        raise Failure(f"{words[0]} is stuck") from None
    if done.returncode:
        raise Failure(f"{' '.join(words)}: status {done.returncode}: {done.stdout[-300:]}")
    return done.stdout


class Server:
    """A server on one VM. Use: with it as server; pid is the emulator's."""

    port = 15280  # below what the kernel gives to clients

    def __init__(self, erl, folder):
        self.erl, self.folder = erl, folder
        self.env = dict(os.environ, HOME=folder, ERL_CRASH_DUMP=folder + "/dump", **EPMD)

    def __enter__(self):
        if self.listener():
            raise Failure(f"somebody listens on port {self.port} already")
        with open(self.folder + "/server.log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(self.command(), env=self.env, cwd=self.folder, stdin=subprocess.DEVNULL,
                                            stdout=log,
                                            stderr=log, start_new_session=True)
        try:
            self.pid = self.await_listener()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def listener(self):
        said = run(["ss", "-ltnpH", f"sport = :{self.port}"])
        found = re.search(r"pid=(\d+)", said)
        return int(found[1]) if found else 0

    def await_listener(self):
        until = time.monotonic() + DEADLINE
        while time.monotonic() < until and self.process.poll() is None:
            pid = self.listener()
            if pid:
                return pid
            time.sleep(0.1)
        raise Failure("it does not come up")

    def spent(self):
        """Processor seconds of the emulator."""
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as stat:
            words = stat.read().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.ask_to_stop()
        try:
            status = self.process.wait(timeout=DEADLINE)
        except subprocess.TimeoutExpired:
            raise Failure("it does not stop") from None
        if status:
            raise Failure(f"it stopped with status {status}")


def client_work(words, what, env):
    """What a client of its own did: (how many, in how many seconds)."""
    said = re.search(what + r" (\d+) ([\d.]+)", run([STOCK, "-noinput", *words], env=env))
    if not said or not float(said[2]):
        raise Failure("the client did not say how long it took")
    return int(said[1]), float(said[2])


class Rabbitmq(Server):
    """Messages that are kept on its disk, published with confirms, and each consumed once and in its order."""

    work_modules = ("rabbit_work",)
    needs = (RABBITMQ, COWBOY)

    def command(self):
        path = os.path.dirname(self.erl) + ":" + self.env["PATH"]
        self.env.update({"PATH": path, "RABBITMQ_NODENAME": "serving@localhost", "RABBITMQ_NODE_PORT": str(self.port),
                         "RABBITMQ_DIST_PORT": str(self.port + 1), "RABBITMQ_LOG_BASE": self.folder + "/log",
                         "RABBITMQ_MNESIA_BASE": self.folder + "/db",
                         "RABBITMQ_ENABLED_PLUGINS_FILE": self.folder + "/plugins"})
        return [RABBITMQ]

    def work(self):
        begun = self.spent()
        env = dict(self.env, PATH=os.environ["PATH"], ERL_LIBS=glob.glob(COWBOY)[0])
        count, took = client_work(["-pa", os.path.dirname(self.folder), "-s", "rabbit_work", "start", str(self.port),
                                   PUBLISHED], "messages", env)
        if count < int(PUBLISHED) - 1000:
            raise Failure(f"{count} messages only")
        yield "messages", count / took, (self.spent() - begun) / count

    def ask_to_stop(self):
        os.kill(self.pid, signal.SIGTERM)


class Ejabberd(Server):
    """Anonymous users log in and out; then pairs of them write to each other. Told of by its own ejabberdctl."""

    work_modules = ("service_load", "xmpp_load", "xmpp_work")
    needs = (EJABBERDCTL,)

    def __init__(self, erl, folder):
        super().__init__(erl, folder)
        with open(EJABBERDCTL, encoding="utf-8") as file:
            script = re.sub(r'(?m)^INSTALLUSER=.*$', 'INSTALLUSER=""',
                            re.sub(r"(?m)^ERL=.*$", "ERL=" + erl, file.read()))
        with open(folder + "/ejabberdctl", "w", encoding="utf-8") as file:
            file.write(script)
        with open(os.path.join(HERE, "ejabberd.yml"), encoding="utf-8") as file:
            config = file.read().replace("15222", str(self.port))
        with open(folder + "/ejabberd.yml", "w", encoding="utf-8") as file:
            file.write(config)
        for name in ("db", "log"):
            os.mkdir(os.path.join(folder, name))

    def ctl(self, *words):
        return ["bash", self.folder + "/ejabberdctl", "-n", "serving@localhost", "-c", self.folder + "/none", "-f",
                self.folder + "/ejabberd.yml",
                "-s", self.folder + "/db", "-l", self.folder + "/log", *words]

    def command(self):
        return self.ctl("foreground")

    def work(self):
        run(self.ctl("started"), env=self.env)
        if "is started with status: started" not in run(self.ctl("status"), env=self.env):
            raise Failure("ejabberdctl status does not say that it is started")
        client = ["-pa", os.path.dirname(self.folder), "-s", "xmpp_work", "start", str(self.port)]
        for what, logins, messages in (("logins", LOGINS, "0"), ("messages", "0", MESSAGES)):
            begun = self.spent()
            count, took = client_work(client + [logins, messages], what, self.env)
            yield what, count / took, (self.spent() - begun) / count

    def ask_to_stop(self):
        run(self.ctl("stop"), env=self.env)


class Http(Server):
    """ab: with connections kept, where the library does well at that, and each request on its own; with cowboy, bodies too."""

    work_modules = ("http_serve",)
    library, keeps = "", True

    def command(self):
        self.env["ERL_LIBS"] = "".join(glob.glob(COWBOY)[:1])
        return [self.erl, "-noinput", "-pa", os.path.dirname(self.folder), "-run", "http_serve", "start",
                self.library, str(self.port)]

    def ab(self, what, count, *options):
        begun = self.spent()
        path = "echo" if "-p" in options else ""
        said = run(["ab", "-q", "-c", "20", "-n", str(count), *options, f"http://127.0.0.1:{self.port}/{path}"])
        told = {name: re.search(name + r":\s+([\d.]+)", said) for name in ("Complete requests", "Failed requests",
                                                                           "Requests per second")}
        if "Non-2xx" in said or not all(told.values()) or told["Complete requests"][1] != str(count) or told["Failed requests"][1] != "0":
            raise Failure("not every request was answered: " + said[-300:])
        return what, float(told["Requests per second"][1]), (self.spent() - begun) / count

    def work(self):
        self.ab("warm", 1000)
        if self.keeps:
            yield self.ab("requests", int(REQUESTS), "-k")
        yield self.ab("connections", max(1000, int(REQUESTS) // 10))
        if self.library == "cowboy":
            with open(self.folder + "/body", "wb") as body:
                body.write(b"x" * BODY)
            yield self.ab("bodies", max(1000, int(REQUESTS) // 10), "-k", "-p", self.folder + "/body")

    def ask_to_stop(self):
        self.process.terminate()


class Cowboy(Http):
    library, needs = "cowboy", (COWBOY, "/usr/bin/ab")


class Mochiweb(Http):
    """It does not keep the connections of HTTP/1.0, which is what ab speaks."""

    library, keeps, needs = "mochiweb", False, (MOCHIWEB, "/usr/bin/ab")


class Inets(Http):
    """On connections that are kept it waits for delayed acknowledgements, on either VM: that would measure the kernel's timer."""

    library, keeps, needs = "inets", False, ("/usr/lib/erlang/lib/inets-*", "/usr/bin/ab")


SERVERS = {"rabbitmq": Rabbitmq, "ejabberd": Ejabberd, "cowboy": Cowboy, "mochiweb": Mochiweb, "inets": Inets}


def serve(kind, erl, name):
    """Boots, works and stops it: {what: (a second, processor seconds each)}."""
    with tempfile.TemporaryDirectory(prefix="serving-") as above:
        run(["erlc", "-o", above] + [os.path.join(HERE, module + ".erl") for module in kind.work_modules],
            env=dict(os.environ, ERL_LIBS="".join(glob.glob(COWBOY)[:1])))
        folder = os.path.join(above, "run")
        os.mkdir(folder)
        try:
            with kind(erl, folder) as server:
                figures = {what: (rate, each) for what, rate, each in server.work()}
                server.stop()
                return figures
        except Failure as why:
            if os.environ.get("SERVING_KEEP"):
                shutil.copytree(folder, os.path.join(os.environ["SERVING_KEEP"], name), dirs_exist_ok=True)
            raise Failure(f"on {'erlvm' if erl == OURS else 'erl'}: {why}") from None


def mean(rounds, what, column):
    return sum(figures[what][column] for figures in rounds) / len(rounds)


def check(name, kind):
    rounds = {OURS: [], STOCK: []}
    for _ in range(ROUNDS):
        for erl, figures in rounds.items():
            figures.append(serve(kind, erl, name))
    for what in rounds[OURS][0]:
        ours, stock = ([mean(rounds[erl], what, column) for column in (0, 1)] for erl in (OURS, STOCK))
        spent = f"{100 * ours[1] / stock[1]:>9.0f} %" if stock[1] else f"{'-':>11}"
        print(f"{name:<10} {what:<12} {ours[0]:>10.0f} {stock[0]:>10.0f} {100 * ours[0] / stock[0]:>8.0f} % {ours[1] * 1e6:>10.1f} us {spent}",
              flush=True)


def main():
    wanted = os.environ.get("SERVING", " ".join(SERVERS)).split()
    failed = 0
    if not STOCK:
        print("SKIP check-serving: no erl")
        return 1 if os.environ.get("CI") == "true" else 0
    print(f"{'SERVER':<10} {'WORK':<12} {'ERLVM/S':>10} {'ERL/S':>10} {'OF ERL':>10} {'CPU EACH':>13} {'OF ERL':>11}")
    for name, kind in SERVERS.items():
        missing = [path for path in kind.needs if not glob.glob(path)]
        if missing and name in wanted:
            print(f"SKIP {name}: no {missing[0]}")
        elif name in wanted:
            try:
                check(name, kind)
            except Failure as why:
                print(f"{name}: {why}")
                failed += 1
    subprocess.run(["epmd", "-kill"], env=dict(os.environ, **EPMD), stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False)
    print("check-serving: " + (f"{failed} failed" if failed else "passed"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
