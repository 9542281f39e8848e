# SPDX-License-Identifier: Apache-2.0
"""What SIGKILL leaves behind is readable, at whatever moment it comes."""

import signal
import time

import harness


class Kill(harness.Case):
    def kill_after(self, seconds):
        folder = self.folder()
        begun = time.monotonic()
        process = harness.start([harness.HOSTS / "split", "1000"], folder)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        run = harness.wait(process, begun, folder)
        self.assertEqual(run.status, -signal.SIGKILL)
        return run

    def test_dump_holds_all_but_the_last_interval(self):
        run = self.kill_after(3)
        verified = harness.yarnprof("verify", run.dumps)
        self.assertRegex((verified.stdout + verified.stderr).decode().lower(), "early")
        trust = harness.trust(run.dumps)
        self.assertFalse(trust["clean_end"])
        # 100 ms of YARN_INTERVAL and as much again for the reader's own turn.
        self.assertGreater(trust["samples"], (run.user_seconds - 0.3) * harness.FREQUENCY * 0.95)
        self.assertAlmostEqual(harness.self_percent(run.dumps).get("hot_a", 0), 60, delta=4)

    def test_every_moment(self):
        for milliseconds in (1, 3, 5, 10, 20, 50, 100, 150, 230, 400):
            with self.subTest(milliseconds=milliseconds):
                run = self.kill_after(milliseconds / 1000)
                for dump in self.dumps_of(run):
                    harness.yarnprof("verify", dump)
                    harness.yarnprof("info", dump)


if __name__ == "__main__":
    harness.main()
