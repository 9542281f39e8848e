#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dump_seeds.py: writes the seeds of fuzz_dump and fuzz_merge anew, from the golden dumps and from
small dumps that lie. For a change of the format."""

import pathlib
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tests/golden")]
import lying_dumps
import read_dump

CORPUS = pathlib.Path(__file__).parent / "corpus"
LIES = ("bomb_of_batches", "deep_stack", "far_numbers", "far_times", "heavy_weights", "long_texts",
        "samples_a_chunk", "text_of_every_symbol")
PAYLOADS, PROCESSES, EPOCHS, IS_ZSTD = 1, 2, 4, 8


def payloads(dump, how):
    """What stands in the chunks, each behind its size."""
    seed = bytearray([how])
    for chunk in read_dump.chunks(dump):
        inner = struct.pack("<H", len(chunk.payload)) + chunk.stored if how & IS_ZSTD else chunk.payload
        seed += struct.pack("<H", len(inner)) + inner
    return seed


def dump_seeds(whole, merged):
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 1
    yield "whole", b"\0" + whole
    yield "merged", b"\0" + merged
    yield "cut", b"\0" + whole[:900]
    yield "header_cut", b"\0" + whole[:7]
    yield "damaged", b"\0" + damaged
    yield "bytes_more", b"\0" + whole + b"more"
    yield "letter", b"\0This is no dump at all, but text that is long enough."
    yield "payloads", payloads(whole, PAYLOADS)
    yield "payloads_processes", payloads(whole, PAYLOADS | PROCESSES)
    yield "payloads_epochs", payloads(whole, PAYLOADS | EPOCHS)
    yield "stored", payloads(merged, PAYLOADS | IS_ZSTD)


def pair(first, second):
    return struct.pack("<H", len(first)) + first + second


def merge_seeds(whole, merged):
    damaged = bytearray(whole)
    damaged[-9] ^= 1
    yield "two", pair(whole, whole)
    yield "more", pair(whole, merged)
    yield "merged_again", pair(merged, whole)
    yield "whole_and_cut", pair(whole, whole[:900])
    yield "cut_merged", pair(merged[:2000], whole)
    yield "damaged", pair(damaged, whole)


def write(target, seeds):
    folder = CORPUS / target
    for old in folder.iterdir():
        old.unlink()
    for name, seed in seeds:
        (folder / name).write_bytes(seed)


def main():
    golden = [(ROOT / "tests/golden" / name).read_bytes()
              for name in ("process.yarndump", "merged.yarndump")]
    lies = {name: lying_dumps.ATTACKS[name]() for name in LIES}
    small = {name: lie for name, lie in lies.items() if len(lie) < 5000}
    write("fuzz_dump", [*dump_seeds(*golden),
                        *((f"lies_{name}", b"\0" + lie) for name, lie in small.items())])
    write("fuzz_merge", [*merge_seeds(*golden),
                         *((f"lies_{name}", pair(lie, lie)) for name, lie in small.items())])


if __name__ == "__main__":
    main()
