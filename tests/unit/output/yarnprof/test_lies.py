#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Dumps of some hundred bytes that ask for gigabytes or hours: every verb keeps to 64 MiB and 40
times the file's size, and its time to that and to what it writes. `verify` tells what was left out."""

import itertools
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "support"))
from command_line import IS_SANITIZED, YARNPROF, main
from lying_dumps import ATTACKS

MIB = 1 << 20
SECONDS = 10  # of CPU time, for what takes 0.1 to 2 here
VERBS = [
    ["report"], ["report", "--tree", "--percent-limit=0", "--limit=0"], ["info"], ["script"],
    ["report", "--callers", "--percent-limit=0", "--limit=0"], ["diff", "DUMP"],
    ["export", "--to=firefox"], ["export", "--to=callgrind"], ["report", "--by=thread"],
    ["flamegraph", "-o", "OUT"], ["export", "--to=pprof"], ["export", "--to=folded"],
    ["report", "--by=line"], ["export", "--to=chrome"], ["merge", "-o", "OUT"],
    ["annotate", "--limit=0", "."], ["export", "--to=speedscope"], ["info", "--format=json"],
    ["export", "--to=perf.data", "-o", "OUT"], ["report", "--by=cpu", "--format=csv"],
    ["export", "--to=sqlite", "-o", "OUT"], ["report", "--tree", "--format=json"],
]
# All that these say is small enough.
HONEST = {"deep_recursion", "demangled", "many_modules", "many_threads",
          "overlapping_modules", "renames"}
EVERY = bool(os.environ.get("YARN_TEST_ALL"))  # each verb on each, which takes minutes


class Lies(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="yarn_lies."))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def run_on(self, dump, *arguments):
        target = self.folder / "out"
        target.unlink(missing_ok=True)
        words = [{"OUT": str(target), "DUMP": str(dump)}.get(word, word) for word in arguments]

        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))

        with open(self.folder / "stdout", "wb+") as stdout:
            child = subprocess.Popen([YARNPROF, *words, dump], stdout=stdout,
                                     stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                                     preexec_fn=None if IS_SANITIZED else limit)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            stdout.seek(max(0, stdout.seek(0, os.SEEK_END) - 200))
            end = stdout.read()
        self.assertIn(child.returncode, (0, 1), "killed, or out of time")
        size = dump.stat().st_size * (2 if "DUMP" in arguments else 1)
        if not IS_SANITIZED:
            self.assertLess(usage.ru_maxrss << 10, 64 * MIB + 40 * size)
        return child.returncode, end

    def test_every_verb_keeps_to_its_bounds(self):
        verbs = itertools.cycle(VERBS)
        for name, make in ATTACKS.items():
            dump = self.folder / name
            dump.write_bytes(make())
            status, end = self.run_on(dump, "verify")
            self.assertEqual(status, 0 if name in HONEST else 1, name)
            for verb in VERBS if EVERY else itertools.islice(verbs, 3):
                with self.subTest(dump=name, verb=" ".join(verb)):
                    self.run_on(dump, *verb)
            dump.unlink()

    def test_text_that_is_cut_says_so(self):
        dump = self.folder / "cut"
        dump.write_bytes(ATTACKS["deep_in_many_threads"]())
        status, end = self.run_on(dump, "script")
        self.assertEqual(status, 1)
        self.assertIn(b"\n[The output is cut here", end)


if __name__ == "__main__":
    main()
