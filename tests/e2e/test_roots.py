# SPDX-License-Identifier: Apache-2.0
"""record --outside of processes in other roots and namespaces: right names or none, also once they are dead."""

import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

import control
import harness
from outside import CHILDREN, JIT, SPLIT, Case, name_of

SHELL = pathlib.Path("/bin/dash")


def may_unshare(*flags):
    return shutil.which("unshare") and not subprocess.run(
        ["unshare", *flags, "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode


def libraries_of(program):
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return [word for word in listed.split() if word.startswith("/")]


@unittest.skipUnless(may_unshare("-Urm") and SHELL.exists(), "namespaces are not permitted, or there is no dash")
class Roots(Case):
    def root_with(self, **programs):
        """A folder with these below bin, and what they are linked with."""
        root = self.folder() / "root"
        for name in ("bin", "tmp", "proc"):
            (root / name).mkdir(parents=True)
        for name, program in {"sh": SHELL, **programs}.items():
            shutil.copy(program, root / "bin" / name)
            for library in libraries_of(program):
                (root / library[1:]).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(library, root / library[1:])
        return root

    def begin(self, argv, *options):
        folder = self.folder()
        command = [harness.YARNPROF, "record", "--outside", "-o", f"{folder}/d/", *options, "--", *argv]
        recorder = harness.start(command, folder, preload=False, stdin=subprocess.PIPE)
        self.addCleanup(recorder.communicate)
        self.addCleanup(recorder.kill)
        return recorder, folder

    def read_up_to(self, recorder, wanted):
        while (line := recorder.stdout.readline()) != wanted:
            self.assertTrue(line, "it has ended")

    def functions_of(self, dump):
        return {name for name, share in harness.self_percent(dump["path"]).items() if share > 5}

    def test_names_are_those_of_the_root_s_files(self):
        root = self.root_with(work=SPLIT)
        for flags in (["-Ur"], ["-Urm"], ["-Urmpf"]):
            with self.subTest(flags=flags):
                run = self.record(["unshare", *flags, "chroot", root, "/bin/work", "5"])
                self.assertEqual(run.status, self.outside_without([SPLIT, "5"])[0])
                (dump,) = [dump for dump in self.infos(run) if name_of(dump["process"]) == "work"]
                self.assertEqual(dump["trust"]["stacks_complete"], dump["trust"]["samples"])
                self.assertEqual(self.functions_of(dump), {"hot_a", "hot_b", "hot_c"})

    def test_a_perf_map_is_the_one_of_the_root_by_the_pid_of_the_namespace(self):
        root = self.root_with(jit=JIT)
        run = self.record(["unshare", "-Urmpf", "chroot", root, "/bin/jit"])
        self.assertTrue(list((root / "tmp").glob("perf-*.map")), run.stderr)
        (dump,) = [dump for dump in self.infos(run) if name_of(dump["process"]) == "jit"]
        self.assertEqual(self.functions_of(dump), {"generated_first", "generated_second"})

    def test_what_is_dead_when_it_is_looked_at_has_them_too(self):
        root = self.root_with(work=SPLIT, later=SPLIT)
        script = "echo ready; read go; /bin/later 2; echo over; read go"
        for flags in (["-Ur"], ["-Urm"]):
            with self.subTest(flags=flags):
                recorder, folder = self.begin(["unshare", *flags, "chroot", root, "/bin/sh", "-c", f"/bin/work 3; {script}"],
                                              "--callgraph=fp")
                self.read_up_to(recorder, b"ready\n")
                control.wait_for_sample(folder / "d", "hot_a")
                recorder.send_signal(signal.SIGSTOP)
                recorder.stdin.write(b"go\n")
                recorder.stdin.flush()
                self.read_up_to(recorder, b"over\n")
                recorder.send_signal(signal.SIGCONT)
                recorder.stdin.write(b"go\n")
                recorder.stdin.flush()
                self.finished(recorder, time.monotonic(), folder)
                (dump,) = [dump for dump in harness.info(folder / "d") if name_of(dump["process"]) == "later"]
                self.assertLessEqual({"hot_a", "hot_b"}, self.functions_of(dump))

    def test_another_file_of_the_same_number_lends_no_names(self):
        """Of two file systems, each with its first file at one path; whoever ran the second is dead by then."""
        place = self.folder() / "place"
        place.mkdir()
        tool = self.folder() / "tool.sh"
        tool.write_text(
            f"mount -t tmpfs none {place} && cp {CHILDREN} {place}/prog && stat -c %i {place}/prog &&\n"
            f"exec {harness.YARNPROF} record --outside --callgraph=fp -o d/ -- sh -c 'echo $PPID; read go; unshare -m sh inner.sh'\n")
        folder = self.folder()
        (folder / "inner.sh").write_text(
            f"mount -t tmpfs none {place} && cp {SPLIT} {place}/prog && stat -c %i {place}/prog && {place}/prog 2\necho over; read go\n")
        recorder = harness.start(["unshare", "-Urm", "sh", tool], folder, preload=False, stdin=subprocess.PIPE)
        self.addCleanup(recorder.communicate)
        self.addCleanup(recorder.kill)
        first, pid = (int(recorder.stdout.readline()) for _ in range(2))
        os.kill(pid, signal.SIGSTOP)
        recorder.stdin.write(b"go\n")
        recorder.stdin.flush()
        self.assertEqual(int(recorder.stdout.readline()), first)
        self.read_up_to(recorder, b"over\n")
        os.kill(pid, signal.SIGCONT)
        recorder.stdin.write(b"go\n")
        recorder.stdin.flush()
        self.finished(recorder, time.monotonic(), folder)
        (dump,) = [dump for dump in harness.info(folder / "d") if name_of(dump["process"]) == "prog"]
        self.assertGreater(dump["trust"]["samples"], 5)
        self.assertLessEqual({name for name in self.functions_of(dump) if "[" not in name and not name.startswith("0x")},
                             {"hot_a", "hot_b", "hot_c"})

    def test_devices_that_differ_hide_no_names(self):
        lower, upper, work, merged = (self.folder() / name for name in ("lower", "upper", "work", "merged"))
        for folder in (lower, upper, work, merged):
            folder.mkdir()
        shutil.copy(SPLIT, lower / "prog")
        folder = self.folder()
        script = (f"mount -t overlay overlay -o lowerdir={lower},upperdir={upper},workdir={work} {merged} || exit 77\n"
                  f"exec {harness.YARNPROF} record --outside -o d/ -- {merged}/prog 5")
        run = harness.wait(harness.start(["unshare", "-Urm", "sh", "-c", script], folder, preload=False), time.monotonic(), folder)
        if run.status == 77:
            self.skipTest("no overlay can be mounted")
        (dump,) = harness.info(folder / "d")
        self.assertEqual(dump["trust"]["stacks_complete"], dump["trust"]["samples"])
        self.assertEqual(self.functions_of(dump), {"hot_a", "hot_b", "hot_c"})


if __name__ == "__main__":
    harness.main()
