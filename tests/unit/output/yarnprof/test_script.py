#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What yarnprof script prints of dumps of known content."""

import pathlib
import re
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "support"))
from command_line import WithDumps, main
from packed_dump import Dump

SCRIPT_SAMPLE = """\
worker     100/101     [000]  1000.061000:    1000000 cpu-clock: 
\t            1310 ns::warm(int)+0x10 (/lib/libx.so.1)
\t            1210 hot+0x10 (/usr/bin/app)
\t            1110 main+0x10 (/usr/bin/app)
\t            1010 _start+0x10 (/usr/bin/app)

"""  # noqa: W291

SCRIPT_CUT = """\
\t            1a10 app+0x1a00+0x10 (/usr/bin/app)
\t            1510 deep\\x1b[31m+0x10 (/usr/bin/app)
\t            1410 outer+0x10 (/usr/bin/app)
\t               0 [truncated] ([unknown])

"""


class Script(WithDumps):
    def test_samples_have_perfs_layout(self):
        text = self.good("script", self.app)
        self.assertIn(SCRIPT_SAMPLE, text)
        self.assertIn(SCRIPT_CUT, text)
        self.assertIn("PERF_RECORD_MMAP2 100/100: [0x400000(0x100000) @ 0x0]: r-xp /usr/bin/app", text)
        self.assertIn("YARN_mark phase 2", text)

    def test_switches_are_as_perf_has_them(self):
        dump = Dump()
        dump.begin(pid=7, name="app")
        dump.named("RUNS", 3, {"time_ns": (1000, 81_000, 90_000), "length_ns": (70_000, 5, 9),
                               "tid": (7, 8, 7), "cpu": (0, 3, 0), "is_preempted": (1, 0, 0),
                               "is_open": (0, 0, 1)})
        path = self.folder / "runs"
        path.write_bytes(dump.end())
        text = self.good("script", "-F", "+cpu", path)
        lines = ("app       7/7       [000]  1000.000001: PERF_RECORD_SWITCH IN         \n",
                 "app       7/7       [000]  1000.000071: PERF_RECORD_SWITCH OUT preempt\n",
                 " 7/8       [003]  1000.000081: PERF_RECORD_SWITCH IN         \n",
                 " 7/8       [003]  1000.000081: PERF_RECORD_SWITCH OUT        \n",
                 "app       7/7       [000]  1000.000090: PERF_RECORD_SWITCH IN         \n")
        self.assertRegex(text, ".*".join(map(re.escape, lines)))
        self.assertEqual(text.count("SWITCH"), 5)
        self.assertIn("whole", self.good("verify", path))

    def test_tracepoints_of_the_scheduler_are_as_perf_has_them(self):
        """By the kernel's own letters, a bit above all of which says that it was preempted."""
        fields = ("unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0",
                  "int common_pid;\toffset:4;\tsize:4;\tsigned:1",
                  "char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0",
                  "pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1",
                  "long prev_state;\toffset:32;\tsize:8;\tsigned:1",
                  "char next_comm[16];\toffset:40;\tsize:16;\tsigned:0",
                  "pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1",
                  "int target_cpu;\toffset:60;\tsize:4;\tsigned:1")
        letters = '(REC->prev_state & 3) ? __print_flags(REC->prev_state & 3, "|", { 0x00000001, "S" }, { 0x00000002, "D" }) : "R"'
        form = ("name: sched_switch\nID: 9\nformat:\n"
                + "".join(f"\tfield:{field};\n" for field in fields) + f'\nprint fmt: "%s", {letters}\n')
        dump = Dump()
        dump.begin(pid=7, name="app")
        name = dump.text("sched:sched_switch")
        dump.record("EVENT", number=1, name=name, asked=name, got=name, unit=dump.text("events"), type=2,
                    period=1, flags=64, format=dump.text(form))
        states = (0, 1, 2, 3, 4, 5)
        raws = [struct.pack("<HHi16siiq16sii", 9, 0, 7, b"a ==> b", 7, 0, state, b"swapper/0", 0, 12)
                for state in states]
        dump.named("STREAMS", 2, {"event": 1, "tid": (7, 0), "count": 3, "first_ns": (1, 4),
                                  "period_ns": 1, "weight": 1})
        dump.batch("DETAILS", 0, len(raws), range(len(raws)), 0, len(raws[0]), tail=b"".join(raws))
        dump.named("SAMPLES", len(raws), {"cpu": 2})
        path = self.folder / "switches"
        path.write_bytes(dump.end())
        lines = self.good("script", "--no-header", "--samples", "-F", "comm,pid,tid,cpu,event,trace", path)
        shown = "prev_comm=a ==> b prev_pid=7 prev_state=%s ==> next_comm=swapper/0 next_pid=0 target_cpu=012"
        want = [f"{comm}       7/7       [002] sched:sched_switch: {shown % word}"
                for comm, word in zip(["app"] * 3 + ["a ==> b"] * 3, ("R", "S", "D", "S|D", "R+", "S+"))]
        self.assertEqual(lines.splitlines(), want)
        # They are in no total.
        self.assertNotIn("sched_switch", self.good("report", "--format=json", path))

    def test_a_folder_reader_for_perf_reads_it(self):
        """As stackcollapse-perf.pl reads: a head line, frames, an empty line."""
        stacks, frames = {}, None
        for line in self.good("script", self.app).splitlines():
            if line.startswith("#"):
                continue
            if not line:
                key = ";".join(reversed(frames))
                stacks[key] = stacks.get(key, 0) + 1
                frames = None
            elif re.match(r"^\S.+?\s+\d+/*\d*\s+", line):
                frames = []
            else:
                match = re.match(r"^\s*(\w+)\s*(.+) \((.*)\)", line)
                self.assertIsNotNone(match, line)
                frames.append(re.sub(r"\+0x[\da-f]+$", "", match.group(2)))
        self.assertEqual(
            stacks,
            {
                "_start;main;hot": 61,
                "_start;main;hot;ns::warm(int)": 30,
                "[truncated];outer;deep\\x1b[31m;app+0x1a00": 6,
                "[no stack]": 4,
            },
        )

    def test_times_never_go_back(self):
        times = re.findall(r" (\d+\.\d{6}): ", self.good("script", self.folder))
        self.assertGreater(len(times), 200)
        self.assertEqual(times, sorted(times, key=float))

    def test_fields(self):
        lines = self.good("script", "--fields=comm,time,event", "--samples", "--no-header", self.app)
        self.assertEqual(lines.splitlines()[0], "app  1000.001000: cpu-clock: ")
        less = self.good("script", "-F", "-ip,-symoff,-dso", self.app)
        self.assertIn("\n\tns::warm(int)\n\thot\n", less)

    def test_filters(self):
        text = self.good("script", "--samples", "--no-header", "--thread=worker", self.app)
        self.assertEqual(text.count("cpu-clock"), 36)
        text = self.good("script", "--samples", "--no-header", "--function=warm", self.app)
        self.assertEqual(text.count("cpu-clock"), 30)
        text = self.good("script", "--samples", "--no-header", "--time=..10ms", self.app)
        self.assertEqual(text.count("cpu-clock"), 10)
        for option in ("--event=cpu-clock", "--function=warm", "--module=app"):
            text = self.good("script", "--no-header", option, self.app)
            self.assertEqual(text, self.good("script", "--no-header", "--samples", option, self.app))
            self.assertIn("cpu-clock", text)


if __name__ == "__main__":
    main()
