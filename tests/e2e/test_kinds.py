# SPDX-License-Identifier: Apache-2.0
"""Events of several kinds beside each other: each with its own period, stack and parts, counted to the
last occurrence; groups that are read with each sample."""

import json
import os
import pathlib
import re

import harness

KINDS = harness.HOSTS / "kinds"
THREADS, HITS = 4, 12000
# A ring that holds all of them: how soon the reader comes is up to who else uses the machine. An
# ordinary user may lock too little memory for that.
ROOMY = {"YARN_RING": "16M"} if os.getuid() == 0 else {}
TRACING = pathlib.Path("/sys/kernel/tracing")
CALL = "syscalls:sys_enter_getpriority"


def may_trace():
    try:
        return int((TRACING / "events/syscalls/sys_enter_getpriority/id").read_text()) > 0
    except OSError:
        return False


class Kinds(harness.Case):
    def recorded(self, events, *words, **variables):
        run = self.run_program([KINDS, *words], YARN_EVENTS=events, **{**ROOMY, **variables})
        self.assertEqual(run.outside(), self.outside_without([KINDS, *words]))
        (dump,) = harness.info(run.dumps)
        for event in dump["events"]:
            if event["errno"] == 0:
                print(f"{event['name']}: {event['samples']} samples of {event['count']}")
        return run, dump

    def event(self, dump, name):
        (event,) = (event for event in dump["events"] if event["asked"].startswith(name))
        return event

    def assert_exact(self, dump, name, hits):
        event = self.event(dump, name)
        self.assertEqual((event["errno"], event["count"]), (0, hits))
        self.assertEqual(event["samples"] + event["lost"], hits)
        if ROOMY:
            self.assertEqual(event["lost"], 0)

    def script(self, run, name, fields):
        return harness.yarnprof("script", "--samples", "--no-header", f"--event={name}", "-F", fields,
                                run.dumps).stdout.decode().splitlines()

    def test_each_occurrence_in_children_that_end_at_once(self):
        """A child's recording begins before its own code runs where each occurrence counts."""
        nr_children, hits = 60, 20
        run = self.run_program([KINDS, "children", nr_children, hits],
                               YARN_EVENTS="page-faults/period=1,call-graph=no,name=faults/u",
                               YARN_COUNTERS="minor-faults:u")
        self.assertEqual(run.status, 0)
        (row,) = (row for row in harness.report(run.dumps, "--event=faults")["rows"]
                  if row["function"] == "touch")
        self.assertEqual(row["samples"], nr_children * hits)
        stat = json.loads(harness.yarnprof("stat", "--format=json", run.dumps).stdout)
        (counted,) = (event for event in stat["events"] if event["name"].startswith("minor-faults"))
        self.assertGreaterEqual(counted["count"], nr_children * hits)
        self.assertEqual(sum(dump["trust"].get("children", 0) for dump in harness.info(run.dumps)), 0)

    def start_slowly(self, ms, hits, later_ms=0):
        """The faults of a child whose reader is stopped for so long, how many children are missing, and the warnings."""
        run = self.run_program([harness.HOSTS / "slowstart", ms, hits, later_ms],
                               YARN_EVENTS="page-faults/period=1,call-graph=no/u", YARN_EMPTY="keep")
        if run.status == 77:
            self.skipTest("ptrace is refused")
        self.assertEqual(run.status, 0)
        faults = sum(row["samples"] for row in harness.report(run.dumps)["rows"] if row["function"] == "touch")
        dumps = harness.info(run.dumps)
        warnings = [text["text"] for dump in dumps for text in dump["messages"] if "recording began" in text["text"]]
        return faults, sum(dump["trust"]["children"] for dump in dumps), len(warnings)

    def test_a_reader_without_a_core_is_waited_for(self):
        self.assertEqual(self.start_slowly(1500, 30), (30, 0, 0))

    def test_what_ends_before_its_reader_has_begun_is_missing_in_words(self):
        self.assertEqual(self.start_slowly(8000, 30), (0, 1, 0))

    def test_who_goes_on_before_its_reader_has_begun_is_told_so(self):
        self.assertEqual(self.start_slowly(6500, 30, 4000), (0, 0, 1))

    @harness.needs_breakpoints
    def test_watchpoint_by_name(self):
        asked = "mem:watched+8/8:w/call-graph=no,name=writes/"
        run, dump = self.recorded(asked, "hits", THREADS, HITS)
        self.assert_exact(dump, "mem:", THREADS * HITS)
        addresses = {line.split()[-1] for line in self.script(run, "writes", "event,addr")}
        self.assertEqual(len(addresses), 1)
        self.assertEqual(int(addresses.pop(), 16) % 8, 0)
        self.assertEqual(dump["trust"]["stacks_none"], dump["trust"]["samples"])
        (row,) = harness.report(run.dumps, "--by=address")["rows"]
        self.assertEqual((row["total"], int(row["address"], 16) % 8),
                         (dump["trust"]["samples"], 0))
        refused = harness.yarnprof("report", "--by=who", run.dumps, check=False)
        self.assertEqual(refused.returncode, 2)

    def test_unknown_symbol_is_refused_by_itself(self):
        _, dump = self.recorded("mem:no_such_symbol/8:w,cpu-clock", "hits", 1, 1)
        refused, clock = dump["events"]
        self.assertNotEqual(refused["errno"], 0)
        self.assertIn("symbol", refused["reason"])
        self.assertEqual(clock["errno"], 0)

    def test_fifth_breakpoint_is_refused_by_itself(self):
        events = ",".join(f"mem:watched/8:w/call-graph=no,name=w{i}/" for i in range(5))
        _, dump = self.recorded(events, "hits", 1, 1)
        errors = [event["errno"] != 0 for event in dump["events"]]
        self.assertEqual(errors, [False] * 4 + [True])

    def test_the_same_software_event_twice_is_refused(self):
        """The kernel marks both samples of an occurrence as of the first event."""
        faults = "page-faults/period=10,name={}/{}"
        asked = [faults.format("a", ""), faults.format("b", ""), faults.format("c", "u")]
        _, dump = self.recorded(",".join(asked), "hits", 1, 1)
        self.assertEqual([event["errno"] != 0 for event in dump["events"]], [False, True, True])
        self.assertIn("tell their samples apart", dump["events"][1]["reason"])
        faults = "page-faults/period=1,name={}/{}"
        apart = ",".join(faults.format(mode, mode) for mode in "uk")
        _, dump = self.recorded(f"cpu-clock,cpu-clock/freq=50/,{apart}", "hits", 1, 1)
        refused = [event["errno"] != 0 for event in dump["events"]]
        self.assertEqual(refused, [False, False, False, bool(os.geteuid())])

    @harness.also_as_root
    def test_tracepoint_with_fields_and_filter(self):
        events = f"{CALL}/call-graph=no,name=all/,{CALL}/call-graph=no,filter='who == 1',name=some/"
        if not may_trace():
            _, dump = self.recorded(f"cpu-clock,{CALL}", "hits", 1, 1)
            refused = self.event(dump, CALL)
            self.assertNotEqual(refused["errno"], 0)
            self.assertRegex(refused["reason"], "mount -(t tracefs|o remount)")
            return
        run, dump = self.recorded(events, "hits", THREADS, HITS)
        whole, some = dump["events"]
        for event, hits in ((whole, THREADS * HITS), (some, THREADS * HITS // 2)):
            self.assertEqual((event["count"], event["samples"], event["lost"]), (hits, hits, 0))
        lines = self.script(run, "some", "event,trace")
        self.assertEqual(set(re.sub(r"^.*?: ", "", line) for line in lines),
                         {"__syscall_nr=140 which=0 who=1"} if os.uname().machine == "x86_64"
                         else {lines[0].split(": ")[1]})
        self.assertIn("field:int who;", whole["format"])
        rows = harness.report(run.dumps, "--by=who")["rows"]
        self.assertEqual({(row["event"], row["value"]): row["total"] for row in rows},
                         {("all", "0"): THREADS * HITS // 2, ("all", "1"): THREADS * HITS // 2,
                          ("some", "1"): THREADS * HITS // 2})

    def test_two_events_of_one_name_are_two_in_every_view(self):
        clocks = ["cpu-clock/freq=1000/", "cpu-clock/freq=4000/"]
        run, dump = self.recorded(",".join(clocks), "hits", THREADS, HITS)
        self.assertEqual([event["name"] for event in dump["events"]], clocks)
        self.assertEqual([event["asked"] for event in dump["events"]], clocks)
        report = harness.report(run.dumps)
        totals = {event["name"]: event["total"] for event in report["events"]}
        for event in dump["events"]:
            self.assertLessEqual(totals[event["name"]], 1.02 * event["count"])
        self.assertEqual({row["event"] for row in report["rows"]}, set(totals))
        lines = harness.yarnprof("script", "--samples", "--no-header", "-F", "event", run.dumps)
        self.assertEqual({line.strip(" :") for line in lines.stdout.decode().split("\n") if line},
                         set(totals))

    @harness.needs_breakpoints
    def test_a_breakpoint_with_a_period_is_a_call(self):
        run, _ = self.recorded("cpu-clock,mem:hit:x,mem:hit:x/period=1/u", "hits", THREADS, 1)
        calls = harness.yarnprof("report", "--calls", "--format=json", run.dumps).stdout
        self.assertEqual([row["calls"] for row in json.loads(calls)["calls"]], [THREADS] * 2)

    def test_period_of_faults(self):
        """An own count a thread and core, of which up to a period is left at the end."""
        _, dump = self.recorded("page-faults/period=100/", "hits", THREADS, HITS,
                                YARN_CALLGRAPH="none")
        (event,) = dump["events"]
        self.assertGreaterEqual(event["count"], THREADS * HITS)
        counts = (THREADS + 1) * os.cpu_count()
        taken = event["samples"] + event["lost"]
        self.assertLessEqual(taken, event["count"] / 100)
        self.assertGreaterEqual(taken, event["count"] / 100 - counts)

    def test_stacks_that_were_not_asked_for_are_not_missing(self):
        own = "cpu-clock,page-faults/period=1,call-graph=none/"
        for events, callgraph in ((own, "auto"), ("page-faults/period=1/", "none")):
            run, dump = self.recorded(events, "hits", 2, 500, YARN_CALLGRAPH=callgraph)
            self.assertGreaterEqual(dump["trust"]["stacks_unasked"], 1000)
            self.assertNotIn(b"have no stack", harness.yarnprof("report", run.dumps).stdout)

    @harness.also_as_root
    def test_filter_of_samples(self):
        """Of the faults those on odd pages: the others are counted, and have no sample."""
        run, dump = self.recorded("page-faults/period=1,call-graph=no,name=odd,"
                                  "filter='addr & 0x1000 && period == 1'/,task-clock", "hits", 2, 500)
        odd, _ = dump["events"]
        if odd["errno"]:
            self.assertIn("CAP_BPF", odd["reason"])
            self.assertNotEqual(os.getuid(), 0)
            return
        addresses = [int(line.split()[-1], 16) for line in self.script(run, "odd", "event,addr")]
        self.assertEqual((len(addresses), odd["lost"]), (odd["samples"], 0))
        self.assertGreaterEqual(odd["count"], 1000)
        self.assertAlmostEqual(odd["samples"], odd["count"] / 2, delta=50)
        self.assertTrue(all(address & 0x1000 for address in addresses))

    def test_filter_under_the_timer_sampler_is_refused(self):
        _, dump = self.recorded("cpu-clock/filter='ip > 0'/,cpu-clock", "hits", 1, 1, YARN_SAMPLER="timer")
        refused, clock = dump["events"]
        self.assertIn("no filters", refused["reason"])
        self.assertEqual(clock["errno"], 0)

    @harness.needs_breakpoints
    @harness.also_as_root
    def test_seven_at_once_each_with_its_stack(self):
        """None, by frame pointers, and copies of two sizes; of six kinds, at 99 Hz and period 1."""
        hits = 200
        copied = "call-graph=dwarf:4096"
        events = {
            "cpu-clock": "cpu-clock",
            "faults": f"page-faults/period=50,{copied},name=faults/",
            "writes": "mem:watched+8/8:w/call-graph=no,name=writes/",
            "runs": "mem:touch/8:x/call-graph=dwarf:4096,name=runs/",
            "task": "{task-clock/call-graph=no,name=task/,minor-faults/name=minor/}:S",
            "switches": "context-switches/call-graph=no,name=switches/",
        }
        if may_trace():
            events["calls"] = f"{CALL}/call-graph=fp,name=calls/"
        run, dump = self.recorded(",".join(events.values()), "hits", 8, hits, YARN_FREQUENCY="99")
        got = {event["name"].split(":")[0]: event for event in dump["events"]}
        self.assertEqual(got["writes"]["samples"], 8 * hits)
        self.assertEqual(got["runs"]["samples"], 8)
        self.assertEqual(dump["trust"]["lost"], 0)
        depths = {}
        for name in ("writes", "runs", *(["calls"] if may_trace() else [])):
            text = "\n".join(self.script(run, name, "event,ip,sym"))
            depths[name] = {len(block.splitlines()) - 1 for block in text.split("\n\n") if block}
        self.assertEqual(depths["writes"], {1})
        self.assertGreaterEqual(min(depths["runs"]), 3)
        if may_trace():
            self.assertEqual(got["calls"]["samples"], 8 * hits)
            self.assertGreaterEqual(min(depths["calls"]), 2)

    def test_group_is_read_with_each_sample(self):
        """A reading belongs to the function that is sampled at its end."""
        run, dump = self.recorded("{task-clock,page-faults}:S", "turns", 2, 8)
        faults = self.event(dump, "page-faults")
        if faults["errno"]:
            self.assertIn("6.12", faults["reason"])
            self.skipTest(faults["reason"])
        self.assertEqual([event["group"] for event in dump["events"]], [1, 1])
        report = harness.report(run.dumps, f"--event={faults['name']}", "--by=function")
        (total,) = (event["total"] for event in report["events"] if event["name"] == faults["name"])
        self.assertLessEqual(total, faults["count"])
        self.assertGreaterEqual(total, 0.97 * faults["count"])
        (share,) = (row["total_percent"] for row in report["rows"]
                    if row["event"] == faults["name"] and row["function"] == "fault_a_while")
        print(f"{share:.2f} % of {total} in the function that faults, of {faults['count']}")
        # Also of an ordinary user, whose clock does not tick in the faults themselves.
        self.assertGreaterEqual(share, 95)
        self.check_metrics(run, faults["name"])

    def check_metrics(self, run, name):
        """By the same weights, divided by ourselves."""
        (self.root / "pf.metrics").write_text(
            "event T, F = {task-clock,page-faults}\n"
            'metric per_ms = 1000000 * F / T [1/ms] "page faults a millisecond"\n'
        )
        shown = json.loads(harness.yarnprof("report", "--metrics=pf", f"--metric-path={self.root}",
                                            "--format=json", run.dumps).stdout)
        self.assertEqual([metric["name"] for metric in shown["metrics"]], ["per_ms"])
        whole = json.loads(harness.yarnprof("report", "--format=json", run.dumps).stdout)
        rows = {"task-clock": {}, name: {}}
        for row in whole["rows"]:
            inlined = row.get("inlined", False)
            rows[row["event"]].setdefault(row["function"], []).append((row["self"], inlined))
        checked = 0
        for row in shown["functions"]:
            ours = [rows[event].get(row["function"], []) for event in ("task-clock", name)]
            if [[inlined for _, inlined in one] for one in ours] != [[False], [False]]:
                continue  # a name that several functions have
            per_ms = 1e6 * ours[1][0][0] / ours[0][0][0]
            self.assertAlmostEqual(
                row["values"]["per_ms"], per_ms, delta=1e-3 * per_ms + 1e-6, msg=f"{row} {ours}"
            )
            checked += per_ms > 0
        self.assertGreater(checked, 0)
        missing = json.loads(harness.yarnprof("report", "--metrics=ipc", "--format=json",
                                              run.dumps).stdout)
        self.assertEqual(missing["missing"], "cycles")
        self.assertEqual({row["values"]["ipc"] for row in missing["functions"]}, {None})

    def test_group_is_refused_whole(self):
        _, dump = self.recorded("cpu-clock,{task-clock,mem:no_such_symbol/8:w,minor-faults}",
                                "hits", 1, 1)
        errors = [event["errno"] != 0 for event in dump["events"]]
        self.assertEqual(errors, [False, True, True, True])
        for member in (dump["events"][1], dump["events"][3]):
            self.assertIn("mem:no_such_symbol", member["reason"])

    def test_weak_group_goes_alone(self):
        _, dump = self.recorded("{task-clock,mem:no_such_symbol/8:w,minor-faults}:W", "hits", 1, 1)
        errors = [event["errno"] != 0 for event in dump["events"]]
        self.assertEqual(errors, [False, True, False])


if __name__ == "__main__":
    harness.main()
