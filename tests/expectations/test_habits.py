#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What people type who come from other profilers: each row of habits.tsv works, or ends with one line that leads
on, which matches the row's expression. FILE is a dump that lies in the working folder."""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import packed_dump

YARNPROF = pathlib.Path(os.environ["YARN_TEST_YARNPROF"])
IS_SANITIZED = bool(os.environ.get("YARN_TEST_SANITIZED"))
HERE = pathlib.Path(__file__).resolve().parent
DUMP = HERE.parent / "golden" / "process.yarndump"
LEAST_ROWS = 600
LONGEST_LINE = 400


def rows():
    for line in (HERE / "habits.tsv").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")


class Habits(unittest.TestCase):
    def run_row(self, typed):
        """An event is what `list` makes of it: whether it may be had does not depend on habits."""
        words = shlex.split(typed)[1:] if typed.split()[0] == "yarnprof" else ["list", typed]
        environment = {key: value for key, value in os.environ.items() if not key.startswith("YARN")}
        with tempfile.TemporaryDirectory(prefix="yarn_cli.") as folder:
            dump = pathlib.Path(folder) / "app.dump"
            shutil.copy(DUMP, dump)
            return subprocess.run([YARNPROF, *[re.sub(r"\bFILE\b", "app.dump", word) for word in words]], cwd=folder,
                                  env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                                  check=False)

    def test_each_row(self):
        for typed, expected in rows():
            if IS_SANITIZED and typed.startswith("yarnprof record"):
                continue
            with self.subTest(typed):
                done = self.run_row(typed)
                lines = done.stderr.decode(errors="replace").splitlines()
                if expected == "works":
                    self.assertEqual(done.returncode, 0, lines)
                    continue
                self.assertNotEqual(done.returncode, 0)
                self.assertEqual(len(lines), 1, lines)
                self.assertLess(len(lines[0]), LONGEST_LINE)
                self.assertRegex(lines[0], expected)

    def test_there_are_many(self):
        typed = [row[0] for row in rows()]
        self.assertEqual(len(typed), len(set(typed)))
        self.assertGreaterEqual(len(typed), LEAST_ROWS)
        self.assertTrue(all(len(row) == 2 and row[1] for row in rows()))

    @unittest.skipIf(IS_SANITIZED, "nothing of ours can be preloaded")
    def test_events_of_several_options_add_up(self):
        with tempfile.TemporaryDirectory(prefix="yarn_cli.") as folder:
            done = subprocess.run([YARNPROF, "record", "-e", "cpu-clock", "-e", "page-faults", "sh", "-c",
                                   'echo "$YARN_EVENTS"'], cwd=folder, capture_output=True, text=True, check=False)
            self.assertEqual(done.stdout, "cpu-clock,page-faults\n")
            done = subprocess.run([YARNPROF, "record", "--call-graph", "dwarf,8192", "sh", "-c",
                                   'echo "$YARN_CALLGRAPH"'], cwd=folder, capture_output=True, text=True, check=False)
            self.assertEqual(done.stdout, "dwarf:8192\n")


class Newest(unittest.TestCase):
    """A FILE that is left out is the newest dump, or folder of one `record`, and is named."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="yarn_cli.")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def put(self, path, seconds, run=None):
        path = self.folder / path
        path.parent.mkdir(exist_ok=True)
        if run:
            subprocess.run([YARNPROF, "record", f"--run={run}", "--empty=keep", "-o", path, "true"], check=True,
                           capture_output=True)
        else:
            shutil.copy(DUMP, path)
        os.utime(path, (seconds, seconds))

    def newest(self, verb, *words):
        done = subprocess.run([YARNPROF, verb, *words], cwd=self.folder, capture_output=True, text=True,
                              errors="replace", check=False)
        found = re.findall(rf"^yarnprof {verb}: (.*) is the newest here(?:, with \d+ more of its run)?$", done.stderr, re.MULTILINE)
        self.assertEqual(len(found), 1, done.stderr)
        return found[0]

    def test_of_each_verb(self):
        self.put("old.dump", 1000)
        self.put("new.dump", 2000)
        (self.folder / "newer.txt").write_text("no dump")
        for verb, *words in (["report"], ["script"], ["sched"], ["info"], ["verify"], ["annotate", "main"],
                             ["export", "--to=folded"], ["flamegraph", "-o", "x.html"], ["merge", "-o", "m"]):
            with self.subTest(verb=verb):
                self.assertEqual(self.newest(verb, *words), "new.dump")
                (self.folder / "m").unlink(missing_ok=True)

    @unittest.skipIf(IS_SANITIZED, "nothing of ours can be preloaded")
    def test_a_folder_of_one_record(self):
        self.put("old.dump", 1000)
        self.put("runs/a.dump", 2000, run="one")
        self.put("runs/b.dump", 3000, run="one")
        self.assertEqual(self.newest("info"), "runs")
        self.put("runs/c.dump", 2500, run="two")
        self.assertEqual(self.newest("info"), "runs/b.dump")

    @unittest.skipIf(IS_SANITIZED, "nothing of ours can be preloaded")
    def test_all_dumps_of_the_newest_record(self):
        """Of several processes each has a dump: the newest alone would be a part of what was recorded."""
        self.put("a.dump", 2000, run="one")
        self.put("b.dump", 3000, run="one")
        self.put("other.dump", 1000, run="two")
        done = subprocess.run([YARNPROF, "info", "--format=json"], cwd=self.folder, capture_output=True, text=True, check=True)
        self.assertEqual({dump["path"] for dump in json.loads(done.stdout)["dumps"]}, {"a.dump", "b.dump"})
        self.assertEqual(done.stderr, "yarnprof info: b.dump is the newest here, with 1 more of its run\n")

    @unittest.skipIf(IS_SANITIZED, "nothing of ours can be preloaded")
    def test_what_record_names_is_what_it_wrote(self):
        for _ in range(2):
            done = subprocess.run([YARNPROF, "record", "--empty=keep", "sh", "-c", "true; /bin/true; /bin/true; true"],
                                  cwd=self.folder, capture_output=True, text=True, check=True)
        self.assertRegex(done.stderr, r"in 3 dumps, .*; see: yarnprof info\]")
        done = subprocess.run([YARNPROF, "info"], cwd=self.folder, capture_output=True, text=True, check=True)
        self.assertRegex(done.stderr, "is the newest here, with 2 more of its run")

    def test_the_newest_is_named_whatever_it_asks_for(self):
        """More samples than any recording of its size; nothing says of which run."""
        self.put("old.dump", 1000)
        dump = packed_dump.Dump()
        dump.begin()
        for _ in range(100):
            dump.samples(60_000)
            dump.flush(packed_dump.ZSTD)
        (self.folder / "new.dump").write_bytes(dump.end())
        self.assertEqual(self.newest("info"), "new.dump")

    def test_there_is_none(self):
        done = subprocess.run([YARNPROF, "report"], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("none is in this folder", done.stderr)


if __name__ == "__main__":
    unittest.main()
