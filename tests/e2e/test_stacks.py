# SPDX-License-Identifier: Apache-2.0
"""Stacks that are deep, code that comes and goes, and a reader that never enters the host's
allocator."""

import collections
import os
import shutil
import signal
import subprocess

import harness

SAMPLES_LEAST = 50
DIVES_FRAMES_OF_A_PAGE = 4096 // 240  # at most: a level keeps an array of 240 bytes
SECONDS_OF_LOADING = 30 if os.environ.get("YARN_TEST_LONG") else 3


class Deep(harness.Case):
    """Frames of 16 bytes: all of them fit into the default copy of the stack."""

    def check_depth(self, depth, **variables):
        run = self.run_program([harness.HOSTS / "deepstack", depth, "40"], **variables)
        self.assertEqual(run.status, 0)
        trust = harness.trust(run.dumps)
        self.assert_nothing_is_lost(run, trust)
        seen = [
            (sample.tid == sample.pid, [frame.name for frame in sample.frames
                                        if frame.module != harness.KERNEL])
            for sample in harness.samples(run.dumps)
        ]
        busy = [(is_main, names) for is_main, names in seen if names[:1] == ["bottom"]]
        self.assertGreater(len(busy), 0.95 * trust["samples"])
        for is_main, names in busy:
            self.assertEqual(names.count("deeper"), depth)
            self.assertEqual(names[1 : depth + 1], ["deeper"] * depth)
            self.assertEqual("main" in names, is_main)
        by_main = sum(is_main for is_main, _ in busy)
        unsampled = trust["unsampled_ns"] / trust["cpu_ns"]  # of a thread that is known late
        self.assertAlmostEqual(by_main / len(busy), 0.5, delta=0.1 + unsampled)
        whole = trust["stacks_complete"]
        print(
            f"\n{depth} calls deep: {len(busy)} of {trust['samples']} samples at the bottom, each "
            f"with all frames; complete {trust['stacks_complete']}",
            flush=True,
        )
        self.assertGreaterEqual(whole, trust["samples"] - 1)

    @harness.also_as_root
    def test_three_hundred_calls_are_whole(self):
        self.check_depth(300)

    def test_a_thousand_calls_are_whole(self):
        self.check_depth(1000)

    def test_a_thousand_calls_are_whole_by_libunwind_alone(self):
        self.check_depth(1000, YARN_UNWINDER="libunwind")


class Dives(harness.Case):
    """Recursions of up to 55 KiB that come and go within a millisecond, by other paths each time."""

    def dive(self, argv=(harness.HOSTS / "dives", "1000"), strategy="per-core", **variables):
        run = self.run_program(argv, YARN_LOG="info", **variables)
        self.assertEqual(run.status, 0)
        (dump,) = harness.info(run.dumps)
        trust, sampler = dump["trust"], dump["sampler"]
        print(
            f"\n{trust['samples']} samples, lost {trust['lost']}, copies of "
            f"{sampler['stack_got_bytes']} bytes, truncated {trust['stacks_truncated']}",
            flush=True,
        )
        if sampler["strategy"] != strategy:
            self.skipTest(f"the strategy is {sampler['strategy']}")
        return run, dump

    def assert_whole_from_then_on(self, run, dump):
        """How many are cut before depends on how soon the reader has its turn."""
        self.assertEqual(dump["sampler"]["stack_got_bytes"], 65528)
        (changed_ns,) = [
            message["time_ns"]
            for message in dump["messages"]
            if "stacks are copied up to 65528 bytes deep" in message["text"]
        ]
        late = [sample for sample in harness.samples(run.dumps) if sample.time_ns > changed_ns]
        self.assertGreater(len(late), 0, "the copies became deeper when all was over")
        # In a fault the page at the stack pointer is not there yet, so nothing can be copied of it.
        cut = [
            sample
            for sample in late
            if sample.is_truncated and not any("page_fault" in frame.name for frame in sample.frames)
        ]
        self.assertEqual(cut, [])

    @harness.also_as_root
    def test_many_cut_stacks_have_the_copies_become_deeper(self):
        run, dump = self.dive()
        if os.geteuid() and dump["sampler"]["stack_got_bytes"] == 32768:
            self.skipTest("the limit of locked memory leaves no room for larger rings")
        self.assertEqual(dump["sampler"]["stack_asked_bytes"], 32768)
        self.assert_whole_from_then_on(run, dump)
        self.assert_all_threads_are_sampled(run, dump)

    def test_a_thread_s_own_ring_is_replaced_and_new_threads_have_deep_copies_at_once(self):
        run, dump = self.dive(strategy="per-thread", YARN_STRATEGY="per-thread")
        self.assert_whole_from_then_on(run, dump)
        self.assertEqual(len({sample.tid for sample in harness.samples(run.dumps)}), 3)

    def test_a_timer_s_copies_are_deep_from_the_first_on(self):
        """Of a thread's stack that the reader has not seen yet a page is copied: a whole stack that
        is larger says that it has."""
        run, dump = self.dive(strategy="per-thread", YARN_SAMPLER="timer")
        self.assertEqual(dump["sampler"]["stack_got_bytes"], 65528)
        known = set()
        for sample in harness.samples(run.dumps):
            if sample.is_truncated:
                self.assertNotIn(sample.tid, known | {sample.pid})
            elif len(sample.frames) > DIVES_FRAMES_OF_A_PAGE:
                known.add(sample.tid)
        self.assertEqual(len(known), 3)

    def assert_all_threads_are_sampled(self, run, dump):
        """Those that were there at the change, and one that was born after it."""
        trust = dump["trust"]
        counts = collections.Counter(sample.tid for sample in harness.samples(run.dumps))
        self.assertEqual(len(counts), 3)
        for count in counts.values():
            self.assertAlmostEqual(count / trust["samples"], 1 / 3, delta=0.06)
        (event,) = dump["events"]
        lost_ns = trust["lost"] * event["period"]
        self.assertLess(trust["unsampled_ns"], lost_ns + 0.1 * trust["cpu_ns"])

    def test_without_memory_for_larger_rings_deep_copies_go_into_those_that_are_there(self):
        if not os.geteuid():
            self.skipTest("no limit of locked memory holds for root")
        limited = 'ulimit -l 1536 && exec "$0" 1000'
        limited = ["/bin/sh", "-c", limited, harness.HOSTS / "dives"]
        run, dump = self.dive(limited)
        if dump["sampler"]["ring_got_bytes"] < 1 << 19:
            self.skipTest("nor for the first ones")
        self.assert_whole_from_then_on(run, dump)

    def test_a_size_that_was_asked_for_is_kept(self):
        _, dump = self.dive(YARN_CALLGRAPH="dwarf:32768")
        self.assertEqual(dump["sampler"]["stack_got_bytes"], 32768)
        trust = dump["trust"]
        self.assertGreater(trust["stacks_truncated"], 0.01 * trust["samples"])


class Loading(harness.Case):
    """Two libraries that take turns at the same addresses."""

    def test_code_of_a_library_is_never_given_to_its_successor(self):
        argv = [harness.HOSTS / "dlloop", harness.HOSTS, SECONDS_OF_LOADING]
        plain = self.run_program([*argv[:2], 1], preload=False)
        run = self.run_program(argv, YARN_FREQUENCY="5000")
        self.assertEqual(plain.outside(), run.outside())
        harness.yarnprof("verify", run.dumps)
        trust = harness.trust(run.dumps)

        samples = {"alpha": 0, "beta": 0}
        inner = {"alpha": 0, "beta": 0}
        wrong = []
        for sample in harness.samples(run.dumps):
            which = sample.comm.removesuffix("_work")
            if which not in samples:
                continue
            samples[which] += 1
            other = "beta" if which == "alpha" else "alpha"
            text = " ".join(f"{frame.name} {frame.module}" for frame in sample.frames)
            if f"{other}_" in text or f"libdlloop_{other}" in text:
                wrong.append(text)
            inner[which] += sample.frames[0].name == f"{which}_inner"
        shared = self.addresses_of_both(run.dumps)
        whole = trust["stacks_complete"] / trust["samples"]
        print(
            f"\n{SECONDS_OF_LOADING} s of loading: {trust['samples']} samples, lost "
            f"{trust['lost']}, in a library {inner}, of the other library {len(wrong)}, whole "
            f"{whole:.2%}, unknown frames {trust['frames_unknown']}, addresses that both had "
            f"{shared}",
            flush=True,
        )
        self.assertGreater(shared, 0, "the libraries never took each other's place")
        self.assertEqual(wrong, [])
        for which in samples:
            self.assertGreater(inner[which], 0.3 * samples[which])
        # They take turns by time, so a busy machine has few samples of either.
        nr_inner = sum(inner.values())
        self.assertAlmostEqual(inner["alpha"] / nr_inner, 0.5, delta=0.1 + 2 / nr_inner**0.5)
        self.assertLess(trust["frames_unknown"], 0.01 * trust["samples"])
        self.assertGreaterEqual(whole, 0.99)

    def addresses_of_both(self, folder):
        """How many addresses have had either library."""
        starts = {"alpha": set(), "beta": set()}
        for dump in harness.info(folder):
            for module in dump["modules"]:
                for which in starts:
                    if module["path"].endswith(f"libdlloop_{which}.so"):
                        starts[which].add(module["start"])
        return len(starts["alpha"] & starts["beta"])


class Allocator(harness.Case):
    """The host aborts where a thread that it did not create enters its allocator."""

    def check_quiet(self, host=harness.HOSTS / "mallocwatch", **variables):
        plain = self.run_program([host, "1"], preload=False)
        run = self.run_program([host, "4"], YARN_FREQUENCY="4000", **variables)
        self.assertEqual(plain.outside(), run.outside())
        trust = harness.trust(run.dumps)
        print(f"\n{trust['samples']} samples, lost {trust['lost']}, in {trust['cpu_ns'] / 1e9:.2f} s")
        # So often the reader could have allocated: a timer's signals come 100 times a second at least.
        self.assertGreater(trust["samples"] + trust["lost"], SAMPLES_LEAST)
        harness.yarnprof("verify", run.dumps)
        return run

    def test_the_watch_notices_a_stranger(self):
        run = self.run_program([harness.HOSTS / "mallocwatch", "stranger"], preload=False)
        self.assertEqual(run.status, -signal.SIGABRT)

    def test_the_reader_allocates_nothing_from_the_host(self):
        run = self.check_quiet()
        self.assertIn("compare", harness.self_percent(run.dumps))

    def test_nor_with_libunwind_alone(self):
        self.check_quiet(YARN_UNWINDER="libunwind")

    def test_nor_by_frame_pointers(self):
        self.check_quiet(YARN_CALLGRAPH="fp")

    def test_nor_with_the_timer(self):
        self.check_quiet(YARN_SAMPLER="timer")

    def test_nor_where_symbols_are_compressed(self):
        """.gnu_debugdata: a small ELF file, compressed by xz, with the local symbols."""
        tools = [shutil.which(tool) for tool in ("objcopy", "strip", "xz")]
        if not all(tools):
            self.skipTest("objcopy, strip or xz is not on this machine")
        files = self.folder()
        files.chmod(0o755)
        host = compress_symbols(harness.HOSTS / "mallocwatch", files)
        run = self.check_quiet(host)
        self.assertIn("compare", harness.self_percent(run.dumps))


def compress_symbols(program, folder):
    """A copy of the program whose symbols stand in .gnu_debugdata only."""
    symbols, stripped = folder / "symbols", folder / program.name
    subprocess.run(["objcopy", "--only-keep-debug", program, symbols], check=True)
    subprocess.run(["strip", "--strip-debug", symbols], check=True)
    subprocess.run(["strip", "--strip-all", program, "-o", stripped], check=True)
    subprocess.run(["xz", "--keep", "--check=crc32", symbols], check=True)
    section = f".gnu_debugdata={symbols}.xz"
    subprocess.run(["objcopy", "--add-section", section, stripped], check=True)
    return stripped


if __name__ == "__main__":
    harness.main()
