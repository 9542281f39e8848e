# SPDX-License-Identifier: Apache-2.0
"""What SIGKILL leaves behind is readable, at whatever moment it comes."""

import os
import random
import re
import signal
import time

import harness


NR_KILLS = int(os.environ.get("YARN_KILLS", 20))
# YARN_INTERVAL, and what the reader may take for its turn.
LOSS_SECONDS = 0.1 + 0.05
TIME = re.compile(rb" (\d+\.\d+):")


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
        self.assertEqual(trust["unwritten_ns"], 100_000_000)
        # 100 ms of YARN_INTERVAL and as much again for the reader's own turn.
        self.assertGreater(trust["samples"], (run.user_seconds - 0.3) * harness.FREQUENCY * 0.95)
        self.assertAlmostEqual(harness.self_percent(run.dumps).get("hot_a", 0), 60, delta=4)

    def lost_seconds(self):
        """How much of the time before a kill at a random moment has no sample. Nothing for a
        process that had hardly begun."""
        folder = self.folder()
        lives = random.uniform(0, 1.2)
        begun = time.monotonic()
        process = harness.start([harness.HOSTS / "split", "1000"], folder)
        time.sleep(lives)
        killed = time.monotonic()
        process.send_signal(signal.SIGKILL)
        run = harness.wait(process, begun, folder)
        self.assertEqual(run.status, -signal.SIGKILL)
        dumps = self.dumps_of(run)
        for dump in dumps:
            verified = harness.yarnprof("verify", dump)
            self.assertRegex((verified.stdout + verified.stderr).decode().lower(), "early")
        if lives < 2 * LOSS_SECONDS:
            return 0
        times = TIME.findall(harness.yarnprof("script", *dumps).stdout)
        return killed - max(map(float, times))

    def test_random_moments(self):
        """YARN_KILLS=200 for the whole; where others use the machine the reader may wait for its
        turn longer than is allowed here, so one kill in twenty may lose more."""
        lost = sorted(self.lost_seconds() for _ in range(NR_KILLS))
        nr_more = sum(seconds > LOSS_SECONDS for seconds in lost)
        print(
            f"{NR_KILLS} kills: {lost[-1] * 1000:.0f} ms lost at most, "
            f"{lost[len(lost) // 2] * 1000:.0f} ms in the middle, {nr_more} above the bound"
        )
        self.assertLessEqual(nr_more, NR_KILLS // 20)

    def test_every_moment(self):
        for milliseconds in (1, 3, 5, 10, 20, 50, 100, 150, 230, 400):
            with self.subTest(milliseconds=milliseconds):
                run = self.kill_after(milliseconds / 1000)
                for dump in self.dumps_of(run):
                    harness.yarnprof("verify", dump)
                    harness.yarnprof("info", dump)


if __name__ == "__main__":
    harness.main()
