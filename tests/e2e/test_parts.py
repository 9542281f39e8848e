# SPDX-License-Identifier: Apache-2.0
"""Recording a part only: YARN_START, YARN_DELAY, YARN_DURATION."""

import re
import subprocess
import sys

import control
import harness


class Parts(control.Case):
    """By options, and between commands."""

    def recorded(self, folder):
        """When the samples were taken, in seconds from the process's start."""
        start_ns = self.info_of(folder)["process"]["start_ns"]
        text = harness.yarnprof("script", folder).stdout.decode()
        times = [float(found) for found in
                 re.findall(r"^\S.*?\s+\d+/\d+\s+\[\d+\]\s+(\d+\.\d+):", text, re.M)]
        return [at - start_ns / 1e9 for at in times]

    def test_delay_and_duration(self):
        run = self.python(control.SPIN, 1.6, YARN_DELAY="500ms", YARN_DURATION="600ms")
        self.finish(*run, by_itself=True)
        dump = self.info_of(run[2])
        before, after = dump["stopped"]
        self.assertEqual([(gap["stopped_by"], gap["started_by"]) for gap in (before, after)],
                         [("option", "delay"), ("duration", None)])
        start_ns = dump["process"]["start_ns"]
        from_, to = ((ns - start_ns) / 1e9 for ns in (before["to_ns"], after["from_ns"]))
        # Never early; how late is up to who else uses the machine.
        self.assertGreaterEqual(from_, 0.5)
        self.assertGreaterEqual(to, from_ + 0.6)
        times = self.recorded(run[2])
        self.assertGreaterEqual(min(times), from_ - 1e-6)
        self.assertLessEqual(max(times), to + 1e-6)
        trust = dump["trust"]
        self.assertGreater(len(times), 0.8 * trust["cpu_ns"] / 1e9 * harness.FREQUENCY
                           - trust["lost"] - 20)

    def test_duration_from_the_process_s_start(self):
        run = self.python(control.SPIN, 1, YARN_DURATION="300ms")
        self.finish(*run, by_itself=True)
        dump = self.info_of(run[2])
        (gap,) = dump["stopped"]
        self.assertEqual((gap["stopped_by"], gap["started_by"]), ("duration", None))
        start_ns = dump["process"]["start_ns"]
        self.assertGreaterEqual(gap["from_ns"], start_ns + 300_000_000)
        self.assertLessEqual(max(self.recorded(run[2])), (gap["from_ns"] - start_ns) / 1e9 + 1e-6)

    def test_command_starts_before_the_delay_and_after_the_duration(self):
        run = self.python(control.SPIN, 60, YARN_DELAY="1h", YARN_DURATION="200ms",
                          YARN_CONTROL="c.sock")
        path = self.socket_of(run[2])
        counts = [0]
        for _ in range(2):
            self.assertEqual(control.ctl(path, "start").stdout, "recording\n")
            control.wait_until(lambda: control.status(path)["state"] == "stopped")
            counts.append(int(control.status(path)["samples"]))
            self.assertGreater(counts[-1], counts[-2])
        self.finish(*run)
        dump = self.info_of(run[2])
        self.assertGreater(dump["trust"]["samples"] + dump["trust"]["lost"],
                           0.8 * dump["trust"]["cpu_ns"] / 1e9 * harness.FREQUENCY - 20)
        gaps = dump["stopped"]
        self.assertEqual(len(gaps), 3)
        for gap, later in zip(gaps, gaps[1:]):
            self.assertGreaterEqual(later["from_ns"] - gap["to_ns"], 200_000_000)

    def test_record_has_the_options(self):
        folder = self.folder()
        done = subprocess.run(
            [harness.YARNPROF, "record", "--delay=200", "--duration=200", "--empty=keep",
             f"--control={folder}/c.sock", "-o", f"{folder}/", "--", sys.executable, "-c",
             control.SPIN, "0.6"], capture_output=True, env=harness.clean_environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        dump = self.info_of(folder)
        self.assertGreater(dump["trust"]["samples"], 0)
        options = dump["options"]
        self.assertEqual((options["delay"], options["duration"], options["control"]),
                         ("200", "200", f"{folder}/c.sock"))

    def test_stopped_all_the_time_leaves_no_dump(self):
        for text in (control.SPIN, control.FORKER):
            run = self.python(text, 0.5, YARN_START="off", YARN_CONTROL="c.%p.sock")
            self.finish(*run, by_itself=True)
            self.assertEqual(list(run[2].iterdir()), [])

    def test_children_of_a_stopped_process_cost_it_nothing(self):
        run = self.start(["/bin/sh", "-c", "for i in 1 2 3 4 5 6 7 8; do (: $i); done"],
                         YARN_START="off")
        self.finish(*run)
        self.assertEqual(list(run[2].iterdir()), [])

    def test_modules_that_were_loaded_while_stopped_are_known(self):
        text = ("import sys,time\nopen('ready','w').close()\n"
                "while not __import__('os').path.exists('go'): time.sleep(.01)\n"
                "import zlib\nend=time.monotonic()+.8\nopen('loaded','w').close()\n"
                "d=bytes(range(256))*4000\nwhile time.monotonic()<end: zlib.crc32(d)\n")
        run = self.python(text, YARN_CONTROL="c.sock")
        folder = run[2]
        path = self.socket_of(folder)
        self.socket_of(folder, "ready")
        control.ctl(path, "stop")
        (folder / "go").touch()
        self.socket_of(folder, "loaded")
        control.ctl(path, "start")
        self.finish(*run)
        rows = harness.report(folder, "--by=module")["rows"]
        modules = {row["module"]: row["self_percent"] for row in rows}
        found = [name for name, share in modules.items()
                 if re.search(r"libz|zlib", name) and share > 20]
        self.assertTrue(found, modules)


if __name__ == "__main__":
    harness.main()
