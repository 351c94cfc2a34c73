# SPDX-License-Identifier: Apache-2.0
"""The folders of OTP's suites with what they bring: copied, and the programs, drivers and native functions in them built.

A Makefile.src names its compiler, its libraries and the endings of files as @words@, which OTP's own test server puts in. values() has
them for Linux, with the headers and libraries of the distribution's erlang-dev.
"""
import glob
import os
import re
import shutil
import subprocess

DEFINED = "-DHAVE_STRERROR=1 -DHAVE_FINITE=1"  # what a configure script would have found
SHARED_RULES = """
.SUFFIXES: .c .so
.c.so:
\tcc -fPIC -O2 -g %(defined)s -I%(include)s -shared -o $@ $< $(SHLIB_EXTRA_CFLAGS) $(SHLIB_EXTRA_LDLIBS)
"""


def values(root):
    """What the words of a Makefile.src stand for, with Erlang at root."""
    include = os.path.join(root, "usr/include")
    library = (glob.glob(os.path.join(root, "lib/erl_interface-*/lib")) + [""])[0]
    return {
        "CC": "cc", "LD": "cc", "CFLAGS": "-O2 -g -fPIC", "EI_CFLAGS": "-O2 -g -D_REENTRANT", "DEFS": DEFINED, "LIBS": "-lm -lpthread",
        "CROSSLDFLAGS": "", "SHLIB_CFLAGS": "-fPIC", "SHLIB_RULES": SHARED_RULES % {"include": include, "defined": DEFINED},
        "ERTS_LIBS": "", "DS": "/", "PS": ":", "WSL": "", "cross": "no", "os": "linux-gnu",
        "EMULATOR": "beam", "dll": ".so", "exe": "", "obj": ".o", "erl_name": "erl", "erl_include": include,
        "IFEQ": "ifeq", "ELSE": "else", "ENDIF": "endif",
        "erl_interface_include": include, "erl_interface_lib": os.path.join(library, "libei.a"), "erl_interface_eilib": os.path.join(library, "libei.a"),
        "erl_interface_eilib_drv": os.path.join(library, "libei.a"), "erl_interface_sock_libs": "", "erl_interface_threadlib": "-lpthread",
        "erl_interface_mk_include": "/dev/null",
    }


def copy_folder(source, folder, root):
    """Copies a folder of suites and builds in it; returns a line for each Makefile.src that fails."""
    if os.path.exists(os.path.join(folder, ".built")):
        return []
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder, symlinks=True)
    bad = [line for line in (build(path, values(root)) for path in sorted(glob.glob(os.path.join(folder, "*_data/Makefile.src")))) if line]
    open(os.path.join(folder, ".built"), "w").close()
    return bad


def build(path, words):
    """None, or one line that says what failed. What can be built is, though a target fails."""
    place = os.path.dirname(path)
    with open(path, errors="surrogateescape") as text:
        rules = re.sub("@([A-Za-z_]+)@", lambda word: words.get(word.group(1), word.group(0)), text.read())
    with open(os.path.join(place, "Makefile"), "w", errors="surrogateescape") as out:
        out.write(rules)
    said = subprocess.run(["make", "-k", "-C", place], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    with open(os.path.join(place, "make.log"), "w") as out:
        out.write(said.stdout)
    if said.returncode == 0:
        return None
    errors = [line for line in said.stdout.splitlines() if "error" in line.lower() or "***" in line]
    return "%s: %s" % (os.path.basename(place), (errors or ["make failed"])[0])
