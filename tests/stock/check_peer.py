#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Watches an OTP that is built with USDT notes, as check_stock.py does Debian's own, and runs the scripts of bpftrace/ on it.

Its emulator, with the JIT and as interpreter, and the library of dyntrace are built once (some five minutes) from the sources of the
installed release; all else is a copy of the installed Erlang, so both are of one release and one library.
  BUILD      where erlsnoop is; what is made is kept in BUILD/peer
  OTP_SRC    the unpacked sources of OTP, as of check_otp.py, which downloads them otherwise
  PEER_ONLY  words; only the rows (flavor, case) that hold one of them
"""
import glob
import json
import os
import shutil
import subprocess
import sys

import check_stock
from check_stock import BUILD, CASES, DOCTOR, HERE, MAP, Failure, Otp

sys.path.insert(0, os.path.join(HERE, "..", "otp"))
import check_otp  # noqa: E402

PEER = os.path.join(BUILD, "peer")
FLAVORS = ("jit", "emu")
OPTIONS = ("--with-dynamic-trace=systemtap", "--without-javac", "--without-wx", "--without-odbc", "--without-ssl", "--without-termcap",
           "CFLAGS=-O2")
USER = ("user", "user", "user")
# What is refused, and why as doctor says it: with the JIT there is no note of returns, and what hooks are for goes otherwise without it.
REFUSED = {"jit": {"calls": "no function__return"},
           "emu": {"calls": "the depth that it tells", "mailboxes": "no function beam_jit", "requests": "no function beam_jit"}}
# Scripts of bpftrace/: which case of their tests is run on which flavor. What they print of all else is of the JIT.
SCRIPTS = (("jit", "notes"), ("jit", "nodes_with_notes"), ("emu", "nodes_with_notes"))
LEFT_OUT = {"jit": (), "emu": ("mailboxes", "requests", "natives", "map")}  # doctor says what its notes of natives leave out


def run_step(words, log, **options):
    with open(log, "ab") as out:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, check=False, **options)
    if done.returncode:
        raise Failure(f"{' '.join(words[:3])} failed: see {log}")


def build_emulators(source):
    """Builds in a copy of the sources, where one that was ended goes on; its folder."""
    folder, log = os.path.join(PEER, "src"), os.path.join(PEER, "build.log")
    configured = os.path.join(folder, "configured")
    env = dict(os.environ, ERL_TOP=folder)
    for variable in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "BUILD", "CFLAGS"):
        env.pop(variable, None)
    if not os.path.exists(configured):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(source, folder, symlinks=True)
        run_step(["./configure", *OPTIONS], log, cwd=folder, env=env)
        with open(configured, "w", encoding="utf-8"):
            pass
    for left in glob.glob(os.path.join(folder, "erts/emulator/.dtrace-temp*")):  # it refuses to begin where it was ended
        os.unlink(left)
    for room, flavors in (("erts/lib_src", ("jit",)), ("erts/emulator", FLAVORS), ("lib/runtime_tools/c_src", ("jit",))):
        for flavor in flavors:
            run_step(["make", "-C", room, f"-j{os.cpu_count()}", "opt", "FLAVOR=" + flavor], log, cwd=folder, env=env)
    return folder


def one(*parts):
    found = glob.glob(os.path.join(*parts))
    if len(found) != 1:
        raise Failure(f"there is not one {os.path.join(*parts)}")
    return found[0]


def make_root(folder, stock, root):
    """A copy of the installed Erlang with what was built in the places of its own."""
    shutil.copytree(stock, root, symlinks=False)
    erts = one(root, "erts-*", "bin")
    shutil.copy(one(folder, "bin", "*-linux-gnu", "beam.smp"), os.path.join(erts, "beam.smp"))
    shutil.copy(one(folder, "bin", "*-linux-gnu", "beam.emu"), os.path.join(erts, "beam.emu"))
    shutil.copy(one(folder, "lib/runtime_tools/priv/lib/*-linux-gnu/dyntrace.so"), one(root, "lib/runtime_tools-*/priv/lib/dyntrace.so"))
    launcher = os.path.join(root, "bin", "erl")
    with open(launcher, encoding="utf-8") as text:
        lines = text.read().replace(f"ROOTDIR={stock}\n", f"ROOTDIR={root}\n")
    with open(launcher, "w", encoding="utf-8") as text:
        text.write(lines)


def check_flavor(erl, flavor):
    """Fails unless it is what it was built as: rows of another would say what nobody asked."""
    said = subprocess.run([erl, "-noinput", "-eval", "io:format(\"~s ~s\", [erlang:system_info(I) || I <- [dynamic_trace, emu_flavor]]), halt()."],
                          capture_output=True, text=True, timeout=check_stock.DEADLINE, check=False).stdout
    if said != "systemtap " + flavor:
        raise Failure(f"{erl} is '{said}', not an OTP with notes: remove {PEER} to have it built again")


def make_erls():
    """A command for each flavor; built when there is none."""
    root, erls = os.path.join(PEER, "erlang"), {flavor: os.path.join(PEER, flavor) for flavor in FLAVORS}
    if not all(map(os.path.exists, erls.values())):
        if not shutil.which("dtrace"):
            raise Failure("there is no dtrace, which makes notes: apt install systemtap-sdt-dev")
        os.makedirs(PEER, exist_ok=True)
        print(f"building an OTP with notes in {PEER}", flush=True)
        folder = build_emulators(check_otp.source_folder())
        shutil.rmtree(root, ignore_errors=True)
        make_root(folder, os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("erl")))), root)
        shutil.rmtree(folder)
        for flavor, erl in erls.items():
            with open(erl, "w", encoding="utf-8") as text:
                text.write(f'#!/bin/sh\nexec {root}/bin/erl {"" if flavor == "jit" else "-emu_flavor emu "}"$@"\n')
            os.chmod(erl, 0o755)
    for flavor, erl in erls.items():
        check_flavor(erl, flavor)
    return erls


def run_refused(otp, refused):
    """What it cannot tell is refused with the reason, by doctor and by the subcommand, and nothing else is."""
    result = check_stock.Result(otp.name, "what is refused")
    work = check_stock.Work(otp, "spawns")
    try:
        told = subprocess.run([check_stock.ERLSNOOP, "doctor", "--json", "-p", str(work.pid)], capture_output=True, text=True,
                              timeout=check_stock.DEADLINE, check=False).stdout
        rows = [json.loads(line) for line in told.splitlines()]
        said = {row["command"]: row["how"] for row in rows if row["type"] == "command" and row["works"] == "no"}
        result.checks = len(refused) + 1
        if set(said) != set(refused):
            result.wrong.append(f"refused are {sorted(said)}")
        for command, why in refused.items():
            run = subprocess.run([check_stock.ERLSNOOP, command, "-p", str(work.pid), "0.1", "1"], capture_output=True, text=True,
                                 timeout=check_stock.DEADLINE, check=False)
            if not said.get(command, "").startswith(why) or run.returncode != 1 or run.stdout:
                result.wrong.append(f"{command}: {said.get(command)}; it ended with {run.returncode}, {run.stderr.strip()}")
    finally:
        work.end()
    return result


def run_bpftrace(erl, case):
    """A case of tests/tools/bpftrace_test.c on it; whether all is as it should be."""
    env = dict(os.environ, BUILD=BUILD, NOTES_ERL=erl, CK_RUN_SUITE="bpftrace", CK_RUN_CASE=case, CK_TIMEOUT_MULTIPLIER="5")
    return subprocess.run([os.path.join(BUILD, "tests", "tools")], env=env, stdin=subprocess.DEVNULL, check=False).returncode == 0


def is_chosen(flavor, case):
    only = os.environ.get("PEER_ONLY", "").split()
    return case[0] not in LEFT_OUT[flavor] and (not only or flavor in only or case[0] in only)


def main():
    if os.geteuid():
        print("check-peer needs root")
        return 1
    try:
        erls = make_erls()
    except (Failure, check_otp.Failure, OSError) as why:
        print(f"check-peer: {why}")
        return 1
    runs = []
    for flavor, erl in erls.items():
        otp = Otp("notes " + flavor, erl=erl)
        runs += [(check_stock.run_case, (otp, case)) for case in (*CASES, USER) if is_chosen(flavor, case)]
        runs += [(run, (otp, *more)) for run, case, more in ((check_stock.run_doctor, DOCTOR, ()), (check_stock.run_map, MAP, ()),
                                                             (run_refused, ("refused",), (REFUSED[flavor],)))
                 if is_chosen(flavor, case)]
    wrong = check_stock.run_all(runs)
    print(f"check-peer: {len(runs) - wrong} exact, {wrong} failed", flush=True)
    scripts = [run_bpftrace(erls[flavor], case) for flavor, case in SCRIPTS if is_chosen(flavor, ("bpftrace",))]
    return 1 if wrong or not all(scripts) else 0


if __name__ == "__main__":
    sys.exit(main())
