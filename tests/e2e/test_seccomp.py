# SPDX-License-Identifier: Apache-2.0
"""Hosts that shut themselves in: nothing of ours may make a call that a filter would punish."""

import os
import shutil
import signal
import subprocess

import harness

SANDBOX = harness.HOSTS / "sandbox"
PYTHON = "/usr/bin/python3"
LIBSECCOMP = """
import os, seccomp, sys
n = sum(i * i % 7 for i in range(800000))
f = seccomp.SyscallFilter(seccomp.KILL_PROCESS)
if sys.argv[1] == "all":
    f.set_attr(seccomp.Attr.CTL_TSYNC, True)
for name in ("write", "exit_group", "munmap", "mmap", "brk", "rt_sigaction", "close", "futex",
             "madvise", "mremap"):
    f.add_rule(seccomp.ALLOW, name)
f.load()
n += sum(i * i % 7 for i in range(800000))
print(n)
sys.stdout.flush()
os._exit(5)
"""


class Case(harness.Case):
    def assert_same_outside(self, argv, **variables):
        plain = self.run_program(argv, preload=False)
        if plain.status == harness.SKIPPED:
            self.skipTest("no filter can be set here")
        profiled = self.run_program(argv, **variables)
        self.assertEqual(plain.outside(), profiled.outside())
        if self.dumps_of(profiled):
            harness.yarnprof("verify", profiled.dumps)
        return profiled

    def only_dump(self, run):
        (dump,) = harness.info(run.dumps)
        return dump

    def messages(self, dump):
        return " ".join(message["text"] for message in dump["messages"])


class Filters(Case):
    """With whatever sampler there is: the dump says how far it goes."""

    def assert_ended_before(self, way, why, **variables):
        run = self.assert_same_outside([SANDBOX, way], **variables)
        dump = self.only_dump(run)
        self.assertEqual(dump["process"]["exit"], "seccomp")
        self.assertTrue(dump["trust"]["clean_end"])
        self.assertIn(why, self.messages(dump))
        shares = harness.self_percent(run.dumps)
        self.assertGreater(shares.get("work_before", 0), 90)
        return run

    def test_filter_of_all_threads_ends_the_recording(self):
        for way in ("tsync", "threads-all"):
            with self.subTest(way=way):
                run = self.assert_same_outside([SANDBOX, way])
                dump = self.only_dump(run)
                self.assertEqual(dump["process"]["exit"], "seccomp")
                self.assertIn("for all of its threads", self.messages(dump))
                self.assertIn("work_before", harness.self_percent(run.dumps))

    def test_any_filter_ends_the_timer_sampler(self):
        for way in ("prctl", "syscall", "tsync", "strict", "fork", "killed"):
            with self.subTest(way=way):
                self.assert_ended_before(way, "the host sets a seccomp filter", YARN_SAMPLER="timer")

    def test_threads_under_the_timer_sampler(self):
        run = self.assert_same_outside([SANDBOX, "threads-main"], YARN_SAMPLER="timer")
        self.assertEqual(self.only_dump(run)["process"]["exit"], "seccomp")

    def test_failed_filter_begins_another_recording(self):
        for sampler in ("auto", "timer"):
            with self.subTest(sampler=sampler):
                run = self.assert_same_outside([SANDBOX, "fail"], YARN_SAMPLER=sampler)
                self.assertEqual(run.stdout, b"refused as expected\ndone\n")
                ends = sorted(d["process"]["exit"] for d in harness.info(run.dumps))
                self.assertEqual(ends, ["exit", "seccomp"])
                self.assertIn("work_behind", harness.self_percent(run.dumps))

    def test_every_word_of_a_call_passes_through(self):
        run = self.assert_same_outside([SANDBOX, "calls"])
        self.assertEqual(run.stdout, b"six words\none word\nclone\nprctl\ndone\n")

    def test_children_of_a_shut_in_host_are_left_alone(self):
        run = self.assert_same_outside([SANDBOX, "fork"])
        self.assertEqual(run.stdout, b"child: 5\ndone\n")
        self.only_dump(run)

    def test_raw_filter_that_lets_us_through(self):
        """Not seen by anybody; a whitelist without our calls would end the host. Documented."""
        if harness.open_user_clock():
            self.skipTest("with the timer sampler that filter would end the host")
        self.assert_same_outside([SANDBOX, "raw"])


class PerfGoesOn(Case):
    """A filter of one thread, under perf: the reader is another thread."""

    def setUp(self):
        super().setUp()
        error = harness.open_user_clock()
        if error:
            self.skipTest(f"the kernel refuses perf_event_open: {os.strerror(error)}")

    def assert_goes_on(self, way, status=0, end=None):
        run = self.assert_same_outside([SANDBOX, way], YARN_SAMPLER="perf")
        self.assertEqual(run.status, status)
        dump = self.only_dump(run)
        self.assertEqual(dump["process"]["exit"], end)
        self.assertIn("the host has set a seccomp filter", self.messages(dump))
        shares = harness.self_percent(run.dumps)
        self.assertGreater(shares.get("work_behind", 0), 20)
        return run

    def test_filter_of_one_thread(self):
        for way, status in (("prctl", 4), ("syscall", 0), ("fork", 0), ("threads-main", 0)):
            with self.subTest(way=way):
                self.assert_goes_on(way, status)

    def test_kill(self):
        self.assert_goes_on("killed", -signal.SIGSYS)

    def test_kill_of_the_last_thread_is_the_end_of_the_process(self):
        self.assert_goes_on("killed-thread", -signal.SIGSYS, "exit_raw")
        self.assert_goes_on("strict-killed", -signal.SIGKILL, "exit_raw")

    def test_strict_mode(self):
        for way in ("strict", "strict-syscall"):
            with self.subTest(way=way):
                self.assert_goes_on(way, 6, "exit_raw")

    def test_second_filter_of_all_threads(self):
        self.assert_goes_on("twice", end="seccomp")

    def test_rights_given_up_behind_a_filter(self):
        if os.getuid() != 0:
            self.skipTest("needs root, to have rights that can be given up")
        run = self.assert_same_outside([SANDBOX, "setuid"], YARN_SAMPLER="perf")
        dump = self.only_dump(run)
        self.assertEqual(dump["process"]["exit"], "seccomp")
        self.assertIn("changed its rights", self.messages(dump))


class Libseccomp(Case):
    def test_whitelist(self):
        found = subprocess.run([PYTHON, "-c", "import seccomp"], capture_output=True)
        if found.returncode:
            self.skipTest("no python3-seccomp on this machine")
        for reach in ("all", "one"):
            for sampler in ("auto", "timer"):
                with self.subTest(reach=reach, sampler=sampler):
                    run = self.assert_same_outside(
                        [PYTHON, "-c", LIBSECCOMP, reach], YARN_SAMPLER=sampler
                    )
                    self.assertEqual(run.status, 5)
                    self.assertGreater(harness.trust(run.dumps)["samples"], 0)

    def test_bubblewrap(self):
        if not shutil.which("bwrap"):
            self.skipTest("no bwrap on this machine")
        argv = ["bwrap", "--bind", "/", "/", "--dev", "/dev", "--unshare-pid", "--proc", "/proc"]
        argv += [harness.HOSTS / "split", "5"]
        plain = self.run_program(argv, preload=False)
        if plain.status:
            self.skipTest(plain.stderr.decode())
        for sampler in ("auto", "timer"):
            with self.subTest(sampler=sampler):
                run = self.assert_same_outside(argv, YARN_SAMPLER=sampler)
                self.assertIn("hot_a", harness.self_percent(run.dumps))


if __name__ == "__main__":
    harness.main(needs_perf=False)
