# SPDX-License-Identifier: Apache-2.0
"""libyarn as a program meets it: installed into a prefix, found by pkg-config and CMake, compiled in C and
in C++ by gcc and by clang, linked both ways, run. Of its symbols none but the public ones show."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import harness

sys.path.insert(0, str(harness.ROOT / "tests" / "golden"))
import read_dump

EXAMPLES = harness.ROOT / "tests" / "examples"
MAP = harness.ROOT / "lib" / "exports.map"
COMPILERS = [("gcc", "c17"), ("clang", "c17"), ("g++", "c++17"), ("clang++", "c++17")]
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
EXAMPLE_NAMES = ("region_counters", "own_ring")
GOLDEN = harness.ROOT / "tests" / "golden"
BUSY = "sum(len(str(i * i)) for i in range(400_000))"
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

    def execute(self, program):
        done = run(program, env=self.environment)
        if done.returncode == 77:
            self.skipTest(NO_PERF)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_examples_in_each_language_and_compiler(self):
        for compiler, standard in COMPILERS:
            for name in EXAMPLE_NAMES:
                with self.subTest(compiler=compiler, name=name):
                    if not shutil.which(compiler):
                        self.skipTest(f"no {compiler}")
                    program = self.build(compiler, standard, EXAMPLES / f"{name}.c", self.flags())
                    printed = self.execute(program)
                    self.assertRegex(printed, r"(?m)^task-clock: [1-9]\d* ns$|^1\d\d faults, 0 refused$")

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
                    self.assertEqual(sorted(ours), sorted(theirs))
                    self.assertRegex(done.stdout, r"(?s)^process \d+: /.*\nend of \d+\n$")

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
