#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two clocks that take turns are one event in every view and export: a dump of both shows what one shows that has
the same samples of one event."""

import json
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "support"))
import packed_dump
from command_line import WithDumps, main, run

PERIODS = (1_000_000, 1_060_000)
TIDS = (1, 2)
TURNS = 120
SAMPLES = 48  # a turn and thread
NAMES = ("work", "rest", "other")
EXPORTS = ("folded", "pprof", "speedscope", "firefox", "callgrind", "chrome", "perf.data", "sqlite", "trace.dat")
VIEWS = [
    ("report",), ("report", "--tree"), ("report", "--callers"), ("report", "--calls"),
    *(("report", "--by=" + by) for by in ("line", "module", "thread", "process", "cpu", "event", "address", "branch")),
    ("report", "--side-by-side"), ("report", "--format=csv"), ("report", "--format=json"), ("report", "--event=cpu-clock"),
    ("report", "--time=1s..2s"), ("annotate", "work"), ("script",), ("script", "--event=cpu-clock"), ("sched",),
    ("sched", "--couplebreak"), ("stat",), ("flamegraph", "-o", "-"), *(("export", "--to=" + to, "-o", "-") for to in EXPORTS),
]  # fmt: skip


def make(shares, are_two, pid=1, turns=TURNS):
    """A process of two threads; `shares`: of `work`, as each clock sees it. `are_two`: as they are
    recorded; else all are samples of one event."""
    dump = packed_dump.Dump()
    dump.begin(pid)
    clock, unit = dump.text("cpu-clock"), dump.text("ns")
    if are_two:
        dump.record("EVENT", number=3, name=clock, asked=clock, got=clock, unit=unit, flags=1, period=PERIODS[1],
                    alternate_of=1)
    dump.record("THREAD", tid=2, comm=clock)
    names = [dump.text(name) for name in NAMES]
    dump.functions(len(NAMES), names=packed_dump.plain(names))
    dump.batch("STACKS", 0, len(NAMES), packed_dump.constant(0), packed_dump.steps(len(NAMES), 0, 1))
    time_ns, rng = 0, random.Random(1)
    for turn in range(turns):
        side = turn % 2
        stacks = [1 if rng.random() < shares[side] else rng.choice((2, 3)) for _ in range(SAMPLES * len(TIDS))]
        dump.samples(SAMPLES * len(TIDS), len(TIDS),
                     {"event": 3 * side if are_two else 0, "tid": packed_dump.plain(TIDS), "count": SAMPLES,
                      "first_ns": time_ns, "period_ns": PERIODS[side], "weight": PERIODS[side]},
                     stack=packed_dump.plain(stacks))
        dump.record("COUNT", event=3 * side if are_two else 0, time_ns=time_ns,
                    count=turn if are_two else 2 * turn - 1 if turn else 0, lost=side,
                    time_enabled_ns=50, time_running_ns=50)
        time_ns += SAMPLES * PERIODS[side]
        dump.flush()
    if not are_two:
        dump.record("COUNT", event=0, time_ns=time_ns, count=2 * turns - 3, lost=1, time_enabled_ns=100,
                    time_running_ns=100)
    dump.record("LOST", event=1 + (3 if are_two else 0), count=2)
    dump.record("THROTTLE", event=3 if are_two else 0, time_ns=time_ns)
    dump.named("RUNS", 2, {"tid": packed_dump.plain(TIDS), "time_ns": 5, "length_ns": 9})
    return dump.end()


class Alternates(WithDumps):
    def dumps(self, name, *made):
        """The same file in a folder each, so that what is shown of its place is the same."""
        folders = [self.folder / f"{name}{i}" for i in range(len(made))]
        for folder, data in zip(folders, made):
            folder.mkdir()
            (folder / "a.dump").write_bytes(data)
        return folders

    def outcome(self, folder, *arguments):
        result = run(*arguments, cwd=folder, text=False)
        return result.returncode, result.stdout, result.stderr

    def test_every_view_and_export_shows_one_event(self):
        both, one = self.dumps("views", make((0.1, 0.1), True), make((0.1, 0.1), False))
        for view in VIEWS:
            with self.subTest(view):
                shown = self.outcome(both, *view, "a.dump")
                self.assertEqual(shown, self.outcome(one, *view, "a.dump"))
                self.assertTrue(shown[1] or shown[2])

    def test_what_was_merged_and_what_is_compared_is_one_event(self):
        folders = self.dumps("merged", make((0.1, 0.1), True), make((0.1, 0.1), False))
        for folder in folders:
            (folder / "b.dump").write_bytes(make((0.1, 0.1), folder == folders[0], pid=7))
            self.assertEqual(self.outcome(folder, "merge", "-o", "c.dump", "a.dump", "b.dump")[0], 0)
        for view in (("report", "c.dump"), ("report", "--by=process", "c.dump"), ("diff", "a.dump", "c.dump"),
                     ("script", "c.dump"), ("flamegraph", "-o", "-", "a.dump", "b.dump")):
            with self.subTest(view):
                shown = self.outcome(folders[0], *view)
                self.assertEqual(shown, self.outcome(folders[1], *view))
                self.assertEqual(shown[0], 0)

    def test_weights_add_up_and_info_has_both_periods(self):
        both, _ = self.dumps("sums", make((0.1, 0.1), True), make((0.1, 0.1), False))
        (event,) = json.loads(self.good("report", "--format=json", both))["events"]
        self.assertEqual(event["samples"], TURNS * SAMPLES * len(TIDS))
        self.assertEqual(event["total"], TURNS // 2 * SAMPLES * len(TIDS) * sum(PERIODS))
        (event,) = json.loads(self.good("info", "--format=json", both))["dumps"][0]["events"]
        self.assertEqual((event["samples"], event["count"], event["time_enabled"], event["lost"],
                          event["alternate_period"]),
                         (TURNS * SAMPLES * len(TIDS), 2 * TURNS - 3, 100, 1, PERIODS[1]))

    def found(self, folder):
        notes = json.loads(self.good("report", "--format=json", folder))["notes"]["in_phase"]
        info = json.loads(self.good("info", "--format=json", folder))["dumps"][0]["in_phase"]
        self.assertEqual(notes, info)
        return {note["function"]: (note["percent"], note["percent_by_alternate"]) for note in notes}

    def assert_near(self, shares, wanted):
        for share, right in zip(shares, wanted):
            self.assertAlmostEqual(share, 100 * right, delta=2)

    def test_what_is_in_phase_with_the_clock_is_said_in_every_view(self):
        one, other = self.dumps("phase", make((0.1, 0.4), True), make((0.25, 0.03), True))
        self.assert_near(self.found(one)["work"], (0.1, 0.4))
        self.assert_near(self.found(other)["work"], (0.25, 0.03))
        shares = r"{:.1f} % {}{:.1f} %".format(self.found(one)["work"][0], ".*", self.found(one)["work"][1])
        said = rf"in phase with the clock: work\b.* {shares}"
        self.assertRegex(self.good("report", one), r"warning: " + said)
        self.assertRegex(self.good("report", "--tree", one), r"warning: " + said)
        self.assertRegex(self.good("info", one), rf"in phase +work of pid \d+ has {shares} by the other")
        self.assertRegex(self.good("flamegraph", "-o", "-", one), said)

    def test_nothing_is_said_without_a_difference_or_where_one_clock_has_too_few_turns(self):
        same, = self.dumps("same", make((0.1, 0.1), True))
        self.assertEqual(self.found(same), {})
        self.assertNotIn("in phase", self.good("report", same) + self.good("flamegraph", "-o", "-", same))
        short, = self.dumps("short", make((0.1, 0.4), True, turns=20))
        self.assertEqual(self.found(short), {})

    def test_an_alternate_of_another_unit_or_of_none_is_an_event_of_its_own(self):
        for lie in ({"unit": 0}, {"alternate_of": 2}, {"alternate_of": 9}, {"name": 0}):
            with self.subTest(lie):
                dump = packed_dump.Dump()
                dump.begin()
                clock, unit = dump.text("cpu-clock"), dump.text("ns")
                said = {"number": 1, "name": clock, "got": clock, "unit": unit, "flags": 1, "period": 5, "alternate_of": 1}
                dump.record("EVENT", **{**said, **lie})
                dump.samples(4, stream={"event": 1, "tid": 1, "weight": 5})
                folder, = self.dumps("lie" + str(len(list(self.folder.iterdir()))), dump.end())
                events = json.loads(self.good("info", "--format=json", folder))["dumps"][0]["events"]
                self.assertEqual([event["samples"] for event in events], [0, 4])


if __name__ == "__main__":
    main()
