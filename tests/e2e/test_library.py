# SPDX-License-Identifier: Apache-2.0
"""libyarn as a program meets it: installed into a prefix, found by pkg-config and CMake, compiled in C and
in C++ by gcc and by clang, linked both ways, run. Of its symbols none but the public ones show."""

import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import harness

sys.path.insert(0, str(harness.ROOT / "tests" / "golden"))
import perf_data
import read_dump

sys.path.insert(0, str(harness.ROOT / "tests" / "support"))
import made_trace

EXAMPLES = harness.ROOT / "tests" / "examples"
MAP = harness.ROOT / "lib" / "exports.map"
COMPILERS = [("gcc", "c17"), ("clang", "c17"), ("g++", "c++17"), ("clang++", "c++17")]
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
EXAMPLES_PRINT = {
    "region_counters": r"(?m)^task-clock: [1-9]\d* ns$",
    "own_ring": r"^1\d\d faults, 0 refused$",
    "own_threads": r"(?s)^2 threads, .*\n(\d+) samples, \1 with callers\n$",
    "late_attach": r"(?s)^9 threads attached, 0 refused, .*\n[1-9]\d\d+ faults seen\n$",
}
GOLDEN = harness.ROOT / "tests" / "golden"
BUSY = "sum(len(str(i * i)) for i in range(400_000))"
# Of what this machine may lack: written by hand after <linux/perf_event.h>: what is set of the attr (sample_type,
# read_format, branch_sample_type, type, config), the words of a sample, and what is to be found in it.
WRITTEN = {
    "lbr": ((0x907, 0, 0x20008, 4, 0xc0),
            (0x401136, 0x65_00000064, 1_000_000, 1_000_003, 2, 7, 0x401130, 0x401000, 0x1_0021, 0x401010, 0x401120, 2),
            dict(ip=0x401136, pid=100, tid=101, time=1_000_000, period=1_000_003, branch_hw_index=7,
                 branches=(0x401130, 0x401000, 0x1_0021, 0x401010, 0x401120, 2))),
    "lbr without branches": ((0x807, 0, 0x20008, 4, 0xc0), (0x401136, 0x65_00000064, 1_000_000, 0),
                             dict(ip=0x401136, branch_hw_index=2**64 - 1, branches=())),
    "pebs": ((0x109800f, 0, 0, 4, 0x1cd),
             (9, 0xffffffff81000010, 0x65_00000064, 5, 0x7ffe1000, 0x1234_0005_00000040, 0x68100142, 0x10),
             dict(id=9, ip=0xffffffff81000010, addr=0x7ffe1000, weight=0x1234_0005_00000040, data_src=0x68100142,
                  phys_addr=0x10)),
    "hybrid, of the small cores": ((0x10187, 4, 0, 0, 0xa_00000000), (41, 0x401136, 0x65_00000064, 3, 12, 50_000),
                                   dict(id=41, cpu=12, period=50_000)),
    "group": ((0x17, 0x1f, 0, 1, 1), (0x401136, 0x65_00000064, 3, 2, 900, 450, 11, 21, 0, 12, 22, 1),
              dict(time=3, values=(2, 900, 450, 11, 21, 0, 12, 22, 1))),
}
NO_PERF = "perf_event_open is refused here"


def run(*command, **options):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, check=False,
                          **options)


class Library(harness.Case):
    @classmethod
    def setUpClass(cls):
        cls.prefix = pathlib.Path(tempfile.mkdtemp(prefix="yarn-library-"))
        cls.addClassCleanup(shutil.rmtree, cls.prefix)
        done = run("cmake", "--install", harness.BUILD, "--prefix", cls.prefix, "--component", "library")
        assert done.returncode == 0, done.stderr
        cls.library = next(cls.prefix.rglob("libyarn.so")).parent
        cls.environment = {**harness.clean_environment(), "LD_LIBRARY_PATH": str(cls.library),
                           "PKG_CONFIG_PATH": str(cls.library / "pkgconfig"), "CMAKE_PREFIX_PATH": str(cls.prefix)}

    def flags(self):
        done = run("pkg-config", "--cflags", "--libs", "yarn", env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()

    def build(self, compiler, standard, source, flags):
        program = self.folder() / "program"
        language = "c++" if standard.startswith("c++") else "c"
        done = run(compiler, f"-std={standard}", *STRICT, "-D_GNU_SOURCE", "-x", language, source, "-x", "none",
                   "-o", program, *flags)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return program

    def test_streams_are_those_of_a_model_in_each_language(self):
        for compiler, standard in COMPILERS:
            if not shutil.which(compiler):
                continue
            program = self.build(compiler, standard, EXAMPLES / "read_trace.c", self.flags())
            for seed in range(10):
                with self.subTest(compiler=compiler, seed=seed):
                    self.check_stream(program, seed)

    def test_a_trace_that_is_cut_while_open_is_still_read(self):
        path = self.folder() / "trace.dat"
        path.write_bytes(made_trace.build(*made_trace.generate(random.Random(1), 2000)))
        code = ("import ctypes, os, sys\n"
                "lib, stream, count = ctypes.CDLL(sys.argv[1]), ctypes.c_void_p(), ctypes.c_size_t()\n"
                "for name in ('entries', 'dump_text'): getattr(lib, 'yarn_stream_' + name).restype = ctypes.c_void_p\n"
                "assert lib.yarn_stream_open(sys.argv[2].encode(), 0, ctypes.byref(stream)) == 0\n"
                "first = lib.yarn_stream_entries(stream, ctypes.byref(count))\n"
                "row = lambda at: ctypes.string_at(lib.yarn_stream_dump_text(stream, ctypes.c_void_p(first + 32 * at)))\n"
                "before = [row(at) for at in range(count.value)]\n"
                "os.truncate(sys.argv[2], 0)\n"
                "print([row(at) for at in range(count.value)] == before, count.value > 1000)\n")
        done = run(sys.executable, "-c", code, self.library / "libyarn.so", path, env=self.environment)
        self.assertEqual((done.returncode, done.stdout), (0, "True True\n"))

    def check_stream(self, program, seed):
        cores, names = made_trace.generate(random.Random(seed), 200 * (seed % 3))
        path = self.folder() / "trace.dat"
        path.write_bytes(made_trace.build(cores, names))
        want = made_trace.model(cores)
        done = run(program, path, env=self.environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        *lines, last = done.stdout.splitlines()
        rows = [line.split("|") for line in lines]
        self.assertEqual([list(map(int, row[0].split())) for row in rows], want)
        kinds = {row[1] for row in want if row[1] < 0}
        flags, found = (-10000 in kinds) | (-10001 in kinds) << 1, "found" if -10000 in kinds else "none"
        self.assertEqual(last, f"kinds {len(kinds)}, flags {flags}, ids {len(kinds)}, switches {found}")
        for (time, number, pid, cpu, origin), row in zip(want, rows):
            if number < 0:
                whose = rows[origin]
                self.assertEqual(row[3:5], whose[3:5])
                self.assertEqual(row[5], f"{time}; {row[2]}-{pid}; CPU {cpu}; ; {row[1]}; "
                                         f"origin_task_name={whose[2]}; origin_pid={want[origin][2]}; {whose[5]}")

    def execute(self, program):
        done = run(program, env=self.environment)
        if done.returncode == 77:
            self.skipTest(NO_PERF)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_examples_in_each_language_and_compiler(self):
        for compiler, standard in COMPILERS:
            for name, pattern in EXAMPLES_PRINT.items():
                with self.subTest(compiler=compiler, name=name):
                    if not shutil.which(compiler):
                        self.skipTest(f"no {compiler}")
                    program = self.build(compiler, standard, EXAMPLES / f"{name}.c", self.flags())
                    printed = self.execute(program)
                    self.assertRegex(printed, pattern)

    @staticmethod
    def samples_of(printed):
        """(pid, tid, cpu, time, weight, event, ((address, function), ...)) of each."""
        found = []
        for line in printed.splitlines():
            if match := re.match(r"sample (\d+)/(\d+) on (\d+) at (\d+): (\d+) of event (\d+)$", line):
                found.append([*map(int, match.groups()), ()])
            elif match := re.match(r"\t([0-9a-f]+) (.*) \(.*\)$", line):
                found[-1][-1] += ((int(match[1], 16), match[2]),)
        return [tuple(sample) for sample in found]

    @staticmethod
    def samples_by_the_format(dump):
        """The same, as the reader has them that was written from FORMAT.md alone."""
        found = []
        for process in read_dump.read(dump.read_bytes()):
            for sample in process.samples:
                frames, stack = (), sample.stack
                while stack:
                    (address, name), stack = stack
                    frames += ((address, name.decode() or "[unknown]"),)
                found.append((process.process["pid"], sample.tid, sample.cpu, sample.time, sample.weight,
                              sample.event, frames))
        return found

    @staticmethod
    def without_late_names(ours, theirs):
        """What the host had no time to name the library names from its file."""
        unnamed = {(*sample[:6], at) for sample in theirs
                   for at, (_, name) in enumerate(sample[-1]) if name == "[unknown]"}
        return [(*sample[:6], tuple((address, "[unknown]" if (*sample[:6], at) in unnamed else name)
                                    for at, (address, name) in enumerate(sample[-1])))
                for sample in ours], theirs

    @unittest.skipUnless(read_dump.zstandard or shutil.which("zstd"), "neither python3-zstandard nor zstd")
    def test_dumps_are_read_in_each_language_as_by_the_format(self):
        dumps = [GOLDEN / "process.yarndump", GOLDEN / "merged.yarndump"]
        dumps += self.dumps_of(self.run_program([sys.executable, "-c", BUSY]))
        for compiler, standard in COMPILERS:
            if not shutil.which(compiler):
                continue
            program = self.build(compiler, standard, EXAMPLES / "read_dump.c", self.flags())
            for dump in dumps:
                with self.subTest(compiler=compiler, dump=dump.name):
                    done = run(program, dump, env=self.environment)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    ours, theirs = self.samples_of(done.stdout), self.samples_by_the_format(dump)
                    self.assertGreater(len(theirs), 5)
                    self.assertEqual(*map(sorted, self.without_late_names(ours, theirs)))
                    self.assertRegex(done.stdout, r"(?s)^process \d+: /.*\nend of \d+\n$")

    def test_threads_of_a_dump_are_known_by_name_and_once(self):
        (dump,) = self.dumps_of(self.run_program([harness.HOSTS / "kinds", "turns", "4", "1"]))
        program = self.build("gcc", "c17", EXAMPLES / "read_dump.c", self.flags())
        threads = re.findall(r"(?m)^thread \d+/(\d+): (.*)$", run(program, dump, env=self.environment).stdout)
        self.assertEqual([name for _, name in threads], 5 * ["kinds"])
        self.assertEqual(len(dict(threads)), 5)

    def assert_same_records(self, data, least=1):
        count, _, wrong = perf_data.compare(perf_data.Decoder(self.library / "libyarn.so"), data)
        self.assertEqual(wrong, [])
        self.assertGreaterEqual(count, least)

    def test_records_written_by_hand(self):
        decoder = perf_data.Decoder(self.library / "libyarn.so")
        for name, ((sample_type, read_format, branches, kind, config), words, wanted) in WRITTEN.items():
            with self.subTest(name):
                attr = struct.pack("<IIQQQQQ24xQ", kind, 128, config, 1, sample_type, read_format, 1 << 18, branches)
                record = struct.pack(f"<IHH{len(words)}Q", 9, 2, 8 + 8 * len(words), *words)
                got = decoder.decode(perf_data.attr_of(attr, ()), record)
                self.assertIsNotNone(got)
                for field, value in wanted.items():
                    is_bytes = isinstance(value, tuple)
                    self.assertEqual(got[field], struct.pack(f"<{len(value)}Q", *value) if is_bytes else value, field)
                header = struct.pack("<8sQQQQQQ48x", b"PERFILE2", 104, 144, 104, 144, 248, len(record))
                self.assert_same_records(header + attr.ljust(144, b"\0") + record)

    @unittest.skipUnless(shutil.which("perf"), "no perf")
    def test_what_perf_records_here(self):
        """Groups, copies of stacks and of registers, addresses, kinds of side-band."""
        for asked in (("-e", "{task-clock:u,page-faults:u}:S"),
                      ("-e", "page-faults:u", "-c", "1", "-d", "-W", "--call-graph", "dwarf"),
                      ("-e", "task-clock:u,page-faults:u", "-s", "-g", "--intr-regs=ip,sp", "--user-regs=ip,sp")):
            with self.subTest(asked):
                path = self.folder() / "perf.data"
                done = run("perf", "record", "-q", "-o", path, *asked, sys.executable, "-c", BUSY)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assert_same_records(path.read_bytes(), least=20)

    @unittest.skipUnless("YARN_PERF_DATA" in os.environ, "YARN_PERF_DATA names no folder of perf.data files")
    def test_what_perf_recorded_elsewhere(self):
        for path in sorted(pathlib.Path(os.environ["YARN_PERF_DATA"]).iterdir()):
            with self.subTest(path.name):
                self.assert_same_records(path.read_bytes(), least=0)

    def test_package_of_cmake_finds_both(self):
        folder = self.folder()
        for step in (["-S", EXAMPLES / "package", "-B", folder], ["--build", folder]):
            done = run("cmake", *step, env=self.environment)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for name in ("shared", "archive"):
            self.assertRegex(self.execute(folder / name), r"(?m)^task-clock: [1-9]")

    def symbols(self, *arguments):
        lines = run("nm", "--defined-only", *arguments).stdout.splitlines()
        return {line.split()[2] for line in lines if len(line.split()) == 3}

    def test_nothing_but_the_public_functions_shows(self):
        public = set(re.findall(r"\b(yarn_\w+);", MAP.read_text()))
        declared = set()
        for header in (self.prefix / "include" / "yarn").glob("*.h"):
            declared |= set(re.findall(r"(yarn_\w+)\(", header.read_text()))
        self.assertEqual(public, declared)
        self.assertFalse(public & {"yarn_start", "yarn_stop", "yarn_mark", "yarn_flush"})
        shown = self.symbols("-D", self.library / "libyarn.so")
        self.assertEqual(shown, {"YARN_0.1"} | {f"{name}@@YARN_0.1" for name in public})
        self.assertEqual(self.symbols("-g", self.library / "libyarn.a"), public)


if __name__ == "__main__":
    harness.main()
