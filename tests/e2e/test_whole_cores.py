# SPDX-License-Identifier: Apache-2.0
"""record --whole-cores: a command's tree, processes that run already, or all of the machine, by events of whole cores."""

import os
import pathlib
import shutil
import signal
import subprocess
import time

import control
import harness
from outside import CHILDREN, IMAGES, SPLIT, Case, key_of, name_of
from test_off_cpu import BLOCKED, weigh

UNREAD = rb"^yarnprof record: \d+ threads were not recorded \(Permission denied\)\n$"


class WholeCores(Case):
    def begin(self, argv, **more):
        process = subprocess.Popen([str(word) for word in argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        control.let_work(process.pid, 0.05)
        return process

    def record_others(self, *options):
        folder, begun = self.folder(), time.monotonic()
        command = [harness.YARNPROF, "record", "--whole-cores", "-o", f"{folder}/", *options]
        recorder = harness.start(command, folder, preload=False)
        run = self.finished(recorder, begun, folder)
        run.recorder_pid = recorder.pid
        return run

    def pids(self, run):
        return {process["pid"] for process in self.processes(run)}

    @harness.as_root
    def test_a_command_alone_is_recorded(self):
        other = self.begin([SPLIT, "100000"])
        run = self.assert_same_outside([SPLIT], "--whole-cores")
        (dump,) = self.infos(run)
        self.assertNotEqual(dump["process"]["pid"], other.pid)
        self.assert_whole(run)
        shares = harness.self_percent(run.dumps)
        for function, share in (("hot_a", 60), ("hot_b", 30), ("hot_c", 10)):
            self.assertAlmostEqual(shares[function], share, delta=4)

    @harness.as_root
    def test_its_tree_is(self):
        run = self.assert_same_outside([CHILDREN, "tree"], "--whole-cores")
        parent, child, grandchild = self.processes(run)
        self.assertIsNone(parent["parent"])
        self.assertEqual((child["parent"], grandchild["parent"]), (key_of(parent), key_of(child)))
        shares = harness.self_percent(run.dumps)
        self.assertAlmostEqual(shares["child_work"], 200 / 3, delta=4)

    @harness.as_root
    def test_each_image_names_the_one_before(self):
        images = self.processes(self.assert_same_outside([IMAGES, "execv", "3"], "--whole-cores"))
        self.assertEqual([name_of(image) for image in images], ["images"] * 4)
        for before, after in zip(images, images[1:]):
            self.assertEqual((after["predecessor"], before["exit"]), (key_of(before), "exec"))

    @harness.as_root
    def test_blocked_threads_of_a_command(self):
        run = self.record([BLOCKED, "known", "500"], "--whole-cores", "-e", "off-cpu")
        self.assertEqual(run.status, 0, run.stderr)
        self.assertGreater(weigh(run.dumps)["wait_mutex"], 450_000_000)

    @harness.as_root
    def test_a_process_that_runs_already(self):
        one, other = self.begin([SPLIT, "100000"]), self.begin([SPLIT, "100000"])
        run = self.record_others("-p", one.pid, "--duration=500ms")
        self.assertEqual((run.status, run.stderr), (0, b""))
        self.assertEqual(self.pids(run), {one.pid})
        self.assertIsNone(other.poll())

    @harness.as_root
    def test_all_of_the_machine(self):
        """Also what gains rights; but not the recorder itself."""
        rights = self.root / "rights"
        shutil.copy(SPLIT, rights)
        rights.chmod(0o4755)
        self.root.chmod(0o755)
        running = self.begin([SPLIT, "100000"])
        gains = self.begin([rights, "100000"], user=65533, group=65533)
        script = f"import subprocess, time; time.sleep(0.3); print(subprocess.run(['{SPLIT}', '3']).returncode)"
        later = subprocess.Popen(["python3", "-c", script], stdout=subprocess.PIPE)
        run = self.record_others("--duration=2s")
        later.communicate()
        self.assertRegex(run.stderr, rb"^$|" + UNREAD)
        pids = self.pids(run)
        self.assertLessEqual({running.pid, gains.pid}, pids)
        self.assertNotIn(run.recorder_pid, pids)
        named = [process for process in self.processes(run) if process["exe"] == str(SPLIT)]
        self.assertGreaterEqual(len(named), 2)
        self.assertGreater(harness.self_percent(run.dumps)["hot_a"], 0)
        self.assertIn(str(rights), [process["exe"] for process in self.processes(run)])
        harness.yarnprof("verify", run.dumps)

    @harness.as_root
    def test_an_interrupt_ends_it(self):
        self.begin([SPLIT, "100000"])
        folder, begun = self.folder(), time.monotonic()
        command = [harness.YARNPROF, "record", "--whole-cores", "-o", f"{folder}/"]
        recorder = harness.start(command, folder, preload=False)
        control.wait_until(lambda: any(folder.iterdir()))
        recorder.send_signal(signal.SIGINT)
        run = self.finished(recorder, begun, folder)
        self.assertEqual(run.status, 0, run.stderr)
        self.assertTrue(self.infos(run))

    def test_who_may_not_is_told_what_would_permit_it(self):
        if not os.getuid() or int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text()) < 1:
            self.skipTest("it is permitted here")
        for run in (self.record([SPLIT, "1"], "--whole-cores"), self.record_others()):
            self.assertEqual((run.status, run.stdout, self.dumps_of(run)), (1, b"", []))
            self.assertIn(b"CAP_PERFMON", run.stderr)

    def test_not_from_inside(self):
        run = self.record([SPLIT, "1"], "--whole-cores", "--inside")
        self.assertEqual(run.status, 2)
        self.assertIn(b"--whole-cores", run.stderr)


if __name__ == "__main__":
    harness.main()
