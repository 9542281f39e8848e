# SPDX-License-Identifier: Apache-2.0
"""Places without room, rights or /proc, and namespaces."""

import os
import pathlib
import shutil
import subprocess

import harness
from narrow import Case

SPLIT = harness.HOSTS / "split"
NOT_DUMPABLE = """
import ctypes, threading
def work():
    n = 0
    for i in range(1000000): n += i
    print(n, flush=True)
assert ctypes.CDLL(None).prctl(4, 0, 0, 0, 0) == 0
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


class Places(Case):
    def setUp(self):
        super().setUp()
        os.chmod(self.root, 0o755)

    def needs(self, *programs):
        for program in programs:
            if not shutil.which(program):
                self.skipTest(f"no {program} on this machine")

    def in_namespace(self, *options, script="exec \"$@\""):
        self.needs("unshare")
        argv = ["unshare", *options, "/bin/sh", "-c", script, "sh", SPLIT, "2"]
        return argv

    def test_folder_that_cannot_be_written_to(self):
        folder = self.folder()
        folder.chmod(0o555)
        if os.access(folder, os.W_OK):
            self.skipTest("root can write everywhere")
        self.assert_same_outside([SPLIT, "1"], "line", YARN_OUTPUT=f"{folder}/")

    def test_relative_output_of_record_in_a_folder_that_has_gone(self):
        """record makes it whole once; without a folder it says so, and runs nothing."""
        gone = self.folder() / "gone"
        gone.mkdir()
        done = subprocess.run(["sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh", harness.YARNPROF, "record", "-o", "dumps/",
                               "echo", "ran"], cwd=gone, capture_output=True, env=harness.clean_environment())
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertEqual(done.stderr, b"yarnprof record: --output=dumps/: expected a whole path, "
                                      b"since the working folder has none\n")

    @harness.as_root
    def test_disk(self):
        self.needs("mount")
        disk = self.folder()
        for size, options in (("8k", "rw"), ("4k", "ro")):
            done = subprocess.run(
                ["mount", "-t", "tmpfs", "-o", f"size={size},{options}", "none", disk],
                capture_output=True,
            )
            if done.returncode:
                self.skipTest(done.stderr.decode())
            try:
                with self.subTest(size=size, options=options):
                    run = self.run_program(
                        [SPLIT, "15"], YARN_OUTPUT=f"{disk}/", YARN_FREQUENCY="20000"
                    )
                    plain = self.outside_without([SPLIT, "15"])
                    self.assertEqual(plain[:2], (run.status, run.stdout))
                    self.check_full(disk, run)
            finally:
                subprocess.run(["umount", disk], check=True)

    def check_full(self, disk, run):
        """The reason is in the dump or in the line, in one of them."""
        dumps = list(pathlib.Path(disk).glob("*.dump"))
        reported = b""
        if dumps:
            harness.yarnprof("verify", disk)
            reported = harness.yarnprof("info", disk).stdout
        if b"no space is left" in reported:
            self.assertEqual(run.stderr, b"")
        else:
            self.assertRegex(run.stderr, rb"^yarn: (the recording ended early|nothing is recorded): .*\n$")

    @harness.as_root
    def test_no_proc(self):
        argv = self.in_namespace("--mount", script='umount -l /proc; exec "$@"')
        plain = self.run_plainly(argv)
        run = self.run_program(argv)
        self.assertEqual((plain.status, plain.stdout), (run.status, run.stdout))
        self.assertIn(b"yarn: nothing is recorded: /proc/self could not be opened", run.stderr)

    @harness.as_root
    def test_root_without_devices(self):
        self.needs("mount", "chroot")
        script = 'mount --bind / "$JAIL" && mount -t proc none "$JAIL/proc" && ' \
                 'mount -t tmpfs none "$JAIL/dev" && exec chroot "$JAIL" "$@"'
        argv = self.in_namespace("--mount", script=script)
        run = self.assert_same_outside(argv, JAIL=str(self.folder()))
        dump = max(harness.info(run.dumps), key=lambda dump: dump["trust"]["samples"])
        self.assertIn("hot_a", harness.self_percent(run.dumps))
        self.assertEqual((dump["sampler"]["got"], dump["messages"]), ("perf", []))

    @harness.as_root
    def test_mounts_and_process_numbers_of_its_own(self):
        for options in (("--mount",), ("--pid", "--fork"), ("--pid", "--fork", "--mount-proc")):
            for sampler in self.ways():
                with self.subTest(options=options, sampler=sampler):
                    argv = self.in_namespace(*options)
                    run = self.assert_same_outside(argv, YARN_SAMPLER=sampler)
                    self.assertIn("hot_a", harness.self_percent(run.dumps))

    @harness.as_root
    def test_clocks_of_its_own(self):
        """Of a time namespace: perf's records know nothing of its offset."""
        options = ("--time", "--fork")
        if subprocess.run(["unshare", *options, "true"], capture_output=True).returncode:
            self.skipTest("no time namespace may be made here")
        for offset in ("100000", "-10"):
            for sampler in self.ways():
                with self.subTest(offset=offset, sampler=sampler):
                    argv = self.in_namespace(*options, f"--monotonic={offset}")
                    run = self.assert_same_outside(argv, YARN_SAMPLER=sampler)
                    self.assertIn("hot_a", harness.self_percent(run.dumps))
                    starts = []
                    for dump in harness.info(run.dumps):
                        trust, process = dump["trust"], dump["process"]
                        self.assertLess(trust["unsampled_ns"], 0.3 * trust["cpu_ns"] + 20_000_000)
                        starts.append(process["start_ns"])
                    self.assertLess(max(starts) - min(starts), 10e9)

    def test_not_dumpable(self):
        for sampler in self.ways():
            with self.subTest(sampler=sampler):
                self.assert_same_outside(["/usr/bin/python3", "-c", NOT_DUMPABLE], YARN_SAMPLER=sampler)


if __name__ == "__main__":
    harness.main(needs_perf=False)
