# SPDX-License-Identifier: Apache-2.0
"""The control socket, start and delay of record --outside and -p: the preload's words, for a whole tree."""

import os
import pathlib
import signal
import sys
import time

import control
import harness
from outside import CHILDREN, SPLIT, Case, name_of


class Steered(Case):
    def begin(self, argv, *options):
        folder = self.folder()
        command = [harness.YARNPROF, "record", "--outside", "-o", f"{folder}/d/", *options, "--", *argv]
        recorder = harness.start(command, folder, preload=False, before=os.setpgrp)
        self.addCleanup(self.kill_all, recorder)
        return recorder, folder

    def kill_all(self, recorder):
        """The command, too, which goes on without it."""
        try:
            os.killpg(recorder.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        recorder.communicate()

    def socket_of(self, folder, pattern="*.sock"):
        control.wait_until(lambda: list(folder.glob(pattern)))
        (path,) = folder.glob(pattern)
        return path

    def end(self, recorder, folder):
        return self.finished(recorder, time.monotonic(), folder)

    def gaps(self, dump):
        return [(gap["stopped_by"], gap["started_by"]) for gap in dump["stopped"]]

    def test_start_stop_mark_flush_and_status(self):
        argv = [sys.executable, "-c", control.SPIN, "600"]
        recorder, folder = self.begin(argv, "--start=off", "--control=c.%p.sock")
        path = self.socket_of(folder)
        pid = int(path.name.split(".")[1])
        before = control.status(path)
        self.assertEqual((before["state"], before["pid"], before["samples"]), ("stopped", str(pid), "0"))
        control.let_work(pid, 0.3)
        self.assertEqual(control.status(path)["samples"], "0")
        self.assertEqual(control.ctl(path, "start").stdout, "recording\n")
        control.let_work(pid, 0.3)
        self.assertEqual(control.ctl(path, "mark", "second", "part").stdout, "marked\n")
        self.assertEqual(control.ctl(path, "flush").stdout, "flushed\n")
        self.assertGreater(harness.trust(folder / "d")["samples"], 50)
        during = control.status(path)
        self.assertEqual(during["state"], "recording")
        self.assertTrue(pathlib.Path(during["dump"]).is_absolute())
        self.assertEqual(control.ctl(path, "stop").stdout, "stopped\n")
        after = control.status(path)
        stored = harness.trust(folder / "d")["samples"]
        self.assertEqual(stored, int(after["samples"]))
        self.assertGreaterEqual(stored, int(during["samples"]))
        control.let_work(pid, 0.1)
        self.assertEqual(control.status(path)["samples"], after["samples"])
        (folder / "done").touch()
        run = self.end(recorder, folder)
        self.assertEqual((run.status, run.stderr), (0, b""))
        self.assertFalse(path.exists())
        (dump,) = [dump for dump in harness.info(folder / "d") if dump["trust"]["samples"]]
        trust = dump["trust"]
        self.assertEqual((dump["process"]["pid"], trust["samples"]), (pid, int(after["samples"])))
        self.assertEqual(self.gaps(dump), [("option", "socket"), ("socket", None)])
        self.assertEqual([message["text"] for message in dump["messages"] if message["kind"] == "mark"], ["second part"])
        # What passed while it was stopped is nobody's loss.
        self.assertGreater(trust["off_cpu_ns"], 300_000_000)
        self.assertLess(trust["unsampled_ns"], 0.1 * trust["cpu_ns"] + 20_000_000)
        harness.yarnprof("verify", folder / "d")

    def test_what_was_born_meanwhile_is_known(self):
        script = f"while [ ! -e go ]; do sleep 0.01; done; {SPLIT} 100000 & echo $!; wait"
        recorder, folder = self.begin(["sh", "-c", script], "--control=c.sock")
        path = self.socket_of(folder)
        control.ctl(path, "stop")
        (folder / "go").touch()
        split = int(recorder.stdout.readline())
        control.wait_until(lambda: os.readlink(f"/proc/{split}/exe") == str(SPLIT))
        control.ctl(path, "start")
        control.let_work(split, 0.5)
        control.ctl(path, "flush")
        os.kill(split, signal.SIGTERM)
        run = self.end(recorder, folder)
        self.assertEqual(run.stderr, b"")
        infos = harness.info(folder / "d")
        (dump,) = [dump for dump in infos if name_of(dump["process"]) == "split"]
        self.assertEqual(self.gaps(dump), [("socket", "socket")])
        trust = dump["trust"]
        self.assertEqual((trust["lost"], trust["stacks_complete"]), (0, trust["samples"]))
        shares = harness.self_percent(folder / "d")
        if trust["samples"] > 300:
            self.assertAlmostEqual(shares["hot_a"], 60, delta=9)
        self.assertEqual(dump["process"]["predecessor"]["pid"], split)

    def test_a_tree_that_never_starts_has_a_reason_and_no_loss(self):
        recorder, folder = self.begin([CHILDREN, "tree"], "--start=off")
        run = self.end(recorder, folder)
        self.assertEqual(run.status, self.run_program([CHILDREN, "tree"], preload=False).status)
        self.assertIn(b"--start=off, and nothing started it", run.outcome)
        (dump,) = harness.info(folder / "d")
        self.assertEqual((dump["trust"]["samples"], self.gaps(dump)), (0, [("option", None)]))
        self.assertLess(dump["trust"]["unsampled_ns"], 5_000_000)

    def test_a_delay_is_of_the_whole_tree(self):
        recorder, folder = self.begin(["sh", "-c", f"{SPLIT} 3; sleep 1; {SPLIT} 3"], "--delay=1h", "--control=c.sock")
        path = self.socket_of(folder)
        self.assertEqual(control.status(path)["state"], "stopped")
        run = self.end(recorder, folder)
        self.assertIn(b"before --delay=1h was over", run.outcome)
        report = harness.report(folder / "d")
        self.assertGreater(report["tree"]["cpu_ns"], 3_000_000)
        self.assertGreater(report["notes"]["stopped_cpu_ns"], 0.98 * report["tree"]["cpu_ns"])
        recorder, folder = self.begin([SPLIT, "20"], "--delay=50")
        run = self.end(recorder, folder)
        (dump,) = harness.info(folder / "d")
        self.assertEqual(self.gaps(dump), [("option", "delay")])
        self.assertGreater(dump["trust"]["samples"], 0)
        self.assertGreater(dump["trust"]["off_ns"], 45_000_000)

    def test_an_attached_process_is_steered(self):
        process = harness.start([SPLIT, "100000"], self.folder(), preload=False)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        control.wait_until(lambda: os.readlink(f"/proc/{process.pid}/exe") == str(SPLIT))
        folder = self.folder()
        command = [harness.YARNPROF, "record", "-p", process.pid, "--start=off", "--control=%e.%p.sock", "-o", f"{folder}/d/"]
        recorder = harness.start(command, folder, preload=False)
        path = self.socket_of(folder)
        self.assertEqual(path.name, f"split.{process.pid}.sock")
        self.assertEqual(control.status(path)["state"], "stopped")
        control.ctl(path, "mark", "early")
        control.ctl(path, "start")
        control.let_work(process.pid, 0.2)
        control.ctl(path, "stop")
        stored = int(control.status(path)["samples"])
        self.assertGreater(stored, 50)
        recorder.send_signal(signal.SIGINT)
        run = self.end(recorder, folder)
        self.assertEqual((run.status, run.stderr), (0, b""))
        self.assertIsNone(process.poll())
        (dump,) = harness.info(folder / "d")
        self.assertEqual((dump["trust"]["samples"], self.gaps(dump)), (stored, [("option", "socket"), ("socket", None)]))
        self.assertEqual([message["text"] for message in dump["messages"] if message["kind"] == "mark"], ["early"])

    def test_a_socket_that_cannot_be_had_is_a_failure_before_the_command(self):
        recorder, folder = self.begin(["touch", "ran"], f"--control={'x' * 200}")
        run = self.end(recorder, folder)
        self.assertEqual(run.status, 1)
        self.assertIn(b"107 bytes", run.stderr)
        self.assertFalse((folder / "ran").exists())


if __name__ == "__main__":
    harness.main()
