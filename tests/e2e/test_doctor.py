# SPDX-License-Identifier: Apache-2.0
"""yarnprof doctor in ten situations: what it says is what recording there gets, and what mends it."""

import json
import os
import pathlib
import resource
import shutil
import subprocess

import harness
from harness import as_root

SPLIT = harness.HOSTS / "split"
NOPERF = harness.HOSTS / "noperf"
GOOD, LIMITED, FAILS = 0, 1, 2
STATES = ("ok", "limited", "fails")
VERDICTS = ("works", "works, with limits", "would not work")
EACCES, EPERM = 13, 1


class Doctor(harness.Case):
    def doctor(self, *command, under=(), before=None, cwd=None, **variables):
        """The status and the findings by subject; the text has the same."""
        argv = [*under, harness.YARNPROF, "doctor"]
        words = ["--", *command] if command else []
        settings = {"env": {**harness.clean_environment(), **variables}, "cwd": cwd or self.root,
                    "capture_output": True, "preexec_fn": before, "check": False}
        done = subprocess.run([*map(str, argv), "--format=json", *map(str, words)], **settings)
        self.assertEqual(done.stderr, b"")
        report = json.loads(done.stdout)
        self.assertEqual(report["verdict"], STATES[done.returncode])
        states = [finding["state"] for finding in report["findings"]]
        self.assertEqual("fails" in states, done.returncode == FAILS)
        findings = {finding["subject"]: finding for finding in report["findings"]}
        # The text is of another trial, in which a busy machine may take fewer samples.
        text = subprocess.run([*map(str, argv), *map(str, words)], **settings)
        *lines, verdict = text.stdout.decode().splitlines()
        states = [line.split()[0] for line in lines]
        self.assertEqual(len(states), len(report["findings"]))
        worst = max(map(STATES.index, states))
        self.assertEqual((text.returncode, verdict), (worst, VERDICTS[worst]))
        return done.returncode, findings

    def record(self, *command, under=(), before=None):
        """The dump of a recording in the same situation; None: nothing was recorded."""
        folder = self.folder()
        argv = [*under, harness.YARNPROF, "record", "-o", f"{folder}/", "--", *command]
        subprocess.run(list(map(str, argv)), env=harness.clean_environment(), cwd=self.root,
                       capture_output=True, preexec_fn=before, check=False)
        return harness.info(folder)[0] if any(folder.iterdir()) else None

    def assert_mended_by(self, finding, state, text):
        self.assertEqual(finding["state"], state, finding)
        self.assertIn(text, finding["mend"] or "", finding)

    @as_root
    def test_root(self):
        status, findings = self.doctor(SPLIT, "1")
        self.assertEqual(findings["sampler"]["state"], "ok")
        self.assertIn("user and kernel", findings["kernel"]["what"])
        self.assertEqual(findings["tracepoints"]["state"], "ok")
        self.assertLessEqual(status, LIMITED)

    def test_a_user(self):
        """What it says of sampler, kernel and rings is what a recording gets."""
        status, findings = self.doctor(SPLIT, "5")
        dump = self.record(SPLIT, "5")
        self.assertTrue(findings["sampler"]["what"].startswith(dump["sampler"]["got"]), findings)
        is_refused = any(event["got"].endswith(":u") for event in dump["events"])
        if os.getuid() and is_refused:
            self.assertEqual(status, LIMITED)
            self.assert_mended_by(findings["kernel"], "limited", "kernel.perf_event_paranoid=1")
        self.assertEqual(findings["command"]["state"], "ok")

    def test_where_perf_is_refused(self):
        """As by kernel.perf_event_paranoid 3 (EACCES), and by a container's filter (EPERM)."""
        for error in (EACCES, EPERM):
            with self.subTest(error=error):
                status, findings = self.doctor(SPLIT, "5", under=(NOPERF, str(error)))
                self.assertEqual(status, LIMITED)
                self.assert_mended_by(findings["sampler"], "limited", "perf_event")
                self.assertIn("timer", findings["sampler"]["what"])
                self.assertEqual(findings["clock rate"]["state"], "limited")
                self.assertEqual(self.record(SPLIT, "5", under=(NOPERF, str(error)))["sampler"]["got"], "timer")
                status, findings = self.doctor(SPLIT, "5", under=(NOPERF, str(error)), YARN_SAMPLER="perf")
                self.assertEqual(status, FAILS)
                self.assert_mended_by(findings["recording"], "fails", "YARN_SAMPLER=auto")

    def test_no_locked_memory(self):
        """Beyond what perf grants each user."""
        def no_memory():
            resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))
        _, findings = self.doctor(SPLIT, "5", before=no_memory)
        dump = self.record(SPLIT, "5", before=no_memory)
        self.assertTrue(findings["sampler"]["what"].startswith(dump["sampler"]["got"]), findings)
        if findings.get("ring memory", findings["sampler"])["state"] == "limited":
            self.assertIn("ulimit -l", findings.get("ring memory", findings["sampler"])["mend"])

    def test_a_folder_that_is_read_only(self):
        folder = self.folder()
        folder.chmod(0o555)
        if os.access(folder, os.W_OK):
            self.skipTest("root can write everywhere")
        status, findings = self.doctor(SPLIT, "1", cwd=folder)
        self.assertEqual(status, FAILS)
        self.assert_mended_by(findings["dumps"], "fails", "-o FOLDER/")
        self.assertEqual(self.doctor(SPLIT, "1", cwd=folder, YARN_OUTPUT=f"{self.root}/")[1]["dumps"]["state"], "ok")

    def compiled(self, compiler, *options):
        if not shutil.which(compiler):
            self.skipTest(f"no {compiler} on this machine")
        program = self.root / f"made-{compiler}"
        done = subprocess.run([compiler, "-x", "c", "-", "-o", program, *options], check=False,
                              input=b"int main(void) { return 0; }", capture_output=True)
        if done.returncode:
            self.skipTest(done.stderr.decode())
        return program

    def assert_refused(self, program, what, mend):
        status, findings = self.doctor(program)
        self.assertEqual(status, FAILS)
        self.assertIn(what, findings["command"]["what"])
        self.assert_mended_by(findings["command"], "fails", mend)
        self.assertIsNone(self.record(program))

    def test_a_static_program(self):
        self.assert_refused(self.compiled("cc", "-static"), "statically linked", "--outside")

    def test_a_set_uid_program(self):
        program = shutil.which("su") or shutil.which("mount")
        if not program or not pathlib.Path(program).stat().st_mode & 0o4000 or os.getuid() == 0:
            self.skipTest("no set-user-ID program of another user")
        with open("/proc/self/status", encoding="ascii") as file:
            if "NoNewPrivs:\t1" in file.read():
                self.skipTest("no program gains rights here")
        status, findings = self.doctor(program)
        self.assertEqual(status, FAILS)
        self.assertIn("set-user-ID", findings["command"]["what"])
        self.assert_mended_by(findings["command"], "fails", "sudo -u")

    def test_a_program_of_another_c_library(self):
        self.assert_refused(self.compiled("musl-gcc"), "another C library", "--outside")

    @as_root
    def test_no_proc(self):
        under = ("unshare", "--mount", "/bin/sh", "-c", 'umount -l /proc; exec "$@"', "sh")
        status, findings = self.doctor(SPLIT, "1", under=under)
        self.assertEqual(status, FAILS)
        self.assert_mended_by(findings["/proc"], "fails", "mount -t proc proc /proc")

    def test_variables_and_events_that_cannot_be_used(self):
        status, findings = self.doctor(SPLIT, YARN_FREQUENCY="often")
        self.assertEqual((status, findings["variable"]["state"]), (FAILS, "fails"))
        _, findings = self.doctor(SPLIT, YARN_FREQENCY="9")
        self.assertIn("YARN_FREQUENCY?", findings["variable"]["what"])
        status, findings = self.doctor(SPLIT, YARN_EVENTS="cpu-clock,mem:no_such_symbol:w")
        self.assert_mended_by(findings["event"], "limited", "yarnprof list")
        self.assertEqual(self.doctor("no_such_command_anywhere")[0], FAILS)
        status, findings = self.doctor(SPLIT, YARN_COMM="nobody*")
        self.assertEqual((status, findings["command"]["state"]), (LIMITED, "limited"))
        self.assertEqual(self.doctor(SPLIT, YARN_COMM="nobody*", YARN_FOLLOW="none")[0], FAILS)

    def test_a_folder_that_cannot_be_made(self):
        folder = self.folder()
        folder.chmod(0o555)
        if os.access(folder, os.W_OK):
            self.skipTest("root can write everywhere")
        status, findings = self.doctor(SPLIT, "1", YARN_OUTPUT=f"{folder}/some/more/")
        self.assertEqual((status, findings["dumps"]["state"]), (FAILS, "fails"))
        self.assertEqual(self.doctor(SPLIT, "1", YARN_OUTPUT=f"{self.root}/some/more/")[1]["dumps"]["state"], "ok")

    def test_what_waits_for_a_start(self):
        self.assert_mended_by(self.doctor(SPLIT, YARN_START="off")[1]["start"], "limited", "YARN_CONTROL")
        self.assert_mended_by(self.doctor(SPLIT, YARN_DELAY="1h")[1]["start"], "limited", "YARN_DELAY")

    def script(self, line):
        path = self.root / f"script{len(list(self.root.glob('script*')))}"
        path.write_text(f"#!{line}\n")
        path.chmod(0o755)
        return path

    def test_what_cannot_be_run(self):
        plain = self.root / "plain"
        plain.write_text("")
        for command, why in ((self.folder(), "Permission denied"), (plain, "Permission denied"),
                             (self.script("/nowhere/sh"), "No such file")):
            status, findings = self.doctor(command)
            self.assertEqual((status, findings["command"]["state"]), (FAILS, "fails"))
            self.assertIn(why, findings["command"]["what"])

    def test_the_program_behind_a_script(self):
        """By its own first line, or by env(1)."""
        static = self.compiled("cc", "-static")
        for line in (static, f"/usr/bin/env -S A=1 {static}"):
            self.assert_refused(self.script(line), "statically linked", "--outside")
        python = shutil.which("python3", path="/usr/bin:/bin")
        if python:
            _, findings = self.doctor(self.script("/usr/bin/env python3"), PATH="/usr/bin:/bin")
            self.assertIn("python", findings["names"]["what"])
            self.assert_mended_by(findings["Python"], "limited", "record --jit")

    def test_what_a_shell_starts_is_not_known(self):
        """Such as pyenv's python3, a script that looks for one."""
        finding = self.doctor(self.script("/usr/bin/env bash"))[1]["names"]
        self.assertIn("not known before", finding["what"])
        self.assertIn("doctor -- PROGRAM", finding["mend"])

    def test_a_file_that_may_be_run_but_not_read(self):
        program = self.root / "secret"
        shutil.copy(SPLIT, program)
        program.chmod(0o111)
        self.assertNotEqual(self.doctor(program)[0], FAILS)
        self.assertIsNotNone(self.record(program, "5"))

    def test_a_link_has_the_name_of_its_file_too(self):
        link = self.root / "link"
        link.symlink_to(SPLIT)
        for name in ("link", "split"):
            self.assertEqual(self.doctor(link, YARN_COMM=name)[1]["command"]["state"], "ok")

    def test_rates_of_events_are_their_own(self):
        for events, asked in (("cpu-clock/freq=100/", "of 100 "), ("cpu-clock,cpu-clock", "of 999 ")):
            rate = self.doctor(YARN_EVENTS=events)[1]["clock rate"]["what"]
            self.assertIn(asked, rate)
            self.assertLess(int(rate.split()[0]), 1.2 * int(asked.split()[1]))

    def test_a_rate_of_which_the_trial_sees_two_samples_is_no_fault(self):
        self.assertEqual(self.doctor(YARN_EVENTS="cpu-clock/freq=20/")[1]["clock rate"]["state"], "ok")

    def test_a_symbol_is_the_command_s(self):
        """The trial's own program has a main, too."""
        event = self.doctor(SPLIT, YARN_EVENTS="mem:main/8:w")[1]["event"]
        self.assertEqual(event["state"], "limited")
        self.assertIn("not tried", event["what"])

    def test_rings_that_are_smaller_than_asked_for(self):
        if os.getuid() == 0:
            self.skipTest("root has no such limit")
        self.assert_mended_by(self.doctor(YARN_RING="256M")[1]["ring memory"], "limited", "ulimit -l")

    def test_no_process_more(self):
        if os.getuid() == 0:
            self.skipTest("root has no such limit")
        status, findings = self.doctor(SPLIT, before=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (1, 1)))
        self.assertEqual(status, FAILS)
        self.assert_mended_by(findings["recording"], "fails", "ulimit -u")

    def test_no_descriptor_more(self):
        _, findings = self.doctor(SPLIT, before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8)))
        if findings["sampler"]["state"] == "limited":
            self.assert_mended_by(findings["sampler"], "limited", "ulimit -n")


if __name__ == "__main__":
    harness.main(needs_perf=False)
