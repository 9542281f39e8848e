#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small ELF files whose debug information asks for a lot. `lying_elfs.py FOLDER` writes them, NAME.elf,
and NAME.yarndump, which has samples at 4,000 addresses of it."""

import pathlib
import struct
import sys
import zlib

from lies import begun, flat
from packed_dump import constant, steps

START, END = 0x1000, 0x101000
PROGBITS, STRTAB, COMPRESSED = 1, 3, 0x800
ADDR, DATA2, STRING, UDATA, SEC_OFFSET, REF4 = 0x01, 0x05, 0x08, 0x0F, 0x17, 0x13
SIBLING, NAME, STMT_LIST, LOW_PC, HIGH_PC, ORIGIN, RANGES = 1, 3, 0x10, 0x11, 0x12, 0x31, 0x55
COMPILE_UNIT, SUBPROGRAM, LEXICAL_BLOCK = 0x11, 0x2E, 0x0B
ATTACKS = {}


def attack(make):
    ATTACKS[make.__name__] = make
    return make


def uleb(value):
    out = bytearray()
    while True:
        out.append(value & 127 | (value > 127) << 7)
        value >>= 7
        if not value:
            return bytes(out)


def abbreviation(code, tag, children, *pairs):
    return uleb(code) + uleb(tag) + bytes([children]) + b"".join(
        uleb(name) + uleb(form) for name, form in pairs) + b"\0\0"


def unit(dies, abbreviations=0):
    body = struct.pack("<HIB", 4, abbreviations, 8) + dies
    return struct.pack("<I", len(body)) + body


WHOLE = ((LOW_PC, ADDR), (HIGH_PC, ADDR))
UNIT = abbreviation(1, COMPILE_UNIT, 1, *WHOLE, (STMT_LIST, SEC_OFFSET))
FUNCTION = abbreviation(2, SUBPROGRAM, 1, *WHOLE, (NAME, STRING))
ALL = struct.pack("<QQ", START, END)
UNIT_DIE = b"\1" + ALL + bytes(4)
FUNCTION_DIE = b"\2" + ALL + b"f\0"


def lines(program=b"", folders=b"\0", files=b"f.c\0\0\0\0\0"):
    head = bytes([1, 1, 1, 0xFB, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]) + folders + files
    body = struct.pack("<HI", 4, len(head)) + head + (
        b"\0\x09\2" + struct.pack("<Q", START)) + program + (
        b"\2" + uleb(END - START) + b"\0\1\1")
    return struct.pack("<I", len(body)) + body


def elf(sections, packed=False):
    sections = {".debug_abbrev": UNIT + FUNCTION + b"\0", ".debug_info": unit(
        UNIT_DIE + FUNCTION_DIE + b"\0\0"), ".debug_line": lines(), **sections}
    names = b"\0" + b"".join(name.encode() + b"\0" for name in [*sections, ".text", ".shstrtab"])
    at, body, headers = 64, b"", [bytes(64)]
    for name, data in [*sections.items(), (".shstrtab", names)]:
        flags = 0
        if packed and name.startswith(".debug"):
            data = struct.pack("<IIQQ", 1, 0, len(data), 1) + zlib.compress(data, 9)
            flags = COMPRESSED
        headers.append(struct.pack("<IIQQQQIIQQ", names.find(b"\0" + name.encode() + b"\0") + 1,
                                   STRTAB if name == ".shstrtab" else PROGBITS, flags, 0,
                                   at + len(body), len(data), 0, 0, 1, 0))
        body += data
    headers.append(struct.pack("<IIQQQQIIQQ", names.find(b"\0.text\0") + 1, 8, 6, START,
                               at, END - START, 0, 0, 1, 0))
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, START, 64 + len(body) + 64 * len(headers), at + len(body), 0,
        64, 56, 1, 64, len(headers), len(headers) - 2)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, END, END, 4096)
    return head + body + b"".join(headers) + load


@attack
def honest():
    return elf({})


@attack
def rows():
    """A row in each byte of the line program."""
    return elf({".debug_line": lines(b"\x20" * (30 << 20))}, packed=True)


@attack
def plain_rows():
    return elf({".debug_line": lines(b"\x20" * (4 << 20))})


@attack
def long_folders():
    """Each file's name begins with the same folder of 1 MB."""
    return elf({".debug_line": lines(folders=b"d" * (1 << 20) + b"\0\0",
                                     files=b"f\0\1\0\0" * 20000 + b"\0")}, packed=True)


@attack
def shared_abbreviations():
    """Each of 3,000 units reads the same 100,000 of them."""
    table = b"".join(abbreviation(n, 1, 0) for n in range(10, 100000))
    return elf({".debug_abbrev": table + UNIT + FUNCTION + b"\0",
                ".debug_info": unit(UNIT_DIE + b"\0") * 3000 + unit(UNIT_DIE + FUNCTION_DIE + b"\0\0")})


@attack
def shared_ranges():
    """Each of 50,000 functions has the same 30,000 ranges."""
    ranges = b"".join(struct.pack("<QQ", START + 2 * i, START + 2 * i + 1) for i in range(30000))
    shared = abbreviation(2, SUBPROGRAM, 0, (RANGES, SEC_OFFSET))
    return elf({".debug_abbrev": UNIT + shared + b"\0", ".debug_ranges": ranges + bytes(16),
                ".debug_info": unit(UNIT_DIE + (b"\2" + bytes(4)) * 50000 + b"\0")}, packed=True)


@attack
def unit_ranges():
    """Each of 50,000 units has the same 30,000 ranges."""
    ranges = b"".join(struct.pack("<QQ", START + 2 * i, START + 2 * i + 1) for i in range(30000))
    shared = abbreviation(1, COMPILE_UNIT, 0, (RANGES, SEC_OFFSET))
    return elf({".debug_abbrev": shared + b"\0", ".debug_ranges": ranges + bytes(16),
                ".debug_info": unit(b"\1" + bytes(4)) * 50000}, packed=True)


@attack
def siblings():
    """The next of an entry is the entry itself."""
    again = abbreviation(2, LEXICAL_BLOCK, 1, (SIBLING, REF4))
    at = 11 + len(UNIT_DIE)
    return elf({".debug_abbrev": UNIT + again + b"\0", ".debug_info": unit(
        UNIT_DIE + b"\2" + struct.pack("<I", at) + b"\0\0")})


@attack
def origins():
    """An entry is an instance of itself."""
    again = abbreviation(2, SUBPROGRAM, 0, *WHOLE, (ORIGIN, REF4))
    at = 11 + len(UNIT_DIE)
    return elf({".debug_abbrev": UNIT + again + b"\0", ".debug_info": unit(
        UNIT_DIE + b"\2" + ALL + struct.pack("<I", at) + b"\0")})


@attack
def blocks():
    """A function of 300,000 blocks, of which the last has the code; each address walks all."""
    empty = abbreviation(3, LEXICAL_BLOCK, 0, (LOW_PC, DATA2))
    block = abbreviation(4, LEXICAL_BLOCK, 0, *WHOLE)
    return elf({".debug_abbrev": UNIT + FUNCTION + empty + block + b"\0", ".debug_info": unit(
        UNIT_DIE + FUNCTION_DIE + b"\3\0\0" * 300000 + b"\4" + ALL + b"\0\0")}, packed=True)


@attack
def blocks_of_ranges():
    """30,000 blocks, each with the same 2,000 ranges, asked for each address."""
    ranges = b"".join(struct.pack("<QQ", 2 * i + 2, 2 * i + 3) for i in range(2000))
    block = abbreviation(4, LEXICAL_BLOCK, 0, (RANGES, SEC_OFFSET))
    return elf({".debug_abbrev": UNIT + FUNCTION + block + b"\0", ".debug_ranges": ranges + bytes(16),
                ".debug_info": unit(UNIT_DIE + FUNCTION_DIE + (b"\4" + bytes(4)) * 30000 + b"\0\0")},
               packed=True)


def samples_in(path, count=4000):
    dump = begun()
    text = dump.text(str(path))
    dump.record("MODULE", number=0, start=START, end=END, path=text)
    dump.batch("SYMBOLS", 0, count, constant(1), steps(count, START, 16), constant(16), constant(0))
    dump.batch("FRAMES", 0, count, steps(count, 0, 1), constant(0), constant(4))
    flat(dump, count)
    dump.samples(count, stack=steps(count, 1, 1))
    dump.flush()
    return dump.end()


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    for name, make in ATTACKS.items():
        (folder / f"{name}.elf").write_bytes(make())
        (folder / f"{name}.yarndump").write_bytes(samples_in(folder / f"{name}.elf"))
