# SPDX-License-Identifier: Apache-2.0
"""YARN_SCHED=tracepoints, tracepoints:all and auto: whose switches and wakings are recorded, by
which process of a tree, what refuses them, and what becomes of them in a trace.dat."""

import collections
import json
import os
import pathlib
import re
import shutil
import struct
import sys
import unittest

import harness

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from trace_dat import TraceDat  # noqa: E402

PINGPONG = [harness.HOSTS / "pingpong", 5000]
SWITCH = pathlib.Path("/sys/kernel/tracing/events/sched/sched_switch/format")
NAMES = ("sched:sched_switch", "sched:sched_waking")
ROOMY = {"YARN_RING": "4M", "YARN_EMPTY": "keep"}


def on_one_core():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def scheduling(dump):
    return [event for event in dump["events"] if event["name"] in NAMES]


def pids_in(fields):
    return {word[0]: int(word[1]) for word in re.findall(r"(\w*pid)=(-?\d+)", fields)}


@harness.as_root
@unittest.skipUnless(os.access(SWITCH, os.R_OK), "tracefs is not mounted")
class Tracepoints(harness.Case):
    def recorded(self, sched, argv, **variables):
        run = self.run_program(argv, YARN_SCHED=sched, **{**ROOMY, **variables})
        self.assertEqual((run.status, run.stderr), (0, b""))
        return run, harness.info(run.dumps)

    def lines(self, dumps, *options):
        """(pid, tid, event, pids in its fields) of each of these samples."""
        text = harness.yarnprof("script", "--samples", "--no-header", "-F", "pid,tid,event,trace",
                                dumps, *options).stdout.decode()
        found = re.findall(r"^ *(\d+)/(\d+) +(sched:\w+): (.*)$", text, re.M)
        return [(int(pid), int(tid), event, pids_in(fields)) for pid, tid, event, fields in found]

    def trace_dat(self, run):
        path = self.folder() / "trace.dat"
        said = harness.yarnprof("export", "--to=trace.dat", run.dumps, "-o", path).stderr.decode()
        return TraceDat(path.read_bytes()), said

    def test_of_own_threads(self):
        run, dumps = self.recorded("tracepoints", PINGPONG, before=on_one_core)
        self.assertEqual(len(dumps), 2)
        for dump in dumps:
            self.assertEqual((dump["sched"]["got"], dump["sched"]["reason"]), ("tracepoints", ""))
            events = scheduling(dump)
            self.assertEqual([event["errno"] for event in events], [0, 0])
            self.assertEqual(events[0]["samples"], events[0]["count"])
            # Above the rate at which switch records alone are cut out.
            self.assertEqual(dump["sched"]["cut_ns"], 0)
            # They belong to no profile.
            clock = dump["events"][0]
            self.assertEqual(dump["trust"]["samples"], clock["samples"])
        self.assertIn(b"where a thread of these dumps woke", harness.yarnprof("sched", run.dumps).stdout)
        shown = [event["name"] for event in harness.report(run.dumps)["events"]]
        self.assertFalse(set(shown) & set(NAMES), shown)
        lines = self.lines(run.dumps)
        pids = {dump["process"]["pid"] for dump in dumps}
        switches = [line for line in lines if line[2] == NAMES[0]]
        self.assertGreater(len(switches), 100)
        for pid, tid, _, fields in switches:
            self.assertEqual((pid, tid), (tid, fields["prev_pid"]))
            self.assertIn(pid, pids)
        wakings = collections.Counter(fields["pid"] for _, _, event, fields in lines if event == NAMES[1])
        self.assertGreater(min(wakings[pid] for pid in pids), 100)

    def test_whole_machine_by_the_first_of_a_tree(self):
        run, dumps = self.recorded(
            "tracepoints:all", ["sh", "-c", f"{PINGPONG[0]} 5000; exec {PINGPONG[0]} 5000"],
            YARN_FOLLOW="fork,exec")
        firsts = {d["process"]["pid"] for d in dumps if d["sched"]["got"] == "tracepoints:all"}
        # The shell, and the image that takes its place.
        self.assertEqual(len(firsts), 1)
        self.assertGreater(len({dump["process"]["pid"] for dump in dumps}), 1)
        for dump in dumps:
            is_first = dump["process"]["pid"] in firsts
            self.assertEqual(dump["sched"]["got"] == "tracepoints:all", is_first)
            self.assertEqual({event["errno"] for event in scheduling(dump)}, {0 if is_first else 16})
            if not is_first:
                self.assertIn("descends from records the whole machine", dump["sched"]["reason"])
            self.assertFalse([event for event in dump["events"]
                              if event["name"] not in NAMES and event["errno"]])
        pids = {dump["process"]["pid"] for dump in dumps}
        others = [line for line in self.lines(run.dumps) if line[0] not in pids]
        self.assertTrue(others)
        for pid, tid, event, fields in others:
            self.assertEqual(pid, tid)
            self.assertEqual(fields.get("prev_pid", tid), tid)
        chosen = {line[0] for line in self.lines(run.dumps, f"--process={min(firsts)}")}
        self.assertEqual(chosen, firsts)
        trace, _ = self.trace_dat(run)
        comms = collections.Counter()
        for core in trace.cores:
            for _, raw in trace.events(core):
                if len(raw) == 64:
                    comms[struct.unpack_from("<i", raw, 24)[0]] += 1
        # Each process of the tree left a core, whoever recorded it.
        self.assertLessEqual(pids, set(comms))

    def test_the_reader_is_no_thread_of_the_program(self):
        run, (dump,) = self.recorded("tracepoints:all", ["/bin/sleep", "0.5"])
        own = dump["sampler"]["own_tid"]
        self.assertNotIn(own, (0, dump["process"]["pid"]))
        script = harness.yarnprof("script", "--samples", "--no-header", "-F", "comm,tid", run.dumps).stdout.decode()
        names = {line.rsplit(None, 1)[0].strip() for line in script.splitlines() if line.split()[-1] == str(own)}
        self.assertEqual(names, {"[yarn]"})
        streams = harness.yarnprof("sched", "--couplebreak", run.dumps).stdout.decode()
        self.assertEqual(set(re.findall(rf"(\S+)-{own} ", streams)), {"[yarn]"})
        waits = json.loads(harness.yarnprof("sched", "--wait-for-core", "--format=json", run.dumps).stdout)
        self.assertLessEqual({row["holder_comm"] for row in waits["wait_for_core"] if row["holder"] == own}, {"[yarn]"})
        path = self.folder() / "trace.dat"
        harness.yarnprof("export", "--to=trace.dat", run.dumps, "-o", path)
        names = re.findall(rb"(?<!\d)%d ([^\n]*)\n" % own, path.read_bytes())
        self.assertEqual(names, [b"[yarn]"])

    def test_in_a_pid_namespace(self):
        unshare = ["unshare", "-pf", "--mount-proc", "--kill-child", *PINGPONG]
        if self.run_program(unshare, preload=False).status:
            self.skipTest("no pid namespace here")
        run, dumps = self.recorded("tracepoints", unshare, YARN_COMM="pingpong")
        inside = {dump["process"]["pid"] for dump in dumps}
        self.assertEqual(min(inside), 1)
        self.assertEqual({dump["sampler"]["own_tid"] for dump in dumps}, {0})
        switches = [line for line in self.lines(run.dumps) if line[2] == NAMES[0]]
        raws = {pid: {f["prev_pid"] for p, _, _, f in switches if p == pid} for pid in inside}
        self.assertEqual([len(of) for of in raws.values()], [1] * len(inside), raws)
        # What is made of switch records bears the numbers that the others have.
        trace, said = self.trace_dat(run)
        self.assertIn("known from one side only", said)
        came_in = collections.Counter()
        for core in trace.cores:
            for _, raw in trace.events(core):
                if len(raw) == 64 and raw[8:].startswith(b"not-recorded\0"):
                    came_in[struct.unpack_from("<i", raw, 56)[0]] += 1
        self.assertTrue(came_in)
        self.assertLessEqual(set(came_in), set.union(*raws.values()))

    def test_who_had_the_core(self):
        """Beside a process of another name, not recorded, that never leaves the core of its own will:
        it had the core for no longer than it ran, and some of what the other waited for."""
        hog = harness.start(["/bin/sh", "-c", "while :; do :; done"], self.folder(), preload=False,
                            before=on_one_core)
        spin = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"
        run, (dump,) = self.recorded("tracepoints:all", ["/bin/sh", "-c", spin], before=on_one_core)
        hog.kill()
        _, _, usage = os.wait4(hog.pid, 0)
        hog.communicate()
        shown = json.loads(harness.yarnprof("sched", "--wait-for-core", "--format=json", run.dumps).stdout)
        (thread,), rows = shown["threads"], shown["wait_for_core"]
        self.assertEqual({row["waiter"] for row in rows}, {dump["process"]["pid"]})
        self.assertNotIn(dump["process"]["pid"], {row["holder"] for row in rows}, "it waited for itself")
        whole = sum(row["ns"] for row in rows)
        self.assertLessEqual(whole, thread["runnable_ns"] + thread["switching_ns"])
        self.assertGreater(whole, 0.9 * thread["runnable_ns"])
        (of_hog,) = [row for row in rows if row["holder"] == hog.pid]
        self.assertEqual((of_hog["holder_comm"], of_hog["holder_pid"]), ("sh", None))
        self.assertLessEqual(of_hog["ns"], (usage.ru_utime + usage.ru_stime) * 1e9)
        self.assertGreater(of_hog["ns"], 0.02 * whole)
        by_process = ["sched", "--wait-for-core", "--by=process"]
        shown = json.loads(harness.yarnprof(*by_process, "--format=json", run.dumps).stdout)["wait_for_core"]
        self.assertEqual(sum(row["ns"] for row in shown), whole)
        foreign = collections.Counter()
        for row in rows:
            foreign[row["holder_comm"]] += row["ns"] if row["holder_pid"] is None else 0
        self.assertEqual({row["holder_comm"]: row["ns"] for row in shown if row["holder_pid"] is None}, +foreign)
        self.assertEqual({(row["holder"], row["waiter"], row["waiter_comm"], row["waiter_pid"]) for row in shown},
                         {(None, None, "sh", dump["process"]["pid"])})
        self.assertGreaterEqual(thread["waits"], max(row["waits"] for row in shown))
        text = harness.yarnprof(*by_process, "--limit=1", run.dumps).stdout.decode()
        self.assertRegex(text, r"HAD THE CORE +PID  WAITED +PID +WAITS +TIME\n.*\n(… and \d+ more rows?; --limit=0 shows all\n)?\Z")

    def test_record_holds_one_of_each(self):
        """However they are asked for; what it runs holds none of them."""
        count = "for of in $PPID self; do ls -l /proc/$of/fd | grep -c perf_event; done; true"
        events = f"cpu-clock,{NAMES[0]}"
        for option, variables, held in (
                ("--sched=tracepoints", {}, 2), ("--sched=auto", {}, 2), ("--sched=switch", {}, 0),
                (f"--events={events}", {}, 1), ("--log=info", {"YARN_EVENTS": events}, 1),
                ("--log=info", {"YARN": f"events={events};sched=tracepoints"}, 3)):
            with self.subTest(option=option, **variables):
                run = self.run_program([harness.YARNPROF, "record", option, "--", "sh", "-c", count],
                                       preload=False, YARN_OUTPUT="out/", **variables)
                self.assertEqual((run.status, run.stdout.split()), (0, [b"%d" % held, b"0"]), run.stderr)

    def test_trace_cmd_has_the_same(self):
        if not shutil.which("trace-cmd"):
            self.skipTest("no trace-cmd here (Debian: trace-cmd)")
        run, _ = self.recorded("auto", PINGPONG)
        trace, _ = self.trace_dat(run)
        read = harness.subprocess.run(
            ["trace-cmd", "report", "-t", "-R", "-i", run.dumps.parent / f"run{self.nr_runs}/trace.dat"],
            capture_output=True, text=True)
        self.assertEqual((read.returncode, read.stderr), (0, ""))
        got = re.findall(r"\[(\d+)\] +(\d+)\.(\d{9}): +sched_(?:switch|waking):", read.stdout)
        want = [(core, time) for core in trace.cores for time, _ in trace.events(core)]
        self.assertEqual(sorted((int(core), int(s + ns)) for core, s, ns in got), sorted(want))


class Refused(harness.Case):
    """As an ordinary user, to whom tracefs is closed and perf_event_paranoid is 2."""

    def setUp(self):
        super().setUp()
        if not os.getuid():
            self.skipTest("root may record them: the same test as an ordinary user shows it")
        if os.access(SWITCH, os.R_OK):
            self.skipTest("tracefs is open to this user")

    def test_each_refusal_has_its_sentence(self):
        for sched in ("tracepoints", "tracepoints:all", "auto"):
            with self.subTest(sched=sched):
                run = self.run_program(PINGPONG, YARN_SCHED=sched, **ROOMY)
                self.assertEqual(run.outside(), self.outside_without(PINGPONG))
                for dump in harness.info(run.dumps):
                    self.assertEqual(dump["sched"]["asked"], sched)
                    self.assertRegex(dump["sched"]["got"], "^(switch|off)")
                    self.assertRegex(dump["sched"]["reason"], "tracefs.* /sys/kernel/tracing")
                    warned = [one for one in dump["messages"] if one["text"].startswith("sched:")]
                    self.assertEqual(bool(warned), sched != "auto")


if __name__ == "__main__":
    harness.main()
