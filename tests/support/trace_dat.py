# SPDX-License-Identifier: Apache-2.0
"""Reads a trace.dat of version 7, uncompressed, byte by byte, as trace-cmd.dat.v7(5) has it."""

import struct


class TraceDat:
    """What the file says of itself, and the events of each core: (time, bytes)."""

    def __init__(self, data):
        self.data = data
        magic = b"\x17\x08\x44tracing7\0\0\x08" + struct.pack("<I", 4096) + b"none\0\0"
        assert data.startswith(magic), data[:40]
        self.options = {}
        self.read_options(struct.unpack_from("<Q", data, len(magic))[0])
        self.cores = {core: self.read_core(at, size) for core, at, size in self.read_places()}

    def section(self, number, at):
        got, flags, _, size = struct.unpack_from("<HHIQ", self.data, at)
        assert (got, flags) == (number, 0) and at + 16 + size <= len(self.data)
        return self.data[at + 16 : at + 16 + size]

    def read_options(self, at):
        body = self.section(0, at)
        while body:
            number, size = struct.unpack_from("<HI", body)
            self.options[number] = body[6 : 6 + size]
            body = body[6 + size :]
        assert self.options[0] == bytes(8)

    def read_places(self):
        buffer = self.options[3]
        at, names = struct.unpack_from("<Q", buffer)[0], b"\0mono\0"
        assert buffer[8 : 8 + len(names)] == names
        page, count = struct.unpack_from("<II", buffer, 14)
        assert page == 4096 and self.section(3, at) is not None
        assert struct.unpack("<I", self.options[8])[0] == count
        return [struct.unpack_from("<IQQ", buffer, 22 + i * 20) for i in range(count)]

    def read_core(self, at, size):
        assert at % 4096 == 0 and size % 4096 == 0
        return [self.read_page(self.data[page : page + 4096]) for page in range(at, at + size, 4096)]

    def read_page(self, page):
        time, commit = struct.unpack_from("<QQ", page)
        assert commit <= 4080 and not any(page[16 + commit :])
        body, events = page[16 : 16 + commit], []
        while body:
            head, = struct.unpack_from("<I", body)
            kind, delta = head & 31, head >> 5
            time += delta
            body = body[4:]
            if kind == 30:
                time += struct.unpack_from("<I", body)[0] << 27
                body = body[4:]
                continue
            size = kind * 4
            if not kind:
                size = struct.unpack_from("<I", body)[0] - 4
                body = body[4:]
            events.append((time, body[:size]))
            body = body[size:]
        return events

    def events(self, core):
        return [event for page in self.cores[core] for event in page]

    def text(self, option, number):
        return self.section(number, struct.unpack("<Q", self.options[option])[0])
