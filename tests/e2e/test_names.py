# SPDX-License-Identifier: Apache-2.0
"""The names of functions are right or are not given: a program whose symbols are known runs with
all of them, with some, and with none of its local ones."""

import bisect
import os
import pathlib
import re
import shutil
import struct
import subprocess

import harness

NAMES = harness.HOSTS / "names"
LOCAL = [f"local_{i}" for i in range(1, 6)] + ["rare", "finish", "call_at_the_end", "main"]
VISIBLE = [f"visible_{i}" for i in range(1, 4)] + ["partly_cold"]
DEBUG_FILES = pathlib.Path("/usr/lib/debug/.build-id")


class Truth:
    """The symbols of a program by nm: address -> start, size and all names of the function."""

    def __init__(self, program):
        self.names, self.sizes = {}, {}
        listing = subprocess.run(["nm", "-S", program], check=True, capture_output=True, text=True)
        for line in listing.stdout.splitlines():
            words = line.split()
            if len(words) == 4 and words[2] in "tTwW":
                start = int(words[0], 16)
                self.names.setdefault(start, set()).add(words[3])
                self.sizes[start] = int(words[1], 16)
        self.starts = sorted(self.names)

    def at(self, address):
        """(start, names), or (None, empty) where no function with a size stands."""
        i = bisect.bisect_right(self.starts, address) - 1
        if i < 0 or address >= self.starts[i] + self.sizes[self.starts[i]]:
            return None, set()
        return self.starts[i], self.names[self.starts[i]]


def run_quietly(*command):
    subprocess.run([str(word) for word in command], check=True)


class Named(harness.Case):
    def setUp(self):
        super().setUp()
        missing = [tool for tool in ("nm", "strip", "objcopy", "xz") if not shutil.which(tool)]
        if missing:
            self.skipTest(f"not on this machine: {', '.join(missing)}")
        self.truth = Truth(NAMES)

    def place(self):
        folder = self.folder()
        folder.chmod(0o755)
        return folder / NAMES.name

    def frames_of(self, program):
        """(address inside the call or instruction, frame) of each frame in the program."""
        run = self.run_program([program, "30"])
        self.assertEqual(run.status, 0)
        self.assertEqual(harness.trust(run.dumps)["stacks_failed"], 0)
        for sample in harness.samples(run.dumps):
            # Where the kernel came between, the first of the user's frames is at its very instruction.
            user = [frame for frame in sample.frames if not frame.module.startswith("[")]
            for i, frame in enumerate(user):
                if frame.module == str(program):
                    yield frame.address - (i > 0), frame

    def check(self, program, named, unnamed):
        """Each frame has its true name, or says that it has none and where its function begins;
        all of `named` are seen with their names, and none of `unnamed`."""
        given, anonymous = set(), set()
        nr_frames = 0
        for address, frame in self.frames_of(program):
            nr_frames += 1
            start, names = self.truth.at(address)
            what = f"{address:#x} is {names}, called {frame.name}+{frame.offset:#x}"
            unknown = re.fullmatch(re.escape(program.name) + r"\+0x([0-9a-f]+)", frame.name)
            if unknown:
                begin = int(unknown[1], 16)
                anonymous |= names
                self.assertEqual(begin, start if names else begin, what)
            elif start is None:
                # Code of the linker and of the C runtime, whose symbols have no size.
                self.assertNotIn(frame.name, LOCAL + VISIBLE, what)
            else:
                given.add(frame.name)
                self.assertIn(frame.name, names, what)
                begin = start
            self.assertEqual(begin + frame.offset, address + (address != frame.address), what)
        print(
            f"\n{nr_frames} frames; named: {', '.join(sorted(given))}; anonymous: "
            f"{', '.join(sorted(anonymous)) or 'none'}",
            flush=True,
        )
        self.assertLessEqual(set(named), given)
        self.assertEqual(given & set(unnamed), set())
        self.assertLessEqual(set(unnamed), anonymous)


class Names(Named):
    def test_with_symbols_every_function_has_its_name(self):
        self.check(NAMES, LOCAL + VISIBLE + ["partly_cold.cold"], [])

    def test_a_stripped_program_names_what_it_exports_and_no_neighbour(self):
        program = self.place()
        run_quietly("strip", "--strip-unneeded", NAMES, "-o", program)
        self.check(program, VISIBLE, LOCAL)

    def test_a_symbol_table_without_local_symbols_names_no_neighbour(self):
        program = self.place()
        run_quietly("objcopy", "--strip-debug", "--discard-all", NAMES, program)
        self.check(program, VISIBLE, [name for name in LOCAL if name != "main"])

    def test_a_debug_file_beside_a_stripped_program_names_all(self):
        program = self.place()
        debug = program.parent / "names.debug"
        run_quietly("objcopy", "--only-keep-debug", NAMES, debug)
        run_quietly("strip", "--strip-all", NAMES, "-o", program)
        run_quietly("objcopy", f"--add-gnu-debuglink={debug}", program)
        self.check(program, LOCAL + VISIBLE + ["partly_cold.cold"], [])

    def test_compressed_symbols_name_all(self):
        program = self.place()
        symbols = program.parent / "symbols"
        run_quietly("objcopy", "--only-keep-debug", NAMES, symbols)
        run_quietly("strip", "--strip-debug", symbols)
        run_quietly("strip", "--strip-all", NAMES, "-o", program)
        run_quietly("xz", "--check=crc32", symbols)
        run_quietly("objcopy", "--add-section", f".gnu_debugdata={symbols}.xz", program)
        self.check(program, LOCAL + VISIBLE + ["partly_cold.cold"], [])


def grow_symbol_table(program, entries):
    """Moves the table behind the file's end, with so many entries more, which are all empty: a hole."""
    data = bytearray(program.read_bytes())
    headers = struct.unpack_from("<Q", data, 40)[0]
    count = struct.unpack_from("<H", data, 60)[0]
    for at in range(headers, headers + 64 * count, 64):
        kind, offset, size = struct.unpack_from("<I16xQQ", data, at + 4)
        if kind == 2:  # SHT_SYMTAB
            table = data[offset : offset + size]
            data += bytes(-len(data) % 8)
            struct.pack_into("<QQ", data, at + 24, len(data), size + 24 * entries)
            data += table
            break
    program.write_bytes(data)
    os.truncate(program, len(data) + 24 * entries)


class Late(Named):
    """A symbol table so large that it is read neither while the program runs nor at its end."""

    def setUp(self):
        super().setUp()
        self.program = self.place()
        shutil.copy(NAMES, self.program)
        grow_symbol_table(self.program, 12_000_000)

    def test_what_was_not_asked_for_is_named_from_the_file(self):
        self.check(self.program, LOCAL + VISIBLE + ["partly_cold.cold"], [])

    def test_without_the_file_it_is_counted_and_called_by_its_address(self):
        run = self.run_program([self.program, "30"])
        self.assertEqual(run.status, 0)
        self.assertEqual(harness.trust(run.dumps)["frames_unnamed"], 0)
        self.program.rename(self.program.with_name("moved"))
        # Another build in its place lends no names.
        shutil.copy("/bin/true", self.program)
        self.assertGreater(harness.trust(run.dumps)["frames_unnamed"], 0)
        called = {frame.name for sample in harness.samples(run.dumps) for frame in sample.frames
                  if frame.module == str(self.program)}
        self.assertTrue(called)
        self.assertEqual([name for name in called if not name.startswith("names+0x")], [])

    def test_record_puts_them_into_the_dump(self):
        folder = self.folder()
        folder.chmod(0o777)
        harness.yarnprof("record", "-o", f"{folder}/", "--", str(self.program), "30")
        (dump,) = folder.iterdir()
        self.assertEqual(dump.stat().st_mode & 0o7777, 0o600)
        self.assertIn(b"whole", harness.yarnprof("verify", dump).stdout)
        self.program.rename(self.program.with_name("moved"))
        self.assertEqual(harness.trust(dump)["frames_unnamed"], 0)
        called = {frame.name for sample in harness.samples(dump) for frame in sample.frames
                  if frame.module == str(self.program)}
        self.assertTrue(called & set(LOCAL))
        self.assertEqual([name for name in called if name.startswith("names+0x")], [])
        # Merged they are there, too.
        merged = folder / "merged.dump"
        harness.yarnprof("merge", dump, "-o", merged)
        self.assertEqual(harness.trust(merged)["frames_unnamed"], 0)


class Libc(harness.Case):
    def test_its_debug_package_gives_internal_names(self):
        run = self.run_program([NAMES, "10"])
        libc = next(
            module
            for dump in harness.info(run.dumps)
            for module in dump["modules"]
            if pathlib.Path(module["path"]).name.startswith("libc.so")
        )
        build_id = libc["build_id"]
        if not (DEBUG_FILES / build_id[:2] / f"{build_id[2:]}.debug").exists():
            self.skipTest("the debug file of libc is not installed (Debian's package libc6-dbg)")
        whole = [[name for name, _ in stack] for stack in harness.stacks(run.dumps)]
        internal = sum("__libc_start_call_main" in names for names in whole)
        self.assertGreater(internal, 0.97 * len(whole))


if __name__ == "__main__":
    harness.main()
