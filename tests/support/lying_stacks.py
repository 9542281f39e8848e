# SPDX-License-Identifier: Apache-2.0
"""Stacks and samples that are deeper, more or larger than any recording has them."""

import random

from lies import BATCH, attack, begun, chain, flat, pad
from packed_dump import ZSTD, constant, record_bytes, steps


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
