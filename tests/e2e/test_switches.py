# SPDX-License-Identifier: Apache-2.0
"""Switch records against the kernel's own counts, and what happens where there are too many."""

import json
import unittest

import harness

HANDOVER = harness.HOSTS / "handover"
SLEEPER = harness.HOSTS / "sleeper"
WAITERS = harness.HOSTS / "waiters"
STATES = ("running_ns", "switching_ns", "runnable_ns", "blocked_ns", "unknown_ns")


def table_of(dumps):
    """Whose rows are lives without a hole."""
    table = json.loads(harness.yarnprof("sched", "--format=json", dumps).stdout)
    for row in table["threads"]:
        if sum(row[state] for state in STATES) != row["life_ns"]:
            raise AssertionError(row)
    return table


def check_sleeper(case, run):
    case.assertEqual((run.status, run.stderr), (0, b""))
    rows = {row["tid"]: row for row in table_of(run.dumps)["threads"]}
    if all(row["runnable_from"] == "records" for row in rows.values()):
        case.skipTest("no switch records, or no schedstat")
    for line in run.stdout.decode().splitlines():
        tid, what, _, wait_ns, _ = line.split()
        row, wait_ns = rows[int(tid)], int(wait_ns)
        print(f"{what}: runnable {100 * row['runnable_ns'] / wait_ns:.1f} % of schedstat's, "
              f"unknown {row['unknown_ns'] / 1e6:.1f} ms")
        # What a thread waits in after the last reading is not known; that one is soon before, if the reader has a core.
        case.assertLess(row["runnable_ns"], 1.02 * wait_ns)
        case.assertGreater(row["runnable_ns"] + (0 if what == "burn" else row["unknown_ns"]), 0.98 * wait_ns)


def check_waiters(case, run):
    """Of 200 at a time half live a tenth as long: read in turns, the long ones near their end."""
    case.assertEqual((run.status, run.stderr), (0, b""))
    table = table_of(run.dumps)
    if table["notes"]["cut_ns"] or all(row["runnable_from"] == "records" for row in table["threads"]):
        case.skipTest("no switch records or not all of them, or no schedstat")
    rows = {row["tid"]: row for row in table["threads"]}
    for is_long in (True, False):
        waited = blocked = lived = 0
        shown = dict.fromkeys(("runnable_ns", "blocked_ns", "unknown_ns"), 0)
        for line in run.stdout.decode().splitlines():
            tid, life_ns, run_ns, wait_ns, _ = map(int, line.split())
            if (life_ns > 2 * 10**9) != is_long:
                continue
            waited, blocked, lived = waited + wait_ns, blocked + life_ns - run_ns - wait_ns, lived + life_ns
            for part in shown:
                shown[part] += rows[tid][part]
        runnable_ns, blocked_ns, unknown_ns = shown.values()
        print(f"{'long' if is_long else 'short'}: runnable {runnable_ns / waited:.3f} of schedstat's, "
              f"blocked {blocked_ns / blocked:.3f}, unknown {unknown_ns / lived:.3f} of the lives")
        case.assertLess(runnable_ns, 1.02 * waited)
        case.assertLess(blocked_ns, 1.02 * blocked)
        case.assertGreater(runnable_ns + unknown_ns, 0.98 * waited)
        case.assertGreater(blocked_ns + unknown_ns, 0.98 * blocked)
        if is_long:  # 4 % on a machine of its own
            case.assertLess(unknown_ns, 0.3 * lived)


class Switches(harness.Case):
    def recorded(self, rounds, quiet_ms, sched):
        run = self.run_program([HANDOVER, rounds, quiet_ms], YARN_SCHED=sched)
        self.assertEqual((run.status, run.stderr), (0, b""))
        (dump,) = harness.info(run.dumps)
        if dump["sched"]["got"] != sched:
            self.skipTest(dump["sched"]["reason"])
        table = table_of(run.dumps)
        rows = {row["tid"]: row for row in table["threads"]}
        printed = [list(map(int, line.split())) for line in run.stdout.decode().splitlines()]
        self.assertEqual(table["notes"]["refused"], 0)
        return dump, table, [(rows[tid], switches, cpu_ns) for tid, switches, cpu_ns in printed]

    def test_each_switch_is_recorded_or_counted_as_lost(self):
        dump, table, threads = self.recorded(100000, 0, "switch:0")
        lost = dump["trust"]["switches_lost"]
        self.assertEqual(table["notes"]["switches_lost"], lost)
        recorded, counted = sum(row["switches"] for row, _, _ in threads), sum(n for _, n, _ in threads)
        print(f"{recorded} switches of {counted}, {lost} records lost")
        self.assertGreaterEqual(recorded + lost, 0.995 * counted)
        self.assertLessEqual(recorded, 1.005 * counted)
        for row, _, cpu_ns in threads:
            known_ns = row["running_ns"] + row["switching_ns"]
            print(f"{known_ns / 1e6:.1f} ms of {cpu_ns / 1e6:.1f}, {row['unknown_ns'] / 1e6:.1f} unknown")
            self.assertLessEqual(known_ns, 1.03 * cpu_ns)
            if not lost:
                self.assertGreaterEqual(known_ns + row["unknown_ns"], 0.97 * cpu_ns)

    def test_too_many_are_cut_out_and_come_on_again(self):
        dump, table, threads = self.recorded(40000, 3000, "switch:1000")
        cut_ns = dump["sched"]["cut_ns"]
        self.assertGreater(cut_ns, 0)
        self.assertEqual(table["notes"]["cut_ns"], cut_ns)
        answering, _ = threads
        self.assertLess(answering[0]["switches"], 0.5 * answering[1])
        for row, _, cpu_ns in threads:  # schedstat has in sum what was done meanwhile
            if row["runnable_from"] == "schedstat":
                known_ns = row["running_ns"] + row["switching_ns"]
                print(f"{known_ns / cpu_ns:.3f} of the CPU time, {row['unknown_ns'] / row['life_ns']:.3f} unknown")
                self.assertAlmostEqual(known_ns / cpu_ns, 1, delta=0.03)
                # Of the last reading without a record, what is behind it, and what may be a wait before it.
                self.assertLess(row["unknown_ns"], 0.25 * row["life_ns"])

    def test_runnable_is_the_schedstat_of_threads_that_end_before_the_process(self):
        check_sleeper(self, self.run_program([SLEEPER, 2500]))

    def test_of_many_threads_what_schedstat_was_not_asked_about_is_unknown_and_not_blocked(self):
        check_waiters(self, self.run_program([WAITERS, 200, 2500]))

    def test_of_a_thousand_threads_little_is_unknown(self):
        run = self.run_program([WAITERS, 1000, 2500])
        self.assertEqual((run.status, run.stderr), (0, b""))
        table = table_of(run.dumps)
        rows = [row for row in table["threads"] if row["life_ns"] > 2 * 10**9]
        if table["notes"]["cut_ns"] or all(row["runnable_from"] == "records" for row in rows):
            self.skipTest("no switch records or not all of them, or no schedstat")
        unknown = sum(row["unknown_ns"] for row in rows) / sum(row["life_ns"] for row in rows)
        print(f"unknown {unknown:.3f} of the lives of 2 s and more")
        self.assertLess(unknown, 0.3)  # 3 to 10 % on a busy machine, 50 where 64 are read at a time


if __name__ == "__main__":
    unittest.main()
