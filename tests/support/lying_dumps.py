#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small dumps that ask for a lot: each count, length and product of the format that a hostile or
broken file may hold. `lying_dumps.py FOLDER` writes them, one file an attack: those of
lying_texts.py, lying_stacks.py, lying_numbers.py and lying_sched.py, and honest ones here."""

import pathlib
import random
import sys

import lying_numbers  # noqa: F401
import lying_sched  # noqa: F401
import lying_stacks  # noqa: F401
import lying_texts  # noqa: F401
from lies import ATTACKS, begun
from packed_dump import ZSTD, constant, plain, runs, steps


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
