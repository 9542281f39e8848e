#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What yarnprof sched makes of wakings in dumps of known content."""

import csv
import io
import json
import pathlib
import re
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "support"))
from command_line import WithDumps, main
from packed_dump import Dump

FORMAT = """\
name: sched_waking
ID: 375
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;
\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;

print fmt: ""
"""
SCHEDULING, OF_MACHINE = 64, 128
US = 1000
START = 10**12  # of the dump, in ns
OTHER = 5  # of no process that was recorded


HARDIRQ, SOFTIRQ, NMI = 8, 16, 64  # of the kernel's trace_flag_type


def waking(waker, woken, flags=0):
    return struct.pack("<HBBi16siii", 375, flags, 0, waker, b"worker", woken, 120, 1)


class Wakers(WithDumps):
    def made(self, wakings, flags=SCHEDULING | OF_MACHINE, shift=0):
        """Thread 8 runs in µs 100 to 110, 170 to 200 and 350 to 360, thread 7 from 0 to 400. Wakings:
        (µs, waker, woken, perhaps common_flags), numbers there higher by `shift`, as in a pid namespace."""
        dump = Dump()
        dump.begin(pid=7, name="app", command="link")
        name = dump.text("sched:sched_waking")
        dump.record("EVENT", number=1, name=name, asked=name, got=name, unit=dump.text("events"), type=2,
                    period=1, flags=flags, format=dump.text(FORMAT))
        dump.record("THREAD", tid=8, parent_tid=7, time_ns=90 * US, comm=dump.text("worker"))
        for at, waker, woken, *context in wakings:
            raw = waking(waker + shift if waker != OTHER else waker, woken + shift, *context)
            dump.named("STREAMS", 1, {"event": 1, "tid": 0 if waker == OTHER else waker, "count": 1,
                                      "first_ns": at * US, "period_ns": 1, "weight": 1})
            dump.batch("DETAILS", 0, 1, 0, 0, len(raw), tail=raw)
            dump.named("SAMPLES", 1, {"cpu": 1})
        dump.named("RUNS", 4, {"time_ns": (0, 100 * US, 170 * US, 350 * US),
                               "length_ns": (400 * US, 10 * US, 30 * US, 10 * US), "tid": (7, 8, 8, 8)})
        dump.record("END", time_ns=400 * US)
        path = self.folder / "wakings"
        path.write_bytes(dump.bytes())
        return path

    def test_couplebreak_knows_threads_by_their_own_numbers_and_switch_records_as_coming_in(self):
        """Thread 8 comes in at 100 µs on core 0; thread 7 never again, so that core 1 is what the kernel meant."""
        path = self.made([(50, 7, 8), (205, 8, 7)], shift=1000)
        got = json.loads(self.good("sched", "--couplebreak", "--format=json", path))
        stream, = got["streams"]
        self.assertEqual((stream["pid"], stream["flags"], stream["ids"]), (7, 2, [-10001]))
        targets = [event for event in got["events"] if event["id"] == -10001]
        self.assertEqual([(e["time_ns"] % START, e["pid"], e["cpu"]) for e in targets],
                         [(50 * US, 8, 0), (205 * US, 7, 1)])
        for event in targets:
            origin = got["events"][event["origin"]]
            self.assertEqual((origin["id"], origin["name"]), (375, "sched/sched_waking"))
            self.assertEqual(origin["time_ns"], event["time_ns"])

    def test_couplebreak_chooses_threads_and_events_that_only_the_events_know(self):
        path = self.made([(150, 7, 8), (300, OTHER, 8)])
        for option, pids in ((f"--thread={OTHER}", [OTHER]), (f"--process={OTHER}", [OTHER]), ("--thread=8", [8, 8]),
                             ("--process=app", [7, 8, 8]), ("--process=link", [7, 8, 8]),
                             ("--event=couplebreak/*", [8, 8])):
            made = json.loads(self.good("sched", "--couplebreak", "--format=json", option, path))
            self.assertEqual([event["pid"] for event in made["events"]
                              if event["id"] in (375, -10001)], pids, option)
        for option in ("--thread=6", "--comm=nobody", "--event=couplebreak"):
            self.assertIn(f"{option.partition('=')[0]}: nothing", self.bad(1, "sched", "--couplebreak", option, path))
        self.assertIn("--thread: nothing", self.bad(1, "sched", f"--thread={OTHER}", path))

    def test_script_names_a_thread_of_another_process_by_the_waking_that_names_it(self):
        path = self.made([(50, 7, OTHER), (205, OTHER, 8), (210, OTHER + 1, 8)])
        lines = self.good("script", "--samples", "--no-header", "-F", "comm,tid,event", path).split("\n")
        self.assertEqual([line.split()[:2] for line in lines if line], [["app", "7"], ["worker", "5"], ["app", "6"]])

    def sched(self, path, *options):
        return json.loads(self.good("sched", "--wakers", "--format=json", path, *options))

    def rows(self, made):
        return [(row["waker"], row["woken"], row["wakings"], row["latency_ns_mean"] // US,
                 row["latency_ns_max"] // US) for row in made["wakers"]]

    def test_waits_after_wakings(self):
        made = self.sched(self.made([(150, 7, 8), (300, OTHER, 8)]))
        self.assertEqual(self.rows(made), [(OTHER, 8, 1, 50, 50), (7, 8, 1, 20, 20)])
        worker = next(row for row in made["threads"] if row["tid"] == 8)
        self.assertEqual(worker["runnable_from"], "waking")
        # Born 10 µs before it ran; 20 and 50 after wakings.
        self.assertEqual((worker["runnable_ns"], worker["wait_ns_max"]), (80 * US, 50 * US))
        text = self.good("sched", "--wakers", self.folder / "wakings")
        self.assertRegex(text, r"(?m)^ +7  app +8  worker +1 +20(\.0)? us")

    def test_an_interrupt_wakes_in_its_own_name_and_a_softirq_in_a_row_of_its_own(self):
        """Whom an interrupt hits is chance; of a softirq the thread below may be who began it, or not."""
        def named(*contexts):
            made = self.sched(self.made([(150, 7, 8, contexts[0]), (300, 7, 8, contexts[1])]))
            return sorted((row["waker"], row["waker_comm"], row["wakings"]) for row in made["wakers"])
        for flags in (HARDIRQ, NMI, HARDIRQ | SOFTIRQ):
            self.assertEqual(named(flags, 0), [(0, "<interrupt>", 1), (7, "app", 1)])
        self.assertEqual(named(HARDIRQ, NMI), [(0, "<interrupt>", 2)])
        self.assertEqual(named(SOFTIRQ, 0), [(7, "app", 1), (7, "app (softirq)", 1)])
        self.assertEqual(named(4, 32), [(7, "app", 2)])

    def test_each_form_has_the_same_pairs(self):
        path = self.made([(150, 7, 8), (300, OTHER, 8)])
        for limit in (0, 1):
            pairs = self.sched(path, f"--limit={limit}")["wakers"]
            self.assertEqual(len(pairs), limit or 2)
            rows = csv.DictReader(io.StringIO(self.good("sched", "--wakers", "--format=csv", f"--limit={limit}", path)))
            self.assertEqual(list(rows), [{key: str(value) for key, value in pair.items()} for pair in pairs])
            text = self.good("sched", "--wakers", f"--limit={limit}", path)
            self.assertEqual(len(re.findall(r"(?m)^ +\d.* us$", text)), len(pairs), text)

    def test_numbers_of_a_pid_namespace(self):
        """Found where a sample has both: the worker must have woken somebody itself."""
        path = self.made([(105, 8, 7), (150, 7, 8), (300, OTHER, 8)], shift=1000)
        self.assertEqual(self.rows(self.sched(path)), [(OTHER, 8, 1, 50, 50), (7, 8, 1, 20, 20)])
        path = self.made([(150, 7, 8)], shift=1000)
        self.assertEqual(self.rows(self.sched(path)), [])

    def test_of_own_threads_not_every_waking_is_known(self):
        made = self.sched(self.made([(150, 7, 8)], flags=SCHEDULING))
        self.assertEqual(self.rows(made), [(7, 8, 1, 20, 20)])
        self.assertNotIn("waking", {row["runnable_from"] for row in made["threads"]})

    def test_without_wakings_a_sentence_says_what_is_missing(self):
        self.assertIn("sched_waking needs YARN_SCHED=tracepoints:all, CAP_PERFMON (or perf_event_paranoid -1) "
                      "and a readable tracefs", self.good("sched", "--wakers", self.app))
        self.assertEqual(self.sched(self.app)["wakers"], [])


if __name__ == "__main__":
    main()
