# SPDX-License-Identifier: Apache-2.0
"""A core goes offline and comes back in the middle of a recording: nothing ends, nothing is lost."""

import os
import pathlib
import re
import time

import harness

ONLINE = pathlib.Path("/sys/devices/system/cpu/cpu1/online")
SECONDS_OFF = 0.3
SAMPLE = re.compile(r"\s\[(\d+)\]\s+(\d+\.\d+):")


def switch(is_on):
    ONLINE.write_text("1" if is_on else "0")


def cannot_switch():
    """Why not, where a core cannot be taken offline here; else None."""
    if not ONLINE.exists():
        return "no second core that could go offline"
    try:
        switch(False)
    except OSError as error:
        return f"cpu1 cannot be taken offline: {error.strerror}"
    finally:
        if os.access(ONLINE, os.W_OK):
            switch(True)
    return None


class Hotplug(harness.Case):
    def samples_by_core(self, folder):
        """(core, time) of each sample."""
        text = harness.yarnprof("script", folder).stdout.decode(errors="replace")
        return [(int(core), float(when)) for core, when in SAMPLE.findall(text)]

    def check(self, argv, **variables):
        plain = self.run_program(argv, preload=False)
        folder = self.folder()
        begun = time.monotonic()
        process = harness.start(argv, folder, **variables)
        time.sleep(0.3)
        switch(False)
        try:
            time.sleep(SECONDS_OFF)
        finally:
            switch(True)
        back = time.monotonic()
        run = harness.wait(process, begun, folder)
        self.assertEqual(plain.outside(), run.outside())
        harness.yarnprof("verify", folder)
        (dump,) = harness.info(folder)
        samples = self.samples_by_core(folder)
        later = [core for core, when in samples if when > back + 0.2]
        if len(later) < 200:
            self.skipTest("the program was over too soon after the core was back")
        print(f"\n{variables}: {len(samples)} samples, cpu1 had {later.count(1)} of {len(later)}"
              f" after it was back; {dump['sampler']['strategy']} {dump['sampler']['reason']}")
        self.assertGreater(later.count(1), 0.1 * len(later))
        return dump

    def test_each_way_to_sample(self):
        argv = [harness.HOSTS / "threads8", "25"]
        for variables in ({"YARN_STRATEGY": "per-core"}, {"YARN_READER": "timed"},
                          {"YARN_STRATEGY": "per-thread"},
                          {"YARN_STRATEGY": "per-thread", "YARN_READER": "timed"},
                          {"YARN_SAMPLER": "timer"}):
            with self.subTest(**variables):
                dump = self.check(argv, **variables)
                self.assertLess(dump["trust"]["unsampled_ns"], 0.3 * dump["trust"]["cpu_ns"])

    def test_clocks_of_whole_cores(self):
        dump = self.check([harness.HOSTS / "churn", "pairs", "9000", "200"],
                          YARN_STRATEGY="cores")
        self.assertIn("clocks of whole cores", dump["sampler"]["reason"])
        self.assertLess(dump["trust"]["unsampled_ns"], 0.4 * dump["trust"]["cpu_ns"])


if __name__ == "__main__":
    reason = cannot_switch()
    if reason:
        harness.skip(reason)
    harness.main()
