# SPDX-License-Identifier: Apache-2.0
"""Whose memory it is: children on the host's memory and on copies of it leave its recording alone, and
nothing of ours in it hurts who reads it. How the host's threads end: promptly, wherever they were."""

import os
import shutil
import unittest

import harness

OWNER = harness.HOSTS / "owner"
SCAN = harness.HOSTS / "scan"
GUILE = """
(define (work n) (let loop ((i 0) (kept '())) (if (< i n) (loop (+ i 1) (cons i '())) kept)))
(define child (primitive-fork))
(if (zero? child)
    (begin (work 3000000) (gc) (work 3000000) (gc) (primitive-_exit 0))
    (begin (display (cdr (waitpid child))) (newline)))
"""
# One wait in vain for a reader that cannot answer took 5 seconds and more, each time.
PROMPT_SECONDS = 15
NAMESPACE = ["unshare", "--pid", "--fork", "--mount-proc"]


class Owner(harness.Case):
    def assert_recorded_whole(self, argv, **variables):
        run = self.run_program(argv, **variables)
        self.assertEqual(self.outside_without(argv), run.outside())
        self.assertLess(run.wall_seconds, PROMPT_SECONDS)
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

    @unittest.skipUnless(os.getuid() == 0 and shutil.which("unshare"), "needs root and unshare")
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


if __name__ == "__main__":
    harness.main()
