#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A dump's table of threads, and that of the trace.dat it is exported as: one and the same."""

import json
import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "support"))
from command_line import WithDumps, main, run
from packed_dump import Dump
from sched_tracepoints import SWITCH, WAKING, put, switch, waking

MS = 10**6
SCHEDULING, OF_MACHINE = 64, 128
VIEWS = [(), ("--format=json",), ("--format=csv",), ("--timeline",), ("--wakers",),
         ("--wakers", "--format=json"), ("--process=7",), ("--thread=worker",), ("--limit=2",),
         ("--time=10ms..40ms",), ("--time=..@1000.03s", "--format=json"), ("--timeline", "--time=50ms..")]


class Exported(WithDumps):
    def made(self, pid, seed, tracepoints=False):
        """Threads that are born, end, share numbers, run on, and of which not all is recorded."""
        pick = random.Random(seed)
        dump = Dump()
        dump.begin(pid=pid, name="app")
        dump.record("SCHED", asked=dump.text("tracepoints:all"), got=dump.text(pick.choice(["switch:50000", "tracepoints"])),
                    reason=dump.text(pick.choice(["", "it may not: perf_event_paranoid is 2"])))
        if tracepoints:
            for i, form in enumerate((SWITCH, WAKING)):
                name = dump.text("sched:" + form.splitlines()[0][6:])
                dump.record("EVENT", number=i + 1, name=name, asked=name, got=name, unit=dump.text("events"), type=2,
                            period=1, flags=SCHEDULING | OF_MACHINE, format=dump.text(form))
            put(dump, 2, pid, 1, [(5 * MS, waking(pid + 1000, "worker", pid + 1001, 0))])
            put(dump, 2, 0, 1, [(20 * MS, waking(5, "worker", pid + 1001, 0))])
            put(dump, 2, pid + 1, 0, [(25 * MS, waking(pid + 1001, "app", pid + 1000, 0))])
            put(dump, 1, 0, 1, [(19 * MS, switch(("some: one", 5), ("app", pid + 1000)))])
        dump.record("THREAD", tid=pid + 1, parent_tid=pid, time_ns=1 * MS, comm=dump.text("worker"))
        dump.record("THREAD", tid=pid + 2, parent_tid=0, time_ns=0, comm=dump.text("fo\nund"))
        at, runs = 2 * MS, []
        for _ in range(20):
            at += pick.randrange(3 * MS)
            length = pick.randrange(1, MS)
            runs.append((at, length, pid + pick.randrange(3), pick.randrange(3), pick.randrange(2), not pick.randrange(5)))
            at += length
        keys = ("time_ns", "length_ns", "tid", "cpu", "is_preempted", "is_open")
        dump.named("RUNS", len(runs), {key: tuple(int(run[i]) for run in runs) for i, key in enumerate(keys)})
        dump.record("SWITCHES", time_ns=70 * MS, is_on=0)
        if pick.randrange(2):
            dump.record("SWITCHES", time_ns=90 * MS, is_on=1)
        dump.named("THREAD_TIMES", 2, {"time_ns": (30 * MS, 95 * MS), "tid": (pid, pid + 1),
                                       "run_ns": (3 * MS, 4 * MS), "wait_ns": (4 * MS, 9 * MS)})
        dump.record("THREAD_END", tid=pid + 1, time_ns=60 * MS, cpu_ns=15 * MS)
        dump.record("THREAD", tid=pid + 1, parent_tid=pid, time_ns=65 * MS, comm=dump.text("again"))
        dump.record("END", time_ns=100 * MS)
        path = self.folder / f"{pid}.{seed}"
        path.write_bytes(dump.bytes())
        return path

    def export(self, *paths, options=()):
        to = self.folder / "trace.dat"
        done = run("export", "--to=trace.dat", *options, "-o", to, *paths)
        self.assertEqual(done.returncode, 0, done.stderr)
        return to

    def test_each_view_is_the_same(self):
        for seed in range(8):
            dumps = [self.made(7, seed, seed % 2)] + [self.made(70, seed)] * (seed % 3 > 0)
            trace = self.export(*dumps)
            for view in VIEWS:
                with self.subTest(seed=seed, view=view):
                    want = self.good("sched", *view, *dumps)
                    self.assertEqual(self.good("sched", *view, trace), want)
        rows = json.loads(want := self.good("sched", "--format=json", trace))["threads"]
        self.assertGreaterEqual(len(rows), 4)
        self.assertTrue(any(row["unknown_ns"] for row in rows) and any(row["running_ns"] for row in rows), want)

    def test_a_part_is_what_its_events_say(self):
        """Without what is known of the whole: lives begin and end with the events that are there."""
        dump = self.made(7, 1)
        for options in (("--time=0..50ms",), ("--thread=7",)):
            rows = json.loads(self.good("sched", "--format=json", self.export(dump, options=options)))["threads"]
            self.assertTrue(rows)
            self.assertEqual({row["pid"] for row in rows}, {0})

    def test_other_readers_have_the_events(self):
        """The section lies where no option is: a file without it has the same events."""
        trace = self.export(self.made(7, 3))
        want, data = self.good("script", trace), bytearray(trace.read_bytes())
        at = data.index(struct.pack("<HHI", 0x7961, 0, 0))
        data[at : at + 2] = b"zz"
        trace.write_bytes(data)
        self.assertEqual(self.good("script", trace), want)
        self.assertEqual({row["pid"] for row in json.loads(self.good("sched", "--format=json", trace))["threads"]}, {0})

    def test_damage_is_refused_with_its_place(self):
        trace = self.export(self.made(7, 1, True), self.made(70, 2))
        data = trace.read_bytes()
        at = data.index(struct.pack("<HHI", 0x7961, 0, 0))
        size, = struct.unpack_from("<Q", data, at + 8)
        pick, refused = random.Random(7), 0
        # Its version, how many there are of each; a process that is none; a name without an end.
        sure = {0: 2, 4: 99, 8: 99, 16: 1 << 30, 24: 1 << 31, 32: 1 << 29, 40: 1 << 28}
        for offset, value in [*sure.items()] + [(pick.randrange(size // 4) * 4, pick.choice([0, 9, 1 << 30]))
                                                for _ in range(60)]:
            damaged = bytearray(data)
            struct.pack_into("<I", damaged, at + 16 + offset, value)
            trace.write_bytes(damaged)
            done = run("sched", trace)
            if done.returncode or offset in sure:
                refused += 1
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr, r"^yarnprof sched: .*trace.dat: what it says of threads beside its events "
                                              r"is damaged \(at byte \d+\)\n$")
        self.assertGreater(refused, len(sure))


if __name__ == "__main__":
    main()
