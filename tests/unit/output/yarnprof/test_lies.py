#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Dumps of some hundred bytes that ask for gigabytes or hours: every verb keeps to --memory, and its time
to what it reads and writes. Where a dump asks for more, a sentence says so, and nothing is shown."""

import itertools
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

SUPPORT = pathlib.Path(__file__).resolve().parents[3] / "support"
sys.path.insert(0, str(SUPPORT))
from command_line import IS_SANITIZED, YARNPROF, main
from lying_dumps import ATTACKS

MIB = 1 << 20
SECONDS = 20  # of CPU time, for what takes 0.1 to 4 here
VERBS = [
    ["report"], ["report", "--tree", "--percent-limit=0", "--limit=0"], ["info"], ["script"],
    ["report", "--callers", "--percent-limit=0", "--limit=0"], ["diff", "DUMP"],
    ["export", "--to=firefox"], ["export", "--to=callgrind"], ["report", "--by=thread"],
    ["flamegraph", "-o", "OUT"], ["export", "--to=pprof"], ["export", "--to=otlp"], ["export", "--to=folded"],
    ["report", "--by=line"], ["export", "--to=chrome"], ["merge", "-o", "OUT"],
    ["annotate", "--limit=0", "."], ["export", "--to=speedscope"], ["info", "--format=json"],
    ["export", "--to=perf.data", "-o", "OUT"], ["report", "--by=cpu", "--format=csv"],
    ["export", "--to=sqlite", "-o", "OUT"], ["report", "--tree", "--format=json"],
]
# For those that are as large as what they ask for.
LARGE = [["report", "--tree", "--percent-limit=0"], ["diff", "DUMP"], ["flamegraph", "-o", "OUT"],
         ["export", "--to=folded"], ["export", "--to=pprof"]]
SCHED = [["sched", "--couplebreak"], ["sched", "--wakers"], ["sched", "--timeline"], ["script"],
         ["export", "--to=trace.dat", "-o", "OUT"], ["report", "--by=branch"],
         ["script", "--couplebreak"], ["sched", "--format=json"]]
# All that these say is small enough.
HONEST = {"deep_recursion", "demangled", "large_by_thread", "large_names", "many_modules", "many_threads",
          "overlapping_modules", "renames", "sched_branches"}
LITTLE, USUAL = 96, 1024  # MiB
MEMORY = b"it takes more memory than the limit of "
SENTENCES = (MEMORY, b"it asks for more work than any recording of its size")
BAD = re.compile(b"damaged|nameless|(?<!of a later version, )skipped")
EVERY = bool(os.environ.get("YARN_TEST_ALL"))  # each verb on each, which takes minutes


@unittest.skipIf(IS_SANITIZED, "a sanitizer's shadow is larger than any limit")
class Lies(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="yarn_lies."))
        # Why by another program: the memory of this one would count as that of those it starts.
        subprocess.run([sys.executable, SUPPORT / "lying_dumps.py", cls.folder], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def run_on(self, dump, *arguments, mib=USUAL):
        target = self.folder / "out"
        target.unlink(missing_ok=True)
        words = [{"OUT": str(target), "DUMP": str(dump)}.get(word, word) for word in arguments]

        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))

        with (open(self.folder / "stdout", "wb+") as stdout,
              open(self.folder / "stderr", "wb+") as stderr):
            child = subprocess.Popen([YARNPROF, *words, f"--memory={mib}M", dump], stdout=stdout,
                                     stderr=stderr, stdin=subprocess.DEVNULL,
                                     preexec_fn=limit)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            stdout.seek(max(0, stdout.seek(0, os.SEEK_END) - 200))
            end = stdout.read()
            stderr.seek(0)
            self.reported = stderr.read()
        self.assertIn(child.returncode, (0, 1), "killed, or out of time")
        self.assertLess(usage.ru_maxrss << 10, mib * MIB)
        self.is_too_much = any(sentence in self.reported for sentence in SENTENCES)
        if self.is_too_much:
            self.assertEqual((child.returncode, end, target.exists()), (1, b"", False))
        return child.returncode, end

    def test_every_verb_keeps_to_its_bounds(self):
        verbs, large, sched, limits = map(itertools.cycle, (VERBS, LARGE, SCHED, (LITTLE, USUAL)))
        for name in ATTACKS:
            dump = self.folder / name
            own = {"large": large, "sched": sched}.get(name.split("_")[0], verbs)
            some = itertools.islice(own, 2 if own is sched else 1)
            with self.subTest(dump=name, verb="verify"):
                status, end = self.run_on(dump, "verify", mib=USUAL if name in HONEST else LITTLE)
                self.assertEqual(status, int(self.is_too_much or bool(BAD.search(end))))
                self.assertLessEqual(status, name not in HONEST)
            for verb in VERBS + SCHED if EVERY else some:
                with self.subTest(dump=name, verb=" ".join(verb)):
                    self.run_on(dump, *verb, mib=next(limits))

    def test_an_honest_recording_of_the_most_stacks_is_whole_in_every_verb(self):
        dump = self.folder / "walks"
        self.assertEqual(self.run_on(dump, "verify")[0], 0)
        for verb in VERBS if EVERY else VERBS[::3]:
            if verb[0] != "script":  # which is cut
                with self.subTest(verb=" ".join(verb)):
                    self.assertEqual(self.run_on(dump, *verb)[0], 0)

    def test_the_limit_is_the_users_and_one_for_all_files(self):
        dump = self.folder / "wide_stacks"
        tree = ["report", "--callers", "--percent-limit=0"]
        self.assertEqual(self.run_on(dump, *tree)[0], 0)
        self.assertEqual(self.run_on(dump, *tree, mib=LITTLE)[0], 1)
        self.assertIn(MEMORY + b"96.0 MiB; --memory=SIZE raises it", self.reported)

    def test_debug_information_that_asks_for_more_than_its_size_is_passed_over(self):
        elves = self.folder / "elves"
        elves.mkdir()
        subprocess.run([sys.executable, SUPPORT / "lying_elfs.py", elves], check=True)
        for dump in elves.glob("*.yarndump"):
            with self.subTest(dump=dump.stem):
                self.assertEqual(self.run_on(dump, "report", "--by=line")[0], 0)
                is_passed_over = b"its debug information asks for more" in self.reported
                self.assertEqual(is_passed_over, dump.stem not in ("honest", "origins", "siblings"))
        shutil.rmtree(elves)

    def test_what_cannot_be_shown_of_a_folder_is_not_shown_in_part(self):
        for verb in (["report", "--tree"], ["flamegraph", "-o", "OUT"], ["verify"]):
            with self.subTest(verb=" ".join(verb)):
                self.assertEqual(self.run_on(self.folder / "folder", *verb, mib=LITTLE)[0], 1)
                self.assertTrue(self.is_too_much)

    def test_a_tracepoints_format_is_not_read_again_for_each_sample(self):
        for verb in (["sched", "--couplebreak"], ["report", "--by=f7"], ["script"],
                     ["export", "--to=trace.dat", "-o", "OUT"]):
            with self.subTest(verb=" ".join(verb)):
                self.assertEqual(self.run_on(self.folder / "sched_fields", *verb)[0], 0, self.reported)

    def test_text_that_is_cut_says_so(self):
        status, end = self.run_on(self.folder / "deep_in_many_threads", "script")
        self.assertEqual(status, 1)
        self.assertIn(b"\n[The output is cut here", end)

    def test_what_cannot_be_cut_is_not_written(self):
        status, _ = self.run_on(self.folder / "deep_in_many_threads", "export", "--to=perf.data",
                                "-o", "OUT")
        self.assertEqual(status, 1)
        self.assertIn(b"it would be larger than 256 MiB and 4 KiB per byte of the recording", self.reported)
        self.assertFalse((self.folder / "out").exists())


if __name__ == "__main__":
    main()
