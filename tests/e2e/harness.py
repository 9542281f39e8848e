# SPDX-License-Identifier: Apache-2.0
"""Runs programs with and without the preload and reads the dumps back through yarnprof.

Knows the artefacts' names and the contract of the environment variables; knows nothing about
how the profiler works. YARN_E2E_BUILD names the build folder where it is not build/."""

import ctypes
import dataclasses
import json
import math
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("YARN_E2E_BUILD", ROOT / "build"))
HOSTS = BUILD / "tests" / "hosts"
PRELOAD = BUILD / "libyarn_preload.so"
YARNPROF = BUILD / "yarnprof"
SKIPPED = 77
KERNEL = "[kernel.kallsyms]"
HANG_SECONDS = 120
FREQUENCY = 999
# A ring is half empty when its reader is woken, which at FREQUENCY lasts longer than this.
READER_MAY_WAIT = 0.005
# When the first sample comes if the reader has its turn at once: the deferred start of 5 ms, and ticks.
SOON = 0.02


@dataclasses.dataclass
class Run:
    """What one run of a program gave: its outside, its cost, the longest that the reader waited for
    a core (infinite where it was not seen) and the folder of its dumps."""

    status: int
    stdout: bytes
    stderr: bytes
    user_seconds: float
    system_seconds: float
    wall_seconds: float
    page_faults: int
    switches: int
    reader_waited: float
    dumps: pathlib.Path

    def outside(self):
        return (self.status, self.stdout, self.stderr)


def clean_environment():
    """The same for each run, so that hosts which print it print the same."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {"LANG": "C.UTF-8", "TMPDIR": tempfile.gettempdir(), **kept}


def start(argv, folder, preload=True, cwd=None, stdin=None, before=None, **variables):
    """`before`: what the child does first, such as setting limits."""
    environment = clean_environment()
    if preload:
        environment["LD_PRELOAD"] = str(PRELOAD)
        environment["YARN_OUTPUT"] = str(folder) + "/"
    environment.update(variables)
    return subprocess.Popen(
        [str(word) for word in argv],
        env=environment,
        cwd=cwd or folder,
        stdin=stdin or subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=before,
    )


class Turns(threading.Thread):
    """Watches, by the kernel's schedstat, how long a program's reader waits for a core: with other work
    on the machine that is what it cannot help. The reader is the first thread beside the main one."""

    SECONDS = 0.01

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.tasks = pathlib.Path(f"/proc/{pid}/task")
        self.main = str(pid)
        self.reader = None
        self.before = 0
        self.stolen = self.stolen_seconds()
        self.longest = math.inf
        self.is_over = threading.Event()

    def run(self):
        while not self.is_over.wait(self.SECONDS):
            try:
                self.look()
            except (OSError, IndexError):  # it has gone, or made way for another image's
                self.reader = None

    def look(self):
        if not self.reader:
            self.reader = min((t for t in os.listdir(self.tasks) if t != self.main), key=int,
                              default=None)
            self.before = 0
        if self.reader:
            waited = int((self.tasks / self.reader / "schedstat").read_text().split()[1]) / 1e9
            stolen = self.stolen_seconds()
            now = waited - self.before + stolen - self.stolen
            self.longest = now if math.isinf(self.longest) else max(self.longest, now)
            self.before, self.stolen = waited, stolen

    @staticmethod
    def stolen_seconds():
        """From a virtual machine, by those beside it."""
        with open("/proc/stat", encoding="ascii") as file:
            return int(file.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


def wait(process, begun, folder):
    """Collects output while waiting, and kills what hangs; wait4 counts the children too."""
    outputs = {}

    def drain(name, stream):
        outputs[name] = stream.read()

    readers = [
        threading.Thread(target=drain, args=(name, stream))
        for name, stream in (("stdout", process.stdout), ("stderr", process.stderr))
    ]
    for reader in readers:
        reader.start()
    killer = threading.Timer(HANG_SECONDS, process.kill)
    killer.start()
    turns = Turns(process.pid)
    turns.start()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - begun
    killer.cancel()
    turns.is_over.set()
    turns.join()
    for reader in readers:
        reader.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    process.stderr.close()
    if wall >= HANG_SECONDS:
        raise AssertionError(f"{process.args} hung for {HANG_SECONDS} s")
    return Run(
        status=process.returncode,
        stdout=outputs["stdout"],
        stderr=outputs["stderr"],
        user_seconds=usage.ru_utime,
        system_seconds=usage.ru_stime,
        wall_seconds=wall,
        page_faults=usage.ru_minflt,
        switches=usage.ru_nvcsw,
        reader_waited=turns.longest,
        dumps=folder,
    )


def yarnprof(*arguments, check=True):
    done = subprocess.run(
        [str(YARNPROF), *map(str, arguments)], capture_output=True, env=clean_environment()
    )
    if check and done.returncode != 0:
        raise AssertionError(
            f"yarnprof {' '.join(map(str, arguments))} ended with {done.returncode}: "
            f"{done.stderr.decode(errors='replace')}{done.stdout.decode(errors='replace')[-1000:]}"
        )
    return done


def info(folder):
    return json.loads(yarnprof("info", "--format=json", folder).stdout)["dumps"]


def trust(folder):
    """The trust report, summed over the dumps of a folder."""
    total = {}
    for dump in info(folder):
        for key, value in dump["trust"].items():
            total[key] = total.get(key, 0) + value
    return total


def report(folder, *arguments):
    return json.loads(yarnprof("report", "--format=json", *arguments, folder).stdout)


def self_percent(folder, *arguments):
    """Share of each function in user mode, where root also samples the kernel: how much of it comes
    between depends on the machine. Functions of one name in several modules are one."""
    shares, in_kernel = {}, 0
    for row in report(folder, *arguments)["rows"]:
        if row["module"] == KERNEL:
            in_kernel += row["self_percent"]
        else:
            shares[row["function"]] = shares.get(row["function"], 0) + row["self_percent"]
    scale = 100 / (100 - in_kernel) if in_kernel < 100 else 0
    return {function: share * scale for function, share in shares.items()}


@dataclasses.dataclass
class Frame:
    """One line of a stack: the address in the module's file, and what is said to stand there."""

    address: int
    name: str
    offset: int
    module: str


@dataclasses.dataclass
class Sample:
    comm: str
    pid: int
    tid: int
    time_ns: int  # of whole microseconds
    frames: list

    @property
    def is_truncated(self):
        return bool(self.frames) and self.frames[-1].name == "[truncated]"


HEAD = re.compile(r"(.*?)\s+(-?\d+)/(-?\d+)\s+\[\d+\]\s+(\d+)\.(\d{6}):")
WEIGHT = re.compile(r"\] +(\d+\.\d+): +(\d+) ")
FRAME = re.compile(r"\s+([0-9a-f]+) (.*) \((.*?)\)$")


def samples(folder):
    """Every sample of `script`, its frames innermost first."""
    sample = None
    text = yarnprof("script", folder).stdout.decode(errors="replace")
    for line in [*text.splitlines(), ""]:
        if not line.strip():
            if sample:
                yield sample
            sample = None
        elif line[0] in " \t":
            frame = FRAME.match(line)
            if frame and sample:
                name, _, offset = frame[2].rpartition("+0x")
                offset = int(offset, 16) if name else 0
                name = name or frame[2]
                sample.frames.append(Frame(int(frame[1], 16), name, offset, frame[3]))
        else:
            head = HEAD.match(line)
            sample = None
            if head:
                time_ns = int(head[4] + head[5]) * 1000
                sample = Sample(head[1], int(head[2]), int(head[3]), time_ns, [])


def stacks(folder):
    """The frames of every sample, innermost first, as (function, module)."""
    for sample in samples(folder):
        yield [(frame.name, frame.module) for frame in sample.frames]


def excused_ns(dump):
    """How much CPU time a machine with other work keeps the reader from: until its first turn the host
    runs on its own, and of the samples that are lost none weighs more than the heaviest one."""
    script = yarnprof("script", dump["path"]).stdout.decode(errors="replace")
    samples = [(float(time), int(weight)) for time, weight in WEIGHT.findall(script)]
    if not samples:
        return 0
    excused = dump["trust"]["lost"] * max(weight for _, weight in samples)
    first = min(time for time, _ in samples) - dump["process"]["start_ns"] / 1e9
    if first > SOON:
        excused += first * 1e9 * (os.cpu_count() if len(dump["threads"]) > 1 else 1)
    return excused


class Case(unittest.TestCase):
    """A test with a folder of its own for each run."""

    shown = {}

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="yarn-e2e."))
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.nr_runs = 0

    def folder(self):
        self.nr_runs += 1
        folder = self.root / f"run{self.nr_runs}"
        folder.mkdir()
        return folder

    def run_program(self, argv, preload=True, **options):
        folder = self.folder()
        begun = time.monotonic()
        return wait(start(argv, folder, preload, **options), begun, folder)

    def outside_without(self, argv):
        """What a program shows without the preload: the same each time, so it is run once."""
        key = tuple(map(str, argv))
        if key not in self.shown:
            self.shown[key] = self.run_plainly(argv).outside()
        return self.shown[key]

    def run_plainly(self, argv, **options):
        """Without the preload: what hosts show is the same, but they do not work for it (tests/hosts/work.h)."""
        return self.run_program(argv, preload=False, HOST_WORK="none", **options)

    def dumps_of(self, run):
        return sorted(run.dumps.glob("*.dump*"))

    def assert_nothing_is_lost(self, run, trust):
        """By a reader that had its turns. One that had to wait for a core reports what that cost,
        which must be all that is missing: assert_time_is_reported."""
        if run.reader_waited <= READER_MAY_WAIT:
            self.assertEqual(trust["lost"], 0)
        elif trust["lost"]:
            print(f"\nlost {trust['lost']}: the reader waited {run.reader_waited:.3f} s for a core")

    def assert_time_is_reported(self, trust, most_unsampled):
        """Of one event at FREQUENCY: what is in no sample was lost and is reported as that."""
        lost_ns = trust["lost"] * 1e9 / FREQUENCY
        self.assertLessEqual(trust["unsampled_ns"] - lost_ns, most_unsampled * trust["cpu_ns"])

    def assert_threads_are_sampled(self, dump, most_unsampled):
        """Where the process's own clock gives the CPU time: all of it but so much, and what a machine
        with other work keeps the reader from."""
        trust = dump["trust"]
        self.assertLessEqual(trust["unsampled_ns"], most_unsampled * trust["cpu_ns"] + excused_ns(dump))


def open_user_clock():
    """0 where this process may sample its own user mode by perf, else the errno."""
    attr = bytearray(128)
    struct.pack_into("<IIQQQ", attr, 0, 1, len(attr), 0, 1000000, 1)
    struct.pack_into("<Q", attr, 40, 1 << 0 | 1 << 5 | 1 << 6)
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(298, bytes(attr), 0, -1, -1, 8)
    if fd < 0:
        return ctypes.get_errno()
    os.close(fd)
    return 0


def has_breakpoints():
    """Whether the processor's breakpoints count: some virtual machines open them and never report a hit."""
    written = ctypes.c_int64(0)
    attr = bytearray(128)
    struct.pack_into("<IIQQQ", attr, 0, 5, len(attr), 0, 1, 0)
    struct.pack_into("<Q", attr, 40, 1 << 5 | 1 << 6)  # without the kernel and the hypervisor
    struct.pack_into("<IQQ", attr, 52, 2, ctypes.addressof(written), 8)  # at each write
    fd = ctypes.CDLL(None).syscall(298, bytes(attr), 0, -1, -1, 8)
    if fd < 0:
        return False
    ctypes.memset(ctypes.addressof(written), 1, 8)
    (count,) = struct.unpack("<Q", os.read(fd, 8))
    os.close(fd)
    return count > 0


needs_breakpoints = unittest.skipUnless(has_breakpoints(), "the processor's breakpoints report no hit here")


def also_as_root(test):
    """Marks a class or a method that the kernel answers otherwise where it is root that asks: it runs once more,
    in the file's second entry of ctest, which runs nothing but what is marked."""
    test.is_for_root = True
    return test


def as_root(test):
    """Marks one that needs rights: in the second entry alone."""
    return also_as_root(unittest.skipUnless(os.getuid() == 0, "needs root")(test))


class ForRoot(unittest.TestLoader):
    def getTestCaseNames(self, case):
        return [name for name in super().getTestCaseNames(case)
                if hasattr(case, "is_for_root") or hasattr(getattr(case, name), "is_for_root")]


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def main(needs_perf=True):
    error = open_user_clock()
    if error and needs_perf:
        skip(f"the kernel refuses perf_event_open here: {os.strerror(error)}")
    if not PRELOAD.exists() or not YARNPROF.exists():
        print(f"{BUILD} lacks {PRELOAD.name} or {YARNPROF.name}")
        sys.exit(1)
    print(f"as uid {os.getuid()}, on {os.cpu_count()} cpus")
    run_tests()


def run_tests():
    loader = ForRoot() if "YARN_E2E_ROOT" in os.environ else unittest.defaultTestLoader
    program = unittest.main(verbosity=2, exit=False, testLoader=loader)
    result = program.result
    if not result.wasSuccessful():
        sys.exit(1)
    if result.testsRun and len(result.skipped) == result.testsRun:
        skip(result.skipped[0][1])
