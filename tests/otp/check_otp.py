#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs OTP's own suites on the stock Erlang and on erlvm: of the cases that pass on stock, how many pass on erlvm?

The suites come from the distribution's source package of the installed release; nothing of them is kept in this tree. tests/otp/stub stands
in for the test server, otp_case.erl runs the cases. One VM runs the cases of a suite one after the other and ends at the first that does
not pass; that case is then tried again, first in a new VM, and what happens there counts. That VM is a node, with an epmd of its own; what
cases start (nodes, programs) ends with it. Programs, drivers and native functions of the suites are built (suite_data.py).

  BUILD     where erlvm is; everything made here goes to BUILD/otp
  OTP_SRC   the unpacked sources of OTP; without it they are downloaded to BUILD/otp-src

Results are kept: the stock VM's until --again, erlvm's until erlvm changes. Exit status 1: a case crashed erlvm, or the share is too small.
"""
import argparse
import ctypes
import getpass
import glob
import hashlib
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import suite_data

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
WORK = os.path.join(BUILD, "otp")
SHARE = 95.0
SLOWER = 3  # how many times stock's limit a case may take on erlvm
POLL_S = 0.02
MEMORY_BYTES = 16 << 30
FILE_BYTES = 4 << 30
TOOLS = ("eunit/src/eunit_autoexport.erl",) + tuple("syntax_tools/src/%s.erl" % name for name in (
    "erl_syntax", "erl_syntax_lib", "merl", "merl_transform"))  # parse transforms of suites, and what they call
FEATURES = ["-enable-feature", "maybe_expr"]  # as OTP's own runs of its suites
APPLICATIONS = ("stdlib", "kernel", "runtime_tools", "crypto", "ssl", "ssh", "inets", "mnesia", "syntax_tools")
ROOMS = (("emulator", "erts/emulator/test"),) + tuple((name, "lib/%s/test" % name) for name in APPLICATIONS)
PARTS = {"mnesia": "mnesia_*_test.erl"}  # its one suite is made of these, which have the form of suites
RESULTS = ("ok", "skip", "fail", "timeout", "crash")


class Failure(Exception):
    """One line that says what went wrong."""


def run_quiet(words, what, **options):
    said = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if said.returncode != 0:
        last = (said.stdout.strip().splitlines() or ["no word"])[-1]
        raise Failure("cannot %s: %s" % (what, last))
    return said.stdout


# ---- the sources

def source_folder():
    """The folder of OTP's sources, downloaded when nobody names one."""
    named = os.environ.get("OTP_SRC")
    if named:
        if not os.path.isdir(os.path.join(named, ROOMS[0][1])):
            raise Failure("OTP_SRC=%s holds no %s" % (named, ROOMS[0][1]))
        return os.path.abspath(named)
    folder = os.path.join(BUILD, "otp-src")
    found = glob.glob(os.path.join(folder, "*", "OTP_VERSION"))
    return os.path.dirname(found[0]) if found else download(folder)


def download(folder):
    """The upstream part of the source package of the installed erlang-base, by an apt configuration of our own."""
    version = run_quiet(["dpkg-query", "-W", "-f", "${source:Version}", "erlang-base"], "ask for the version of erlang-base").strip()
    with open("/etc/os-release") as text:
        suite = [line.split("=")[1].strip().strip('"') for line in text if line.startswith("VERSION_CODENAME=")][0]
    for part in ("lists/partial", "archives/partial"):
        os.makedirs(os.path.join(folder, "apt", part), exist_ok=True)
    with open(os.path.join(folder, "apt", "sources.list"), "w") as out:
        for place in ("debian %s" % suite, "debian %s-updates" % suite, "debian-security %s-security" % suite):
            out.write("deb-src http://deb.debian.org/%s main\n" % place)
    apt = ["apt-get", "-qq", "-o", "Dir::Etc::sourceparts=-"]
    for key, name in (("Etc::sourcelist", "sources.list"), ("State::lists", "lists"), ("Cache", "")):
        apt += ["-o", "Dir::%s=%s" % (key, os.path.join(folder, "apt", name))]
    run_quiet(apt + ["update"], "read the lists of source packages")
    run_quiet(apt + ["source", "--tar-only", "erlang=" + version], "download the sources of erlang " + version, cwd=folder)
    tars = glob.glob(os.path.join(folder, "erlang_*.orig.tar.*[zx2]"))
    if len(tars) != 1:
        raise Failure("the source package of erlang %s has no tar file" % version)
    run_quiet(["tar", "-C", folder, "-xf", tars[0]], "unpack " + tars[0])
    return os.path.dirname(glob.glob(os.path.join(folder, "*", "OTP_VERSION"))[0])


# ---- suites and their cases

class Suite:
    def __init__(self, room, source):
        self.room, self.source = room, source
        self.name = os.path.basename(source)[:-len(".erl")]
        self.data = os.path.join(beams(room), self.name + "_data")
        self.cases, self.no_cases = [], None
        self.label = room + "." + self.name.replace("_SUITE", "")  # some rooms have suites of the same name


def beams(room):
    """Where its modules are. Of suites: a copy of their folder, with what is built in it; some look for what else it holds beside themselves.
    It is not called as an application, since the code server would take it for that one's."""
    return os.path.join(WORK, "tests", room + "_test")


def host(words, what):
    return run_quiet(["erl", "-noinput"] + FEATURES + ["-pa", beams("tools"), beams("stub"), "-run", "otp_case"] + words, what)


def compile_all(src):
    """Compiles what is not compiled yet; returns {file: reason} of what cannot be."""
    os.makedirs(beams("stub"), exist_ok=True)
    with tempfile.TemporaryDirectory(dir=WORK) as made:  # another run may be loading those that are there
        run_quiet(["erlc", "-o", made] + [os.path.join(HERE, "otp_case.erl")] + glob.glob(os.path.join(HERE, "stub", "*.erl")),
                  "compile the harness")
        for name in os.listdir(made):
            os.replace(os.path.join(made, name), os.path.join(beams("stub"), name))
    os.makedirs(beams("tools"), exist_ok=True)
    if len(os.listdir(beams("tools"))) < len(TOOLS):
        run_quiet(["erlc", "-DMERL_NO_TRANSFORM", "-I", os.path.join(src, "lib/syntax_tools/include"), "-o", beams("tools")] +
                  [os.path.join(src, "lib", name) for name in TOOLS], "compile the parse transforms of suites")
    bad = {}
    root = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("erl"))))
    public_key = glob.glob(os.path.join(root, "lib/public_key-*/include"))  # in the sources its records are not made yet
    for room, folder in ROOMS:
        for line in suite_data.copy_folder(os.path.join(src, folder), beams(room), root):
            print("cannot build all of " + line)
        os.makedirs(beams(room), exist_ok=True)
        files = [f for f in sorted(glob.glob(os.path.join(src, folder, "*.erl")))
                 if not os.path.exists(os.path.join(beams(room), os.path.basename(f)[:-4] + ".beam"))]
        if files:
            print("compiling %d files of %s" % (len(files), room), flush=True)
            own = [os.path.join(src, "lib", name) for name in ("", "stdlib/include", "kernel/include", room + "/include", room + "/src")]
            includes = ":".join(public_key + own)
            for line in host(["compile", beams(room), includes] + files, "compile " + room).splitlines():
                name, _, reason = line.partition("\t")
                bad[name] = reason
    return bad


def find_suites(src, bad):
    suites = []
    for room, folder in ROOMS:
        for source in sorted(glob.glob(os.path.join(src, folder, PARTS.get(room, "*_SUITE.erl")))):
            suite = Suite(room, source)
            if os.path.exists(os.path.join(beams(room), suite.name + ".beam")):
                suites.append(suite)
            else:
                suite.no_cases = "does not compile: " + bad.get(source, "?")
                suites.append(suite)
    return suites


def list_cases(room, suites):
    out = os.path.join(WORK, "cases-" + room)
    if not os.path.exists(out):
        host(["list", out] + [s.name for s in suites] + ["-pa", beams(room)], "list the cases of " + room)
    by_name = {s.name: s for s in suites}
    with open(out) as lines:
        for line in lines:
            name, _, case = line.rstrip("\n").partition("\t")
            suite = by_name.get(name)
            if suite and case.startswith("!"):
                suite.no_cases = case[1:]
            elif suite and case not in suite.cases:
                suite.cases.append(case)


# ---- running

class Vm:
    """A VM under test, and the results of its cases: {suite: {case: {result, reason, ms}}}, kept in a file a suite."""

    def __init__(self, name, command, path, mark):
        self.name, self.command, self.mark = name, command, mark
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("ERL")}
        self.env.update(PATH=path, LC_ALL="C.UTF-8", USER=getpass.getuser())
        self.kept = {}

    def file(self, kind, suite):
        folder = os.path.join(WORK, self.name, kind)
        os.makedirs(folder, exist_ok=True)
        return os.path.join(folder, suite.label)

    def results(self, suite):
        if suite.label not in self.kept:
            self.kept[suite.label] = self.read(suite)
        return self.kept[suite.label]

    def read(self, suite):
        try:
            with open(self.file("results", suite)) as lines:
                rows = [json.loads(line) for line in lines if line.endswith("\n")]
        except FileNotFoundError:
            rows = []
        if not rows or rows[0] != {"mark": self.mark}:
            self.forget(suite)
            return {}
        return {row["case"]: row for row in rows[1:]}

    def forget(self, suite):
        with open(self.file("results", suite), "w") as out:
            out.write(json.dumps({"mark": self.mark}) + "\n")
        self.kept[suite.label] = {}

    def keep(self, suite, case, result, reason, ms):
        row = {"case": case, "result": result, "reason": reason, "ms": ms}
        self.results(suite)[case] = row
        with open(self.file("results", suite), "a") as out:
            out.write(json.dumps(row) + "\n")


def limit_resources():
    os.nice(5)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))  # with few addresses erlvm makes no machine code
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def start(vm, suite, cases):
    plan, told, private = vm.file("plan", suite), vm.file("told", suite), tempfile.mkdtemp(prefix=suite.name, dir=WORK)
    with open(plan, "w") as out:
        out.write("".join(case + "\n" for case in cases))
    open(told, "w").close()
    words = [vm.command, "-noinput", "-sname", "test_server"] + FEATURES + ["-pa", beams("tools"), beams("stub"), beams(suite.room)]
    words += ["-pz"] + [beams(room) for room, _ in ROOMS if room != suite.room]  # suites share some modules
    words += ["-run", "otp_case", "run", suite.name, plan, told, suite.data, private]
    with open(vm.file("log", suite), "a") as log:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=private,
                                   env=dict(vm.env, HOME=private, ERL_EPMD_PORT=str(free_port())), start_new_session=True, preexec_fn=limit_resources)
    return process, told, private


def free_port():
    """A port that nobody listens on, for an epmd."""
    with socket.socket() as one:
        one.bind(("", 0))
        return one.getsockname()[1]


def adopt_orphans():
    """What a case starts and leaves behind becomes our child, wherever it put itself."""
    PR_SET_CHILD_SUBREAPER = 36
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise Failure("cannot adopt what cases leave behind: %s" % os.strerror(ctypes.get_errno()))


def end(process):
    """Ends the VM and all that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    while True:
        with open("/proc/self/task/%d/children" % os.getpid()) as text:
            left = [int(pid) for pid in text.read().split()]
        if not left:
            return
        for pid in left:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def say_status(status):
    return "killed by " + signal.Signals(-status).name if status < 0 else "the VM ended with status %d" % status


def run_plan(vm, suite, cases, limit):
    """Runs the cases in one VM up to the first that does not pass: [(case, result, reason, ms)]."""
    process, told, private = start(vm, suite, cases)
    try:
        return watch_plan(process, told, cases, limit)
    finally:
        end(process)
        shutil.rmtree(private, ignore_errors=True)


def watch_plan(process, told, cases, limit):
    over, since = [], time.monotonic()
    with open(told) as lines:
        rest = ""
        while True:
            gone = process.poll() is not None
            rest += lines.read()
            *whole, rest = rest.split("\n")
            for words in (line.split("\t") for line in whole):
                if words[0] == "done":
                    return over
                if words[0] == "end":
                    now = time.monotonic()
                    over.append((words[1], words[2], words[3], int((now - since) * 1000)))
                    since = now
            if over and over[-1][1] == "fail" or gone or time.monotonic() - since > limit:
                break
            time.sleep(POLL_S)
    status = process.returncode if gone else None
    if not (over and over[-1][1] == "fail"):
        result = ("timeout", "more than %d s" % limit) if status is None else ("crash", say_status(status))
        over.append((cases[len(over)],) + result + (int((time.monotonic() - since) * 1000),))
    return over


def run_suite(vm, suite, cases, limit):
    left = [case for case in cases if case not in vm.results(suite)]
    while left:
        over = run_plan(vm, suite, left, limit)
        for place, (case, result, reason, ms) in enumerate(over):
            if result in ("ok", "skip") or place == 0:
                vm.keep(suite, case, result, reason, ms)
                left.remove(case)


# ---- the table

def count(rows):
    return {result: sum(row["result"] == result for row in rows) for result in RESULTS}


HEAD = ("suite", "cases", "stock ok", "skip", "fail", "late", "erlvm ok", "skip", "fail", "late", "crash", "share")
COLUMNS = (0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11)  # of them, in the table for docs/coverage.md
FORM = "%-30s %6s %9s %6s %6s %6s %9s %6s %6s %6s %6s %7s"


def say_share(good, of):
    return "%.1f %%" % (100.0 * good / of) if of else "-"


def row_of(name, stock, ours):
    s, o = count(stock), count(ours)
    return (name, len(stock), s["ok"], s["skip"], s["fail"] + s["crash"], s["timeout"],
            o["ok"], o["skip"], o["fail"], o["timeout"], o["crash"], say_share(o["ok"], s["ok"]))


def write_table(rows):
    with open(os.path.join(WORK, "table.md"), "w") as out:
        out.write("| " + " | ".join(HEAD[i] for i in COLUMNS) + " |\n|" + "---|" * len(COLUMNS) + "\n")
        for row in rows:
            out.write("| " + " | ".join(str(row[i]) for i in COLUMNS) + " |\n")


def close(stock, ours, chosen):
    """Prints the table, writes it as Markdown to WORK/table.md and what fails to WORK/failures; returns the exit status."""
    print("\n" + FORM % HEAD)
    all_stock, all_ours, table = [], [], []
    with open(os.path.join(WORK, "failures"), "w") as out:
        for suite, cases in chosen:
            if suite.no_cases:
                print("%-30s no cases: %s" % (suite.label, suite.no_cases[:90]))
                continue
            theirs = [stock.results(suite)[case] for case in cases]
            passing = [row["case"] for row in theirs if row["result"] == "ok"]
            mine = [ours.results(suite)[case] for case in passing]
            row = row_of(suite.label, theirs, mine)
            print(FORM % row)
            table.append(row)
            for row in mine:
                if row["result"] != "ok":
                    out.write("%s\t%s\t%s\t%s\n" % (suite.label, row["case"], row["result"], row["reason"]))
            all_stock += theirs
            all_ours += mine
    print(FORM % row_of("all", all_stock, all_ours))
    write_table(table + [row_of("all", all_stock, all_ours)])
    got = count(all_ours)
    share = 100.0 * got["ok"] / len(all_ours) if all_ours else 0.0
    print("check-otp: of %d cases that pass on stock, erlvm passes %d: %.2f %%, %d crash it (what fails: %s)"
          % (len(all_ours), got["ok"], share, got["crash"], os.path.join(WORK, "failures")))
    return 1 if share < SHARE or got["crash"] else 0


def file_mark(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:16]


def asks_for(name, suite):
    """Whether a word of --suite is this suite, or its room."""
    return name in (suite.room, suite.label, suite.name, suite.label.split(".")[1])


def choose(suites, options):
    unknown = [name for name in options.suite or [] if not any(asks_for(name, suite) for suite in suites)]
    if unknown:
        raise Failure("no suite " + ", ".join(sorted(unknown)))
    asked = [suite for suite in suites if not options.suite or any(asks_for(name, suite) for name in options.suite)]
    for room in sorted({suite.room for suite in asked}):
        list_cases(room, [s for s in suites if s.room == room and not s.no_cases])
    chosen = []
    for suite in asked:
        wanted = [c for c in suite.cases if not options.case or c in options.case or c.rsplit("/", 1)[-1] in options.case]
        chosen.append((suite, wanted))
    if options.case and not any(wanted for _, wanted in chosen):
        raise Failure("no case " + ", ".join(options.case))
    return [(suite, wanted) for suite, wanted in chosen if wanted or not options.case]


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("check-otp: ended"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", action="append", help="only this suite (kernel.code, or code), or those of this room; may be given again")
    parser.add_argument("--case", action="append", help="only this case (name or group/name); may be given again")
    parser.add_argument("--limit", type=int, default=10, help="seconds a case may take on stock (default 10); three times that on erlvm")
    parser.add_argument("--again", choices=("stock", "erlvm"), action="append", default=[], help="forget this VM's results of the chosen suites")
    options = parser.parse_args()
    adopt_orphans()
    src = source_folder()
    chosen = choose(find_suites(src, compile_all(src)), options)
    with open(os.path.join(src, "OTP_VERSION")) as text:
        version = text.read().strip()
    stock = Vm("stock", shutil.which("erl"), os.environ["PATH"], version + ", a node, told of groups")
    ours = Vm("erlvm", os.path.join(BUILD, "erl"), BUILD + ":" + os.environ["PATH"], file_mark(os.path.join(BUILD, "erlvm")))
    for number, (suite, cases) in enumerate(chosen):
        print("[%d/%d] %s" % (number + 1, len(chosen), suite.label), end="", flush=True)
        for vm in (stock, ours):
            if vm.name in options.again:
                vm.forget(suite)
        run_suite(stock, suite, cases, options.limit)
        passing = [case for case in cases if stock.results(suite)[case]["result"] == "ok"]
        run_suite(ours, suite, passing, options.limit * SLOWER)
        got = count([ours.results(suite)[case] for case in passing])
        print(": %d of %d" % (got["ok"], len(passing)), flush=True)
    return close(stock, ours, chosen)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit("check-otp: %s" % failure)
