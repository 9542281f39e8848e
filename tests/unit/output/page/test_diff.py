#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What yarnprof diff prints of two recordings of known content."""

import csv
import io
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

YARNPROF = os.environ["YARN_TEST_YARNPROF"]
MAKE_DUMPS = os.environ["YARN_TEST_MAKE_PAGE_DUMPS"]

TEXT = """\
cpu-clock
  before  1,000 samples, 1.00 s in 1.00 s of 1 run, 1 process: before.dump
  after   2,000 samples, 2.00 s in 2.00 s of 1 run, 1 process: after.dump
  total   1.00 s → 2.00 s a run: × 2.000 (1.855 … 2.160)
2 of 8 functions changed beyond noise.
Self shares of the samples; ≈ is within noise.
Intervals of 95 %, by the samples of one run, without what differs from run to run.

   BEFORE      AFTER      CHANGE              INTERVAL     FUNCTION    MODULE
  10.00 %     0.00 %      -10.00     -11.90 … -8.16        gone        app
  20.00 %    30.00 %      +10.00      +6.77 … +13.15       slower      app
  10.00 %     9.80 %       -0.20      -2.52 … +2.04     ≈  hardly      app
   0.00 %     0.20 %       +0.20      -0.14 … +0.44     ≈  fresh       app
   5.00 %     5.00 %       +0.00      -1.71 … +1.62     ≈  [nameless]  libx.so.1
   0.00 %     0.00 %       +0.00      -0.27 … +0.17     ≈  main        app
   5.00 %     5.00 %       +0.00      -1.71 … +1.62     ≈  moved       app
  50.00 %    50.00 %       +0.00      -3.79 … +3.79     ≈  steady      app
"""


class Diff(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="yarn_diff."))
        subprocess.run([MAKE_DUMPS, cls.folder], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def run_diff(self, *arguments):
        return subprocess.run(
            [YARNPROF, "diff", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            check=False,
        )

    def good(self, *arguments):
        done = self.run_diff(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def rows(self, *arguments):
        diff = json.loads(self.good("--format=json", *arguments))
        return {row["function"]: row for row in diff["rows"]}

    def test_text(self):
        self.assertEqual(self.good("--normalize=share", "--all", "before.dump", "after.dump"), TEXT)
        text = self.good("--normalize=share", "before.dump", "after.dump")
        changed = [line for line in TEXT.replace("; ≈ is within noise", "").splitlines() if "≈" not in line]
        self.assertEqual([line.split() for line in text.splitlines()],
                         [line.split() for line in [*changed, "6 functions within noise; --all shows them"]])

    def test_by_run(self):
        """What all of a run spent doubled, which no share can show."""
        text = self.good("before.dump", "after.dump")
        self.assertIn("Self a run.", text)
        self.assertIn(" 500.0 ms     1.00 s   +500.0 ms  +424.0 ms … +576.0 ms    steady", text)
        steady = self.rows("before.dump", "after.dump")["steady"]["self"]["per_run"]
        noise = 1.959964e6 * math.sqrt(501 + 1001)
        self.assertAlmostEqual(steady["change"], 5e8)
        self.assertAlmostEqual(steady["high"] - steady["change"], noise, 2)
        (event,) = json.loads(self.good("--format=json", "before.dump", "after.dump"))["events"]
        self.assertEqual((event["per_run"]["before"], event["per_run"]["after"]), (1e9, 2e9))
        self.assertAlmostEqual(event["per_run"]["high"], 1e9 + 1.959964e6 * math.sqrt(1001 + 2001), 2)

    def test_ratio_is_the_inverse_of_the_other_way_round(self):
        """What was before is as uncertain as what is after."""
        bounds = []
        for pair in (("before.dump", "after.dump"), ("after.dump", "before.dump")):
            found = re.search(r"× [0-9.]+ \(([0-9.]+) … ([0-9.]+)\)", self.good(*pair))
            bounds.append([float(bound) for bound in found.groups()])
        for low, high in zip(bounds[0], reversed(bounds[1])):
            self.assertAlmostEqual(low * high, 1, 2)
        self.assertRegex(self.good("empty.dump", "app.dump"), r"total +0 ns → [0-9.]+ ms a run\n")

    def test_fail_on(self):
        """Status 3, the last line says which; what is within noise never fails."""
        pair = ("before.dump", "after.dump")
        for limit, what in (
            ("99", "failed: the total of cpu-clock grew by 100.0 %, more than 99 %"),
            ("99%", "failed: the total of cpu-clock grew by 100.0 %, more than 99 %"),
            ("99:^s", "failed: slower of cpu-clock grew by 200.0 %, more than 99 %"),
            ("99%:steady", "failed: steady of cpu-clock grew by 100.0 %, more than 99 %"),
            ("0:fresh", "passed: no such function grew in itself by more than 0 % beyond noise"),
            ("100", "passed: no total grew by more than 100 % beyond noise"),
            ("0:gone", "passed: no such function grew in itself by more than 0 % beyond noise"),
            ("0:misspelt", "passed: no function is called misspelt"),
            ("0:^main$", "passed: no such function grew in itself by more than 0 % beyond noise"),
        ):
            with self.subTest(limit=limit):
                done = self.run_diff(f"--fail-on={limit}", *pair)
                self.assertEqual(done.stdout.splitlines()[-1], what)
                self.assertEqual(done.returncode, 3 if what.startswith("failed") else 0)
                done = self.run_diff(f"--fail-on={limit}", "--format=json", *pair)
                self.assertIs(json.loads(done.stdout)["fail_on"]["failed"], what.startswith("failed"))
        done = self.run_diff("--fail-on=50:gone", "after.dump", "before.dump")
        self.assertEqual(done.stdout.splitlines()[-1], "failed: gone of cpu-clock is new, more than 50 %")
        done = self.run_diff("--fail-on=99", "--format=csv", *pair)
        self.assertEqual((done.returncode, done.stderr.split(":")[0]), (3, "failed"))
        equal = self.run_diff("--fail-on=5", "after.dump", "after.dump")
        self.assertEqual(equal.returncode, 0)
        # 1.96 sqrt(2 * 2001) of 2000 samples are 6.2 %.
        self.assertIn("6.2 % is within it: about 2 runs a side would tell", equal.stdout)
        few = self.run_diff("--fail-on=1:steady|main", "after.dump", "after.dump")
        self.assertRegex(few.stdout.splitlines()[-1], r"[0-9.]+ % of steady is within it: about \d+ runs a side would tell$")
        total = self.run_diff("--fail-on=99:^main$", "--sort=total", *pair)
        self.assertEqual((total.returncode, total.stdout.splitlines()[-1]),
                         (3, "failed: main of cpu-clock grew by 100.0 %, more than 99 %"))
        for wrong in ("", "x", "-1", "inf", "nan", "5:", "5:(", "5x"):
            self.assertEqual(self.run_diff(f"--fail-on={wrong}", *pair).returncode, 2, wrong)

    def test_side_is_a_pattern(self):
        text = self.good("before.d*", "[a]fter.dump")
        self.assertIn("1 process: before.d*", text)
        self.assertEqual(self.run_diff("nothing.*", "after.dump").returncode, 1)

    def test_marks_are_asked_for(self):
        done = self.run_diff("--normalize=mark", "before.dump", "after.dump")
        self.assertEqual(done.returncode, 1)
        self.assertIn("before.dump: there is no mark in it", done.stderr)

    def test_by_time(self):
        text = self.good("--normalize=time", "--sort=total", "--all", "before.dump", "after.dump")
        self.assertIn("Total a second; ≈ is within noise.", text)
        self.assertIn(" 200.0 ms   300.0 ms   +100.0 ms   +63.3 ms … +136.7 ms    slower", text)
        self.assertIn("   1.00 s     1.00 s       +0 ns   -75.9 ms … +75.9 ms  ≈  main", text)

    def test_intervals(self):
        slower = self.rows("before.dump", "after.dump")["slower"]["self"]
        self.assertEqual(slower["before"], {"weight": 200_000_000, "samples": 200})
        self.assertEqual(slower["after"], {"weight": 600_000_000, "samples": 600})
        shares = [(200 + 1) / 1002, (600 + 1) / 2002]
        noise = 195.9964 * math.sqrt(
            sum(share * (1 - share) / trials for share, trials in zip(shares, [1002, 2002]))
        )
        centre = 100 * (shares[1] - shares[0])
        percent = slower["percent"]
        self.assertAlmostEqual(percent["change"], 10)
        self.assertAlmostEqual(percent["low"], centre - noise, 5)
        self.assertAlmostEqual(percent["high"], centre + noise, 5)
        self.assertIs(percent["within_noise"], False)
        seconds = slower["per_second"]
        noise = 1.959964e6 * math.sqrt(201 / 1 + 601 / 4)
        self.assertAlmostEqual(seconds["change"], 1e8)
        self.assertAlmostEqual(seconds["high"] - seconds["change"], noise, 2)

    def test_recursion_counts_once(self):
        beta = self.rows("app.dump", "app.dump")["beta"]
        self.assertEqual(beta["self"]["after"]["samples"], 12)
        self.assertEqual(beta["total"]["after"]["samples"], 42)

    def test_nothing_changed(self):
        for row in self.rows("app.dump", "app.dump").values():
            self.assertEqual(row["self"]["percent"]["change"], 0)
            self.assertIs(row["total"]["per_second"]["within_noise"], True)

    def test_sums_are_those_of_report(self):
        done = subprocess.run(
            [YARNPROF, "report", "--format=json", "app.dump"],
            stdout=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            check=True,
        )
        report = json.loads(done.stdout)["rows"]
        found = json.loads(self.good("--format=json", "empty.dump", "app.dump"))
        compared = {event["name"] for event in found["events"] if event["before"]["recorded"]}
        diff = found["rows"]
        self.assertTrue(diff)
        key = lambda row: (row["event"], row["function"], row["module"])  # noqa: E731
        self.assertEqual(
            {key(row): (row["self"], row["total"]) for row in report if row["event"] in compared},
            {key(row): (row["self"]["after"]["weight"], row["total"]["after"]["weight"]) for row in diff},
        )

    def test_names_match_over_modules_and_addresses(self):
        rows = self.rows("before.dump", "after.dump")
        self.assertEqual(rows["moved"]["module"], "app")
        self.assertEqual(rows["moved"]["self"]["percent"]["change"], 0)
        self.assertEqual(rows["[nameless]"]["self"]["before"]["samples"], 50)
        self.assertEqual(rows["[nameless]"]["self"]["after"]["samples"], 100)

    def test_csv(self):
        words = ("--normalize=share", "before.dump", "after.dump")
        rows = list(csv.DictReader(io.StringIO(self.good(*words, "--format=csv"))))
        self.assertEqual(rows[1]["function"], "slower")
        self.assertEqual(float(rows[1]["self_percent_change"]), 10)
        self.assertEqual(rows[1]["total_within_noise"], "0")
        self.assertEqual([row["self_within_noise"] for row in rows], ["0"] * 2 + ["1"] * 6)
        wanted = json.loads(self.good(*words, "--format=json"))["rows"]
        for row, want in zip(rows, wanted, strict=True):
            self.assertEqual(row["module_path"], want["module_path"])
            for part in ("self", "total"):
                self.assertEqual(int(row[part + "_after"]), want[part]["after"]["weight"])
                self.assertEqual(int(row[part + "_samples_before"]), want[part]["before"]["samples"])
                for scale in ("percent", "per_second", "per_run", "per_mark"):
                    for key, value in want[part][scale].items():
                        self.assertAlmostEqual(float(row[f"{part}_{scale}_{key}"]), float(value), 5)

    def test_limit_and_filters(self):
        text = self.good("--limit=2", "before.dump", "after.dump")
        self.assertIn("… and 4 more rows", text)
        self.assertEqual(set(self.rows("--function=^s", "before.dump", "after.dump")), {"steady", "slower"})
        part = json.loads(self.good("--format=json", "--time=..500ms", "before.dump", "after.dump"))
        self.assertAlmostEqual(part["events"][0]["after"]["seconds"], 0.5)
        self.assertIn("no samples to compare", self.good("empty.dump", "empty.dump"))

    def test_time_in_the_kernel_is_a_row(self):
        """A share of itself and the samples, as if it had been sampled once a period."""
        pair = ("kernel_before.0.dump", "kernel_after.0.dump")
        rows = self.rows(*pair)
        self.assertEqual(rows["steady"]["self"]["percent"]["change"], 0)
        kernel = rows["[kernel]"]["self"]
        self.assertEqual(kernel["before"], {"weight": 300_000_000, "samples": 0})
        self.assertEqual(kernel["percent"]["change"], -25)
        shares = [(300 + 1) / 402, (100 + 1) / 202]
        noise = 195.9964 * math.sqrt(
            sum(share * (1 - share) / trials for share, trials in zip(shares, [402, 202]))
        )
        low = 100 * (shares[1] - shares[0]) - noise
        self.assertAlmostEqual(kernel["percent"]["low"], low, 5)
        self.assertIn("75.00 %    50.00 %      -25.00", self.good("--normalize=share", *pair))
        self.assertNotIn("[kernel]", self.rows(*pair, "--thread=app"))

    def test_time_in_the_kernel_differs_by_run(self):
        shares, variances = [], []
        for side, least in (("before", 300), ("after", 100)):
            folder = self.folder / f"kernel_{side}"
            folder.mkdir()
            for run in self.folder.glob(f"kernel_{side}.?.dump"):
                shutil.copy(run, folder)
            runs = [(least + 10 * run, least + 10 * run + 100) for run in range(3)]
            whole = sum(d for _, d in runs)
            share = sum(x for x, _ in runs) / whole
            shares.append(share)
            variances.append(3 / 2 * sum((x - share * d) ** 2 for x, d in runs) / whole**2)
        self.assertIn("spread of the runs", self.good("kernel_before", "kernel_after"))
        percent = self.rows("kernel_before", "kernel_after")["[kernel]"]["self"]["percent"]
        self.assertAlmostEqual(percent["change"], 100 * (shares[1] - shares[0]), 4)
        # Student's quantile lies between that of four degrees of freedom and that of two.
        reach = (percent["high"] - percent["low"]) / 200 / math.sqrt(sum(variances))
        self.assertTrue(2.776 < reach < 4.304, reach)

    def test_folders_are_profiles(self):
        folder = self.folder / "twice"
        folder.mkdir()
        for name in ["1.dump", "2.dump"]:
            shutil.copy(self.folder / "before.dump", folder / name)
        self.assertEqual(self.rows("before.dump", "twice")["gone"]["self"]["after"]["samples"], 200)

    def test_mistakes(self):
        for arguments in [[], ["before.dump"], ["a", "b", "c"], ["--sort=x", "a", "b"],
                          ["--normalize=x", "a", "b"], ["--limit=x", "a", "b"]]:  # fmt: skip
            with self.subTest(arguments=arguments):
                self.assertEqual(self.run_diff(*arguments).returncode, 2)
        missing = self.run_diff("before.dump", "/no/such")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("/no/such", missing.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
