#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mistakes, help and the manual."""

import json
import os
import pathlib
import re
import tempfile
import unittest

from command_line import VERBS, WithDumps, main, run

MAN = pathlib.Path(__file__).resolve().parents[4] / "output/yarnprof/man"


class Mistakes(WithDumps):
    def test_files(self):
        self.assertIn("/no/such", self.bad(1, "report", "/no/such"))
        self.assertIn("not a dump of yarn", self.bad(1, "report", __file__))
        with tempfile.TemporaryDirectory() as empty:
            self.assertIn("no dump", self.bad(1, "report", empty))

    def test_what_is_no_file_or_has_no_header(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "whole").write_bytes(self.app.read_bytes())
            (folder / "empty").touch()
            (folder / "cut").write_bytes(self.app.read_bytes()[:20])
            os.mkfifo(folder / "pipe")
            for verb in ("report", "script", "info", "verify"):
                for file in (folder / "empty", folder / "cut"):
                    self.assertIn("ends within its header", self.bad(1, verb, file))
                for file in (folder / "pipe", "/dev/zero", "/dev/null"):
                    self.assertIn("neither a file nor a folder", self.bad(1, verb, file))
            reported = run("report", folder).stderr
            self.assertIn("2 empty files skipped", reported)
            self.assertEqual(reported.count("\n"), 1)

    def test_a_dump_that_was_cut_after_its_header_spoils_no_folder(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "whole").write_bytes(self.app.read_bytes())
            (folder / "cut").write_bytes(self.app.read_bytes()[:32])
            for view in (["report"], ["script"], ["info"], ["verify"], ["sched"], ["sched", "--couplebreak"],
                         ["script", "--couplebreak"], ["flamegraph"], ["export", "--to=folded"]):
                self.assertEqual(run(*view, folder).returncode, 0, view)

    def test_a_dump_is_never_written_over(self):
        with tempfile.TemporaryDirectory() as name:
            dump = pathlib.Path(name) / "dump"
            for verb in ("report", "script", "info", "verify"):
                dump.write_bytes(self.app.read_bytes())
                self.assertIn("itself one of the dumps", self.bad(1, verb, "-o", dump, dump))
                self.assertEqual(dump.read_bytes(), self.app.read_bytes())
                dump.write_bytes(b"of no format")
                self.bad(1, verb, "-o", dump, dump)
                self.assertEqual(dump.read_bytes(), b"of no format")

    def test_what_matches_nothing_fails(self):
        views = [["report"], ["script"], ["export", "--to=folded"], ["flamegraph"],
                 ["annotate", "main"], ["diff", self.app]]
        for option in ("event", "thread", "process", "comm", "module", "function"):
            for view in views:
                reported = self.bad(1, *view, self.app, f"--{option}=no-such")
                self.assertIn(f"--{option}: nothing in what is read matches", reported)
        self.assertIn("matches; it has cpu-clock", self.bad(1, "report", self.app, "--event=cpu-clok"))
        self.assertIn("no sample has a function no-such on its stack",
                      self.bad(1, "report", "--callers=no-such", self.app))
        self.assertIn("no tracepoint of these dumps has a field 'prosess'; process?",
                      self.bad(2, "report", "--by=prosess", self.app))
        self.assertIn("--time: nothing", self.bad(1, "report", self.app, "--time=1000s..1001s"))

    def test_an_option_that_is_given_twice(self):
        twice = run("report", self.app, "--limit=1", "--limit=2")
        self.assertEqual(twice.stdout, run("report", self.app, "--limit=2").stdout)
        self.assertIn("--limit is given more than once: 2 counts", twice.stderr)

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
            ["report", "--time=5s..1s", self.app],
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

    def test_every_verb_takes_color(self):
        for verb in VERBS:
            with self.subTest(verb=verb):
                self.good(verb, "--color=never", "--help")
                self.assertIn("auto, always or never", self.bad(2, verb, "--color=x", self.app))

    def test_help(self):
        for verb in VERBS:
            with self.subTest(verb=verb):
                self.assertIn(f"usage: yarnprof {verb} ", self.good(verb, "--help"))
                self.assertIn(f"  {verb} ", self.good("--help"))


def keys_of(value):
    """All names in a JSON value, but of the options, which are variables."""
    if isinstance(value, list):
        return {key for item in value for key in keys_of(item)}
    if not isinstance(value, dict):
        return set()
    return set(value) | {key for name, item in value.items() if name != "options" for key in keys_of(item)}


class Manual(WithDumps):
    def test_each_key_of_info_is_described(self):
        page = (MAN / "yarnprof-info.1").read_text().replace("\\-", "-")
        keys = keys_of(json.loads(run("info", "--format=json", self.app).stdout))
        self.assertGreater(len(keys), 80)
        self.assertEqual([key for key in sorted(keys) if not re.search(rf"\b{key}\b", page)], [])

    def test_each_option_is_described(self):
        for verb in [*VERBS, "list", "push", "stat"]:
            page = (MAN / f"yarnprof-{verb}.1").read_text().replace("\\-", "-")
            for option in re.findall(r"^  .*?--([a-z-]+)", run(verb, "--help").stdout, re.MULTILINE):
                with self.subTest(verb=verb, option=option):
                    self.assertRegex(page, rf"--{option}\b")

    def test_each_variable_is_described(self):
        page = (MAN / "yarn.7").read_text()
        options = run("record", "--help").stdout
        for option in re.findall(r"^  .*?--([a-z-]+)", options, re.MULTILINE):
            if option not in ("help", "call-graph", "outside", "inside", "pid", "tree", "wait", "whole-cores", "python",
                              "require-samples"):
                self.assertIn("YARN_" + option.upper().replace("-", "_"), page)


if __name__ == "__main__":
    main()
