# SPDX-License-Identifier: Apache-2.0
"""Whose memory it is: children on the host's memory and on copies of it leave its recording alone, and
nothing of ours in it hurts who reads it. How the host's threads end: promptly, wherever they were."""

import shutil
import unittest

import harness

OWNER = harness.HOSTS / "owner"
SCAN = harness.HOSTS / "scan"
LEAVES = harness.HOSTS / "leaves"
ROUNDS = 12
GUILE = """
(define (work n) (let loop ((i 0) (kept '())) (if (< i n) (loop (+ i 1) (cons i '())) kept)))
(define child (primitive-fork))
(if (zero? child)
    (begin (work 3000000) (gc) (work 3000000) (gc) (primitive-_exit 0))
    (begin (display (cdr (waitpid child))) (newline)))
"""
# Sixty waits in vain took a second each.
PROMPT_SECONDS = 30
NAMESPACE = ["unshare", "--pid", "--fork", "--mount-proc"]


class Owner(harness.Case):
    def assert_recorded_whole(self, argv, **variables):
        run = self.run_program(argv, **variables)
        self.assertEqual(self.outside_without(argv), run.outside())
        owners = [
            dump
            for dump in harness.info(run.dumps)
            if dump["process"]["exe"].endswith("owner") and not dump["process"]["parent"]
        ]
        self.assertEqual(len(owners), 1)
        (owner,) = owners
        self.assertEqual((owner["process"]["exit"], owner["process"]["exit_status"]), ("exit", 4))
        self.assertEqual(harness.yarnprof("verify", run.dumps).returncode, 0)
        self.assert_threads_are_sampled(owner, 0.2)

    def test_children_on_its_memory_and_on_copies(self):
        for sampler in ("perf", "timer"):
            with self.subTest(sampler=sampler):
                self.assert_recorded_whole([OWNER], YARN_SAMPLER=sampler)

    @harness.as_root
    @unittest.skipUnless(shutil.which("unshare"), "needs unshare")
    def test_first_process_of_a_namespace(self):
        """As in every container: a child of CLONE_NEWPID has the same number, 1."""
        for sampler in ("perf", "timer"):
            with self.subTest(sampler=sampler):
                self.assert_recorded_whole([*NAMESPACE, OWNER], YARN_SAMPLER=sampler)


class Scan(harness.Case):
    def test_every_byte_of_every_data_segment_can_be_read(self):
        """By the host, its child and its grandchild, as Guile's collector and LeakSanitizer do."""
        for sampler in ("perf", "timer"):
            with self.subTest(sampler=sampler):
                run = self.run_program([SCAN], YARN_SAMPLER=sampler)
                self.assertEqual(self.outside_without([SCAN]), run.outside())
                self.assertEqual(len(self.dumps_of(run)), 3)

    @unittest.skipUnless(shutil.which("guile"), "needs guile")
    def test_collector_of_guile(self):
        run = self.run_program(["guile", "-c", GUILE])
        self.assertEqual((run.status, run.stdout, run.stderr), (0, b"0\n", b""))


class Leave(harness.Case):
    """A thread that never comes back from a call of ours holds nothing that others wait for."""

    def dumps_of_way(self, way, **variables):
        run = self.run_program([LEAVES, way], **variables)
        self.assertEqual(self.outside_without([LEAVES, way]), run.outside())
        self.assertEqual(harness.yarnprof("verify", run.dumps).returncode, 0)
        return run, [dump["process"] for dump in harness.info(run.dumps)
                if dump["process"]["exe"].endswith("leaves")]

    def children_of_way(self, way, **variables):
        _, processes = self.dumps_of_way(way, **variables)
        return [process for process in processes if process["parent"]]

    def test_exit_in_a_handler_within_a_call(self):
        for sampler in ("perf", "timer"):
            with self.subTest(sampler=sampler):
                ends = [(p["exit"], p["exit_status"])
                        for p in self.children_of_way("exit", YARN_SAMPLER=sampler)]
                self.assertEqual(ends, [("exit", 3)] * ROUNDS)

    def test_jump_and_cancel(self):
        for way in ("jump", "cancel"):
            with self.subTest(way=way):
                run, (process,) = self.dumps_of_way(way)
                self.assertLess(run.wall_seconds, PROMPT_SECONDS)
                self.assertEqual((process["exit"], process["exit_status"]), ("exit", 3))

    def test_ends_while_the_reader_is_stopped(self):
        """By a debugger, for a minute: nobody waits for it. The dump says that it was cut off."""
        run = self.run_program([LEAVES, "stopped"], YARN_EMPTY="keep")
        if b"status 4d00" in run.stdout:
            self.skipTest("no debugger may stop a thread here")
        self.assertEqual(self.outside_without([LEAVES, "stopped"]), run.outside())
        self.assertLess(run.wall_seconds, PROMPT_SECONDS)
        for dump in harness.info(run.dumps):
            is_cut = dump["process"]["parent"] and dump["process"]["exe"].endswith("leaves")
            self.assertEqual(not dump["process"]["exit"], bool(is_cut))

    def test_ends_while_the_reader_has_to_wait(self):
        """As for a core: its end is waited for."""
        run = self.run_program([LEAVES, "delayed"], YARN_EMPTY="keep")
        if b"status 4d00" in run.stdout:
            self.skipTest("no debugger may stop a thread here")
        self.assertEqual(self.outside_without([LEAVES, "delayed"]), run.outside())
        self.assertEqual(run.status, 0)
        processes = [dump["process"] for dump in harness.info(run.dumps)]
        self.assertEqual(len([process for process in processes if process["parent"]]), 3)
        self.assertEqual([process["exe"] for process in processes if not process["exit"]], [])

    def test_exec_that_fails_beside_one_that_succeeds(self):
        ends = [process["exit"] for process in self.children_of_way("together")]
        self.assertEqual(ends, ["exec"] * ROUNDS)


if __name__ == "__main__":
    harness.main()
