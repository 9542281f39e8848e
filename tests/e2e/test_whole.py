# SPDX-License-Identifier: Apache-2.0
"""Real programs at the defaults: nearly all stacks are whole, and those that are called so begin
where a process or a thread begins."""

import math
import pathlib
import re
import struct

import harness
import workloads

THREAD_STARTS = {"clone", "clone3", "__clone", "__clone3", "__clone_internal"}
CUT = {"[truncated]", "[no unwind information]", "[unwinding failed]", "[no stack]"}


def entry_of(path):
    """Where an ELF file begins, None where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return struct.unpack_from("<Q", file.read(64), 24)[0]
    except (OSError, struct.error):
        return None


def uncertainty(share, trust):
    """Two sigma of a share that is seen in so many samples."""
    return 2 * math.sqrt(share * (1 - share) / trust["samples"])


class Whole(harness.Case):
    def setUp(self):
        super().setUp()
        self.entries = {}

    def is_start(self, sample):
        """The outermost frame is at the entry of its file, or where a thread begins; a libc whose
        symbols are not installed has no name for the latter."""
        frame = sample.frames[-1]
        if frame.module not in self.entries:
            self.entries[frame.module] = entry_of(frame.module)
        entry = self.entries[frame.module]
        if entry and entry <= frame.address < entry + 64:
            return True
        in_libc = pathlib.Path(frame.module).name.startswith("libc.")
        is_anonymous = re.match(r"libc\.so\.6\+0x", frame.name)
        return in_libc and (frame.name in THREAD_STARTS or bool(is_anonymous))

    def check_program(self, name, least, **variables):
        files = self.folder()
        programs = workloads.make(files)
        if name not in programs:
            self.skipTest(f"{name} is not on this machine")
        run = self.run_program(programs[name], cwd=files, **variables)
        self.assertEqual(run.status, 0)
        for path in pathlib.Path("/tmp").glob("perf-*.map"):
            if str(files) in path.read_text(errors="replace"):
                path.unlink()
        trust = harness.trust(run.dumps)
        nr_starts = nr_cut = 0
        odd = {}
        for sample in harness.samples(run.dumps):
            if sample.frames and sample.frames[-1].name in CUT:
                nr_cut += 1
            elif sample.frames and self.is_start(sample):
                nr_starts += 1
            else:
                root = f"{sample.frames[-1].name} {sample.frames[-1].module}"
                odd[root] = odd.get(root, 0) + 1
        self.report(name, trust, nr_starts, nr_cut, odd)
        whole = trust["stacks_complete"]
        self.assertGreaterEqual(whole / trust["samples"], least - uncertainty(least, trust))
        self.assertEqual(odd, {}, "these begin in the middle and are not marked as cut")
        self.assertEqual(nr_starts, whole)
        self.assertEqual(nr_starts + nr_cut, trust["samples"])
        self.check_folded(run, least - uncertainty(least, trust))

    def report(self, name, trust, nr_starts, nr_cut, odd):
        ends = ", ".join(
            f"{key.removeprefix('stacks_')} {trust[key]}"
            for key in trust
            if key.startswith("stacks_") and trust[key]
        )
        whole = trust["stacks_complete"] / trust["samples"]
        print(
            f"\n{name}: {trust['samples']} samples, whole {whole:.2%} ({ends}); from a start "
            f"{nr_starts}, marked as cut {nr_cut}, neither {odd or 0}; lost {trust['lost']}",
            flush=True,
        )

    def check_folded(self, run, least):
        """A line is `comm;root;…;leaf weight`."""
        total = cut = 0
        folded = harness.yarnprof("export", "--to=folded", run.dumps, "-o", "-").stdout
        for line in folded.decode(errors="replace").splitlines():
            frames, weight = line.rsplit(" ", 1)
            total += int(weight)
            cut += int(weight) * (frames.split(";")[1] in CUT)
        self.assertLessEqual(cut, (1 - least) * total)

    def test_python(self):
        self.check_program("python-mix", 0.999)

    def test_sqlite3(self):
        self.check_program("sqlite3", 0.999)

    def test_cc1(self):
        self.check_program("cc1", 0.99, YARN_COMM="cc1")

    def test_clang(self):
        """Thirty processes of 20 to 90 samples each, which begin with copies of 32 KiB."""
        self.check_program("clang", 0.95, YARN_COMM="clang*")

    def test_clang_on_cxx(self):
        """Some of the front end's recursions are deeper than 64 KiB."""
        self.check_program("clang++", 0.97)

    def test_compilers_that_recurse_further_than_the_copy_reaches(self):
        """Machine-made functions of nothing but branches: what is cut must be said to be cut."""
        self.check_program("cc1-big", 0.99)
        self.check_program("clang-big", 0.99)

    def test_xz(self):
        self.check_program("xz", 0.999)

    def test_perl(self):
        self.check_program("perl", 0.99)

    def test_bash(self):
        self.check_program("bash", 0.99)

    def test_node(self):
        self.check_program("node", 0.96)


if __name__ == "__main__":
    harness.main()
