#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attacks every native function with arguments made from its spec, some of them hostile, on the stock erl and on erlvm (native_attack.erl),
and holds the answers against each other: value, class, reason, error_info. A VM that ends is a finding, and the run goes on behind the
function that ended it. Then what is pure is held against erl by its values, over random terms of the right types (native_values.erl).
Exit status 0: erlvm lives, and answers as erl does but where KNOWN says why not.
    BUILD=build python3 tests/natives/attack_natives.py [--rounds N] [--value-rounds N] [--only TEXT] [--no-stock]"""
import argparse, glob, os, re, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

# Not called: they end, block or change the VM that the attack runs in, as they should.
DENIED = re.compile(r"""
    erlang:(halt|system_flag|set_cookie|delay_trap|hibernate|alloc_\w+|dist_\w+|setnode)/ |
    erts_internal:(purge_module|.*purge.*|system_check|await_\w+|erase_persistent_terms|.*literal\w*|counters_\w+|scheduler_wall_time|
        create_dist_channel|new_connection|abort_pending_connection|get_dflags|open_port|debug_on|debug_off|spawn_init|spawn_request)/ |
    erts_debug:(set_internal_state|breakpoint|lock_counters|lcnt_\w+|dirty\w*)/ |
    erts_literal_area_collector: | erl_tracer: | erl_ddll: | prim_net: | prim_socket: |
    init: | os:set_signal/ | lists:seq/ | ets:match_spec_run_r/ | lists:duplicate/ | re:grun/ | re:ucompile/ | prim_file:(set_cwd_nif|get_device_cwd_nif)/ | zlib:\w+_trampoline
""", re.X)


# Answers that differ, and why they may: (functions, reason).
KNOWN = [(re.compile(pattern), reason) for pattern, reason in (
    (r"erlang:dt_", "tags are kept, as by an emulator with notes"),
    (r"erlang:apply/2", "no frame of its own in the stack trace"),
    (r"erlang:(exit_signal/2|exit/2)", "a signal to oneself may be seen before the call returns or after"),
    (r"erlang:(send_after|start_timer)/4", "absolute times: clocks begin elsewhere"),
    (r"erlang:load_nif", "a path that is none is seen first"),
    (r"dyntrace:", "fires probes, which erl has none of"),
    (r"erlang:system_profile", "ports are not profiled"),
    (r"erlang:term_to_iovec/", "erl answers a binary, against its documentation, or cuts otherwise"),
    (r"erlang:system_info/1", "items of docs/coverage.md"),
    (r"erlang:list_to_existing_atom/1", "which atoms there are"),
    (r"erlang:posixtime_to_universaltime", "erl is a day early before the year 0"),
    (r"erts_internal:", "inner functions: what counts is that the VM lives"),
    (r"(prim_file|zlib|re):on_load/0|prim_file:(get_cwd|file_desc_to_ref)/", "tell of the machine, the moment"),
    (r"prim_file:(delete|del_dir|list_dir_all|read_link)/1|prim_file:read_file_info/2", "a bit string is no name"),
    (r"binary:referenced_byte_size", "room that is left for appending"),
    (r"erlang:binary_to_term/2", "how many bytes were used: references are of other lengths"),
    (r"re:", "PCRE2: docs/vm.md"),
)]


def list_natives(beams, only):
    """Those of the stock erl that docs/coverage.md does not excuse, what stands around some, and erlvm's own, as (module, function, arity)."""
    text = subprocess.run(["erl", "-noinput", "-pa", beams, "-eval", """
        Around = [{M, F, A} || M <- [zlib, prim_file, re, binary, unicode, maps, lists],
                               {F, A} <- M:module_info(exports), F =/= module_info],
        [io:format("~s:~s/~b~n", [M, F, A]) || {M, F, A} <- lists:usort(native_spec:natives() ++ Around)], halt()."""],
        capture_output=True, text=True, check=True).stdout
    coverage = open(os.path.join(ROOT, "docs/coverage.md")).read().split("## OTP's own suites")[0]
    excused = set(re.findall(r"`(\w+:[^`]+/\d+)`", coverage))
    tables = "".join(open(f).read() for f in glob.glob(os.path.join(ROOT, "vm/bif/**/*.def")))
    inner = ["%s:%s/%s" % row for row in re.findall(r'^BIF\((\w+), "([^"]+)", (\d+),', tables, re.M)]
    natives = sorted(n for n in {*text.split(), *inner} if n not in excused and not DENIED.match(n) and only in n)
    return [re.fullmatch(r"(\w+):(.+)/(\d+)", n).groups() for n in natives]


def quote(atom):
    return "'" + atom.replace("'", "\\'") + "'"


class Run:
    """One VM; answers: {(native, round): text}; ended: the natives whose calls ended the VM, with its last words."""

    def __init__(self, vm, beams, rounds, seconds):
        self.vm, self.beams, self.rounds, self.seconds = vm, beams, rounds, seconds
        self.answers, self.arguments, self.ended = {}, {}, {}

    def attack(self, natives, ends=()):
        """ends: natives behind which the VM is begun anew, as another was: so both have left of earlier calls what the same calls leave."""
        while natives:
            part = natives[:next((i + 1 for i, native in enumerate(natives) if native in ends), len(natives))]
            with tempfile.TemporaryDirectory() as work:
                last = self.attack_once(part, work) or part[-1]
            natives = natives[natives.index(last) + 1:]

    def attack_once(self, natives, work):
        """Returns the native during which the VM ended; None: it came to its end."""
        with open(f"{work}/natives", "w") as f:
            f.writelines("{%s, %s, %s}.\n" % (quote(m), quote(n), a) for m, n, a in natives)
        os.mkdir(f"{work}/cwd")
        command = [self.vm, "+S", "2", "-noinput", "-pa", self.beams, "-run", "native_attack", "attack", f"{work}/out", str(self.rounds), f"{work}/natives"]
        env = dict(os.environ, ERL_CRASH_DUMP="/dev/null", ERL_CRASH_DUMP_SECONDS="0")
        with open(f"{work}/errors", "w+b") as errors:
            try:
                status = subprocess.run(command, cwd=f"{work}/cwd", env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=errors, timeout=self.seconds).returncode
            except subprocess.TimeoutExpired:
                status = "late"
            errors.seek(0)
            words = errors.read().decode(errors="replace")
        current = self.read_answers(f"{work}/out")
        if current is None:
            return None
        self.ended[current] = (status, words)
        return current if current else None

    def read_answers(self, path):
        current = ()
        if not os.path.exists(path):
            return current
        for line in open(path, errors="replace"):
            if line == "end\n":
                return None
            if line.startswith("  "):
                number, _, answer = line.strip().partition(" ")
                key = (current, int(number))
                self.answers[key], _, self.arguments[key] = answer.partition("\t")
            else:
                current = re.fullmatch(r"'?(\w+)'?:(?:'(.+)'|(.+))/(\d+)\n", line).groups()
                current = tuple(x for x in current if x is not None)
        return current


def is_private(native, answer):
    """A native that its module does not export: only erlvm's can be called from outside."""
    return answer.startswith("{error,undef,{%s,%s}" % native[:2])


def is_known(native):
    return any(pattern.match("%s:%s/%s" % native) for pattern, _ in KNOWN)


def compare(stock, ours):
    """Prints what differs, a few a native; returns how many natives differ."""
    different = {}
    for key in sorted(stock.answers.keys() & ours.answers.keys()):
        answers = stock.answers[key], ours.answers[key]
        if answers[0] != answers[1] and not {"late", "{ended,killed}"} & set(answers) and not is_private(key[0], answers[0]) and not is_known(key[0]):
            different.setdefault(key[0], []).append(key)
    for native, keys in sorted(different.items()):
        print("%s:%s/%s: %d of %d differ" % (*native, len(keys), ours.rounds))
        seen = set()
        for key in keys:
            pair = (stock.answers[key][:30], ours.answers[key][:30])
            if pair not in seen and len(seen) < 4:
                seen.add(pair)
                print("    round %d: %s\n      erl   %s\n      erlvm %s" % (key[1], stock.arguments.get(key) or ours.arguments.get(key),
                                                                 stock.answers[key][:300], ours.answers[key][:300]))
    return len(different)


def read_values(vm, beams, rounds, only):
    """{(work, round): (digest, result)} of native_values on one VM; None, with its last words printed, when it did not come to its end."""
    with tempfile.TemporaryDirectory() as work:
        done = subprocess.run([vm, "+S", "2", "-noinput", "-pa", beams, "-run", "native_values", "run", f"{work}/out", str(rounds), only],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        lines = open(f"{work}/out", errors="replace").read().splitlines() if os.path.exists(f"{work}/out") else []
    if not lines or lines[-1] != "end":
        print("%s ended (%d) in values: %s" % (os.path.basename(vm), done.returncode, (done.stdout + done.stderr)[-3000:]))
        return None
    rows = [line.split(" ", 3) for line in lines[:-1]]
    return {(name, int(number)): (digest, result) for name, number, digest, result in rows}


def compare_values(stock, ours):
    """Prints the first rounds of each work that differ; returns how many works do."""
    different = {}
    for key in sorted(stock.keys() | ours.keys()):
        if stock.get(key, ("",))[0] != ours.get(key, ("",))[0]:
            different.setdefault(key[0], []).append(key)
    for name, keys in different.items():
        print("%s: %d rounds differ" % (name, len(keys)))
        for key in keys[:3]:
            print("    native_values:show(%s, %d)\n      erl   %s\n      erlvm %s" % (*key, stock.get(key, ("", "nothing"))[1], ours.get(key, ("", "nothing"))[1]))
    return len(different)


def hold_values(vm, beams, options):
    """Returns how many works differ; a VM that did not come to its end counts as one."""
    ours, stock = (read_values(each, beams, options.value_rounds, options.only) for each in (vm, "erl"))
    if ours is None or stock is None:
        return 1
    different = compare_values(stock, ours)
    print("values: %d results, %d works differ from erl" % (len(ours), different))
    return different


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--value-rounds", type=int, default=40)
    parser.add_argument("--only", default="")
    parser.add_argument("--no-stock", action="store_true")
    parser.add_argument("--seconds", type=int, default=1800)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as beams:
        subprocess.run(["erlc", "+nowarn_deprecated_function", "-o", beams, *glob.glob(os.path.join(HERE, "*.erl"))], check=True)
        natives = list_natives(beams, options.only)
        vm = os.path.abspath(os.path.join(os.environ.get("BUILD", "build"), "erlvm"))
        ours = Run(vm, beams, options.rounds, options.seconds)
        stock = Run("erl", beams, options.rounds, options.seconds)
        if not options.no_stock:
            stock.attack(natives)
        ours.attack(natives, stock.ended)
        values = 0 if options.no_stock else hold_values(vm, beams, options)
    for run in (stock, ours):
        for native, (status, words) in run.ended.items():
            print("%s ended (%s) in %s: %s" % (os.path.basename(run.vm), status, ":".join(native), words[-3000:]))
    different = compare(stock, ours)
    print("natives: %d functions, %d calls, %d ended erlvm, %d differ from erl" % (len(natives), len(ours.answers), len(ours.ended), different))
    return 1 if ours.ended or different or values else 0


if __name__ == "__main__":
    sys.exit(main())
