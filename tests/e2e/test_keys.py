# SPDX-License-Identifier: Apache-2.0
"""What samples are summed and chosen by: programs by the name that was run, commands, hosts. A
shell, which is dash, is run as sh, by a link of another name and as a script's interpreter."""

import os
import pathlib
import re
import time

import harness

SPIN = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"


class Keys(harness.Case):
    def setUp(self):
        super().setUp()
        if pathlib.Path("/bin/sh").resolve().name != "dash":
            self.skipTest("/bin/sh is not dash")
        self.folders = self.folder()
        self.folders.chmod(0o755)
        self.link = self.folders / "renamed"
        self.link.symlink_to("/bin/dash")
        self.script = self.folders / "script"
        self.script.write_text(f"#!/bin/sh\n{SPIN}\n")
        self.script.chmod(0o755)

    def recorded(self, **options):
        folder = self.folder()
        folder.chmod(0o777)
        for command in (["/bin/sh", "-c", SPIN], ["/bin/sh", "-c", SPIN], [self.link, "-c", SPIN],
                        [self.script]):
            harness.wait(harness.start(command, folder, True, **options), time.monotonic(), folder)
        return folder

    def samples(self, folder, key, *filters):
        """Of each of the key's values."""
        rows = harness.report(folder, f"--by={key}", "--event=cpu-clock", *filters)["rows"]
        return {row[key]: row["samples"] for row in rows}

    def test_sums(self):
        folder = self.recorded(YARN_EVENTS="cpu-clock")
        processes = harness.report(folder, "--by=process")["rows"]
        self.assertEqual({row["process"] for row in processes}, {"dash"})
        self.assertEqual({row["program"] for row in processes}, {"sh", "renamed", "script"})
        shown = harness.yarnprof("report", "--by=process", folder).stdout.decode()
        self.assertEqual(set(re.findall(r"% +[0-9]+ +[0-9.]+ m?s  (\S+) ", shown)), {"sh", "renamed", "script"})
        (one,) = (dump["path"] for dump in harness.info(folder) if dump["process"]["argv"][0] == str(self.link))
        self.assertRegex(harness.yarnprof("sched", one).stdout.decode(), r"^renamed, pid ")
        self.assertEqual(len(processes), 4)
        whole = sum(row["samples"] for row in processes)
        programs = self.samples(folder, "program")
        self.assertEqual(set(programs), {"sh", "renamed", "script"})
        self.assertEqual(sum(programs.values()), whole)
        commands = self.samples(folder, "command")
        self.assertEqual(set(commands), {f"/bin/sh -c {SPIN}", f"{self.link} -c {SPIN}",
                                         f"/bin/sh {self.script}"})
        self.assertEqual(commands[f"{self.link} -c {SPIN}"], programs["renamed"])
        self.assertEqual(sum(commands.values()), whole)
        self.assertEqual(self.samples(folder, "host"), {os.uname().nodename: whole})

    def test_process_is_chosen_by_either_name(self):
        folder = self.recorded(YARN_EVENTS="cpu-clock")
        programs = self.samples(folder, "program")
        for name in programs:
            self.assertEqual(self.samples(folder, "program", f"--process={name}"),
                             {name: programs[name]})
        self.assertEqual(self.samples(folder, "program", "--process=dash"), programs)

    def test_program_is_recorded_by_either_name(self):
        for comm, count in (("dash", 4), ("renamed", 1), ("sh", 2), ("script", 1), ("other", 0)):
            with self.subTest(comm=comm):
                folder = self.recorded(YARN_COMM=comm)
                self.assertEqual(len(list(folder.glob("*.dump"))), count)

    def test_long_command_is_cut_in_its_middle(self):
        folder = self.folder()
        folder.chmod(0o777)
        argv = ["/bin/sh", "-c", f"{SPIN}; : {'x' * 200} its-end"]
        harness.wait(harness.start(argv, folder), time.monotonic(), folder)
        text = harness.yarnprof("report", "--by=command", folder).stdout.decode()
        (line,) = [line.rstrip() for line in text.splitlines() if "  /bin/sh -c i=0" in line]
        self.assertRegex(line, "x…x+ its-end$|…x+ its-end$")
        self.assertEqual(len(line[line.index("/bin/sh"):]), 100)

    def test_what_tells_long_commands_apart_is_shown(self):
        """Of a tree, whose root the report is called by: a shell that runs two of them, and waits."""
        folder = self.folder()
        folder.chmod(0o777)
        common = " ".join(f"-option{i}" for i in range(20))
        one, two = (f"/bin/sh -c '{SPIN}' {common} {name}.c {common} -last" for name in ("one", "two"))
        harness.wait(harness.start(["/bin/sh", "-c", f"{one}; {two}; {SPIN}"], folder, True), time.monotonic(), folder)
        text = harness.yarnprof("report", "--by=command", folder).stdout.decode()
        self.assertRegex(text, r"(?m)^/bin/sh -c '/bin/sh -c .* and 2 more processes$")
        self.assertEqual(sorted(re.findall(r"  (sh … (?:one|two)\.c .*?) *$", text, re.MULTILINE)),
                         ["sh … one.c … -last", "sh … two.c … -last"])
        page = self.root / "page.html"
        harness.yarnprof("flamegraph", folder, "-o", page)
        self.assertEqual(len(re.findall(r'data-name="sh … (?:one|two)\.c … -last"', page.read_text())), 2)


if __name__ == "__main__":
    harness.main()
