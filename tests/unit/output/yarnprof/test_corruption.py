#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Dumps that came to harm in some thousand random ways: yarnprof neither crashes nor hangs nor
takes the machine's memory, says what is wrong, and finds each byte that was changed.

YARN_TEST_CORRUPTIONS: how many (3000). YARN_TEST_SEED: where the random numbers begin (1).
YARN_TEST_DUMPS: a folder of dumps to take instead of ones that are recorded now."""

import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

YARNPROF = os.environ["YARN_TEST_YARNPROF"]
MAKE_DUMPS = os.environ["YARN_TEST_MAKE_DUMPS"]
CORRUPT_DUMPS = os.environ["YARN_TEST_CORRUPT_DUMPS"]
PRELOAD = pathlib.Path(YARNPROF).with_name("libyarn_preload.so")
IS_SANITIZED = bool(os.environ.get("YARN_TEST_SANITIZED"))

COUNT = int(os.environ.get("YARN_TEST_CORRUPTIONS", 1000 if IS_SANITIZED else 3000))
SEED = int(os.environ.get("YARN_TEST_SEED", 1))
RUNS = max(COUNT // 40, 1)
MOST_BYTES = 500 << 20
MOST_SECONDS = 5  # of CPU: others may use the machine

PYTHON = "import json\nfor i in range(800): json.loads(json.dumps(list(range(1000))))"
SQL = ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 200000) "
       "SELECT sum(i % 7) FROM n")

VERBS = [
    ["report"], ["report", "--tree"], ["report", "--by=thread"], ["info", "--format=json"],
    ["script"], ["merge"], ["flamegraph"], ["stat"], ["stat", "--by=thread"], ["sched"],
    ["sched", "--timeline"], ["sched", "--wakers"], ["sched", "--couplebreak"],
] + [["export", f"--to={to}", "-o", os.devnull] for to in (
    "folded", "pprof", "speedscope", "firefox", "callgrind", "chrome", "perf.data", "trace.dat",
    "otlp",
)]  # fmt: skip


def bound():
    if not IS_SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))


def run(*arguments):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("YARN")}
    return subprocess.run([YARNPROF, *map(str, arguments)], stdin=subprocess.DEVNULL,
                          capture_output=True, env=environment, preexec_fn=bound, check=False,
                          timeout=300)


def record(folder):
    """A few real dumps: two programs, and what they become merged."""
    programs = [[sys.executable, "-c", PYTHON], [shutil.which("sqlite3"), ":memory:", SQL]]
    for argv in programs:
        if argv[0]:
            subprocess.run(argv, check=True, stdout=subprocess.DEVNULL,
                           env={**os.environ, "LD_PRELOAD": str(PRELOAD), "YARN_OUTPUT": f"{folder}/",
                                "YARN_FREQUENCY": "1999", "YARN_COUNTERS": "task-clock"})
    if any(folder.iterdir()):
        subprocess.run([YARNPROF, "merge", folder, "-o", folder / "merged.dump"], check=True)


class Corruption(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="yarn_corruption."))
        given = os.environ.get("YARN_TEST_DUMPS")
        source = pathlib.Path(given) if given else cls.folder / "dumps"
        source.mkdir(exist_ok=True)
        if not given and not IS_SANITIZED and PRELOAD.exists():
            record(source)
        if not any(source.iterdir()):
            print("nothing could be recorded: made dumps are corrupted", file=sys.stderr)
            subprocess.run([MAKE_DUMPS, source], check=True)
            subprocess.run([MAKE_DUMPS, source / "large", "3000"], check=True)
        cls.dumps = sorted(path for path in source.rglob("*") if path.is_file())

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_reader(self):
        result = subprocess.run([CORRUPT_DUMPS, str(COUNT), str(SEED), *self.dumps],
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def check_run(self, what, *arguments):
        result = run(*arguments)
        # What is no dump any more is a command to `stat`, one that cannot be executed.
        good = (0, 1, 126) if arguments[0] == "stat" else (0, 1)
        self.assertIn(result.returncode, good, (what, arguments, result.stderr[-2000:]))
        if result.returncode:
            self.assertTrue(result.stderr or result.stdout, (what, arguments))
        return result

    def test_tool(self):
        harmed = self.folder / "harmed"
        for i in range(RUNS):
            dump = self.dumps[i % len(self.dumps)]
            seed = SEED * 1000003 + i
            what = subprocess.run([CORRUPT_DUMPS, "--one", str(seed), dump, harmed], check=True,
                                  capture_output=True, text=True).stdout.strip()
            with self.subTest(seed=seed, dump=dump.name, what=what):
                checked = self.check_run(what, "verify", harmed)
                if what.startswith("found: "):
                    reported = checked.stdout + checked.stderr
                    self.assertTrue(checked.returncode == 1 or b"interrupted" in reported, reported)
                self.check_run(what, *VERBS[i // len(self.dumps) % len(VERBS)], harmed)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
