# SPDX-License-Identifier: Apache-2.0
"""A core goes offline and comes back in the middle of a recording: nothing ends, nothing is lost."""

import json
import os
import pathlib
import re
import time
import unittest

import harness

ONLINE = pathlib.Path("/sys/devices/system/cpu/cpu1/online")
SECONDS_OFF = 0.3
SCHED_SWITCH = "/sys/kernel/tracing/events/sched/sched_switch/format"
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
        plain = self.outside_without(argv)
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
        self.assertEqual(plain, run.outside())
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
        argv = [harness.HOSTS / "threads8", "20"]
        for variables in ({"YARN_STRATEGY": "per-core"}, {"YARN_READER": "timed"},
                          {"YARN_STRATEGY": "per-thread"},
                          {"YARN_STRATEGY": "per-thread", "YARN_READER": "timed"},
                          {"YARN_SAMPLER": "timer"}):
            with self.subTest(**variables):
                dump = self.check(argv, **variables)
                self.assertLess(dump["trust"]["unsampled_ns"], 0.3 * dump["trust"]["cpu_ns"])

    @unittest.skipUnless(os.access(SCHED_SWITCH, os.R_OK), "tracefs is not mounted")
    def test_tracepoints_of_the_whole_machine(self):
        """The kernel ends a core's events with it: they are opened again, and what is missing is said."""
        folder = self.folder()
        begun = time.monotonic()
        process = harness.start([harness.HOSTS / "threads8", "25"], folder, YARN_SCHED="tracepoints:all")
        time.sleep(0.4)
        switch(False)
        try:
            time.sleep(SECONDS_OFF)
        finally:
            switch(True)
        back = time.monotonic()
        harness.wait(process, begun, folder)
        (dump,) = harness.info(folder)
        made = json.loads(harness.yarnprof("sched", "--couplebreak", "--format=json", folder).stdout)
        times = {core: [event["time_ns"] / 1e9 for event in made["events"]
                        if event["name"] == "sched/sched_switch" and event["cpu"] == core] for core in (0, 1)}
        self.assertTrue([when for when in times[1] if when < back - SECONDS_OFF], "none before it went offline")
        if max(times[0]) < back + 0.3:
            self.skipTest("the program was over too soon after the core was back")
        self.assertGreater(len([when for when in times[1] if when > back + 0.2]), 20)
        waking = next(event for event in dump["events"] if event["name"] == "sched:sched_waking")
        self.assertTrue(waking["in_error"])
        self.assertIn("a core came online", json.dumps(dump))
        rows = json.loads(harness.yarnprof("sched", "--format=json", folder).stdout)["threads"]
        self.assertNotIn("waking", {row["runnable_from"] for row in rows})

    def test_clocks_of_whole_cores(self):
        dump = self.check([harness.HOSTS / "churn", "pairs", "4500", "200"],
                          YARN_STRATEGY="cores")
        self.assertIn("clocks of whole cores", dump["sampler"]["reason"])
        self.assertLess(dump["trust"]["unsampled_ns"], 0.4 * dump["trust"]["cpu_ns"])


if __name__ == "__main__":
    reason = cannot_switch()
    if reason:
        harness.skip(reason)
    harness.main()
