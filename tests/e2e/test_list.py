# SPDX-License-Identifier: Apache-2.0
"""yarnprof list: what can be measured here, for this user, and what strings become."""

import csv
import io
import json
import os
import pathlib
import shutil
import subprocess
import unittest

import harness

TREES = pathlib.Path(__file__).resolve().parent.parent / "expectations" / "trees"
DEVICES = "/sys/bus/event_source/devices"


def grow(tree, folder):
    """The files of a tree of made PMUs."""
    for line in (TREES / f"{tree}.tree").read_text().splitlines():
        if not line.startswith("#"):
            name, text = line.split(": ", 1)
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n")


class List(harness.Case):
    def list(self, *strings, front=(), env=None):
        run = subprocess.run([*front, harness.YARNPROF, "list", "--format=json", *strings],
                             capture_output=True, text=True, timeout=60, check=False,
                             env={**os.environ, **(env or {})})
        return run.returncode, json.loads(run.stdout)["events"], run.stderr

    @harness.also_as_root
    def test_the_catalogue_says_who_may_have_what(self):
        status, events, _ = self.list()
        self.assertEqual(status, 0)
        names = {event["name"]: event for event in events}
        for name in ("cpu-clock", "page-faults", "cycles", "L1-dcache-load-misses", "rNNN",
                     "mem:SYMBOL[+N][/LENGTH][:rwx]", "uprobe:PATH:SYMBOL[+OFFSET]"):
            self.assertIn(name, names)
        self.assertTrue(names["cpu-clock"]["usable"])
        for event in events:
            self.assertEqual(set(event), {"name", "kind", "usable", "why"})
            self.assertTrue(event["usable"] or event["why"], event["name"])
        if os.geteuid():
            self.assertRegex(names["SYSTEM:TRACEPOINT"]["why"], "mount -t tracefs|remount")

    def test_a_string_becomes_attributes(self):
        status, events, _ = self.list("{cpu-clock:u,page-faults/period=100/}:S", "mem:0x1000/8:w")
        clock, faults, watch = events
        self.assertEqual(status, 0)
        self.assertEqual((clock["type"], clock["config"], clock["period"]), (1, 0, 1001001))
        self.assertEqual(clock["excluded"], ["kernel", "hv"])
        self.assertEqual((faults["type"], faults["config"], faults["period"]), (1, 2, 100))
        self.assertEqual([clock["group"], faults["group"], watch["group"]], [1, 1, None])
        self.assertTrue(clock["reads_group"] and faults["reads_group"])
        self.assertEqual((watch["type"], watch["config1"], watch["config2"], watch["bp_type"]),
                         (5, 0x1000, 8, 2))
        self.assertTrue(watch["usable"])

    def test_csv_says_what_json_says(self):
        asked = "page-faults:u,cpu-clock/period=100000/"
        _, events, _ = self.list(asked)
        run = subprocess.run([harness.YARNPROF, "list", "--format=csv", asked],
                             stdout=subprocess.PIPE, text=True, check=True, timeout=60)
        rows = list(csv.DictReader(io.StringIO(run.stdout)))
        self.assertEqual(len(rows), 2)
        for row, event in zip(rows, events):
            self.assertEqual(list(row), list(event))
            for key in ("name", "kind", "config", "period"):
                self.assertEqual(row[key], "" if event[key] is None else str(event[key]))
            self.assertEqual(row["excluded"], ", ".join(event["excluded"]) or "nothing")

    def test_what_would_count_nothing_is_not_usable(self):
        _, (event,), _ = self.list("context-switches:u")
        self.assertFalse(event["usable"])
        self.assertIn("without the kernel", event["why"])

    def test_a_fault_has_its_place_and_the_nearest_name(self):
        status, (good, bad), complaint = self.list("cs", "cpu-clock,page-fault:u")
        self.assertEqual(status, 2)
        self.assertEqual(good["kind"], "software")
        self.assertEqual((bad["kind"], bad["usable"], bad["at"], bad["size"]), (None, False, 10, 10))
        self.assertIn("page-faults?", bad["why"])
        self.assertIn("page-faults?", complaint)

    @harness.as_root
    @unittest.skipUnless(shutil.which("unshare"), "needs unshare")
    def test_a_tracers_pmu_and_a_hybrid_machine(self):
        folder = self.folder()
        grow("hybrid", folder)
        lay = ["unshare", "-m", "sh", "-c",
               f'mount --make-rprivate / && mount --bind "$0" {DEVICES} && exec "$@"', str(folder)]
        if subprocess.run([*lay, "true"], capture_output=True, check=False).returncode:
            self.skipTest("this system lets nobody mount")
        status, events, _ = self.list("cycles", "intel_pt//", "power/energy-pkg/", front=lay)
        self.assertEqual(status, 0)
        core, atom, tracer, power = events
        self.assertEqual((core["type"], core["config"], core["cpus"]), (0, 0x400000000, "0"))
        self.assertEqual((atom["type"], atom["config"], atom["cpus"]), (0, 0xa00000000, "1"))
        self.assertEqual(core["name"], atom["name"])
        self.assertFalse(tracer["usable"])
        self.assertIn("trace", tracer["why"])
        self.assertEqual((power["unit"], power["config"]), ("Joules", 2))
        self.assertAlmostEqual(power["scale"] * 2 ** 32, 1)

    def test_a_processors_own_names_become_numbers(self):
        status, events, _ = self.list("skl::MEM_LOAD_RETIRED:L3_MISS:u",
                                      env={"LIBPFM_FORCE_PMU": "skl"})
        if status:
            self.skipTest("yarnprof was built without libpfm4")
        self.assertEqual((events[0]["type"], events[0]["config"]), (4, 0x20d1))
        self.assertEqual(events[0]["excluded"], ["kernel", "hv"])


if __name__ == "__main__":
    harness.main()
