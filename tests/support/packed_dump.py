# SPDX-License-Identifier: Apache-2.0
"""Dumps packed by hand, byte by byte, whatever they then say: for tests of what reads them.
The records are those of output/dump/format.def, so that a new one is here by itself."""

import ctypes
import ctypes.util
import functools
import itertools
import pathlib
import re
import struct

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEFINITION = (ROOT / "output/dump/format.def").read_text()
NONE, ZSTD = 0, 1


def read_definition():
    """Records by name: number, and the kinds and names of their fields; batches the same, with the
    encodings of their columns."""
    records, batches = {}, {}
    for number, name in re.findall(r"^YARN_RECORD\((\d+), (\w+),", DEFINITION, re.M):
        fields = re.findall(rf"^YARN_FIELD\({name}, \w+, (\w+), (\w+),", DEFINITION, re.M)
        records[name] = (int(number), fields)
    for number, name in re.findall(r"^YARN_(?:BATCH|LIST)\((\d+), (\w+),", DEFINITION, re.M):
        columns = re.findall(rf"^YARN_COLUMN\({name}, \w+, (\w+), (\w+), (\w+),", DEFINITION, re.M)
        batches[name] = (int(number), columns)
    return records, batches


RECORDS, BATCHES = read_definition()


def make_crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


CRC_TABLE = make_crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def zigzag(value):
    return varint(unsigned(value))


@functools.cache
def load_zstd():
    """Once: looking for it starts programs."""
    library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    library.ZSTD_compressBound.restype = ctypes.c_size_t
    library.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
    library.ZSTD_compress.restype = ctypes.c_size_t
    library.ZSTD_compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p,
                                      ctypes.c_size_t, ctypes.c_int]
    return library


def squeeze(data, level=3):
    """One frame of zstd."""
    library = load_zstd()
    room = library.ZSTD_compressBound(len(data))
    target = ctypes.create_string_buffer(room)
    size = library.ZSTD_compress(target, room, data, len(data), level)
    return target.raw[:size]


# What a column holds: a number of each thing, as FORMAT.md has them, or one for all of them.
def constant(value):
    return value


def plain(values):
    return tuple(values)


def runs(*pairs):
    return tuple(value for count, value in pairs for _ in range(count))


def steps(count, first, step):
    """first, first + step, …"""
    return range(first, first + count * step, step) if step else (first,) * count


def signed(number):
    number &= 2**64 - 1
    return number - 2**64 if number >> 63 else number


def unsigned(number):
    return number << 1 if number >= 0 else (-number << 1) - 1


def coded_numbers(kind, encoding, numbers):
    """As the column's encoding has them, before they are varints."""
    if encoding == "DELTA":
        return [unsigned(signed(b - a)) for a, b in zip((0, *numbers), numbers)]
    if encoding == "NEXT":
        before = itertools.accumulate(numbers, lambda a, b: max(a, b + 1), initial=0)
        return [unsigned(signed(a - b)) for a, b in zip(before, numbers)]
    if kind in ("I32", "I64"):
        return [unsigned(signed(number)) for number in numbers]
    return numbers


@functools.lru_cache(maxsize=64)
def column_bytes(kind, encoding, numbers, count):
    """Varints, byte by byte: the first bytes of all, the second ones of those that have one, …"""
    left = coded_numbers(kind, encoding, (numbers,) * count if isinstance(numbers, int) else numbers)
    planes = []
    while left:
        planes.append(bytes([number & 0x7F | (number > 0x7F) << 7 for number in left]))
        left = [number >> 7 for number in left if number > 0x7F]
    return b"".join(planes)


def record_bytes(number, payload):
    return varint(number) + varint(len(payload)) + payload


class Dump:
    """Chunks that come after each other; `text` gives a reference to a text."""

    def __init__(self):
        self.file = bytearray()
        head = b"YARNDUMP" + struct.pack("<HHIIII", 1, 0, 32, 0, 0, 0)
        self.file += head + struct.pack("<I", crc32c(head))
        self.sequence = self.process = self.epoch = 0
        self.time_ns = 10**12
        self.payload = bytearray()
        self.nr_texts = 0

    def next_epoch(self):
        self.flush()
        self.epoch += 1
        self.nr_texts = 0

    def next_process(self):
        self.flush()
        self.process += 1
        self.epoch = self.nr_texts = 0

    def raw(self, data):
        self.payload += data

    def text(self, text):
        text = text.encode() if isinstance(text, str) else text
        self.batch("STRINGS", self.nr_texts, 1, len(text), tail=text)
        self.nr_texts += 1
        return self.nr_texts

    def record(self, record, /, tail=b"", **values):
        """Texts are references, times distances from the chunk's; what is not given is 0."""
        number, fields = RECORDS[record]
        coded = [zigzag(values.pop(field, 0)) if kind in ("I32", "I64", "TIME")
                 else varint(values.pop(field, 0)) for kind, field in fields if kind != "VALUES"]
        assert not values, values
        self.raw(record_bytes(number, b"".join(coded) + tail))

    def batch(self, name, first, count, *columns, tail=b""):
        number, kinds = BATCHES[name]
        coded = [column_bytes(kind, encoding, numbers, count)
                 for (kind, encoding, _), numbers in zip(kinds, columns)]
        self.raw(record_bytes(number, varint(first) + varint(count) + b"".join(coded) + tail))

    def named(self, name, count, values):
        """A batch by the names of its columns, which are 0 where none is given."""
        self.batch(name, 0, count, *(values.pop(column, 0) for _, _, column in BATCHES[name][1]))
        assert not values, values

    def samples(self, count, streams=1, stream=(), **columns):
        """Columns by name; `stream` gives those of streams."""
        usual = {"count": count, "period_ns": 1000, "weight": 1000}
        usual.update(stream)
        self.named("STREAMS", streams, usual)
        self.named("SAMPLES", count, columns)

    def begin(self, pid=1, name="made", command=None):
        """What every process has: itself, an event, a first thread."""
        exe = self.text(f"/usr/bin/{name}")
        clock, unit = self.text("cpu-clock"), self.text("ns")
        self.record("PROCESS", pid=pid, start_ns=self.time_ns, cpus_present=1, cpus_online=1,
                    page_bytes=4096, exe=exe, cmdline=self.text(command) if command else exe)
        self.record("EVENT", number=0, name=clock, asked=clock, got=clock, unit=unit, flags=1,
                    period=1000)
        self.record("THREAD", tid=pid, comm=self.text(name))

    def functions(self, count, first=0, names=None):
        """Symbols, and a frame in each, all numbered from `first`; all of one text, or of none."""
        self.batch("SYMBOLS", first, count, constant(0), steps(count, 4096 * (first + 1), 16),
                   constant(16), names or constant(0))
        self.flush()  # the batches of a chunk are bounded together
        self.batch("FRAMES", first, count, steps(count, first, 1), constant(0), constant(4))
        self.flush()

    def end(self):
        self.record("END")
        return self.bytes()

    def flush(self, codec=None, raw_size=None):
        """Compressed where it helps and is allowed, or as given."""
        payload, self.payload = bytes(self.payload), bytearray()
        if not payload:
            return
        stored = squeeze(payload) if codec != NONE else payload
        is_bomb = len(payload) > 2**19 and len(payload) > 256 * len(stored)
        if codec is None and (is_bomb or len(stored) >= len(payload)):
            stored = payload
        codec = ZSTD if stored is not payload else NONE
        size = len(payload) if raw_size is None else raw_size
        assert size < 2**24, size
        self.chunk(stored, size, codec)

    def chunk(self, stored, size, codec):
        head = struct.pack("<IIHHQII", crc32c(stored), self.sequence, self.process & 0xFFFF,
                           self.epoch & 0xFFFF, self.time_ns, size | codec << 24,
                           len(stored) | 36 << 24)
        self.file += struct.pack("<II", 0x314359EA, crc32c(head)) + head + stored
        self.sequence += 1

    def bytes(self, codec=None):
        self.flush(codec)
        return bytes(self.file)
