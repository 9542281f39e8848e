# SPDX-License-Identifier: Apache-2.0
"""The event off-cpu: where threads wait, for how long, and for whom, against hosts that know."""

import bisect
import collections
import json
import shutil
import unittest

import harness

BLOCKED = harness.HOSTS / "blocked"
EVENTS = "cpu-clock,off-cpu/freq=99/"
BELOW = {
    "wait_mutex": ("below_deep", "run_mutex"),
    "wait_condition": ("below_alloca", "run_condition"),
    "wait_pipe": ("below_realigned", "run_pipe"),
    "wait_epoll": ("below_both", "run_epoll"),
    "wait_sleep": ("run_sleep",),
}


def looks(dumps):
    """Each sample of off-cpu: (tid, time, weight, names from the innermost on)."""
    text = harness.yarnprof("script", "--samples", "--no-header", "--event=off-cpu", "-F",
                            "tid,time,period,ip,sym", dumps).stdout.decode()
    for block in text.split("\n\n"):
        head, *frames = block.strip("\n").splitlines() or [""]
        words = head.replace(":", " ").split()
        if len(words) >= 3:
            seconds, fraction = words[1].split(".")
            time_ns = int(seconds) * 10**9 + int(fraction.ljust(9, "0"))
            yield int(words[0]), time_ns, int(words[2]), [
                frame.split(None, 1)[1].split("+")[0].split(" (")[0].split(".")[0] for frame in frames]


def weigh(dumps, event="off-cpu"):
    """By function: the time that was spent in and below it."""
    rows = harness.report(dumps, f"--event={event}")["rows"]
    return collections.Counter({row["function"]: row["total"] for row in rows})


def check_churn(case, run):
    """Waits of 50 to 2,050 us that the host lists: the sum is right, and no look is elsewhere."""
    waits = collections.defaultdict(list)
    for tid, name, begin, end in map(str.split, run.stdout.decode().splitlines()):
        waits[int(tid)].append((int(begin), int(end), name))
    (event,) = harness.report(run.dumps, "--event=off-cpu")["events"]
    print(f"{event['looks']} looks, {event['total']} of {event['blocked_ns']} ns")
    case.assertLess(abs(event["total"] - event["blocked_ns"]), 0.06 * event["blocked_ns"])
    nr_looks = 0
    for tid, time_ns, _, names in looks(run.dumps):
        if tid not in waits:  # the main thread
            continue
        nr_looks += 1
        case.assertIn("run_churn", names)
        at = bisect.bisect(waits[tid], (time_ns + 1000,)) - 1
        begin, end, name = waits[tid][max(at, 0)]
        if begin - 1000 <= time_ns <= end + 1000:  # script shows whole microseconds
            case.assertIn(name, names)
    case.assertGreater(nr_looks, 100)


class OffCpu(harness.Case):
    def recorded(self, *words, events=EVENTS, **variables):
        run = self.run_program([BLOCKED, *words], YARN_EVENTS=events, **variables)
        self.assertEqual((run.status, run.stderr), (0, b""))
        (dump,) = harness.info(run.dumps)
        event = next(event for event in dump["events"] if event["asked"].startswith("off-cpu"))
        if event["errno"]:
            self.skipTest(event["reason"])
        return run, dump

    def test_known_waits(self):
        run, dump = self.recorded("known", 1000)
        truth = {name: int(ns) for name, ns in map(str.split, run.stdout.decode().splitlines())}
        weights = weigh(run.dumps)
        whole = sum(truth.values())
        for name, ns in truth.items():
            share = 100 * weights[name] / sum(weights[name] for name in truth)
            print(f"{name}: {share:.1f} % of {100 * ns / whole:.1f} %")
            self.assertLess(abs(share - 100 * ns / whole), 3)
            self.assertLess(abs(weights[name] - ns), 0.03 * ns + 15_000_000)
        stacks = dump["trust"]
        # A sample within the fault on a stack's first page has no copy of that page.
        self.assertEqual(stacks["stacks_complete"] + stacks["stacks_truncated"], stacks["samples"])
        self.assertLessEqual(stacks["stacks_truncated"], 2)
        for _, _, _, names in looks(run.dumps):
            for name in set(names) & set(BELOW):
                for outer in BELOW[name]:
                    self.assertIn(outer, names)
        # The main thread has the mutex.
        rows = harness.report(run.dumps, "--event=off-cpu", "--by=holder")["rows"]
        held = {row["value"]: row["total"] for row in rows}
        self.assertLess(abs(held[str(dump["process"]["pid"])] - truth["wait_mutex"]), 50_000_000)

    def test_known_waits_beside_a_busy_pipe(self):
        """Whose switches are cut out: threads are looked at by their clocks. What a reader that had to wait for a core
        did not look at is said."""
        run, dump = self.recorded("known", "busy", 3000, YARN_SCHED="switch:1000")
        self.assertGreater(dump["sched"]["cut_ns"], 10**8)
        truth = {name: int(ns) for name, ns in map(str.split, run.stdout.decode().splitlines())}
        weights = weigh(run.dumps)
        (event,) = harness.report(run.dumps, "--event=off-cpu")["events"]
        unseen_ns = event["blocked_ns"] - event["total"]
        print(f"not looked at: {unseen_ns / event['blocked_ns']:.3f}")
        for name, ns in truth.items():
            print(f"{name}: {weights[name] / ns:.3f}")
            self.assertLess(weights[name] / ns, 1.1)
            excused_ns = unseen_ns if run.reader_waited > 0.1 else 0
            self.assertGreater(weights[name] + excused_ns, 0.9 * ns)
        self.assertGreater(sum(weights[name] for name in truth) + unseen_ns, 0.9 * sum(truth.values()))
        for _, _, _, names in looks(run.dumps):
            for name in set(names) & set(BELOW):
                for outer in BELOW[name]:
                    self.assertIn(outer, names)

    def test_short_waits_in_sum(self):
        """Seen every 10 ms."""
        run, _ = self.recorded("churn", 1500)
        check_churn(self, run)

    def test_idle_threads_have_one_look_each(self):
        run, dump = self.recorded("idle", 300, 1000)
        self.assertLess(abs(dump["trust"]["looks"] - 301), 10)

    def test_alone(self):
        """Without a counter beside it."""
        run, dump = self.recorded("known", 200, events="off-cpu/period=5000000/")
        self.assertGreater(weigh(run.dumps)["wait_mutex"], 100_000_000)

    def test_more_looks_than_there_may_be(self):
        run, dump = self.recorded("churn", 1000, events="cpu-clock,off-cpu/freq=1000/")
        (event,) = (event for event in dump["events"] if event["name"] == "off-cpu")
        self.assertGreaterEqual(event["period"], 2_000_000)
        self.assertTrue(any("off-cpu looks each" in m["text"] for m in dump["messages"]))

    def test_short_waits_while_switches_are_cut_out(self):
        """By the threads' clocks the sum is right, too, and no look is elsewhere."""
        run, dump = self.recorded("churn", 2000, YARN_SCHED="switch:1000")
        self.assertGreater(dump["sched"]["cut_ns"], 10**8)
        waits = collections.defaultdict(list)
        for tid, name, begin, end in map(str.split, run.stdout.decode().splitlines()):
            waits[int(tid)].append((int(begin), int(end), name))
        # A thread that was woken and waits for a core is blocked nowhere: schedstat has that apart.
        rows = json.loads(harness.yarnprof("sched", "--format=json", run.dumps).stdout)["threads"]
        truth = sum(row["blocked_ns"] for row in rows if row["tid"] in waits)
        total = wrong = 0
        for tid, time_ns, weight, names in looks(run.dumps):
            if tid not in waits:  # the main thread
                continue
            total += weight
            begin, end, name = waits[tid][max(bisect.bisect(waits[tid], (time_ns + 1000,)) - 1, 0)]
            wrong += begin - 1000 <= time_ns <= end + 1000 and name not in names
        print(f"{total / truth:.3f} of the waits, {wrong} elsewhere")
        self.assertAlmostEqual(total / truth, 1, delta=0.1)
        self.assertEqual(wrong, 0)

    def test_without_switch_records(self):
        run = self.run_program([BLOCKED, "known", 100], YARN_EVENTS=EVENTS, YARN_SAMPLER="timer")
        (dump,) = harness.info(run.dumps)
        (event,) = (event for event in dump["events"] if event["asked"].startswith("off-cpu"))
        self.assertIn("switch records", event["reason"])

    @harness.as_root
    @unittest.skipUnless(shutil.which("unshare"), "needs unshare")
    def test_where_proc_is_another_namespace_s(self):
        """No thread can be looked at there: the dump says so."""
        argv = ["unshare", "--pid", "--fork", BLOCKED, "known", 100]
        run = self.run_program(argv, YARN_EVENTS=EVENTS)
        if run.status == 1 and not run.stdout:
            self.skipTest("no namespace of processes may be made here")
        dumps = harness.info(run.dumps)
        if any(event["errno"] for dump in dumps for event in dump["events"]):
            self.skipTest("off-cpu or its switch records are refused here")
        said = [text["text"] for dump in dumps for text in dump["messages"]]
        self.assertTrue([text for text in said if "could not be looked at" in text], said)

    def test_all_views(self):
        run, dump = self.recorded("known", 200)
        for form in ("folded", "pprof", "speedscope", "firefox", "callgrind", "chrome", "perf.data",
                     "sqlite"):
            out = self.root / f"out.{form}"
            harness.yarnprof("export", f"--to={form}", "--event=off-cpu", run.dumps, "-o", out)
            self.assertGreater(out.stat().st_size, 0)
        page = self.root / "page.html"
        harness.yarnprof("flamegraph", run.dumps, "-o", page)
        self.assertIn("wait_condition", page.read_text())
        tree = harness.yarnprof("report", "--tree", "--event=off-cpu", run.dumps).stdout.decode()
        self.assertIn("wait_condition", tree)
        self.assertIn(" estimated; the threads were blocked ", tree)


if __name__ == "__main__":
    harness.main()
