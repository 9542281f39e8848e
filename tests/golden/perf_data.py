# SPDX-License-Identifier: Apache-2.0
"""A reader of perf.data and of the records in it that was written from perf_event_open(2) and <linux/perf_event.h>
alone, and a comparison with yarn_record_decode: every field of each record, and that each cut of it is refused."""

import collections
import ctypes
import os
import pathlib
import struct

ATTR_BYTES = 256  # what is behind a file's own attr is 0
SAMPLE, READ = 9, 8
FIRST_OF_TOOLS = 64
HEADER_ATTR, TRACING_DATA, AUXTRACE = 64, 66, 71
IP, TID, TIME, ADDR, READ_VALUES, CALLCHAIN, ID, CPU, PERIOD, STREAM_ID, RAW, BRANCH_STACK, REGS_USER, \
    STACK_USER, WEIGHT, DATA_SRC, IDENTIFIER, TRANSACTION, REGS_INTR, PHYS_ADDR, AUX, CGROUP, DATA_PAGE_SIZE, \
    CODE_PAGE_SIZE, WEIGHT_STRUCT = (1 << bit for bit in range(25))
HW_INDEX, COUNTERS = 1 << 17, 1 << 19
NO_INDEX = 2**64 - 1

Attr = collections.namedtuple("Attr", "bytes sample_type read_format branches regs_user regs_intr id_all ids")


class Bytes(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


WORDS = ("ip", "addr", "period", "weight", "data_src", "transaction", "phys_addr")


class Record(ctypes.Structure):
    _fields_ = [("type", ctypes.c_uint32), ("misc", ctypes.c_uint16), ("fields", ctypes.c_uint64),
                ("pid", ctypes.c_uint32), ("tid", ctypes.c_uint32), ("cpu", ctypes.c_uint32),
                ("time", ctypes.c_uint64), ("id", ctypes.c_uint64), ("stream_id", ctypes.c_uint64),
                *((name, ctypes.c_uint64) for name in WORDS),
                ("callchain", Bytes), ("values", Bytes), ("raw", Bytes), ("branches", Bytes),
                ("branch_hw_index", ctypes.c_uint64), ("registers_abi", ctypes.c_uint64),
                ("registers", Bytes), ("stack", Bytes), ("body", Bytes)]


def attr_of(data, ids):
    size = struct.unpack_from("<I", data, 4)[0] or 64
    full = data[:size].ljust(ATTR_BYTES, b"\0")
    sample_type, read_format, flags = struct.unpack_from("<24xQQQ", full)
    branches, regs_user = struct.unpack_from("<72xQQ", full)
    regs_intr, = struct.unpack_from("<96xQ", full)
    return Attr(full, sample_type, read_format, branches, regs_user, regs_intr, flags >> 18 & 1, ids)


class Words:
    """What is left of a record, from the front."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        assert 0 <= size <= len(self.data) - self.at
        self.at += size
        return self.data[self.at - size:self.at]

    def u64(self):
        return struct.unpack("<Q", self.take(8))[0]

    def pair(self):
        return struct.unpack("<II", self.take(8))


def values_of(words, form):
    at = words.at
    count = words.u64() if form & 8 else 1
    each = (1 if form & 8 else 0) + bool(form & 4) + bool(form & 16)
    if not form & 8:
        words.u64()
    words.take(8 * (bool(form & 1) + bool(form & 2)))
    words.take(8 * each * count)
    return words.data[at:words.at]


def registers_of(words, mask):
    abi = words.u64()
    assert abi <= 2
    return abi, words.take(8 * bin(mask).count("1") if abi else 0)


def decode_sample(attr, words, has_index, has_counters):
    kind, got = attr.sample_type, {"branch_hw_index": NO_INDEX}
    for bit, name in ((IDENTIFIER, "id"), (IP, "ip"), (TID, "tids"), (TIME, "time"), (ADDR, "addr"), (ID, "id"),
                      (STREAM_ID, "stream_id"), (CPU, "cpu"), (PERIOD, "period")):
        if kind & bit and name == "tids":
            got["pid"], got["tid"] = words.pair()
        elif kind & bit and name == "cpu":
            got["cpu"], _ = words.pair()
        elif kind & bit:
            got[name] = words.u64()
    if kind & READ_VALUES:
        got["values"] = values_of(words, attr.read_format)
    if kind & CALLCHAIN:
        got["callchain"] = words.take(8 * words.u64())
    if kind & RAW:
        size, = struct.unpack("<I", words.take(4))
        got["raw"] = words.take(size)
    if kind & BRANCH_STACK:
        count = words.u64()
        if has_index:
            got["branch_hw_index"] = words.u64()
        got["branches"] = words.take(24 * count)
        if has_counters:
            words.take(8 * count)
    if kind & REGS_USER:
        got["registers_abi"], got["registers"] = registers_of(words, attr.regs_user)
    if kind & STACK_USER:
        size = words.u64()
        copy = words.take(size)
        got["stack"] = copy[:words.u64()] if size else b""
    for bit, name in ((WEIGHT | WEIGHT_STRUCT, "weight"), (DATA_SRC, "data_src"), (TRANSACTION, "transaction"),
                      (REGS_INTR, ""), (PHYS_ADDR, "phys_addr"), (CGROUP, "-"), (DATA_PAGE_SIZE, "-"),
                      (CODE_PAGE_SIZE, "-")):
        if kind & bit and not name:
            registers_of(words, attr.regs_intr)
        elif kind & bit:
            got[name] = words.u64()
    if kind & AUX:
        words.take(words.u64())
    assert words.at == len(words.data)
    return got


def decode_other(attr, words):
    kinds = attr.sample_type if attr.id_all else 0
    size = 8 * sum(bool(kinds & bit) for bit in (TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER))
    got = {"body": words.take(len(words.data) - size)}
    if kinds & TID:
        got["pid"], got["tid"] = words.pair()
    for bit, name in ((TIME, "time"), (ID, "id"), (STREAM_ID, "stream_id")):
        if kinds & bit:
            got[name] = words.u64()
    if kinds & CPU:
        got["cpu"], _ = words.pair()
    if kinds & IDENTIFIER:
        got["id"] = words.u64()
    return got


def decode(attr, record):
    """None: it is no record of that event."""
    kind, misc, _ = struct.unpack_from("<IHH", record)
    tries = [(bool(attr.branches & HW_INDEX), bool(attr.branches & COUNTERS))]
    tries += [(False, tries[0][1]), (tries[0][0], False)]  # what the kernel had none of
    for index, counters in tries if kind == SAMPLE else tries[:1]:
        try:
            got = decode_sample(attr, Words(record[8:]), index, counters) if kind == SAMPLE \
                else decode_other(attr, Words(record[8:]))
        except AssertionError:
            continue
        return {"type": kind, "misc": misc, "branch_hw_index": NO_INDEX, **got}
    return None


def id_of(attrs, record):
    """The event's number in a record; 0 where it has none."""
    kind = struct.unpack_from("<I", record)[0]
    attr = attrs[0]
    if kind != SAMPLE:
        if not attr.id_all:
            return 0
        behind = 0 if attr.sample_type & IDENTIFIER else \
            8 * (bool(attr.sample_type & CPU) + bool(attr.sample_type & STREAM_ID))
        return struct.unpack_from("<Q", record, len(record) - 8 - behind)[0]
    if attr.sample_type & IDENTIFIER:
        return struct.unpack_from("<Q", record, 8)[0]
    if not attr.sample_type & ID:
        return 0
    return struct.unpack_from("<Q", record, 8 + 8 * sum(bool(attr.sample_type & bit)
                                                        for bit in (IP, TID, TIME, ADDR)))[0]


def attr_for(attrs, record):
    found = id_of(attrs, record) if len(attrs) > 1 else 0
    return next((attr for attr in attrs if found and found in attr.ids), attrs[0])


def records(data):
    """(attr, record) of each that the kernel wrote, or perf in its name."""
    magic, size = struct.unpack_from("<8sQ", data)
    assert magic == b"PERFILE2"
    attrs, at, end = [], size, len(data)
    if size > 16:
        attr_size, attrs_at, attrs_size, at, data_size = struct.unpack_from("<16xQQQQQ", data)
        end = min(at + data_size, len(data)) if data_size else len(data)
        for entry in range(attrs_at, attrs_at + attrs_size, attr_size):
            ids_at, ids_size = struct.unpack_from("<QQ", data, entry + attr_size - 16)
            ids = struct.unpack_from(f"<{ids_size // 8}Q", data, ids_at)
            attrs.append(attr_of(data[entry:entry + attr_size - 16], ids))
    while at + 8 <= end:
        kind, _, size = struct.unpack_from("<IHH", data, at)
        record = data[at:at + size]
        if size < 8 or len(record) < size:
            break
        at += size
        if kind == HEADER_ATTR:
            attr_size = struct.unpack_from("<I", record, 12)[0] or 64
            ids = struct.unpack_from(f"<{(size - 8 - attr_size) // 8}Q", record, 8 + attr_size)
            attrs.append(attr_of(record[8:8 + attr_size], ids))
        elif kind == TRACING_DATA:
            at += struct.unpack_from("<I", record, 8)[0] + 7 & ~7
        elif kind == AUXTRACE:
            at += struct.unpack_from("<Q", record, 8)[0]
        if kind < FIRST_OF_TOOLS:
            yield attr_for(attrs, record), record


class Decoder:
    """yarn_record_decode of a libyarn.so."""

    def __init__(self, library):
        self.call = ctypes.CDLL(str(library)).yarn_record_decode
        self.call.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(Record)]
        self.record = Record()

    def decode(self, attr, record):
        """As decode() above; it must not keep what it says of a record before."""
        ctypes.memset(ctypes.byref(self.record), 0, ctypes.sizeof(Record))
        copy = ctypes.create_string_buffer(record, len(record))
        if self.call(attr.bytes, copy, len(record), self.record):
            return None
        got = {}
        for name, kind in Record._fields_:
            value = getattr(self.record, name)
            if kind is Bytes:
                value = ctypes.string_at(value.data, value.size) if value.size else b""
            got[name] = value
        return got

    def is_refused(self, attr, record):
        return bool(self.call(attr.bytes, record, len(record), self.record))


def compare(decoder, data, with_cuts=True):
    """(records, those by their kind, sentences on what differs) of a perf.data."""
    wrong, kinds, seen = [], collections.Counter(), set()
    for number, (attr, record) in enumerate(records(data)):
        theirs = decode(attr, record)
        ours = decoder.decode(attr, record)
        kind = struct.unpack_from("<I", record)[0]
        kinds[kind] += 1
        if (ours is None) != (theirs is None):
            wrong.append(f"record {number} of type {kind}, {len(record)} bytes: only one of the two reads it")
            continue
        if ours is None:
            wrong.append(f"record {number} of type {kind}, {len(record)} bytes: neither of the two reads it")
            continue
        for name in ours:
            zero = b"" if isinstance(ours[name], bytes) else 0
            wanted = ours[name] if name == "fields" else theirs.get(name, zero)
            if ours[name] != wanted:
                wrong.append(f"record {number} of type {kind}: {name} is {ours[name]}, not {wanted}")
        if not with_cuts or (kind, len(record)) in seen:
            continue
        seen.add((kind, len(record)))
        for size in range(len(record)):
            stated = record[:6] + struct.pack("<H", size) + record[8:]
            if not decoder.is_refused(attr, record[:size]):
                wrong.append(f"record {number} of type {kind}: cut to {size} bytes it is taken")
            if size >= 8 and not decoder.is_refused(attr, stated[:size]) and \
                    not (kind == SAMPLE and decode(attr, stated[:size])):
                wrong.append(f"record {number} of type {kind}: cut to {size} bytes, and said so, it is taken")
    return sum(kinds.values()), kinds, wrong


if __name__ == "__main__":
    import sys
    for path in sys.argv[2:]:
        print(path, compare(Decoder(sys.argv[1]), pathlib.Path(path).read_bytes()))
