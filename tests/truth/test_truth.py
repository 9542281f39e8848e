# SPDX-License-Identifier: Apache-2.0
"""No frame is shown that was not there, of programs that carry the truth in their own stacks.
(The whole table, with perf beside it: scripts/truth.)"""

import collections
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[0] / "e2e")]

import harness
import judge
import profilers
import programs

PRELOAD = harness.BUILD / "tests" / "truth" / "libtruth_preload.so"
SAMPLES_LEAST = 200


class Truth(harness.Case):
    def profile(self, program, **variables):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder()))
        profiler = profilers.Yarn(PRELOAD, harness.YARNPROF, **variables)
        output, pairs = profiler.profile([program.path, max(program.rounds // 3, 1)], folder)
        judging = judge.Judge(program.path, output.splitlines(), [sample for sample, _ in pairs])
        count = sum((judging.judge(*pair) for pair in pairs), collections.Counter())
        return count, sorted(judging.recorded)

    def judge(self, made, **variables):
        for program in made:
            with self.subTest(program=program.path.name, **variables):
                count, recorded = self.profile(program, YARN_FREQUENCY="1999", **variables)
                print(f"{program.path.name}: {dict(count)}", flush=True)
                self.assertGreater(count["samples"] - count["unjudged"], SAMPLES_LEAST)
                self.assertEqual(count["wrong"] + count["missing"] + count["extra"], 0,
                                 (count, recorded))

    def test_no_frame_is_wrong_missing_or_extra(self):
        self.judge(programs.build(self.folder(), ("gcc", "g++")))

    def test_nor_by_libunwind_alone(self):
        self.judge(programs.build(self.folder(), ("gcc", "g++"), [""]), YARN_UNWINDER="libunwind")


if __name__ == "__main__":
    harness.run_tests()
