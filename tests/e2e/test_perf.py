# SPDX-License-Identifier: Apache-2.0
"""The same programs under `perf record`: the top functions and modules must have equal shares."""

import pathlib
import subprocess
import sys

import harness
import workloads

COMPARE = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "compare-perf"


# Programs whose functions perf and yarn name alike, in as much time as a test may take. The other
# workloads are there for their stacks; node's functions, for one, perf names from another table.
COMPARED = ("python-mix", "gcc", "sqlite3", "threads8")
SAMPLES = "3000"


class Perf(harness.Case):
    def test_top_functions(self):
        files = self.folder()
        programs = workloads.make(files)
        for name in (name for name in COMPARED if name in programs):
            argv = programs[name]
            with self.subTest(program=name):
                done = subprocess.run(
                    [sys.executable, COMPARE, "--build", harness.BUILD, "--samples", SAMPLES, "--",
                     *map(str, argv)],
                    capture_output=True,
                    text=True,
                    cwd=files,
                    env=harness.clean_environment(),
                )
                print(f"\n{name}\n{done.stdout}{done.stderr}", flush=True)
                if done.returncode == harness.SKIPPED:
                    self.skipTest(done.stderr.strip())
                self.assertEqual(done.returncode, 0)


if __name__ == "__main__":
    harness.main()
