# SPDX-License-Identifier: Apache-2.0
"""Runs a program under a profiler and gives, for each sample, what it was made of and the stack that
the profiler shows: by yarn's preload, and by perf with copies of stacks."""

import os
import pathlib
import re
import struct
import subprocess

import judge

YARN_HEAD = struct.Struct("<QQQQQ")
FREQUENCY = "999"


def run(argv, **options):
    done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, check=False,
                          **options)
    if done.returncode != 0:
        raise RuntimeError(f"{argv[0]} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def stacks_of(text, head):
    """Of a listing as perf script prints it: (tid, time as printed) -> Stack."""
    stacks = {}
    frames = None
    for line in text.splitlines():
        found = head.match(line)
        if found:
            frames = []
            stack = judge.Stack(frames, False)
            key = (int(found["tid"]), found["time"])
            stacks[key] = stack
        elif frames is not None and line.startswith("\t"):
            words = line.split(None, 1)
            if int(words[0], 16) == 0:  # no frame, but why there is no further one
                stacks[key] = judge.Stack(frames, True)
                continue
            frames.append(judge.Frame(words[1].rsplit("(", 1)[1].partition(")")[0], int(words[0], 16)))
        else:
            frames = None
    return stacks


class Yarn:
    """`preload`: the one that keeps the samples, too."""

    name = "yarn"
    HEAD = re.compile(r"\S+ +\d+/(?P<tid>\d+) +\[\d+\] +(?P<time>\d+\.\d+): +\d+ \S+:")

    def __init__(self, preload, yarnprof, **variables):
        self.preload, self.yarnprof, self.variables = preload, yarnprof, variables

    def profile(self, argv, folder):
        """(Output of the program, [(Sample, Stack)])."""
        kept = folder / "samples"
        output = run(argv, env={
            **os.environ, "LD_PRELOAD": str(self.preload), "YARN_OUTPUT": f"{folder}/",
            "YARN_EVENTS": "cpu-clock:u", "TRUTH_FILE": str(kept), **self.variables})
        text = run([self.yarnprof, "script", *folder.glob("*.dump")])
        stacks = stacks_of(text, self.HEAD)
        pairs = []
        for sample in self.samples(kept.read_bytes()):
            stack = stacks.get((sample.tid, self.printed(sample.time_ns)))
            if stack:
                pairs.append((sample, stack))
        return output, pairs

    @staticmethod
    def printed(time_ns):
        return f"{time_ns // 10**9}.{time_ns % 10**9 // 1000:06}"

    @staticmethod
    def samples(data):
        at = 0
        while at + YARN_HEAD.size <= len(data):
            time_ns, tid, ip, sp, size = YARN_HEAD.unpack_from(data, at)
            at += YARN_HEAD.size
            yield judge.Sample(time_ns, tid, ip, sp, data[at:at + size])
            at += size


class Perf:
    name = "perf"
    HEAD = re.compile(r" *(?P<tid>\d+) +(?P<time>\d+\.\d+):")
    SAMPLE = 9
    # Of perf_event_attr: what decides the layout of a sample.
    IDENTIFIER, IP, TID, TIME, ADDR, ID = 1 << 16, 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 6
    STREAM, CPU, PERIOD, CHAIN, REGS, STACK = 1 << 9, 1 << 7, 1 << 8, 1 << 5, 1 << 12, 1 << 13
    SP_REGISTER = 7  # PERF_REG_X86_SP

    def __init__(self, bytes_copied=65528):
        self.copy = bytes_copied

    def profile(self, argv, folder):
        data = folder / "perf.data"
        output = run(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", FREQUENCY,
                      "--call-graph", f"dwarf,{self.copy}", "-o", data, "--", *argv])
        text = run(["perf", "script", "-i", data, "--ns", "--no-inline", "--max-stack", "2000",
                    "-F", "tid,time,ip,sym,dso"])
        stacks = stacks_of(text, self.HEAD)
        pairs = []
        for sample in self.samples(data.read_bytes()):
            key = (sample.tid, f"{sample.time_ns // 10**9}.{sample.time_ns % 10**9:09}")
            if key in stacks:
                pairs.append((sample, stacks[key]))
        return output, pairs

    def samples(self, data):
        """Of a perf.data file of one event."""
        attrs_at, = struct.unpack_from("<Q", data, 24)
        data_at, data_size = struct.unpack_from("<QQ", data, 40)
        sample_type, = struct.unpack_from("<Q", data, attrs_at + 24)
        mask, = struct.unpack_from("<Q", data, attrs_at + 80)
        at = data_at
        while at < data_at + data_size:
            kind, _, size = struct.unpack_from("<IHH", data, at)
            if size == 0:
                return
            if kind == self.SAMPLE:
                yield self.sample(data, at + 8, sample_type, mask)
            at += size

    def sample(self, data, at, kind, mask):
        def word():
            nonlocal at
            at += 8
            return struct.unpack_from("<Q", data, at - 8)[0]

        ip = tid = time_ns = sp = 0
        for bit in (self.IDENTIFIER, self.IP, self.TID, self.TIME, self.ADDR, self.ID, self.STREAM,
                    self.CPU, self.PERIOD):
            value = word() if kind & bit else 0
            if bit == self.IP:
                ip = value
            elif bit == self.TID:
                tid = value >> 32
            elif bit == self.TIME:
                time_ns = value
        if kind & self.CHAIN:
            count = word()
            at += 8 * count
        if kind & self.REGS and word():
            registers = [i for i in range(64) if mask >> i & 1]
            values = {i: word() for i in registers}
            sp = values.get(self.SP_REGISTER, 0)
        stack = b""
        if kind & self.STACK:
            size = word()
            stack = data[at:at + size]
            if size:
                at += size
                stack = stack[:word()]
        return judge.Sample(time_ns, tid, ip, sp, stack)
