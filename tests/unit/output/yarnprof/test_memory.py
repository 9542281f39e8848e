#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""That memory and pages grow with what is different, not with the samples."""

import base64
import collections
import itertools
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

from command_line import IS_SANITIZED, MAKE_DUMPS, YARNPROF, main

SUPPORT = pathlib.Path(__file__).resolve().parents[3] / "support"


def samples_on(page):
    """The sum over the cells of a page: see output/export/page/numbers.h."""
    packed = base64.b64decode(re.search(r'id="numbers">([^<]*)<', page).group(1))
    numbers, value, shift = [], 0, 0
    for byte in packed:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(value)
            value, shift = 0, 0
    left = iter(numbers)
    skip = lambda count: collections.deque(itertools.islice(left, count), maxlen=0)
    skip(8)
    skip(2 * next(left))  # functions
    skip(2 * next(left))  # nodes
    skip(next(left))  # leaves
    total = 0
    for _ in range(next(left)):
        skip(2)
        count, period = next(left), next(left)
        skip(2 * count)
        total += sum(itertools.islice(left, count)) + count
        skip(0 if period else count)
    return total


@unittest.skipIf(IS_SANITIZED, "a sanitizer's shadow is larger than this")
class Memory(unittest.TestCase):
    """What is kept is what is different, not each sample."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="yarn_memory."))
        cls.dump = cls.folder / "dump"
        subprocess.run([MAKE_DUMPS, cls.dump, "20000"], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def merged(self, times):
        merged = self.folder / f"merged.{times}"
        subprocess.run([YARNPROF, "merge", *[self.dump] * times, "-o", merged], check=True)
        return merged

    def within(self, mib, *arguments):
        limit = (mib << 20, mib << 20)
        return subprocess.run([YARNPROF, *map(str, arguments)], check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit))

    def test_a_dump_larger_than_memory_is_reported_on(self):
        merged = self.merged(400)
        self.assertGreater(merged.stat().st_size, 42 << 20)
        many = self.within(42, "report", "--no-inlines", "--format=json", merged)
        one = self.within(42, "report", "--no-inlines", "--format=json", self.dump)
        many, one = json.loads(many.stdout), json.loads(one.stdout)
        self.assertEqual(many["events"][0]["samples"], 400 * one["events"][0]["samples"])
        self.assertEqual([(row["function"], row["self"], row["total"]) for row in many["rows"]],
                         [(row["function"], 400 * row["self"], 400 * row["total"])
                          for row in one["rows"]])

    def test_a_page_of_many_processes_is_no_larger_than_of_one(self):
        merged, sizes, samples = self.merged(150), [], []
        for dump in (self.dump, merged):
            page = self.folder / "page.html"
            self.within(140, "flamegraph", dump, "-o", page)
            sizes.append(page.stat().st_size)
            samples.append(samples_on(page.read_text()))
        self.assertIn("data-count=150 ", page.read_text())
        self.assertEqual(samples, [20000, 150 * 20000])
        self.assertLess(sizes[1], 1.2 * sizes[0])

    def test_a_script_longer_than_memory_is_in_order(self):
        merged = self.merged(30)
        text = self.within(120, "script", "--samples", "--no-header", "-F", "time", merged).stdout
        times = [float(line.strip().rstrip(":")) for line in text.splitlines()]
        self.assertEqual(len(times), 30 * 20000)
        self.assertEqual(times, sorted(times))

    def test_a_script_of_more_switches_takes_no_more_memory(self):
        """What was shown of entries, their records and their fields leaves memory."""
        peaks, path = [], self.folder / "switches"
        for times in (20, 60):
            # Why by another program: the memory of this one would count as that of those it starts.
            subprocess.run([sys.executable, SUPPORT / "many_switches.py", path, str(times)], check=True)
            with subprocess.Popen([YARNPROF, "script", "--couplebreak", "-F", "time,trace", path],
                                  stdout=subprocess.PIPE) as child:
                nr_lines = sum(block.count(b"\n") for block in iter(lambda: child.stdout.read(1 << 20), b""))
                _, status, usage = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(child.returncode, 0)
            self.assertGreater(nr_lines, 2 * 20000 * times)
            peaks.append(usage.ru_maxrss)
        self.assertLess(peaks[1] - peaks[0], 20 << 10)


if __name__ == "__main__":
    main()
