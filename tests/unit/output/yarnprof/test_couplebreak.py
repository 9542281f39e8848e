#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What yarnprof sched makes of made traces: entries and targets as a model has them, saved views, and what is
refused."""

import csv
import io
import json
import pathlib
import random
import resource
import shutil
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "support"))
import made_trace
import packed_dump
from command_line import WithDumps, main, run

TRACES = 30
MANY = [0, 1, 5, 60, 400]


class Couplebreak(WithDumps):
    def trace(self, seed, count=None):
        rng = random.Random(seed)
        cores, names = made_trace.generate(rng, rng.choice(MANY) if count is None else count)
        path = self.folder / f"trace{seed}.dat"
        path.write_bytes(made_trace.build(cores, names))
        return path, made_trace.model(cores)

    def sched(self, *arguments):
        return self.good("sched", *arguments)

    def json(self, *arguments):
        return json.loads(self.sched("--format=json", *arguments))

    def refused(self, *arguments):
        return self.bad(1, "sched", *arguments)

    def test_entries_and_targets_are_the_models(self):
        for seed in range(TRACES):
            path, want = self.trace(seed)
            with self.subTest(seed=seed):
                got = self.json("--couplebreak", path)
                rows = [[e["time_ns"], e["id"], e["pid"], e["cpu"], -1 if e["origin"] is None else e["origin"]]
                        for e in got["events"]]
                self.assertEqual(rows, want)
                ids = [i for i in (-10000, -10001) if i in {row[1] for row in want}]
                stream = got["streams"][0]
                self.assertEqual((stream["ids"], stream["n_couplebreak_events"]), (ids, len(ids)))
                self.assertEqual(stream["flags"], (-10000 in ids) | (-10001 in ids) << 1)

    def test_each_dump_is_read_once(self):
        """What is said of a folder while its dumps are read is said once."""
        folder = self.folder / "folder"
        folder.mkdir()
        shutil.copy(self.app, folder)
        (folder / "empty").touch()
        for verb in ("sched", "script", "flamegraph"):
            result = run(verb, "--couplebreak", folder, "-o", self.folder / "out")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stderr.count("empty file skipped"), 1, (verb, result.stderr))

    def test_the_table_is_the_same_with_and_without(self):
        path, _ = self.trace(1, 400)
        self.assertEqual(self.json(path)["threads"], self.json("--couplebreak", path)["threads"])
        self.assertNotIn("streams", self.json(path))

    def test_a_literal_name_goes_before_a_pattern(self):
        path, want = self.trace(2, 400)
        got = self.json("--couplebreak", "--event=couplebreak/sched_switch[target]", path)["events"]
        self.assertEqual(len(got), sum(row[1] == -10000 for row in want))
        self.assertEqual({event["id"] for event in got}, {-10000})

    def test_csv_has_the_events_of_json(self):
        path, _ = self.trace(2, 60)
        rows = list(csv.DictReader(io.StringIO(self.sched("--couplebreak", "--format=csv", path))))
        want = [{key: "" if value is None else str(value) for key, value in event.items()}
                for event in self.json("--couplebreak", path)["events"]]
        self.assertEqual(rows, want)
        self.assertGreater(len(rows), 60)

    def test_threads_are_chosen_as_in_every_view(self):
        path, want = self.trace(2, 400)
        tid = next(row[2] for row in want if row[2])
        got = [event["pid"] for event in self.json("--couplebreak", f"--thread={tid}", path)["events"]]
        self.assertEqual(got, [tid] * sum(row[2] == tid for row in want))
        name = next(row["comm"] for row in self.json(path)["threads"] if row["tid"] == tid)
        for option in (f"--thread={name}", f"--comm={name}"):
            self.assertIn(tid, [event["pid"] for event in self.json("--couplebreak", option, path)["events"]])
            self.assertEqual(len(self.sched("--couplebreak", option, path).splitlines()) - 1,
                             len(self.good("script", "--couplebreak", "--no-header", option, path).splitlines()))

    def test_script_has_each_entry_once_and_targets_only_if_asked(self):
        path, want = self.trace(6, 400)
        plain = self.good("script", path).splitlines()
        both = self.good("script", "--couplebreak", path).splitlines()
        self.assertEqual((len(plain), len(both)), (sum(row[1] > 0 for row in want), len(want)))
        self.assertEqual([line for line in both if "[target]" not in line], plain)

    def test_dumps_have_no_couples_without_tracepoints_and_say_so(self):
        self.assertRegex(self.sched("--couplebreak", self.app), r"^no couples: .*app.dump")
        self.assertEqual(self.json("--couplebreak", self.app)["streams"][0]["flags"], 0)

    def test_a_stream_that_is_not_there_is_refused(self):
        path, _ = self.trace(7, 5)
        self.assertIn("there is no stream 4711", self.refused("--couplebreak=4711", path))

    def test_a_saved_view_is_shown_again(self):
        path, _ = self.trace(3, 60)
        view = self.folder / "view.json"
        shown = self.sched("--couplebreak", f"--save={view}", "--time=0..1s", path)
        self.assertEqual(self.sched(f"--load={view}"), shown)
        saved = json.loads(view.read_text())
        del saved["streams"][0]["couplebreak"]
        view.write_text(json.dumps(saved))
        self.assertNotIn("couplebreak", self.sched(f"--load={view}"))

    def test_a_saved_view_that_is_wrong_is_refused_by_its_fault(self):
        path, _ = self.trace(4, 60)
        view = self.folder / "view.json"
        self.sched("--couplebreak", f"--save={view}", path)
        good = json.loads(view.read_text())
        for key, value, why in [("couplebreak", 1, "streams[0].couplebreak is neither true nor false"),
                                ("couplebreak", None, "streams[0].couplebreak is neither true nor false"),
                                ("pid", 7, "holds another process than pid 7"),
                                ("path", str(self.folder / "none"), "none"),
                                ("start_ns", "x", "streams[0].start_ns is no time")]:
            with self.subTest(key=key, value=value):
                view.write_text(json.dumps({**good, "streams": [{**good["streams"][0], key: value}]}))
                self.assertIn(why, self.refused(f"--load={view}"))
        view.write_text("no JSON")
        self.assertIn(f"{view}: ", self.refused(f"--load={view}"))

    def test_what_zlib_packed_is_the_same(self):
        for seed, level in [(1, 0), (2, 1), (3, 9), (8, 6)]:
            cores, names = made_trace.generate(random.Random(seed), 400)
            path, packed = self.folder / "plain.dat", self.folder / "packed.dat"
            path.write_bytes(made_trace.build(cores, names))
            data = made_trace.build(cores, names, level)
            packed.write_bytes(data)
            with self.subTest(seed=seed, level=level):
                self.assertEqual(self.good("script", "--couplebreak", packed), self.good("script", "--couplebreak", path))
            for at in random.Random(seed).sample(range(40, len(data)), 20):
                packed.write_bytes(data[:at])
                self.assertRegex(self.refused(packed), r"\(at byte \d+\)")

    def test_cycles_become_ns_as_the_file_says(self):
        cores, names = made_trace.generate(random.Random(9), 60)
        far = {cpu: [(time + (1 << 60), event) for time, event in events] for cpu, events in cores.items()}
        path = self.folder / "cycles.dat"
        for mult, shift in [(858993459, 31), (1 << 31, 0), (0xffffffff, 40)]:
            path.write_bytes(made_trace.build(far, names, options=[(14, struct.pack("<IIQ", mult, shift, 0))]))
            got = self.json("--couplebreak", path)["events"]
            want = [row[0] * mult >> shift & (1 << 64) - 1 for row in made_trace.model(far)]
            with self.subTest(mult=mult, shift=shift):
                self.assertEqual(sorted(e["time_ns"] for e in got), sorted(want))

    def switches(self, *rows):
        """Of core 0: (time, who leaves, state, who comes)."""
        comm = b"task".ljust(16, b"\0")
        return {0: [(time, struct.pack("<HBBi", 316, 0, 0, prev) + comm + struct.pack("<iiq", prev, 120, state) + comm
                     + struct.pack("<ii", nxt, 120)) for time, prev, state, nxt in rows]}

    def test_lost_events_are_counted_and_who_was_there_is_unknown(self):
        rows = [(10, 0, 0, 7), (5000, 8, 1, 0), (5500, 0, 0, 7), (6000, 7, 1, 0)]
        path, names = self.folder / "lost.dat", {7: "seven", 8: "eight"}
        for number, want in [(41, 41), (0, 1)]:
            path.write_bytes(made_trace.build(self.switches(*rows), names, lost={0: (1, number)}))
            got = self.json(path)
            self.assertEqual(got["notes"]["switches_lost"], want)
            self.assertIn(f"{want} events were lost", run("script", path).stderr)
            threads = {thread["tid"]: thread for thread in got["threads"]}
            keys = ("life_ns", "running_ns", "unknown_ns")
            self.assertEqual([threads[7][key] for key in keys], [5990, 500, 5490])
            self.assertEqual(threads[8]["running_ns"], 0)

    def test_only_the_time_that_is_asked_for(self):
        path = self.folder / "part.dat"
        path.write_bytes(made_trace.build(self.switches((1000, 0, 0, 7), (5000, 7, 1, 8), (9000, 8, 1, 0)),
                                          {7: "seven", 8: "eight"}))
        for time in ("2us..6us", "@3us..@7us"):
            threads = {thread["tid"]: thread for thread in self.json(f"--time={time}", path)["threads"]}
            self.assertEqual([threads[tid]["running_ns"] for tid in (7, 8)], [2000, 2000])
            events = self.json("--couplebreak", f"--time={time}", path)["events"]
            self.assertEqual([event["time_ns"] for event in events], [5000, 5000])

    def test_a_trace_that_is_cut_is_refused_with_the_place(self):
        path, _ = self.trace(5, 60)
        data = path.read_bytes()
        cut = self.folder / "cut.dat"
        for size in list(range(12, 40)) + random.Random(5).sample(range(40, len(data)), 40) + [len(data) - 1]:
            with self.subTest(size=size):
                cut.write_bytes(data[:size])
                self.assertRegex(self.refused("--couplebreak", cut), r"\(at byte \d+\)")

    def test_processes_of_a_dump_are_more_than_files_that_may_be_open(self):
        """Of each more entries than stay in memory once 262144 do."""
        dump, path = packed_dump.Dump(), self.folder / "many.dump"
        counts = [131_072] + [2100] * 60
        for pid, count in enumerate(counts, 1):
            if pid > 1:
                dump.next_process()
            dump.begin(pid)
            for first in range(0, count, 32_768):
                part = min(32_768, count - first)
                times = packed_dump.steps(part, 40 * first, 40)
                dump.named("RUNS", part, {"tid": pid, "length_ns": 10, "time_ns": times})
                dump.flush(packed_dump.ZSTD)
        path.write_bytes(dump.end())
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, before)
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, before[1]))
        for pid in (2, 31, 61):
            rows = json.loads(self.good("sched", "--couplebreak", "--format=json", f"--process={pid}", path))["events"]
            times = [[row["time_ns"] - rows[0]["time_ns"], row["pid"]] for row in rows]
            self.assertEqual(times, [[40 * i + at, pid] for i in range(2100) for at in (0, 10)])


if __name__ == "__main__":
    main()
