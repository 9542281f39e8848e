# SPDX-License-Identifier: Apache-2.0
"""Profiles of real programs, exported and read back by other people's programs: what each event and
each function weighs must be what `report` says. YARN_PROFILER_CLI names the Firefox Profiler's own
command-line importer (npm @firefox-devtools/profiler-cli, with the node that it needs), where there
is one; YARN_SPEEDSCOPE the folder of speedscope's page (npm speedscope, dist/release)."""

import collections
import os
import pathlib
import shlex
import sys

import harness
import workloads

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "support"))
sys.path.insert(0, str(TESTS / "unit/output/page"))
import browser  # noqa: E402
import readers  # noqa: E402

INLINES = {"pprof", "firefox", "sqlite", "callgrind"}
# What perf calls otherwise: other aliases of one address, generated code, names after symbols of
# its own making.
PERF_TOLERANCE = 0.02


def reported(dumps, *options):
    """Selfs by event and function; functions of one name in several modules are one."""
    selfs = collections.defaultdict(collections.Counter)
    for row in harness.report(dumps, *options)["rows"]:
        selfs[row["event"]][row["function"]] += row["self"]
    return {event: +weights for event, weights in selfs.items()}


class Exports(harness.Case):
    def setUp(self):
        super().setUp()
        files = self.folder()
        argv = workloads.make(files)["python-mix"]
        self.run_ = self.run_program(argv, YARN_EVENTS="cpu-clock,page-faults")
        self.assertEqual(self.run_.status, 0, self.run_.stderr)

    def exported(self, form, *options):
        path = self.folder() / f"out.{form}"
        harness.yarnprof("export", f"--to={form}", self.run_.dumps, "-o", path, *options)
        return path

    def test_weights_of_functions(self):
        wants = {
            inlines: reported(self.run_.dumps, inlines) for inlines in ("--inlines", "--no-inlines")
        }
        for form in readers.READERS:
            with self.subTest(format=form):
                got = readers.read(form, self.exported(form))
                if got is None:
                    self.skipTest(f"no reader for {form} here")
                want = wants["--inlines" if form in INLINES else "--no-inlines"]
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
                names[name] += weight
        rows = harness.report(self.run_.dumps, "--by=module", "--event=cpu-clock")["rows"]
        want = collections.Counter({row["module"].rsplit("/", 1)[-1]: row["self"] for row in rows})
        self.assertEqual(modules, +want)
        functions = reported(self.run_.dumps, "--no-inlines")["cpu-clock"]
        total = sum(functions.values())
        for name, weight in functions.most_common(8):
            if "+0x" not in name:
                self.assertAlmostEqual(names[name] / total, weight / total, delta=PERF_TOLERANCE)

    def test_firefox_imports(self):
        if "YARN_PROFILER_CLI" not in os.environ:
            self.skipTest("YARN_PROFILER_CLI names no importer")
        command = shlex.split(os.environ["YARN_PROFILER_CLI"])
        events = harness.report(self.run_.dumps)["events"]
        clock_ms = next(event["total"] for event in events if event["unit"] == "ns") / 1e6
        faults = sum(event["total"] for event in events if event["unit"] != "ns")
        selfs = readers.firefox_importer(command, self.exported("firefox"))
        self.assertAlmostEqual(sum(selfs.values()), clock_ms + faults, delta=1)
        selfs = readers.firefox_importer(command, self.exported("chrome"))
        want = reported(self.run_.dumps, "--no-inlines", "--event=cpu-clock")["cpu-clock"]
        # It prints no more of a name than has room behind its module's path.
        ours = {name: n for name, n in selfs.items() if name and name[0] != "("}
        compared = [name for name, _ in want.most_common(10) if name in ours]
        self.assertGreater(len(compared), 4)
        for name in compared:
            share = ours[name] / sum(ours.values())
            self.assertAlmostEqual(share, want[name] / sum(want.values()), delta=0.03, msg=name)

    def test_speedscope_opens(self):
        if "YARN_SPEEDSCOPE" not in os.environ or not browser.find():
            self.skipTest("YARN_SPEEDSCOPE names no page, or there is no browser")
        release = pathlib.Path(os.environ["YARN_SPEEDSCOPE"]).resolve()
        # It tells the sums of profiles where there are several: here, of threads.
        self.run_ = self.run_program([harness.HOSTS / "threads8"], YARN_EVENTS="cpu-clock")
        path = self.exported("speedscope")
        opened = browser.Browser(browser.find())
        self.addCleanup(opened.close)
        profiles = readers.speedscope_itself(release, opened, path)
        total = harness.report(self.run_.dumps)["events"][0]["total"]
        self.assertGreaterEqual(len(profiles), 8)
        self.assertAlmostEqual(sum(profiles.values()) / total, 1, delta=0.01)


if __name__ == "__main__":
    harness.main()
