# SPDX-License-Identifier: Apache-2.0
"""Runs yarnprof on dumps of known content: what the tests of each verb share."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

YARNPROF = os.environ["YARN_TEST_YARNPROF"]
MAKE_DUMPS = os.environ["YARN_TEST_MAKE_DUMPS"]
PRELOAD = pathlib.Path(YARNPROF).with_name("libyarn_preload.so")
IS_SANITIZED = bool(os.environ.get("YARN_TEST_SANITIZED"))
VERBS = [
    "record", "doctor", "ctl", "report", "annotate", "script", "sched", "diff", "flamegraph", "export", "merge",
    "info", "verify",
]  # fmt: skip


def run(*arguments, cwd=None, text=True, **settings):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("YARN")}
    environment.update(settings)
    environment.pop("COLUMNS", None)
    return subprocess.run(
        [YARNPROF, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        env=environment,
        cwd=cwd,
        text=text,
        check=False,
    )


class WithDumps(unittest.TestCase):
    """What make_dumps makes lies in `folder`; `app` is the dump that most is asked of."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="yarn_cli."))
        subprocess.run([MAKE_DUMPS, cls.folder], check=True)
        cls.app = cls.folder / "app.dump"

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def good(self, *arguments, **settings):
        result = run(*arguments, **settings)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        return result.stdout

    def bad(self, status, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, status, result)
        self.assertNotEqual(result.stderr, "")
        return result.stderr


def main():
    unittest.main(module="__main__", argv=[sys.argv[0], *sys.argv[1:]])
