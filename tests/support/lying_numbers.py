# SPDX-License-Identifier: Apache-2.0
"""Numbers, times and counts of records beyond all bounds, and chunks that unpack to nothing."""

from lies import BATCH, MOST, attack, begun, chain, flat
from packed_dump import (BATCHES, RECORDS, ZSTD, constant, plain, record_bytes, squeeze,
                         steps, varint)


@attack
def far_numbers():
    """Tables for 2^22 and 2^24 numbers, anew in each epoch."""
    dump = begun()
    for _ in range(30):
        dump.next_epoch()
        top, big = 2**22 - 1, 2**24 - 1
        dump.batch("STRINGS", top, 1, constant(1), tail=b"x")
        dump.batch("SYMBOLS", top, 1, constant(0), constant(4096), constant(16), constant(top + 1))
        dump.batch("FRAMES", big, 1, constant(top), constant(0), constant(0))
        dump.batch("STACKS", big, 1, constant(0), constant(big))
        dump.samples(1, stack=constant(big + 1))
    dump.flush()
    return dump.end()


@attack
def many_threads():
    dump = begun()
    for i in range(30_000):
        dump.record("THREAD", tid=i + 2, time_ns=i)
    dump.flush(ZSTD)
    return dump.end()


@attack
def thread_ends():
    """Each end of another time is of another thread of the number."""
    dump = begun()
    for i in range(15_000):
        dump.record("THREAD_END", tid=1, time_ns=i, cpu_ns=MOST)
    dump.flush(ZSTD)
    return dump.end()


@attack
def many_records():
    """What is kept of each is many times its size: marks, options, stops."""
    dump = begun()
    text = dump.text(b"m" * 900)
    for i in range(10_000):
        dump.record("MESSAGE", time_ns=i, kind=4, tid=1, text=text)
        dump.record("OPTION", name=text, value=text)
        dump.record("COVERAGE", time_ns=i, is_on=i % 2)
        dump.record("FROM", path=text, damage=text, nr_damages=1)
    dump.flush(ZSTD)
    return dump.end()


@attack
def many_lines():
    """Records that are lines of a script."""
    dump = begun()
    for i in range(20_000):
        dump.record("LOST", time_ns=i, count=MOST, event=1)
        dump.record("TOTALS", time_ns=i)
    dump.flush(ZSTD)
    return dump.end()


@attack
def many_events():
    """4,096 events of other names, each with one sample, over 60,000 stacks."""
    dump = begun()
    unit = dump.text("ns")
    for i in range(4096):
        name = dump.text("%x" % i)
        dump.record("EVENT", number=i, name=name, asked=name, got=name, unit=unit)
    dump.functions(BATCH)
    flat(dump, 60_000)
    dump.samples(4096, streams=4096, stack=steps(4096, 1, 1),
                 stream={"event": steps(4096, 0, 1), "count": constant(1),
                         "tid": constant(1)})
    dump.flush(ZSTD)
    return dump.end()


@attack
def many_processes():
    """Each of a few bytes, behind one with many threads."""
    dump = begun()
    for i in range(50_000):
        dump.record("THREAD", tid=i + 2, time_ns=i)
    dump.flush(ZSTD)
    for i in range(1000):
        dump.next_process()
        dump.record("PROCESS", pid=i + 2)
        dump.record("EVENT", number=255)
    return dump.end()


@attack
def many_epochs():
    dump = begun()
    dump.functions(1000)
    chain(dump, 1000, 1000)
    dump.flush()
    for _ in range(1000):
        dump.next_epoch()
        dump.functions(100)
        chain(dump, 100, 100)
        dump.samples(1, stack=constant(100))
    return dump.end()


@attack
def heavy_weights():
    """Sums of weights that no number can hold."""
    dump = begun()
    dump.functions(100)
    chain(dump, 100, 100)
    dump.samples(100, stack=steps(100, 1, 1), stream={"weight": constant(MOST),
                                                      "tid": constant(1)})
    dump.samples(100, stack=steps(100, 1, 1), stream={"weight": constant(2**63),
                                                      "tid": constant(1)})
    dump.record("COUNT", event=0, count=MOST, time_enabled_ns=MOST, time_running_ns=1, lost=MOST)
    dump.record("TOTALS", tail=b"".join(varint(key) + varint(MOST) for key in range(22)))
    return dump.end()


@attack
def far_times():
    """From the first nanosecond to the last of 2^64, on cores of 32 bits."""
    dump = begun()
    dump.functions(3)
    chain(dump, 3, 3)
    dump.samples(1000, stack=constant(3), time_ns=plain([0] + [2**56] * 999),
                 cpu=steps(1000, 2**31, 1), stream={"tid": constant(1)})
    dump.record("THREAD", tid=7, time_ns=2**62)
    dump.record("THREAD_END", tid=7, time_ns=-2**62, cpu_ns=MOST)
    for i in range(50):
        dump.record("COVERAGE", time_ns=(-1)**i * 2**60, is_on=i % 2, off_cpu_ns=MOST)
        dump.record("MESSAGE", time_ns=(-1)**i * 2**61, kind=4)
    dump.record("END", time_ns=2**62)
    return dump.bytes()


@attack
def bombs():
    """Many chunks that unpack to 16 MB of nothing each."""
    dump = begun()
    stored = squeeze(b"\x63\x00" * (2**23 - 1))
    for _ in range(60):
        dump.chunk(stored, 2**24 - 2, ZSTD)
    return dump.end()


@attack
def bomb_of_records():
    """Five million records that are no more than their type."""
    dump = begun()
    number = RECORDS["MESSAGE"][0]
    dump.raw(record_bytes(number, b"") * 5_000_000)
    dump.flush(ZSTD)
    return dump.end()


@attack
def bomb_of_batches():
    """Tables of a full batch without anything in them, as often as a chunk has room."""
    dump = begun()
    dump.functions(1)
    dump.raw(record_bytes(BATCHES["STACKS"][0], varint(0) + varint(BATCH)) * 1_000_000)
    dump.flush(ZSTD)
    return dump.end()
