# SPDX-License-Identifier: Apache-2.0
"""`sched` of what was recorded from outside, against hosts that know."""

import pathlib
import time
import unittest

import control
import harness
from outside import Case, KNOWN, PINGPONG, RELAYS, SPLIT, key_of, name_of
from test_switches import SLEEPER, WAITERS, check_sleeper, check_waiters, table_of


class OutsideSwitches(Case):
    def rows_of(self, run):
        return {row["tid"]: row for row in table_of(run.dumps)["threads"]}

    def test_runnable_is_the_schedstat_of_threads(self):
        check_sleeper(self, self.record([SLEEPER, 2500]))

    def test_of_many_threads_what_is_not_known_is_unknown(self):
        check_waiters(self, self.record([WAITERS, 200, 2500]))

    def test_each_process_of_a_tree_has_its_own(self):
        """Two children at a time run for 100 ms each, with a pause of 0.2 ms after each 0.1 ms of that. What the dumps
        of ended children lack is at most from the last reading of their times on."""
        run = self.record([KNOWN, 4, 100000, "pauses"])
        rows = self.rows_of(run)
        known = [[int(word) for word in line.split()] for line in run.stdout.decode().splitlines()[:-1]]
        self.assertEqual(len(known), 4)
        for pid, used_ns, ran_ns in known:
            row = rows[pid]
            print({state: round(row[state] / 1e6, 1) for state in row if state.endswith("_ns")})
            # Of what is known switch by switch: before the first sample few are kept.
            self.assertGreater(row["switches"], max(100, 5 * row["running_ns"] / 1e6))
            self.assertLess(row["running_ns"], 1.02 * used_ns)
            self.assertGreater(row["running_ns"] + row["switching_ns"] + row["unknown_ns"], 0.98 * ran_ns)
            self.assertGreater(row["blocked_ns"] + row["unknown_ns"], 300 * 200e3)
            self.assertLess(row["unknown_ns"], 0.5 * row["life_ns"])

    def test_who_is_never_switched_runs_all_its_life(self):
        """Programs of a millisecond, and what executes them: their lives end as they ended."""
        run = self.record(["sh", "-c", f"for i in 1 2 3 4 5 6 7 8 9 10; do {SPLIT} 0 >/dev/null; done"], "-F", "5000")
        infos = {(dump["process"]["pid"], name_of(dump["process"])): dump for dump in self.infos(run)}
        rows = [row for row in table_of(run.dumps)["threads"] if (row["pid"], row["comm"]) in infos]
        self.assertGreater(len(rows), 5)
        for row in rows:
            cpu_ns = infos[row["pid"], row["comm"]]["trust"]["cpu_ns"]
            self.assertGreater(row["running_ns"] + row["switching_ns"] + row["unknown_ns"], 0.95 * cpu_ns - 100e3)
            if not row["switches"]:
                self.assertGreater(row["running_ns"], 0.98 * row["life_ns"] - 100e3)
        ends = {tuple(key_of(image).values()): image["end_ns"] for image in self.processes(run)}
        starts = [(tuple(image["predecessor"].values()), image["start_ns"]) for image in self.processes(run)
                  if image["predecessor"]]
        self.assertEqual([key for key, start_ns in starts if start_ns < ends.get(key, 0)], [])

    def test_before_a_process_has_a_dump_few_are_kept_and_of_others_the_kernel_says_the_sum(self):
        run = self.record([KNOWN, 1, 100000, "pauses"], "-F", "50")
        (pid, used_ns, ran_ns), = [map(int, line.split()) for line in run.stdout.decode().splitlines()[:-1]]
        table = table_of(run.dumps)
        (row,) = [row for row in table["threads"] if row["tid"] == pid]
        self.assertGreater(table["notes"]["cut_ns"], 0)
        self.assertLess(row["running_ns"], 1.02 * used_ns)
        self.assertGreater(row["running_ns"] + row["switching_ns"] + row["unknown_ns"], 0.98 * ran_ns)
        self.assertGreater(row["blocked_ns"] + row["unknown_ns"], 300 * 200e3)

    def test_there_are_none_any_more_where_they_are_too_many(self):
        run = self.record(["sh", "-c", f"{PINGPONG} 60000; {KNOWN} 1 50000"], "--sched=switch:1000")
        self.assertGreater(table_of(run.dumps)["notes"]["cut_ns"], 0)
        scheds = {name_of(dump["process"]): dump["sched"] for dump in self.infos(run)}
        self.assertEqual((scheds["known"]["got"], scheds["known"]["reason"]),
                         ("off", "they were too many and given up before"))

    def test_threads_that_ended_before_there_was_a_dump_do_not_live_on_in_it(self):
        """Each works for 1 ms; that they are marked is what begins the dump, for none has a sample."""
        process = harness.start([RELAYS, 4, 10], self.folder(), preload=False)
        self.addCleanup(process.communicate)
        folder = self.folder()
        command = [harness.YARNPROF, "record", "-p", process.pid, "-F", "1", f"--control={folder}/s", "-o", f"{folder}/d/"]
        recorder = harness.start(command, folder, preload=False)
        time.sleep(1)
        control.ctl(folder / "s", "mark", "here")
        recorder.communicate()
        rows = table_of(folder / "d")["threads"]
        others = [row["life_ns"] - row["runnable_ns"] for row in rows if row["tid"] != row["pid"]]
        print(f"{len(others)} threads, at most {max(others) / 1e6:.1f} ms")
        self.assertLess(max(others), 600e6)

    def test_asked_for_they_are_worth_a_dump(self):
        argv = ["sh", "-c", "sleep 0.3; sleep 0.3; true"]
        names = lambda run: sorted(name_of(dump["process"]) for dump in self.infos(run))
        self.assertNotIn("sleep", names(self.record(argv, "-F", "1")))
        run = self.record(argv, "-F", "1", "--sched=switch")
        self.assertEqual(names(run).count("sleep"), 2)
        rows = self.rows_of(run)
        for dump in self.infos(run):
            if name_of(dump["process"]) == "sleep":
                row = rows[dump["process"]["pid"]]
                self.assertGreater(row["blocked_ns"] + row["unknown_ns"], 290e6)
                self.assertLess(row["running_ns"], 100e6)

    @harness.as_root
    def test_who_runs_all_the_time_that_is_recorded_is_not_blocked(self):
        """Nothing takes its core from it, so there is not one switch of it."""
        run = self.record(["chrt", "-f", "10", KNOWN, 1, 600000], "--delay=100ms")
        (pid, _, _), = [map(int, line.split()) for line in run.stdout.decode().splitlines()[:-1]]
        row = self.rows_of(run)[pid]
        print(f"running {row['running_ns'] / 1e6:.1f} ms, blocked {row['blocked_ns'] / 1e6:.1f} ms")
        self.assertGreater(row["running_ns"], 100e6)
        self.assertLess(row["blocked_ns"], 10e6)

    def test_a_child_that_is_forked_is_born(self):
        """So what schedstat says at the first reading is all of its life."""
        run = self.record([KNOWN, 2, 100000, "pauses"])
        known = {int(line.split()[0]) for line in run.stdout.decode().splitlines()[:-1]}
        makers = {dump["process"]["pid"]: dump["threads"][0]["parent_tid"] for dump in self.infos(run)}
        (first,) = makers.keys() - known
        self.assertEqual(makers, {first: 0, **dict.fromkeys(known, first)})

    @harness.as_root
    def test_of_whole_cores_the_last_switch_of_the_dead_is_no_run(self):
        """It comes after the thread's end."""
        run = self.record([SLEEPER, 1500], "--whole-cores")
        check_sleeper(self, run)
        table = table_of(run.dumps)
        self.assertEqual(table["notes"]["refused"], 0)
        (first,) = [row for row in table["threads"] if row["tid"] == row["pid"]]
        self.assertLess(first["running_ns"], 100e6)
        self.assertGreater(first["blocked_ns"] + first["unknown_ns"], 1.3e9)

    def test_left_out_they_are_not_there(self):
        run = self.record([KNOWN, 1, 50000], "--sched=off")
        self.assertEqual({dump["sched"]["got"] for dump in self.infos(run)}, {"off"})

    def test_of_a_running_process(self):
        """Its threads are unknown until they are first seen to run."""
        process = harness.start([SLEEPER, 3000], self.folder(), preload=False)
        self.addCleanup(process.communicate)
        time.sleep(0.3)
        ran = lambda: {int(path.parent.name): int(path.read_text().split()[0])
                       for path in pathlib.Path(f"/proc/{process.pid}/task").glob("*/schedstat")}
        before, folder = ran(), self.folder()
        harness.yarnprof("record", "-p", process.pid, "--duration=1500ms", "-o", f"{folder}/")
        after = ran()
        rows = {row["tid"]: row for row in table_of(folder)["threads"]}
        self.assertEqual(len(rows), 4)
        busy = [tid for tid in after if after[tid] - before[tid] > 100e6]
        self.assertEqual(len(busy), 2)
        for tid in busy:
            row = rows[tid]
            print({state: round(row[state] / 1e6, 1) for state in row if state.endswith("_ns")})
            self.assertLess(row["running_ns"], 1.01 * (after[tid] - before[tid]))
            self.assertGreater(row["running_ns"] + row["unknown_ns"], 0.7 * (after[tid] - before[tid]))
            self.assertLess(row["unknown_ns"], 0.3 * row["life_ns"])

    def test_of_a_stop_there_is_what_the_kernel_has_in_sum(self):
        check_sleeper(self, self.record([SLEEPER, 1500], "--delay=500ms"))


if __name__ == "__main__":
    unittest.main()
