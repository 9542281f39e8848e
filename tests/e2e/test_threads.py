# SPDX-License-Identifier: Apache-2.0
"""Many threads, short ones and odd ones: the host does not notice, and no time vanishes."""

import harness

CHURN = harness.HOSTS / "churn"
WAYS = {
    "per-core": {"YARN_STRATEGY": "per-core"},
    "timer": {"YARN_SAMPLER": "timer"},
}


class Case(harness.Case):
    def assert_same_outside(self, argv, **variables):
        plain = self.run_program(argv, preload=False)
        profiled = self.run_program(argv, **variables)
        self.assertEqual(plain.outside(), profiled.outside())
        if self.dumps_of(profiled):
            harness.yarnprof("verify", profiled.dumps)
        return profiled


class Kinds(Case):
    def test_host_is_unchanged(self):
        kinds = (("join", 2000, 50), ("tiny", 2000, 50), ("altstack", 1000, 50),
                 ("cancel", 1000, 50), ("clone", 2000, 50), ("at-once", 500, 200))
        for way, variables in WAYS.items():
            for kind, count, steps in kinds:
                with self.subTest(way=way, kind=kind):
                    self.assert_same_outside([CHURN, kind, count, steps], **variables)

    def test_ten_thousand_short_threads(self):
        for way, variables in WAYS.items():
            with self.subTest(way=way):
                run = self.assert_same_outside([CHURN, "join", 10000, 50], **variables)
                total = harness.trust(run.dumps)
                used = run.user_seconds + run.system_seconds - total["drain_cpu_ns"] / 1e9
                print(f"\n{way}: {used:.3f} s of CPU, {total['cpu_ns'] / 1e9:.3f} s told,"
                      f" {total['unsampled_ns'] / 1e9:.3f} s of it unsampled")
                self.assertAlmostEqual(total["cpu_ns"] / 1e9, used, delta=0.25 * used)

    def test_two_thousand_at_once(self):
        for way, variables in WAYS.items():
            with self.subTest(way=way):
                self.assert_same_outside([CHURN, "at-once", 2000, 100], **variables)


class Counts(Case):
    def test_running_time_below_enabled_time_means_multiplexing(self):
        for way in ("per-core",):
            with self.subTest(way=way):
                run = self.run_program([harness.HOSTS / "split", "10"], **WAYS[way])
                (event,) = harness.info(run.dumps)[0]["events"]
                self.assertAlmostEqual(event["time_running"] / event["time_enabled"], 1, delta=0.01)
                self.assertAlmostEqual(event["count"] / event["time_enabled"], 1, delta=0.02)


if __name__ == "__main__":
    harness.main()
