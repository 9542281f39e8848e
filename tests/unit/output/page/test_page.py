#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages of yarnprof flamegraph, as a browser shows them."""

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

YARNPROF = os.environ["YARN_TEST_YARNPROF"]
MAKE_DUMPS = os.environ["YARN_TEST_MAKE_PAGE_DUMPS"]
BROWSER = browser.find()
SKIPPED = 77


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="yarn_page."))
        subprocess.run([MAKE_DUMPS, cls.folder], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def make(self, *arguments):
        page = self.folder / "page.html"
        paths = [self.folder / word if word.endswith(".dump") else word for word in arguments]
        done = subprocess.run(
            [YARNPROF, "flamegraph", *map(str, paths), "-o", str(page)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        return page


class Files(Pages):
    """What can be tested without a browser."""

    def test_functions_are_text_of_the_document(self):
        text = self.make("app.dump").read_text()
        before_scripts = text[: text.index("<script")]
        for name in ["main", "alpha", "leaf", "deep", "beta", "[truncated]", "[no stack]"]:
            self.assertIn(f">{name}</span>", before_scripts)

    def test_nothing_is_fetched(self):
        text = self.make("app.dump").read_text()
        self.assertNotRegex(text, r"https?://|//[a-z]+\.|@import|url\(")
        self.assertIn("default-src 'none'", text)

    def test_hostile_names_are_text(self):
        text = self.make("hostile.dump").read_text()
        self.assertEqual(len(re.findall(r"<script", text)), 2)
        self.assertEqual(len(re.findall(r"</script", text)), 2)
        self.assertNotIn("<!--", text)
        self.assertNotIn("<img", text)
        self.assertNotIn("\033", text)
        self.assertNotIn("\u202e", text)

    def test_processes_of_one_command_are_named_once(self):
        copy = self.folder / "copy.dump"
        shutil.copy(self.folder / "app.dump", copy)
        text = self.make("app.dump", "copy.dump").read_text()
        self.assertEqual(text.count("<dt>Process</dt>"), 1)
        self.assertIn("; and 1 more process of this command</dd>", text)
        self.assertIn("<dt>Samples</dt><dd>206, lost: 0;", text)
        self.assertNotIn("more process", self.make("app.dump", "hostile.dump").read_text())
        copy.unlink()

    def paths(self, *arguments, dump="python.dump"):
        """What `report --tree` says: a path a leaf, with its own samples."""
        done = subprocess.run([YARNPROF, "report", "--tree", "--format=json", *arguments,
                               self.folder / dump], stdout=subprocess.PIPE, check=True)  # fmt: skip
        paths, found = {}, {}
        for node in json.loads(done.stdout)["tree"]:
            paths[node["id"]] = [*paths.get(node["parent"], []), node["function"] or ""]
            if node["self"]:
                found[" ".join(paths[node["id"]][1:])] = node["self"] // 10**6
        return found

    def test_pythons_interpreter_is_part_of_the_functions_that_it_runs(self):
        base = "main run_mod py::outer:/a.py"
        self.assertEqual(self.paths(), {f"{base} py::inner:/a.py": 30, f"{base} list_sort _PyEval_Mine": 20,
                                        "start _PyEval_EvalFrameDefault PyObject_Call": 50})
        self.assertEqual(len([path for path in self.paths("--all-frames") if "_PyEval_Vector" in path]), 2)
        said = subprocess.run([YARNPROF, "report", self.folder / "python.dump"], stdout=subprocess.PIPE,
                              check=True, text=True).stdout  # fmt: skip
        self.assertIn("--all-frames shows it", said)
        folded, whole = (self.make(*words, "python.dump").read_text() for words in ([], ["--all-frames"]))
        for text, is_folded in ((folded, True), (whole, False)):
            self.assertEqual("--all-frames shows it" in text, is_folded)
            self.assertEqual(">py_trampoline_evaluator<" in text, not is_folded)
            self.assertIn(">py::inner:/a.py<", text)

    def test_yarns_own_functions_are_one(self):
        self.assertEqual(self.paths(dump="own.dump"), {"main exit [yarn]": 10, "main capset [yarn]": 5,
                                                       "main capset": 20})  # fmt: skip

    def test_same_input_same_bytes(self):
        self.assertEqual(self.make("app.dump").read_bytes(), self.make("app.dump").read_bytes())

    def test_a_page_is_not_written_to_a_terminal_or_over_a_folder(self):
        done = subprocess.run(
            [YARNPROF, "flamegraph", self.folder / "app.dump", "-o", self.folder],
            stderr=subprocess.PIPE,
            check=False,
        )
        self.assertEqual(done.returncode, 1)
        self.assertFalse([path for path in self.folder.iterdir() if "tmp" in path.name])


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

    def see(self, script, *arguments, is_dark=False):
        """Shows a page, runs a script in it; the browser must have nothing to complain of."""
        page = self.make(*arguments)
        self.browser.show(page, is_dark)
        value = self.browser.evaluate(script)
        self.calm(page)
        return value

    def calm(self, page):
        self.assertEqual(self.browser.complaints, [])
        self.assertEqual(self.browser.requests, [page.as_uri()])

    def look(self):
        return self.browser.evaluate("await settled(); return pixels('flame-canvas');")

    def place(self, element, x, y):
        """A point of an element, in parts of it (from the far side where negative, in pixels)."""
        box = self.browser.evaluate(
            f"const box = $('{element}').getBoundingClientRect();"
            "return [box.left, box.top, box.width, box.height];"
        )
        at = [box[i] + (part * box[i + 2] if part >= 0 else box[i + 2] + part)
              for i, part in enumerate((x, y))]  # fmt: skip
        return at

    def test_loads_and_draws(self):
        value = self.see(
            """const canvas = $("flame-canvas"), picture = pixels("flame-canvas");
            const empty = document.createElement("canvas");
            empty.width = canvas.width; empty.height = canvas.height;
            return { rows: rows(), isEmpty: picture === empty.toDataURL(),
                     title: document.title.trim() };""",
            "app.dump",
        )
        self.assertFalse(value["isEmpty"])
        self.assertEqual(value["title"], "/usr/bin/app --fast it's")
        self.assertEqual(
            value["rows"],
            [
                ["70.0 %", "70.0 %", "leaf", "app"],
                ["12.0 %", "42.0 %", "beta", "app"],
                ["10.0 %", "10.0 %", "deep", "libx.so.1"],
                ["8.00 %", "8.00 %", "[no stack]", "[unknown]"],
                ["0.00 %", "50.0 %", "alpha", "app"],
                ["0.00 %", "50.0 %", "main", "app"],
                ["0.00 %", "30.0 %", "run", "app"],
                ["0.00 %", "12.0 %", "[truncated]", "[unknown]"],
            ],
        )

    def test_what_is_missing_is_on_the_page(self):
        value = self.see("return [$('missing').innerText, $('missing').clientHeight]", "app.dump")
        self.assertIn("11.7 % of the stacks are cut", value[0])
        self.assertIn("7.8 % of the samples have no stack", value[0])
        self.assertGreater(value[1], 0)
        legend = self.browser.evaluate("return $('legend').innerText")
        self.assertIn("[missing frames]", legend)
        self.assertEqual(self.see("return $('missing').innerText.trim()", "hostile.dump"), "")
        legend = self.browser.evaluate("return $('legend').innerText")
        self.assertNotIn("[missing frames]", legend)

    def test_search_shows_share_and_redraws(self):
        self.see("", "app.dump")
        before = self.look()
        for key in "/^bet":
            self.browser.key(key)
        after = self.look()
        found = self.browser.evaluate("return [$('share').textContent, rows()[0][2]];")
        self.browser.key("(")
        bad = self.browser.evaluate("return $('search').matches(':invalid');")
        self.browser.key("Escape")
        self.assertNotEqual(before, after)
        self.assertEqual(found, ["42.0 %", "beta"])
        self.assertTrue(bad)
        self.assertEqual(before, self.look())
        self.assertEqual(self.browser.complaints, [])

    def test_zoom_by_keys_redraws(self):
        self.see("$('flame-canvas').focus();", "app.dump")
        before, said = self.look(), []
        for key in ["ArrowUp", "ArrowUp", "Enter"]:
            self.browser.key(key)
            said.append(self.browser.evaluate("return $('live').textContent;"))
        self.assertNotEqual(before, self.look())
        self.assertTrue(said[0].startswith("main, /usr/bin/app, total 50.0 %"), said)
        self.assertTrue(said[1].startswith("alpha, "), said)
        self.assertTrue(said[2].startswith("zoomed into alpha"), said)
        self.browser.key("0")
        for key in ["ArrowDown", "ArrowDown"]:
            self.browser.key(key)
        self.assertEqual(before, self.look())
        self.assertEqual(self.browser.complaints, [])

    def test_zoom_by_mouse_redraws(self):
        self.see("", "app.dump")
        before = self.look()
        x, y = self.place("flame-canvas", 0.1, -27)
        self.browser.mouse("Moved", x, y)
        tip = self.browser.evaluate("return $('tip').textContent;")
        self.browser.mouse("Pressed", x, y)
        self.browser.mouse("Released", x, y)
        self.assertNotEqual(before, self.look())
        self.assertTrue(tip.startswith("main/usr/bin/apptotal 50.0 %"), tip)
        self.assertTrue(self.browser.evaluate("return $('detail').textContent;").startswith("main"))
        self.browser.evaluate("$('unzoom').click(); document.activeElement.blur();")
        self.browser.mouse("Moved", 5, 5)
        self.assertEqual(before, self.look())
        self.assertEqual(self.browser.complaints, [])

    def test_a_span_of_time_redraws(self):
        self.see("", "app.dump")
        before = self.look()
        points = [self.place("lane-canvas", part, 0.7) for part in (0.02, 0.2, 0.3)]
        for kind, point in zip(("Pressed", "Moved", "Released"), points):
            self.browser.mouse(kind, *point)
        self.browser.mouse("Moved", 5, 5)
        some = self.look()
        rows, span = self.browser.evaluate("return [rows(), $('span').textContent];")
        self.browser.evaluate("$('whole').click();")
        self.assertNotEqual(before, some)
        self.assertEqual(before, self.look())
        self.assertEqual(rows[0][:3], ["100 %", "100 %", "leaf"])
        self.assertEqual(rows[1][:3], ["0.00 %", "100 %", "alpha"])
        self.assertIn(" ms to ", span)
        self.assertEqual(self.browser.complaints, [])

    def test_a_span_of_time_by_keys(self):
        self.see("$('lane-canvas').focus();", "app.dump")
        for _ in range(2):
            self.browser.key("ArrowRight")
        self.assertIn(" ms to ", self.browser.evaluate("await settled(); return $('span').textContent;"))
        self.assertIn(" ms to ", self.browser.evaluate("return $('live').textContent;"))
        self.browser.key("Escape")
        self.assertTrue(self.browser.evaluate("await settled(); return $('whole').hidden;"))

    def test_a_thread_alone(self):
        value = self.see(
            """const lanes = [...document.querySelectorAll(".lane")];
            lanes.find((lane) => lane.textContent.startsWith("worker")).click();
            await settled();
            const some = rows()[0];
            $("all").click(); await settled();
            return { names: lanes.map((lane) => lane.textContent), some, all: rows()[0] };""",
            "app.dump",
        )
        self.assertEqual(value["names"], ["app 100", "worker 101"])
        self.assertEqual(value["some"][:3], ["60.0 %", "60.0 %", "leaf"])
        self.assertEqual(value["all"][:3], ["70.0 %", "70.0 %", "leaf"])

    def test_threads_that_share_a_lane_are_counted(self):
        page = self.make("app.dump")
        page.write_text(page.read_text().replace("data-count=1 ", "data-count=3 ", 1))
        self.browser.show(page)
        lanes = self.browser.evaluate(
            "return [...document.querySelectorAll('.lane')].map((lane) => [lane.textContent, lane.title]);"
        )
        self.assertEqual(lanes[0][0], "app 3 threads")
        self.assertEqual(lanes[0][1], "3 threads called app, too many to be shown each")
        self.assertEqual(lanes[1][0], "worker 101")
        self.calm(page)

    def test_the_width_of_slices_is_reported(self):
        value = self.see("return [$('span').textContent, $('about-box').textContent];", "app.dump")
        self.assertRegex(value[0], r"^99\.\d+ ms in slices of 65\.54 µs; drag")
        self.assertRegex(value[1], r"slices of 0\.07 ms, 2 threads\n")

    def test_another_event(self):
        value = self.see(
            """const words = [...$("event").options].map((option) => option.textContent);
            $("event").value = "1";
            $("event").dispatchEvent(new Event("change")); await settled();
            document.querySelector("#list .r.row").click(); await settled();
            return { words, first: rows()[0], detail: $("detail").textContent };""",
            "app.dump",
        )
        self.assertEqual(value["words"], ["cpu-clock", "page-faults"])
        self.assertEqual(value["first"][:3], ["100 %", "100 %", "alpha"])
        self.assertIn("3 events, 3 samples", value["detail"])

    def test_callers_and_callees(self):
        value = self.see(
            """const row = [...document.querySelectorAll("#list .r.row")]
                .find((each) => each.querySelector(".n").textContent === "beta");
            row.click(); await settled();
            return [...$("detail").children].map((child) => child.textContent);""",
            "app.dump",
        )
        self.assertEqual(
            value,
            [
                "beta",
                "/usr/bin/app",
                "self 12.0 % (12.00 ms), total 42.0 % (42.00 ms, 42 samples)",
                "Callers",
                "30.0 %beta",
                "30.0 %run",
                "12.0 %[truncated]",
                "Callees",
                "30.0 %leaf",
                "30.0 %beta",
            ],
        )

    def test_both_themes_and_directions_draw_differently(self):
        seen = [self.see("await settled(); return pixels('flame-canvas');", "app.dump")]
        for key in "ti":
            self.browser.key(key)
            seen.append(self.look())
        self.assertEqual(len(set(seen)), 3)
        theme, flipped = self.browser.evaluate(
            "return [document.documentElement.dataset.theme, $('flip').getAttribute('aria-pressed')];"
        )
        self.assertEqual((theme, flipped), ("dark", "true"))

    def test_roots_stay_in_sight(self):
        size = {"width": 1400, "deviceScaleFactor": 1, "mobile": False}
        script = ("await settled(); const pane = $('flame');"
                  "return pane.scrollHeight - pane.scrollTop - pane.clientHeight;")
        self.assertEqual(self.see(script, "many.dump"), 0)
        try:
            for height in (600, 900, 500, 700):
                self.browser.ask("Emulation.setDeviceMetricsOverride", height=height, **size)
                self.assertEqual(self.browser.evaluate(script), 0)
            self.browser.evaluate("$('flame').scrollTop = 9000; await settled();")
            self.browser.ask("Emulation.setDeviceMetricsOverride", height=600, **size)
            self.assertGreater(self.browser.evaluate(script), 0)
        finally:
            self.browser.ask("Emulation.setDeviceMetricsOverride", height=900, **size)

    def test_an_address_shows_what_was_looked_at(self):
        self.see("$('flame-canvas').focus();", "app.dump")
        for key in ["ArrowUp", "ArrowUp", "Enter", "i"]:
            self.browser.key(key)
        self.browser.evaluate("type('le.f'); [...document.querySelectorAll('.lane')][0].click();")
        points = [self.place("lane-canvas", part, 0.7) for part in (0.02, 0.2, 0.3)]
        for kind, point in zip(("Pressed", "Moved", "Released"), points):
            self.browser.mouse(kind, *point)
        self.browser.key("z")
        self.browser.mouse("Moved", 5, 5)
        state = ("await settled(); document.activeElement.blur(); await settled();"
                 "return [pixels('flame-canvas'), pixels('lane-canvas'), rows(),"
                 " $('detail').textContent, location.hash];")
        seen = self.browser.evaluate(state)
        self.assertIn("&search=le.f", seen[4])
        self.assertRegex(seen[4], r"thread=100&time=0\.0\d+s\.\.0\.0\d+s&view=.*&zoom=\d+\.alpha&function=alpha&")
        self.browser.ask("Page.navigate", url="about:blank")
        self.browser.ask("Page.navigate", url=(self.folder / "page.html").as_uri() + seen[4])
        self.browser.evaluate("await new Promise((done) => document.readyState === 'complete' ? done()"
                              " : addEventListener('load', done));")
        self.browser.evaluate(browser.HELP.replace("var ", "window."))
        again = self.browser.evaluate(state)
        self.assertEqual([one == other for one, other in zip(seen, again)], [True] * 5)
        self.browser.evaluate("location.hash = '#event=page-faults&zoom=1.nothing&time=x&thread=4711';")
        self.assertEqual(self.browser.evaluate("await settled(); return [$('event').value, location.hash];"),
                         ["1", "#event=page-faults"])
        self.assertEqual(self.browser.complaints, [])

    def test_time_is_zoomed_by_keys_and_wheel(self):
        self.see("", "app.dump")
        before = self.browser.evaluate("return pixels('lane-canvas');")
        view = "await settled(); return [new URLSearchParams(location.hash.slice(1)).get('view'), pixels('lane-canvas')];"
        seen = [before]
        for key in "wwd":
            self.browser.key(key)
            seen.append(self.browser.evaluate(view)[1])
        self.assertEqual(len(set(seen)), 4)
        for key in "assss":
            self.browser.key(key)
        self.assertEqual(self.browser.evaluate(view), [None, before])
        x, y = self.place("lane-canvas", 0.25, 0.7)
        self.browser.ask("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-400,
                         modifiers=2)  # fmt: skip
        span = self.browser.evaluate(view)[0]
        from_s, to_s = (float(word[:-1]) for word in span.split(".."))
        self.assertAlmostEqual(from_s + (to_s - from_s) * 0.25, 0.1 * 0.25, delta=0.001)
        self.assertTrue(self.browser.evaluate("$('whole').click(); await settled(); return $('whole').hidden;"))
        self.assertEqual(self.browser.complaints, [])

    def test_threads_stand_below_their_processes(self):
        names = ("await settled(); return [...document.querySelectorAll('.lane')]"
                 ".map((lane) => [lane.innerText, lane.ariaLevel, lane.ariaExpanded]);")
        self.assertEqual(self.see(names, "app.dump", "many.dump"), [
            ["many --fast it's 100", "1", None], ["▾ app --fast it's 100, 2 threads", "1", "true"],
            ["app 100", "2", None], ["worker 101", "2", None]])  # fmt: skip
        self.browser.evaluate("document.querySelector('.lane i').click();")
        self.assertEqual(self.browser.evaluate(names)[1:],
                         [["▸ app --fast it's 100, 2 threads", "1", "false"]])
        all_rows = self.browser.evaluate("return rows()[0];")
        self.browser.evaluate("document.querySelectorAll('.lane')[1].click();")
        some = self.browser.evaluate("await settled(); return rows()[0];")
        self.assertNotEqual(all_rows, some)
        self.assertEqual(some, ["70.0 %", "70.0 %", "leaf", "app"])
        self.browser.key("ArrowRight")
        self.browser.evaluate("document.querySelectorAll('.lane')[1].focus();")
        self.browser.key("ArrowRight")
        self.assertEqual(self.browser.evaluate("await settled(); return [...document.querySelectorAll('.lane')]"
                         ".map((lane) => lane.ariaSelected);"), ["false", "true", "true", "true"])  # fmt: skip
        self.assertEqual(self.browser.complaints, [])

    def test_the_timeline_gets_higher_by_dragging(self):
        copies = [self.folder / f"copy_{i}.dump" for i in range(8)]
        for copy in copies:
            shutil.copy(self.folder / "app.dump", copy)
        high = "await settled(); return $('lanes').clientHeight;"
        before = self.see(high, *(copy.name for copy in copies))
        x, y = self.place("lane-splitter", 0.5, 0.5)
        for kind, at in zip(("Pressed", "Moved", "Released"), (y, y + 80, y + 80)):
            self.browser.mouse(kind, x, at)
        self.assertAlmostEqual(self.browser.evaluate(high), before + 80, delta=5)
        for copy in copies:
            copy.unlink()

    def test_follows_the_systems_theme(self):
        script = "return document.documentElement.dataset.theme;"
        self.assertEqual(self.see(script, "app.dump", is_dark=True), "dark")
        self.assertEqual(self.see(script, "app.dump"), "light")

    def test_a_screen_reader_finds_names_in_the_table(self):
        self.see("", "app.dump")
        self.browser.ask("Accessibility.enable")
        nodes = self.browser.ask("Accessibility.getFullAXTree")["nodes"]
        found = {(node["role"]["value"], node.get("name", {}).get("value")) for node in nodes
                 if not node["ignored"]}  # fmt: skip
        for role, name in [("table", "Functions by share"), ("cell", "alpha"), ("cell", "[truncated]"),
                           ("columnheader", "Self"), ("searchbox", "Search functions by regular expression"),
                           ("treeitem", "worker 101"), ("heading", "Timeline")]:  # fmt: skip
            self.assertIn((role, name), found)
        self.browser.ask("Accessibility.disable")

    def test_the_browsers_own_search_finds_every_function(self):
        value = self.see(
            """const names = [...document.querySelectorAll("#list .n")].map((cell) => cell.textContent);
            return names.filter((name) => !window.find(name, true, false, true)).length;""",
            "many.dump",
        )
        self.assertEqual(value, 0)

    def test_hostile_names_do_nothing(self):
        value = self.see(
            """return { names: rows().map((row) => row[2]), headings: document.querySelectorAll("h1").length,
               images: document.images.length, lane: document.querySelector(".lane").textContent };""",
            "hostile.dump",
        )
        self.assertEqual((value["headings"], value["images"]), (1, 0))
        self.assertEqual(value["lane"], '"><script>boom()</script> 101')
        self.assertIn("</script><script>boom()</script>", value["names"])
        self.assertIn("<!--<script>", value["names"])
        self.assertIn("@script@", value["names"])
        self.assertIn("\\xff\\u202e&lt\\x1b[31m", value["names"])

    def test_many_functions_and_deep_recursion(self):
        value = self.see(
            """const names = [...document.querySelectorAll("#list .n")].length;
            type("^recurse$"); await settled();
            const found = [$("share").textContent, ...rows()[0]];
            document.querySelector("#list .r.row").click(); await settled();
            return { names, found, detail: $("detail").textContent };""",
            "many.dump",
        )
        self.assertEqual(value["names"], 3052)
        self.assertEqual(value["found"][0:2] + value["found"][3:], ["4.00 %", "4.00 %", "recurse", "many"])
        self.assertIn("Callees4.00 %recurse", value["detail"])

    def test_what_was_spent_a_run_is_compared(self):
        before = str(self.folder / "before.dump")
        rows = self.see("return rows();", "after.dump", "--before", before)
        diff = subprocess.run([YARNPROF, "diff", "--format=json", before, self.folder / "after.dump"],
                              stdout=subprocess.PIPE, check=True).stdout  # fmt: skip
        want = [row["function"] for row in json.loads(diff)["rows"]
                if not row["self"]["per_run"]["within_noise"]]  # fmt: skip
        self.assertEqual([row[3] for row in rows if not row[2].startswith("≈")], want)
        rows = {row[3]: row[:3] for row in rows}
        self.assertEqual(rows["steady"], ["500 ms", "1.00 s", "+500 ms"])
        self.assertEqual(rows["gone"], ["100 ms", "0 ns", "−100 ms"])
        total, by_run = self.browser.evaluate("return [$('total').innerText, pixels('flame-canvas')];")
        self.assertEqual(total, "all: 1.00 s → 2.00 s a run, × 2.00; change +1.00 s a run (± 107 ms)")
        self.browser.evaluate("location.hash = '#scale=share';")
        self.assertNotEqual(self.look(), by_run)
        self.assertEqual(self.browser.evaluate("return $('total').innerText;"), "")

    def test_two_profiles_are_compared(self):
        rows = self.see("location.hash = '#scale=share'; await settled(); return rows();",
                        "after.dump", "--before", str(self.folder / "before.dump"))  # fmt: skip
        after = self.look()
        self.browser.evaluate("$('width').value = '0'; $('width').dispatchEvent(new Event('change'));")
        is_noise = [row[2].startswith("≈") for row in rows]
        self.assertEqual(is_noise, sorted(is_noise))
        rows = {row[3]: row[:3] for row in rows}
        self.assertEqual(rows["slower"], ["20.0 %", "30.0 %", "+10.00"])
        self.assertEqual(rows["gone"], ["10.0 %", "0.00 %", "−10.00"])
        self.assertEqual(rows["hardly"], ["10.0 %", "9.80 %", "≈ −0.20"])
        self.assertEqual(rows["moved"], ["5.00 %", "5.00 %", "≈ +0.00"])
        self.assertEqual(rows["steady"], ["50.0 %", "50.0 %", "≈ +0.00"])
        self.assertEqual(rows["[nameless]"], ["5.00 %", "5.00 %", "≈ +0.00"])
        self.assertNotEqual(self.look(), after)

    def test_folders_of_runs_are_judged_by_their_spread(self):
        for side in ("before", "after"):
            folder = self.folder / f"runs_{side}"
            folder.mkdir()
            for run in self.folder.glob(f"runs_{side}.?.dump"):
                shutil.copy(run, folder)
        before, after = str(self.folder / "runs_before"), str(self.folder / "runs_after")
        diff = subprocess.run(
            [YARNPROF, "diff", "--format=json", before, after], stdout=subprocess.PIPE, check=True
        ).stdout
        for scale, key in (("share", "percent"), ("run", "per_run")):
            noise = {row["function"]: row["self"][key]["within_noise"]
                     for row in json.loads(diff)["rows"]}  # fmt: skip
            rows = self.see(f"location.hash = '#scale={scale}'; await settled(); return rows();",
                            after, "--before", before)  # fmt: skip
            self.assertEqual({row[3]: row[2].startswith("≈") for row in rows}, noise)
        self.assertEqual((noise["wild"], noise["sure"]), (True, False))
        texts = self.make(after, "--before", before).read_text()
        self.assertIn("the spread of the runs (3 before, of 3 processes; 4 after, of 4)", texts)
        self.assertIn("the samples of one run", self.make("after.dump", "--before",
                      str(self.folder / "before.dump")).read_text())

    def test_a_profile_without_samples_is_a_page_too(self):
        self.assertEqual(self.see("return rows();", "empty.dump"), [])


if __name__ == "__main__":
    if not BROWSER:
        print("skipped but for what needs no browser: no chromium is installed")
    result = unittest.main(argv=[sys.argv[0], *sys.argv[1:]], exit=False).result
    sys.exit(1 if not result.wasSuccessful() else 0 if BROWSER else SKIPPED)
