# SPDX-License-Identifier: Apache-2.0
"""A host that closes every descriptor and takes the numbers for files of its own."""

import harness


class Descriptors(harness.Case):
    def test_host_closes_and_reuses_every_number(self):
        files = self.folder()
        argv = [harness.HOSTS / "closefds", files]
        plain = self.run_program(argv, preload=False)
        profiled = self.run_program(argv)
        self.assertEqual(plain.outside(), profiled.outside())
        self.assertIn(b"files are whole", profiled.stdout)

        trust = harness.trust(profiled.dumps)
        self.assert_nothing_is_lost(profiled, trust)
        self.assertGreater(trust["samples"] + trust["lost"], 0.95 * plain.user_seconds * harness.FREQUENCY)
        self.assertGreater(harness.self_percent(profiled.dumps).get("main", 0), 95)


if __name__ == "__main__":
    harness.main()
