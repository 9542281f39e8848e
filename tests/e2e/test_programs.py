# SPDX-License-Identifier: Apache-2.0
"""Real programs at the defaults: nothing lost, as many samples as the CPU time demands; nearly all stacks
are whole, and those that are called so begin where a process or a thread begins. That their output is the
same tests/compat looks at."""

import math
import os
import pathlib
import re
import struct

import harness
import workloads

TICKS_PER_SECOND = 250
THREAD_STARTS = {"clone", "clone3", "__clone", "__clone3", "__clone_internal"}
CUT = {"[truncated]", "[no unwind information]", "[unwinding failed]", "[no stack]"}


def entry_of(path):
    """Where an ELF file begins, None where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return struct.unpack_from("<Q", file.read(64), 24)[0]
    except (OSError, struct.error):
        return None


class Programs(harness.Case):
    def setUp(self):
        super().setUp()
        self.entries = {}

    def run_workload(self, name, **variables):
        if not self.nr_runs:
            self.files = self.folder()
            self.programs = workloads.make(self.files)
        if name not in self.programs:
            self.skipTest(f"{name} is not on this machine")
        return self.run_program(self.programs[name], cwd=self.files, **variables)

    def check(self, name, least, is_counted=False, **variables):
        """`least`: the share of stacks that are whole."""
        run = self.run_workload(name, **variables)
        self.assertEqual(run.status, 0)
        harness.yarnprof("verify", run.dumps)
        if is_counted:
            self.check_counts(name, run)
        self.check_stacks(name, run, least)
        return run

    def check_counts(self, name, run):
        """The clock's count holds kernel time, which not every user may sample: so it is the time in
        user mode that is compared, taken off in the proportion that the kernel's accounting of the
        same run gives. By weights: where locked memory is short, samples are fewer."""
        trust = harness.trust(run.dumps)
        rows = harness.report(run.dumps, "--by=module")["rows"]
        sampled = sum(row["self"] for row in rows if row["module"] != harness.KERNEL) / 1e9
        reported = sampled + trust["lost"] / harness.FREQUENCY
        user_seconds = run.user_seconds - trust["drain_cpu_ns"] / 1e9
        user_part = user_seconds / (user_seconds + run.system_seconds)
        of_count = reported / (trust["cpu_ns"] / 1e9 * user_part)
        of_user = reported / user_seconds
        print(f"\n{name}: {trust['samples']} samples, {of_count:.1%} of the event's count, "
              f"{of_user:.1%} of the user time, lost {trust['lost']}", flush=True)
        self.assert_nothing_is_lost(run, trust)
        # The accounting is by ticks, so the user part has an error of its own (two sigma).
        nr_ticks = TICKS_PER_SECOND * (user_seconds + run.system_seconds)
        uncertainty = 2 * math.sqrt(user_part * (1 - user_part) / nr_ticks)
        self.assertGreaterEqual(of_count, 0.97 - uncertainty)
        self.assertGreaterEqual(of_user, 0.92)

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

    def check_stacks(self, name, run, least):
        trust = harness.trust(run.dumps)
        nr_starts = nr_cut = nr_bare = 0
        odd = {}
        for sample in harness.samples(run.dumps):
            if sample.frames and sample.frames[-1].name in CUT:
                nr_cut += 1
            elif sample.frames and self.is_start(sample):
                nr_starts += 1
            elif len(sample.frames) == 1 and nr_bare < trust["stacks_none"]:
                nr_bare += 1  # the kernel copied nothing, which the trust report says
            else:
                root = f"{sample.frames[-1].name} {sample.frames[-1].module}"
                odd[root] = odd.get(root, 0) + 1
        whole = trust["stacks_complete"]
        print(f"\n{name}: {trust['samples']} samples, whole {whole / trust['samples']:.2%}; from a "
              f"start {nr_starts}, marked as cut {nr_cut}, neither {odd or 0}", flush=True)
        # Two sigma of a share that is seen in so many samples.
        least -= 2 * math.sqrt(least * (1 - least) / trust["samples"])
        self.assertGreaterEqual(whole / trust["samples"], least)
        self.assertEqual(odd, {}, "these begin in the middle and are not marked as cut")
        self.assertEqual(nr_starts, whole)
        self.assertEqual(nr_starts + nr_cut + nr_bare, trust["samples"])
        self.check_folded(run, least)

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
        self.check("python-mix", 0.999, is_counted=True)

    @harness.also_as_root
    def test_gcc(self):
        """Machine-made functions of nothing but branches: what is cut must be said to be cut."""
        self.check("gcc", 0.99, is_counted=True)

    def test_eight_threads(self):
        run = self.check("threads8", 0.999, is_counted=True)
        rows = [row for row in harness.report(run.dumps)["rows"] if "worker" in row["function"]]
        self.assertEqual(len(rows), 8)
        trust = harness.trust(run.dumps)
        unsampled = 100 * trust["unsampled_ns"] / trust["cpu_ns"]  # of threads that are known late
        for row in rows:
            with self.subTest(function=row["function"]):
                self.assertAlmostEqual(row["self_percent"], 12.5, delta=1.5 + unsampled)

    def test_cc1(self):
        self.check("cc1", 0.99, YARN_COMM="cc1")

    def test_sqlite3(self):
        self.check("sqlite3", 0.999, is_counted=True)

    def test_xz(self):
        self.check("xz", 0.999, is_counted=True)

    @harness.as_root  # whose rings can grow with the copies
    def test_clang(self):
        """Fifteen processes of 20 to 90 samples each, which begin with copies of 32 KiB."""
        self.check("clang", 0.95, YARN_COMM="clang*")

    @harness.as_root
    def test_clang_on_cxx(self):
        """Some of the front end's recursions are deeper than 64 KiB."""
        self.check("clang++", 0.95)

    def test_clang_on_functions_of_nothing_but_branches(self):
        self.check("clang-big", 0.99)

    def test_perl(self):
        self.check("perl", 0.99)

    def test_bash(self):
        self.check("bash", 0.99)

    def test_node(self):
        self.check("node", 0.96)
        for path in pathlib.Path("/tmp").glob("perf-*.map"):
            if os.access(path, os.R_OK) and str(self.files) in path.read_text(errors="replace"):
                path.unlink()


if __name__ == "__main__":
    harness.main()
