#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What yarnprof does on a terminal: widths, colours, the pager."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import terminal

YARNPROF = os.environ["YARN_TEST_YARNPROF"]
MAKE_DUMPS = os.environ["YARN_TEST_MAKE_DUMPS"]


TITLE = re.compile("BEFORE|SELF|SHARE|TOTAL")


def plain(text):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


class Terminal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="yarn_terminal."))
        subprocess.run([MAKE_DUMPS, cls.folder], check=True)
        cls.app = str(cls.folder / "app.dump")
        cls.paged = cls.folder / "paged"

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def setUp(self):
        self.paged.unlink(missing_ok=True)

    def run_on(self, *arguments, **options):
        """A pager that keeps what it got, and says so."""
        settings = {"TERM": "xterm", "PAGER": f"cat > {self.paged}; echo paged", "NO_COLOR": ""}
        settings.update(options.pop("environment", {}))
        return terminal.run([YARNPROF, *arguments], environment=settings, **options)

    def test_lines_fit_the_width(self):
        missing = str(self.folder / "more/missing.dump")
        child = str(self.folder / "child.dump")
        for columns in (60, 80, 120):
            for arguments in (
                ["report", self.app],
                ["report", "--tree", self.app],
                ["report", "--by=thread", self.app],
                ["report", "--side-by-side", missing],
                ["diff", child, self.app],
                ["annotate", "hot", child],
            ):
                status, out = self.run_on(*arguments, rows=100, columns=columns)
                self.assertEqual(status, 0)
                lines = plain(out).splitlines()
                title = next(i for i, line in enumerate(lines) if TITLE.search(line))
                self.assertGreater(len(lines), title + 1, out)
                for line in lines[title:]:
                    # A file's name is printed whole.
                    if line.startswith(("  before ", "  after ")):
                        continue
                    self.assertLessEqual(len(line), columns, line)

    def test_events_are_side_by_side_where_they_fit(self):
        missing = str(self.folder / "more/missing.dump")
        for columns, nr_tables in ((60, 1), (50, 2)):
            _, out = self.run_on("report", "--side-by-side", missing, rows=100, columns=columns)
            self.assertEqual(plain(out).count("FUNCTION"), nr_tables)

    def test_colour_is_for_terminals_and_those_who_want_it(self):
        report = ("report", self.app)
        self.assertIn("\x1b[", self.run_on(*report, rows=100)[1])
        for settings in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertNotIn("\x1b[", self.run_on(*report, rows=100, environment=settings)[1])
        self.assertNotIn("\x1b[", self.run_on("report", "--color=never", self.app, rows=100)[1])

    def test_what_is_longer_than_the_screen_is_paged_whole(self):
        whole = subprocess.run(
            [YARNPROF, "report", self.app], capture_output=True, text=True, check=True
        ).stdout
        status, out = self.run_on("report", self.app, rows=10, columns=200)
        self.assertEqual((status, out), (0, "paged\n"))
        self.assertEqual(plain(self.paged.read_text()), whole)

    def test_what_fits_is_not_paged(self):
        status, out = self.run_on("report", self.app, rows=100)
        self.assertEqual(status, 0)
        self.assertIn("page-faults", out)
        self.assertFalse(self.paged.exists())

    def test_not_where_the_user_wants_none(self):
        for arguments, settings in (
            (["--no-pager"], {}),
            ([], {"PAGER": ""}),
            ([], {"PAGER": "cat"}),
        ):
            status, out = self.run_on("report", *arguments, self.app, rows=5, environment=settings)
            self.assertEqual(status, 0)
            self.assertIn("page-faults", out)
            self.assertFalse(self.paged.exists())

    def test_not_for_files_and_pipes(self):
        target = self.folder / "target"
        status, out = self.run_on("report", self.app, "-o", str(target), rows=5)
        self.assertEqual((status, out), (0, ""))
        self.assertIn("page-faults", target.read_text())
        status, out = terminal.run(
            ["/bin/sh", "-c", f"{YARNPROF} report {self.app} | cat"],
            rows=5,
            environment={"PAGER": f"cat > {self.paged}"},
        )
        self.assertIn("page-faults", out)
        self.assertFalse(self.paged.exists())

    def test_leaving_the_pager_is_no_failure(self):
        for pager in ("true", "head -n1"):
            status, out = self.run_on(
                "script", self.app, rows=5, environment={"PAGER": pager}
            )
            self.assertEqual(status, 0)
            self.assertNotIn("yarnprof", out)

    @unittest.skipUnless(shutil.which("less"), "no less here")
    def test_less_itself(self):
        settings = {"PAGER": "less"}
        status, out = self.run_on("report", self.app, rows=12, keys=b"q", environment=settings)
        self.assertEqual(status, 0)
        self.assertIn("SELF", out)
        self.assertIn("\x1b[1m", out, "colours get through")
        self.assertNotIn("page-faults", out, "that is on the next screen")


BAR = re.compile(r"reading \[[#.]{30}\] +\d+ %")


class Progress(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="yarn_progress."))
        cls.dump = cls.folder / "dump"
        subprocess.run([MAKE_DUMPS, cls.dump, "100000"], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def run_on(self, *arguments, term="xterm"):
        return terminal.run([YARNPROF, *map(str, arguments)],
                            environment={"TERM": term, "PAGER": "cat"})

    def run_longer_than_a_second(self):
        """So many times the dump that reading takes a while, here and now, and what the terminal shows then."""
        dumps = [self.dump] * 20
        while True:
            begun = time.monotonic()
            status, out = self.run_on("report", "--limit=9", *dumps)
            seconds = time.monotonic() - begun
            if seconds > 2 or len(dumps) == 2000:
                return dumps, status, out
            dumps = [self.dump] * min(2000, int(len(dumps) * max(2.5 / seconds, 1.5)))

    def test_long_work_shows_a_bar_on_a_terminal_and_takes_it_away(self):
        dumps, status, out = self.run_longer_than_a_second()
        self.assertEqual(status, 0)
        self.assertRegex(out, BAR)
        bars, text = out.rsplit("\r\x1b[K", 1)
        self.assertNotIn("function_", bars)
        self.assertNotIn("reading [", text)
        self.assertIn("function_", text)
        self.assertNotRegex(self.run_on("report", "--limit=9", *dumps, term="dumb")[1], BAR)
        piped = subprocess.run([YARNPROF, "report", *dumps], capture_output=True, text=True,
                               check=True)
        self.assertNotIn("reading [", piped.stderr)

    def test_short_work_shows_none(self):
        """On a machine that gives it a core: a second of waiting shows one, as it should."""
        for _ in range(20):
            begun = time.monotonic()
            shown = self.run_on("report", "--limit=1", self.dump)[1]
            if time.monotonic() - begun < 0.5:
                return self.assertNotIn("reading [", shown)
        self.skipTest("the machine is too busy for short work")


if __name__ == "__main__":
    unittest.main()
