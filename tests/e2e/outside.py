# SPDX-License-Identifier: Apache-2.0
"""What tests of `yarnprof record --outside` and `-p` share: their hosts, and a case that takes the tool's own line apart."""

import pathlib
import time

import control
import harness

CHILDREN = harness.HOSTS / "children"
IMAGES = harness.HOSTS / "images"
SPLIT = harness.HOSTS / "split"
STANDALONE = harness.HOSTS / "standalone"
RELAYS = harness.HOSTS / "relays"
THREADS = harness.HOSTS / "threads8"
KNOWN = harness.HOSTS / "known"
JIT = harness.HOSTS / "jit_x86_64"
PINGPONG = harness.HOSTS / "pingpong"


def key_of(process):
    return {"pid": process["pid"], "start_ns": process["start_ns"]}


def name_of(process):
    return pathlib.Path(process["exe"]).name


def children_of(pid, count=1):
    """Once so many are there."""
    def listed():
        return [int(word) for list in pathlib.Path(f"/proc/{pid}/task").glob("*/children")
                for word in list.read_text().split()]
    control.wait_until(lambda: len(listed()) == count)
    return listed()


class Case(harness.Case):
    def record(self, argv, *options, **more):
        folder = self.folder()
        begun = time.monotonic()
        command = [harness.YARNPROF, "record", "--outside", "-o", f"{folder}/", *options, "--", *argv]
        return self.finished(harness.start(command, folder, preload=False, **more), begun, folder)

    def finished(self, process, begun, folder):
        """With the tool's own line, of what was recorded, apart."""
        run = harness.wait(process, begun, folder)
        lines = run.stderr.splitlines(keepends=True)
        run.outcome = lines.pop() if lines and lines[-1].startswith(b"[yarn: ") else b""
        run.stderr = b"".join(lines)
        return run

    def assert_same_outside(self, argv, *options, **more):
        recorded = self.record(argv, *options, **more)
        plain = self.run_plainly(argv, **more)
        self.assertEqual(plain.outside(), recorded.outside())
        if self.dumps_of(recorded):
            harness.yarnprof("verify", recorded.dumps)
        return recorded

    def infos(self, run):
        return sorted(harness.info(run.dumps), key=lambda dump: dump["process"]["start_ns"])

    def processes(self, run):
        return [dump["process"] for dump in self.infos(run)]

    def assert_whole(self, run):
        """Nothing is lost, and every stack goes to its thread's start: but for those that an exec has given up
        before it is one, and a sample within the fault that copies the stack's own page after a fork, of which
        there is no copy."""
        trust = self.assert_none_lost(run)
        nr_cut = trust["samples"] - trust["stacks_complete"]
        if nr_cut:
            self.assertLessEqual(nr_cut - len(self.cut_in_execs(run)), max(2, trust["samples"] // 200), trust)

    def cut_in_execs(self, run):
        return [sample for sample in harness.samples(run.dumps) if sample.frames[-1].name == "[truncated]"
                and any("execve" in frame.name for frame in sample.frames if frame.module == harness.KERNEL)]

    def assert_none_lost(self, run):
        """The recorder's second thread empties the rings."""
        trust = harness.trust(run.dumps)
        self.assert_nothing_is_lost(run, trust)
        self.assertGreater(trust["samples"], 0)
        return trust
