# SPDX-License-Identifier: Apache-2.0
"""How much of the time before a kill is in no sample: that is up to when the reader had its turn, so
these run alone and may try twice."""

import os
import random
import re
import time

import harness
import test_idle
from test_kill import Case

NR_KILLS = int(os.environ.get("YARN_KILLS", 14))
# YARN_INTERVAL, and what the reader may take for its turn.
LOSS_SECONDS = 0.1 + 0.05
TIME = re.compile(rb" (\d+\.\d+):")


class Kill(Case):
    def test_dump_holds_all_but_the_last_interval(self):
        run, _ = self.kill_after(2)
        trust = harness.trust(run.dumps)
        # 100 ms of YARN_INTERVAL and as much again for the reader's own turn.
        self.assertGreater(trust["samples"], (run.user_seconds - 0.3) * harness.FREQUENCY * 0.95)

    def lost_seconds(self):
        """How much of the time before a kill at a random moment of two intervals has no sample, of a process
        that has long begun: test_kill.py has others."""
        run, killed = self.kill_after(random.uniform(2 * LOSS_SECONDS, 0.5))
        times = TIME.findall(harness.yarnprof("script", *self.dumps_of(run)).stdout)
        return killed - max(map(float, times))

    def test_random_moments(self):
        """YARN_KILLS=200 for the whole; one, and of more one in twenty, may lose more, where the reader waits for a core."""
        lost = sorted(self.lost_seconds() for _ in range(NR_KILLS))
        nr_more = sum(seconds > LOSS_SECONDS for seconds in lost)
        print(
            f"{NR_KILLS} kills: {lost[-1] * 1000:.0f} ms lost at most, "
            f"{lost[len(lost) // 2] * 1000:.0f} ms in the middle, {nr_more} above the bound"
        )
        self.assertLessEqual(nr_more, max(NR_KILLS // 20, 1))


class AfterIdleness(test_idle.Case):
    MODES = ("default", "timer", "per-thread", "timed")

    def at_rest(self):
        """(mode, what was started) of each mode: they come to rest beside each other."""
        started = {mode: self.start_paused(0, **test_idle.MODES[mode]) for mode in self.MODES}
        for process, _, _ in started.values():
            self.ask(process, "work 50")
        self.wait_for_rest(*(test_idle.Reader(process.pid) for process, _, _ in started.values()))
        return started.items()

    def test_kill_after_a_burst(self):
        """The interval begins with the first tick of CPU time."""
        for mode, (process, begun, folder) in self.at_rest():
            with self.subTest(mode=mode):
                self.say(process, "work 100000")
                time.sleep(0.3)
                killed = time.monotonic()
                process.kill()
                run = harness.wait(process, begun, folder)
                times = TIME.findall(harness.yarnprof("script", *self.dumps_of(run)).stdout)
                self.assertLessEqual(killed - max(map(float, times)), LOSS_SECONDS)

    def test_end_of_the_last_thread(self):
        """How much later the recording ends than the host: half of what an interval would take at most."""
        for mode, (process, begun, folder) in self.at_rest():
            with self.subTest(mode=mode):
                left = time.monotonic()
                self.ask(process, "raw")
                run = harness.wait(process, begun, folder)
                self.assertEqual(run.status, 7)
                ended = self.info_of(run.dumps)["process"]["end_ns"] / 1e9
                self.assertLessEqual(ended - left, 0.05)


if __name__ == "__main__":
    harness.main()
