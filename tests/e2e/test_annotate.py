# SPDX-License-Identifier: Apache-2.0
"""annotate, on a program whose hot lines are known, with and without its debug information, and
where its file is gone or another."""

import base64
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import time
import zlib

import harness

EVENT = "cpu-clock:u"  # the shares that are compared are of user code

SOURCE = harness.ROOT / "tests/hosts/split.c"
HOT = {"hot_a": 60, "hot_b": 30, "hot_c": 10}


def line_of(text):
    lines = SOURCE.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def annotate(dumps, function, *options):
    done = harness.yarnprof("annotate", "--format=json", function, dumps, *options)
    return json.loads(done.stdout)


def pack_with_zeros(program, wanted, mib):
    """The section gets compressed, and says that it is so large: what follows it are zeros."""
    data = bytearray(program.read_bytes())
    (table,) = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    (texts,) = struct.unpack_from("<Q", data, table + names * size + 24)
    for at in range(table, table + count * size, size):
        name, kind, flags, address, offset, length = struct.unpack_from("<IIQQQQ", data, at)
        if not data[texts + name:].startswith(wanted + b"\0"):
            continue
        packer = zlib.compressobj(1)
        packed = packer.compress(data[offset:offset + length])
        packed += packer.compress(bytes((1 << 20) - length))
        packed += b"".join(packer.compress(bytes(1 << 20)) for _ in range(mib - 1)) + packer.flush()
        packed = struct.pack("<IIQQ", 1, 0, mib << 20, 1) + packed
        struct.pack_into("<IIQQQQ", data, at, name, kind, flags | 0x800, address, len(data),
                         len(packed))
        program.write_bytes(data + packed)
        return
    raise AssertionError(f"no section {wanted}")


def numbers(packed):
    value = shift = 0
    for byte in base64.b64decode(packed):
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield value
            value = shift = 0


def lines_of_page(text):
    """Of each function and line of the first event what it spent itself."""
    names = re.findall(r"<span class=n role=cell>(.*?)</span>", text)
    read, found = numbers(re.search(r'id="lines">\s*([A-Za-z0-9+/=]+)', text)[1]), {}
    for _ in range(next(read)):
        function, event, _, line, weight = (next(read) for _ in range(5))
        if not event:
            found[names[function], line] = weight
    return found


class Annotate(harness.Case):
    recorded = None  # once, for the tests that change nothing

    @classmethod
    def tearDownClass(cls):
        if cls.recorded:
            shutil.rmtree(cls.recorded)

    def dumps_of_split(self):
        if not self.recorded:
            folder = pathlib.Path(tempfile.mkdtemp(prefix="yarn-e2e."))
            type(self).recorded = folder
            begun = time.monotonic()
            run = harness.wait(
                harness.start([harness.HOSTS / "split", "30"], folder, YARN_EVENTS=EVENT), begun,
                folder
            )
            self.assertEqual(run.status, 0, run.stderr)
        return self.recorded

    def record(self, *strip):
        """A copy of its own, so that the test may take it away."""
        program = self.folder() / "split"
        shutil.copy(harness.HOSTS / "split", program)
        if strip:
            subprocess.run([*strip, program], check=True)
        run = self.run_program([program, "10"], YARN_EVENTS=EVENT)
        self.assertEqual(run.status, 0, run.stderr)
        return program, run.dumps

    def check_sums(self, got, key):
        for field in ("self", "samples"):
            self.assertEqual(
                sum(row[field] for row in got[key]), got["events"][0]["function"][field], key
            )

    def test_debug_information_that_unpacks_to_a_thousand_times_its_size(self):
        program, dumps = self.record()
        mib = 1000
        pack_with_zeros(program, b".debug_str", mib)
        for words in (["report", "--by=line"], ["annotate", "hot_a"]):
            child = subprocess.Popen([harness.BUILD / "yarnprof", *words, dumps],
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = status
            self.assertEqual(status, 0)
            self.assertLess(usage.ru_maxrss / 1024, mib / 3)

    def test_the_page_has_the_lines_too_where_they_are_asked_for(self):
        dumps = self.dumps_of_split()
        pages = [harness.yarnprof("flamegraph", *words, "-o", "-", dumps).stdout.decode()
                 for words in (["--lines"], [])]
        rows = json.loads(harness.yarnprof("report", "--by=line", "--no-inlines", "--format=json", dumps).stdout)["rows"]
        want = {(row["function"], row["line"]): row["self"] for row in rows if row["self"] and row["line"]}
        self.assertTrue(set(HOT) <= {function for function, _ in want})
        self.assertEqual(lines_of_page(pages[0]), want)
        self.assertEqual(["split.c</li>" in page or "work.h</li>" in page for page in pages], [True, False])

    def test_known_lines_have_their_shares(self):
        dumps = self.dumps_of_split()
        rows = {row["function"]: row for row in harness.report(dumps)["rows"]}
        for function, percent in HOT.items():
            got = annotate(dumps, function)
            whole = got["events"][0]["function"]
            self.assertEqual(got["notes"], [])
            self.assertEqual(whole["self"], rows[function]["self"])
            self.assertAlmostEqual(whole["self_percent"], percent, delta=2)
            self.check_sums(got, "lines")
            self.check_sums(got, "instructions")
            # The loop stands in a function that was put into this one: its call has it all.
            best = max(got["lines"], key=lambda row: row["self"])
            call = {"hot_a": "work(6", "hot_b": "work(3", "hot_c": "work(1"}[function]
            self.assertEqual(best["line"], line_of(call))
            self.assertIn(call, best["source"])
            self.assertGreater(best["function_percent"], 98)
            hot = max(got["instructions"], key=lambda row: row["self"])
            self.assertEqual(hot["inlined"], "yarn_host_steps")
            self.assertEqual(hot["file"].rsplit("/", 1)[-1], "work.h")
            listing = subprocess.run(["objdump", "-d", f"--disassemble={function}", harness.HOSTS / "split"],
                                     check=True, capture_output=True, text=True).stdout
            self.assertEqual(
                sum("imul" in (row["instruction"] or "") for row in got["instructions"]),
                listing.count("imul"))

    def test_recursion_is_counted_once(self):
        dumps = self.dumps_of_split()
        got = annotate(dumps, "descend")
        self.assertLessEqual(got["events"][0]["function"]["total_percent"], 100.0001)
        self.assertGreater(got["events"][0]["function"]["total_percent"], 98)
        call = max(got["lines"], key=lambda row: row["total"])
        self.assertIn("descend(depth - 1", call["source"])
        self.assertLessEqual(call["total_percent"], 100.0001)

    def test_where_it_was_put_into_others(self):
        dumps = self.dumps_of_split()
        got = annotate(dumps, "yarn_host_work")
        self.assertTrue(got["inlined"])
        self.assertGreater(got["events"][0]["function"]["self_percent"], 98)
        self.assertEqual({row["file"].rsplit("/", 1)[-1] for row in got["lines"]}, {"work.h"})

    def test_without_debug_information_instructions_are_shown(self):
        _, dumps = self.record("strip", "--strip-debug")
        got = annotate(dumps, "hot_a")
        self.assertIn("its source lines are unknown", " ".join(got["notes"]))
        self.check_sums(got, "instructions")
        self.assertTrue(any("imul" in row["instruction"] for row in got["instructions"]))
        text = harness.yarnprof("annotate", "hot_a", dumps).stdout.decode()
        self.assertIn("INSTRUCTION", text)
        self.assertNotIn("SOURCE", text)

    def test_without_symbols_it_is_called_by_its_address(self):
        _, dumps = self.record("strip")
        name = max(harness.report(dumps)["rows"], key=lambda row: row["self"])["function"]
        self.assertTrue(name.startswith("split+0x"), name)
        got = annotate(dumps, name)
        self.assertAlmostEqual(got["events"][0]["function"]["self_percent"], 60, delta=4)
        self.check_sums(got, "instructions")
        self.assertTrue(any("imul" in row["instruction"] for row in got["instructions"]))

    def test_debug_information_that_came_later_names_it(self):
        program, dumps = self.record("strip")
        debug = program.with_suffix(".debug")
        whole = harness.HOSTS / "split"
        subprocess.run(["objcopy", "--only-keep-debug", whole, debug], check=True)
        link = f"--add-gnu-debuglink={debug}"
        subprocess.run(["objcopy", "--strip-all", link, whole, program], check=True)
        got = annotate(dumps, "hot_a")
        self.assertEqual(got["notes"], [])
        self.assertTrue(any("imul" in (row["instruction"] or "") for row in got["instructions"]))
        self.assertEqual(max(got["lines"], key=lambda row: row["self"])["line"], line_of("work(6"))
        self.check_sums(got, "instructions")

    def test_another_file_is_not_taken_for_the_recorded_one(self):
        program, dumps = self.record()
        program.unlink()
        for text in ("is not there", "is not the file that was recorded"):
            done = harness.yarnprof("annotate", "hot_a", dumps, "--format=json")
            got = json.loads(done.stdout)
            self.assertIn(text, " ".join(got["notes"]))
            self.check_sums(got, "instructions")
            self.assertEqual({row["instruction"] for row in got["instructions"]}, {None})
            self.assertEqual({row["line"] for row in got["lines"]}, {None})
            shutil.copy(harness.HOSTS / "children", program)

    def test_without_a_build_id_a_file_of_another_size_is_not_the_recorded_one(self):
        program, dumps = self.record("objcopy", "--remove-section=.note.gnu.build-id")
        got = annotate(dumps, "hot_a")
        self.assertIn("no build id", " ".join(got["notes"]))
        self.assertTrue(any(row["instruction"] for row in got["instructions"]))
        self.assertTrue(any(row["line"] for row in got["lines"]))
        with program.open("ab") as file:
            file.write(b"more")
        got = annotate(dumps, "hot_a")
        self.assertIn("is not the file that was recorded", " ".join(got["notes"]))
        self.assertEqual({row["instruction"] for row in got["instructions"]}, {None})
        self.assertEqual({row["line"] for row in got["lines"]}, {None})
        self.check_sums(got, "instructions")

    def test_sources_elsewhere(self):
        dumps = self.dumps_of_split()
        root = self.folder()
        (root / "hosts").mkdir()
        (root / "hosts/split.c").write_text("\n".join(f"line {n}" for n in range(1, 80)))
        got = annotate(dumps, "hot_a", f"--source-root={root}")
        best = max(got["lines"], key=lambda row: row["self"])
        self.assertEqual(best["source"], f"line {best['line']}")
        self.assertIn("newer than the module", " ".join(got["notes"]))

    def test_no_disassembler(self):
        dumps = self.dumps_of_split()
        got = annotate(dumps, "hot_a", "--objdump=no-such-objdump")
        self.assertIn("no-such-objdump is not installed", " ".join(got["notes"]))
        self.check_sums(got, "instructions")
        self.check_sums(got, "lines")

    def test_several_functions_are_listed_and_none_is_said(self):
        dumps = self.dumps_of_split()
        done = harness.yarnprof("annotate", "^hot_", dumps)
        self.assertIn(b"^hot_ is 3 functions", done.stderr)
        for function in HOT:
            self.assertIn(function, done.stdout.decode())
        got = annotate(dumps, "^hot_")
        shares = {row["function"]: row["self_percent"] for row in got["rows"]}
        for function, percent in HOT.items():
            self.assertAlmostEqual(shares[function], percent, delta=2)
        done = harness.yarnprof("annotate", "no_such", dumps, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"no_such", done.stderr)
        self.assertEqual(done.stdout, b"")

    def test_limit_keeps_the_hottest(self):
        dumps = self.dumps_of_split()
        got = annotate(dumps, "hot_a", "--limit=1")
        self.assertEqual(len(got["instructions"]), 1)
        self.assertEqual(len(got["lines"]), 1)
        whole = annotate(dumps, "hot_a")
        self.assertEqual(
            got["instructions"][0]["self"], max(row["self"] for row in whole["instructions"])
        )


if __name__ == "__main__":
    harness.main()
