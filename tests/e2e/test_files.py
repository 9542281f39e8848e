#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that shrink, are overwritten or go away while they are read for unwinding and names."""

import shutil
import subprocess
import unittest

import harness

FILES = harness.HOSTS / "files"
PLUGIN = harness.HOSTS / "libfiles_plugin.so"
SAMPLERS = ("perf", "timer")
TIMES = 12
UNLOADED = 150


class Files(harness.Case):
    def copy_with_debug_file(self, folder):
        """A stripped program whose names are in a file beside it."""
        program, debug = folder / "files", folder / "files.debug"
        for command in (
            ["objcopy", "--only-keep-debug", FILES, debug],
            ["objcopy", "--strip-all", "--remove-section=.note.gnu.build-id",
             f"--add-gnu-debuglink={debug}", FILES, program],
        ):
            subprocess.run(command, check=True)
        return program, debug

    def check(self, argv, **options):
        run = self.run_program(argv, YARN_FREQUENCY="5000", **options)
        self.assertEqual((run.status, run.stdout, run.stderr), (0, b"files: done\n", b""))
        harness.yarnprof("verify", run.dumps)
        self.assertGreater(harness.trust(run.dumps)["samples"], 0)
        return run

    def test_a_debug_file_that_shrinks_costs_names_and_nothing_else(self):
        for sampler in SAMPLERS:
            with self.subTest(sampler=sampler):
                folder = self.folder()
                program, debug = self.copy_with_debug_file(folder)
                run = self.check([program, "shrink", debug], YARN_SAMPLER=sampler)
                named = [
                    name for name in harness.self_percent(run.dumps) if name.startswith("a_function")
                ]
                self.assertGreater(len(named), 0, "none was named before it shrank")

    def test_a_plugin_that_is_overwritten_after_its_end_is_never_taken_for_the_new_file(self):
        for sampler in SAMPLERS:
            with self.subTest(sampler=sampler):
                run = self.check(
                    [FILES, "overwrite", PLUGIN, self.folder(), TIMES], YARN_SAMPLER=sampler
                )
                for sample in harness.samples(run.dumps):
                    names = [frame.name for frame in sample.frames]
                    inside = [name for name in names if name.startswith("a_function")]
                    self.assertLessEqual(len(inside), 1, names)

    def test_plugins_that_are_gone_hold_nothing(self):
        for sampler in SAMPLERS:
            with self.subTest(sampler=sampler):
                argv = [FILES, "unload", PLUGIN, self.folder(), UNLOADED]
                run = self.run_program(argv, YARN_SAMPLER=sampler)
                self.assertEqual(
                    run.outside(), (0, b"of plugins 0, more mappings 0\nfiles: done\n", b"")
                )

    @harness.as_root
    @unittest.skipUnless(shutil.which("unshare"), "needs unshare")
    def test_their_file_system_is_free_and_can_be_unmounted(self):
        folder = self.folder()
        script = 'mount -t tmpfs none "$3" && exec "$1" unload "$2" "$3" "$4"'
        argv = ["unshare", "--mount", "sh", "-c", script, "sh", FILES, PLUGIN, folder, UNLOADED]
        run = self.run_program(argv)
        self.assertEqual(run.status, 0)
        self.assertIn(b"more blocks 0, unmounted 1", run.stdout)


if __name__ == "__main__":
    harness.main()
