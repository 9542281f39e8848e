# SPDX-License-Identifier: Apache-2.0
"""The event off-cpu from outside: where the threads of a tree, and of processes that run already, wait, against hosts
that know."""

import os
import shutil
import subprocess
import sys
import time
import unittest

import control
import harness
from outside import PINGPONG, Case
from test_off_cpu import BELOW, BLOCKED, check_churn, looks, weigh

EVENTS = "cpu-clock,off-cpu/freq=99/"
SLACK_NS = 20_000_000
UNREADABLE = "import ctypes, time; ctypes.CDLL(None).prctl(4, 0); time.sleep(0.5)"


def truth_of(output):
    return {name: int(ns) for name, ns in map(str.split, output.decode().splitlines())}


class OutsideWaits(Case):
    def recorded(self, argv, *options, events=EVENTS):
        run = self.record(argv, "-e", events, *options)
        self.assertEqual((run.status, run.stderr), (0, b""))
        return run

    def assert_known(self, run, truth, delta=0.03):
        """Each wait is as long as the host says, and below the functions that lead there."""
        weights = weigh(run.dumps)
        for name, ns in truth.items():
            print(f"{name}: {weights[name] / ns:.3f}")
            self.assertLess(abs(weights[name] - ns), delta * ns + SLACK_NS)
        for _, _, _, names in looks(run.dumps):
            for name in set(names) & set(BELOW):
                for outer in BELOW[name]:
                    self.assertIn(outer, names)

    def assert_held(self, run, ns):
        """The main thread has the mutex."""
        (dump,) = self.infos(run)
        rows = harness.report(run.dumps, "--event=off-cpu", "--by=holder")["rows"]
        held = {row["value"]: row["total"] for row in rows}
        self.assertLess(abs(held[str(dump["process"]["pid"])] - ns), 0.03 * ns + SLACK_NS)

    def test_known_waits(self):
        run = self.recorded([BLOCKED, "known", 1000])
        truth = truth_of(run.stdout)
        self.assert_known(run, truth)
        self.assert_held(run, truth["wait_mutex"])
        harness.yarnprof("verify", run.dumps)

    def test_short_waits_in_sum(self):
        run = self.recorded([BLOCKED, "churn", 1500])
        check_churn(self, run)

    def test_by_clock_where_switches_are_too_many(self):
        run = self.recorded([BLOCKED, "known", "busy", 3000], "--sched=switch:2000")
        self.assert_known(run, truth_of(run.stdout), delta=0.1)

    def test_by_clock_waits_that_are_too_short_for_a_look_are_in_the_sum(self):
        """Of two processes that hand a byte to and fro on one core one runs, and the other is blocked about half of the
        time, and more where others keep the core; no wait lasts for as long as a look takes."""
        core = min(os.sched_getaffinity(0))
        run = self.recorded(["taskset", "-c", core, PINGPONG, 200000], "--sched=switch:2000")
        (event,) = harness.report(run.dumps, "--event=off-cpu")["events"]
        used_ns = harness.report(run.dumps)["tree"]["cpu_ns"]
        print(f"{event['blocked_ns'] / used_ns:.2f} of the CPU time, {event['total'] / used_ns:.2f} with stacks")
        self.assertGreater(event["blocked_ns"], 0.3 * used_ns)

    def test_process_that_runs_already(self):
        with subprocess.Popen([BLOCKED, "known", "1500"], stdout=subprocess.PIPE) as process:
            control.wait_until(lambda: len(os.listdir(f"/proc/{process.pid}/task")) == 6)
            begun, folder = time.monotonic(), self.folder()
            command = [harness.YARNPROF, "record", "-p", process.pid, "-e", EVENTS, "-o", f"{folder}/"]
            run = self.finished(harness.start(command, folder, preload=False), begun, folder)
            truth = truth_of(process.stdout.read())
        weights = weigh(run.dumps)
        held = weights["wait_mutex"]
        self.assertGreater(held, 0.3 * truth["wait_mutex"])
        # The threads were blocked from before, and until the same moment.
        for name in ("wait_condition", "wait_pipe"):
            self.assertLess(abs(weights[name] - held), SLACK_NS)
        self.assert_held(run, held)

    def test_each_process_has_its_own(self):
        """And one that neither works nor waits has no dump."""
        run = self.recorded([shutil.which("sh"), "-c", "sleep 0.3 | cat; exec sleep 0.4"], events="off-cpu")
        # A shell that was preempted before it became `sleep` or `cat` has waited, too.
        self.assertIn(len(self.infos(run)), (4, 5, 6))
        rows = harness.report(run.dumps, "--event=off-cpu", "--by=program")["rows"]
        found = {row["program"]: row["total"] for row in rows}
        for program, ns in (("sh", 300_000_000), ("cat", 300_000_000), ("sleep", 700_000_000)):
            self.assertGreater(found[program], ns - SLACK_NS, found)
        self.assertIn("nanosleep", weigh(run.dumps))

    def test_time_that_is_not_recorded_is_in_no_wait(self):
        run = self.recorded([BLOCKED, "known", 1000], "--delay=500ms")
        truth = truth_of(run.stdout)
        weights = weigh(run.dumps)
        self.assertLess(weights["wait_mutex"], truth["wait_mutex"] - 0.4 * 10**9)
        self.assertGreater(weights["wait_mutex"], 0)

    @unittest.skipUnless(os.getuid(), "root reads every process")
    def test_process_that_forbids_to_be_read(self):
        """Says so, and has the times alone."""
        run = self.recorded([sys.executable, "-c", UNREADABLE])
        (dump,) = self.infos(run)
        self.assertTrue([m for m in dump["messages"] if "could not be looked at" in m["text"]], dump["messages"])
        self.assertGreater(weigh(run.dumps)["[no stack]"], 450_000_000)

    def test_without_switch_records(self):
        run = self.record([BLOCKED, "known", 10], "-e", EVENTS, "--sched=off")
        self.assertEqual((run.status, run.stderr.count(b"\n")), (2, 1))
        self.assertIn(b"off-cpu needs the switch records", run.stderr)


if __name__ == "__main__":
    harness.main()
