#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What yarnprof sched says of dumps of known content."""

import csv
import io
import json
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "support"))
from command_line import WithDumps, main
from packed_dump import Dump, varint

MS = 10**6
PARTS = ("running_ns", "switching_ns", "runnable_ns", "blocked_ns", "unknown_ns")


class Sched(WithDumps):
    def made(self, name, pid=7):
        """A worker that is preempted once and blocked once; a writer whose switches are cut out."""
        dump = Dump()
        dump.begin(pid=pid, name="app")
        dump.record("SCHED", asked=dump.text("switch"), got=dump.text("switch:50000"))
        dump.record("THREAD", tid=8, parent_tid=pid, time_ns=10 * MS, comm=dump.text("worker"))
        dump.record("THREAD", tid=9, parent_tid=pid, time_ns=0, comm=dump.text("writer"))
        dump.named("RUNS", 4, {
            "time_ns": (1 * MS, 12 * MS, 30 * MS, 60 * MS), "length_ns": (5 * MS, 8 * MS, 10 * MS, 40 * MS),
            "tid": (9, 8, 8, 8), "cpu": (0, 0, 1, 1), "is_preempted": (0, 1, 0, 0), "is_open": (0, 0, 0, 1)})
        dump.record("SWITCHES", time_ns=70 * MS, is_on=0)
        dump.record("SWITCHES", time_ns=90 * MS, is_on=1)
        dump.named("THREAD_TIMES", 1, {"time_ns": 60 * MS, "tid": 9, "run_ns": 6 * MS, "wait_ns": 9 * MS})
        dump.record("THREAD_END", tid=8, time_ns=100 * MS, cpu_ns=0)
        dump.record("END", time_ns=100 * MS)
        path = self.folder / name
        path.write_bytes(dump.bytes())
        return path

    def threads(self, *arguments):
        found = json.loads(self.good("sched", "--format=json", *arguments))
        for row in found["threads"]:
            self.assertEqual(sum(row[part] for part in PARTS), row["life_ns"], row)
        return found

    def test_a_thread_whose_birth_was_lost_lives_from_its_first_record_on(self):
        for nr_lost, life_ns in ((0, 80 * MS), (3, 20 * MS)):
            dump = Dump()
            dump.begin(pid=7, name="app")
            dump.record("SCHED", asked=dump.text("switch"), got=dump.text("switch:50000"))
            dump.named("RUNS", 1, {"time_ns": (60 * MS,), "length_ns": (5 * MS,), "tid": (8,), "cpu": (0,),
                                   "is_preempted": (0,), "is_open": (0,)})
            dump.record("THREAD_END", tid=8, time_ns=80 * MS, cpu_ns=0)
            dump.record("TOTALS", time_ns=100 * MS, tail=varint(30) + varint(nr_lost))  # switches_lost
            dump.record("END", time_ns=100 * MS)
            path = self.folder / f"lost{nr_lost}"
            path.write_bytes(dump.bytes())
            (row,) = (row for row in self.threads(path)["threads"] if row["tid"] == 8)
            self.assertEqual(row["life_ns"], life_ns)

    def lossy(self, strategy):
        """Two threads on two cores; of core 0 records were lost between its last switch and 50 ms."""
        dump = Dump()
        dump.begin(pid=7, name="app")
        dump.record("SCHED", asked=dump.text("switch"), got=dump.text("switch:50000"))
        dump.record("SAMPLER", strategy=dump.text(strategy))
        for tid in (8, 9):
            dump.record("THREAD", tid=tid, parent_tid=7, time_ns=0, comm=dump.text("worker"))
        dump.named("RUNS", 4, {
            "time_ns": (0, 10 * MS, 20 * MS, 60 * MS), "length_ns": (1 * MS, 5 * MS, 2 * MS, 5 * MS),
            "tid": (9, 8, 9, 8), "cpu": (1, 0, 1, 0), "is_preempted": (0, 0, 0, 0), "is_open": (0, 0, 0, 0)})
        dump.record("LOST", time_ns=50 * MS, count=3, cpu=0)
        dump.record("TOTALS", time_ns=100 * MS, tail=varint(30) + varint(3))  # switches_lost
        dump.record("END", time_ns=100 * MS)
        path = self.folder / strategy
        path.write_bytes(dump.bytes())
        rows = {row["tid"]: row for row in self.threads(path)["threads"]}
        return [[rows[tid][part] // MS for part in PARTS] for tid in (8, 9)]

    def test_what_threads_did_while_records_of_a_core_were_lost_is_unknown(self):
        self.assertEqual(self.lossy("per-core"), [[10, 0, 10, 45, 35], [3, 0, 0, 64, 33]])
        self.assertEqual(self.lossy("per-thread"), [[10, 0, 10, 80, 0], [3, 0, 0, 97, 0]])

    def test_rows_add_up_to_lives(self):
        found = self.threads(self.made("made"))
        rows = {row["tid"]: row for row in found["threads"]}
        worker, writer = rows[8], rows[9]
        self.assertEqual([worker[part] // MS for part in PARTS], [58, 0, 12, 0, 20])
        self.assertEqual(worker["life_ns"], 90 * MS)
        self.assertEqual((worker["switches"], worker["preemptions"], worker["wakeups"], worker["migrations"]),
                         (2, 1, 1, 1))
        self.assertEqual((worker["wait_ns_mean"], worker["wait_ns_p99"], worker["wait_ns_max"]),
                         (6 * MS, 10 * MS, 10 * MS))
        self.assertEqual(worker["runnable_from"], "records")
        self.assertEqual([writer[part] // MS for part in PARTS], [5, 1, 9, 1, 84])
        self.assertEqual(writer["runnable_from"], "schedstat")
        self.assertIsNone(rows[7]["wait_ns_max"])
        self.assertEqual(found["notes"]["cut_ns"], 20 * MS)
        self.assertEqual(found["notes"]["refused"], 0)

    def test_csv_has_the_columns_of_json(self):
        path = self.made("made")
        rows = list(csv.DictReader(io.StringIO(self.good("sched", "--format=csv", path))))
        self.assertEqual(rows, [{key: "" if value is None else str(value) for key, value in row.items()}
                                for row in self.threads(path)["threads"]])
        self.assertEqual([row["wait_max_at_ns"] for row in rows if row["tid"] == "8"], [str(20 * MS)])

    def test_text_says_what_is_missing(self):
        text = self.good("sched", self.made("made"))
        self.assertIn("app, pid 7, 100.0 ms, 3 threads; switches by the kernel's records", text)
        self.assertRegex(text, r"TID  THREAD +LIFE +RUNNING +SWITCHING +RUNNABLE +BLOCKED +UNKNOWN +SWITCHES")
        self.assertRegex(text, r"\n +8  worker +90.0 ms +58.0 ms +0 ns +12.0 ms +0 ns +20.0 ms +2 +1 +6.0 ms")
        self.assertRegex(text, r" 10.0 ms +0.020 s\n")
        self.assertIn("switches were cut out for 20.0 ms", text)
        self.assertIn("no wakings were recorded (YARN_SCHED=tracepoints:all)", text)

    def test_parts(self):
        path = self.made("made")
        rows = self.threads("--tid=8", "--time=20ms..40ms", path)["threads"]
        self.assertEqual([[row[part] // MS for part in PARTS] for row in rows], [[10, 0, 10, 0, 0]])
        self.assertEqual(len(self.threads("--limit=2", path)["threads"]), 2)
        lines = self.good("sched", "--format=csv", "--comm=worker", path).splitlines()
        self.assertEqual(lines[0].split(",")[:5], ["pid", "tid", "comm", "life_ns", "runnable_from"])
        self.assertEqual(lines[1].split(",")[:6], ["7", "8", "worker", "90000000", "records", "58000000"])
        self.assertIn("thread", self.bad(1, "sched", "--thread=nobody", path))

    def test_several_dumps_are_kept_apart(self):
        both = self.threads(self.made("made"), self.made("other", pid=70))["threads"]
        self.assertEqual([row["tid"] for row in both], [7, 8, 9, 70, 8, 9])
        self.assertEqual(both[1]["running_ns"], both[4]["running_ns"])
        self.assertIn("PID", self.good("sched", self.folder / "made", self.folder / "other"))

    def test_timeline_is_a_line_a_thread(self):
        text = self.good("sched", "--timeline", self.made("made"))
        worker = next(line for line in text.splitlines() if "worker" in line)
        writer = next(line for line in text.splitlines() if "writer" in line)
        self.assertRegex(worker, r"worker +░*.?█+.?░+.?█+.?·+.?█+$")
        self.assertRegex(writer, r"writer +.?█+.?·+\?+·+$")
        self.assertLessEqual(max(map(len, text.splitlines()[2:6])), 100)

    def test_locks_are_those_that_looks_found_held(self):
        dump = Dump()
        dump.begin(pid=7, name="app")
        dump.record("THREAD", tid=8, parent_tid=7, time_ns=0, comm=dump.text("worker"))
        layout = dump.text("\tfield:pid_t holder;\toffset:0;\tsize:4;\tsigned:1;\n")
        name = dump.text("off-cpu")
        dump.record("EVENT", number=1, name=name, asked=name, got=name, unit=dump.text("ns"), flags=256,
                    format=layout)
        dump.named("STREAMS", 1, {"event": 1, "tid": 8, "count": 5, "first_ns": 20 * MS,
                                  "period_ns": 10 * MS, "weight": 2 * MS})
        dump.batch("DETAILS", 0, 5, range(5), 4096, 4, tail=struct.pack("<iiiii", 7, 7, 7, 7, 0))
        dump.named("SAMPLES", 5, {"stack": 0})
        # At 20, 30 and 40 ms, when it runs again, it is one look; at 50 ms another.
        dump.named("RUNS", 2, {"time_ns": (10 * MS, 40 * MS), "length_ns": MS, "tid": 8})
        path = self.folder / "locks"
        path.write_bytes(dump.end())
        found = json.loads(self.good("sched", "--wakers", "--format=json", path))
        self.assertEqual(found["locks"], [{"holder": 7, "holder_comm": "app", "waiter": 8,
                                           "waiter_comm": "worker", "looks": 2, "ns": 8 * MS,
                                           "where": None}])
        self.assertRegex(self.good("sched", "--wakers", path), r" 7 app +8 worker +2 +8.0 ms")
        self.assertIn("no locks", self.good("sched", "--wakers", "--tid=7", path))

    def test_a_dump_without_switches_says_so(self):
        row = self.threads(self.app)["threads"][0]
        self.assertEqual(row["unknown_ns"], row["life_ns"])
        self.assertIn("no switches were recorded", self.good("sched", self.app))


if __name__ == "__main__":
    main()
