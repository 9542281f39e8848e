# SPDX-License-Identifier: Apache-2.0
"""Assembly without call frame information is stepped out of by its code: all stacks are whole."""

import collections
import os
import unittest

import harness

LEAVES = ("plain", "pushing", "clobbering", "framed")


@unittest.skipUnless(os.uname().machine == "x86_64", "the assembly is x86-64's")
class Tableless(harness.Case):
    def kinds(self, host, **variables):
        """How many samples of each leaf, caller and caller's caller there are, by verdict."""
        run = self.run_program([harness.HOSTS / host, "250"], **variables)
        self.assertEqual(run.status, 0)
        kinds = collections.defaultdict(collections.Counter)
        for sample in harness.samples(run.dumps):
            names = [frame.name for frame in sample.frames]
            at = next((i for i, name in enumerate(names) if name in LEAVES), None)
            if at is None:
                continue
            leaf, *outer = names[at:]
            kinds[leaf][self.judge(leaf, outer)] += 1
        return kinds

    def judge(self, leaf, outer):
        want = [{f"direct_{leaf}", f"wide_{leaf}", f"pointer_{leaf}"}, {"by_name", "by_pointer"}, {"main"}]
        for name, right in zip(outer, want):
            if name.split(".")[0] not in right:
                return f"wrong: {outer[:3]}"
        return "whole"

    def check(self, host, **variables):
        kinds = self.kinds(host, **variables)
        for leaf, verdicts in kinds.items():
            print(f"\n{host} {variables or ''} {leaf}: {dict(verdicts)}", flush=True)
        self.assertEqual(set(kinds), set(LEAVES))
        for leaf, verdicts in kinds.items():
            self.assertEqual(set(verdicts), {"whole"}, leaf)

    def test_callers_without_frame_pointers(self):
        self.check("tableless")

    def test_callers_with_frame_pointers(self):
        self.check("tableless_framed")

    def test_callers_with_frame_pointers_by_libunwind(self):
        self.check("tableless_framed", YARN_UNWINDER="libunwind")

    def test_a_function_that_learns_its_own_address_is_one_frame(self):
        for variables in ({}, {"YARN_UNWINDER": "libunwind"}):
            with self.subTest(**variables):
                run = self.run_program([harness.HOSTS / "own_address", 20000000],
                                       YARN_EVENTS="cpu-clock/freq=4000/u", **variables)
                stacks = collections.Counter(tuple(frame.name for frame in sample.frames[:3])
                                             for sample in harness.samples(run.dumps))
                inside = {names: n for names, n in stacks.items() if names[0] == "learn_address"}
                self.assertGreater(sum(inside.values()), 200)
                self.assertEqual({names[1] for names in inside}, {"main"}, inside)

    def test_a_restorer_without_a_table_is_a_signal_frame_of_its_own_name(self):
        run = self.run_program([harness.HOSTS / "own_restorer", 800], YARN_EVENTS="cpu-clock/freq=4000/u")
        stacks = collections.Counter(tuple(frame.name for frame in sample.frames[:5])
                                     for sample in harness.samples(run.dumps))
        inside = {names: n for names, n in stacks.items() if names[0] == "on_signal"}
        self.assertGreater(sum(inside.values()), 100)
        self.assertEqual({names[1:] for names in inside}, {("own_restorer", "syscall", "send_signal", "main")})


if __name__ == "__main__":
    harness.main()
