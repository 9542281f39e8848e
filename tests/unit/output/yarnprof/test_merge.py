#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""That merged dumps say the same as the many."""

import json
import resource
import subprocess

from command_line import YARNPROF, WithDumps, main, run


class Merge(WithDumps):
    VIEWS = [
        ["report"], ["report", "--tree"], ["report", "--callers"], ["report", "--time=..50ms"],
        *(["report", f"--by={key}"] for key in ("process", "thread", "module", "cpu", "event")),
        ["sched", "--couplebreak", "--format=csv"], ["script", "--no-header", "--couplebreak"],
        ["script", "--no-header"], ["script", "--no-header", "--time=@1000.02..@1000.05"],
        *(["export", f"--to={to}"] for to in ("folded", "speedscope", "chrome", "callgrind")),
    ]  # fmt: skip

    def setUp(self):
        self.merged = self.folder / "merged"

    def tearDown(self):
        self.merged.unlink(missing_ok=True)

    def assert_same(self, *dumps):
        for view in self.VIEWS:
            with self.subTest(view=view):
                one, many = run(*view, self.merged), run(*view, *dumps)
                self.assertEqual(many.returncode, 0)
                self.assertEqual(one.returncode, 0)
                self.assertEqual(one.stdout, many.stdout)

    def info(self, *dumps):
        return json.loads(self.good("info", "--format=json", *dumps))["dumps"]

    def test_says_the_same_as_the_many(self):
        self.good("merge", self.folder, "-o", self.merged)
        dumps = sorted(self.folder.glob("*.dump"))
        self.assert_same(*dumps)
        many, one = self.info(*dumps), self.info(self.merged)
        self.assertEqual(len(one), 3)
        for single, merged in zip(many, one):
            self.assertEqual([row["path"] for row in merged["merged_from"]], [single["path"]])
            self.assertEqual(merged["merged_from"][0]["bytes"], single["bytes"])
            for key in set(single) - {"path", "bytes", "version", "merged_from"}:
                self.assertEqual(merged[key], single[key])

    def cpu_seconds(self, *arguments):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.good(*arguments)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def test_couplebreak_takes_time_by_processes_and_not_by_their_square(self):
        seconds = []
        for count in (150, 600):
            self.good("merge", *[self.app] * count, "-o", self.merged)
            times = [self.cpu_seconds("sched", "--couplebreak", self.merged) for _ in range(3)]
            seconds.append(min(times) + 0.005)
            self.merged.unlink()
        self.assertLess(seconds[1], 8 * seconds[0])

    def test_merged_dumps_are_merged_again(self):
        half = self.folder / "a_half"  # before cut.dump: all began at the same time
        self.good("merge", self.app, self.folder / "child.dump", "-o", half)
        self.good("merge", half, self.folder / "cut.dump", "-o", self.merged)
        half.unlink()
        self.assert_same(*sorted(self.folder.glob("*.dump")))
        self.assertEqual([len(dump["merged_from"]) for dump in self.info(self.merged)], [1, 1, 1])

    def test_is_the_same_on_standard_output(self):
        self.good("merge", self.folder, "-o", self.merged)
        with open(self.folder / "out", "wb") as file:
            subprocess.run([YARNPROF, "merge", self.folder / "app.dump",
                            self.folder / "child.dump", self.folder / "cut.dump"],
                           stdout=file, check=True)
        self.assertEqual((self.folder / "out").read_bytes(), self.merged.read_bytes())
        (self.folder / "out").unlink()

    def test_what_ends_early_still_does(self):
        self.good("merge", self.folder, "-o", self.merged)
        text = self.good("verify", self.merged)
        self.assertIn("merged: ends early: ", text)
        self.assertIn("1 of 3 recordings were not closed", text)
        self.good("merge", self.app, self.folder / "child.dump", "-o", self.merged)
        self.assertIn("merged: whole: ", self.good("verify", self.merged))

    def test_a_cut_file_is_reported(self):
        content = self.app.read_bytes()
        cut = self.folder / "cut_file"
        cut.write_bytes(content[:-10])
        self.assertIn("cut_file: cut: nothing from offset 32 on",
                      run("merge", cut, self.folder / "child.dump", "-o", self.merged).stderr)
        text = self.good("verify", self.merged)
        self.assertIn("merged: ends early: ", text)
        self.assertIn("cut_file, cut: nothing from offset 32 on", text)
        cut.unlink()

    def test_damage_is_reported_now_and_later(self):
        content = bytearray(self.app.read_bytes())
        content[len(content) // 2] ^= 0x55
        damaged = self.folder / "damaged"
        damaged.write_bytes(content)
        result = run("merge", damaged, self.folder / "child.dump", "-o", self.merged)
        self.assertEqual(result.returncode, 0)
        self.assertIn("damaged: damaged at offset 32", result.stderr)
        damaged.unlink()
        result = run("verify", self.merged)
        self.assertEqual(result.returncode, 1)
        self.assertIn("merged: damaged: ", result.stdout)
        self.assertIn("damaged, damaged at offset 32: ", result.stdout)
        result = run("report", self.merged)
        self.assertEqual(result.returncode, 0)
        self.assertIn("damaged at offset 32", result.stderr)
        self.assertIn("100 samples", result.stdout)

    def test_is_not_made_of_itself(self):
        self.good("merge", self.folder, "-o", self.merged)
        content = self.merged.read_bytes()
        self.assertIn("is itself one of the dumps", self.bad(1, "merge", self.folder, "-o",
                                                             self.merged))
        self.assertEqual(self.merged.read_bytes(), content)

    def test_nothing_is_left_where_it_fails(self):
        before = sorted(self.folder.iterdir())
        self.bad(1, "merge", self.app, __file__, "-o", self.merged)
        self.assertIn("is a directory", self.bad(1, "merge", self.app, "-o", self.folder).lower())
        self.assertEqual(sorted(self.folder.iterdir()), before)


if __name__ == "__main__":
    main()
