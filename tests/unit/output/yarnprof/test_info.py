#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What yarnprof info and verify say of dumps of known content."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "support"))

from command_line import WithDumps, main, run
from packed_dump import Dump, varint

TRUST_KEYS = {
    "samples", "lost", "throttled", "foreign", "stacks_complete", "stacks_joined",
    "stacks_truncated", "stacks_no_unwind_info", "stacks_failed", "stacks_none",
    "frames_unknown", "cpu_ns", "unsampled_ns", "drain_cpu_ns", "memory_bytes",
    "bytes_written", "clean_end",
}  # fmt: skip


class Info(WithDumps):
    def test_json(self):
        dumps = json.loads(self.good("info", "--format=json", self.app))["dumps"]
        self.assertEqual(len(dumps), 1)
        dump = dumps[0]
        process = dump["process"]
        self.assertEqual((process["pid"], process["ppid"]), (100, 1))
        self.assertEqual(process["exe"], "/usr/bin/app")
        self.assertEqual(process["argv"], ["/usr/bin/app", "--fast", "it's"])
        self.assertEqual(process["end_ns"] - process["start_ns"], 100_000_000)
        self.assertEqual((process["exit"], process["exit_status"]), ("exit", 3))
        self.assertIsNone(process["predecessor"])
        self.assertEqual(dump["sampler"]["got"], "perf")
        errors = {event["name"]: event["errno"] for event in dump["events"]}
        self.assertEqual(errors, {"cpu-clock": 0, "page-faults": 0, "cycles": 2})
        self.assertEqual(dump["events"][0]["count"], 100_000_000)
        self.assertEqual([module["build_id"] for module in dump["modules"]], ["abcdef01", None])
        self.assertEqual([thread["comm"] for thread in dump["threads"]], ["app", "worker"])

    def test_trust(self):
        trust = json.loads(self.good("info", "--format=json", self.app))["dumps"][0]["trust"]
        self.assertLessEqual(TRUST_KEYS, set(trust))
        self.assertEqual(trust["samples"], 101)
        self.assertEqual(sum(trust[key] for key in trust if key.startswith("stacks_")), 101)
        self.assertIs(trust["clean_end"], True)

    def test_a_cut_dump_says_so(self):
        dump = json.loads(self.good("info", "--format=json", self.folder / "cut.dump"))["dumps"][0]
        self.assertIs(dump["trust"]["clean_end"], False)
        self.assertIsNone(dump["process"]["exit"])
        self.assertIn("the recording was cut off", self.good("info", self.folder / "cut.dump"))

    def test_text(self):
        text = self.good("info", self.app)
        for line in ["refused: No such file or directory (errno 2)", "abcdef01", "pid             100"]:
            self.assertIn(line, text)


class Verify(WithDumps):
    def test_whole_and_early(self):
        self.assertIn("app.dump: whole: ", self.good("verify", self.app))
        self.assertIn("cut.dump: ends early: ", self.good("verify", self.folder / "cut.dump"))

    def test_damage(self):
        content = bytearray(self.app.read_bytes())
        content[len(content) // 2] ^= 0x55
        damaged = self.folder / "damaged"
        damaged.write_bytes(content)
        result = run("verify", damaged, self.app)
        self.assertEqual(result.returncode, 1)
        self.assertIn("damaged: damaged", result.stdout)
        self.assertIn("offset 32", result.stdout)
        self.assertIn("app.dump: whole", result.stdout)
        damaged.unlink()

    def test_when_the_recording_was_stopped(self):
        more = self.folder / "more"
        reported = self.good("info", "--format=json", more / "stopped.dump",
                         more / "stopped_for_good.dump")
        (while_off,), (for_good,) = (dump["stopped"] for dump in json.loads(reported)["dumps"])
        self.assertEqual(while_off["to_ns"] - while_off["from_ns"], 30_000_000)
        self.assertEqual(while_off["cpu_ns"], 15_000_000)
        self.assertIsNotNone(while_off["started_by"])
        self.assertEqual((for_good["stopped_by"], for_good["started_by"]), ("socket", None))

    def test_trust_is_a_gate(self):
        self.assertIn("trusted", self.good("verify", "--trust=10", self.app))
        result = run("verify", "--trust", self.app)
        self.assertEqual(result.returncode, 1)
        self.assertIn("not trusted: 5.94 %", result.stdout)

    def of_a_run(self, name, pid, cpu_ns, reaped_ns):
        dump = Dump()
        dump.begin(pid, name)
        dump.record("OPTION", name=dump.text("run"), value=dump.text("one"))
        dump.samples(10, stream={"weight": cpu_ns // 10})
        totals = {0: 10, 4: 10, 11: cpu_ns, 37: reaped_ns}
        dump.record("TOTALS", tail=b"".join(varint(key) + varint(value) for key, value in totals.items()))
        path = self.folder / f"{name}.dump"
        path.write_bytes(dump.end())
        return path

    def test_several_files_are_trusted_as_one_profile(self):
        """What the parent waited for is in the child's dump, but for 20 ms."""
        paths = [self.of_a_run("parent", 1, 10**7, 6 * 10**7), self.of_a_run("child", 2, 4 * 10**7, 0)]
        said = self.good("verify", "--trust", *paths)
        self.assertEqual(said.count("of CPU time of children is in no dump read here"), 1)
        self.assertIn("20.0 ms  of CPU time of children is in no dump read here (28.57 %)", said)
        self.assertIn("; 28.57 % of the CPU time has no sample", said)
        result = run("verify", "--trust", __file__, *paths)
        self.assertEqual(result.returncode, 1)
        self.assertIn("; 28.57 % of the CPU time has no sample", result.stdout)
        self.assertIn("not trusted: ", run("verify", "--trust", __file__, __file__).stdout)
        for path in paths:
            path.unlink()

    def test_what_is_no_dump(self):
        self.assertIn("not a dump of yarn", self.bad(1, "verify", __file__))


if __name__ == "__main__":
    main()
