# SPDX-License-Identifier: Apache-2.0
"""When a recording begins: a program that another recorded one executes, and that ends within its first
period of CPU time, pays for none; what passed before is said."""

import os

import harness

BEGINS = harness.HOSTS / "begins"


class Case(harness.Case):
    def own(self, run):
        """Its dumps, without the shell's, which has one where it was slow."""
        return [dump for dump in self.dumps_of(run) if "begins" in dump.name]

    def unread_ns(self, run):
        """Of the children, in no dump."""
        rows = harness.report(run.dumps)["notes"]["completeness"]
        return sum(row["count"] for row in rows if row["key"] == "children_unread_ns")

    def steps(self, *words, **variables):
        """What the program says after each step, its CPU time since main, and the run."""
        # What comes behind keeps the shell from executing it in its own place.
        run = self.run_program(["sh", "-c", '"$0" "$@"; exit $?', BEGINS, *words], **variables)
        self.assertEqual((run.status, run.stderr), (0, b""))
        *lines, cpu = run.stdout.decode().splitlines()
        return [int(line.split()[1]) for line in lines], int(cpu.split()[1]), run


class Begin(Case):
    def test_not_before_a_period_of_cpu_time(self):
        (first, _, last), _, run = self.steps("look", "work", 3000, "rest", 50)
        self.assertEqual(first, 0)
        self.assertGreater(last, 0)
        # Such a program has no sample, and no dump.
        (first,), _, run = self.steps("look")
        self.assertEqual((first, self.own(run)), (0, []))

    def test_where_it_waits(self):
        """What it records later must be there by then."""
        (first, last), _, _ = self.steps("look", "rest", 2000)
        self.assertEqual(first, 0)
        self.assertGreater(last, 0)

    def test_what_is_started_by_itself_is_recorded_from_main_on(self):
        run = self.run_program([BEGINS, "look"])
        self.assertGreater(int(run.stdout.split()[1]), 0)

    def test_before_a_thread_is_made(self):
        (first, second), _, _ = self.steps("look", "thread")
        self.assertEqual(first, 0)
        self.assertGreater(second, 0)

    def test_at_once_where_each_moment_counts(self):
        for variables in (
            {"YARN_EVENTS": "cpu-clock,page-faults/period=1/"},
            {"YARN_EVENTS": "cpu-clock/freq=5000/"},
            {"YARN_EVENTS": "cpu-clock,off-cpu"},
            {"YARN_COUNTERS": "page-faults"},
            {"YARN_EMPTY": "keep"},
        ):
            with self.subTest(variables=variables):
                (first,), _, _ = self.steps("look", **variables)
                self.assertGreater(first, 0)


class Sums(Case):
    def test_time_before_the_recording_is_said(self):
        for us in (6000, 20000):
            with self.subTest(us=us):
                _, cpu_ns, run = self.steps("work", us)
                (dump,) = self.own(run)
                trust = harness.trust(dump)
                (event,) = harness.report(dump)["events"]
                self.assertGreater(trust["before_ns"], 0)
                # Once main is left some more time passes, and before it, in the loader, some too.
                self.assertGreater(event["total"] + trust["unsampled_ns"], 0.97 * cpu_ns)
                self.assertLess(event["total"] + trust["unsampled_ns"], 1.03 * cpu_ns + 5_000_000)

    def test_time_of_its_children_is(self):
        """Of those that are forked before, too. On a busy machine a child has a dump of its own."""
        _, _, run = self.steps("fork", 4000)
        cpu_ns = sum(harness.trust(dump)["cpu_ns"] for dump in self.own(run))
        self.assertGreater(cpu_ns, 3_900_000)


class Children(Case):
    def test_time_that_is_in_no_dump(self):
        """Of programs too short for a dump: the kernel has counted it for who waited for them."""
        script = 'i=0; while [ $i -lt 300 ]; do "$0" look >/dev/null; i=$((i+1)); done'
        before = os.times()
        run = self.run_program(["sh", "-c", script, BEGINS])
        after = os.times()
        cpu_ns = 1e9 * sum(after[2:4]) - 1e9 * sum(before[2:4])
        (dump,) = run.dumps.iterdir()
        unread_ns = self.unread_ns(run)
        trust = harness.trust(run.dumps)
        self.assertAlmostEqual((unread_ns + trust["cpu_ns"] + trust["drain_cpu_ns"]) / cpu_ns, 1,
                               delta=0.1)
        self.assertIn("of CPU time of children is in no dump read here",
                      harness.yarnprof("report", dump).stdout.decode())

    def test_of_dumps_that_were_read_it_is_not_said(self):
        script = 'for i in 1 2 3; do "$0" work 60000 >/dev/null; done'
        run = self.run_program(["sh", "-c", script, BEGINS], YARN_EMPTY="keep")
        self.assertEqual(len(self.dumps_of(run)), 4)
        # What is left is the loading and the end of three programs, which work for 180 ms.
        self.assertLess(self.unread_ns(run), 90_000_000)

    def test_what_was_waited_for_before_the_library_was_there_is_not(self):
        """As by a script that works, then executes the recorded program in its own place."""
        script = '"$0" work 300000 >/dev/null; LD_PRELOAD=$1 exec "$0" work 20000'
        run = self.run_program(["sh", "-c", script, BEGINS, harness.PRELOAD], LD_PRELOAD="", HOST_WORK="none")
        self.assertEqual(len(self.dumps_of(run)), 1)
        self.assertEqual(self.unread_ns(run), 0)


if __name__ == "__main__":
    harness.main()
