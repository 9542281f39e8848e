#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What yarnprof annotate prints of dumps of known content."""

import json

from command_line import WithDumps, main


class Annotate(WithDumps):
    """Of programs that are not there; what real ones look like is in the end-to-end tests."""

    def test_addresses_alone(self):
        text = self.good("annotate", "hot", self.app)
        self.assertIn("hot, in /usr/bin/app\ncpu-clock: 60.00 % in itself (60.0 ms)", text)
        self.assertIn("note: /usr/bin/app is not there: instructions are addresses only", text)
        self.assertRegex(text, r"100\.00 % +60\.0 ms +90\.0 ms +1210\n")

    def test_json(self):
        got = json.loads(self.good("annotate", "--format=json", "--event=cpu-clock", "hot", self.app))
        (site,) = got["instructions"]
        self.assertEqual(site["address"], "0x1210")
        self.assertIsNone(site["instruction"])
        self.assertEqual((site["samples"], site["total_samples"]), (60, 90))
        self.assertEqual(site["function_percent"], 100)
        self.assertEqual(got["build_id"], "abcdef01")

    def test_nothing_foreign_reaches_the_terminal(self):
        text = self.good("annotate", "--color=never", "hot", self.folder / "more/escape.dump")
        self.assertIn("esc\\x1b[31mape", text)
        self.assertNotIn("\x1b", text)

    def test_mistakes(self):
        self.assertIn("nobody", self.bad(1, "annotate", "nobody", self.app))
        self.bad(2, "annotate")
        self.bad(2, "annotate", "hot")
        self.assertIn("text or json", self.bad(2, "annotate", "--format=csv", "hot", self.app))


if __name__ == "__main__":
    main()
