# SPDX-License-Identifier: Apache-2.0
"""Profiles of real programs, exported and read back by other people's programs: what each event and
each function weighs must be what `report` says."""

import collections
import pathlib
import re
import shutil
import sys
import tempfile
import time

import harness
import workloads

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "support"))
sys.path.insert(0, str(TESTS / "unit/output/page"))
import browser  # noqa: E402
import programs  # noqa: E402
import readers  # noqa: E402

INLINES = {"pprof", "firefox", "sqlite", "callgrind"}
WITH_KERNEL = {"folded", "speedscope", "pprof"}  # where it was not sampled
# What perf calls otherwise: other aliases of one address, generated code, names after symbols of
# its own making.
PERF_TOLERANCE = 0.02
PARTS = re.compile(r"(\.(isra|constprop|part|cold)(\.\d+)?)+$")


def reported(dumps, *options):
    """Selfs by event and function; functions of one name in several modules are one."""
    selfs = collections.defaultdict(collections.Counter)
    for row in harness.report(dumps, *options)["rows"]:
        selfs[row["event"]][row["function"]] += row["self"]
    return {event: +weights for event, weights in selfs.items()}


def one_name(function):
    """Two symbols of one address in the C library, of which each tool shows one; and without what a
    compiler puts behind the name of a function that it has changed, which is in no debug info."""
    return PARTS.sub("", function.replace("__memcpy_", "__memmove_"))


def as_others_call(weights):
    named = collections.Counter()
    for name, weight in weights.items():
        named[one_name(name)] += weight
    return named


class Exports(harness.Case):
    recorded = None  # once, for all tests

    @classmethod
    def tearDownClass(cls):
        if cls.recorded:
            shutil.rmtree(cls.recorded.dumps)

    def setUp(self):
        super().setUp()
        if not self.recorded:
            folder = pathlib.Path(tempfile.mkdtemp(prefix="yarn-e2e."))
            argv = workloads.make(self.folder())["python-mix"]
            begun = time.monotonic()
            started = harness.start(argv, folder, YARN_EVENTS="cpu-clock,page-faults")
            type(self).recorded = harness.wait(started, begun, folder)
        self.run_ = self.recorded
        self.assertEqual(self.run_.status, 0, self.run_.stderr)

    def exported(self, form, *options):
        path = self.folder() / f"out.{form}"
        harness.yarnprof("export", f"--to={form}", self.run_.dumps, "-o", path, *options)
        return path

    def test_weights_of_functions(self):
        wants = {
            inlines: reported(self.run_.dumps, inlines) for inlines in ("--inlines", "--no-inlines")
        }
        kernel_ns = harness.report(self.run_.dumps)["notes"]["kernel_ns"]
        kernel = collections.Counter({"[kernel]": kernel_ns})
        for form in readers.READERS:
            with self.subTest(format=form):
                got = readers.read(form, self.exported(form))
                if got is None:
                    self.skipTest(f"no reader for {form} here")
                want = dict(wants["--inlines" if form in INLINES else "--no-inlines"])
                if form in WITH_KERNEL:
                    want["cpu-clock"] = +(want["cpu-clock"] + kernel)
                for event, selfs in got.items():
                    self.assertEqual(sum(selfs.values()), sum(want[event].values()))
                    if form != "perf.data":
                        self.assertEqual(selfs, want[event])
                if form not in readers.ONE_EVENT:
                    self.assertEqual(set(got), set(want))

    def test_perf_finds_the_same_shares(self):
        path = self.exported("perf.data")
        if not readers.shutil.which("perf"):
            self.skipTest("no perf here")
        modules = collections.Counter()
        names = collections.Counter()
        for event, name, module, weight in readers.perf_samples(path):
            if event == "cpu-clock":
                modules[module.rsplit("/", 1)[-1]] += weight
                names[one_name(name)] += weight
        rows = harness.report(self.run_.dumps, "--by=module", "--event=cpu-clock")["rows"]
        want = collections.Counter({row["module"].rsplit("/", 1)[-1]: row["self"] for row in rows})
        self.assertEqual(modules, +want)
        functions = as_others_call(reported(self.run_.dumps, "--no-inlines")["cpu-clock"])
        total = sum(functions.values())
        for name, weight in functions.most_common(8):
            if "+0x" not in name:
                self.assertAlmostEqual(names[name] / total, weight / total, delta=PERF_TOLERANCE)

    def test_hotspot_reads_the_same(self):
        parser = programs.find_hotspot()
        if not parser:
            self.skipTest("no hotspot here")
        hotspot = programs.Hotspot(parser, self.exported("perf.data"))
        totals = [sum(selfs.values()) for selfs in hotspot.selfs().values()]
        events = harness.report(self.run_.dumps)["events"]
        self.assertEqual(sorted(totals), sorted(event["total"] for event in events))
        self.assertEqual(len(hotspot.samples), sum(event["samples"] for event in events))
        clock = next(event for event in events if event["unit"] == "ns")
        selfs = next(one for one in hotspot.selfs().values() if sum(one.values()) == clock["total"])
        functions = as_others_call(reported(self.run_.dumps, "--no-inlines")["cpu-clock"])
        modules, names = collections.Counter(), collections.Counter()
        for (name, module), weight in selfs.items():
            # Without a list of the kernel's symbols hotspot leaves its frames without any name, as
            # it does with the vDSO's.
            modules[module or "[kernel.kallsyms]"] += weight
            # What is put into a function stands behind its name, with or without :: between.
            around = [one for one in functions if name and one_name(name).startswith(one)]
            names[max(around, key=len, default=None)] += weight
        rows = harness.report(self.run_.dumps, "--by=module", "--event=cpu-clock")["rows"]
        want = collections.Counter({row["module"]: row["self"] for row in rows})
        want["[kernel.kallsyms]"] += want.pop("[vdso]", 0)
        self.assertEqual(modules, +want)
        kernel = reported(self.run_.dumps, "--no-inlines", "--module=[[]*")["cpu-clock"]
        for name, weight in functions.most_common(8):
            if "+0x" not in name and name not in kernel:
                share = names[name] / clock["total"]
                self.assertAlmostEqual(
                    share, weight / clock["total"], delta=PERF_TOLERANCE, msg=name
                )

    def from_npm(self):
        npm = programs.FromNpm(harness.BUILD)
        if npm.why:
            self.skipTest(npm.why)
        return npm

    def test_firefox_imports(self):
        npm = self.from_npm()
        events = harness.report(self.run_.dumps)["events"]
        clock_ms = next(event["total"] for event in events if event["unit"] == "ns") / 1e6
        faults = sum(event["total"] for event in events if event["unit"] != "ns")
        selfs = npm.firefox(self.exported("firefox"))
        self.assertAlmostEqual(sum(selfs.values()), clock_ms + faults, delta=1)
        selfs = npm.firefox(self.exported("chrome"))
        want = reported(self.run_.dumps, "--no-inlines", "--event=cpu-clock")["cpu-clock"]
        # It prints no more of a name than has room behind its module's path.
        ours = {name: n for name, n in selfs.items() if name and name[0] != "("}
        compared = [name for name, _ in want.most_common(10) if name in ours]
        self.assertGreater(len(compared), 4)
        for name in compared:
            share = ours[name] / sum(ours.values())
            self.assertAlmostEqual(share, want[name] / sum(want.values()), delta=0.03, msg=name)

    def test_perf_reports_the_same_shares(self):
        if not readers.shutil.which("perf"):
            self.skipTest("no perf here")
        path = self.exported("perf.data", "--event=cpu-clock")
        text = readers.run("perf", "report", "-i", str(path), "--stdio", "-g", "none",
                           "--no-children", "-F", "overhead,dso", "-t", ";")  # fmt: skip
        got = {
            line.split(";")[1].strip(): float(line.split("%")[0])
            for line in text.splitlines()
            if "%" in line and not line.startswith("#")
        }
        for row in harness.report(self.run_.dumps, "--by=module", "--event=cpu-clock")["rows"]:
            if row["self_percent"] > 0.01:
                self.assertAlmostEqual(got[row["module"]], row["self_percent"], delta=0.011)

    def test_firefox_reads_script(self):
        npm = self.from_npm()
        path = self.folder() / "script.perf"
        harness.yarnprof("script", "--event=cpu-clock", self.run_.dumps, "-o", path)
        selfs = npm.firefox(path)
        rows = harness.report(self.run_.dumps, "--event=cpu-clock", "--no-inlines")["rows"]
        self.assertEqual(sum(selfs.values()), sum(row["samples"] for row in rows))
        compared = [row for row in rows[:12] if row["function"] in selfs]
        self.assertGreater(len(compared), 4)
        for row in compared:
            self.assertEqual(selfs[row["function"]], row["samples"], row["function"])

    def open_browser(self):
        if not browser.find():
            self.skipTest("no Chromium here")
        opened = browser.Browser(browser.find())
        self.addCleanup(opened.close)
        return opened

    def test_speedscope_reads_folded_and_script(self):
        npm = self.from_npm()
        opened = self.open_browser()
        rows = harness.report(self.run_.dumps, "--event=cpu-clock", "--no-inlines")["rows"]
        _, functions = npm.speedscope(opened, self.exported("folded", "--event=cpu-clock"))
        compared = [row for row in rows[:12] if row["function"] in functions]
        self.assertGreaterEqual(len(compared), 10)
        for row in compared:
            self.assertEqual(functions[row["function"]], (row["total"], row["self"]))
        # Of this text it takes times for weights, so that only names can be compared.
        path = self.folder() / "script.perf"
        harness.yarnprof("script", "--samples", "--event=cpu-clock", self.run_.dumps, "-o", path)
        _, functions = npm.speedscope(opened, path)
        self.assertGreaterEqual(sum(row["function"] in functions for row in rows[:12]), 8)

    def test_speedscope_opens(self):
        npm = self.from_npm()
        opened = self.open_browser()
        _, functions = npm.speedscope(opened, self.exported("speedscope", "--event=cpu-clock"))
        by_thread = harness.report(self.run_.dumps, "--by=thread", "--event=cpu-clock")["rows"]
        thread = f"--thread={by_thread[0]['tid']}"
        rows = harness.report(self.run_.dumps, "--event=cpu-clock", "--no-inlines", thread)["rows"]
        compared = 0
        for row in rows[:12]:
            if row["function"] in functions:
                total, own = functions[row["function"]]
                self.assertAlmostEqual(own, row["self"], delta=0.01 * row["self"] + 1e4)
                self.assertAlmostEqual(total, row["total"], delta=0.01 * row["total"] + 1e4)
                compared += 1
        self.assertGreaterEqual(compared, 10)
        # It prints the sums of profiles where there are several: here, of threads.
        run = self.run_program([harness.HOSTS / "threads8"], YARN_EVENTS="cpu-clock")
        path = self.folder() / "threads.speedscope"
        harness.yarnprof("export", "--to=speedscope", run.dumps, "-o", path)
        profiles, _ = npm.speedscope(opened, path)
        report = harness.report(run.dumps)
        total = report["events"][0]["total"] + report["notes"]["kernel_ns"]
        self.assertGreaterEqual(len(profiles), 8)
        self.assertAlmostEqual(sum(profiles.values()) / total, 1, delta=0.01)


if __name__ == "__main__":
    harness.main()
