#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the names of a profile of `erlsnoop stacks` against the perf map that the VM itself wrote (erl +JPperf map).

    perf_map.py MAP PPROF MAPS     prints each name that the map does not bear out, then how many frames were held
                                   against it; status 1 when one is wrong

MAPS is the VM's /proc/PID/maps: the map tells nothing of code that is in files, as the emulator's own built-in
functions are.
"""
import bisect
import collections
import gzip
import re
import sys

SHARED = "(shared code)"
FUNCTION = re.compile(r"^.+:.+/\d+$")


class PerfMap:
    """What the emulator says stands where in its code."""

    def __init__(self, path):
        ranges = {}
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                start, size, name = line.rstrip("\n").split(" ", 2)
                ranges[int(start, 16)] = (int(start, 16) + int(size, 16), name.removeprefix("$"))
        self.starts = sorted(ranges)
        self.ends = [ranges[start][0] for start in self.starts]
        self.names = [ranges[start][1] for start in self.starts]

    def find(self, address):
        """What holds the address, as erlsnoop tells it; None for what is not in the map."""
        i = bisect.bisect_right(self.starts, address) - 1
        if i < 0 or address >= self.ends[i]:
            return None
        name = self.names[i].removesuffix("-CodeInfoPrologue")
        if name.endswith(("::codeHeader", "::codeFooter")):
            return SHARED  # a module's own ways to it
        return SHARED if name.startswith("global::") else name.replace("'", "")


def varint(data, i):
    value = shift = 0
    while True:
        value |= (data[i] & 127) << shift
        shift += 7
        i += 1
        if data[i - 1] < 128:
            return value, i


def numbers(values):
    """Those of a field that may have several: each by itself, or all in one piece."""
    for value in values:
        i = 0
        if isinstance(value, int):
            yield value
        while not isinstance(value, int) and i < len(value):
            number, i = varint(value, i)
            yield number


def fields(data):
    """The fields of a message of Protocol Buffers, by number; a number that is not there is 0."""
    i, found = 0, collections.defaultdict(lambda: [0])
    while i < len(data):
        key, i = varint(data, i)
        value, i = varint(data, i)
        if key & 7 == 2:
            value, i = data[i:i + value], i + value
        found.setdefault(key >> 3, []).append(value)
    return found


def frames(path):
    """(address, name) of each location of a profile that has an address."""
    with gzip.open(path) as file:
        profile = fields(file.read())
    texts = [text.decode() for text in profile[6]]
    functions = {f[1][0]: texts[f[2][0]] for f in map(fields, profile.get(5, []))}
    for location in map(fields, profile.get(4, [])):
        if location[3][0]:
            yield location[3][0], functions[fields(location[4][0])[1][0]]


def code_of_files(path):
    """Where code is mapped from files."""
    mapping = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) ..x. .* (/\S+)")
    with open(path, encoding="utf-8") as lines:
        found = [m for m in map(mapping.match, lines) if m and not m[3].startswith("/memfd:")]
    return [(int(m[1], 16), int(m[2], 16)) for m in found]


def compare(perf_map, path, files):
    """(frames in code of the map, lines about those whose names it does not bear out)"""
    held, wrong = 0, []
    for address, name in frames(path):
        told = perf_map.find(address)
        if told is None:
            in_file = any(start <= address < end for start, end in files)
            if not in_file and (FUNCTION.match(name) or name == SHARED):
                wrong.append(f"{address:#x}: {name}, and the map has nothing there")
            continue
        held += 1
        if name.replace("'", "") != told:  # the map quotes no reserved words
            wrong.append(f"{address:#x}: {name}, and the map says {told}")
    return held, wrong


def main():
    held, wrong = compare(PerfMap(sys.argv[1]), sys.argv[2], code_of_files(sys.argv[3]))
    for line in wrong:
        print("WRONG " + line)
    print(f"{held} frames held against the map, {len(wrong)} wrong")
    return 1 if wrong or not held else 0


if __name__ == "__main__":
    sys.exit(main())
