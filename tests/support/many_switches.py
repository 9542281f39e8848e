#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""many_switches.py FILE TIMES: a dump of TIMES chunks of 20,000 sched_switch each, of two threads that take turns."""

import functools
import pathlib
import sys

import packed_dump
from sched_tracepoints import SWITCH, put, switch

EACH = 20000


def main(path, times):
    packed_dump.crc32c = functools.cache(packed_dump.crc32c)  # the chunks' bytes are the same
    dump = packed_dump.Dump()
    dump.begin(pid=7, name="app")
    name = dump.text("sched:sched_switch")
    dump.record("EVENT", number=1, name=name, asked=name, got=name, unit=dump.text("events"), type=2, period=1,
                flags=64, format=dump.text(SWITCH))
    dump.flush()
    flush, dump.flush = dump.flush, lambda: None
    sides = [switch(("app", 7), ("worker", 8)), switch(("worker", 8), ("app", 7))]
    put(dump, 1, 7, 0, [(1000 * i, sides[i % 2]) for i in range(EACH)])
    chunk = bytes(dump.payload)
    for _ in range(times):
        dump.payload = bytearray(chunk)
        flush()
        dump.time_ns += 1000 * EACH
    pathlib.Path(path).write_bytes(dump.file)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
