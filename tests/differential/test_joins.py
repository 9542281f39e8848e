# SPDX-License-Identifier: Apache-2.0
"""Stacks that were completed from what other samples or a look at the live stack taught are the
true ones: copies of 32 KiB are unwound as ever, and a copy of 64 KiB knows better."""

import os
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import harness
import workloads

JUDGED = harness.BUILD / "tests" / "differential" / "libjudged_preload.so"
VERDICTS = ("right", "wrong", "without truth", "whole", "cut", "other")
PROGRAMS = ("clang-big", "cc1-big")
WRONG_MOST = 0.001


class Joins(harness.Case):
    def judge(self, name, argv, files):
        folder = self.folder()
        os.chmod(folder, 0o777)
        run = self.run_program(
            argv,
            cwd=files,
            LD_PRELOAD=str(JUDGED),
            YARN_CALLGRAPH="dwarf:65528",
            JUDGE_FOLDER=str(folder),
        )
        self.assertEqual(run.status, 0)
        total = dict.fromkeys(VERDICTS, 0)
        for file in folder.iterdir():
            numbers = file.read_bytes()  # nothing where no sample came
            for verdict, (number,) in zip(VERDICTS, struct.iter_unpack("<Q", numbers)):
                total[verdict] += number
        print(f"\n{name}: {total}", flush=True)
        return total

    def test_nearly_all_are_right(self):
        files = self.folder()
        programs = workloads.make(files)
        here = [name for name in PROGRAMS if name in programs]
        if not here:
            self.skipTest(f"none of {', '.join(PROGRAMS)} is on this machine")
        totals = [self.judge(name, programs[name], files) for name in here]
        samples = sum(sum(total.values()) for total in totals)
        wrong = sum(total["wrong"] for total in totals)
        right = sum(total["right"] for total in totals)
        print(f"{right} right, {wrong} wrong of {samples} samples")
        self.assertGreater(right, 0, "nothing was joined")
        # Two sigma of the number that the limit allows.
        allowed = WRONG_MOST * samples
        self.assertLessEqual(wrong, allowed + 2 * allowed**0.5)


if __name__ == "__main__":
    harness.main()
