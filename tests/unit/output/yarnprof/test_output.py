#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What every verb promises of its output file."""

import os
import pathlib
import signal
import subprocess
import tempfile
import time

from command_line import MAKE_DUMPS, YARNPROF, WithDumps, main


class Output(WithDumps):
    """What every verb promises of -o."""

    VERBS = [
        ["report"], ["report", "--tree"], ["report", "--callers"], ["report", "--format=json"],
        ["report", "--format=csv"], ["info"], ["info", "--format=json"], ["script"], ["verify"],
        ["annotate", "hot"], ["merge"], ["flamegraph"],
        *(["export", f"--to={to}"] for to in ("folded", "pprof", "speedscope", "firefox",
                                              "callgrind", "chrome", "perf.data", "sqlite", "otlp")),
    ]  # fmt: skip

    def bytes_of(self, *arguments):
        return subprocess.run([YARNPROF, *map(str, arguments)], check=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

    def test_is_whole_or_not_there_and_what_was_there_stays(self):
        out, link = self.folder / "out", self.folder / "link"
        for verb in self.VERBS:
            with self.subTest(verb=verb):
                out.write_text("before")
                os.link(out, link)
                self.bytes_of(*verb, self.app, "-o", out)
                self.assertEqual(link.read_text(), "before")
                self.assertNotEqual(out.read_bytes(), b"before")
                link.unlink()
        out.unlink()

    def test_same_input_gives_the_same_bytes_wherever_they_go(self):
        out = self.folder / "out"
        for verb in self.VERBS:
            with self.subTest(verb=verb):
                self.bytes_of(*verb, self.app, "-o", out)
                content = out.read_bytes()
                out.unlink()
                self.assertEqual(self.bytes_of(*verb, self.app), content)
                self.assertEqual(self.bytes_of(*verb, self.app, "-o", "-"), content)

    def test_a_full_disk_is_said_to_be_one(self):
        for verb in self.VERBS:
            with self.subTest(verb=verb):
                self.assertIn("No space left on device", self.bad(1, *verb, self.app, "-o", "/dev/full"))

    def test_interrupting_leaves_nothing(self):
        with tempfile.TemporaryDirectory(prefix="yarn_cli.") as name:
            folder = pathlib.Path(name)
            dump = folder / "dump"
            subprocess.run([MAKE_DUMPS, dump, "200000"], check=True)
            for verb, times in ((["script"], 1), (["export", "--to=chrome"], 1), (["merge"], 100)):
                with self.subTest(verb=verb):
                    self.interrupt(folder, [*verb, *[dump] * times, "-o", folder / "out"])
                    self.assertEqual(sorted(folder.iterdir()), [dump])

    def interrupt(self, folder, arguments):
        """As soon as there is a file beside: it works behind all others, so that it is not over before."""
        child = subprocess.Popen([YARNPROF, *map(str, arguments)], stderr=subprocess.DEVNULL,
                                 preexec_fn=lambda: os.nice(10))
        while child.poll() is None and not list(folder.glob("out.*")):
            time.sleep(0.0005)
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(), -signal.SIGINT)


if __name__ == "__main__":
    main()
