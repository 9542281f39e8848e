# SPDX-License-Identifier: Apache-2.0
"""What SIGKILL leaves behind is readable, at whatever moment it comes. (How much it lacks then:
test_timing.py.)"""

import signal
import time

import control
import harness


class Case(harness.Case):
    def start_split(self):
        folder, begun = self.folder(), time.monotonic()
        return harness.start([harness.HOSTS / "split", "1000"], folder), begun, folder

    def kill(self, process, begun, folder):
        """The run, and when it was killed. Each dump says that it was cut off."""
        killed = time.monotonic()
        process.send_signal(signal.SIGKILL)
        run = harness.wait(process, begun, folder)
        self.assertEqual(run.status, -signal.SIGKILL)
        for dump in self.dumps_of(run):
            verified = harness.yarnprof("verify", dump)
            self.assertRegex((verified.stdout + verified.stderr).decode().lower(), "early")
        return run, killed

    def kill_after(self, seconds):
        started = self.start_split()
        time.sleep(seconds)
        return self.kill(*started)


class Kill(Case):
    def test_what_was_flushed_is_there(self):
        process, begun, folder = self.start_split()
        control.wait_for_sample(folder, "hot_a")
        run, _ = self.kill(process, begun, folder)
        trust = harness.trust(run.dumps)
        self.assertFalse(trust["clean_end"])
        self.assertEqual(trust["unwritten_ns"], 100_000_000)
        self.assertIn("hot_a", harness.self_percent(run.dumps))

    def test_every_moment(self):
        for milliseconds in (1, 3, 5, 10, 20, 50, 100, 150, 230, 400):
            with self.subTest(milliseconds=milliseconds):
                run, _ = self.kill_after(milliseconds / 1000)
                for dump in self.dumps_of(run):
                    harness.yarnprof("info", dump)


if __name__ == "__main__":
    harness.main()
