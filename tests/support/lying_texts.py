# SPDX-License-Identifier: Apache-2.0
"""Texts, names and modules that are longer, or are called more often, than any recording has them."""

from lies import BATCH, attack, begun, chain, flat, pad
from packed_dump import ZSTD, constant, steps


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
