# SPDX-License-Identifier: Apache-2.0
"""Narrow surroundings: either there is a profile, or the dump or one line says why there is none,
and the host never notices."""

import contextlib
import errno
import functools
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import time

import harness

MIB = 1 << 20
SPLIT = harness.HOSTS / "split"
CHILDREN = harness.HOSTS / "children"
LIMITED = harness.HOSTS / "limits"
IMAGES = harness.HOSTS / "images"
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


def limited(which, value):
    return lambda: resource.setrlimit(which, (value, value))


class Case(harness.Case):
    def assert_same_outside(self, argv, outcome="samples", **options):
        variables = {name: options.pop(name) for name in list(options) if name.startswith("YARN_")}
        plain = self.run_program(argv, preload=False, **options)
        profiled = self.run_program(argv, **options, **variables)
        self.assertEqual((plain.status, plain.stdout), (profiled.status, profiled.stdout))
        if outcome == "line":
            rest = profiled.stderr.removeprefix(plain.stderr)
            self.assertRegex(rest, rb"^yarn: nothing is recorded: [^\n]*\n$")
            self.assertEqual(self.dumps_of(profiled), [])
        else:
            self.assertEqual(plain.stderr, profiled.stderr)
            harness.yarnprof("verify", profiled.dumps)
        if outcome == "samples":
            self.assertGreater(harness.trust(profiled.dumps)["samples"], 0)
        return profiled

    def ways(self):
        """The samplers that there are."""
        return ("timer",) if harness.open_user_clock() else ("auto", "timer")


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

    def test_eight_processes_of_one_user_without_locked_memory(self):
        before = limited(resource.RLIMIT_MEMLOCK, 0)
        folder, begun = self.folder(), time.monotonic()
        started = [harness.start([SPLIT, "3"], folder, before=before) for _ in range(8)]
        for process in started:
            run = harness.wait(process, begun, folder)
            self.assertEqual((run.status, run.stderr), (0, b""))
        dumps = harness.info(folder)
        self.assertEqual(len(dumps), 8)
        for dump in dumps:
            self.assertGreater(dump["trust"]["samples"], 0)
            if dump["sampler"]["got"] == "timer":
                self.assertIn("perf was refused", dump["sampler"]["reason"])
        print("\nsamplers of eight:", sorted(dump["sampler"]["got"] for dump in dumps))

    def test_locked_memory_is_short(self):
        """Rather fewer samples than lost ones, and said; each weighs as much more."""
        if os.getuid() == 0 or harness.open_user_clock():
            self.skipTest("needs rings, and a user whose locked memory is limited")
        run = self.assert_same_outside([SPLIT, "3"], before=limited(resource.RLIMIT_MEMLOCK, 0))
        (dump,) = harness.info(run.dumps)
        trust, sampler = dump["trust"], dump["sampler"]
        if sampler["got"] == "timer":
            self.skipTest("others of this user have all of it")
        self.assertRegex(sampler["reason"], r"limit of locked memory .* samples a second instead of 999")
        self.assertEqual(trust["lost"], 0)
        self.assertLess(trust["samples"], 0.8 * trust["cpu_ns"] * harness.FREQUENCY / 1e9)
        self.assertLess(trust["unsampled_ns"], 0.3 * trust["cpu_ns"])

    def test_smallest_ring(self):
        """Of one record, as the shortest way to leave locked memory to the host."""
        if harness.open_user_clock():
            self.skipTest("needs rings")
        run = self.assert_same_outside([SPLIT, "2"], YARN_RING="4096", YARN_STRATEGY="per-core")
        (dump,) = harness.info(run.dumps)
        self.assertEqual(dump["sampler"]["ring_got_bytes"], 65536)

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
        run = self.assert_same_outside([SPLIT, "400"], "samples", before=before)
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

    def test_locked_memory(self):
        """A host that locks all of its memory may have as much as the usual limit: what we have
        before its main is small, and what comes later is not counted against it."""
        before = limited(resource.RLIMIT_MEMLOCK, 8 * MIB)
        run = self.assert_same_outside([LIMITED, "mlockall", "30"], before=before,
                                       YARN_SAMPLER="timer")
        self.assertIn("limited_work", harness.self_percent(run.dumps))

    def test_memory(self):
        """Beyond the library itself and a timer's ring: some 4 MiB, and what is looked at of the
        host's files."""
        folder, begun = self.folder(), time.monotonic()
        process = harness.start([LIMITED, "nofile", "100", "60"], folder, YARN_SAMPLER="timer")
        most = now = 0
        while now or not most:  # a process that has ended has no mappings
            now = self.mapped(process.pid)
            most = max(most, now)
            time.sleep(0.01)
        run = harness.wait(process, begun, folder)
        (dump,) = harness.info(run.dumps)
        most -= dump["sampler"]["ring_got_bytes"]
        print(f"\nmapped: {most >> 10} KiB")
        self.assertGreater(most, 0)
        self.assertLess(most, 6 * MIB)

    @staticmethod
    def mapped(pid):
        """Bytes of the memory that lies where core/base/place.c has it."""
        try:
            lines = pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
        except OSError:
            return 0
        maps = [([int(word, 16) for word in line.split()[0].split("-")], line) for line in lines]
        own = max((end for (_, end), line in maps if harness.PRELOAD.name in line), default=0)
        lowest, width = own // 16 * 11 - MIB, own // 64
        return sum(end - start for (start, end), line in maps
                   if lowest <= start < lowest + width and len(line.split()) == 5)

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
                    folder, (dump,) = self.run_limited(None, "nofile", limit, 10,
                                                       YARN_SAMPLER=sampler)
                    trust = dump["trust"]
                    self.assertEqual(dump["process"]["exit"], "exit")
                    self.assertLess(trust["drain_cpu_ns"], trust["cpu_ns"] / 2)
                    if limit > 2:
                        self.assertEqual(trust["frames_unknown"], 0)
                        self.assertIn("limited_work", harness.self_percent(folder))


class OpenFiles(Case):
    """Hard limits of open files that are too small for all events of all cores."""

    EVENTS = ("cpu-clock", "page-faults", "minor-faults")
    # Of the reader's own table: 0 to 2; to be woken, the dump, and files that it reads.
    TAKEN, SPARE = 3, 4

    def setUp(self):
        super().setUp()
        if harness.open_user_clock():
            self.skipTest("the kernel refuses perf_event_open here")

    def nr_events(self, limit):
        """As many as fit; 0: not one, with a descriptor for each core and its leader."""
        cpus = os.sysconf("SC_NPROCESSORS_CONF")
        return max(0, min(3, (limit - self.TAKEN - self.SPARE - cpus) // cpus))

    def run_at(self, limit, argv, **variables):
        return self.assert_same_outside(
            argv, before=limited(resource.RLIMIT_NOFILE, limit), **variables
        )

    def test_as_many_events_as_fit(self):
        for limit, strategy in ((5, "per-core"), (8, "per-thread"), (14, "per-core"),
                                (32, "per-core")):
            with self.subTest(limit=limit, strategy=strategy):
                run = self.run_at(limit, [SPLIT, "3"], YARN_EVENTS=",".join(self.EVENTS),
                                  YARN_STRATEGY=strategy)
                self.check_events(run, limit, strategy)

    def check_events(self, run, limit, strategy):
        (dump,) = harness.info(run.dumps)
        self.assertEqual(dump["sampler"]["got"], "perf")
        nr_taken = sum(not event["errno"] for event in dump["events"])
        nr_fitting = self.nr_events(limit) if strategy == "per-core" else 0
        self.assertEqual(nr_taken, max(1, nr_fitting))
        is_short = nr_taken == 1 and "without descriptors" in dump["sampler"]["reason"]
        self.assertEqual(is_short, dump["sampler"]["reader"] == "timed")
        for event in dump["events"][nr_taken:]:
            self.assertEqual(event["errno"], errno.EMFILE)
            self.assertIn("raise the limit of open files", event["reason"])
        shares = harness.self_percent(run.dumps, "--event=cpu-clock")
        self.assertAlmostEqual(shares.get("hot_a", 0), 60, delta=10)
        trust = dump["trust"]
        self.assert_threads_are_sampled(dump, 0.1)
        self.assert_nothing_is_lost(run, trust)
        self.assertEqual(trust["frames_unknown"], 0)

    def test_event_that_is_no_clock(self):
        run = self.run_at(8, [SPLIT, "1"], YARN_EVENTS="page-faults/period=1/")
        (dump,) = harness.info(run.dumps)
        self.assertIn("without descriptors", dump["sampler"]["reason"])
        self.assertNotIn(b"counted", harness.yarnprof("info", run.dumps).stdout)

    def test_threads_and_children(self):
        for argv in (["threads8", "5"], ["children", "tree"], ["children", "unshare"]):
            with self.subTest(host=argv):
                run = self.run_at(8, [harness.HOSTS / argv[0], *argv[1:]])
                for dump in harness.info(run.dumps):
                    self.assertIn("without descriptors", dump["sampler"]["reason"])
                if argv[0] == "threads8":
                    shares = harness.self_percent(run.dumps)
                    for i in range(8):
                        found = shares[f"void (anonymous namespace)::worker<{i}>()"]
                        self.assertAlmostEqual(found, 12.5, delta=4)

    def test_no_descriptor_for_a_control_socket(self):
        """Nor for its client: nobody waits in vain, and the reader does not turn on the spot."""
        for limit, has_socket in ((6, False), (7, True)):
            with self.subTest(limit=limit):
                folder, begun = self.folder(), time.monotonic()
                process = harness.start([SPLIT, "8"], folder, YARN_CONTROL="c.sock",
                                        before=limited(resource.RLIMIT_NOFILE, limit))
                clients = [socket.socket(socket.AF_UNIX) for _ in range(8)]
                while process.poll() is None and has_socket and not (folder / "c.sock").exists():
                    time.sleep(0.01)
                for client in clients if has_socket else ():
                    client.connect(str(folder / "c.sock"))
                run = harness.wait(process, begun, folder)
                for client in clients:
                    client.close()
                (dump,) = harness.info(run.dumps)
                told = " ".join(message["text"] for message in dump["messages"])
                self.assertEqual("the socket could not be made" in told, not has_socket, told)
                self.assertLess(dump["trust"]["drain_cpu_ns"], 0.2 * dump["trust"]["cpu_ns"])

    def test_stop_and_start(self):
        """Without a descriptor an event is switched by the thread that opened it."""
        run = self.run_at(8, [harness.HOSTS / "parts"])
        self.assertGreater(harness.self_percent(run.dumps).get("wanted", 0), 95)


class Places(Case):
    def setUp(self):
        super().setUp()
        os.chmod(self.root, 0o755)

    def needs_root(self, *programs):
        if os.getuid() != 0:
            self.skipTest("needs root")
        for program in programs:
            if not shutil.which(program):
                self.skipTest(f"no {program} on this machine")

    def in_namespace(self, *options, script="exec \"$@\""):
        self.needs_root("unshare")
        argv = ["unshare", *options, "/bin/sh", "-c", script, "sh", SPLIT, "2"]
        return argv

    def test_folder_that_cannot_be_written_to(self):
        folder = self.folder()
        folder.chmod(0o555)
        if os.access(folder, os.W_OK):
            self.skipTest("root can write everywhere")
        self.assert_same_outside([SPLIT, "1"], "line", YARN_OUTPUT=f"{folder}/")

    def test_disk(self):
        self.needs_root("mount")
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
        told = b""
        if dumps:
            harness.yarnprof("verify", disk)
            told = harness.yarnprof("info", disk).stdout
        if b"no space is left" in told:
            self.assertEqual(run.stderr, b"")
        else:
            self.assertRegex(run.stderr, rb"^yarn: (the recording ended early|nothing is recorded): .*\n$")

    def test_no_proc(self):
        argv = self.in_namespace("--mount", script='umount -l /proc; exec "$@"')
        plain = self.run_program(argv, preload=False)
        run = self.run_program(argv)
        self.assertEqual((plain.status, plain.stdout), (run.status, run.stdout))
        self.assertIn(b"yarn: nothing is recorded: /proc/self could not be opened", run.stderr)

    def test_root_without_devices(self):
        self.needs_root("mount", "chroot")
        script = 'mount --bind / "$JAIL" && mount -t proc none "$JAIL/proc" && ' \
                 'mount -t tmpfs none "$JAIL/dev" && exec chroot "$JAIL" "$@"'
        argv = self.in_namespace("--mount", script=script)
        run = self.assert_same_outside(argv, JAIL=str(self.folder()))
        dump = max(harness.info(run.dumps), key=lambda dump: dump["trust"]["samples"])
        self.assertIn("hot_a", harness.self_percent(run.dumps))
        self.assertEqual((dump["sampler"]["got"], dump["messages"]), ("perf", []))

    def test_mounts_and_process_numbers_of_its_own(self):
        for options in (("--mount",), ("--pid", "--fork"), ("--pid", "--fork", "--mount-proc")):
            for sampler in self.ways():
                with self.subTest(options=options, sampler=sampler):
                    argv = self.in_namespace(*options)
                    run = self.assert_same_outside(argv, YARN_SAMPLER=sampler)
                    self.assertIn("hot_a", harness.self_percent(run.dumps))

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


class Timer(Case):
    """Moments in the host's life, with the sampler that handles a signal."""

    def test_unshare_begins_another_recording(self):
        run = self.assert_same_outside([CHILDREN, "unshare"], YARN_SAMPLER="timer")
        first, second = sorted(harness.info(run.dumps), key=lambda d: d["process"]["start_ns"])
        self.assertEqual(first["process"]["exit"], "stopped")
        self.assertEqual(second["process"]["predecessor"]["start_ns"], first["process"]["start_ns"])

    def test_rights_given_up_by_every_task(self):
        if os.getuid() != 0:
            self.skipTest("needs root, to have rights that can be given up")
        self.assert_same_outside([harness.HOSTS / "setids"], YARN_SAMPLER="timer")

    def test_images_and_children(self):
        for argv in ([IMAGES, "execv", 2], [CHILDREN, "tree"], [CHILDREN, "programs"]):
            with self.subTest(argv=argv[1:]):
                self.assert_same_outside(argv, YARN_SAMPLER="timer")

    def test_server_that_gives_up_root_and_folder(self):
        if os.getuid() != 0:
            self.skipTest("needs root")
        jail = self.folder()
        os.chmod(self.root, 0o755)
        run = self.run_program([CHILDREN, "chroot", jail], YARN_SAMPLER="timer")
        self.assertEqual((run.status, run.stdout.splitlines()[-1]), (0, b"status 0"))
        self.assertIn("child_work", harness.self_percent(run.dumps))


if __name__ == "__main__":
    harness.main(needs_perf=False)
