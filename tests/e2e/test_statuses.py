# SPDX-License-Identifier: Apache-2.0
"""The status of an event, what became of it: the same in `record`, `report`, `info`, the page and `stat`."""

import json
import os
import pathlib
import sys

import harness

BUSY = [sys.executable, "-c", "sum(range(5 * 10**6))"]
SHORT = 'import os\nfor _ in range(20):\n  pid = os.fork()\n  if not pid: os._exit(0)\n  os.wait()\nsum(range(10**6))'


class Statuses(harness.Case):
    def recorded(self, events, *command):
        folder = self.folder()
        run = harness.yarnprof("record", "-o", f"{folder}/", "-e", events, "--", *command)
        lines = [line for line in run.stderr.decode().splitlines() if line.startswith("[yarn: ")]
        statuses = json.loads(harness.yarnprof("report", "--format=json", folder).stdout)["statuses"]
        return folder, lines, {status["event"]: status for status in statuses}

    def test_a_refused_event_is_named_everywhere(self):
        folder, lines, statuses = self.recorded("cpu-clock:u,mem:no_such/8:w", *BUSY)
        self.assertEqual(len(lines), 1)
        self.assertRegex(lines[0], r"; mem:no_such/8:w: refused: .*symbol")
        self.assertNotIn("cpu-clock", lines[0])
        self.assertEqual([statuses[name]["status"] for name in ("cpu-clock:u", "mem:no_such/8:w")],
                         ["as asked", "refused"])
        self.assertIn("mem:no_such/8:w: refused: ", harness.yarnprof("report", folder).stdout.decode())
        (dump,) = harness.info(folder)
        self.assertEqual([event["status"] for event in dump["events"]], ["as asked", "refused"])
        self.assertIn("mem:no_such/8:w: refused: ", harness.yarnprof("flamegraph", folder).stdout.decode())

    def test_what_was_had_as_asked_is_no_line(self):
        _, lines, statuses = self.recorded("cpu-clock:u", *BUSY)
        self.assertEqual(len(lines), 1)
        self.assertNotIn("cpu-clock", lines[0])
        self.assertEqual(statuses["cpu-clock:u"]["status"], "as asked")

    @harness.also_as_root
    def test_the_users_part_alone(self):
        _, lines, statuses = self.recorded("page-faults/period=1/", *BUSY)
        paranoid = int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text())
        is_refused = bool(os.geteuid()) and paranoid > 1
        want = "user's part alone" if is_refused else "as asked"
        self.assertEqual(statuses["page-faults"]["status"], want)
        self.assertEqual(["user's part alone" in line for line in lines], [is_refused])
        stat = harness.yarnprof("stat", "-e", "page-faults", "--format=json", "--", *BUSY)
        text = stat.stdout.decode()
        (row,) = json.loads(text[text.index('{"command"'):])["events"]
        self.assertEqual(row["status"], want)

    def test_children_that_are_missing_are_said(self):
        folder, lines, statuses = self.recorded("cpu-clock:u,page-faults/period=2/u",
                                                sys.executable, "-c", SHORT)
        self.assertEqual(statuses["cpu-clock:u"]["status"], "as asked")
        faults = statuses["page-faults:u"]
        self.assertEqual((faults["status"], faults["children"]), ("children missing", 20))
        self.assertEqual(len(lines), 1)
        self.assertIn("page-faults:u: children missing: nothing is in it of 20 children", lines[0])
        self.assertIn("nothing is in it of 20 children", harness.yarnprof("report", folder).stdout.decode())

    def test_where_each_occurrence_counts_no_child_is_missing(self):
        _, lines, statuses = self.recorded("cpu-clock:u,page-faults/period=1/u", sys.executable, "-c", SHORT)
        self.assertEqual([status["status"] for status in statuses.values()], ["as asked"] * 2)
        self.assertNotIn("missing", "".join(lines))

    def test_samples_of_a_small_part_are_not_trusted_for_all(self):
        """Of children that end before they are recorded."""
        spin = "import os, time\nfor _ in range(60):\n  pid = os.fork()\n" \
               "  if not pid:\n    e = time.process_time() + .003\n    while time.process_time() < e: pass\n" \
               "    os._exit(0)\n  os.wait()\nsum(range(10**6))"
        folder, _, _ = self.recorded("cpu-clock:u", sys.executable, "-c", spin)
        verdict = harness.yarnprof("verify", "--trust", folder).stdout.decode().splitlines()[-1]
        self.assertRegex(verdict, r"^trusted as far as it goes: .*; \d+\.\d\d % of the CPU time has no sample$")

    def test_samples_without_those_of_killed_children_are_not_trusted_for_all(self):
        spin = "import os, signal, time\nfor _ in range(20):\n  pid = os.fork()\n" \
               "  if not pid:\n    while time.process_time() < .003: pass\n" \
               "    os.kill(os.getpid(), signal.SIGKILL)\n  os.wait()\nsum(range(10**6))"
        folder, _, _ = self.recorded("cpu-clock:u", sys.executable, "-c", spin)
        said = harness.yarnprof("verify", "--trust", folder).stdout.decode().splitlines()
        self.assertTrue([line for line in said if "of CPU time of children is in no dump read here" in line])
        self.assertRegex(said[-1], r"^trusted as far as it goes: .*; \d+\.\d\d % of the CPU time has no sample$")

    def test_what_was_lost_is_in_the_line(self):
        """A ring of one page, that is read once a second, beside 40,000 page faults."""
        folder = self.folder()
        touch = "import mmap\nm = mmap.mmap(-1, 40000 * 4096)\nfor i in range(40000): m[i * 4096] = 1"
        run = harness.yarnprof("record", "-o", f"{folder}/", "-e", "page-faults/period=1/u", "--ring=4K",
                               "--callgraph=none", "--reader=timed", "--interval=1s", "--", sys.executable, "-c", touch)
        lost = harness.trust(folder)["lost"]
        self.assertGreater(lost, 1000)
        self.assertIn(f"; {lost:,} more were lost; ", run.stderr.decode())

    @harness.also_as_root
    def test_auto_is_usable_where_it_is_recorded(self):
        listed = json.loads(harness.yarnprof("list", "--format=json", "auto").stdout)["events"]
        _, _, statuses = self.recorded("auto", *BUSY)
        self.assertTrue(listed[0]["usable"])
        self.assertIn(listed[0]["name"], statuses)


if __name__ == "__main__":
    harness.main()
