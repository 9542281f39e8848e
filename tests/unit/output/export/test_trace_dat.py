#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tracepoints and switch records of dumps made here, exported as trace.dat: read back page by page,
and by trace-cmd (libtracecmd) where it is installed."""

import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "tests/support"))
from packed_dump import Dump  # noqa: E402
from sched_tracepoints import SWITCH, WAKING, put, switch, waking  # noqa: E402
from trace_dat import TraceDat  # noqa: E402

YARNPROF = os.environ["YARN_TEST_YARNPROF"]
MADE = "not-recorded"


class Export(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="yarn_trace_dat."))
        self.addCleanup(shutil.rmtree, self.folder)

    def export(self, *dumps, status=0, options=()):
        """The file read back, and what was said."""
        paths = []
        for i, dump in enumerate(dumps):
            paths.append(self.folder / f"{i}.dump")
            paths[-1].write_bytes(dump)
        self.path = self.folder / "trace.dat"
        done = subprocess.run([YARNPROF, "export", "--to=trace.dat", *options, "-o", self.path, *paths],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(self.path.exists(), status == 0)
        return TraceDat(self.path.read_bytes()) if status == 0 else None, done.stderr

    def trace_cmd(self):
        """(core, time in ns, event, text) of each, as trace-cmd has them."""
        if not shutil.which("trace-cmd"):
            self.skipTest("no trace-cmd here (Debian: trace-cmd)")
        done = subprocess.run(["trace-cmd", "report", "-t", "-R", "-i", self.path],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = re.findall(r"^ *(.*)-(\d+) +\[(\d+)\] +(\d+)\.(\d{9}): +(\w+): +(.*)$",
                           done.stdout, re.M)
        return [(comm, int(pid), int(core), int(s) * 10**9 + int(ns), name, text)
                for comm, pid, core, s, ns, name, text in lines]

    @staticmethod
    def begin(pid, name="app", formats=(SWITCH, WAKING)):
        dump = Dump()
        dump.begin(pid=pid, name=name)
        for i, form in enumerate(formats):
            asked = dump.text("sched:" + re.match("name: (.*)", form)[1])
            dump.record("EVENT", number=i + 1, name=asked, asked=asked, got=asked,
                        unit=dump.text("events"), type=2, period=1, format=dump.text(form))
        return dump

    def test_pages_that_fill_exactly(self):
        """60 switches of 68 bytes are a page; times have gaps of more than 2^27 ns, and equal ones."""
        times = [0, 0, 5, 5 + 2**27, 5 + 2**28, 6 + 2**28, 10**12] + list(range(2 * 10**12, 2 * 10**12 + 114))
        raws = [switch(("a: b ==> c", 7), ("", 0), i & 1) for i in range(len(times))]
        wake = [(3, waking(7, "x [y]: z", 9, 1)), (2 * 10**12 + 60, waking(7, "w", 10, 0))]
        dump = self.begin(7)
        put(dump, 1, 7, 0, list(zip(times, raws)))
        put(dump, 2, 7, 2, wake)
        got, said = self.export(dump.end())
        self.assertEqual(said, "")
        start = 10**12
        self.assertEqual(got.events(0), [(start + t, raw) for t, raw in zip(times, raws)])
        self.assertEqual(got.events(1), [])
        self.assertEqual(got.events(2), [(start + t, raw) for t, raw in wake])
        # Gaps take words, too, where they do not fall on a page's first event.
        self.assertEqual([len(page) for page in got.cores[0]], [60 - 1, 60, 2])
        self.assertEqual(sorted(got.text(21, 21)[8:].decode().splitlines()),
                         ["10 w", "7 a: b ==> c", "9 x [y]: z"])
        read = self.trace_cmd()
        self.assertEqual([one[2:5] for one in read if one[4] == "sched_switch"],
                         [(0, start + t, "sched_switch") for t in times])
        self.assertEqual([one[1:5] for one in read if one[4] == "sched_waking"],
                         [(7, 2, start + t, "sched_waking") for t, _ in wake])
        self.assertEqual({one[0] for one in read}, {"a: b ==> c"})

    def test_switch_records_alone(self):
        dump = Dump()
        dump.begin(pid=7, name="app")
        dump.record("THREAD", tid=8, comm=dump.text("two: words"))
        dump.named("RUNS", 3, {"time_ns": (1000, 1000, 81_000), "length_ns": (70_000, 60_000, 5),
                               "tid": (7, 8, 8), "cpu": (0, 3, 0), "is_preempted": (1, 0, 0)})
        got, said = self.export(dump.end())
        self.assertIn("6 switches are known from one side only: the other is pid 0, not-recorded", said)

        def sides(core):
            events = [(t - 10**12, struct.unpack("<HBBi16siiq16sii", raw)) for t, raw in got.events(core)]
            return [(t, e[4].rstrip(b"\0").decode(), e[5], e[7], e[8].rstrip(b"\0").decode(), e[9])
                    for t, e in events]

        app, two, none = ("app", 7), ("two: words", 8), (MADE, 0)
        self.assertEqual(sides(0), [(1000, *none, 0, *app), (71_000, *app, 0, *none),
                                    (81_000, *none, 0, *two), (81_005, *two, 1, *none)])
        self.assertEqual(sides(3), [(1000, *none, 0, *two), (61_000, *two, 1, *none)])
        read = self.trace_cmd()
        self.assertEqual(len(read), 6)
        self.assertEqual({one[:2] for one in read}, {("<idle>", 0), app, two})
        text = subprocess.run(["trace-cmd", "report", "-i", self.path], capture_output=True, text=True)
        self.assertRegex(text.stdout, r"app:7 \[0\] R ==> not-recorded:0 \[0\]")
        self.assertRegex(text.stdout, r"two: words:8 \[0\] S ==> not-recorded:0 \[0\]")

    def test_the_other_half_of_own_switches(self):
        """sched_switch of a process's own threads says who left; who came in, only where a thread
        of its own left. Raw pids are those of the first pid namespace."""
        dump = self.begin(7)
        put(dump, 1, 7, 0, [(2000, switch(("app", 1007), ("app", 1008)))])
        put(dump, 1, 8, 0, [(3000, switch(("app", 1008), ("other", 5), 1))])
        dump.named("RUNS", 3, {"time_ns": (1000, 2010, 4000), "length_ns": (1005, 995, 50),
                               "tid": (7, 8, 7), "is_preempted": 0})
        got, said = self.export(dump.end())
        self.assertIn("2 switches", said)
        pids = [(t - 10**12, struct.unpack_from("<i", raw, 24)[0], struct.unpack_from("<i", raw, 56)[0])
                for t, raw in got.events(0)]
        self.assertEqual(pids, [(1000, 0, 1007), (2000, 1007, 1008), (3000, 1008, 5), (4000, 0, 1007)])

    def test_dumps_of_a_tree(self):
        first, second = self.begin(7, "sh"), self.begin(9, "child")
        put(first, 1, 7, 0, [(t, switch(("sh", 7), ("", 0), 1)) for t in (10, 30)])
        put(second, 1, 9, 0, [(t, switch(("child", 9), ("", 0), 1)) for t in (20, 40)])
        dumps = first.end(), second.end()
        got, _ = self.export(*dumps)
        self.assertEqual([(t - 10**12, raw[8:11]) for t, raw in got.events(0)],
                         [(10, b"sh\0"), (20, b"chi"), (30, b"sh\0"), (40, b"chi")])
        self.assertEqual([one[1] for one in self.trace_cmd()], [7, 9, 7, 9])
        got, _ = self.export(*dumps, options=("--process=9",))
        self.assertEqual([t - 10**12 for t, _ in got.events(0)], [20, 40])

    def test_what_cannot_be_written(self):
        dump = Dump()
        dump.begin()
        _, said = self.export(dump.end(), status=1)
        self.assertIn("nothing of the scheduler is in it", said)
        one, other = self.begin(7), self.begin(8, formats=(SWITCH.replace("372", "373"),))
        put(one, 1, 7, 0, [(1, switch(("a", 7), ("b", 8)))])
        put(other, 1, 8, 0, [(1, switch(("b", 8), ("a", 7), kind=373))])
        _, said = self.export(one.end(), other.end(), status=1)
        self.assertIn("sched_switch does not mean the same in all dumps", said)


if __name__ == "__main__":
    unittest.main()
