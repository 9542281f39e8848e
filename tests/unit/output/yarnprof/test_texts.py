#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a program (or a lying file) calls things steers no terminal and breaks no format: every text
field of every record, as format.def has them, holds everything that could, and goes through every
verb and export."""

import csv
import gzip
import io
import json
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "support"))
from command_line import YARNPROF, main
from packed_dump import RECORDS, Dump, constant, runs, steps

# ESC, BEL, CR, newline, tab, DEL, C1 as UTF-8 and as a byte, directions of writing, what has no
# width, what is no UTF-8 (cut, overlong, a surrogate), what formats have a meaning for.
NASTY = (b"\x1b]0;title\x07\x1b[31mred\r\n\t\x7f \xc2\x9b31m \x9b31m "
         b"\xe2\x80\xae \xe2\x80\x8f \xe2\x81\xa6 \xd8\x9c \xe2\x80\x8b \xe2\x81\xa0 \xef\xbb\xbf "
         b"\xc2\xad \xf3\xa0\x80\x81 \xf0\x9d\x85\xb3 \xe2\x80\xa8 \xff\xfe \xc0\x80 \xed\xa0\x80 \xe2\x80 "
         b"\xf0\x9f\x98\x80 \"'`,;:|=&<>()[]{}#%\\ </script><b>&amp; \xc3\xa9 fn=(1) x; 7 ")
HARMFUL = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff0-\uffff\U0001d173-\U0001d17a\U000e0000-\U0010ffff]")
LONG = 66_000


def nasty(name, more=b""):
    return name.encode() + b" " + NASTY + more


def make_dump(pid, long=False):
    """One of each record, its texts called by their fields; then a function, and samples in it."""
    dump = Dump()

    def text(name):
        return dump.text(nasty(name, b"L" * LONG if long else b""))

    for record, (_, fields) in RECORDS.items():
        if record == "END":
            continue
        values = {name: text(f"{record}.{name}") for kind, name in fields if kind == "TEXT"}
        names = {name for _, name in fields}
        values.update({name: value for name, value in
                       (("pid", pid), ("tid", pid), ("start_ns", dump.time_ns), ("kind", 4),
                        ("end", 2**40), ("nr_damages", 1), ("is_cut", 1)) if name in names})
        if record == "MODULE":
            values.update(kind=0, start=4096)
        if record == "THREAD_NAME":
            values.update(tid=pid + 1)
        if record == "CODE_NAME":  # of the third symbol below
            values.update(module=1, address=4132, start=4128, end=4144)
        dump.record(record, **values)
        if record == "EVENT":  # and one that was refused
            dump.record(record, **{**values, "number": 1, "error": 13})
    named = text("SYMBOLS.name")
    dump.batch("SYMBOLS", 0, 3, constant(1), steps(3, 4096, 16), constant(16),
               runs((2, named), (1, 0)))
    dump.batch("FRAMES", 0, 3, steps(3, 0, 1), constant(0), constant(4))
    dump.batch("STACKS", 0, 3, runs((1, 0), (1, 1), (1, 0)), steps(3, 0, 1))
    dump.samples(6, stack=runs((5, 2), (1, 3)), stream={"tid": constant(pid)})
    return dump.end()


BY = [["report", f"--by={key}"] for key in
      ("function", "line", "module", "thread", "process", "cpu", "event")]
TREES = [["report", "--tree"], ["report", "--callers"]]
VIEWS = [*BY, *TREES, ["diff", "BEFORE"], ["annotate", "--limit=0", "^SYMBOLS"]]
TEXTS = [*VIEWS, ["report", "--side-by-side"], ["script"], ["script", "-F", "+cpu,+period"],
         ["info"], ["verify"], ["verify", "--trust"], ["annotate", "."], ["export", "--to=folded"],
         ["export", "--to=callgrind"]]


class Texts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="yarn_texts."))
        # Its name is foreign, too.
        cls.dump = cls.folder / "a\x1b[31m\nb\u202e;,c.dump"
        cls.dump.write_bytes(make_dump(7))
        cls.before = cls.folder / "before"
        cls.before.write_bytes(make_dump(8))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def run_on(self, *arguments, dump=None):
        words = [str(self.before) if word == "BEFORE" else str(word) for word in arguments]
        result = subprocess.run([YARNPROF, *words, dump or self.dump], capture_output=True,
                                check=False, stdin=subprocess.DEVNULL)
        self.assertIn(result.returncode, (0, 1), result.stderr)
        return result.stdout, result.stderr

    def legible(self, words, out):
        text = out.decode("utf-8")  # strictly
        if words[0] == "script":
            text = text.replace("\n\t", "\n")  # which begins the lines of frames
        found = HARMFUL.search(text)
        self.assertFalse(found, (words, found and text[max(0, found.start() - 60):found.end() + 60]))
        return text

    def test_text_is_legible(self):
        for words in TEXTS:
            with self.subTest(words=words):
                out, complaint = self.run_on(*words)
                self.legible(words, out)
                self.legible(words, complaint)
                self.assertTrue(out or complaint)

    def test_long_texts_are_cut(self):
        dump = self.folder / "long"
        dump.write_bytes(make_dump(7, long=True))
        for words in (["report"], ["script"], ["info"], ["verify"]):
            out, complaint = self.run_on(*words, dump=dump)
            self.legible(words, out + complaint)
        self.assertIn(b"a text is longer", out)

    def test_json_is_utf8(self):
        for words in [*VIEWS, ["info"]]:
            with self.subTest(words=words):
                out, _ = self.run_on(*words, "--format=json")
                json.loads(self.legible(words, out))
        for name in ("speedscope", "firefox", "chrome"):
            out, _ = self.run_on("export", f"--to={name}")
            json.loads(self.legible([name], out))

    def test_every_field_is_seen(self):
        """Whichever text a record has is shown by info, by script or by the tables."""
        seen = b"".join(self.run_on(*words)[0] for words in
                        (["info", "--format=json"], ["script"], ["report", "--format=json"]))
        for record, (_, fields) in RECORDS.items():
            for kind, name in fields:
                if kind == "TEXT" and name not in ("build_id", "boot_id"):  # for itself
                    self.assertIn(f"{record}.{name} ".encode(), seen)

    def test_csv_is_rows(self):
        for words in [*BY, *TREES, ["diff", "BEFORE"]]:
            with self.subTest(words=words):
                out, _ = self.run_on(*words, "--format=csv")
                rows = list(csv.reader(io.StringIO(self.legible(words, out)), strict=True))
                self.assertEqual({len(row) for row in rows}, {len(rows[0])})
                self.assertGreater(len(rows), 1)

    def test_what_was_counted_is_legible(self):
        dump = Dump()
        dump.begin(pid=7)
        dump.record("THREAD", tid=7, comm=dump.text(nasty("THREAD.comm")))
        name = dump.text(nasty("EVENT.name"))
        dump.record("EVENT", number=1, name=name, asked=name, got=name, unit=name, flags=32, group=1)
        dump.record("COUNT", event=1, count=5, time_enabled_ns=5, time_running_ns=5)
        dump.samples(1, stream={"event": 1, "tid": 7})
        counted = self.folder / "counted"
        counted.write_bytes(dump.end())
        for words in (["stat"], ["stat", "--by=thread"]):
            for form in ("text", "json", "csv"):
                with self.subTest(words=words, form=form):
                    out, complaint = self.run_on(*words, f"--format={form}", dump=counted)
                    self.assertIn("EVENT.name", self.legible(words, out + complaint))

    def test_formats_of_lines(self):
        out, _ = self.run_on("export", "--to=folded")
        for line in out.decode().splitlines():
            self.assertRegex(line, r"^[^;]+(;[^;]+)+ \d+$")
            self.assertLessEqual(line.count(";"), 2)
        out, _ = self.run_on("export", "--to=callgrind")
        known = re.compile(r"(#|version: |creator: |pid: |cmd: |positions: line|event: |events:|summary:"
                           r"|totals:|ob=\(|fl=\(|fn=\(|fi=\(|cob=\(|cfi=\(|cfn=\(|calls=\d+ 0|\d+ \d+|$)")
        for line in out.decode().splitlines():
            self.assertTrue(known.match(line), line)

    def test_binary_formats(self):
        out, _ = self.run_on("export", "--to=pprof")
        self.assertNotIn(b"\x1b]", gzip.decompress(out))
        self.assertIn(b"SYMBOLS.name \\x1b]0;title\\x07", gzip.decompress(out))
        target = self.folder / "out.sqlite"
        self.run_on("export", "--to=sqlite", "-o", target)
        database = sqlite3.connect(target)
        for (table,) in database.execute("select name from sqlite_master where type = 'table'"):
            for row in database.execute(f"select * from {table}"):
                for value in row:
                    if isinstance(value, str):
                        self.assertFalse(HARMFUL.search(value), (table, value))
        database.close()
        out, _ = self.run_on("export", "--to=perf.data")
        self.assertNotIn(b"\x1b[31m", out)

    def test_the_page(self):
        out, _ = self.run_on("flamegraph")
        page = self.legible(["flamegraph"], out)
        self.assertNotIn("</script><b>", page)
        self.assertIn("&lt;/script&gt;&lt;b&gt;", page)

    def test_merged(self):
        merged = self.folder / "merged"
        self.run_on("merge", self.before, "-o", merged)
        for words in (["info"], ["verify"], ["report"]):
            out, complaint = self.run_on(*words, dump=merged)
            self.legible(words, out + complaint)


if __name__ == "__main__":
    main()
