# SPDX-License-Identifier: Apache-2.0
"""record -p: processes that run already."""

import os
import pathlib
import resource
import signal
import time
import unittest

import control
import harness
from outside import CHILDREN, IMAGES, KNOWN, SPLIT, RELAYS, THREADS, Case, children_of, name_of


class Running(Case):
    def begin(self, argv, **more):
        process = harness.start(argv, self.folder(), preload=False, **more)
        self.addCleanup(self.finish, process)
        return process

    def finish(self, process):
        process.kill()
        process.communicate()

    def attach(self, pids, *options):
        folder = self.folder()
        command = [harness.YARNPROF, "record", "-p", pids, "-o", f"{folder}/", *options]
        return self.finished(harness.start(command, folder, preload=False), time.monotonic(), folder)

    def attach_and_interrupt(self, pid, workers, *options):
        """When each of the workers has had its time on a core."""
        folder, begun = self.folder(), time.monotonic()
        command = [harness.YARNPROF, "record", "-p", pid, "-o", f"{folder}/", *options]
        recorder = harness.start(command, folder, preload=False)
        control.wait_until(lambda: any(folder.iterdir()))
        for worker in workers:
            control.let_work(worker, 0.5 / len(workers))
        recorder.send_signal(signal.SIGINT)
        return self.finished(recorder, begun, folder)

    def assert_recorded(self, run):
        """Nothing but record's own line is said."""
        self.assertEqual((run.status, run.stderr), (0, b""))
        self.assertRegex(run.outcome, rb"^\[yarn: [0-9,]+ samples? in \d+ dumps?, [^\n]*\]\n$")

    def test_a_while_of_a_process_is_recorded_and_it_goes_on(self):
        process = self.begin([SPLIT, "12"])
        time.sleep(0.2)
        run = self.attach(process.pid, "--duration=0.5s")
        self.assert_recorded(run)
        self.assertIsNone(process.poll())
        output, _ = process.communicate(timeout=harness.HANG_SECONDS)
        self.assertEqual((process.returncode, output), self.outside_without([SPLIT, "12"])[:2])
        self.assert_whole(run)
        (dump,) = self.infos(run)
        self.assertEqual(dump["process"]["pid"], process.pid)
        self.assertEqual(dump["process"]["cmdline"], f"{SPLIT} 12")
        self.assertEqual(dump["process"]["exit"], "stopped")
        harness.yarnprof("verify", run.dumps)
        shares = harness.self_percent(run.dumps)
        # On a busy machine it may have been on a core for one of its turns alone.
        if dump["trust"]["samples"] >= 300:
            for function, share in (("hot_a", 60), ("hot_b", 30), ("hot_c", 10)):
                self.assertAlmostEqual(shares[function], share, delta=9)

    def test_an_interrupt_ends_the_recording_alone(self):
        process = self.begin(["sh", "-c", f"{SPLIT} 1000; exit 5"])
        time.sleep(0.2)
        run = self.attach_and_interrupt(process.pid, children_of(process.pid), "--tree")
        self.assert_recorded(run)
        self.assertIsNone(process.poll())
        self.assert_whole(run)
        (image,) = self.processes(run)
        self.assertEqual(name_of(image), "split")
        os.kill(image["pid"], signal.SIGTERM)
        self.assertEqual(process.wait(), 5)

    def test_the_recording_ends_with_the_processes(self):
        processes = [self.begin([SPLIT, rounds]) for rounds in ("6", "8")]
        run = self.attach(",".join(str(process.pid) for process in processes))
        self.assert_recorded(run)
        for process in processes:
            self.assertEqual(process.wait(), self.outside_without([SPLIT, "6"])[0])
        self.assert_whole(run)
        self.assertEqual({image["pid"] for image in self.processes(run)}, {p.pid for p in processes})
        self.assertEqual({image["exit"] for image in self.processes(run)}, {"exit"})

    def test_descendants_are_recorded_where_that_is_asked_for(self):
        script = f"{SPLIT} 12 & {SPLIT} 12 & wait"
        for options, names in (([], set()), (["--tree"], {"split"})):
            with self.subTest(options=options):
                process = self.begin(["sh", "-c", script])
                workers = children_of(process.pid, 2)
                run = (self.attach_and_interrupt(process.pid, workers, *options) if names else
                       self.attach(process.pid, "--duration=300"))
                self.assertEqual(run.status, 0)
                found = self.processes(run) if self.dumps_of(run) else []
                self.assertEqual({name_of(image) for image in found}, names)
                self.assertEqual(len(found), 2 * len(names))
                process.wait()

    def test_children_and_programs_of_later_are_recorded(self):
        process = self.begin(["sh", "-c", f"sleep 0.4; {CHILDREN} tree; {IMAGES} execv 1; true"])
        run = self.attach(process.pid)
        self.assertEqual(run.status, 0)
        names = [name_of(image) for image in self.processes(run)]
        # The shell hardly runs, and has a sample by chance.
        self.assertEqual([name for name in names if name != "dash"], ["children"] * 3 + ["images"] * 2)
        self.assert_whole(run)

    def test_threads_that_hand_on_their_work_are_all_found(self):
        for _ in range(3):
            process = self.begin([RELAYS, "8"])  # so long that the recorder comes in time
            time.sleep(0.1)
            run = self.attach_and_interrupt(process.pid, [process.pid])
            self.assert_recorded(run)
            trust = harness.trust(run.dumps)
            self.assertEqual(trust["stacks_complete"], trust["samples"])
            shares = harness.self_percent(run.dumps)
            for i in range(8):
                self.assertGreater(shares.get(f"relay_{i}", 0), 4, shares)
        self.assertEqual(process.wait(), 3)

    def test_threads_that_are_found_twice_are_counted_once(self):
        """Some have the events of the thread that made them, and were given their own before its record was read."""
        for _ in range(3):
            process = self.begin([RELAYS, "1", "10"])
            time.sleep(0.1)
            run = self.attach(process.pid)
            self.assertEqual(run.status, 0)
            _, _, used = os.wait4(process.pid, 0)
            process.returncode = 3
            used_ns = (used.ru_utime + used.ru_stime) * 1e9
            tree = harness.report(run.dumps)["tree"]
            for key in ("cpu_ns", "sampled_ns", "counted_ns"):
                print(f"{key}: {tree[key] / used_ns:.3f}")
                self.assertLess(tree[key], 1.05 * used_ns)
            self.assertGreater(tree["cpu_ns"], 0)

    def test_of_many_threads_the_sum_is_the_event_s_count(self):
        """With what switches take, which is the count less the spans: also where a reading of it takes long."""
        processes = [self.begin([KNOWN, "1", "300000", "pauses"]) for _ in range(10)]
        pids = ",".join(str(process.pid) for process in processes)
        tree = harness.report(self.attach(pids, "--tree", "--duration=800ms").dumps)["tree"]
        print(f"{tree['cpu_ns'] / tree['counted_ns']:.4f}")
        self.assertAlmostEqual(tree["cpu_ns"] / tree["counted_ns"], 1, delta=0.01)

    @unittest.skipUnless(os.getuid(), "root may record every process")
    def test_another_user_s_process_is_refused_in_words(self):
        if not os.path.exists("/proc/1") or os.stat("/proc/1").st_uid == os.getuid():
            self.skipTest("process 1 is this user's, or hidden")
        run = self.attach("1", "--duration=100")
        self.assertEqual(run.status, 1)
        self.assertIn(b"-p 1: it is another user's", run.stderr)
        self.assertIn(b"CAP_SYS_PTRACE", run.stderr)
        self.assertEqual(run.stderr.count(b"\n"), 1, run.stderr)

    @unittest.skipUnless(os.getuid(), "root may record every process")
    def test_a_process_that_forbids_to_be_looked_at_is_refused_in_words(self):
        dumpable = 4  # PR_SET_DUMPABLE
        process = self.begin(["python3", "-c", f"import ctypes, time; ctypes.CDLL(None).prctl({dumpable}, 0)\n"
                              "print('ready', flush=True); time.sleep(600)"])
        self.assertEqual(process.stdout.readline(), b"ready\n")
        run = self.attach(process.pid, "--duration=100")
        self.assertEqual((run.status, run.stderr.count(b"\n")), (1, 1), run.stderr)
        self.assertIn(b"forbids to be looked at: root may record it, or who has CAP_SYS_PTRACE", run.stderr)

    def test_a_process_whose_first_thread_has_ended_is_refused_in_words(self):
        process = self.begin(["python3", "-c", "import ctypes, threading, time\n"
                              "threading.Thread(target=time.sleep, args=(600,)).start()\n"
                              "print('ready', flush=True); ctypes.CDLL(None).pthread_exit(None)"])
        self.assertEqual(process.stdout.readline(), b"ready\n")
        stat = pathlib.Path(f"/proc/{process.pid}/stat")
        control.wait_until(lambda: stat.read_text().rsplit(")", 1)[1].split()[0] == "Z")
        run = self.attach(process.pid, "--duration=100")
        self.assertEqual((run.status, run.stderr.count(b"\n")), (1, 1), run.stderr)
        self.assertIn(b"its first thread has ended", run.stderr)

    def test_where_descriptors_are_few_some_threads_are_recorded(self):
        """And what is needed for their dump is left."""
        process = self.begin([THREADS, "1000"])
        control.wait_until(lambda: len(os.listdir(f"/proc/{process.pid}/task")) > 8)
        a_thread = 3 * os.sysconf("SC_NPROCESSORS_ONLN")  # descriptors: one of these limits leaves none
        for limit in range(26 + a_thread, 26 + 2 * a_thread)[:12]:
            folder = self.folder()
            command = [harness.YARNPROF, "record", "-p", process.pid, "--duration=100ms", "-o", f"{folder}/"]
            run = self.finished(harness.start(command, folder, preload=False, before=lambda: resource.setrlimit(
                resource.RLIMIT_NOFILE, (limit, limit))), time.monotonic(), folder)
            print(limit, run.status, run.stderr)
            self.assertNotIn(b"created", run.stderr)
            if run.status:
                self.assertRegex(run.stderr, rb"Too many open files|raise the limit of open files")
            elif run.stderr:
                self.assertRegex(run.stderr, rb"\d threads? (was|were) not recorded \(Too many open files\)\n$")

    def test_what_is_no_process_is_said(self):
        for pids, status, text in (("0", 2, b"numbers of processes"), ("12,", 2, b"numbers of processes"),
                                   ("4194303", 1, b"there is no such process")):
            run = self.attach(pids)
            self.assertEqual(run.status, status)
            self.assertIn(text, run.stderr)
            self.assertEqual(run.stderr.count(b"\n"), 1)

    def test_what_cannot_be_followed_is_said_as_it_is(self):
        process = self.begin(["python3", "-c", "import threading, time\n"
                              "threading.Thread(target=time.sleep, args=[60]).start()\n"
                              "print('ready', flush=True)"])
        self.assertEqual(process.stdout.readline(), b"ready\n")
        threads = {int(tid) for tid in os.listdir(f"/proc/{process.pid}/task")} - {process.pid}
        kernel = pathlib.Path("/proc/2/status")
        has_kernel = not os.getuid() and kernel.exists() and "kthreadd" in kernel.read_text()
        self.assertTrue(threads)
        for pid, text in ((threads.pop(), b"that is a thread's number"),
                          *([(2, b"a thread of the kernel")] if has_kernel else ())):
            run = self.attach(pid, "--duration=100")
            self.assertEqual((run.status, run.stderr.count(b"\n")), (1, 1))
            self.assertIn(text, run.stderr)

    def test_where_nothing_can_be_written_that_is_the_only_reason(self):
        process = self.begin([SPLIT, "30"])
        own = self.outside_without([SPLIT, "1"])[0]
        for of, more, status in ((["-p", process.pid], ["--duration=300"], 1), (["--outside"], [SPLIT, "1"], own)):
            done = harness.yarnprof("record", *of, "-o", "/proc/nowhere/", *more, check=False)
            self.assertEqual((done.returncode, done.stderr.count(b"\n")), (status, 1), done.stderr)
            self.assertIn(b"cannot be written to", done.stderr)

    def test_tree_is_of_processes_that_run(self):
        run = self.record(["true"], "--tree")
        self.assertEqual(run.status, 2)
        self.assertIn(b"-p PID", run.stderr)


if __name__ == "__main__":
    harness.main()
