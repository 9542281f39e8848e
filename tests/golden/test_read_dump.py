#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The reader that was written from FORMAT.md alone prints the samples that `yarnprof script` prints:
of the golden dumps, and of one that is recorded here."""

import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "unit/output/yarnprof"))
import read_dump
from command_line import IS_SANITIZED, PRELOAD, YARNPROF, main

GOLDEN = pathlib.Path(__file__).parent
BUSY = "sum(len(str(i * i)) for i in range(1_500_000))"


def shown(dump):
    return subprocess.run([YARNPROF, "script", "--samples", "--no-header", "-F",
                           "pid,tid,cpu,time,period,event,ip,sym", dump],
                          stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()


def is_as_it_stands(name):
    """Not demangled, nor made of an address, nor found out later."""
    return name and not name.startswith(("_Z", "["))


@unittest.skipUnless(read_dump.zstandard or shutil.which("zstd"), "neither python3-zstandard nor zstd")
class ReadDump(unittest.TestCase):
    def check(self, dump):
        printed = io.StringIO()
        processes = read_dump.read(dump.read_bytes())
        read_dump.print_samples(processes, printed)
        ours, theirs = printed.getvalue().splitlines(), shown(dump)
        self.assertEqual(len(ours), len(theirs))
        nr_names = 0
        for our, their in zip(ours, theirs):
            if not our.startswith("\t"):
                self.assertEqual(our, their)
                continue
            address, name = our[1:].lstrip().split(" ", 1)
            self.assertEqual(address, their.split()[0])
            if is_as_it_stands(name):
                self.assertEqual(their[1:].lstrip().split(" ", 1)[1], name)
                nr_names += 1
        return sum(len(process.samples) for process in processes), nr_names

    def test_golden_dumps(self):
        nr_samples, _ = self.check(GOLDEN / "process.yarndump")
        self.assertGreater(nr_samples, 100)
        nr_merged, _ = self.check(GOLDEN / "merged.yarndump")
        self.assertEqual(nr_merged, 2 * nr_samples)

    @unittest.skipIf(IS_SANITIZED, "programs do not have the sanitizer")
    def test_fresh_dump(self):
        with tempfile.TemporaryDirectory(prefix="yarn_read.") as folder:
            environment = dict(os.environ, LD_PRELOAD=str(PRELOAD),
                               YARN_OUTPUT=f"{folder}/fresh.dump")
            subprocess.run([sys.executable, "-c", BUSY], env=environment, check=True)
            nr_samples, nr_names = self.check(pathlib.Path(folder) / "fresh.dump")
        self.assertGreater(nr_samples, 0)
        self.assertGreater(nr_names, 0)

    def test_chunks_after_a_damaged_one(self):
        whole = bytearray((GOLDEN / "process.yarndump").read_bytes())
        all_samples = read_dump.read(bytes(whole))[0].samples
        first = next(read_dump.chunks(bytes(whole)))
        whole[whole.index(first.stored) + 50] ^= 1
        left = read_dump.read(bytes(whole))[0].samples
        self.assertTrue(0 < len(left) < len(all_samples))
        self.assertTrue(any(sample.end == 4 and not sample.stack for sample in left))


if __name__ == "__main__":
    main()
