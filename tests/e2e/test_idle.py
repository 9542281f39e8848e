# SPDX-License-Identifier: Apache-2.0
"""A program that sleeps is left alone: how often its reader is woken, by the kernel's own count, what wakes
it, and that what then comes is recorded as ever."""

import os
import re
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import control
import harness

SECONDS = 4
# Two a second, and the turns at which a sleep has doubled.
WAKES_MOST = 2 * SECONDS + 2
TIME = re.compile(r" (\d+\.\d+):")

MODES = {
    "default": {},
    "timer": {"YARN_SAMPLER": "timer"},
    "per-thread": {"YARN_STRATEGY": "per-thread"},
    "timed": {"YARN_READER": "timed"},
    "off-cpu": {"YARN_EVENTS": "cpu-clock,off-cpu"},
    "off-cpu, per-thread": {"YARN_EVENTS": "cpu-clock,off-cpu", "YARN_STRATEGY": "per-thread"},
    "off-cpu, timed": {"YARN_EVENTS": "cpu-clock,off-cpu", "YARN_READER": "timed"},
    "counters": {"YARN_COUNTERS": "task-clock,page-faults"},
    "stopped": {"YARN_START": "off", "YARN_CONTROL": "c%p.sock"},
    "control": {"YARN_CONTROL": "c%p.sock"},
    "control, timer": {"YARN_CONTROL": "c%p.sock", "YARN_SAMPLER": "timer"},
}


class Reader:
    """The kernel's numbers of a program's reader, which is its second task."""

    def __init__(self, pid):
        tasks = sorted(os.listdir(f"/proc/{pid}/task"), key=int)
        self.folder = f"/proc/{pid}/task/{tasks[1]}/"

    def read(self, name):
        with open(self.folder + name, encoding="ascii") as file:
            return file.read()

    def wakes(self):
        return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", self.read("status"), re.M)[1])

    def cpu_ns(self):
        return int(self.read("schedstat").split()[0])


class Case(control.Case):
    def setUp(self):
        super().setUp()
        self.lock = threading.Lock()

    def each_at_once(self, modes, check):
        """They do little but sleep, so they sleep beside each other."""
        with ThreadPoolExecutor(len(modes)) as pool:
            for mode, checked in [(mode, pool.submit(check, mode)) for mode in modes]:
                with self.subTest(mode=mode):
                    checked.result()

    def start_paused(self, nr_threads, **variables):
        with self.lock:
            folder = self.folder()
        begun = time.monotonic()
        process = harness.start([harness.HOSTS / "paused", nr_threads], folder,
                                stdin=harness.subprocess.PIPE, **variables)
        self.addCleanup(process.poll)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        self.addCleanup(process.stdin.close)
        process.stdout.readline()
        return process, begun, folder

    def say(self, process, line):
        process.stdin.write(line.encode() + b"\n")
        process.stdin.flush()

    def ask(self, process, line):
        self.say(process, line)
        self.assertEqual(process.stdout.readline(), b"done\n")

    def end(self, process, begun, folder):
        self.ask(process, "end")
        run = harness.wait(process, begun, folder)
        self.assertEqual((run.status, run.stderr), (0, b""))
        return run

    def wait_for_rest(self, *readers):
        """However long a busy machine's other work delays it."""
        def rest():
            before = [reader.wakes() for reader in readers]
            time.sleep(2)  # between two that attach to some of many threads there may be one
            return all(reader.wakes() - wakes <= 4 for reader, wakes in zip(readers, before))
        control.wait_until(rest)


class Wakes(Case):
    def count(self, runs):
        """Of each (threads, variables) at once in SECONDS: wakes, and CPU time in ns."""
        started = [self.start_paused(nr_threads, **variables) for nr_threads, variables in runs]
        for process, _, _ in started:
            self.ask(process, "work 50")
        readers = [Reader(process.pid) for process, _, _ in started]
        self.wait_for_rest(*readers)
        before = [(reader.wakes(), reader.cpu_ns()) for reader in readers]
        time.sleep(SECONDS)
        after = [(reader.wakes(), reader.cpu_ns()) for reader in readers]
        for one in started:
            self.end(*one)
        return [(b[0] - a[0], b[1] - a[1]) for a, b in zip(before, after)]

    def test_few(self):
        modes = [(mode, nr_threads) for mode in MODES for nr_threads in (0, 4)]
        counts = self.count([(nr_threads, MODES[mode]) for mode, nr_threads in modes])
        for mode, (wakes, _) in zip(modes, counts):
            with self.subTest(mode=mode):
                self.assertLessEqual(wakes, WAKES_MOST)

    def test_many_threads(self):
        modes = ("default", "timer", "per-thread", "timed")
        for mode, (wakes, cpu_ns) in zip(modes, self.count([(1000, MODES[mode]) for mode in modes])):
            with self.subTest(mode=mode):
                self.assertLessEqual(wakes, WAKES_MOST)
                print(f"{mode}: {cpu_ns / SECONDS / 1e6:.2f} ms a second")


class Work(Case):
    """What ends the rest."""

    def wait_for_turn(self, folder):
        """After which the next is seconds away: turns are at doubling distances, and each writes."""
        (dump,) = folder.glob("*.dump")
        turns = [dump.stat().st_mtime]
        def is_rare():
            turns.append(dump.stat().st_mtime)
            return turns[-1] - turns[-2] > 3
        control.wait_until(is_rare)

    def has_later_sample(self, folder, since):
        script = harness.yarnprof("script", folder, check=False).stdout.decode(errors="replace")
        return any(float(at) > since for at in TIME.findall(script))

    def test_samples_come_after_rest(self):
        def check(mode):
            process, begun, folder = self.start_paused(1, **MODES[mode])
            self.ask(process, "work 50")
            self.wait_for_rest(Reader(process.pid))
            self.wait_for_turn(folder)
            since = time.monotonic()
            self.say(process, "work 100000")
            control.let_work(process.pid, .5)
            self.assertTrue(self.has_later_sample(folder, since))
            process.send_signal(signal.SIGKILL)
            run = harness.wait(process, begun, folder)
            self.assertEqual(run.status, -signal.SIGKILL)

        self.each_at_once(("default", "timer", "per-thread", "timed", "control, timer"), check)

    def test_threads_made_after_rest_have_samples(self):
        """The timer sampler looks for them only then."""
        def check(mode):
            process, begun, folder = self.start_paused(0, **MODES[mode])
            self.ask(process, "work 50")
            self.wait_for_rest(Reader(process.pid))
            self.ask(process, "thread 300")
            run = self.end(process, begun, folder)
            threads = self.info_of(run.dumps)["threads"]
            tids = {sample.tid for sample in harness.samples(run.dumps)}
            self.assertEqual(len(tids), 2, threads)

        self.each_at_once(("default", "timer", "per-thread"), check)

    def test_waits_that_follow_without_work_are_seen(self):
        """They begin and end between two of the kernel's ticks."""
        def check(mode):
            process, begun, folder = self.start_paused(4, **MODES[mode])
            self.ask(process, "work 50")
            reader = Reader(process.pid)
            for _ in range(2):
                self.wait_for_rest(reader)
                self.ask(process, "sleep 5")
            run = self.end(process, begun, folder)
            rows = harness.report(run.dumps, "--event=off-cpu")["rows"]
            slept = sum(row["total"] for row in rows if row["function"] == "sleep_often")
            self.assertGreater(slept, 1_350_000_000)

        self.each_at_once(("off-cpu", "off-cpu, per-thread", "off-cpu, timed"), check)

    def test_commands_wake(self):
        def check(mode):
            process, begun, folder = self.start_paused(0, **MODES[mode])
            self.ask(process, "work 50")
            path = self.socket_of(folder)
            self.wait_for_rest(Reader(process.pid))
            control.ctl(path, "stop")
            self.assertEqual(control.status(path)["state"], "stopped")
            self.wait_for_rest(Reader(process.pid))
            control.ctl(path, "start")
            self.assertEqual(control.status(path)["state"], "recording")
            self.end(process, begun, folder)

        self.each_at_once(("control", "control, timer"), check)

    def test_times_of_the_schedule_are_kept(self):
        process, begun, folder = self.start_paused(0, YARN_DELAY="2s", YARN_DURATION="3s")
        time.sleep(3)
        self.ask(process, "work 50")
        time.sleep(4)
        self.ask(process, "work 50")
        run = self.end(process, begun, folder)
        trust = harness.trust(run.dumps)
        self.assertLess(trust["cpu_ns"], 90_000_000)
        self.assertGreater(trust["samples"], 20)


class Ends(Case):
    """The last thread leaves without the C library while the reader rests."""

    def leave(self, line, status, **variables):
        process, begun, folder = self.start_paused(0, **variables)
        self.ask(process, "work 50")
        if line == "hand":
            self.ask(process, line)
        self.wait_for_rest(Reader(process.pid))
        self.say(process, "raw")
        run = harness.wait(process, begun, folder)
        self.assertEqual(run.status, status)
        self.assertTrue(harness.trust(run.dumps)["clean_end"])

    def test_first_thread(self):
        self.each_at_once(MODES, lambda mode: self.leave("raw", 7, **{**MODES[mode], "YARN_EMPTY": "keep"}))

    def test_another(self):
        """Its status is the first thread's: preload/LIMITS.md."""
        modes = ("default", "timer", "per-thread", "timed")
        self.each_at_once(modes, lambda mode: self.leave("hand", 7, **MODES[mode]))


if __name__ == "__main__":
    harness.main()
