#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small dumps that ask for a lot: each count, length and product of the format that a hostile or
broken file may hold. `lying_dumps.py FOLDER` writes them, one file an attack."""

import pathlib
import random
import sys

from packed_dump import (BATCHES, RECORDS, ZSTD, Dump, constant, plain, record_bytes, runs, squeeze,
                         steps, varint)

BATCH = 65536
MOST = 2**64 - 1
ATTACKS = {}


def attack(make):
    ATTACKS[make.__name__] = make
    return make


def begun():
    dump = Dump()
    dump.begin()
    dump.flush()
    return dump


def chain(dump, depth, nr_frames=1, first=0, frame=None):
    """Stacks, each of which is the one before and a frame more."""
    done = 0
    while done < depth:
        count = min(depth - done, BATCH)
        parents = constant(1) if done or first else constant(0)
        if count > 1 and not done and not first:
            parents = runs((1, 0), (count - 1, 1))
        dump.batch("STACKS", first + done, count, parents,
                   frame or (steps(count, done % nr_frames, 1) if nr_frames > 1 else constant(0)))
        dump.flush()
        done += count


def flat(dump, count):
    """As many stacks of one frame."""
    dump.batch("STACKS", 0, count, constant(0), steps(count, 0, 1))
    dump.flush()


@attack
def long_texts():
    """50 options that are called by one text of 15 MB."""
    dump = begun()
    number = dump.text(b"a" * 15_000_000)
    for _ in range(50):
        dump.record("OPTION", name=number, value=number)
    dump.flush(ZSTD)
    return dump.end()


@attack
def many_long_texts():
    dump = begun()
    for _ in range(3):
        for k in range(200):
            number = dump.text(bytes([65 + k % 26]) * 65_000)
            dump.record("OPTION", name=number, value=number)
        dump.flush(ZSTD)
    return dump.end()


@attack
def text_of_every_symbol():
    """A module's long path is part of the names of 60,000 functions without one."""
    dump = begun()
    path = dump.text(b"/" + b"m" * 60_000)
    dump.record("MODULE", number=1, start=4096, end=2**40, path=path)
    dump.flush(ZSTD)
    dump.batch("SYMBOLS", 0, 60_000, constant(2), steps(60_000, 4096, 16), constant(16),
               constant(0))
    dump.flush()
    dump.batch("FRAMES", 0, 60_000, steps(60_000, 0, 1), constant(0), constant(4))
    dump.flush()
    flat(dump, 60_000)
    dump.samples(60_000, stack=steps(60_000, 1, 1))
    dump.flush(ZSTD)
    return dump.end()


@attack
def demangled():
    """Names of which each stands for 30 KB."""
    dump = begun()
    for i in range(400):
        name = f"_Z{len(str(i)) + 1}f{i}" + "ISt4pairI1A1BES_IS0_S0_ES_IS1_S1_ES_IS2_S2_ES_IS3_S3_ES_IS4_S4_ES_IS5_S5_ES_IS6_S6_EEvv"
        dump.text(name)
    first = dump.nr_texts - 400
    dump.functions(400, names=steps(400, first + 1, 1))
    dump.batch("STACKS", 0, 400, constant(0), steps(400, 0, 1))
    dump.samples(400, stack=steps(400, 1, 1))
    dump.flush(ZSTD)
    return dump.end()


@attack
def deep_stack():
    """60,000 frames, all of other functions, in one stack."""
    dump = begun()
    dump.functions(BATCH)
    chain(dump, 60_000, BATCH)
    dump.samples(10, stack=constant(60_000))
    dump.flush(ZSTD)
    return dump.end()


@attack
def deep_tree():
    """A sample in each of 60,000 stacks, of which each calls the next."""
    dump = begun()
    dump.functions(BATCH)
    chain(dump, 60_000, BATCH)
    dump.samples(60_000, stack=steps(60_000, 1, 1))
    dump.flush(ZSTD)
    return dump.end()


@attack
def deep_with_long_names():
    """4,000 deep, each frame of the same name of 60,000 bytes."""
    dump = begun()
    name = dump.text(b"n" * 60_000)
    dump.functions(4000, names=constant(name))
    chain(dump, 4000, 4000)
    dump.samples(4000, stack=steps(4000, 1, 1))
    dump.flush(ZSTD)
    return dump.end()


@attack
def deep_recursion():
    """One function calls itself 2,000 times, sampled at each depth, 30 times over."""
    dump = begun()
    dump.functions(1)
    chain(dump, 2000)
    for _ in range(30):
        dump.samples(2000, stack=steps(2000, 1, 1))
    dump.flush()
    return dump.end()


@attack
def deep_in_many_threads():
    """A 2,000 deep stack is sampled in 60,000 threads."""
    dump = begun()
    dump.functions(2000)
    chain(dump, 2000, 2000)
    dump.samples(40_000, streams=40_000, stack=constant(2000),
                 stream={"tid": steps(40_000, 1, 1), "count": constant(1)})
    dump.flush(ZSTD)
    return dump.end()


@attack
def deep_sampled_often():
    """120,000 samples of one stack, 4,000 deep."""
    dump = begun()
    dump.functions(4000)
    chain(dump, 4000, 4000)
    for _ in range(3):
        dump.samples(40_000, stack=constant(4000))
        dump.flush()
    return dump.end()


@attack
def wide_stacks():
    """16 million stacks, in chunks of a hundred bytes each."""
    dump = begun()
    dump.functions(BATCH)
    for i in range(255):
        dump.batch("STACKS", i * BATCH, BATCH, constant(0), steps(BATCH, 0, 1))
        dump.flush(ZSTD)
    return dump.end()


@attack
def stacks_a_chunk():
    dump = begun()
    dump.functions(BATCH)
    dump.flush()
    for i in range(50):
        dump.batch("STACKS", i * BATCH, BATCH, constant(0), steps(BATCH, 0, 1))
        dump.samples(10, stack=constant(i * BATCH + 7))
        dump.flush()
    return dump.end()


@attack
def many_samples():
    """Millions, in one chunk, which is not as small as zstd could make it."""
    dump = begun()
    dump.functions(16)
    chain(dump, 16, 16)
    for _ in range(40):
        dump.samples(BATCH, stack=constant(16))
    dump.raw(record_bytes(99, random.Random(1).randbytes(60_000)))
    dump.flush(ZSTD)
    return dump.end()


@attack
def samples_a_chunk():
    dump = begun()
    dump.functions(16)
    chain(dump, 16, 16)
    dump.flush()
    for _ in range(60):
        dump.samples(BATCH, stack=constant(16))
        dump.flush()
    return dump.end()


@attack
def different_samples():
    """Each of a million samples is of another thread, core and stack."""
    dump = begun()
    dump.functions(1000)
    chain(dump, 1000, 1000)
    for i in range(34):
        dump.samples(30_000, streams=30_000, cpu=steps(30_000, 0, 1), stack=steps(30_000, 1, 0),
                     stream={"tid": steps(30_000, 1 + i * 30_000, 1),
                             "count": constant(1)})
        dump.flush()
    return dump.end()


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
def far_modules():
    dump = begun()
    path = dump.text("/lib/x")
    for i in range(100):
        dump.record("MODULE", number=2**20 - 1 - i, start=i * 4096, end=(i + 1) * 4096, path=path)
    dump.flush()
    for _ in range(60):
        dump.next_process()
        dump.record("MODULE", number=2**20 - 1, start=4096, end=8192)
        dump.record("EVENT", number=4095)
    return dump.end()


@attack
def many_modules():
    dump = begun()
    path = dump.text("/lib/x")
    for i in range(10_000):
        dump.record("MODULE", number=7, start=4096, end=2**40, path=path)
    dump.functions(10_000)
    flat(dump, 10_000)
    dump.samples(10_000, stack=steps(10_000, 1, 1))
    dump.flush(ZSTD)
    return dump.end()


@attack
def overlapping_modules():
    """8,000 functions, each in another of 8,000 modules that lie over each other."""
    dump = begun()
    count = 8000
    paths = [dump.text(b"/%x" % i) for i in range(count)]
    for i in range(count):
        dump.record("MODULE", number=i, start=4096 + i, end=2**40 - i, path=paths[i])
    dump.batch("SYMBOLS", 0, count, steps(count, 1, 1), steps(count, 8192, 16), constant(16),
               constant(0))
    dump.batch("FRAMES", 0, count, steps(count, 0, 1), constant(0), constant(4))
    flat(dump, count)
    dump.samples(count, stack=steps(count, 1, 1))
    dump.flush(ZSTD)
    return dump.end()


@attack
def renames():
    """One thread takes 20,000 names; each of 60,000 samples is before the second."""
    dump = begun()
    names = [dump.text("one"), dump.text("other")]
    for i in range(20_000):
        dump.record("THREAD_NAME", tid=1, time_ns=10**9 + i, comm=names[i % 2])
    dump.functions(1)
    chain(dump, 1)
    dump.samples(60_000, stack=constant(1), stream={"tid": constant(1)})
    dump.flush(ZSTD)
    return dump.end()


@attack
def long_renames():
    dump = begun()
    names = [dump.text(bytes([65 + i]) * 60_000) for i in range(20)]
    for i in range(15_000):
        dump.record("THREAD_NAME", tid=1 + i % 7, time_ns=i, comm=names[i % 20])
    dump.flush(ZSTD)
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
def many_code_names():
    dump = begun()
    dump.functions(BATCH)
    name = dump.text("late")
    for i in range(10_000):
        dump.record("CODE_NAME", address=4100 + 16 * i, start=4096 + 16 * i, end=4112 + 16 * i,
                    name=name)
    flat(dump, BATCH)
    dump.samples(BATCH, stack=steps(BATCH, 1, 1))
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


def pad(dump, size=1 << 20):
    """What no codec makes smaller, in records of no known type: the account of the file grows."""
    dump.flush()
    dump.raw(record_bytes(99, random.Random(1).randbytes(size)))
    dump.flush()


def padded_chains(dump, chunks):
    """So many times 65,536 stacks, each of which is called by one of the chunk before."""
    pad(dump)
    dump.functions(BATCH)
    for i in range(chunks):
        parents = constant(BATCH) if i else constant(0)
        dump.batch("STACKS", i * BATCH, BATCH, parents, steps(BATCH, 0, 1))
        dump.flush()
        yield i * BATCH


@attack
def large_stacks():
    """A large file with two stacks a byte, none of which has a sample."""
    dump = begun()
    for _ in padded_chains(dump, 40):
        pass
    return dump.end()


@attack
def large_sampled_stacks():
    dump = begun()
    for first in padded_chains(dump, 40):
        dump.samples(BATCH // 2, stack=steps(BATCH // 2, first + 1, 2))
        dump.flush()
    return dump.end()


@attack
def large_many_threads():
    """Each sample is of a thread of its own."""
    dump = begun()
    pad(dump)
    dump.functions(1000)
    chain(dump, 1000, 1000)
    for i in range(8):
        dump.samples(50_000, streams=50_000, stack=steps(50_000, 1, 0),
                     stream={"tid": steps(50_000, 1 + i * 50_000, 1), "count": constant(1)})
        dump.flush(ZSTD)
    return dump.end()


@attack
def large_by_thread():
    """18 threads have a sample in each of 60,000 stacks."""
    dump = begun()
    pad(dump)
    dump.functions(BATCH)
    flat(dump, 60_000)
    for tid in range(18):
        dump.samples(60_000, stack=steps(60_000, 1, 1), stream={"tid": constant(tid + 2)})
        dump.flush()
    return dump.end()


@attack
def large_names():
    """Functions of 100 bytes each, which zstd makes to next to nothing."""
    dump = begun()
    pad(dump)
    for first in range(0, 50_000, 2000):
        text = dump.nr_texts
        names = b"".join(b"%0100d" % (first + i) for i in range(2000))
        dump.batch("STRINGS", text, 2000, constant(100), tail=names)
        dump.nr_texts += 2000
        dump.batch("SYMBOLS", first, 2000, constant(0), steps(2000, 4096 + 16 * first, 16),
                   constant(16), steps(2000, text + 1, 1))
        dump.batch("FRAMES", first, 2000, steps(2000, first, 1), constant(0), constant(4))
        dump.batch("STACKS", first, 2000, constant(0), steps(2000, first, 1))
        dump.samples(2000, stack=steps(2000, first + 1, 1))
        dump.flush(ZSTD)
    return dump.end()


def walks(size):
    """An honest recording of the most stacks: a function calls itself from two places at random, and
    each sample is a walk of its own, 150 deep."""
    chance = random.Random(3)
    dump = begun()
    dump.functions(1, names=constant(dump.text("walk")))
    dump.batch("FRAMES", 1, 1, constant(0), constant(0), constant(20))
    dump.flush()
    stack, number = [], 0
    while len(dump.file) < size:
        parents, places, ends = [], [], []
        for _ in range(95):
            del stack[len(stack) - chance.randrange(min(len(stack), 40) + 1):]
            while len(stack) < 150:
                parents.append(number - stack[-1] if stack else 0)
                places.append(chance.getrandbits(1))
                stack.append(number)
                number += 1
            ends.append(stack[-1] + 1)
        count = len(places)
        dump.batch("STACKS", number - count, count, plain(parents), plain(places))
        dump.samples(95, stack=plain(ends), time_ns=plain(chance.randrange(10**4) for _ in ends))
        dump.flush(ZSTD)
    return dump.end()


def short():
    """An honest recording of a moment: 60 functions with names, 200 samples in 120 stacks."""
    dump = begun()
    first = dump.nr_texts
    for i in range(60):
        dump.text(f"function_{i}")
    dump.functions(60, names=steps(60, first + 1, 1))
    dump.batch("STACKS", 0, 60, runs((1, 0), (59, 1)), steps(60, 0, 1))
    dump.batch("STACKS", 60, 60, constant(60), steps(60, 0, 1))
    dump.samples(200, stack=plain(1 + i * 7 % 120 for i in range(200)),
                 time_ns=plain(i * 37 % 1000 for i in range(200)))
    dump.flush(ZSTD)
    return dump.end()


def folder(path):
    """300 files, of which each 60th is honest, and the others ask for all that there is."""
    path.mkdir()
    lies = [ATTACKS[name]() for name in ("wide_stacks", "far_numbers", "bomb_of_records",
                                         "different_samples", "many_records")]
    for i in range(300):
        name = f"lie{i:03}" if i % 60 else f"honest{i:03}"
        (path / name).write_bytes(lies[i % len(lies)] if i % 60 else short())


def write_all(path, only=None):
    path.mkdir(parents=True, exist_ok=True)
    for name, make in ATTACKS.items():
        if not only or name in only:
            (path / name).write_bytes(make())
    if not only:
        (path / "walks").write_bytes(walks(1 << 19))
        folder(path / "folder")


if __name__ == "__main__":
    write_all(pathlib.Path(sys.argv[1]), set(sys.argv[2:]))
