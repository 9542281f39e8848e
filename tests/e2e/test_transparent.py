# SPDX-License-Identifier: Apache-2.0
"""The host's outside, its exit status, output and state, is the same with the preload."""

import os
import shutil
import subprocess
import time

import control
import harness


class Transparent(harness.Case):
    def assert_same_outside(self, argv, nr_dumps=1, **options):
        plain = self.run_plainly(argv, **options)
        profiled = self.run_program(argv, **options)
        self.assertEqual(plain.status, profiled.status)
        self.assertEqual(plain.stdout.decode(), profiled.stdout.decode())
        self.assertEqual(plain.stderr.decode(), profiled.stderr.decode())
        self.assertEqual(len(self.dumps_of(profiled)), nr_dumps)
        harness.yarnprof("verify", profiled.dumps)
        return profiled

    def test_main_thread_leaves_by_pthread_exit(self):
        run = self.assert_same_outside([harness.HOSTS / "pexit", "main"])
        self.assertIn(b"exit handler", run.stdout)
        self.assertIn("work_and_return", harness.self_percent(run.dumps))

    def test_last_thread_leaves_by_pthread_exit(self):
        run = self.assert_same_outside([harness.HOSTS / "pexit", "last"])
        self.assertIn(b"exit handler", run.stdout)
        self.assertIn("work_and_return", harness.self_percent(run.dumps))

    def test_only_thread_leaves_by_pthread_exit(self):
        run = self.assert_same_outside([harness.HOSTS / "pexit", "alone"])
        self.assertIn(b"exit handler", run.stdout)
        self.assertIn("main", harness.self_percent(run.dumps))

    def test_only_thread_leaves_by_the_raw_call(self):
        run = self.assert_same_outside([harness.HOSTS / "raw_exit", "only"])
        self.assertEqual(run.status, 7)
        self.assertIn("main", harness.self_percent(run.dumps))

    def test_main_thread_leaves_raw_while_another_works(self):
        run = self.assert_same_outside([harness.HOSTS / "raw_exit", "main"])
        self.assertEqual(run.status, 3)

    def test_both_threads_leave_raw(self):
        """The kernel takes the status from the last task of all, which now is the reader: it
        knows the main thread's (7), not that of another thread (5).See preload/LIMITS.md."""
        argv = [harness.HOSTS / "raw_exit", "both"]
        plain = self.run_plainly(argv)
        run = self.run_program(argv)
        self.assertEqual((plain.stdout, plain.stderr), (run.stdout, run.stderr))
        self.assertIn(run.status, (plain.status, 7))
        self.assertIn("work_and_end", harness.self_percent(run.dumps))

    def test_signals_that_every_task_is_asked_by(self):
        """The reader ends, for the host waits until each task has answered or is gone."""
        for sampler, number in (("auto", 33), ("timer", 33), ("auto", 31), ("timer", 40)):
            with self.subTest(sampler=sampler, number=number):
                run = self.assert_same_outside(
                    [harness.HOSTS / "asked", "tasks", str(number)], YARN_SAMPLER=sampler)
                self.assertIn(b"libpsx", harness.yarnprof("info", run.dumps).stdout)

    @harness.as_root
    def test_signals_that_every_task_is_asked_by_in_a_root_without_proc(self):
        for sampler in ("auto", "timer"):
            run = self.assert_same_outside(
                [harness.HOSTS / "asked", "tasks", "40", self.folder()], YARN_SAMPLER=sampler)
            self.assertIn(b"libpsx", harness.yarnprof("info", run.dumps).stdout)

    def test_every_signal_reaches_the_host(self):
        self.assert_same_outside([harness.HOSTS / "asked", "all"])

    def test_exceptions_of_a_loaded_library(self):
        plugin = harness.HOSTS / "libdlthrow_plugin.so"
        if not plugin.exists():
            self.skipTest("built without a C++ compiler")
        run = self.assert_same_outside([harness.HOSTS / "dlthrow", plugin])
        self.assertIn(b"raised by libgcc_s.so.1", run.stdout)

    def test_state_of_the_host(self):
        cwd = self.folder()
        run = self.assert_same_outside([harness.HOSTS / "hoststate"], cwd=cwd)
        self.assertIn(b"single-threaded: 1", run.stdout)

    def test_stack_that_calls_take(self):
        """At most 512 bytes more: handlers of crashes may have little (scripts/check stack)."""
        if harness.open_user_clock():
            self.skipTest("the signals of the timer sampler would come onto the stack, too")
        argv = [harness.HOSTS / "smallstack"]
        plain, run = self.run_program(argv, preload=False), self.run_program(argv, YARN_SAMPLER="perf")
        self.assertEqual((plain.status, run.status), (0, 0))
        without, taken = ({name: int(size) for name, size in map(bytes.split, one.stdout.splitlines())}
                          for one in (plain, run))
        self.assertEqual(len(taken), 7)
        more = {name: size - without[name] for name, size in taken.items()}
        self.assertLessEqual(max(more.values()), 512, more)

    def test_addresses_that_the_host_has_given_back(self):
        """It maps over them once more, and the reader must not lie there by then."""
        for sampler in ("auto", "timer"):
            run = self.assert_same_outside(
                [harness.HOSTS / "givenback"], YARN_INTERVAL="50s", YARN_SAMPLER=sampler
            )
            self.assertEqual(run.stdout.count(b"vacant"), 3)

    @harness.as_root
    def test_threads_that_enter_namespaces_at_once(self):
        argv = [harness.HOSTS / "setns_threads"]
        plain = self.run_plainly(argv)
        for _ in range(5):
            self.assertEqual(plain.outside(), self.run_program(argv).outside())

    def test_handler_that_enters_a_namespace_leaves_time_for_the_host(self):
        """A timer calls it more often than recordings can begin."""
        argv = [harness.HOSTS / "setns_threads", "timer"]
        plain = self.run_program(argv, preload=False)
        for sampler in ("auto", "timer"):
            run = self.run_program(argv, YARN_SAMPLER=sampler)
            self.assertEqual((plain.status, plain.stdout), (run.status, run.stdout))
            if not self.dumps_of(run):
                self.assertIn(b"again and again", run.stderr)

    def test_thread_sanitizer(self):
        """Its runtime replaces the C library's functions by some that want thread-local memory."""
        compiler = shutil.which("gcc")
        if not compiler:
            self.skipTest("no gcc here")
        source = harness.ROOT / "tests" / "hosts" / "setns_threads.c"
        program = self.folder() / "sanitized"
        words = [compiler, "-D_GNU_SOURCE", "-fsanitize=thread", "-O1", source, "-o", program]
        if subprocess.run(words, capture_output=True).returncode:
            self.skipTest("this gcc has no ThreadSanitizer")
        plain = self.run_program([program], preload=False)
        for _ in range(5):
            self.assertEqual(plain.outside(), self.run_program([program]).outside())

    @harness.as_root
    def test_rights_given_up_by_every_task(self):
        self.assert_same_outside([harness.HOSTS / "setids"])

    def test_children(self):
        plain = self.run_plainly([harness.HOSTS / "forks"])
        profiled = self.run_program([harness.HOSTS / "forks"])
        self.assertEqual(plain.outside(), profiled.outside())
        harness.yarnprof("verify", profiled.dumps)
        self.assertIn("main", harness.self_percent(profiled.dumps))

    def test_shell_pipeline(self):
        script = "for i in 1 2 3; do echo $i; done | sort -r | head -n 2; exit 3"
        plain = self.run_program(["/bin/sh", "-c", script], preload=False)
        profiled = self.run_program(["/bin/sh", "-c", script])
        self.assertEqual(plain.outside(), profiled.outside())

    def test_killed_by_a_signal(self):
        script = "kill -SEGV $$"
        plain = self.run_program(["/bin/sh", "-c", script], preload=False)
        profiled = self.run_program(["/bin/sh", "-c", script])
        self.assertEqual(plain.outside(), profiled.outside())

    def test_reader_adds_one_thread_and_no_descriptor(self):
        names = {}
        nr_threads = {}
        for preload in (False, True):
            folder = self.folder()
            begun = time.monotonic()
            process = harness.start([harness.HOSTS / "split", "10"], folder, preload)
            control.let_work(process.pid, 0.1)
            proc = f"/proc/{process.pid}"
            control.wait_until(lambda: len(os.listdir(f"{proc}/task")) == 1 + preload)
            names[preload] = sorted(os.listdir(f"{proc}/fd"))
            nr_threads[preload] = len(os.listdir(f"{proc}/task"))
            harness.wait(process, begun, folder)
        self.assertEqual(names[False], names[True])
        self.assertEqual(nr_threads[False] + 1, nr_threads[True])


class Record(harness.Case):
    def record(self, *command):
        return harness.yarnprof("record", "-o", f"{self.root}/", "--", *command, check=False)

    def test_status_is_the_commands_own(self):
        self.assertEqual(self.record("/bin/sh", "-c", "exit 42").returncode, 42)
        self.assertEqual(self.record("/bin/sh", "-c", "kill -TERM $$").returncode, 128 + 15)
        self.assertEqual(self.record("/no/such/program").returncode, 127)
        self.assertEqual(self.record("/etc/passwd").returncode, 126)

    def test_output_is_the_commands_own(self):
        plain = subprocess.run(
            [harness.HOSTS / "split", "3"], capture_output=True, env=harness.clean_environment()
        )
        recorded = self.record(harness.HOSTS / "split", "3")
        self.assertEqual(plain.stdout, recorded.stdout)
        self.assertIn("hot_a", harness.self_percent(self.root))


if __name__ == "__main__":
    harness.main()
