# SPDX-License-Identifier: Apache-2.0
"""A frame that was not in the sample is not shown, and what is cut off is said to be."""

import harness

SETTINGS = {
    "defaults": {},
    "the deepest copies": {"YARN_CALLGRAPH": "dwarf:65528"},
    "libunwind": {"YARN_UNWINDER": "libunwind"},
    "per thread": {"YARN_STRATEGY": "per-thread"},
    "the timer": {"YARN_SAMPLER": "timer"},
}
CALLERS = {"often", "rarely", "main"}


class Wide(harness.Case):
    """A frame of 100 KiB, called from two functions: no copy shows which."""

    def test_what_lies_beyond_a_wide_frame_is_nobody_s(self):
        for name, variables in SETTINGS.items():
            with self.subTest(setting=name):
                run = self.run_program([harness.HOSTS / "wide", "5"], **variables)
                self.assertEqual(run.status, 0)
                self.check(run)

    def check(self, run):
        trust = harness.trust(run.dumps)
        wide = [
            [frame.name for frame in sample.frames]
            for sample in harness.samples(run.dumps)
            if "wide" in [frame.name for frame in sample.frames]
        ]
        print(f"\n{trust['samples']} samples, {len(wide)} in the wide frame, "
              f"{trust['stacks_truncated']} truncated", flush=True)
        self.assertGreater(len(wide), 0.9 * trust["samples"])
        # Its first instructions have the return address still at sp.
        cut = [names for names in wide if not CALLERS & set(names)]
        self.assertGreaterEqual(len(cut), 0.99 * len(wide))
        for names in cut:
            self.assertEqual(names[-2:], ["wide", "[truncated]"])  # the kernel's may lie above
        self.assertEqual(trust["stacks_truncated"], len(cut))
        self.assertEqual(trust["stacks_joined"], 0)
        self.assertEqual(harness.yarnprof("verify", "--trust", run.dumps, check=False).returncode, 1)
        for view in ("--tree", "--callers"):
            text = harness.yarnprof("report", view, run.dumps).stdout.decode()
            self.assertIn("[truncated]", text)
            self.assertNotIn("rarely", text)



class Holes(harness.Case):
    """The kernel's copy of a stack ends at a page that was never touched; the first sample's reading has it there."""

    def test_stacks_beyond_pages_that_were_never_touched_are_whole(self):
        run = self.run_program([harness.HOSTS / "holes", "2"])
        self.assertEqual(run.status, 0)
        inside = [[frame.name for frame in sample.frames] for sample in harness.samples(run.dumps)]
        inside = [names for names in inside if "over_hole" in names]
        whole = sum("begin" in names for names in inside)
        print(f"\n{whole} of {len(inside)} whole", flush=True)
        self.assertGreater(len(inside), 200)
        self.assertGreater(whole, 0.6 * len(inside))  # the first of each thread, until the reader came


if __name__ == "__main__":
    harness.main()
