#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A dump's table of threads, and that of the trace.dat it is exported as, which knows its events alone."""

import collections
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


class Exported(WithDumps):
    def made(self, pid, seed, tracepoints=False, has_open=True):
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
            runs.append((at, length, pid + pick.randrange(3), pick.randrange(3), pick.randrange(2), has_open and not pick.randrange(5)))
            at += length
        keys = ("time_ns", "length_ns", "tid", "cpu", "is_preempted", "is_open")
        dump.named("RUNS", len(runs), {key: tuple(int(run[i]) for run in runs) for i, key in enumerate(keys)})
        dump.record("SWITCHES", time_ns=70 * MS, is_on=0)
        if pick.randrange(2):
            dump.record("SWITCHES", time_ns=90 * MS, is_on=1)
        dump.named("THREAD_TIMES", 2, {"time_ns": (30 * MS, 95 * MS), "tid": (pid, pid + 1),
                                       "run_ns": (3 * MS, 0), "wait_ns": (4 * MS, 9 * MS)})
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

    def times(self, path, key):
        sums = collections.Counter()
        for row in json.loads(self.good("sched", "--format=json", path))["threads"]:
            sums[row["tid"]] += row[key]
        return sums

    def test_threads_ran_as_long_as_in_the_dump(self):
        for seed in range(8):
            with self.subTest(seed=seed):
                dump = self.made(7, seed, has_open=False)
                want = self.times(dump, "running_ns")
                self.assertEqual(len(want), 3)
                self.assertEqual(self.times(self.export(dump), "running_ns"), want)

    def test_a_file_is_what_its_events_say(self):
        """Lives begin and end with the events that are there, and belong to no process."""
        dump = self.made(7, 1)
        for options in ((), ("--time=0..50ms",), ("--thread=7",)):
            rows = json.loads(self.good("sched", "--format=json", self.export(dump, options=options)))["threads"]
            self.assertTrue(rows)
            self.assertEqual({row["pid"] for row in rows}, {0})

    def test_no_section_is_ours_alone(self):
        """The head is followed by what trace-cmd expects there, the format of pages."""
        data = self.export(self.made(7, 3)).read_bytes()
        head = data.index(b"none\0\0") + len(b"none\0\0") + 8
        self.assertEqual(struct.unpack_from("<H", data, head), (16,))


if __name__ == "__main__":
    main()
