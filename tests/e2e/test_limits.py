# SPDX-License-Identifier: Apache-2.0
"""Limits, set before the program or by itself: either there is a profile, or the dump or one line says why there
is none, and the host never notices."""

import contextlib
import functools
import os
import resource
import signal
import subprocess

import harness
from narrow import MIB, Case, limited

SPLIT = harness.HOSTS / "split"
LIMITED = harness.HOSTS / "limits"

# What each limit may lead to: samples in a dump, or one line.
LIMITS = {
    "nofile 8": (resource.RLIMIT_NOFILE, 8, "samples"),
    "nofile 4": (resource.RLIMIT_NOFILE, 4, "samples"),
    "memlock 0": (resource.RLIMIT_MEMLOCK, 0, "samples"),
    "fsize 0": (resource.RLIMIT_FSIZE, 0, "line"),
    "fsize 1 MiB": (resource.RLIMIT_FSIZE, MIB, "samples"),
    "stack unlimited": (resource.RLIMIT_STACK, resource.RLIM_INFINITY, "samples"),
    "stack 128 KiB": (resource.RLIMIT_STACK, MIB // 8, "samples"),
    "data 8 MiB": (resource.RLIMIT_DATA, 8 * MIB, "line"),
    "data 400 MiB": (resource.RLIMIT_DATA, 400 * MIB, "samples"),
    "core 0": (resource.RLIMIT_CORE, 0, "samples"),
    "as 8 MiB": (resource.RLIMIT_AS, 8 * MIB, "line"),
    "as 100 MiB": (resource.RLIMIT_AS, 100 * MIB, "line"),
    "as 320 MiB": (resource.RLIMIT_AS, 320 * MIB, "samples"),
}


class Limits(Case):
    def test_each(self):
        for name, (which, value, outcome) in LIMITS.items():
            # Where there is no profile, it is for reasons that come before the sampler.
            for sampler in self.ways() if outcome == "samples" else ("auto",):
                with self.subTest(limit=name, sampler=sampler):
                    run = self.assert_same_outside(
                        [SPLIT, "1"], outcome, before=limited(which, value), YARN_SAMPLER=sampler
                    )
                    self.assertEqual(run.status, 0)

    def test_soft_limit_of_open_files(self):
        """Raised while the host waits at its start, and given back."""
        if harness.open_user_clock():
            self.skipTest("the kernel refuses perf_event_open here")
        before = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (8, 4096))
        run = self.assert_same_outside([harness.HOSTS / "hoststate"], before=before, cwd="/")
        self.assertIn(b"limit 7: 8 4096\n", run.stdout)
        (dump,) = harness.info(run.dumps)
        self.assertEqual(dump["sampler"]["got"], "perf")

    def test_no_thread_can_be_made(self):
        if os.getuid() == 0:
            self.skipTest("the limit does not hold for root")
        before = limited(resource.RLIMIT_NPROC, 0)
        self.assert_same_outside([SPLIT, "1"], "line", before=before)

    def test_no_timer_can_be_queued(self):
        before = limited(resource.RLIMIT_SIGPENDING, 0)
        run = self.assert_same_outside([SPLIT, "2"], "dump", before=before, YARN_SAMPLER="timer")
        text = harness.yarnprof("info", run.dumps).stdout
        self.assertIn(b"raise the limit of pending signals", text)

    def test_file_size_in_the_middle(self):
        before = limited(resource.RLIMIT_FSIZE, MIB // 16)
        if harness.open_user_clock():
            self.skipTest("timers are too slow to fill the file")
        run = self.assert_same_outside([SPLIT, "20"], before=before, YARN_FREQUENCY="40000",
                                       YARN_RING=str(MIB // 2))
        (dump,) = harness.info(run.dumps)
        self.assertEqual(dump["process"]["exit"], "failed")
        self.assertIn("ulimit -f", " ".join(m["text"] for m in dump["messages"]))
        self.assertGreater(dump["trust"]["lost"], 0)

    def test_cpu_limit_ends_the_host_as_ever(self):
        before = lambda: resource.setrlimit(resource.RLIMIT_CPU, (1, 3))
        run = self.assert_same_outside([SPLIT, "400"], "samples", must_work=True, before=before)
        self.assertEqual(run.status, -signal.SIGXCPU)


class InMain(Case):
    """Limits that the host sets itself, when the profiler is long there."""

    LINE = rb"^yarn: the recording ended early: [^\n]*ulimit -f[^\n]*\n$"

    @contextlib.contextmanager
    def stderrs(self):
        """Name and descriptor of what becomes of standard error."""
        read, write = os.pipe()
        os.set_blocking(read, False)
        nobody, closed = os.pipe()
        os.close(nobody)
        unread, full = os.pipe2(os.O_NONBLOCK)
        with contextlib.suppress(BlockingIOError):
            while os.write(full, bytes(4096)):
                continue
        os.set_blocking(full, True)
        file = os.open(self.folder() / "stderr", os.O_RDWR | os.O_CREAT)
        null = os.open("/dev/null", os.O_RDONLY)
        fds = {"pipe": write, "closed": closed, "full": full, "file": file, "null": null}
        yield fds, read
        for fd in (*fds.values(), read, unread):
            os.close(fd)

    def run_limited(self, stderr, *words, **variables):
        folder = self.folder()
        environment = {"LD_PRELOAD": str(harness.PRELOAD), "YARN_OUTPUT": f"{folder}/"}
        environment = harness.clean_environment() | environment | variables
        argv = tuple(str(word) for word in (LIMITED, *words))
        done = subprocess.run(argv, env=environment, stdin=subprocess.DEVNULL, stderr=stderr,
                              stdout=subprocess.PIPE, timeout=harness.HANG_SECONDS, cwd=folder)
        self.assertEqual((done.returncode, done.stdout), self.plain(argv))
        dumps = harness.info(folder) if list(folder.iterdir()) else []
        for dump in dumps:
            harness.yarnprof("verify", folder)
        return folder, dumps

    @functools.cache
    def plain(self, argv):
        done = subprocess.run(argv, stdout=subprocess.PIPE, env=harness.clean_environment())
        return (done.returncode, done.stdout)

    def test_file_size(self):
        """Either the dump says why it ended, or one line, and no write raises a signal."""
        for sampler in self.ways():
            for size in (0, 100, 4096, 16384, 65536):
                with self.stderrs() as (fds, read):
                    # Where the dump says it, nothing is written to them.
                    for name in fds if size < 4096 else ("closed",):
                        with self.subTest(size=size, sampler=sampler, stderr=name):
                            self.check_file_size(size, sampler, fds[name])
                    if size < 4096:
                        self.assertRegex(os.read(read, 4096), self.LINE)
                    self.assertEqual(os.fstat(fds["file"]).st_size, 0)

    def check_file_size(self, size, sampler, stderr):
        folder, dumps = self.run_limited(stderr, "fsize", size, 8, YARN_SAMPLER=sampler,
                                         YARN_FREQUENCY="20000")
        self.assertEqual(len(dumps), size >= 4096)
        for dump in dumps:
            self.assertTrue(dump["process"]["exe"].endswith("/limits"))
            self.assertLessEqual(sum(path.stat().st_size for path in folder.iterdir()), size)
            if size == 4096 or dump["process"]["exit"] != "exit":
                self.assertEqual(dump["process"]["exit"], "failed")
                self.assertIn("ulimit -f", dump["messages"][-1]["text"])

    def test_log_file(self):
        """What is asked for is written by host threads, too."""
        with self.stderrs() as (fds, _):
            for name, fd in fds.items():
                with self.subTest(stderr=name):
                    self.run_limited(fd, "fsize", 100, 1, YARN_LOG_FILE="stderr", YARN_STRATGY="")
            fifo = self.folder() / "fifo"
            os.mkfifo(fifo)
            self.run_limited(fds["null"], "fsize", 100, 1, YARN_LOG_FILE=str(fifo), YARN_STRATGY="")

    def test_open_files(self):
        """The reader has numbers in reserve: one for the dump and one for files that it reads."""
        for sampler in self.ways():
            for limit in (1, 2, 3):
                with self.subTest(limit=limit, sampler=sampler):
                    # It has begun before main.
                    folder, (dump,) = self.run_limited(None, "nofile", limit, 10,
                                                       YARN_SAMPLER=sampler, YARN_EMPTY="keep")
                    trust = dump["trust"]
                    self.assertEqual(dump["process"]["exit"], "exit")
                    self.assertLess(trust["drain_cpu_ns"], trust["cpu_ns"] / 2)
                    if limit > 2:
                        # Some of libc's functions have no name.
                        self.assertLess(trust["frames_unknown"], 0.1 * trust["samples"])
                        self.assertIn("limited_work", harness.self_percent(folder))

    def test_pending_signals(self):
        """The reader is woken all the same: here it would not look for a minute."""
        if harness.open_user_clock():
            self.skipTest("the timer sampler's reader is woken without a signal")
        _, (dump,) = self.run_limited(None, "sigpending", 0, 10, YARN_INTERVAL="60s")
        self.assertEqual(dump["process"]["exit"], "exit")


if __name__ == "__main__":
    harness.main(needs_perf=False)
