# SPDX-License-Identifier: Apache-2.0
"""CPython's own tests of what a guest could disturb. The results of each single test are compared;
what a test prints is not, for much of it is about chance."""

from case import Case

RUN = r"""
import collections, os, sys, unittest
from test import support

class Result(unittest.TestResult):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.outcomes = collections.Counter()

    def note(self, test, outcome):
        self.outcomes[f"{test.id()}: {outcome}"] += 1

    def addSuccess(self, test):
        super().addSuccess(test)
        self.note(test, "ok")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.note(test, "skipped")

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.note(test, "FAILED")

    def addError(self, test, error):
        super().addError(test, error)
        self.note(test, "ERROR")

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error:
            self.note(test, f"FAILED in {subtest}")

if __name__ == "__main__":
    out = os.dup(1)
    log = os.open("log", os.O_WRONLY | os.O_CREAT, 0o644)
    os.dup2(log, 1)
    os.dup2(log, 2)
    support.use_resources = sys.argv.pop(1).split(",")
    result = Result()
    unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:]).run(result)
    for _, text in [*result.failures, *result.errors]:
        print(text, file=sys.stderr, flush=True)
    lines = [f"{outcome} {nr}" for outcome, nr in sorted(result.outcomes.items())]
    os.write(out, ("\n".join(lines) + "\n").encode())
    os._exit(not result.wasSuccessful())
"""


def suite(name, file="", resources="none", seconds=300, once=True, **rest):
    """`resources`: what the tests may use that they ask for, as regrtest's -u."""
    return Case(
        f"python-{name}".replace("_", "-"),
        f"/usr/bin/python3 run.py {resources} test.{name}",
        "python3 libpython3.11-testsuite",
        needs=f"/usr/lib/python3/../python3.11/test/{file or name + '.py'}",
        files={"run.py": RUN},
        files_vary=("log", "__pycache__*", "@test*"),
        seconds=seconds,
        once=once,
        **rest,
    )


CASES = [
    suite("test_threading"),
    suite("test_thread"),
    suite("test_threadsignals"),
    suite("test_fork1"),
    suite("test_wait4"),
    suite("test_subprocess"),
    suite("test_signal"),
    suite("test_multiprocessing_fork"),
    suite("test_multiprocessing_spawn", seconds=600),
    suite("test_multiprocessing_forkserver"),
    suite("test_concurrent_futures", seconds=500),
    suite("test_asyncio", file="test_asyncio/__init__.py"),
    suite("test_os"),
    suite("test_posix"),
    suite("test_faulthandler"),
    suite("test_pty"),
    suite("test_resource"),
    suite("test_eintr"),
    suite("test_mmap"),
    suite("test_select"),
    suite("test_selectors"),
    suite("test_socketserver", resources="network"),
    suite("test_exceptions"),
    suite("test_ctypes"),
]
