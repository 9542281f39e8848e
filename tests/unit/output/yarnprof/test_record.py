#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""yarnprof record: the status and the output are the command's."""

import errno
import json
import os
import pathlib
import resource
import subprocess
import tempfile
import unittest

from command_line import IS_SANITIZED, PRELOAD, main, run


@unittest.skipIf(IS_SANITIZED,
                 "a sanitizer's runtime must come first: nothing of ours can be preloaded")
@unittest.skipUnless(PRELOAD.exists(), "libyarn_preload.so is not built")
class Record(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="yarn_cli.")
        self.addCleanup(self.folder.cleanup)

    def record(self, *arguments, **settings):
        return run("record", "-o", self.folder.name + "/", *arguments, **settings)

    def test_the_status_is_the_commands(self):
        for command, status in [
            (["sh", "-c", "exit 7"], 7),
            (["sh", "-c", "kill -9 $$"], 137),
            (["/no/such/command"], 127),
            (["no_such_command_anywhere"], 127),
            (["/etc/passwd"], 126),
        ]:
            with self.subTest(command=command):
                result = self.record("--", *command)
                self.assertEqual(result.returncode, status)
                lines = result.stderr.splitlines()
                is_said = [line for line in lines if line.startswith("[yarn: ")]
                self.assertEqual(len(is_said), status not in (126, 127))
                self.assertEqual(len(lines) - len(is_said), status in (126, 127), result.stderr)

    def test_nothing_recorded_is_said(self):
        """With the reason, on no terminal either, and the status stays the command's."""
        result = self.record("--comm=nobody*", "sh", "-c", "exit 3")
        self.assertEqual(result.returncode, 3)
        (line,) = result.stderr.splitlines()
        self.assertIn("[yarn: nothing was recorded in ", line)
        self.assertIn("nobody*", line)

    def why_not(self, *command, **settings):
        """What is said of a command of which nothing is recorded: one line, beside the preload's own."""
        result = self.record(*command, **settings)
        own = [line for line in result.stderr.splitlines() if not line.startswith("yarn: ")]
        (line,) = own
        # A slow machine's process has a dump of its time, without a sample.
        self.assertRegex(line, r"^\[yarn: (nothing was recorded in |0 samples in )")
        return line

    def test_why_there_is_no_sample_is_what_was_asked(self):
        loop = "i=0; while [ $i -lt 500000 ]; do i=$((i+1)); done"
        self.assertIn("too little for a sample", self.why_not("-F", "1", "sh", "-c", loop))
        self.assertIn("no thread was blocked", self.why_not("-e", "off-cpu", "sh", "-c", loop))
        self.assertIn("--follow=none leaves alone", self.why_not("--follow=none", "env", "sh", "-c", loop))
        self.assertIn("clears LD_PRELOAD", self.why_not("env", "-u", "LD_PRELOAD", "sh", "-c", loop))

    def test_what_was_written_is_said_in_one_line(self):
        """On no terminal either: how much, where, and what shows it."""
        loop = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
        result = self.record("--require-samples", "sh", "-c", loop)
        self.assertEqual(result.returncode, 0)
        (dump,) = pathlib.Path(self.folder.name).iterdir()
        self.assertRegex(result.stderr, r"^\[yarn: [0-9,]+ samples in 1 dump, [0-9.]+ KiB; "
                                        rf"see: yarnprof report {dump}\]\n$")

    def test_samples_may_be_required(self):
        """Status 3 in place of the command's; a command that was not run keeps its own."""
        for status, command in [
            (3, ["--comm=nobody*", "true"]),
            (3, ["--empty=keep", "--delay=1h", "true"]),
            (3, ["--comm=nobody*", "sh", "-c", "exit 7"]),
            (127, ["/no/such/command"]),
        ]:
            with self.subTest(command=command):
                self.assertEqual(self.record("--require-samples", *command).returncode, status)
                if status == 3:
                    self.assertNotEqual(self.record(*command).returncode, status)

    def test_a_dump_without_samples_says_why(self):
        line = self.record("--empty=keep", "--delay=1h", "true").stderr
        self.assertRegex(line, r"^\[yarn: 0 samples in 1 dump, .*: it ended before --delay=1h was over; see: yarnprof info ")

    def test_bad_variables_are_said_by_record_too(self):
        result = self.record("true", YARN_FREQUENCY="often")
        (line,) = [line for line in result.stderr.splitlines() if not line.startswith("yarn: ")]
        self.assertRegex(line, r'^\[yarn: nothing was recorded: YARN_FREQUENCY: "often": .* would be right\]$')

    def test_misspelt_variables_are_said_and_what_is_meant(self):
        loop = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
        sentence = "YARN_FREQENCY is not a variable that yarn knows; YARN_FREQUENCY?"
        result = self.record("sh", "-c", loop, YARN_FREQENCY="9", YARN_NOBODYS="x")
        self.assertIn(f"yarnprof record: {sentence}\n", result.stderr)
        self.assertIn("yarnprof record: YARN_NOBODYS is not a variable that yarn knows\n", result.stderr)
        self.assertIn(f"yarnprof report: {sentence}\n", run("report", self.folder.name).stderr)

    def test_names_of_runtimes_are_switched_on_where_that_is_asked_for(self):
        """Beside what the variables hold; never by default."""
        script = 'echo "$PYTHONPERFSUPPORT $NODE_OPTIONS $DOTNET_PerfMapEnabled"'
        plain = self.record("sh", "-c", script, NODE_OPTIONS="--no-warnings")
        self.assertEqual(plain.stdout, " --no-warnings \n")
        result = self.record("--jit", "sh", "-c", script, NODE_OPTIONS="--no-warnings")
        self.assertEqual(result.stdout, "1 --no-warnings --perf-basic-prof 1\n")
        self.assertRegex(result.stderr, "--jit sets PYTHONPERFSUPPORT=1, .*; Python's calls take")

    def test_files_of_names_are_removed_and_info_says_what_was_set(self):
        loop = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; : > /tmp/perf-$$.map; echo $$"
        for options, is_left in (([], True), (["--jit"], False)):
            path = pathlib.Path(f"/tmp/perf-{int(self.record(*options, 'sh', '-c', loop).stdout)}.map")
            self.assertEqual(path.exists(), is_left)
            path.unlink(missing_ok=True)
        dumps = json.loads(run("info", "--format=json", self.folder.name).stdout)["dumps"]
        self.assertEqual([("PYTHONPERFSUPPORT=1" in dump["options"].get("jit", "")) for dump in dumps], [False, True])

    def test_events_that_are_refused_are_named(self):
        line = self.why_not("-e", "mem:0x1000/name=here/", "true", YARN_SAMPLER="perf")
        self.assertIn("nothing was sampled", line)  # it can be had, and nothing came there
        refused = [row["name"] for row in json.loads(run("list", "--format=json").stdout)["events"]
                   if not row["usable"] and row["name"] == "cycles"]
        if refused:
            self.assertIn("cycles: this machine shows no such counter", self.why_not("-e", "cycles", "true"))

    def make(self, name, *options):
        path = pathlib.Path(self.folder.name).resolve() / name
        done = subprocess.run(["cc", "-x", "c", "-", "-o", path, *options], input=b"int main(void) { return 0; }",
                              capture_output=True, check=False)
        if done.returncode:
            self.skipTest("no C compiler, or no static C library")
        return path

    def test_programs_that_take_no_preload_are_named(self):
        static = self.make("static", "-static")
        script = static.with_name("script")
        script.write_text(f"#!{static}\n")
        script.chmod(0o755)
        for program in (static, script):
            self.assertRegex(self.why_not(program), f"{static} is statically linked, .*; .*outside")

    @unittest.skipIf(os.getuid(), "only root can give a file to another user")
    def test_a_privileged_program_is_named(self):
        program = self.make("program")
        os.chown(program, 1, 1)
        program.chmod(0o4755)
        self.assertRegex(self.why_not(program), "is set-user-ID: .*; .*: sudo -u '#1' yarnprof record")

    def test_options_that_meet_nothing_are_named(self):
        self.assertIn("--start=off", self.why_not("--start=off", "true"))
        self.assertIn("--delay=1h", self.why_not("--delay=1h", "true"))

    def test_where_no_dump_can_be_written_the_reason_is_the_systems(self):
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_FSIZE, before)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
        self.assertIn(f"{os.strerror(errno.EFBIG)}; -o FOLDER/ takes another", self.why_not("true"))

    def test_a_relative_folder_is_taken_once(self):
        script = "mkdir -p sub; cd sub; for i in 1 2 3; do python3 -c 'sum(range(3000000))'; done"
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder.name)
        run("record", "-o", "dumps/", "sh", "-c", script)
        found = list(pathlib.Path(self.folder.name).rglob("*.dump"))
        self.assertGreaterEqual(len(found), 3)
        self.assertEqual({path.parent for path in found}, {pathlib.Path(self.folder.name) / "dumps"})

    def test_options_are_variables(self):
        script = 'echo "$YARN_FREQUENCY $YARN_EVENTS $YARN_LOG_FILE $YARN_RING"'
        result = self.record(
            "-F", "500", "--log-file=/dev/null", "-g", "sh", "-c", script, YARN_RING="1M"
        )
        self.assertEqual(result.stdout, "500  /dev/null 1M\n")

    def test_what_was_preloaded_stays(self):
        result = self.record("sh", "-c", 'echo "$LD_PRELOAD"', LD_PRELOAD="libm.so.6")
        self.assertEqual(result.stdout, f"{PRELOAD.resolve()}:libm.so.6\n")

    def test_output_is_the_commands_alone(self):
        result = self.record("sh", "-c", "cat; echo out; echo err >&2")
        own = [line for line in result.stderr.splitlines() if not line.startswith("[yarn: ")]
        self.assertEqual((result.stdout, own), ("out\n", ["err"]))

    def test_a_dump_is_left(self):
        loop = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
        self.assertEqual(self.record("sh", "-c", loop).returncode, 0)
        report = json.loads(run("report", "--format=json", self.folder.name).stdout)
        self.assertGreater(report["events"][0]["samples"], 0)


if __name__ == "__main__":
    main()
