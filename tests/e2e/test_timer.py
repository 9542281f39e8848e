# SPDX-License-Identifier: Apache-2.0
"""The timer sampler: where perf is refused, and where it is asked for."""

import errno
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unittest

import control
import harness
import workloads

PYTHON = "/usr/bin/python3"
HERE = pathlib.Path(__file__).resolve().parents[1] / "hosts"
TIMER = {"YARN_SAMPLER": "timer"}
TICKS_A_SCAN = 25  # of 4 ms, at the interval of 100


class Timer(harness.Case):
    def assert_same_outside(self, argv, **variables):
        profiled = self.run_program(argv, **TIMER, **variables)
        self.assertEqual(self.outside_without(argv), profiled.outside())
        if self.dumps_of(profiled):
            harness.yarnprof("verify", profiled.dumps)
        return profiled

    def assert_well_sampled(self, run):
        (dump,) = harness.info(run.dumps)
        trust = dump["trust"]
        self.assertGreater(trust["samples"], 0)
        self.assert_nothing_is_lost(run, trust)
        self.assert_threads_are_sampled(dump, 0.06)
        # A library that is loaded meanwhile is known from the next scan on, up to 100 ms later.
        new = min(trust["stacks_no_unwind_info"], TICKS_A_SCAN)
        whole = trust["stacks_complete"] + new
        # Of a short run on a busy machine there are few, and some end in the loader.
        self.assertGreaterEqual(whole, 0.98 * trust["samples"] - 5)
        return trust

    def sampler(self, run):
        (dump,) = harness.info(run.dumps)
        return dump["sampler"]

    def test_shares_are_true(self):
        run = self.assert_same_outside([harness.HOSTS / "split", "30"])
        self.assert_well_sampled(run)
        shares = harness.self_percent(run.dumps)
        for function, percent in (("hot_a", 60), ("hot_b", 30), ("hot_c", 10)):
            with self.subTest(function=function):
                self.assertAlmostEqual(shares.get(function, 0), percent, delta=1.5)
        sampler = self.sampler(run)
        self.assertEqual((sampler["asked"], sampler["got"]), ("timer", "timer"))
        self.assertEqual(sampler["reason"], "")

    def test_frequency_above_the_tick_is_made_up_by_weight(self):
        run = self.assert_same_outside([harness.HOSTS / "split", "10"], YARN_FREQUENCY="20000")
        trust = self.assert_well_sampled(run)
        self.assertLess(trust["samples"], 2000 * trust["cpu_ns"] / 1e9)

    def test_real_programs(self):
        for name, argv in workloads.make(self.folder(), 0.25).items():
            if name in ("threads8", "python-mix"):
                with self.subTest(program=name):
                    run = self.assert_same_outside(argv)
                    self.assert_well_sampled(run)

    def test_waits_are_not_interrupted(self):
        run = self.assert_same_outside([harness.HOSTS / "waits"], YARN_FREQUENCY="5000")
        self.assertIn(b"waits: 0 interrupted", run.stdout)
        self.assert_well_sampled(run)

    def test_small_stacks(self):
        run = self.assert_same_outside([harness.HOSTS / "coroutines"], YARN_FREQUENCY="5000")
        shares = harness.self_percent(run.dumps)
        self.assertGreater(shares.get("run", 0), 97)

    def trace(self, how, rounds, **variables):
        """The numbers that the tracer prints, and the dump of what it traced."""
        argv = [harness.HOSTS / "traced", how, harness.HOSTS / "split", str(rounds)]
        run = self.run_program(argv, **TIMER, **variables)
        reported = re.search(rb"reported: (\d+) signals, exit (-?\d+), signal (\d+)", run.stdout)
        dumps = [dump for dump in harness.info(run.dumps) if "split" in dump["process"]["exe"]]
        return [int(number) for number in reported.groups()], dumps

    @unittest.skipUnless(shutil.which("valgrind"), "needs valgrind")
    def test_valgrind(self):
        """No timers there; but its low addresses have room for us, and nothing is printed."""
        run = self.run_program(["valgrind", "-q", "/bin/true"], YARN_EMPTY="keep",
                               YARN_SAMPLER="timer", YARN_COMM="true")
        self.assertEqual((run.status, run.stderr), (0, b""))
        self.assertEqual(len(self.dumps_of(run)), 1)

    def test_tracer_sees_no_signal(self):
        numbers, (dump,) = self.trace("start", 3)
        self.assertEqual(numbers, [0, 0, 0])
        self.assertEqual(dump["trust"]["samples"], 0)
        self.assertIn("while a debugger traced", str(dump["messages"]))

    def test_tracer_that_holds_a_signal_beyond_the_end_of_the_recording(self):
        for seconds in (2, 8, 32):  # on a busy machine no thread may have had a tick before the end
            numbers, (dump,) = self.trace("late", 5 * seconds, YARN_DURATION=f"{seconds}s")
            if numbers[0]:
                break
        self.assertGreater(numbers[0], 0)
        self.assertLess(numbers[0], 10 * seconds)
        self.assertEqual(numbers[1:], [0, 0])
        self.assertTrue(dump["trust"]["clean_end"])

    def signals(self, what, **variables):
        return self.assert_same_outside([harness.HOSTS / "signals", what], **variables)

    def test_hosts_signals_are_as_without(self):
        """Handlers by the kernel's call, all passed on to a child, the older calls, waits under masks,
        what is refused, cancellation: nothing of ours is seen, and they are sampled."""
        for what in ("raw", "forward", "old", "masks", "bad", "cancel"):
            with self.subTest(what=what):
                run = self.signals(what)
                if what != "bad":
                    self.assert_mostly_sampled(run)
        for what in ("handle", "wait"):
            with self.subTest(what=what):
                run = self.assert_same_outside([harness.HOSTS / "rtsignals", what])
                self.assert_mostly_sampled(run)

    def assert_mostly_sampled(self, run):
        """Of what is done beside handlers and waits the machine decides how much a tick sees."""
        trust = harness.trust(run.dumps)
        self.assertLess(trust["unsampled_ns"], 0.5 * trust["cpu_ns"])

    def test_what_the_host_blocks_is_blocked_and_sampled_in_its_place(self):
        run = self.signals("blocked")
        self.assert_well_sampled(run)
        shares = harness.self_percent(run.dumps)
        self.assertAlmostEqual(shares["behind_mask"], shares["in_front_of_mask"], delta=10)

    def test_time_behind_a_mask_of_all_64_is_in_no_sample(self):
        run = self.signals("rawblocked")
        trust = harness.trust(run.dumps)
        self.assertGreater(trust["unsampled_ns"], 0.4 * trust["cpu_ns"])
        self.assertGreater(harness.self_percent(run.dumps)["in_front_of_mask"], 97)
        self.assertIn(b"blocked signal 32", harness.yarnprof("info", run.dumps).stdout)
        self.assert_all_but_blocked_is_sampled(trust)

    def assert_all_but_blocked_is_sampled(self, trust):
        """But for a tick of 10 ms at most, where the thread begins and ends to block the signal."""
        self.assertGreater(trust["blocked_ns"], 0)
        lost_ns = trust["lost"] * 1e9 / harness.FREQUENCY
        self.assertLessEqual(trust["unsampled_ns"] - trust["blocked_ns"] - lost_ns,
                             0.03 * trust["cpu_ns"] + 20_000_000)

    def test_handler_on_a_small_alternate_stack_meets_no_tick(self):
        run = self.signals("small", YARN_FREQUENCY="5000")
        self.assertNotIn("on_small_stack", harness.self_percent(run.dumps))
        self.assertIn(b"alternate stack", harness.yarnprof("info", run.dumps).stdout)
        self.assert_all_but_blocked_is_sampled(harness.trust(run.dumps))

    def test_small_alternate_stack_set_by_the_kernels_call_is_seen_by_the_next_tick(self):
        run = self.signals("rawsmall")
        self.assertNotIn("on_small_stack", harness.self_percent(run.dumps))
        self.assertIn(b"alternate stack", harness.yarnprof("info", run.dumps).stdout)

    def test_go_program_with_c_in_it_receives_none(self):
        if not shutil.which("go"):
            self.skipTest("no go (Debian's package golang-go)")
        folder = self.folder()
        built = subprocess.run(
            ["go", "build", "-o", folder / "forwarder", HERE / "forwarder.go"],
            env={**harness.clean_environment(), "HOME": str(folder), "CGO_ENABLED": "1"},
            capture_output=True, check=False)
        self.assertEqual((built.returncode, built.stderr), (0, b""))
        run = self.assert_same_outside([folder / "forwarder"])
        self.assertIn(b"received: 1, others: 0", run.stdout)
        shares = harness.self_percent(run.dumps)
        self.assertGreater(shares.get("main.workInGo", 0), 10)
        self.assertLess(shares.get("runtime.cgoSigtramp.abi0", 0), 3)

    def test_host_that_dies_of_a_real_time_signal(self):
        run = self.assert_same_outside([harness.HOSTS / "rtsignals", "die"])
        self.assertLess(run.status, -33)

    def test_state_of_the_host(self):
        """Only the handled signal shows, in /proc."""
        argv = [harness.HOSTS / "hoststate"]
        cwd = self.folder()
        caught = re.compile(rb"SigCgt:.*\n")
        plain = self.run_program(argv, preload=False, cwd=cwd)
        profiled = self.run_program(argv, cwd=cwd, **TIMER)
        self.assertEqual(caught.sub(b"", plain.stdout), caught.sub(b"", profiled.stdout))

    def test_execs_while_timers_fire(self):
        script = "i=0; while [ $i -lt 50 ]; do sh -c 'exec /bin/true' || echo bad; i=$((i+1)); done"
        self.assert_same_outside(["/bin/sh", "-c", script], YARN_FREQUENCY="10000")

    def test_children(self):
        run = self.assert_same_outside([harness.HOSTS / "forks"])
        self.assertIn("main", harness.self_percent(run.dumps))

    def test_last_thread_leaves_by_pthread_exit(self):
        for how in ("main", "last", "alone"):
            with self.subTest(how=how):
                run = self.assert_same_outside([harness.HOSTS / "pexit", how])
                self.assertIn(b"exit handler", run.stdout)

    def test_killed(self):
        folder = self.folder()
        begun = time.monotonic()
        process = harness.start([harness.HOSTS / "split", "200"], folder, **TIMER)
        control.wait_for_sample(folder, "hot_a")
        process.send_signal(signal.SIGKILL)
        run = harness.wait(process, begun, folder)
        harness.yarnprof("verify", run.dumps)
        self.assertIn("hot_a", harness.self_percent(run.dumps))

    def test_every_signal_blocked_from_the_start(self):
        argv = [harness.HOSTS / "split", "5"]
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            self.assert_well_sampled(self.assert_same_outside(argv))
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def test_host_sees_the_mask_that_it_set(self):
        """By either function, of all and of some, and what a thread inherits."""
        program = (
            "import ctypes, signal, threading\n"
            "libc = ctypes.CDLL(None)\n"
            "def read(call):\n"
            "    mask = ctypes.create_string_buffer(128)\n"
            "    assert call(0, None, mask) == 0\n"
            "    return mask.raw[:8].hex()\n"
            "def show():\n"
            "    sum(i * i for i in range(300000))\n"
            "    print(read(libc.sigprocmask), read(libc.pthread_sigmask))\n"
            "for mask in (range(1, 65), [10], [60, 62], range(34, 65), []):\n"
            "    print(len(signal.pthread_sigmask(signal.SIG_SETMASK, mask)))\n"
            "    show()\n"
            "    thread = threading.Thread(target=show)\n"
            "    thread.start()\n"
            "    thread.join()\n")
        self.assert_same_outside([PYTHON, "-c", program])

    def test_host_waits_for_the_signal_without_a_handler(self):
        program = (
            "import os, signal, threading\n"
            "sum(i * i for i in range(1000000))\n"
            "for number in range(34, 65):\n"
            "    signal.pthread_sigmask(signal.SIG_BLOCK, [number])\n"
            "    os.kill(os.getpid(), number)\n"
            "    print(signal.sigwait([number]))\n"
            "    sum(i * i for i in range(300000))\n")
        self.assert_same_outside([PYTHON, "-c", program])


class Refused(harness.Case):
    def run_without_perf(self, error, rounds=3, **variables):
        argv = [harness.HOSTS / "noperf", str(error), harness.HOSTS / "split", str(rounds)]
        run = self.run_program(argv, **variables)
        if run.status == harness.SKIPPED:
            self.skipTest(run.stderr.decode())
        return run

    def test_falls_back_by_itself(self):
        for error, rounds in ((errno.EPERM, 12), (errno.EACCES, 5), (errno.ENOSYS, 5)):
            with self.subTest(error=errno.errorcode[error]):
                run = self.run_without_perf(error, rounds)
                self.assertEqual(self.outside_without([harness.HOSTS / "split", rounds]), run.outside())
                (dump,) = harness.info(run.dumps)
                sampler = dump["sampler"]
                self.assertEqual((sampler["asked"], sampler["got"]), ("auto", "timer"))
                self.assertIn(errno.errorcode[error], sampler["reason"])
                self.assert_threads_are_sampled(dump, 0.36 / rounds)
                self.assertGreater(harness.self_percent(run.dumps).get("hot_a", 0), 50)

    def test_perf_alone_never_falls_back(self):
        plain = self.run_plainly([harness.HOSTS / "split", "3"])
        run = self.run_without_perf(errno.EPERM, YARN_SAMPLER="perf")
        self.assertEqual((plain.status, plain.stdout), (run.status, run.stdout))
        self.assertRegex(run.stderr, rb"^yarn: nothing is recorded: .*\n$")
        self.assertEqual(self.dumps_of(run), [])

    def test_events_that_no_timer_has(self):
        run = self.run_without_perf(errno.EPERM, YARN_EVENTS="page-faults")
        self.assertEqual(run.status, 0)
        self.assertRegex(run.stderr, rb"^yarn: nothing is recorded: .*\n$")

    def test_limit_of_pending_signals(self):
        if not shutil.which("prlimit"):
            self.skipTest("no prlimit")
        argv = ["prlimit", "--sigpending=0", harness.HOSTS / "split", "5"]
        run = self.run_program(argv, **TIMER)
        self.assertEqual(run.status, 0)


if __name__ == "__main__":
    harness.main(needs_perf=False)
