# SPDX-License-Identifier: Apache-2.0
"""The unwinders `auto` and `libunwind` agree on real programs without generated code. The reasons for which
they may differ stand in compare_engines.c."""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import harness
import workloads

COMPARE = harness.BUILD / "tests" / "differential" / "compare_engines"
PROGRAMS = ("python-mix", "perl", "bash", "sqlite3", "xz", "cc1-big", "clang-big", "awk", "sort")
SAMPLES = int(os.environ.get("YARN_TEST_SAMPLES", "3000"))
PROGRAMS_LEAST = 6


class Engines(harness.Case):
    def test_they_agree_on_real_programs(self):
        files = self.folder()
        programs = workloads.make(files)
        here = [name for name in PROGRAMS if name in programs]
        if len(here) < PROGRAMS_LEAST:
            self.skipTest(f"only {', '.join(here)} of {', '.join(PROGRAMS)} are on this machine")
        # The same in every build: many samples where the tables are out of date.
        programs["epilogues"] = [harness.HOSTS / "epilogues", "1500"]
        for name in [*here, "epilogues"]:
            with self.subTest(program=name):
                self.compare(name, programs[name], files)

    def compare(self, name, argv, files):
        command = [COMPARE, str(SAMPLES), *map(str, argv)]
        run = subprocess.run(command, cwd=files, capture_output=True, text=True)
        print(f"\n{name}: {run.stdout.rstrip()}", flush=True)
        if run.returncode == harness.SKIPPED:
            self.skipTest(run.stdout.strip())
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


if __name__ == "__main__":
    harness.run_tests()
