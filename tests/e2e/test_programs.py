# SPDX-License-Identifier: Apache-2.0
"""Real programs: same output, nothing lost, and as many samples as the CPU time demands."""

import math

import harness
import workloads

TICKS_PER_SECOND = 250


class Programs(harness.Case):
    def check_program(self, name):
        files = self.folder()
        programs = workloads.make(files)
        if name not in programs:
            self.skipTest(f"{name} is not on this machine")
        plain = self.run_program(programs[name], preload=False, cwd=files)
        profiled = self.run_program(programs[name], cwd=files)
        self.assertEqual(plain.outside(), profiled.outside())
        harness.yarnprof("verify", profiled.dumps)
        self.check_counts(name, plain, profiled)

    def check_counts(self, name, plain, profiled):
        """The clock's count holds kernel time, which not every user may sample: so it is the time in
        user mode that is compared, taken off in the proportion that the kernel's accounting of the
        same run gives. By weights: where locked memory is short, samples are fewer."""
        trust = harness.trust(profiled.dumps)
        rows = harness.report(profiled.dumps, "--by=module")["rows"]
        sampled = sum(row["self"] for row in rows if row["module"] != harness.KERNEL) / 1e9
        reader_seconds = trust["drain_cpu_ns"] / 1e9
        user_seconds = profiled.user_seconds - reader_seconds
        user_part = user_seconds / (user_seconds + profiled.system_seconds)
        of_count = sampled / (trust["cpu_ns"] / 1e9 * user_part)
        of_user = sampled / user_seconds
        whole = trust["stacks_complete"] / trust["samples"]
        print(
            f"\n{name}: {trust['samples']} samples, {of_count:.1%} of the event's count, "
            f"{of_user:.1%} of the user time, lost {trust['lost']}, whole stacks {whole:.1%}, "
            f"CPU {plain.user_seconds + plain.system_seconds:.2f} -> "
            f"{profiled.user_seconds + profiled.system_seconds:.2f} s, "
            f"reader {reader_seconds:.3f} s",
            flush=True,
        )
        self.assert_nothing_is_lost(profiled, trust)
        # The accounting is by ticks, so the user part has an error of its own (two sigma).
        nr_ticks = TICKS_PER_SECOND * (user_seconds + profiled.system_seconds)
        uncertainty = 2 * math.sqrt(user_part * (1 - user_part) / nr_ticks)
        self.assertGreaterEqual(of_count, 0.97 - uncertainty)
        self.assertGreaterEqual(of_user, 0.92)

    def test_python_loop(self):
        self.check_program("python-loop")

    def test_python_json_and_regex(self):
        self.check_program("python-mix")

    def test_gcc(self):
        self.check_program("gcc")

    def test_sqlite3(self):
        self.check_program("sqlite3")

    def test_xz(self):
        self.check_program("xz")

    def test_eight_threads(self):
        self.check_program("threads8")


class Threads(harness.Case):
    def test_each_thread_has_its_function_and_its_share(self):
        host = harness.HOSTS / "threads8"
        if not host.exists():
            self.skipTest("built without a C++ compiler")
        run = self.run_program([host])
        rows = [row for row in harness.report(run.dumps)["rows"] if "worker" in row["function"]]
        self.assertEqual(len(rows), 8)
        for row in rows:
            with self.subTest(function=row["function"]):
                self.assertAlmostEqual(row["self_percent"], 12.5, delta=1.5)


if __name__ == "__main__":
    harness.main()
