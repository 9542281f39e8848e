# SPDX-License-Identifier: Apache-2.0
"""The commands of EXAMPLES.md, typed one after the other into one shell's folder, which has the files of
tests/examples/programs and nothing else. What they print is of another machine and is not compared."""

import pathlib
import re
import shutil
import subprocess
import time

import harness

TEXT = (harness.ROOT / "output" / "yarnprof" / "EXAMPLES.md").read_text()
PROGRAMS = harness.ROOT / "tests" / "examples" / "programs"
# What the text shows to be wrong.
FAILS = {"yarnprof list 'cpu-clock,page-fault:u'"}
ANSWER_SECONDS = 20


def commands():
    for block in re.findall(r"(?ms)^```\n(.*?)^```", TEXT):
        yield from re.findall(r"(?m)^\$ (.*)$", block)


class Examples(harness.Case):
    def setUp(self):
        super().setUp()
        self.here = self.folder()
        for path in PROGRAMS.iterdir():
            shutil.copy(path, self.here)
        self.environment = {**harness.clean_environment(), "PATH": f"{harness.BUILD.resolve()}:/usr/bin:/bin:/usr/sbin",
                            "HOME": str(self.here)}

    def type(self, line):
        return subprocess.run(["bash", "-c", line], cwd=self.here, env=self.environment, capture_output=True,
                              text=True, errors="replace", timeout=120, check=False)

    def type_until_answered(self, line):
        """To a socket that is there a moment after its program has begun."""
        until = time.monotonic() + ANSWER_SECONDS
        while (done := self.type(line)).returncode != 0 and time.monotonic() < until:
            time.sleep(0.1)
        return done

    def test_every_command_does_what_it_is_shown_for(self):
        lines = list(commands())
        self.assertGreater(len(lines), 25)
        begun = []
        for line in lines:
            with self.subTest(line):
                if not shutil.which(line.split()[0], path=self.environment["PATH"]):
                    print(f"\nskipped, for want of the program: {line}")
                elif line.endswith(" &"):
                    begun.append(subprocess.Popen(["bash", "-c", "exec " + line[:-2]], cwd=self.here,
                                                  env=self.environment, stdout=subprocess.DEVNULL,
                                                  stderr=subprocess.DEVNULL))
                else:
                    ctl = line.startswith("yarnprof ctl")
                    done = (self.type_until_answered if ctl else self.type)(line)
                    if line in FAILS:
                        self.assertNotEqual(done.returncode, 0)
                    else:
                        self.assertEqual(done.returncode, 0, done.stderr)
                    if "yarnprof record" not in line and " -o " not in line:
                        self.assertTrue(done.stdout.strip())
        for process in begun:
            process.wait(timeout=60)
        self.assertTrue(list(pathlib.Path(self.here / "part").iterdir()))


if __name__ == "__main__":
    harness.main()
