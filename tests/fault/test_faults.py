# SPDX-License-Identifier: Apache-2.0
"""The n-th system call and the n-th allocation of the preload fail, for every n through start,
run and end of a host: its output and its status stay what they are without us.

`test_faults.py LIBRARY`: the preload with tests/fault/faults.c linked in. By default each sweep
makes about 60 runs, other ones each time (the seed is printed; YARN_FAULT_SEED repeats one);
YARN_FAULT_ALL=1 makes every one, YARN_FAULT_AT=kind:n just one."""

import concurrent.futures
import errno
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import harness

LIBRARY = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
HOST = harness.HOSTS / "lifetime"
PLUGIN = harness.HOSTS / "libdlloop_alpha.so"
HANG_SECONDS = 60
FOR_EVER = 1 << 62
SAMPLED = 60
COUNTED = 6
PLAN = struct.Struct("=9Q")


class Outcome:
    def __init__(self, run, plan, folder):
        self.outside = (run.returncode, run.stdout)
        self.stderr = run.stderr
        self.nr_calls, self.nr_allocs, self.nr_failed, self.failed_call = plan[5:]
        self.dumps = sorted(folder.glob("*.dump*"))


def finish(process):
    """In steps of a second: a machine that stands still for long takes one of them."""
    for _ in range(HANG_SECONDS):
        try:
            outputs = process.communicate(timeout=1)
        except subprocess.TimeoutExpired:
            continue
        return subprocess.CompletedProcess(process.args, process.returncode, *outputs)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    raise subprocess.TimeoutExpired(process.args, HANG_SECONDS)


def run_host(call=(0, 0), error=errno.ENOMEM, alloc=(0, 0), preload=True, check=None, **variables):
    with tempfile.TemporaryDirectory(prefix="yarn-fault.") as name:
        folder = pathlib.Path(name)
        plan = folder / "plan"
        plan.write_bytes(PLAN.pack(*call, error, *alloc, 0, 0, 0, 0))
        environment = harness.clean_environment()
        if preload:
            environment.update(
                LD_PRELOAD=str(LIBRARY), FAULT_FILE=str(plan), YARN_OUTPUT=f"{folder}/d/"
            )
        environment.update(variables)
        process = subprocess.Popen(
            [str(HOST), str(PLUGIN)],
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        outcome = Outcome(finish(process), PLAN.unpack(plan.read_bytes()), folder / "d")
        if check:
            check(outcome)
        return outcome


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plain = run_host(preload=False)
        cls.counted = {}  # by the variables: the runs counted last, after one sweep and before the next
        cls.seed = int(os.environ.get("YARN_FAULT_SEED", random.randrange(1 << 32)))
        print(f"seed {cls.seed}", flush=True)

    def check_dumps(self, outcome):
        """Whatever was written before and after the fault can be read."""
        # Empty is a process's room that the fault kept its parent from removing.
        written = [dump for dump in outcome.dumps if dump.stat().st_size]
        if written:
            done = harness.yarnprof("verify", *written, check=False)
            self.assertEqual(done.returncode, 0, (done.stdout, done.stderr))

    def check(self, outcome):
        self.assertEqual(self.plain.outside[0], outcome.outside[0])
        self.assertEqual(self.plain.outside[1].decode(), outcome.outside[1].decode())
        lines = outcome.stderr.splitlines()
        # An image that cannot be profiled says so in one line; there are four.
        self.assertLessEqual(len(lines), 4, outcome.stderr)
        for line in lines:
            self.assertTrue(line.startswith(b"yarn: "), outcome.stderr)
        self.check_dumps(outcome)

    def one(self, kind, number, **options):
        first, _, last = kind.partition("-")
        until = FOR_EVER if last else number
        plan = {first: (number, until), **options}
        try:
            outcome = run_host(check=self.check, **plan)
            return None, outcome.nr_failed, outcome.failed_call
        except (AssertionError, subprocess.TimeoutExpired) as failure:
            return f"{kind}:{number} {options}: {failure}", 1, 0

    def count(self, pool, **variables):
        """Several runs: how often a reader wakes is a matter of time and of other load."""
        self.counted[str(variables)] = list(pool.map(lambda _: run_host(**variables), range(COUNTED)))
        return self.counted[str(variables)]

    def counts(self, kind, runs):
        return [run.nr_allocs if kind.startswith("alloc") else run.nr_calls for run in runs]

    def sweep(self, kind, error=errno.ENOMEM, **variables):
        """Goes as far as the longest of the counting runs; that a fault is reached is asked of the
        numbers that each of them had, before the sweep and after it."""
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            counted = self.counted.get(str(variables)) or self.count(pool, **variables)
            counts = self.counts(kind, counted)
            most = max(counts)
            numbers = list(range(1, most + 1))
            if not os.environ.get("YARN_FAULT_ALL"):
                chance = random.Random(self.seed)
                numbers = sorted(chance.sample(numbers, min(SAMPLED, most)))
            results = list(pool.map(lambda n: self.one(kind, n, error=error, **variables), numbers))
            least = min(counts + self.counts(kind, self.count(pool, **variables)))
        reached = [bool(nr_failed) for _, nr_failed, _ in results]
        calls = {call for _, nr_failed, call in results if nr_failed and call}
        print(
            f"{kind} {errno.errorcode[error]} {variables}: {len(numbers)} of {least} to {most}, the "
            f"fault was reached in {sum(reached)}, in {len(calls)} different system calls",
            flush=True,
        )
        failures = [message for message, _, _ in results if message]
        if failures:
            self.fail("\n\n".join([f"{len(failures)} failed", *failures[:5]]))
        of_each_run = [hit for number, hit in zip(numbers, reached) if number <= least]
        self.assertGreater(sum(of_each_run), 0.7 * len(of_each_run))

    def test_without_a_fault_every_process_is_recorded(self):
        # On a loaded machine the child may be over before its reader has begun.
        for _ in range(10):
            outcome = run_host(check=self.check)
            print(f"{outcome.nr_calls} calls, {outcome.nr_allocs} allocations", flush=True)
            self.assertEqual(outcome.nr_failed, 0)
            self.assertEqual(outcome.stderr, b"")
            if len(outcome.dumps) >= 3:  # main, its child, the second image
                return
        self.fail(f"{len(outcome.dumps)} dumps")

    def test_where_every_call_fails_nothing_is_recorded(self):
        outcome = run_host(call=(1, FOR_EVER), check=self.check)
        self.assertGreater(outcome.nr_failed, 0)
        self.assertEqual(outcome.dumps, [])

    def test_one_given(self):
        given = os.environ.get("YARN_FAULT_AT")
        if not given:
            self.skipTest("YARN_FAULT_AT names none")
        kind, _, number = given.partition(":")
        message, _, _ = self.one(kind, int(number))
        self.assertIsNone(message, message)

    def test_the_nth_call_fails(self):
        self.sweep("call")

    def test_the_nth_call_is_refused(self):
        self.sweep("call", error=errno.EPERM)

    def test_every_call_from_the_nth_on_fails(self):
        self.sweep("call-on", error=errno.EMFILE)

    def test_the_nth_call_fails_with_the_timer(self):
        self.sweep("call", error=errno.EAGAIN, YARN_SAMPLER="timer")

    def test_the_nth_allocation_fails(self):
        self.sweep("alloc")

    def test_every_allocation_from_the_nth_on_fails(self):
        self.sweep("alloc-on")


if __name__ == "__main__":
    if not LIBRARY or not LIBRARY.exists():
        print("usage: test_faults.py LIBRARY")
        sys.exit(1)
    if harness.open_user_clock():
        harness.skip("the kernel refuses perf_event_open here")
    harness.run_tests()
