#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What yarnprof report prints of dumps of known content."""

import contextlib
import csv
import io
import json
import pathlib
import re
import sqlite3
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "support"))

from command_line import WithDumps, main
from packed_dump import Dump, constant, varint

REPORT = """\
/usr/bin/app --fast 'it'\\''s'
100.0 ms, pid 100, 2 threads, sampled by perf, user and kernel
warning: 5.9 % of the stacks are cut: their outer part is [truncated]; the most that the kernel \
copies is YARN_CALLGRAPH=dwarf:65528
warning: 4.0 % of the samples have no stack: their callers are unknown
warning: cycles: refused: No such file or directory

cpu-clock: 100 samples, 100.0 ms

    SELF     TOTAL        TIME  FUNCTION       MODULE
 60.00 %   90.00 %     60.0 ms  hot            app
 30.00 %   30.00 %     30.0 ms  ns::warm(int)  libx.so.1
  6.00 %    6.00 %      6.0 ms  app+0x1a00     app
  4.00 %    4.00 %      4.0 ms  [no stack]     [unknown]
  0.00 %   90.00 %        0 ns  _start         app
  0.00 %   90.00 %        0 ns  main           app
  0.00 %    6.00 %        0 ns  [truncated]    [unknown]
  0.00 %    6.00 %        0 ns  deep\\x1b[31m   app
  0.00 %    6.00 %        0 ns  outer          app

page-faults: 1 sample, 3 events

    SELF     TOTAL       COUNT  FUNCTION  MODULE
100.00 %  100.00 %           3  hot       app
  0.00 %  100.00 %           0  _start    app
  0.00 %  100.00 %           0  main      app
"""

MISSING = """\
    SELF     TOTAL        TIME  FUNCTION  MODULE
100.00 %  100.00 %     10.0 ms  hot       missing
  0.00 %  100.00 %        0 ns  main      missing
 20.00 %                2.0 ms  [lost]  2 samples
 20.00 %                3.0 ms  [unsampled]  of the CPU time
"""

KERNEL = """\
    SELF     TOTAL        TIME  FUNCTION  MODULE
100.00 %  100.00 %     10.0 ms  hot       kernel
  0.00 %  100.00 %        0 ns  main      kernel
 75.00 %               30.0 ms  [kernel]  of the CPU time
"""

SIDE = """\
         cpu-clock         page-faults
    SELF     TOTAL      SELF     TOTAL  FUNCTION  MODULE
100.00 %  100.00 %                      hot       missing
  0.00 %  100.00 %    0.00 %  100.00 %  main      missing
                    100.00 %  100.00 %  grow      missing
 20.00 %                                [lost]
 20.00 %                                [unsampled]
"""

TREE = """\
   TOTAL      SELF  FUNCTION  MODULE
 90.00 %            ├─ _start  app
 90.00 %            │  main
 90.00 %   60.00 %  │  hot
 30.00 %   30.00 %  │  ns::warm(int)  libx.so.1
  6.00 %            ├─ [truncated]
  6.00 %            │  outer  app
  6.00 %            │  deep\\x1b[31m
  6.00 %    6.00 %  │  app+0x1a00
  4.00 %    4.00 %  └─ [no stack]
"""

CALLERS = """\
   TOTAL      SELF  FUNCTION  MODULE
 90.00 %   60.00 %  hot  app
 90.00 %            main
 90.00 %            _start
"""


class Report(WithDumps):
    def test_a_dump_is_not_written_over(self):
        dump = self.app
        before = dump.read_bytes()
        for verb in ["report"], ["export", "--to=folded"], ["export", "--to=sqlite"], ["flamegraph"]:
            self.assertIn("is itself one of the dumps", self.bad(1, *verb, dump, "-o", dump))
            self.assertEqual(dump.read_bytes(), before)

    def test_text(self):
        self.assertEqual(self.good("report", self.app), REPORT)

    def test_an_empty_tree_says_so(self):
        nothing = ["--thread=worker", "--event=page-faults", self.app]
        text = self.good("report", "--callers=hot", *nothing)
        self.assertIn("Nothing that is looked at has 1 % or more; --percent-limit=0", text)
        text = self.good("report", "--callers=hot", "--percent-limit=0", *nothing)
        self.assertIn("Nothing that is looked at has a sample.", text)

    def test_no_calls_say_so(self):
        text = self.good("report", "--calls", self.app)
        self.assertIn("\nNo calls were counted: events such as uprobe:PATH:SYMBOL ", text)
        self.assertNotIn("probes themselves", text)

    def test_tree(self):
        self.assertIn(TREE, self.good("report", "--tree", self.app))

    def test_callers_of_one(self):
        text = self.good("report", "--callers=hot", "--event=cpu-clock", self.app)
        self.assertTrue(text.endswith(CALLERS), text)

    def test_shared_counters_are_marked(self):
        """Two events of one name take turns on a machine with two kinds of core: together they ran
        all the time, and are not marked."""
        dump = Dump()
        dump.begin()
        for number, name, running in ((1, "shared", 50), (2, "cycles", 30), (3, "cycles", 70)):
            dump.record("EVENT", number=number, name=dump.text(name), got=dump.text(name),
                        unit=dump.text("events"), type=4, period=10)
            dump.record("COUNT", event=number, count=400, time_enabled_ns=100,
                        time_running_ns=running)
            dump.samples(1, stream={"event": number, "tid": 1, "weight": 10})
        path = self.folder / "shared.dump"
        path.write_bytes(dump.end())
        text = self.good("report", path)
        self.assertIn("shared: 1 sample, 10 events, running 50.0 % of the time, not scaled\n", text)
        self.assertRegex(text, r"(?m)^cycles: 2 samples, 20 events$")
        self.assertIn("running 50.0 % of the time, scaled to 800", self.good("info", path))
        events = json.loads(self.good("report", "--format=json", path))["events"]
        self.assertEqual({event["name"]: event.get("percent_running") for event in events},
                         {"cpu-clock": None, "shared": 50, "cycles": None})

    def test_weights_beyond_the_count_are_marked(self):
        """In frequency mode the kernel raises the period of a burst of faults before they have come."""
        dump = Dump()
        dump.begin()
        for number, name, count in ((1, "burst", 400), (2, "steady", 990), (3, "uncounted", None)):
            dump.record("EVENT", number=number, name=dump.text(name), got=dump.text(name),
                        unit=dump.text("events"), type=1, frequency=999, flags=2)
            if count:
                dump.record("COUNT", event=number, count=count)
            dump.samples(10, stream={"event": number, "tid": 1, "weight": 100})
        path = self.folder / "burst.dump"
        path.write_bytes(dump.end())
        text = self.good("report", path)
        self.assertIn(
            "burst: 10 samples, 1,000 events by their periods, 400 counted (/period=N/ is exact)\n", text)
        self.assertRegex(text, r"(?m)^steady: 10 samples, 1,000 events$")
        self.assertRegex(text, r"(?m)^uncounted: 10 samples, 1,000 events$")
        events = json.loads(self.good("report", "--format=json", path))["events"]
        self.assertEqual({event["name"]: event.get("counted") for event in events},
                         {"cpu-clock": None, "burst": 400, "steady": None, "uncounted": None})
        self.assertNotIn(" counted ", self.good("report", "--thread=1", path))

    def test_counts_of_two_kinds_of_core_are_one(self):
        """In stat; what was typed twice stays two. The kinds take turns: each is enabled all the time."""
        dump = Dump()
        dump.begin()
        configs = ((1, 0x4_00000000), (2, 0xA_00000000), (3, 0x4_00000000), (4, 0xA_00000000))
        for number, config in configs:
            name = "cycles" if number < 3 else "cycles #2"
            dump.record("EVENT", number=number, name=dump.text(name), asked=dump.text("cycles"),
                        got=dump.text("cycles"), unit=dump.text("cycles"), config=config, flags=32)
        for nr in (1, 2):
            for number, running in ((1, 60), (2, 40), (3, 60), (4, 20)):
                dump.record("COUNT", event=number, time_ns=nr * 10**8, count=nr * 1000 * number,
                            time_enabled_ns=nr * 10**8, time_running_ns=nr * running * 10**6)
        path = self.folder / "kinds.dump"
        path.write_bytes(dump.end())
        stat = json.loads(self.good("stat", "--format=json", path))
        self.assertEqual([row["count"] for row in stat["events"]], [6000, 14000])
        self.assertEqual([row["scaled"] for row in stat["events"]], [6000, 17500])
        self.assertEqual([[row["count"] for row in interval["events"]] for interval in stat["intervals"]],
                         [[3000, 7000]] * 2)

    def test_json_rows(self):
        report = json.loads(self.good("report", "--format=json", self.app))
        self.assertEqual(
            report["events"][:1],
            [{"name": "cpu-clock", "unit": "ns", "total": 100_000_000, "samples": 100}],
        )
        self.assertEqual([event["name"] for event in report["events"]], ["cpu-clock", "page-faults"])
        first = report["rows"][0]
        self.assertEqual(first["event"], "cpu-clock")
        self.assertEqual(first["function"], "hot")
        self.assertEqual(first["module"], "app")
        self.assertEqual((first["self"], first["total"]), (60_000_000, 90_000_000))
        self.assertEqual((first["self_percent"], first["total_percent"]), (60, 90))
        self.assertEqual(first["samples"], 60)
        order = [(-row["self"], row["function"]) for row in report["rows"] if row["event"] == "cpu-clock"]
        self.assertEqual(order, sorted(order))
        self.assertEqual(sum(row["self"] for row in report["rows"][: len(order)]), 100_000_000)
        for key, value in {"lost": 0, "unsampled_ns": 0, "truncated": 6}.items():
            self.assertEqual(report["notes"][key], value)

    def test_json_of_each_key(self):
        for by, key, names in [
            ("module", "module", {"app", "libx.so.1", "[unknown]"}),
            ("thread", "thread", {"app", "worker"}),
            ("process", "process", {"app"}),
            ("cpu", "cpu", {0, 1}),
            ("event", "event", {"cpu-clock", "page-faults"}),
        ]:
            with self.subTest(by=by):
                rows = json.loads(self.good("report", "--format=json", f"--by={by}", self.app))["rows"]
                self.assertEqual({row[key] for row in rows}, names)
                self.assertLessEqual({"function", "module", "self", "total", "samples"}, set(rows[0]))

    def test_json_tree_is_a_list_in_reading_order(self):
        report = json.loads(self.good("report", "--tree", "--format=json", self.app))
        self.assertEqual(report["rows"][0]["function"], "hot")
        path = [(node["depth"], node["function"]) for node in report["tree"][:5]]
        self.assertEqual(
            path, [(0, None), (1, "_start"), (2, "main"), (3, "hot"), (4, "ns::warm(int)")]
        )
        ids = {node["id"] for node in report["tree"]}
        self.assertTrue(all(node["parent"] in ids | {None} for node in report["tree"]))

    def test_limit_cuts_json_only_if_given(self):
        report = json.loads(self.good("report", "--format=json", "--limit=1", self.app))
        self.assertEqual([row["event"] for row in report["rows"]], ["cpu-clock", "page-faults"])
        many = self.folder / "more/many.dump"
        self.assertIn("… and 21 more rows; --limit=0 shows all", self.good("report", many))
        self.assertEqual(len(json.loads(self.good("report", "--format=json", many))["rows"]), 61)
        text = self.good("report", "--limit=1", "--event=cpu-clock", self.app)
        self.assertIn("… and 8 more rows; --limit=0 shows all", text)

    def test_branches_are_the_same_in_each_form(self):
        dump = Dump()
        dump.begin()
        name = dump.text("cycles")
        dump.record("EVENT", number=1, name=name, asked=name, got=name, unit=dump.text("events"), type=4, period=10)
        dump.batch("SYMBOLS", 0, 2, constant(0), (4096, 8192), constant(256), (dump.text("hot"), dump.text("warm")))
        dump.flush()
        dump.batch("FRAMES", 0, 2, (0, 1), constant(0), (4, 16))
        dump.flush()
        dump.named("BRANCHES", 2, {"event": 1, "tid": 1, "from": (1, 2), "to": (2, 0), "count": (1234, 5),
                                   "mispredicted": (12, 0), "cycles": (100, 0)})
        path = self.folder / "branches.dump"
        path.write_bytes(dump.end())
        rows = json.loads(self.good("report", "--by=branch", "--format=json", path))["rows"]
        self.assertEqual([(row["from_offset"], row["to_offset"]) for row in rows], [(4, 16), (16, None)])
        read = csv.DictReader(io.StringIO(self.good("report", "--by=branch", "--format=csv", path)))
        self.assertEqual(list(read), [{key: "" if value is None else str(value) for key, value in row.items()}
                                      for row in rows])
        self.assertIn("         1,234              12             100  hot+0x4 -> warm+0x10\n"
                      "             5               0               -  warm+0x10 -> [unknown]\n",
                      self.good("report", "--by=branch", path))

    def test_csv(self):
        rows = list(csv.DictReader(io.StringIO(self.good("report", "--format=csv", self.app))))
        self.assertEqual(rows[0]["function"], "hot")
        self.assertEqual(rows[1]["function"], "ns::warm(int)")
        self.assertEqual(rows[1]["self"], "30000000")
        self.assertEqual(float(rows[1]["self_percent"]), 30.0)

    def test_csv_has_what_json_has(self):
        for form in [], ["--by=line"], ["--tree"], ["--callers"]:
            rows = json.loads(self.good("report", "--format=json", *form, self.app))
            rows = rows.get("tree", rows.get("callers", rows["rows"]))
            header = self.good("report", "--format=csv", *form, self.app).splitlines()[0].split(",")
            self.assertLessEqual({key for row in rows for key in row}, {*header}, form)
            self.assertEqual(header[-3:], ["total_samples", "module_path", "inlined"], form)

    def test_a_folder_is_one_profile(self):
        report = json.loads(self.good("report", "--format=json", "--by=process", self.folder))
        self.assertEqual(
            {row["process"]: row["self"] for row in report["rows"] if row["event"] == "cpu-clock"},
            {"app": 100_000_000, "child": 100_000_000, "cut": 20_000_000},
        )

    def test_output_goes_to_a_file(self):
        target = self.folder / "out.json"
        self.assertEqual(self.good("report", "--format=json", "-o", target, self.app), "")
        self.assertEqual(json.loads(target.read_text())["rows"][0]["function"], "hot")
        target.unlink()
        self.assertIn("no/such", self.bad(1, "report", "-o", "/no/such/file", self.app))

    def test_colors(self):
        self.assertIn("\033[31m", self.good("report", "--color=always", self.app))
        self.assertNotIn("\033", self.good("report", "--color=never", self.app))
        self.assertNotIn("\033", self.good("report", self.app, NO_COLOR="1", TERM="xterm"))


class Missing(WithDumps):
    def setUp(self):
        self.missing = self.folder / "more/missing.dump"

    def test_lost_and_unsampled_time_have_rows(self):
        self.assertIn(MISSING, self.good("report", self.missing))
        by_thread = self.good("report", "--by=thread", self.missing)
        self.assertIn(" 20.00 %           2      2.0 ms  [lost]  2 samples\n", by_thread)

    def test_where_there_is_nothing_else(self):
        text = self.good("report", self.folder / "more/silent.dump")
        self.assertIn("warning: there is no sample", text)
        self.assertRegex(text, r"\n100.00 % +7\.0 ms  \[unsampled\]  of the CPU time\n")

    def test_one_list_is_in_the_report_and_in_the_verdict(self):
        """Switch records that were cut out, blocked time that nobody looked at, a clock that counted too much."""
        dump = Dump()
        dump.begin()
        text = dump.text("off-cpu")
        dump.record("EVENT", number=1, name=text, asked=text, got=text, unit=dump.text("ns"), flags=256,
                    period=10**6)
        dump.samples(100, stream={"weight": 10**6})
        dump.samples(1, stream={"event": 1, "tid": 1, "weight": 3 * 10**8})
        dump.record("SWITCHES", time_ns=10**8, is_on=0)
        dump.record("SWITCHES", time_ns=6 * 10**8, is_on=1)
        # samples, complete, cpu_ns, kernel_ns, waited_ns
        totals = {0: 101, 4: 101, 11: 5 * 10**7, 22: 2 * 10**7, 31: 10**9}
        dump.record("TOTALS", time_ns=10**9, tail=b"".join(varint(key) + varint(value)
                                                          for key, value in totals.items()))
        path = self.folder / "completeness.dump"
        path.write_bytes(dump.end())
        completeness = {row["key"]: row for row in json.loads(self.good("report", "--format=json", path))["notes"]["completeness"]}
        self.assertEqual(completeness["blocked_unseen_ns"]["count"], 7 * 10**8)
        self.assertEqual(completeness["switches_cut_ns"]["count"], 5 * 10**8)
        self.assertEqual(completeness["overcounted_ns"]["count"], 7 * 10**7)
        for what in ("700.0 ms of blocked time was not looked at (70.0 %)", "without switch records",
                     "more than the CPU time was sampled"):
            self.assertIn(what, self.good("report", path))
        verdict = self.good("verify", "--trust", path)
        page, database = self.folder / "completeness.html", self.folder / "completeness.sqlite"
        self.good("flamegraph", path, "-o", page)
        self.good("export", "--to=sqlite", path, "-o", database)
        with contextlib.closing(sqlite3.connect(database)) as opened:
            meta = dict(opened.execute("SELECT key, value FROM meta"))
        info = json.loads(self.good("info", "--format=json", path))
        self.assertEqual(info["completeness"], list(completeness.values()))
        (extra,) = json.loads(self.good("export", "--to=firefox", path))["meta"]["extra"]
        self.assertEqual({entry["label"]: entry["value"] * (10**6 if entry["format"] == "duration" else 1)
                          for entry in extra["entries"]},
                         {row["what"]: row["count"] for row in completeness.values()})
        self.assertIn("  700.0 ms of blocked time was not looked at", self.good("info", path))
        for row in completeness.values():
            self.assertIn(f"  {row['what']}", verdict)
            self.assertIn(f" {row['what']}", self.good("info", path).partition("Missing")[2])
            self.assertIn(row["what"], page.read_text().partition("<dt>Missing</dt>")[2])
            self.assertIn(row["what"], meta[f"missing.{row['key']}"])

    def test_time_in_the_kernel_has_rows(self):
        kernel = self.folder / "more/kernel.dump"
        text = self.good("report", kernel)
        self.assertIn(KERNEL, text)
        self.assertIn("sampled by perf, user only\nwarning: 75.0 % of the CPU time was spent in the "
                      "kernel, which may not be sampled: kernel.perf_event_paranoid=1 or "
                      "CAP_PERFMON lets it be sampled, --sampler=timer charges it to the calls\n", text)
        self.assertIn(" 75.00 %                 30.0 ms  [kernel] in kernel  1100  of the CPU time\n",
                      self.good("report", "--by=process", kernel))
        self.assertIn(" 75.00 %                 30.0 ms  [kernel] in kernel  1100  of the CPU time\n",
                      self.good("report", "--by=thread", kernel))
        report = json.loads(self.good("report", "--by=process", "--format=json", kernel))
        self.assertEqual(report["notes"]["kernel_ns"], 30_000_000)
        self.assertEqual(report["notes"]["unsampled_ns"], 0)
        self.assertEqual([row["kernel_ns"] for row in report["notes"]["kernel"]], [30_000_000])
        self.assertIn("75.0 % of the CPU time was spent in the [kernel]",
                      self.good("flamegraph", kernel))
        self.assertIn("in the kernel        30.0 ms   75.00 %", self.good("info", kernel))
        self.assertIn("user only, the kernel is not permitted", self.good("info", kernel))

    def test_why_time_is_unsampled(self):
        reasons = self.folder / "more/reasons.dump"
        reported = ["3.0 ms  in lost samples", "20.0 ms  in children that ended unrecorded",
                "10.0 ms  before the recording began",
                "12.0 ms  in context switches, where no event runs",
                "4.0 ms  while the sampler's signal was blocked or held back",
                "500.0 us  in threads shorter than a period",
                "40.0 ms  in threads that could not be sampled",
                "3.0 ms  in less than a period a thread and core"]
        text = self.good("report", reasons)
        self.assertIn("warning: 100.0 ms of CPU time passed unsampled (50.0 %)\n", text)
        self.assertIn("note: of the unsampled time " + ", ".join(reported).replace("  ", " ")
                      + ", 7.5 ms for unknown reasons\n", text)
        info = self.good("info", reasons)
        for line in reported:
            self.assertIn(f" {line}\n", info)
        notes = json.loads(self.good("report", "--format=json", reasons))["notes"]
        self.assertEqual(list(notes["unsampled"].values()),
                         [3_000_000, 20_000_000, 10_000_000, 12_000_000, 4_000_000, 500_000,
                          40_000_000, 3_000_000, 7_500_000])
        self.assertEqual(sum(notes["unsampled"].values()), notes["unsampled_ns"])
        part = json.loads(self.good("report", "--format=json", "--time=0..1", reasons))["notes"]
        self.assertNotIn("unsampled", part)
        page = self.good("flamegraph", reasons)
        for line in reported:
            self.assertIn(line.split("  ")[1], page)
        self.assertNotIn("context switches", self.good("flamegraph", "--time=0..1", reasons))

    def test_how_much_may_be_missing_of_a_recording_without_an_end(self):
        """The dump states how late it may be."""
        killed = self.folder / "more/killed.dump"
        self.assertIn("warning: the recording did not end cleanly: the end is missing, up "
                      "to 100.0 ms\n", self.good("report", killed))
        self.assertIn("cut off, and lacks its last moments, up to 100.0 ms\n",
                      self.good("info", killed))
        self.assertIn("cut off, and lacks up to 0.100 s of its end", self.good("flamegraph", killed))
        for dump, lacks in ((killed, 100_000_000), (self.app, 0)):
            notes = json.loads(self.good("report", "--format=json", dump))["notes"]
            self.assertEqual(notes["unwritten_ns"], lacks)

    def test_no_part_is_more_than_the_whole(self):
        too_much = self.folder / "more/too_much.dump"
        for view in (["report"], ["report", "--by=thread"], ["report", "--by=process"], ["info"],
                     ["report", "--tree"], ["flamegraph"]):
            text = self.good(*view, too_much)
            for percent in re.findall(r"([0-9,.]+) %", text):
                self.assertLessEqual(float(percent.replace(",", "")), 100, view)

    def test_machines_are_laid_side_by_side(self):
        machines = self.folder / "machines"
        text = self.good("report", machines)
        self.assertIn("note: times of 2 machines are laid side by side by their clocks of real "
                      "time, and are as exact as those agree\n", text)
        self.assertRegex(text, r"\n10\.0 ms, 2 dumps")
        self.assertIn("2 machines' times side by side by real time", self.good("info", machines))
        self.assertNotIn("machines'", self.good("info", machines / "one.dump"))

    def test_not_of_a_part(self):
        for option in ("--time=0..1s", "--thread=500", "--function=hot"):
            self.assertNotIn("[lost]", self.good("report", option, self.missing))

    def test_json_has_notes_instead(self):
        report = json.loads(self.good("report", "--format=json", self.missing))
        self.assertEqual({row["function"] for row in report["rows"]}, {"hot", "main", "grow"})
        self.assertEqual(report["notes"]["lost"], 2)
        self.assertEqual(report["notes"]["unsampled_ns"], 5000000)

    def test_time_in_which_recording_was_stopped(self):
        stopped = self.folder / "more/stopped.dump"
        self.assertIn("note: recording was stopped for 30.0 ms of 40.0 ms (75.0 %), in which 15.0 ms "
                      "of CPU time passed\n", self.good("report", stopped))
        notes = json.loads(self.good("report", "--format=json", stopped))["notes"]
        self.assertEqual((notes["stopped_ns"], notes["stopped_cpu_ns"]), (30_000_000, 15_000_000))
        self.assertIn("15.0 ms  of CPU time passed while recording was stopped (60.00 %)",
                      self.good("verify", "--trust", stopped))
        self.assertNotIn("stopped for", self.good("report", self.app))
        self.assertIn("<span>75.0 % of the time recording was stopped</span>",
                      self.good("flamegraph", stopped))

    def test_events_side_by_side(self):
        self.assertIn(SIDE, self.good("report", "--side-by-side", self.missing))
        short = self.good("report", "--side-by-side", "--limit=1", self.missing)
        self.assertIn("… and 2 more rows", short)


if __name__ == "__main__":
    main()
