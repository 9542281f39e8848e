#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""read_dump.py FILE: a reader of dumps that was written from output/dump/FORMAT.md alone, to show
that the document suffices. It prints the samples as `yarnprof script --samples --no-header -F
pid,tid,cpu,time,period,event,ip,sym` does, save that names are as they stand in the dump."""

import collections
import pathlib
import re
import struct
import subprocess
import sys

try:
    import zstandard
except ImportError:
    zstandard = None

FORMAT = pathlib.Path(__file__).resolve().parents[2] / "output/dump/FORMAT.md"
MASK = 2**64 - 1

Chunk = collections.namedtuple("Chunk", "process epoch base payload stored")
Record = collections.namedtuple("Record", "number name is_batch fields")
Sample = collections.namedtuple("Sample", "time weight event tid cpu stack end")


def read_tables(text):
    """The tables of records: fields (kind, name) or columns (kind, encoding, name)."""
    records = {}
    for part in re.split(r"^### ", text, flags=re.M)[1:]:
        head = re.match(r"(\d+) (\w+)\n", part)
        if not head:
            continue
        columns = re.findall(r"^\| `(\w+)` \| (\w+) \| (PLAIN|DELTA|NEXT) \|", part, re.M)
        fields = columns or re.findall(r"^\| `(\w+)` \| (\w+) \|", part, re.M)
        records[int(head[1])] = Record(int(head[1]), head[2], bool(columns), fields)
    return records


RECORDS = read_tables(FORMAT.read_text())


def make_crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


CRC = make_crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def unpack(stored, size):
    """One frame of Zstandard."""
    if zstandard:
        return zstandard.ZstdDecompressor().decompress(stored, max_output_size=size)
    return subprocess.run(["zstd", "-dcq"], input=stored, stdout=subprocess.PIPE, check=True).stdout


def chunks(data):
    """The whole chunks of a dump; damaged ones are skipped."""
    assert data[:8] == b"YARNDUMP", "no dump"
    major, _, at, needed = struct.unpack_from("<HHII", data, 8)
    assert major == 1 and not needed and crc32c(data[:28]) == struct.unpack_from("<I", data, 28)[0]
    sequence = -1
    while at + 36 <= len(data):
        magic, crc, payload_crc, number, process, epoch, base, raw, packed = struct.unpack_from(
            "<4sIIIHHQII", data, at)
        size, begin, codec = raw & 0xFFFFFF, at + (packed >> 24), raw >> 24
        end = begin + (packed & 0xFFFFFF)
        if magic != b"\xeaYC1" or crc32c(data[at + 8:begin]) != crc:
            at += 1
            continue
        stored = data[begin:end]
        if end > len(data) or crc32c(stored) != payload_crc:
            at += 1
            continue
        at = end
        if number <= sequence:
            continue
        sequence = number
        payload = unpack(stored, size) if codec else stored
        assert len(payload) == size
        yield Chunk(process, epoch, base, payload, stored)


def from_zigzag(value):
    return value >> 1 ^ -(value & 1)


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def left(self):
        return len(self.data) - self.at

    def take(self, size):
        assert size <= self.left(), "a record is cut"
        self.at += size
        return self.data[self.at - size:self.at]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value & MASK

    def varints(self, count):
        """So many, which are stored byte by byte."""
        values, longer, shift = [0] * count, range(count), 0
        while longer:
            taken = self.take(len(longer))
            for i, byte in zip(longer, taken):
                values[i] |= (byte & 0x7F) << shift
            longer = [i for i, byte in zip(longer, taken) if byte > 0x7F]
            shift += 7
        return values


def decode_field(cursor, kind, base):
    if kind == "VALUES":
        pairs = {}
        while cursor.left():
            key = cursor.varint()
            pairs[key] = cursor.varint()
        return pairs
    value = cursor.varint() if cursor.left() else 0
    if kind in ("I32", "I64"):
        return from_zigzag(value)
    if kind == "TIME":
        return base + from_zigzag(value) & MASK
    return value - 1 if kind == "REF" else value  # none: -1


def decode_column(cursor, count, kind, encoding, base):
    values = cursor.varints(count)
    if encoding == "DELTA":
        before = 0
        for i, value in enumerate(values):
            values[i] = before = before + from_zigzag(value) & MASK
    elif encoding == "NEXT":
        following = 0
        for i, value in enumerate(values):
            values[i] = following - from_zigzag(value) & MASK
            following = max(following, values[i] + 1)
    elif kind in ("I32", "I64"):
        values = list(map(from_zigzag, values))
    if kind == "TIME":
        return [value + base & MASK for value in values]
    return [value - 1 for value in values] if kind == "REF" else values


def records(chunk):
    """(record, first number, values by field or by column, what follows) of each in the chunk."""
    payload = Cursor(chunk.payload)
    while payload.left():
        number, size = payload.varint(), payload.varint()
        cursor = Cursor(payload.take(size))
        record = RECORDS.get(number)
        if not record:
            continue
        first = 0
        if record.is_batch:
            first, count = cursor.varint(), cursor.varint()
            values = {name: decode_column(cursor, count, kind, encoding, chunk.base)
                      for name, kind, encoding in record.fields}
        else:
            values = {name: decode_field(cursor, kind, chunk.base) for name, kind in record.fields}
        yield record, first, values, cursor.data[cursor.at:]


class Reader:
    """What is known of the process and epoch so far; samples of the process."""

    def __init__(self):
        self.process, self.events, self.alternates, self.samples = None, {}, {}, []
        self.begin_epoch()

    def begin_epoch(self):
        self.strings, self.symbols, self.frames, self.stacks = {}, {}, {}, {}
        self.streams = None

    def text(self, reference):
        return self.strings.get(reference - 1, b"") if reference else b""

    def take(self, record, first, values, rest):
        take = getattr(self, "take_" + record.name.lower(), None)
        if take and record.is_batch:
            columns = [values[name] for name, *_ in record.fields]
            take(first, columns, rest)
        elif take:
            take(values)

    def take_process(self, values):
        self.process = values

    def take_event(self, values):
        number, first = values["number"], values["alternate_of"] - 1
        self.events[number] = self.text(values["name"]), self.text(values["unit"])
        self.alternates.pop(number, None)
        if (first in self.events and self.events[first] == self.events[number] and first != number
                and first not in self.alternates and first not in self.alternates.values()):
            self.alternates[number] = first

    def take_strings(self, first, columns, rest):
        at = 0
        for number, size in enumerate(columns[0], first):
            self.strings[number] = rest[at:at + size]
            at += size

    def take_symbols(self, first, columns, _):
        for number, (_, start, _, name) in enumerate(zip(*columns), first):
            self.symbols[number] = start, self.text(name)

    def take_frames(self, first, columns, _):
        for number, (symbol, _, offset) in enumerate(zip(*columns), first):
            if symbol in self.symbols:
                start, name = self.symbols[symbol]
                self.frames[number] = start + offset & MASK, name

    def take_stacks(self, first, columns, _):
        for number, (distance, frame) in enumerate(zip(*columns), first):
            parent = self.stacks.get(number - distance) if distance else ()
            if parent is not None and frame in self.frames:
                self.stacks[number] = self.frames[frame], parent

    def take_streams(self, _, columns, __):
        self.streams = list(zip(*columns))

    def take_samples(self, _, columns, __):
        rows = zip(*columns)
        for event, tid, count, first, period, usual in self.streams:
            event = self.alternates.get(event, event)
            expected = first
            for _ in range(count):
                late, weight, cpu, stack, end = next(rows)
                time = expected + late & MASK
                expected = time + period
                found = self.stacks.get(stack)
                if stack >= 0 and found is None:
                    end = 4  # its stack was lost: it is nameless
                self.samples.append(Sample(time, usual + weight & MASK, event, tid, cpu, found, end))
        self.streams = None

    def shown_time(self, time):
        clock = self.process["clock"] if self.process else 0
        if clock:
            time += self.process["monotonic_raw_offset_ns" if clock == 1 else "boottime_offset_ns"]
        return f"{time // 10**9:5}.{time % 10**9 // 1000:06}"

    def print_sample(self, sample, file):
        pid = self.process["pid"] if self.process else 0
        event = self.events.get(sample.event, (b"",))[0].decode("utf-8", "replace")
        lines = [f"{pid:7}/{sample.tid:<7} [{sample.cpu:03}] {self.shown_time(sample.time)}: "
                 f"{sample.weight:10} {event}: "]
        stack = sample.stack
        while stack:
            (address, name), stack = stack
            lines.append(f"\t{address:16x} {name.decode('utf-8', 'replace') or '[unknown]'}")
        cut = {2: "[truncated]", 3: "[no unwind information]", 4: "[unwinding failed]"}
        last = cut.get(sample.end) if sample.stack else "[no stack]"
        if last:
            lines.append(f"\t{0:16x} {last}")
        print("\n".join(lines) + "\n", file=file)


def read(data):
    """The readers of the processes in a dump, with their samples in the order of the file."""
    processes, place = [Reader()], (0, 0)
    for chunk in chunks(data):
        if chunk.process != place[0]:
            processes.append(Reader())
        elif chunk.epoch != place[1]:
            processes[-1].begin_epoch()
        place = chunk.process, chunk.epoch
        for record in records(chunk):
            processes[-1].take(*record)
    return processes


def print_samples(processes, file):
    samples = [(sample.time, process, sample) for process in processes for sample in process.samples]
    for _, process, sample in sorted(samples, key=lambda entry: entry[0]):
        process.print_sample(sample, file)


if __name__ == "__main__":
    print_samples(read(pathlib.Path(sys.argv[1]).read_bytes()), sys.stdout)
