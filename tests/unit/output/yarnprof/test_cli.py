#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What yarnprof prints of dumps of known content, and how it ends."""

import base64
import collections
import csv
import io
import itertools
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

YARNPROF = os.environ["YARN_TEST_YARNPROF"]
MAKE_DUMPS = os.environ["YARN_TEST_MAKE_DUMPS"]
MAN = pathlib.Path(__file__).resolve().parents[4] / "output/yarnprof/man"
VERBS = [
    "record", "report", "annotate", "script", "diff", "flamegraph", "export", "merge", "info",
    "verify",
]  # fmt: skip

TRUST_KEYS = {
    "samples", "lost", "throttled", "foreign", "stacks_complete", "stacks_joined",
    "stacks_truncated", "stacks_no_unwind_info", "stacks_failed", "stacks_none",
    "frames_unknown", "cpu_ns", "unsampled_ns", "drain_cpu_ns", "memory_bytes",
    "bytes_written", "clean_end",
}  # fmt: skip

REPORT = """\
/usr/bin/app --fast 'it'\\''s'
100.0 ms, pid 100, 2 threads, sampled by perf
warning: 5.9 % of the stacks are cut: their outer part is [truncated]; a greater \
YARN_CALLGRAPH=dwarf:BYTES holds more
warning: 4.0 % of the samples have no stack: their callers are unknown

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
 30.00 %                3.0 ms  [unsampled]
"""

SIDE = """\
         cpu-clock         page-faults
    SELF     TOTAL      SELF     TOTAL  FUNCTION  MODULE
100.00 %  100.00 %                      hot       missing
  0.00 %  100.00 %    0.00 %  100.00 %  main      missing
                    100.00 %  100.00 %  grow      missing
 20.00 %                                [lost]
 30.00 %                                [unsampled]
"""

TREE = """\
   TOTAL      SELF  FUNCTION  MODULE
 90.00 %            ├─ _start  app
 90.00 %            │  main
 90.00 %   60.00 %  │  hot
 30.00 %   30.00 %  │  ns::warm(int)  libx.so.1
  6.00 %            ├─ [truncated]
  6.00 %            │  outer  app  [joined]
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

SCRIPT_SAMPLE = """\
worker     100/101     [000]  1000.061000:    1000000 cpu-clock: 
\t            1310 ns::warm(int)+0x10 (/lib/libx.so.1)
\t            1210 hot+0x10 (/usr/bin/app)
\t            1110 main+0x10 (/usr/bin/app)
\t            1010 _start+0x10 (/usr/bin/app)

"""  # noqa: W291

SCRIPT_CUT = """\
\t            1a10 app+0x1a00+0x10 (/usr/bin/app)
\t            1510 deep\\x1b[31m+0x10 (/usr/bin/app)
\t            1410 outer+0x10 (/usr/bin/app) [joined]
\t               0 [truncated] ([unknown])

"""


def run(*arguments, **settings):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("YARN")}
    environment.update(settings)
    environment.pop("COLUMNS", None)
    return subprocess.run(
        [YARNPROF, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        env=environment,
        text=True,
        check=False,
    )


class WithDumps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="yarn_cli."))
        subprocess.run([MAKE_DUMPS, cls.folder], check=True)
        cls.app = cls.folder / "app.dump"

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def good(self, *arguments, **settings):
        result = run(*arguments, **settings)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        return result.stdout

    def bad(self, status, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, status, result)
        self.assertNotEqual(result.stderr, "")
        return result.stderr


class Report(WithDumps):
    def test_text(self):
        self.assertEqual(self.good("report", self.app), REPORT)

    def test_an_empty_tree_says_so(self):
        text = self.good("report", "--callers=nobody", self.app)
        self.assertIn("Nothing that is looked at has 1 % or more; --percent-limit=0", text)
        text = self.good("report", "--callers=nobody", "--percent-limit=0", self.app)
        self.assertIn("Nothing that is looked at has a sample.", text)

    def test_tree(self):
        self.assertIn(TREE, self.good("report", "--tree", self.app))

    def test_callers_of_one(self):
        text = self.good("report", "--callers=hot", "--event=cpu-clock", self.app)
        self.assertTrue(text.endswith(CALLERS), text)

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
        text = self.good("report", "--limit=1", "--event=cpu-clock", self.app)
        self.assertIn("… and 8 more rows; --limit=0 shows all", text)

    def test_csv(self):
        rows = list(csv.DictReader(io.StringIO(self.good("report", "--format=csv", self.app))))
        self.assertEqual(rows[0]["function"], "hot")
        self.assertEqual(rows[1]["function"], "ns::warm(int)")
        self.assertEqual(rows[1]["self"], "30000000")
        self.assertEqual(float(rows[1]["self_percent"]), 30.0)

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
        self.assertRegex(text, r"\n +7\.0 ms  \[unsampled\]\n")

    def test_not_of_a_part(self):
        for option in ("--time=0..1s", "--thread=500", "--function=hot"):
            self.assertNotIn("[lost]", self.good("report", option, self.missing))

    def test_json_has_notes_instead(self):
        report = json.loads(self.good("report", "--format=json", self.missing))
        self.assertEqual({row["function"] for row in report["rows"]}, {"hot", "main", "grow"})
        self.assertEqual(report["notes"]["lost"], 2)
        self.assertEqual(report["notes"]["unsampled_ns"], 5000000)

    def test_events_side_by_side(self):
        self.assertIn(SIDE, self.good("report", "--side-by-side", self.missing))
        short = self.good("report", "--side-by-side", "--limit=1", self.missing)
        self.assertIn("… and 2 more rows", short)


class Annotate(WithDumps):
    """Of programs that are not there; what real ones look like is in the end-to-end tests."""

    def test_addresses_alone(self):
        text = self.good("annotate", "hot", self.app)
        self.assertIn("hot, in /usr/bin/app\ncpu-clock: 60.00 % in itself (60.0 ms)", text)
        self.assertIn("note: /usr/bin/app is not there: instructions are addresses only", text)
        self.assertRegex(text, r"100\.00 % +60\.0 ms +90\.0 ms +1210\n")

    def test_json(self):
        got = json.loads(self.good("annotate", "--format=json", "--event=cpu-clock", "hot", self.app))
        (site,) = got["instructions"]
        self.assertEqual(site["address"], "0x1210")
        self.assertIsNone(site["instruction"])
        self.assertEqual((site["samples"], site["total_samples"]), (60, 90))
        self.assertEqual(site["function_percent"], 100)
        self.assertEqual(got["build_id"], "abcdef01")

    def test_nothing_foreign_reaches_the_terminal(self):
        text = self.good("annotate", "--color=never", "hot", self.folder / "more/escape.dump")
        self.assertIn("esc\\x1b[31mape", text)
        self.assertNotIn("\x1b", text)

    def test_mistakes(self):
        self.assertIn("nobody", self.bad(1, "annotate", "nobody", self.app))
        self.bad(2, "annotate")
        self.bad(2, "annotate", "hot")
        self.assertIn("text or json", self.bad(2, "annotate", "--format=csv", "hot", self.app))


class Script(WithDumps):
    def test_samples_have_perfs_layout(self):
        text = self.good("script", self.app)
        self.assertIn(SCRIPT_SAMPLE, text)
        self.assertIn(SCRIPT_CUT, text)
        self.assertIn("PERF_RECORD_MMAP2 100/100: [0x400000(0x100000) @ 0x0]: r-xp /usr/bin/app", text)
        self.assertIn("YARN_mark phase 2", text)

    def test_a_folder_reader_for_perf_reads_it(self):
        """As stackcollapse-perf.pl reads: a head line, frames, an empty line."""
        stacks, frames = {}, None
        for line in self.good("script", self.app).splitlines():
            if line.startswith("#"):
                continue
            if not line:
                key = ";".join(reversed(frames))
                stacks[key] = stacks.get(key, 0) + 1
                frames = None
            elif re.match(r"^\S.+?\s+\d+/*\d*\s+", line):
                frames = []
            else:
                match = re.match(r"^\s*(\w+)\s*(.+) \((.*)\)", line)
                self.assertIsNotNone(match, line)
                frames.append(re.sub(r"\+0x[\da-f]+$", "", match.group(2)))
        self.assertEqual(
            stacks,
            {
                "_start;main;hot": 61,
                "_start;main;hot;ns::warm(int)": 30,
                "[truncated];outer;deep\\x1b[31m;app+0x1a00": 6,
                "[no stack]": 4,
            },
        )

    def test_times_never_go_back(self):
        times = re.findall(r" (\d+\.\d{6}): ", self.good("script", self.folder))
        self.assertGreater(len(times), 200)
        self.assertEqual(times, sorted(times, key=float))

    def test_fields(self):
        lines = self.good("script", "--fields=comm,time,event", "--samples", "--no-header", self.app)
        self.assertEqual(lines.splitlines()[0], "app  1000.001000: cpu-clock: ")
        less = self.good("script", "-F", "-ip,-symoff,-dso", self.app)
        self.assertIn("\n\tns::warm(int)\n\thot\n", less)

    def test_filters(self):
        text = self.good("script", "--samples", "--no-header", "--thread=worker", self.app)
        self.assertEqual(text.count("cpu-clock"), 36)
        text = self.good("script", "--samples", "--no-header", "--function=warm", self.app)
        self.assertEqual(text.count("cpu-clock"), 30)
        text = self.good("script", "--samples", "--no-header", "--time=..10ms", self.app)
        self.assertEqual(text.count("cpu-clock"), 10)


class Info(WithDumps):
    def test_json(self):
        dumps = json.loads(self.good("info", "--format=json", self.app))["dumps"]
        self.assertEqual(len(dumps), 1)
        dump = dumps[0]
        process = dump["process"]
        self.assertEqual((process["pid"], process["ppid"]), (100, 1))
        self.assertEqual(process["exe"], "/usr/bin/app")
        self.assertEqual(process["argv"], ["/usr/bin/app", "--fast", "it's"])
        self.assertEqual(process["end_ns"] - process["start_ns"], 100_000_000)
        self.assertEqual((process["exit"], process["exit_status"]), ("exit", 3))
        self.assertIsNone(process["predecessor"])
        self.assertEqual(dump["sampler"]["got"], "perf")
        errors = {event["name"]: event["errno"] for event in dump["events"]}
        self.assertEqual(errors, {"cpu-clock": 0, "page-faults": 0, "cycles": 2})
        self.assertEqual(dump["events"][0]["count"], 100_000_000)
        self.assertEqual([module["build_id"] for module in dump["modules"]], ["abcdef01", None])
        self.assertEqual([thread["comm"] for thread in dump["threads"]], ["app", "worker"])

    def test_trust(self):
        trust = json.loads(self.good("info", "--format=json", self.app))["dumps"][0]["trust"]
        self.assertLessEqual(TRUST_KEYS, set(trust))
        self.assertEqual(trust["samples"], 101)
        self.assertEqual(sum(trust[key] for key in trust if key.startswith("stacks_")), 101)
        self.assertIs(trust["clean_end"], True)

    def test_a_cut_dump_says_so(self):
        dump = json.loads(self.good("info", "--format=json", self.folder / "cut.dump"))["dumps"][0]
        self.assertIs(dump["trust"]["clean_end"], False)
        self.assertIsNone(dump["process"]["exit"])
        self.assertIn("the recording was cut off", self.good("info", self.folder / "cut.dump"))

    def test_text(self):
        text = self.good("info", self.app)
        for line in ["refused: No such file or directory (errno 2)", "abcdef01", "pid             100"]:
            self.assertIn(line, text)


class Merge(WithDumps):
    VIEWS = [
        ["report"], ["report", "--tree"], ["report", "--callers"], ["report", "--time=..50ms"],
        *(["report", f"--by={key}"] for key in ("process", "thread", "module", "cpu", "event")),
        ["script", "--no-header"], ["script", "--no-header", "--time=@1000.02..@1000.05"],
        *(["export", f"--to={to}"] for to in ("folded", "speedscope", "chrome", "callgrind")),
    ]  # fmt: skip

    def setUp(self):
        self.merged = self.folder / "merged"

    def tearDown(self):
        self.merged.unlink(missing_ok=True)

    def assert_same(self, *dumps):
        for view in self.VIEWS:
            with self.subTest(view=view):
                one, many = run(*view, self.merged), run(*view, *dumps)
                self.assertEqual(many.returncode, 0)
                self.assertEqual(one.returncode, 0)
                self.assertEqual(one.stdout, many.stdout)

    def info(self, *dumps):
        return json.loads(self.good("info", "--format=json", *dumps))["dumps"]

    def test_says_the_same_as_the_many(self):
        self.good("merge", self.folder, "-o", self.merged)
        dumps = sorted(self.folder.glob("*.dump"))
        self.assert_same(*dumps)
        many, one = self.info(*dumps), self.info(self.merged)
        self.assertEqual(len(one), 3)
        for single, merged in zip(many, one):
            self.assertEqual([row["path"] for row in merged["merged_from"]], [single["path"]])
            self.assertEqual(merged["merged_from"][0]["bytes"], single["bytes"])
            for key in set(single) - {"path", "bytes", "version", "merged_from"}:
                self.assertEqual(merged[key], single[key])

    def test_merged_dumps_are_merged_again(self):
        half = self.folder / "a_half"  # before cut.dump: all began at the same time
        self.good("merge", self.app, self.folder / "child.dump", "-o", half)
        self.good("merge", half, self.folder / "cut.dump", "-o", self.merged)
        half.unlink()
        self.assert_same(*sorted(self.folder.glob("*.dump")))
        self.assertEqual([len(dump["merged_from"]) for dump in self.info(self.merged)], [1, 1, 1])

    def test_is_the_same_on_standard_output(self):
        self.good("merge", self.folder, "-o", self.merged)
        with open(self.folder / "out", "wb") as file:
            subprocess.run([YARNPROF, "merge", self.folder / "app.dump",
                            self.folder / "child.dump", self.folder / "cut.dump"],
                           stdout=file, check=True)
        self.assertEqual((self.folder / "out").read_bytes(), self.merged.read_bytes())
        (self.folder / "out").unlink()

    def test_what_ends_early_still_does(self):
        self.good("merge", self.folder, "-o", self.merged)
        text = self.good("verify", self.merged)
        self.assertIn("merged: ends early: ", text)
        self.assertIn("1 of 3 recordings were not closed", text)
        self.good("merge", self.app, self.folder / "child.dump", "-o", self.merged)
        self.assertIn("merged: whole: ", self.good("verify", self.merged))

    def test_a_cut_file_is_told(self):
        content = self.app.read_bytes()
        cut = self.folder / "cut_file"
        cut.write_bytes(content[:-10])
        self.assertIn("cut_file: cut: nothing from offset 32 on",
                      run("merge", cut, self.folder / "child.dump", "-o", self.merged).stderr)
        text = self.good("verify", self.merged)
        self.assertIn("merged: ends early: ", text)
        self.assertIn("cut_file, cut: nothing from offset 32 on", text)
        cut.unlink()

    def test_damage_is_told_now_and_later(self):
        content = bytearray(self.app.read_bytes())
        content[len(content) // 2] ^= 0x55
        damaged = self.folder / "damaged"
        damaged.write_bytes(content)
        result = run("merge", damaged, self.folder / "child.dump", "-o", self.merged)
        self.assertEqual(result.returncode, 0)
        self.assertIn("damaged: damaged at offset 32", result.stderr)
        damaged.unlink()
        result = run("verify", self.merged)
        self.assertEqual(result.returncode, 1)
        self.assertIn("merged: damaged: ", result.stdout)
        self.assertIn("damaged, damaged at offset 32: ", result.stdout)
        result = run("report", self.merged)
        self.assertEqual(result.returncode, 0)
        self.assertIn("damaged at offset 32", result.stderr)
        self.assertIn("100 samples", result.stdout)

    def test_is_not_made_of_itself(self):
        self.good("merge", self.folder, "-o", self.merged)
        content = self.merged.read_bytes()
        self.assertIn("is itself one of the dumps", self.bad(1, "merge", self.folder, "-o",
                                                             self.merged))
        self.assertEqual(self.merged.read_bytes(), content)

    def test_nothing_is_left_where_it_fails(self):
        before = sorted(self.folder.iterdir())
        self.bad(1, "merge", self.app, __file__, "-o", self.merged)
        self.assertIn("is a directory", self.bad(1, "merge", self.app, "-o", self.folder).lower())
        self.assertEqual(sorted(self.folder.iterdir()), before)


class Verify(WithDumps):
    def test_whole_and_early(self):
        self.assertIn("app.dump: whole: ", self.good("verify", self.app))
        self.assertIn("cut.dump: ends early: ", self.good("verify", self.folder / "cut.dump"))

    def test_damage(self):
        content = bytearray(self.app.read_bytes())
        content[len(content) // 2] ^= 0x55
        damaged = self.folder / "damaged"
        damaged.write_bytes(content)
        result = run("verify", damaged, self.app)
        self.assertEqual(result.returncode, 1)
        self.assertIn("damaged: damaged", result.stdout)
        self.assertIn("offset 32", result.stdout)
        self.assertIn("app.dump: whole", result.stdout)
        damaged.unlink()

    def test_trust_is_a_gate(self):
        self.assertIn("trusted", self.good("verify", "--trust=10", self.app))
        result = run("verify", "--trust", self.app)
        self.assertEqual(result.returncode, 1)
        self.assertIn("not trusted: 5.94 %", result.stdout)

    def test_what_is_no_dump(self):
        self.assertIn("not a dump of yarn", self.bad(1, "verify", __file__))


PRELOAD = pathlib.Path(YARNPROF).with_name("libyarn_preload.so")


@unittest.skipIf(os.environ.get("YARN_TEST_SANITIZED"),
                 "a sanitizer's runtime must come first: nothing of ours can be preloaded")
@unittest.skipUnless(PRELOAD.exists(), "libyarn_preload.so is not built")
class Record(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="yarn_cli.")
        self.addCleanup(self.folder.cleanup)

    def record(self, *arguments, **settings):
        return run("record", "-o", self.folder.name + "/", *arguments, **settings)

    def test_the_status_is_the_commands(self):
        for command, status in [
            (["sh", "-c", "exit 7"], 7),
            (["sh", "-c", "kill -9 $$"], 137),
            (["/no/such/command"], 127),
            (["no_such_command_anywhere"], 127),
            (["/etc/passwd"], 126),
        ]:
            with self.subTest(command=command):
                result = self.record("--", *command)
                self.assertEqual(result.returncode, status)
                self.assertEqual(bool(result.stderr), status in (126, 127), result.stderr)

    def test_options_are_variables(self):
        script = 'echo "$YARN_FREQUENCY $YARN_EVENTS $YARN_LOG_FILE $YARN_RING"'
        result = self.record(
            "-F", "500", "--log-file=/dev/null", "-g", "sh", "-c", script, YARN_RING="1M"
        )
        self.assertEqual(result.stdout, "500  /dev/null 1M\n")

    def test_what_was_preloaded_stays(self):
        result = self.record("sh", "-c", 'echo "$LD_PRELOAD"', LD_PRELOAD="libm.so.6")
        self.assertEqual(result.stdout, f"{PRELOAD.resolve()}:libm.so.6\n")

    def test_output_is_the_commands_alone(self):
        result = self.record("sh", "-c", "cat; echo out; echo err >&2")
        self.assertEqual((result.stdout, result.stderr), ("out\n", "err\n"))

    def test_a_dump_is_left(self):
        loop = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
        self.assertEqual(self.record("sh", "-c", loop).returncode, 0)
        report = json.loads(run("report", "--format=json", self.folder.name).stdout)
        self.assertGreater(report["events"][0]["samples"], 0)


class Output(WithDumps):
    """What every verb promises of -o."""

    VERBS = [
        ["report"], ["report", "--tree"], ["report", "--callers"], ["report", "--format=json"],
        ["report", "--format=csv"], ["info"], ["info", "--format=json"], ["script"], ["verify"],
        ["annotate", "hot"], ["merge"], ["flamegraph"],
        *(["export", f"--to={to}"] for to in ("folded", "pprof", "speedscope", "firefox",
                                              "callgrind", "chrome", "perf.data", "sqlite")),
    ]  # fmt: skip

    def bytes_of(self, *arguments):
        return subprocess.run([YARNPROF, *map(str, arguments)], check=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

    def test_is_whole_or_not_there_and_what_was_there_stays(self):
        out, link = self.folder / "out", self.folder / "link"
        for verb in self.VERBS:
            with self.subTest(verb=verb):
                out.write_text("before")
                os.link(out, link)
                self.bytes_of(*verb, self.app, "-o", out)
                self.assertEqual(link.read_text(), "before")
                self.assertNotEqual(out.read_bytes(), b"before")
                link.unlink()
        out.unlink()

    def test_same_input_gives_the_same_bytes_wherever_they_go(self):
        out = self.folder / "out"
        for verb in self.VERBS:
            with self.subTest(verb=verb):
                self.bytes_of(*verb, self.app, "-o", out)
                content = out.read_bytes()
                out.unlink()
                self.assertEqual(self.bytes_of(*verb, self.app), content)
                self.assertEqual(self.bytes_of(*verb, self.app, "-o", "-"), content)

    def test_interrupting_leaves_nothing(self):
        with tempfile.TemporaryDirectory(prefix="yarn_cli.") as name:
            folder = pathlib.Path(name)
            dump = folder / "dump"
            subprocess.run([MAKE_DUMPS, dump, "200000"], check=True)
            for verb, times in ((["script"], 1), (["export", "--to=chrome"], 1), (["merge"], 100)):
                with self.subTest(verb=verb):
                    self.interrupt(folder, [*verb, *[dump] * times, "-o", folder / "out"])
                    self.assertEqual(sorted(folder.iterdir()), [dump])

    def interrupt(self, folder, arguments):
        """As soon as there is a file beside."""
        child = subprocess.Popen([YARNPROF, *map(str, arguments)], stderr=subprocess.DEVNULL)
        while child.poll() is None and not list(folder.glob("out.*")):
            time.sleep(0.0005)
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(), -signal.SIGINT)


def samples_on(page):
    """The sum over the cells of a page: see output/export/page/numbers.h."""
    packed = base64.b64decode(re.search(r'id="numbers">([^<]*)<', page).group(1))
    numbers, value, shift = [], 0, 0
    for byte in packed:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(value)
            value, shift = 0, 0
    left = iter(numbers)
    skip = lambda count: collections.deque(itertools.islice(left, count), maxlen=0)
    skip(4)
    skip(2 * next(left))  # functions
    skip(2 * next(left))  # nodes
    skip(2 * next(left))  # leaves
    total = 0
    for _ in range(next(left)):
        skip(2)
        count, period = next(left), next(left)
        skip(2 * count)
        total += sum(itertools.islice(left, count)) + count
        skip(0 if period else count)
    return total


@unittest.skipIf(os.environ.get("YARN_TEST_SANITIZED"), "a sanitizer's shadow is larger than this")
class Memory(unittest.TestCase):
    """What is kept is what is different, not each sample."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="yarn_memory."))
        cls.dump = cls.folder / "dump"
        subprocess.run([MAKE_DUMPS, cls.dump, "20000"], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def merged(self, times):
        merged = self.folder / f"merged.{times}"
        subprocess.run([YARNPROF, "merge", *[self.dump] * times, "-o", merged], check=True)
        return merged

    def within(self, mib, *arguments):
        limit = (mib << 20, mib << 20)
        return subprocess.run([YARNPROF, *map(str, arguments)], check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit))

    def test_a_dump_larger_than_memory_is_reported_on(self):
        merged = self.merged(400)
        self.assertGreater(merged.stat().st_size, 42 << 20)
        many = self.within(42, "report", "--no-inlines", "--format=json", merged)
        one = self.within(42, "report", "--no-inlines", "--format=json", self.dump)
        many, one = json.loads(many.stdout), json.loads(one.stdout)
        self.assertEqual(many["events"][0]["samples"], 400 * one["events"][0]["samples"])
        self.assertEqual([(row["function"], row["self"], row["total"]) for row in many["rows"]],
                         [(row["function"], 400 * row["self"], 400 * row["total"])
                          for row in one["rows"]])

    def test_a_page_of_many_processes_is_no_larger_than_of_one(self):
        merged, sizes, samples = self.merged(150), [], []
        for dump in (self.dump, merged):
            page = self.folder / "page.html"
            self.within(140, "flamegraph", dump, "-o", page)
            sizes.append(page.stat().st_size)
            samples.append(samples_on(page.read_text()))
        self.assertEqual(samples, [20000, 150 * 20000])
        self.assertLess(sizes[1], 1.2 * sizes[0])

    def test_a_script_longer_than_memory_is_in_order(self):
        merged = self.merged(30)
        text = self.within(120, "script", "--samples", "--no-header", "-F", "time", merged).stdout
        times = [float(line.strip().rstrip(":")) for line in text.splitlines()]
        self.assertEqual(len(times), 30 * 20000)
        self.assertEqual(times, sorted(times))


class Mistakes(WithDumps):
    def test_files(self):
        self.assertIn("/no/such", self.bad(1, "report", "/no/such"))
        self.assertIn("not a dump of yarn", self.bad(1, "report", __file__))
        with tempfile.TemporaryDirectory() as empty:
            self.assertIn("no dump", self.bad(1, "report", empty))

    def test_usage(self):
        for arguments in [
            [],
            ["nonsense"],
            ["report"],
            ["report", "--nonsense", self.app],
            ["report", "--by=nonsense", self.app],
            ["report", "--by=line", "--tree", self.app],
            ["report", "--format=xml", self.app],
            ["report", "--limit=x", self.app],
            ["report", "--function=(", self.app],
            ["report", "--time=5", self.app],
            ["report", "--tree", "--by=thread", self.app],
            ["script", "--fields=nonsense", self.app],
            ["verify", "--trust=200", self.app],
            ["merge", "-o", self.folder / "none"],
            ["merge", "--nonsense", self.app],
            ["record"],
            ["record", "--sampler=nonsense", "true"],
            ["record", "-e", "nonsense", "true"],
            ["record", "-F", "x", "true"],
        ]:
            with self.subTest(arguments=arguments):
                self.bad(2, *arguments)

    def test_help(self):
        for verb in VERBS:
            with self.subTest(verb=verb):
                self.assertIn(f"usage: yarnprof {verb} ", self.good(verb, "--help"))
                self.assertIn(f"  {verb} ", self.good("--help"))


class Manual(unittest.TestCase):
    def test_each_option_is_described(self):
        for verb in VERBS:
            page = (MAN / f"yarnprof-{verb}.1").read_text().replace("\\-", "-")
            for option in re.findall(r"^  .*?--([a-z-]+)", run(verb, "--help").stdout, re.MULTILINE):
                with self.subTest(verb=verb, option=option):
                    self.assertRegex(page, rf"--{option}\b")

    def test_each_variable_is_described(self):
        page = (MAN / "yarn.7").read_text()
        options = run("record", "--help").stdout
        for option in re.findall(r"^  .*?--([a-z-]+)", options, re.MULTILINE):
            if option not in ("help", "call-graph"):
                self.assertIn("YARN_" + option.upper().replace("-", "_"), page)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
