# SPDX-License-Identifier: Apache-2.0
"""Runs, wakings, fields of tracepoints and branches: more of each, or further apart, than any
recording has them."""

import struct

from lies import attack, begun
from packed_dump import ZSTD, constant, plain, steps

HEAD = "".join(f"\tfield:{kind} common_{name};\toffset:{offset};\tsize:{size};\tsigned:0;\n"
               for kind, name, offset, size in (
                   ("unsigned short", "type", 0, 2), ("unsigned char", "flags", 2, 1),
                   ("unsigned char", "preempt_count", 3, 1), ("int", "pid", 4, 4)))
SWITCH = [("char", "prev_comm[16]", 8, 16), ("pid_t", "prev_pid", 24, 4),
          ("int", "prev_prio", 28, 4), ("long", "prev_state", 32, 8),
          ("char", "next_comm[16]", 40, 16), ("pid_t", "next_pid", 56, 4),
          ("int", "next_prio", 60, 4)]
WAKING = [("char", "comm[16]", 8, 16), ("pid_t", "pid", 24, 4), ("int", "prio", 28, 4),
          ("int", "target_cpu", 32, 4)]


def format_text(name, fields, number):
    rows = "".join(f"\tfield:{kind} {field};\toffset:{offset};\tsize:{size};\tsigned:1;\n"
                   for kind, field, offset, size in fields)
    return f"name: {name}\nID: {number}\nformat:\n{HEAD}\n{rows}\nprint fmt: \"\"\n"


def tracepoint(dump, number, name, fields, flags=64):
    text = dump.text(name)
    described = dump.text(format_text(name.split(":")[-1], fields, 300 + number))
    dump.record("EVENT", number=number, name=text, asked=text, got=text, unit=text, flags=flags,
                type=2, config=300 + number, period=1, format=described)


def switched(before, after):
    return struct.pack("<HBBi16siiq16sii", 301, 0, 0, 1, b"t", before, 120, 1, b"t", after, 120)


def waking(tid):
    return struct.pack("<HBBi16siii", 302, 0, 0, 1, b"t", tid, 120, 0)


def put_samples(dump, event, raws, tid=1, **columns):
    """Samples of a tracepoint, each with its raw bytes."""
    count = len(raws)
    dump.named("STREAMS", 1, {"event": event, "tid": tid, "count": count, "period_ns": 1000,
                              "weight": 1})
    dump.batch("DETAILS", 0, count, steps(count, 0, 1), constant(0), plain(map(len, raws)),
               tail=b"".join(raws))
    dump.named("SAMPLES", count, columns)
    dump.flush(ZSTD)


def begun_with(got):
    dump = begun()
    dump.record("SCHED", asked=dump.text(got), got=dump.text(got))
    return dump


@attack
def sched_runs():
    """2.6 million runs, a byte and less each."""
    dump = begun_with("switch")
    for _ in range(40):
        dump.named("RUNS", 65536, {"tid": constant(1), "length_ns": constant(1)})
        dump.flush(ZSTD)
    return dump.end()


@attack
def sched_threads():
    """Each run is of another thread, on another core."""
    dump = begun_with("switch")
    for k in range(40):
        dump.named("RUNS", 8000, {"tid": steps(8000, k * 8000, 1), "cpu": steps(8000, k * 8000, 1),
                                  "length_ns": constant(2**40),
                                  "time_ns": steps(8000, k * 2**30, 1000)})
        dump.flush(ZSTD)
    return dump.end()


@attack
def sched_wakings():
    """Every waker and every woken thread is another."""
    dump = begun_with("tracepoints:all")
    tracepoint(dump, 1, "sched:sched_switch", SWITCH)
    tracepoint(dump, 2, "sched:sched_waking", WAKING)
    for k in range(8):
        put_samples(dump, 2, [waking(k * 4000 + i) for i in range(4000)], tid=k)
        put_samples(dump, 1, [switched(k * 4000 + i, k * 4000 + i + 1) for i in range(4000)],
                    tid=k, cpu=steps(4000, 2**31, 1))
    return dump.end()


@attack
def sched_fields():
    """A format of thousands of fields, which each of 128,000 samples has."""
    dump = begun()
    tracepoint(dump, 1, "a:b", [("unsigned char", f"f{i}", 8 + i % 8, 1) for i in range(4000)], 0)
    for _ in range(16):
        put_samples(dump, 1, [b"\1" * 16] * 8000)
    return dump.end()


@attack
def sched_formats():
    """Thousands of events have one long format."""
    dump = begun()
    fields = [("unsigned char", f"f{i}", 8 + i % 8, 1) for i in range(1200)]
    described = dump.text(format_text("b", fields, 300))
    for i in range(1, 4096):
        dump.record("EVENT", number=i, name=1, asked=1, got=1, unit=1, format=described, config=i)
        if i % 500 == 0:
            dump.flush(ZSTD)
    dump.flush(ZSTD)
    return dump.end()


@attack
def sched_branches():
    dump = begun()
    dump.functions(4000)
    for k in range(10):
        dump.named("BRANCHES", 16_000, {
            "from": plain((i + k) % 4000 + 1 for i in range(16_000)), "count": constant(2**30),
            "to": plain(i * 7 % 4000 + 1 for i in range(16_000)), "cycles": constant(2**30)})
        dump.flush(ZSTD)
    return dump.end()
