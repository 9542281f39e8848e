# SPDX-License-Identifier: Apache-2.0
"""Memory that others count: locked memory, and all that is mapped."""

import os
import pathlib
import resource
import time

import harness
from narrow import MIB, Case, limited

SPLIT = harness.HOSTS / "split"
LIMITED = harness.HOSTS / "limits"


class Memory(Case):
    def test_eight_processes_of_one_user_without_locked_memory(self):
        before = limited(resource.RLIMIT_MEMLOCK, 0)
        folder, begun = self.folder(), time.monotonic()
        started = [harness.start([SPLIT, "3"], folder, before=before) for _ in range(8)]
        for process in started:
            run = harness.wait(process, begun, folder)
            self.assertEqual((run.status, run.stderr), (0, b""))
        dumps = harness.info(folder)
        self.assertEqual(len(dumps), 8)
        for dump in dumps:
            self.assertGreater(dump["trust"]["samples"], 0)
            if dump["sampler"]["got"] == "timer":
                self.assertIn("perf was refused", dump["sampler"]["reason"])
        print("\nsamplers of eight:", sorted(dump["sampler"]["got"] for dump in dumps))

    def test_locked_memory_is_short(self):
        """Rather fewer samples than lost ones, and said; each weighs as much more."""
        if os.getuid() == 0 or harness.open_user_clock():
            self.skipTest("needs rings, and a user whose locked memory is limited")
        run = self.assert_same_outside([SPLIT, "3"], before=limited(resource.RLIMIT_MEMLOCK, 0),
                                       YARN_FREQUENCY="3999")
        (dump,) = harness.info(run.dumps)
        trust, sampler = dump["trust"], dump["sampler"]
        if sampler["got"] == "timer":
            self.skipTest("others of this user have all of it")
        self.assertRegex(sampler["reason"], r"limit of locked memory .* hold \d+ of 1,000 samples that were asked for")
        self.assert_nothing_is_lost(run, trust)
        self.assertLess(trust["samples"], 0.8 * trust["cpu_ns"] * 3999 / 1e9)
        self.assertLess(trust["unsampled_ns"], 0.3 * trust["cpu_ns"])

    def test_smallest_ring(self):
        """Of one record, as the shortest way to leave locked memory to the host."""
        if harness.open_user_clock():
            self.skipTest("needs rings")
        run = self.assert_same_outside([SPLIT, "2"], YARN_RING="4096", YARN_STRATEGY="per-core")
        (dump,) = harness.info(run.dumps)
        self.assertEqual(dump["sampler"]["ring_got_bytes"], 65536)

    def test_locked_memory(self):
        """A host that locks all of its memory may have as much as the usual limit: what we have
        before its main is small, and what comes later is not counted against it."""
        before = limited(resource.RLIMIT_MEMLOCK, 8 * MIB)
        run = self.assert_same_outside([LIMITED, "mlockall", "30"], before=before,
                                       YARN_SAMPLER="timer")
        self.assertIn("limited_work", harness.self_percent(run.dumps))

    def test_memory(self):
        """Beyond the library itself and a timer's ring: 4 MiB with the 0.9 MiB of the files that are
        looked at here, which differ from machine to machine, and 0.3 of libc's where it has debug files."""
        folder, begun = self.folder(), time.monotonic()
        process = harness.start([LIMITED, "nofile", "100", "60"], folder, YARN_SAMPLER="timer")
        most = now = 0
        while now or not most:  # a process that has ended has no mappings
            now = self.mapped(process.pid)
            most = max(most, now)
            time.sleep(0.01)
        run = harness.wait(process, begun, folder)
        (dump,) = harness.info(run.dumps)
        most -= dump["sampler"]["ring_got_bytes"]
        print(f"\nmapped: {most >> 10} KiB")
        self.assertGreater(most, 0)
        self.assertLess(most, 5 * MIB)

    @staticmethod
    def mapped(pid):
        """Bytes of the memory that lies where core/base/place.c has it."""
        try:
            lines = pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
        except OSError:
            return 0
        maps = [([int(word, 16) for word in line.split()[0].split("-")], line) for line in lines]
        own = max((end for (_, end), line in maps if harness.PRELOAD.name in line), default=0)
        lowest, width = own // 16 * 11 - MIB, own // 64
        return sum(end - start for (start, end), line in maps
                   if lowest <= start < lowest + width and len(line.split()) == 5)


if __name__ == "__main__":
    harness.main(needs_perf=False)
