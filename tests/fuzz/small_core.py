#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a core file that is whole and small: two segments that touch, and the notes that tools/target/core_file.c reads."""
import struct
import sys

PAGE, BASE, ENTRY = 4096, 0x400000, 0x400040
HEADERS = 64 + 3 * 56


def note(kind, body):
    return struct.pack("<III", 5, len(body), kind) + b"CORE\0\0\0\0" + body + b"\0" * (-len(body) % 4)


paths = b"/small\0"
notes = note(3, struct.pack("<24xI", 4711) + b"\0" * 100)
notes += note(6, struct.pack("<QQQQ", 9, ENTRY, 0, 0))
notes += note(0x46494C45, struct.pack("<QQQQQ", 1, PAGE, BASE, BASE + 2 * PAGE, 0) + paths)
at = HEADERS + len(notes)
first, second = b"a" * 600, b"b" * 300
segments = [(4, 0, 0, HEADERS, len(notes), 0), (1, 5, BASE, at, len(first), PAGE),
            (1, 6, BASE + PAGE, at + len(first), len(second), PAGE)]
out = b"\x7fELF\2\1\1" + b"\0" * 9 + struct.pack("<HHIQQQIHHHHHH", 4, 62, 1, ENTRY, 64, 0, 0, 64, 56, 3, 0, 0, 0)
for kind, flags, address, offset, size, room in segments:
    out += struct.pack("<IIQQQQQQ", kind, flags, offset, address, address, size, room, 1)
sys.stdout.buffer.write(out + notes + first + second)
