#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every export of dumps of known content, read back: totals and names must be the dumps'."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "tests/support"))
import readers  # noqa: E402
from packed_dump import Dump, constant  # noqa: E402

YARNPROF = os.environ["YARN_TEST_YARNPROF"]
MAKE_DUMPS = os.environ["YARN_TEST_MAKE_DUMPS"]

SELF = {
    "cpu-clock": {
        "hot": 60_000_000,
        "ns::warm(int)": 30_000_000,
        "app+0x1a00": 6_000_000,
        "[no stack]": 4_000_000,
    },
    "page-faults": {"hot": 3},
}
FOLDED = """\
app;[no stack] 4000000
app;_start;main;hot 60000000
worker;[truncated];outer;deep\\x1b[31m;app+0x1a00 6000000
worker;_start;main;hot;ns::warm(int) 30000000
"""


def export(form, source, target, *options):
    return subprocess.run(
        [YARNPROF, "export", f"--to={form}", str(source), "-o", str(target), *options],
        capture_output=True,
    )


class Formats(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="yarn_export.")
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.dumps = cls.folder / "dumps"
        cls.dumps.mkdir()
        subprocess.run([MAKE_DUMPS, str(cls.dumps)], check=True)
        cls.app = cls.dumps / "app.dump"

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def written(self, form, source, *options):
        target = self.folder / f"out.{form}"
        done = export(form, source, target, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return target

    def test_totals_and_names_are_those_of_the_dump(self):
        for form in readers.READERS:
            with self.subTest(format=form):
                got = readers.read(form, self.written(form, self.app))
                if got is None:
                    print(f"no reader for {form} here")
                    continue
                want = {
                    event: selfs
                    for event, selfs in SELF.items()
                    if event == "cpu-clock" or form not in readers.ONE_EVENT
                }
                if form == "perf.data":
                    # The programs do not exist, so perf finds no names in them.
                    got = {event: sum(selfs.values()) for event, selfs in got.items()}
                    want = {event: sum(selfs.values()) for event, selfs in want.items()}
                self.assertEqual(got, want)

    def test_several_dumps_are_one_profile(self):
        for form in readers.READERS:
            with self.subTest(format=form):
                got = readers.read(form, self.written(form, self.dumps))
                if got is not None:
                    self.assertEqual(sum(got["cpu-clock"].values()), 220_000_000)

    def test_filters_leave_out_what_does_not_pass(self):
        for form in readers.READERS:
            with self.subTest(format=form):
                got = readers.read(form, self.written(form, self.app, "--thread=worker"))
                if got is not None:
                    self.assertEqual(sum(got["cpu-clock"].values()), 36_000_000)
                    self.assertNotIn("page-faults", got)

    def test_nothing_that_passes_is_a_whole_file_too(self):
        for form in readers.READERS:
            with self.subTest(format=form):
                got = readers.read(form, self.written(form, self.app, "--thread=worker",
                                                      "--event=page-faults"))
                if got is not None and form != "callgrind":
                    self.assertEqual(sum(sum(selfs.values()) for selfs in got.values()), 0)

    def test_same_input_same_bytes(self):
        for form in readers.READERS:
            with self.subTest(format=form):
                first = self.written(form, self.dumps).read_bytes()
                time.sleep(1.1 if form == "pprof" else 0)
                self.assertEqual(first, self.written(form, self.dumps).read_bytes())

    def test_what_is_cut_begins_with_a_function_that_says_so(self):
        want = {"_start", "[truncated]"}
        for form in readers.READERS:
            with self.subTest(format=form):
                got = readers.outermost(form, self.written(form, self.app, "--thread=worker"))
                if form == "perf.data" and got is not None:
                    self.assertIn("[truncated]", got)
                elif got is not None:
                    self.assertEqual(got - {"(idle)"}, want)

    def test_folded_text(self):
        self.assertEqual(self.written("folded", self.app).read_text(), FOLDED)

    def test_folded_says_where_functions_of_one_name_become_one(self):
        """In formats with modules they are two; in folded text, which has none, only what is written counts."""
        dump = Dump()
        dump.begin()
        for number, path in enumerate(("/usr/lib/one.so", "/usr/lib/two.so")):
            dump.record("MODULE", number=number, start=4096 << number, end=8192 << number, path=dump.text(path))
        dump.batch("SYMBOLS", 0, 2, (1, 2), (4096, 8192), constant(256), 2 * (dump.text("same"),))
        dump.flush()
        dump.batch("FRAMES", 0, 2, (0, 1), constant(0), constant(4))
        dump.batch("STACKS", 0, 2, constant(0), (0, 1))
        dump.flush()
        dump.named("STREAMS", 1, {"tid": 1, "count": 2, "first_ns": 20, "weight": 1_000_000})
        dump.named("SAMPLES", 2, {"stack": (1, 2)})
        path = self.folder / "same.dump"
        path.write_bytes(dump.end())
        done = export("folded", path, "-")
        self.assertEqual(done.stdout, b"made;same 2000000\n")
        self.assertEqual(done.stderr, b"yarnprof export: functions of one name are one here, of whatever module: same\n")
        self.assertEqual(export("folded", path, "-", "--module=one.so").stderr, b"")
        frames = json.loads(self.written("speedscope", path).read_text())["shared"]["frames"]
        self.assertEqual([frame["file"] for frame in frames], ["/usr/lib/one.so", "/usr/lib/two.so"])

    def test_time_in_the_kernel_is_a_function(self):
        """Where a format has no samples but in time, or a part is chosen, it is none."""
        kernel = self.dumps / "more" / "kernel.dump"
        want = {"hot": 10_000_000, "[kernel]": 30_000_000}
        for form in ("folded", "speedscope", "pprof"):
            with self.subTest(format=form):
                got = readers.read(form, self.written(form, kernel))
                self.assertEqual(got, {"cpu-clock": want})
                got = readers.read(form, self.written(form, kernel, "--thread=kernel"))
                self.assertEqual(got, {"cpu-clock": {"hot": 10_000_000}})
        for form in ("chrome", "perf.data"):
            with self.subTest(format=form):
                got = readers.read(form, self.written(form, kernel))
                if got is not None:
                    self.assertEqual(sum(got["cpu-clock"].values()), 10_000_000)

    def test_one_event_is_chosen_and_the_other_named(self):
        done = export("folded", self.app, "-")
        self.assertIn(b"cpu-clock is written, page-faults is not", done.stderr)
        done = export("folded", self.app, "-", "--event=page-faults")
        self.assertEqual((done.stderr, done.stdout), (b"", b"app;_start;main;hot 3\n"))

    def test_standard_output_has_the_same_bytes(self):
        for form in readers.READERS:
            with self.subTest(format=form):
                want = self.written(form, self.app).read_bytes()
                self.assertEqual(export(form, self.app, "-").stdout, want)

    def test_threads_are_called_by_name_and_number(self):
        """Of several processes by process, too: equal names are not one thread."""
        folder = self.folder / "two"
        folder.mkdir()
        for pid in (7, 8):
            dump = Dump()
            dump.begin(pid=pid, name="app")
            text = dump.text("cpu-clock")
            dump.record("EVENT", name=text, asked=text, got=text, unit=dump.text("ns"), flags=1)
            dump.named("STREAMS", 1, {"tid": pid, "count": 1, "first_ns": 20, "weight": 1_000_000})
            dump.named("SAMPLES", 1, {"stack": 0})
            (folder / f"{pid}.dump").write_bytes(dump.end())
        for what, want in ((folder / "7.dump", ["app 7"]), (folder, ["app 7 of app 7", "app 8 of app 8"])):
            profiles = json.loads(self.written("speedscope", what).read_text())["profiles"]
            self.assertEqual(sorted(profile["name"] for profile in profiles), want)
        threads = json.loads(self.written("firefox", folder).read_text())["threads"]
        self.assertEqual(sorted(thread["name"] for thread in threads), ["app 7", "app 8"])

    def dump_of_stacks(self, names, stacks, samples):
        """`stacks`: how far before it the caller's stack is, 0 where there is none, and the function of each."""
        dump = Dump()
        dump.begin()
        count = len(names)
        dump.batch("SYMBOLS", 0, count, constant(0), tuple(4096 * (i + 1) for i in range(count)), constant(256),
                   tuple(map(dump.text, names)))
        dump.flush()
        dump.batch("FRAMES", 0, count, tuple(range(count)), constant(0), constant(4))
        dump.batch("STACKS", 0, len(stacks), *zip(*stacks))
        dump.flush()
        dump.named("STREAMS", 1, {"tid": 1, "count": len(samples), "first_ns": 20, "weight": 1000})
        dump.named("SAMPLES", len(samples), {"stack": tuple(stack + 1 for stack in samples)})
        path = self.folder / "stacks.dump"
        path.write_bytes(dump.end())
        return path

    def test_callgrind_has_no_call_of_a_function_by_itself(self):
        """Readers would add its cost to the function's once more."""
        path = self.dump_of_stacks(("main", "again", "leaf"), ((0, 0), (1, 1), (1, 1), (1, 2)), (3,))
        words = re.findall(r"(?m)^(c?fn)=\((\d+)\)(?: (.*))?$", self.written("callgrind", path).read_text())
        names = {number: name for _, number, name in words if name}
        pairs = [(names[before[1]], names[called[1]]) for before, called in zip(words, words[1:]) if called[0] == "cfn"]
        self.assertEqual(sorted(pairs), [("again", "leaf"), ("main", "again")])

    def test_folded_stacks_are_in_the_order_of_names_from_the_outside_in(self):
        path = self.dump_of_stacks(("main", "a", "b", "x", "y"), ((0, 0), (1, 2), (1, 3), (3, 1), (1, 4), (2, 3)),
                                   (2, 4, 5))
        self.assertEqual(self.written("folded", path).read_text(),
                         "made;main;a;x 1000\nmade;main;a;y 1000\nmade;main;b;x 1000\n")

    def test_firefox_has_marks(self):
        text = self.written("firefox", self.app).read_text()
        self.assertIn('"phase 2"', text)

    def test_firefox_has_time_in_ms_and_only_that_of_clocks_is_cpu_time(self):
        dump = Dump()
        dump.begin(pid=7, name="app")
        for number, (name, unit, flags) in enumerate(
            (("cpu-clock", "ns", 1), ("off-cpu", "ns", 256), ("page-faults", "", 0))):
            text = dump.text(name)
            dump.record("EVENT", number=number, name=text, asked=text, got=text,
                        unit=dump.text(unit), flags=flags)
        dump.named("STREAMS", 3, {"event": (0, 1, 2), "tid": 7, "count": 1, "first_ns": 20,
                                  "weight": 2_500_000})
        dump.named("SAMPLES", 3, {"stack": 0})
        path = self.folder / "units.dump"
        path.write_bytes(dump.end())
        threads = json.loads(self.written("firefox", path).read_text())["threads"]
        got = [(thread["samples"]["weightType"], thread["samples"]["weight"],
                thread["samples"].get("threadCPUDelta")) for thread in threads]
        self.assertEqual(got, [("tracing-ms", [2.5], [2_500_000]), ("tracing-ms", [2.5], None),
                               ("samples", [2_500_000], None)])

    def test_examples_of_the_manual_of_the_database_run(self):
        path = self.written("sqlite", self.dumps)
        manual = (ROOT / "output/export/SQLITE.md").read_text()
        examples = re.findall(r"```sql\n(.*?)```", manual, re.S)
        self.assertGreater(len(examples), 3)
        database = readers.sqlite3.connect(path)
        rows = [database.execute(example).fetchall() for example in examples]
        self.assertEqual(rows[0][0], ("hot", "child", 100_000_000, 45.45))
        self.assertEqual(
            dict(database.execute("SELECT function, sum(total) FROM totals GROUP BY 1"))["main"],
            210_000_003,
        )
        self.assertEqual(
            set(database.execute("SELECT function, total FROM totals WHERE function LIKE '[%'")),
            {("[no stack]", 4_000_000), ("[truncated]", 6_000_000)},
        )

    def test_a_failure_leaves_no_file(self):
        for form in readers.READERS:
            with self.subTest(format=form):
                target = self.folder / "absent" / "out"
                done = export(form, self.app, target)
                self.assertEqual(done.returncode, 1)
                self.assertEqual(done.stderr.count(b"\n"), 1 + (form in readers.ONE_EVENT))
                self.assertFalse(target.parent.exists())

    def test_a_full_disk_leaves_the_old_file(self):
        target = self.folder / "kept"
        target.write_text("old")
        for form in readers.READERS:
            with self.subTest(format=form):
                before = set(os.listdir(self.folder))
                done = subprocess.run(
                    ["sh", "-c", 'ulimit -f 1; trap "" XFSZ; exec "$@"', "sh", YARNPROF, "export",
                     f"--to={form}", self.dumps, "-o", target],
                    capture_output=True,
                )  # fmt: skip
                if done.returncode == 0:
                    # Small enough to fit.
                    target.write_text("old")
                    continue
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertEqual(target.read_text(), "old")
                self.assertEqual(set(os.listdir(self.folder)), before)

    def test_an_interrupt_leaves_no_half_file(self):
        large = self.folder / "large.dump"
        subprocess.run([MAKE_DUMPS, str(large), "100000"], check=True)
        before = set(os.listdir(self.folder))
        # Behind all others, so that it is not over before it is seen.
        process = subprocess.Popen(
            [YARNPROF, "export", "--to=chrome", large, "-o", self.folder / "interrupted"],
            preexec_fn=lambda: os.nice(10),
        )
        while process.poll() is None and set(os.listdir(self.folder)) == before:
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(), -signal.SIGINT)
        self.assertEqual(set(os.listdir(self.folder)), before)

    def test_usage_is_reported(self):
        for arguments in (["x"], ["--to=svg", "x"], ["--to=folded"]):
            done = subprocess.run([YARNPROF, "export", *arguments], capture_output=True)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stderr.count(b"\n"), 1)


if __name__ == "__main__":
    unittest.main()
