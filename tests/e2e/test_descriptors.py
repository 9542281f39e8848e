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
        self.assertGreater(trust["samples"] + trust["lost"], 0.9 * plain.user_seconds * harness.FREQUENCY)
        self.assertGreater(harness.self_percent(profiled.dumps).get("main", 0), 95)

    def test_what_a_child_closes_is_closed(self):
        """The kernel copies the numbers below 64 for the moment of one system call."""
        argv = [harness.HOSTS / "closes", self.folder() / "file", 64]
        plain = self.run_program(argv, preload=False)
        self.assertEqual(plain.stdout, b"still open: 0\n")
        self.assertEqual(self.run_program(argv).outside(), plain.outside())

    def test_what_a_child_closes_in_a_table_of_its_own_is_closed(self):
        """The reader of a child that is not recorded yet shares its table."""
        argv = [harness.HOSTS / "closes", self.folder() / "file", 64, "apart"]
        plain = self.run_program(argv, preload=False)
        self.assertEqual(plain.stdout, b"still open: 0\n")
        self.assertEqual(self.run_program(argv).outside(), plain.outside())


if __name__ == "__main__":
    harness.main()
