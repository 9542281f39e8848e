# SPDX-License-Identifier: Apache-2.0
"""What the dumps that lie share: their list, a beginning, chains of stacks."""

import random

from packed_dump import Dump, constant, record_bytes, runs, steps

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


def pad(dump, size=1 << 20):
    """What no codec makes smaller, in records of no known type: the account of the file grows."""
    dump.flush()
    dump.raw(record_bytes(99, random.Random(1).randbytes(size)))
    dump.flush()
