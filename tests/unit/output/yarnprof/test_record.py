#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""yarnprof record: the status and the output are the command's."""

import json
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
                self.assertEqual(bool(result.stderr), status in (126, 127), result.stderr)

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
        self.assertEqual((result.stdout, result.stderr), ("out\n", "err\n"))

    def test_a_dump_is_left(self):
        loop = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
        self.assertEqual(self.record("sh", "-c", loop).returncode, 0)
        report = json.loads(run("report", "--format=json", self.folder.name).stdout)
        self.assertGreater(report["events"][0]["samples"], 0)


if __name__ == "__main__":
    main()
