# SPDX-License-Identifier: Apache-2.0
"""yarnprof stat: a command's events counted from outside, against what the command itself knows."""

import errno
import json
import os
import pathlib
import shutil
import signal
import subprocess
import unittest

import harness

TOUCHES = harness.HOSTS / "touches"
PER_WORKER = 2000  # of eight threads and a child: 18,000
IS_ROOT = os.geteuid() == 0
REFUSALS = ("E2BIG EACCES EBADF EBUSY EFAULT EINTR EINVAL EMFILE ENFILE ENODEV ENOENT ENOMEM ENOSPC "
            "ENOSYS EOPNOTSUPP EOVERFLOW EPERM ESRCH").split()
# What mends it, or what stands in the way.
KNOBS = {
    "EACCES": "kernel.perf_event_paranoid", "EPERM": "CAP_PERFMON", "EMFILE": "ulimit -n",
    "ENFILE": "fs.file-max", "ENOMEM": "ulimit -l", "EBUSY": "kernel.nmi_watchdog",
    "EOVERFLOW": "kernel.perf_event_max_stack", "ENOSYS": "CONFIG_PERF_EVENTS",
    "EINVAL": "kernel.perf_event_max_sample_rate", "EINTR": "uprobe_events",
}


def stat(*arguments, **options):
    return subprocess.run([harness.YARNPROF, "stat", *map(str, arguments)], capture_output=True,
                          text=True, timeout=60, env=harness.clean_environment(), check=False,
                          **options)


class Stat(harness.Case):
    def count(self, *arguments):
        """The JSON of a run, whose host's output goes elsewhere; with the run itself."""
        path = self.folder() / "stat.json"
        done = stat("--format=json", "-o", path, *arguments)
        return json.loads(path.read_text()), done

    def test_threads_and_children_are_counted(self):
        counted, done = self.count("-e", "page-faults,task-clock", "--", TOUCHES, PER_WORKER)
        faults, clock = counted["events"]
        self.assertEqual(done.returncode, 7)
        self.assertEqual(counted["status"], 7)
        self.assertAlmostEqual(faults["count"], 18000, delta=200)
        self.assertAlmostEqual(faults["count"], int(done.stdout), delta=200)
        self.assertEqual(faults["scaled"], faults["count"])
        self.assertEqual(faults["percent_running"], 100)
        self.assertEqual(faults["user_only"], not IS_ROOT)
        self.assertGreater(clock["count"], 0)
        self.assertEqual(clock["unit"], "ns")

    def test_formulas_know_how_many_threads_there_were(self):
        """The first, eight more and a child; of an interval those that were alive in it."""
        folder = self.folder()
        (folder / "made.metrics").write_text('event F = page-faults\nmetric n = threads [1] "threads"\n'
                                             'metric each = F / threads [1] "faults of each"\n')
        asked = ("-M", "made", f"--metric-path={folder}")
        counted, _ = self.count(*asked, "-r", "2", "--", TOUCHES, PER_WORKER)
        values = {metric["name"]: metric["value"] for metric in counted["metrics"]}
        self.assertEqual(values["n"], 10)
        self.assertAlmostEqual(values["each"], 1800, delta=20)
        counted, _ = self.count(*asked, "-I", "100ms", "--", "sh", "-c", "for i in 1 2 3; do sleep 0.1; done")
        self.assertEqual(counted["metrics"][0]["value"], 4)
        for interval in counted["intervals"]:
            self.assertTrue(1 <= interval["metrics"][0]["value"] <= 4)

    @harness.also_as_root
    def test_what_would_silently_be_0_is_refused(self):
        counted, _ = self.count("-e", "context-switches:u,context-switches", "--", "sleep", "0.01")
        modified, plain = counted["events"]
        self.assertIsNone(modified["count"])
        self.assertIn("would always be 0", modified["why"])
        if IS_ROOT:
            self.assertGreater(plain["count"], 0)
        else:
            self.assertIsNone(plain["count"])
            self.assertIsNone(plain["scaled"])
            self.assertIn("kernel.perf_event_paranoid", plain["why"])

    @harness.as_root
    def test_calls_of_a_probed_function_are_counted(self):
        definitions = pathlib.Path("/sys/kernel/tracing/uprobe_events")
        if not os.access(definitions, os.W_OK):
            self.skipTest("this user may define no probes, or tracefs is not mounted")
        counted, _ = self.count("-e", f"uprobe:{TOUCHES}:touch", "--", TOUCHES, "10")
        self.assertEqual(counted["events"][0]["count"], 9)
        self.assertNotIn(str(TOUCHES), definitions.read_text())

    def test_status_is_the_commands_own(self):
        for argv, status in ((["true"], 0), (["sh", "-c", "exit 3"], 3), (["/nowhere"], 127),
                             (["/etc"], 126), (["sh", "-c", "kill -9 $$"], 128 + 9)):
            self.assertEqual(stat("-e", "task-clock", "--", *argv).returncode, status, argv)
        self.assertEqual(stat("-e", "tusk-clock", "--", "true").returncode, 2)
        self.assertIn("task-clock?", stat("-e", "tusk-clock", "--", "true").stderr)

    def test_signals_are_passed_on_and_end_the_runs(self):
        with subprocess.Popen([harness.YARNPROF, "stat", "-r3", "-e", "task-clock", "--", "sh", "-c",
                               "trap 'exit 5' TERM; echo; while :; do sleep 0.05; done"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            process.stdout.readline()
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(60), 5)

    def test_intervals_add_up(self):
        counted, _ = self.count("-I", "50", "-e", "page-faults", "--", "sh", "-c",
                                f"sleep 0.1; {TOUCHES} {PER_WORKER}; sleep 0.1")
        sum_of_all = sum(part["events"][0]["count"] for part in counted["intervals"])
        self.assertEqual(sum_of_all, counted["events"][0]["count"])
        self.assertGreaterEqual(len(counted["intervals"]), 4)

    def test_runs_have_a_mean_and_its_error(self):
        counted, done = self.count("-r", "4", "-e", "page-faults", "--", TOUCHES, PER_WORKER)
        faults = counted["events"][0]
        self.assertEqual(counted["runs"], 4)
        self.assertEqual(len(done.stdout.split()), 4)
        self.assertAlmostEqual(faults["scaled"], 18000, delta=200)
        self.assertLess(faults["plus_minus"], 100)

    def test_text_goes_to_standard_error(self):
        done = stat("-e", "page-faults", "--", TOUCHES, PER_WORKER)
        self.assertEqual(done.stdout.count("\n"), 1)
        self.assertRegex(done.stderr, r" 1[78],\d{3}  page-faults ")
        for what in ("wall", "user", "sys"):
            self.assertRegex(done.stderr, rf"\d\.\d+ s {what}\n")

    def test_counts_of_a_dump_are_those_of_the_program(self):
        run = self.run_program([TOUCHES, "20000"], YARN_COUNTERS="page-faults,context-switches:u",
                               YARN_COUNTER_INTERVAL="20ms")
        self.assertEqual((run.status, run.stderr), (7, b""))
        # Its child touches some before it is recorded.
        first = next(dump["path"] for dump in harness.info(run.dumps) if len(dump["threads"]) > 1)
        counted = json.loads(harness.yarnprof("stat", "--format=json", first).stdout)
        faults, refused = counted["events"]
        total = faults["count"]
        self.assertAlmostEqual(total, 8 * 20000, delta=200)
        self.assertIsNone(refused["count"])
        self.assertIn("would always be 0", refused["why"])
        self.assertEqual(sum(part["events"][0]["count"] for part in counted["intervals"]), total)
        threads = json.loads(harness.yarnprof("stat", "--by=thread", "--format=json", first).stdout)
        rows = [row for row in threads["events"] if row["name"] == "page-faults"]
        self.assertEqual(sum(row["count"] for row in rows), total)
        self.assertEqual(rows[-1]["tid"], 0)
        for row in rows[:-1]:
            self.assertEqual(row["thread"], "touches")  # inherited from its maker, as in every view
            self.assertLessEqual(row["count"], 20000 + 100)
        # Who may not sample the kernel has few: this program is nearly always in there.
        if IS_ROOT and self.tells_threads():
            self.assertGreater(len(rows), 2)
        # They are no samples of the profile, and a process that has only counts has a dump.
        events = harness.report(run.dumps)["events"]
        self.assertEqual([event["name"] for event in events if event["name"] == "page-faults"], [])
        trust = harness.trust(run.dumps)
        self.assertLess(trust["stacks_none"], 0.01 * trust["samples"] + 2)
        run = self.run_program(["true"], YARN_COUNTERS="page-faults")
        counted = json.loads(harness.yarnprof("stat", "--format=json", run.dumps).stdout)
        self.assertGreater(counted["events"][0]["count"], 0)

    @staticmethod
    def tells_threads():
        return tuple(map(int, os.uname().release.split("-")[0].split(".")[:2])) >= (6, 12)

    def metrics(self, text, *arguments):
        """Of a group in a file with this text; with the run."""
        folder = self.folder()
        (folder / "mine.metrics").write_text(text)
        path = folder / "stat.json"
        done = stat("--format=json", "-o", path, f"--metric-path={folder}", "-M", "mine", *arguments,
                    "--", TOUCHES, PER_WORKER)
        return json.loads(path.read_text()) if path.exists() else None, done

    def test_a_group_is_listed_once(self):
        """One of an earlier folder is taken instead."""
        plain = harness.yarnprof("stat", "-M", "list").stdout.split()
        folder = self.folder()
        (folder / "mine.metrics").write_text("")
        (folder / "faults.metrics").write_text("")
        both = harness.yarnprof("stat", "-M", "list", f"--metric-path={folder}").stdout.split()
        self.assertIn(b"faults", plain)
        self.assertEqual(sorted(both), sorted([*plain, b"mine"]))

    def test_metrics_are_made_of_counts(self):
        counted, _ = self.metrics('title "Mine"\nevent F, T = {page-faults,task-clock}\n'
                                  'metric each = T / F / 1000 [us] "a fault"\n'
                                  'metric a_second = F / time [1/s] ""\n'
                                  'metric a_cpu = F / cpus [1] ""\n')
        faults, clock = (event["count"] for event in counted["events"])
        each, a_second, a_cpu = counted["metrics"]
        self.assertEqual((each["name"], each["unit"], each["why"]), ("each", "us", None))
        self.assertAlmostEqual(each["value"], clock / faults / 1000, places=3)
        self.assertAlmostEqual(a_second["value"], faults / counted["wall_s"], delta=1 + a_second["value"] / 100)
        self.assertAlmostEqual(a_cpu["value"], faults / os.cpu_count(), delta=1)

    def test_metrics_without_their_event_are_null(self):
        counted, done = self.metrics("event A = nosuch/event=1/\nevent B = page-faults\n"
                                     "event C = context-switches:u\n"
                                     'metric a = A / B [1] ""\nmetric b = B [1] ""\n'
                                     'metric c = B / C [1] ""\nmetric d = B / (B - B) [1] ""\n')
        self.assertEqual(done.returncode, 7)
        values = {metric["name"]: metric for metric in counted["metrics"]}
        for name, why in (("a", "nosuch"), ("c", "context-switches:u"), ("d", "divided by 0")):
            self.assertIsNone(values[name]["value"])
            self.assertIn(why, values[name]["why"])
        self.assertAlmostEqual(values["b"]["value"], 18000, delta=200)

    def test_options_of_a_command_are_not_of_a_dump(self):
        """What is left out silently would be taken for done. A damaged dump is no command."""
        dump = self.folder() / "yarn.x.1.dump"
        dump.write_bytes(b"of no format")
        for option in ("-M=ipc", "-e=cycles", "-I=10ms", "-r=2"):
            done = stat(dump, *option.split("="))
            self.assertEqual(done.returncode, 2)
            self.assertIn("of a dump there is what YARN_COUNTERS counted", done.stderr)
        done = stat(dump)
        self.assertEqual(done.returncode, 1)
        self.assertIn("not a dump of yarn", done.stderr)
        done = stat("-M", "ipc", "--metric-path=/nowhere", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--metric-path=/nowhere: No such file or directory", done.stderr)

    def test_a_fault_in_a_file_of_metrics_has_its_line(self):
        for text, fault in (("event A = page-faults\nmetric a = A / X [1] \"\"\n", ":2: X: no event"),
                            ("event A, B = page-faults\nmetric a = A [1] \"\"\n", ":1: 2 names for 1"),
                            ("\nevent A = {page-faults\nmetric a = A [1] \"\"\n", ":2: ")):
            _, done = self.metrics(text)
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, rf"mine\.metrics{fault}")
            self.assertEqual(done.stdout, "")
        done = stat("-M", "nosuchgroup", "--", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no such group", done.stderr)

    def test_each_shipped_group_is_understood(self):
        names = sorted(path.stem for path in (harness.BUILD / "metrics").iterdir())
        self.assertEqual(len(names), 13)
        counted, done = self.count("-M", ",".join(names), "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(len(counted["metrics"]), 13)
        for metric in counted["metrics"]:
            self.assertNotEqual(metric["value"] is None, metric["why"] is None)

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_each_errno_has_a_sentence(self):
        sentences = {}
        for name in REFUSALS:
            path = self.folder() / "stat.json"
            done = subprocess.run(
                ["strace", "-o", "/dev/null", "-e", f"inject=perf_event_open:error={name}",
                 harness.YARNPROF, "stat", "--format=json", "-o", path, "-e", "task-clock", "--",
                 "sh", "-c", "exit 4"], capture_output=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 4, done.stderr)
            event = json.loads(path.read_text())["events"][0]
            self.assertIsNone(event["count"], name)
            self.assertIn(KNOBS.get(name, ""), event["why"])
            sentences[event["why"]] = name
        self.assertEqual(len(sentences), len(REFUSALS))
        self.assertTrue(all(hasattr(errno, name) for name in REFUSALS))


if __name__ == "__main__":
    harness.main()
