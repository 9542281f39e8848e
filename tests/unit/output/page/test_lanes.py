#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What threads did when, and single events, on pages of yarnprof flamegraph: against what is in dumps
that are packed by hand, and as a browser shows them."""

import base64
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import browser

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "support"))
from packed_dump import Dump
from sched_tracepoints import SWITCH, WAKING, put, switch, waking

YARNPROF = os.environ["YARN_TEST_YARNPROF"]
BROWSER = browser.find()
SKIPPED = 77
MS = 1_000_000
SCHEDULING = 64
TARGETS = "couplebreak/sched_switch[target]", "couplebreak/sched_waking[target]"


def lives(nr_samples=400, has_runs=True):
    """Thread 7 runs for 100 ms, is blocked for 100, runs for 50 and is preempted for 50, runs for 100
    ms to the end; thread 8 runs in its second 100 ms."""
    dump = Dump()
    dump.begin(pid=7, name="app")
    dump.record("THREAD", tid=8, comm=dump.text("worker"))
    dump.samples(nr_samples, stream={"tid": 7, "period_ns": MS, "weight": MS}, stack=0, stack_end=5)
    if not has_runs:
        return dump
    dump.named("RUNS", 4, {"time_ns": (0, 100 * MS, 200 * MS, 300 * MS),
                           "length_ns": (100 * MS, 100 * MS, 50 * MS, 100 * MS),
                           "tid": (7, 8, 7, 7), "cpu": (0, 1, 0, 1), "is_preempted": (0, 0, 1, 0)})
    return dump


def couples(nr_more=0, has_runs=True):
    """Thread 7 wakes 8, which comes in on core 1 5 us later; 8 gives way to a thread of another."""
    dump = lives(has_runs=has_runs)
    for number, form in enumerate((SWITCH, WAKING), 1):
        name = dump.text("sched:" + re.match("name: (.*)", form)[1])
        dump.record("EVENT", number=number, name=name, asked=name, got=name, unit=dump.text("events"),
                    type=2, period=1, flags=SCHEDULING, format=dump.text(form))
    put(dump, 2, 7, 0, [(50 * MS, waking(7, "worker", 8, 1))])
    put(dump, 1, 7, 1, [(50 * MS + 5000, switch(("app", 7), ("worker", 8)))])
    put(dump, 1, 8, 1, [(60 * MS, switch(("worker", 8), ("other", 99)))])
    for first in range(0, nr_more, 1000):
        put(dump, 2, 7, 0, [(70 * MS + i, waking(7, "worker", 8, 1)) for i in range(first, first + 1000)])
    return dump


def restless(count):
    """Thread 7 comes and goes that often."""
    dump = lives(has_runs=False)
    for first in range(0, count, 5000):
        dump.named("RUNS", 5000, {"time_ns": tuple(6000 * i for i in range(first, first + 5000)),
                                  "length_ns": (3000,) * 5000, "tid": (7,) * 5000,
                                  "cpu": (0,) * 5000, "is_preempted": (0,) * 5000})
    return dump


class Packed:
    """The page's numbers, read by a reader of its own."""

    def __init__(self, page):
        text = page.read_text()
        block = re.search(r'id="sched">\s*([A-Za-z0-9+/=]+)', text)
        self.data = base64.b64decode(block[1])
        self.at = 0
        slices = re.search(r'id="numbers">\s*([A-Za-z0-9+/=]+)', text)
        head = Packed.__new__(Packed)
        head.data, head.at = base64.b64decode(slices[1]), 0
        self.slice_ns, self.nr_slices = 2 ** head.number(), head.number()
        self.nr_threads = len(re.findall(r"<li data-side", text))

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def lanes(self):
        """Of each thread the sums of running, runnable, blocked and unknown time in ns."""
        slice_ns = self.slice_ns << self.number()
        sums = []
        for _ in range(self.nr_threads):
            own, nr_slices = [0, 0, 0, 0], 0
            for _ in range(self.number()):
                count, is_alive = self.number(), self.number()
                nr_slices += count
                for state in range(4 if is_alive else 0):
                    own[state] += count * self.number() / 255 * slice_ns
            sums.append(own)
        return sums


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="yarn_lanes."))
        for name, dump in [("lives", lives()), ("couples", couples()), ("many", couples(100_000)),
                           ("dense", couples(8_000)), ("restless", restless(55_000)),
                           ("asked", couples(has_runs=False))]:
            dump.record("END", time_ns=400 * MS)
            (cls.folder / f"{name}.dump").write_bytes(dump.bytes())

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def run_tool(self, *arguments, status=0):
        paths = [self.folder / word if word.endswith((".dump", ".html")) else word for word in arguments]
        done = subprocess.run([YARNPROF, *paths], capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout if status == 0 else done.stderr

    def make(self, *arguments):
        self.run_tool("flamegraph", *arguments, "-o", "page.html")
        return self.folder / "page.html"


class Numbers(Pages):
    def test_lanes_are_the_threads_times(self):
        want = [[250 * MS, 50 * MS, 100 * MS, 0], [100 * MS, 0, 200 * MS, 100 * MS]]
        packed = Packed(self.make("lives.dump"))
        for got, own in zip(packed.lanes(), want, strict=True):
            for sum_ns, ns in zip(got, own):
                self.assertAlmostEqual(sum_ns, ns, delta=2 * packed.slice_ns)
        rows = json.loads(self.run_tool("sched", "--format=json", "lives.dump"))["threads"]
        self.assertEqual([[row[f"{state}_ns"] for state in ("running", "runnable", "blocked", "unknown")]
                          for row in rows], want)

    def test_lanes_of_a_part_of_the_time(self):
        packed = Packed(self.make("lives.dump", "--time=150ms..260ms"))
        for got, own in zip(packed.lanes(), [[50, 10, 50, 0], [50, 0, 60, 0]], strict=True):
            for sum_ns, ms in zip(got, own):
                self.assertAlmostEqual(sum_ns, ms * MS, delta=2 * packed.slice_ns)

    def test_without_switches_the_page_has_nothing_of_them(self):
        dump = Dump()
        dump.begin(pid=7, name="app")
        dump.samples(10, stream={"tid": 7, "period_ns": MS, "weight": MS})
        (self.folder / "plain.dump").write_bytes(dump.end())
        self.assertNotIn('id="sched"', self.make("plain.dump").read_text())
        self.assertNotIn('id="sched"', self.make("--before", "lives.dump", "lives.dump").read_text())

    def test_a_stream_that_is_not_there_is_refused(self):
        said = self.run_tool("flamegraph", "--couplebreak=4711", "couples.dump", "-o", "page.html", status=1)
        self.assertIn("there is no stream 4711", said)
        said = self.run_tool("flamegraph", "--couplebreak=4711", "asked.dump", "-o", "page.html", status=1)
        self.assertIn("there is no stream 4711", said)

    def test_two_recordings_have_no_couplebreak(self):
        said = self.run_tool("flamegraph", "--couplebreak", "--before", "lives.dump", "couples.dump",
                             "-o", "page.html", status=2)
        self.assertIn("--couplebreak is of one recording", said)


@unittest.skipUnless(BROWSER, "no chromium is installed")
class Shown(Pages):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = browser.Browser(BROWSER)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        super().tearDownClass()

    def see(self, *arguments):
        self.browser.show(self.make(*arguments))

    def ask(self, script):
        value = self.browser.evaluate("await settled();" + script)
        self.assertEqual(self.browser.complaints, [])
        return value

    def kinds(self):
        return dict(self.ask("return [...document.querySelectorAll('.kind')].filter((kind) => !kind.hidden)"
                             ".map((kind) => [kind.querySelector('button').textContent,"
                             " Number(kind.querySelector('small').textContent.replaceAll(',', ''))]);"))

    def toggle(self):
        self.ask("$('couplebreak').click(); document.querySelector('#stream-list input').click();"
                 "$('couplebreak-box').close();")

    def hover(self, ms, lane):
        """What the tip says there; lanes are as high as 18 pixels, the axis too."""
        return self.ask(
            f"const canvas = $('lane-canvas'), box = canvas.getBoundingClientRect();"
            f"canvas.dispatchEvent(new PointerEvent('pointermove', {{ bubbles: true,"
            f" clientX: box.left + {ms} / 400 * box.width, clientY: box.top + {18 * lane + 27} }}));"
            "return $('tip').hidden ? '' : $('tip').innerText;")

    def test_a_lane_says_what_its_thread_did(self):
        self.see("lives.dump")
        for ms, lane, what in [(20, 0, "running 100"), (130, 0, "blocked 100"), (270, 0, "runnable 100"),
                               (150, 1, "running 100"), (250, 1, "blocked 100")]:
            self.assertIn(what, self.hover(ms, lane))

    def test_lanes_can_be_of_samples(self):
        self.see("lives.dump")
        states = self.ask("return pixels('lane-canvas');")
        self.ask("$('lane-kind').value = 'samples'; $('lane-kind').dispatchEvent(new Event('change'));")
        self.assertNotEqual(states, self.ask("return pixels('lane-canvas');"))

    def test_targets_are_there_once_couplebreak_is_on(self):
        self.see("couples.dump")
        ordinary = {"sched/sched_switch": 2, "sched/sched_waking": 1, "switch-in": 4, "switch-out": 4}
        self.assertEqual(self.kinds(), ordinary)
        off = self.ask("return pixels('lane-canvas');")
        self.toggle()
        self.assertEqual(self.kinds(), {**ordinary, TARGETS[0]: 2, TARGETS[1]: 1})
        self.assertNotEqual(off, self.ask("return pixels('lane-canvas');"))
        self.toggle()
        self.assertEqual(self.kinds(), ordinary)
        self.assertEqual(off, self.ask("return pixels('lane-canvas');"))
        self.see("--couplebreak", "couples.dump")
        self.assertEqual(self.kinds()[TARGETS[0]], 2)

    def test_a_target_names_its_origin_and_the_reverse(self):
        self.see("--couplebreak=7", "couples.dump")
        target = self.hover(50, 1)
        self.assertIn(TARGETS[1], target)
        self.assertIn("origin: sched/sched_waking of app-7, core 0", target)
        self.assertIn(f"target: {TARGETS[1]} of worker-8, core 1", self.hover(50, 0))
        self.toggle()
        self.assertNotIn("target:", self.hover(50, 0))

    def test_events_are_chosen_hidden_and_searched(self):
        self.see("--couplebreak", "couples.dump")
        before = self.ask("return pixels('lane-canvas');")
        said = self.ask("[...document.querySelectorAll('.kind button')].find((name) =>"
                        f" name.textContent === '{TARGETS[0]}').click(); return $('live').textContent;")
        self.assertIn("worker-8", said)
        self.assertIn("origin: sched/sched_switch of app-7", said)
        self.assertNotEqual(before, self.ask("return pixels('lane-canvas');"))
        self.browser.key("Escape")
        self.assertEqual(before, self.ask("return pixels('lane-canvas');"))
        self.ask("type('sched_waking');")
        found = self.ask("return [...document.querySelectorAll('.kind.match button')].map((n) => n.textContent);")
        self.assertEqual(sorted(found), [TARGETS[1], "sched/sched_waking"])
        self.ask("type(''); document.querySelectorAll('.kind input').forEach((box) => box.click());")
        self.assertEqual(self.hover(50, 1).count("sched"), 0)

    def table(self):
        return self.ask("return [...document.querySelectorAll('#data-table tr')].map((row) =>"
                        " [...row.children].map((cell) => cell.textContent));")

    def test_waits_and_wakers_stand_beside_functions(self):
        self.see("couples.dump")
        self.assertEqual(self.ask("return [...$('tabs').children].map((tab) => tab.textContent);"),
                         ["Functions", "Waits", "Wakers", "Events"])
        self.browser.key("2")
        self.assertIn("Of the whole recording", self.ask("return $('data-table').innerText;"))
        head, *rows = self.table()
        rows = {row[1]: dict(zip(head, row)) for row in rows}
        self.assertEqual([rows["7"][name] for name in ("Thread", "Running", "Runnable", "Blocked", "Switches")],
                         ["app", "250 ms", "50.00 ms", "100 ms", "3"])
        self.browser.key("3")
        self.assertEqual(self.table()[1][:5], ["app", "7", "worker", "8", "1"])
        self.ask("document.querySelector('#data-table tbody tr').click();")
        self.assertEqual(self.ask("return document.querySelector('.lane[aria-selected=true]').innerText;"),
                         "worker 8")
        self.ask("document.querySelector('#data-table th button').click();")
        self.assertEqual(self.ask("return document.querySelector('#data-table [aria-sort]').innerText;"), "Waker")
        self.browser.key("1")
        self.assertEqual(self.ask("return [$('data-table').hidden, $('functions').hidden];"), [True, False])

    def entries(self):
        return self.ask("return [...document.querySelectorAll('.entry')].map((entry) =>"
                        " [...entry.children].map((cell) => cell.textContent));")

    def test_the_list_of_events_follows_what_is_chosen(self):
        self.see("couples.dump")
        self.browser.key("4")
        self.assertEqual(len(self.entries()), 11)
        self.assertEqual([row[:4] for row in self.entries() if "wak" in row[3]],
                         [["50 ms", "app-7", "0", "sched/sched_waking"]])
        self.ask("[...document.querySelectorAll('.lane')][1].click();")
        self.assertEqual({row[1] for row in self.entries()}, {"worker-8"})
        self.ask("type('worker:8 .120. R');")
        self.assertEqual([row[:4] for row in self.entries()], [["60 ms", "worker-8", "1", "sched/sched_switch"]])
        self.ask("document.querySelector('.entry').click();")
        self.assertEqual(self.ask("return document.querySelector('.entry').ariaSelected;"), "true")
        self.ask("type(''); location.hash = '#table=events&time=0.04s..0.055s';")
        self.assertEqual([row[0] for row in self.entries()], ["50 ms", "50.005 ms"])
        self.ask("document.querySelectorAll('.kind input').forEach((box) => box.click());")
        self.assertEqual(self.entries(), [])

    def test_only_rows_in_sight_are_made(self):
        self.see("dense.dump", "--couplebreak")
        self.browser.key("4")
        self.assertLess(len(self.entries()), 100)
        first = self.entries()[0]
        self.ask("$('entries').scrollTop = 100000;")
        self.assertNotEqual(self.entries()[0], first)

    def test_an_arrow_leads_from_the_waker_to_the_woken(self):
        self.see("couples.dump")
        before = self.ask("return pixels('lane-canvas');")
        self.assertIn("wakes worker-8", self.hover(50, 0))
        arrow = self.ask("return pixels('lane-canvas');")
        self.assertNotEqual(before, arrow)
        self.ask("document.querySelectorAll('.kind').forEach((kind) => kind.innerText.includes('waking')"
                 " || kind.querySelector('input').click());")
        self.hover(50, 0)
        arrow = self.ask("return pixels('lane-canvas');")
        self.assertIn("wakes worker-8", self.hover(50, 1))
        self.assertEqual(self.ask("return pixels('lane-canvas');"), arrow)

    def test_too_many_events_are_shown_by_how_many_there_are(self):
        self.see("many.dump")
        self.assertEqual(self.ask("return $('kinds-note').textContent;"), "100,011 events, shown by how"
                         " many there are: single ones with --time=A..B")
        self.assertEqual(self.kinds(), {"sched/sched_switch": 2, "sched/sched_waking": 100_001,
                                        "switch-in": 4, "switch-out": 4})
        count, width = re.search(r"([\d,]+) sched/sched_waking in ([\d.]+) µs", self.hover(70, 0)).groups()
        self.assertGreater(int(count.replace(",", "")), 1000)
        self.assertNotIn("sched_waking", self.hover(150, 0))
        dense = self.ask("return pixels('lane-canvas');")
        self.ask("[...document.querySelectorAll('.kind')].find((kind) => kind.innerText.includes('waking'))"
                 ".querySelector('input').click();")
        self.assertNotEqual(dense, self.ask("return pixels('lane-canvas');"))
        self.assertEqual(self.ask("return $('stream-list').querySelectorAll('input').length;"), 1)
        self.see("many.dump", "--time=0..69ms")
        self.assertEqual(self.ask("return $('kinds-note').textContent;"), "")
        self.assertEqual(self.kinds()["sched/sched_switch"], 2)

    def test_switches_too_many_to_be_read_are_counted_too(self):
        self.see("restless.dump")
        self.assertEqual(self.kinds(), {"switch-in": 55_000, "switch-out": 55_000})
        self.assertIn("switch-in in", self.hover(100, 0))

    def test_the_settings_say_why_no_stream_is_there(self):
        self.see("restless.dump")
        self.assertEqual(self.ask("$('couplebreak').click(); return $('stream-list').innerText;"),
                         "No stream is in this page: at least 110,000 events, shown by how many there are: "
                         "single ones with --time=A..B")

    def test_cores_have_lanes(self):
        self.see("couples.dump")
        self.assertEqual(self.ask("return [...document.querySelectorAll('.lane')].slice(-3)"
                                  ".map((lane) => lane.innerText);"), ["▾ cores", "core 0", "core 1"])
        self.assertIn("core 0: app-7\n200 ms, 50.00 ms long", self.hover(220, 4))
        self.assertIn("core 1: worker-8\n100 ms, 100 ms long", self.hover(150, 5))
        self.assertIn("nobody", self.hover(150, 4))

    def test_a_trace_is_a_page_too(self):
        self.run_tool("export", "--to=trace.dat", "couples.dump", "-o", "couples.html")
        (self.folder / "couples.html").rename(self.folder / "trace.dat")
        trace = str(self.folder / "trace.dat")
        self.see(trace, "--couplebreak")
        self.assertEqual(self.ask("return document.title.trim();"), trace)
        self.assertEqual(self.ask("return [...document.querySelectorAll('#list .r.row')].map((row) =>"
                                  " [...row.children].slice(1, 3).map((cell) => cell.textContent));")[0][1], "app")
        self.assertEqual(self.ask("return $('missing').innerText.trim();"), "")
        self.assertGreater(self.kinds()["sched/sched_switch"], 3)
        self.assertIn("running 100", self.hover(20, 0))
        said = self.run_tool("flamegraph", "--before", "couples.dump", trace, "-o", "page.html", status=2)
        self.assertIn("is a trace", said)

    def test_a_saved_view_is_shown(self):
        saved = str(self.folder / "saved.json")
        self.run_tool("sched", "--save", saved, "--couplebreak", "--tid=8", "--time=0..200ms",
                      "couples.dump")
        self.see("--load", saved)
        self.assertEqual(self.ask("return [...document.querySelectorAll('.lane')].map((lane) =>"
                                  " lane.innerText);")[0], "worker 8")
        self.assertTrue(self.ask("return document.querySelector('#stream-list input').checked;"))
        said = self.run_tool("flamegraph", "--load", saved, "lives.dump", "-o", "page.html", status=2)
        self.assertIn("is one too many", said)

    def test_drawing_is_bounded_by_the_screen(self):
        self.see("--couplebreak", "dense.dump")
        drawn = self.ask("const own = CanvasRenderingContext2D.prototype, fill = own.fillRect;"
                         "let count = 0; own.fillRect = function (...box) { count++; fill.apply(this, box); };"
                         "document.querySelector('.lane').click(); await settled(); return count;")
        self.assertGreater(drawn, 10)
        self.assertLess(drawn, 8_000)

    def test_tracepoints_without_switch_records_are_shown_where_asked_for(self):
        self.see("--couplebreak", "asked.dump")
        self.assertEqual(self.kinds(), {"sched/sched_switch": 2, "sched/sched_waking": 1,
                                        TARGETS[0]: 2, TARGETS[1]: 1})
        self.assertEqual(self.ask("return [$('lane-pick').hidden, $('state-legend').hidden];"), [True, True])
        self.assertNotIn('id="sched"', self.make("asked.dump").read_text())

    def test_a_narrow_window_holds_the_bar(self):
        size = {"height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.browser.ask("Emulation.setDeviceMetricsOverride", width=420, **size)
        try:
            self.see("lives.dump")
            outside = self.ask("const bar = document.querySelector('#timeline .bar').getBoundingClientRect();"
                               "return [...document.querySelectorAll('#timeline .bar > *')].filter((part) => {"
                               " const box = part.getBoundingClientRect();"
                               " return box.top < bar.top || box.bottom > bar.bottom || box.right > bar.right;"
                               "}).map((part) => part.id).filter((id) => !$(id).hidden);")
            self.assertEqual(outside, [])
        finally:
            self.browser.ask("Emulation.setDeviceMetricsOverride", width=1400, **size)


if __name__ == "__main__":
    if not BROWSER:
        print("skipped but for what needs no browser: no chromium is installed")
    result = unittest.main(argv=[sys.argv[0], *sys.argv[1:]], exit=False).result
    sys.exit(1 if not result.wasSuccessful() else 0 if BROWSER else SKIPPED)
