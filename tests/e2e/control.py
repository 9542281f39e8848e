# SPDX-License-Identifier: Apache-2.0
"""Programs that run until they are ended, and the client of their control socket."""

import subprocess
import sys
import time

import harness

# Ends after so many seconds, or when the test says so.
SPIN = """
import os, sys, threading, time
end = time.monotonic() + float(sys.argv[1])
is_on = True
def spin():
    while is_on: sum(range(100))
threads = [threading.Thread(target=spin) for _ in range(2)]
for thread in threads: thread.start()
while time.monotonic() < end and not os.path.exists("done"): time.sleep(.01)
is_on = False
for thread in threads: thread.join()
"""

FORKER = """
import os, sys, time
def burn(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end and not os.path.exists("done"): pass
child = os.fork()
burn(float(sys.argv[1]))
if child: sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def ctl(path, *words, check=True):
    done = subprocess.run(
        [str(harness.YARNPROF), "ctl", str(path), *words], capture_output=True, text=True,
        timeout=30,
    )
    if check and done.returncode:
        raise AssertionError(f"ctl {words} ended with {done.returncode}: {done.stderr}")
    return done


def wait_until(is_so):
    """However busy the machine is; who waits in vain fails."""
    until = time.monotonic() + harness.HANG_SECONDS
    while not is_so():
        if time.monotonic() > until:
            raise AssertionError("waited in vain")
        time.sleep(0.01)


def let_work(pid, seconds):
    """Until the process has had so much more CPU time."""
    clock = ~pid << 3 | 2  # as clock_getcpuclockid(3) gives it
    end = time.clock_gettime(clock) + seconds
    wait_until(lambda: time.clock_gettime(clock) >= end)


def wait_for_sample(folder, function):
    """Until the dump of a running program has one of it."""
    def is_there():
        done = harness.yarnprof("report", "--format=json", folder, check=False)
        return not done.returncode and f'"{function}"' in done.stdout.decode()
    wait_until(is_there)


def status(path):
    """The words of `status`; the dump's path may hold blanks."""
    line = ctl(path, "status").stdout.rstrip("\n")
    head, _, dump = line.partition(" dump=")
    return {**dict(word.split("=", 1) for word in head.split()), "dump": dump}


class Case(harness.Case):
    def start(self, argv, **variables):
        folder = self.folder()
        begun = time.monotonic()
        process = harness.start(argv, folder, **variables)
        self.addCleanup(process.poll)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process, begun, folder

    def python(self, text, *arguments, **variables):
        return self.start([sys.executable, "-c", text, *map(str, arguments)], **variables)

    def socket_of(self, folder, pattern="*.sock", count=1):
        wait_until(lambda: len(list(folder.glob(pattern))) >= count)
        found = sorted(folder.glob(pattern))
        return found if count > 1 else found[0]

    def finish(self, process, begun, folder, by_itself=False):
        if not by_itself:
            (folder / "done").touch()
        run = harness.wait(process, begun, folder)
        (folder / "done").unlink(missing_ok=True)
        self.assertEqual((run.status, run.stderr), (0, b""))
        return run

    def info_of(self, folder):
        dumps = harness.info(folder)
        self.assertEqual(len(dumps), 1)
        return dumps[0]
