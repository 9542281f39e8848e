# SPDX-License-Identifier: Apache-2.0
"""Runs of a program that starts helpers: diff takes them for what they are, and judges by them."""

import json
import os
import resource
import shutil
import subprocess
import sys
import unittest

import harness

RUNS = 3
# Of a run, however fast the machine: the rate follows from the CPU time that a run takes.
SAMPLES = 6000
# Two sides, equal but for chance: one in twenty, and those go together, for all of a run's shares add up. One
# run a side has few functions that can be judged, and what differs from run to run is not in its samples.
MOST_CHANGED, MOST_CHANGED_OF_ONE = 0.33, 0.5


@unittest.skipUnless(shutil.which("gcc"), "no gcc on this machine")
class Runs(harness.Case):
    def setUp(self):
        super().setUp()
        self.write("work.c", 200)
        self.script = f"for i in 1 2; do gcc -O2 -c {self.root}/work.c -o {self.root}/work.o; done"

    def write(self, name, nr_functions):
        lines = [f"double f{i}(double x) {{ double s = 0; for (int i = 0; i < {i}; i++)"
                 f" s += x * i + s / (x + {i}); return s; }}" for i in range(nr_functions)]
        (self.root / name).write_text("\n".join(lines) + "\n")

    def frequency(self):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(["sh", "-c", self.script], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return SAMPLES / (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)

    def record(self, side, frequency):
        folder = self.root / side
        subprocess.run([harness.YARNPROF, "record", "-F", f"{frequency:.0f}", "-o", f"{folder}/", "sh", "-c",
                        self.script], check=True, env=harness.clean_environment(), capture_output=True)

    def diff(self, *sides):
        """The event, and of its functions with samples enough the share that is said to have changed."""
        found = json.loads(harness.yarnprof("diff", "--format=json", *sides).stdout)
        (event,) = found["events"]
        judged = [row["self"] for row in found["rows"]
                  if row["self"]["before"]["samples"] + row["self"]["after"]["samples"] >= 30]
        changed = [part for part in judged if not part["percent"]["within_noise"]]
        print(f"\n{len(changed)} of {len(judged)} functions changed", event)
        self.assertGreater(len(judged), 5)
        return event, len(changed) / len(judged)

    def runs(self, folder):
        (event,) = json.loads(harness.yarnprof("diff", "--format=json", folder, folder).stdout)["events"]
        return event["before"]["runs"], event["before"]["processes"]

    def text(self, *sides):
        return harness.yarnprof("diff", *sides).stdout.decode()

    def test_runs_of_a_compiler_have_not_changed(self):
        sides = [self.root / side for side in ("before", "after")]
        frequency = self.frequency()
        for nr_runs, most, by in ((1, MOST_CHANGED_OF_ONE, "by the samples of one run"),
                                  (RUNS, MOST_CHANGED, "by the spread of the runs")):
            with self.subTest(runs=nr_runs):
                for _ in range(1 if nr_runs == 1 else nr_runs - 1):
                    for side in sides:
                        self.record(side, frequency)
                event, share = self.diff(*sides)
                self.assertEqual([event[side]["runs"] for side in ("before", "after")], [nr_runs, nr_runs])
                self.assertLessEqual(share, most)
                self.assertIn(by, self.text(*sides))
        self.assertGreaterEqual(event["before"]["processes"], 2 * RUNS)  # the compiler proper, twice each
        self.assertIn(f"of {RUNS} runs, {event['before']['processes']} processes: ", self.text(*sides))

    def test_without_record_parents_tell_what_hangs_together(self):
        self.write("work.c", 20)
        folder = self.root / "plain"
        for _ in range(2):
            done = harness.start(["sh", "-c", self.script], folder, cwd=self.root, YARN_EMPTY="keep")
            self.assertEqual(done.communicate(timeout=harness.HANG_SECONDS), (b"", b""))
        nr_runs, nr_processes = self.runs(folder)
        self.assertEqual(nr_runs, 2)
        self.assertGreaterEqual(nr_processes, 2 * 7)  # sh; gcc, cc1, as, twice each

    def test_parents_that_wrote_no_dump_hold_a_run_together(self):
        """The shell has no sample, and those that it starts are executed."""
        work = f"{sys.executable} -c 'sum(range(3 * 10**6))'"
        folder = self.root / "shell"
        for _ in range(3):
            done = harness.start(["sh", "-c", f"{work}; {work}; true"], folder, cwd=self.root)
            self.assertEqual(done.communicate(timeout=harness.HANG_SECONDS), (b"", b""))
        self.assertEqual(self.runs(folder), (3, 6))

    def test_runs_of_one_shell_that_is_not_recorded_are_several(self):
        folder = self.root / "plain"
        script = f"for i in 1 2 3; do LD_PRELOAD={harness.PRELOAD} {sys.executable} -c 'sum(range(3 * 10**6))'; done"
        subprocess.run(["sh", "-c", script], check=True,
                       env={**harness.clean_environment(), "YARN_OUTPUT": f"{folder}/"})
        self.assertEqual(self.runs(folder), (3, 3))

    def test_who_names_a_run_has_it(self):
        self.write("work.c", 20)
        for name in ("x", "y"):
            for _ in range(2):
                subprocess.run(["sh", "-c", self.script], check=True,
                               env={**os.environ, "LD_PRELOAD": str(harness.PRELOAD), "YARN_RUN": name,
                                    "YARN_OUTPUT": f"{self.root}/named/"})
        self.assertEqual(self.runs(self.root / "named")[0], 2)


class OneSided(harness.Case):
    """An event that one side did not record has not become 0, and a gate does not pass by it."""

    def record(self, side, events):
        run = self.run_program([harness.HOSTS / "split", "3"], YARN_EVENTS=events)
        self.assertTrue(run.dumps, side)
        return run.dumps

    def judge(self, *sides):
        argv = [harness.YARNPROF, "diff", "--fail-on=10", "--format=json", *sides]
        done = subprocess.run(argv, capture_output=True, check=False)
        return done.returncode, json.loads(done.stdout)

    def test_what_one_side_did_not_record_is_not_compared(self):
        clock, faults = self.record("clock", "cpu-clock"), self.record("faults", "page-faults")
        both = self.record("both", "cpu-clock,page-faults")
        status, found = self.judge(clock, faults)
        self.assertEqual((status, found["rows"], found["fail_on"]["events"]), (1, [], 0))
        for event in found["events"]:
            self.assertNotEqual(event["before"]["recorded"], event["after"]["recorded"])
            self.assertNotIn("per_run", event)
        _, found = self.judge(clock, both)
        self.assertEqual({row["event"] for row in found["rows"]}, {"cpu-clock"})
        self.assertEqual(found["fail_on"]["events"], 1)
        text = harness.yarnprof("diff", clock, both).stdout.decode()
        self.assertRegex(text, r"page-faults\n  before  did not record it, so nothing is compared: ")


if __name__ == "__main__":
    harness.main()
