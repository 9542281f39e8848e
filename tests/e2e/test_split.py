# SPDX-License-Identifier: Apache-2.0
"""A program whose shares are known: 60/30/10 over three functions, 30 calls deep."""

import harness


@harness.also_as_root
class Split(harness.Case):
    def setUp(self):
        super().setUp()
        self.run_of_split = self.run_program([harness.HOSTS / "split", "30"])
        self.assertEqual(self.run_of_split.status, 0)

    def test_shares_are_true_and_stacks_are_whole(self):
        folder = self.run_of_split.dumps
        shares = harness.self_percent(folder)
        for function, percent in (("hot_a", 60), ("hot_b", 30), ("hot_c", 10)):
            with self.subTest(function=function):
                self.assertAlmostEqual(shares.get(function, 0), percent, delta=1.5)

        totals = {row["function"]: row["total_percent"] for row in harness.report(folder)["rows"]}
        self.assertGreater(totals.get("main", 0), 98)
        self.assertGreater(totals.get("descend", 0), 98)
        self.assertLessEqual(totals.get("descend", 0), 100.0001, "recursion is counted once")

        trust = harness.trust(folder)
        self.assert_nothing_is_lost(self.run_of_split, trust)
        self.assert_time_is_reported(trust, 0.03)
        self.assertGreaterEqual(trust["stacks_complete"], 0.99 * trust["samples"])
        self.assertTrue(trust["clean_end"])

        depths = [
            sum(name == "descend" for name, _ in stack) for stack in harness.stacks(folder)
        ]
        self.assertGreaterEqual(len(depths), trust["samples"])
        whole = sum(depth == 30 for depth in depths)
        self.assertGreater(whole, 0.98 * trust["samples"])


if __name__ == "__main__":
    harness.main()
