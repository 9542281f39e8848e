# SPDX-License-Identifier: Apache-2.0
"""Code that is generated at run time has the names that its compiler publishes, and the kernel's code
those of the kernel."""

import bisect
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys

import harness

JIT = harness.HOSTS / "jit_x86_64"
SCRIPT = """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
let sum = 0;
for (let i = 0; i < 250; i++) sum += fib(27);
console.log(sum);
"""


def remove_maps(word):
    """What the hosts leave behind in /tmp."""
    for path in pathlib.Path("/tmp").glob("perf-*.map"):
        if path.stat().st_uid == os.getuid() and word in path.read_text(errors="replace"):
            path.unlink()


class Named(harness.Case):
    def setUp(self):
        super().setUp()
        if not JIT.exists():
            self.skipTest("the host that generates code is for x86-64 only")

    def shares(self, how):
        run = self.run_program([JIT, how])
        self.assertEqual(run.status, 0)
        remove_maps("generated_")
        return run, harness.self_percent(run.dumps)

    def check_halves(self, how, most_unknown=1):
        run, shares = self.shares(how)
        for name in ("generated_first", "generated_second"):
            with self.subTest(how=how, name=name):
                # One after the other: a core that is slower for a while makes one of them longer.
                self.assertAlmostEqual(shares.get(name, 0), 50, delta=15)
        self.assertLess(shares.get("[unknown]", 0), most_unknown)
        depths = [[name for name, _ in stack] for stack in harness.stacks(run.dumps)]
        callers = [names for names in depths if names and names[0].startswith("generated_")]
        called_by_main = sum("main" in names for names in callers)
        self.assertGreater(called_by_main, 0.98 * len(callers))

    def test_a_perf_map_names_functions_as_they_are_made(self):
        self.check_halves("map")

    def test_a_perf_map_that_is_written_at_the_end_names_what_ran_before(self):
        self.check_halves("late")

    def test_code_in_the_place_of_other_code_has_its_own_name(self):
        """But for the moments in which it may have been either."""
        self.check_halves("reuse", most_unknown=10)

    def test_a_jitdump_names_functions_where_they_were_made_and_moved_to(self):
        _, shares = self.shares("jitdump")
        self.assertGreater(shares.get("dumped", 0), 95)


class Regenerated(harness.Case):
    """Two functions take turns at one address; the host's own clock says who ran. No frame of the other,
    nor of what earlier calls left on the stack, is shown."""

    HOST = harness.HOSTS / "regenerated_x86_64"

    def verdicts(self, interval_us, *options):
        run = self.run_program([self.HOST, interval_us, 1500, *options], YARN_EVENTS="cpu-clock/freq=2000/u")
        self.assertEqual(run.status, 0)
        turns = [line.split() for line in run.stdout.decode().splitlines()]
        begins = [int(turn[0]) for turn in turns]
        verdicts = collections.Counter()
        for sample in harness.samples(run.dumps):
            turn = turns[bisect.bisect_right(begins, sample.time_ns) - 1]
            names = [frame.name for frame in sample.frames]
            if sample.frames[0].module == "[anon]" or names[0] == "[unknown]":
                inside = int(turn[0]) + 2000 <= sample.time_ns <= int(turn[1]) - 2000
                verdicts[self.verdict(names, turn[2]) if inside else "between"] += 1
        print(f"\n{interval_us} us: {dict(verdicts)}", flush=True)
        self.dumps = run.dumps
        return verdicts

    def verdict(self, names, caller):
        if names[1:] in (["[truncated]"], ["[no unwind information]"]):
            return "truncated"
        return "whole" if names[1:4] == ["run", caller, "main"] else f"wrong: {names[1:4]}"

    def test_no_frame_of_a_stale_stack_is_shown(self):
        if not self.HOST.exists():
            self.skipTest("the host that generates code is for x86-64 only")
        for interval_us in 500, 5000, 50000, 2500000:
            with self.subTest(interval_us=interval_us):
                verdicts = self.verdicts(interval_us)
                self.assertGreater(verdicts["whole"] + verdicts["truncated"], 100)
                self.assertEqual([key for key in verdicts if key.startswith("wrong")], [])
                if interval_us == 500:
                    text = harness.yarnprof("report", self.dumps).stdout.decode()
                    self.assertIn("believed only once it was read unchanged", text)
                if interval_us == 2500000:  # nothing changes
                    self.assertGreater(verdicts["whole"], 0.8 * verdicts.total())

    def test_a_frame_pointer_of_the_caller_proves_no_stale_code(self):
        if not self.HOST.exists():
            self.skipTest("the host that generates code is for x86-64 only")
        for interval_us in 500, 50000:
            verdicts = self.verdicts(interval_us, "marked")
            self.assertGreater(verdicts["whole"] + verdicts["truncated"], 100)
            self.assertEqual([key for key in verdicts if key.startswith("wrong")], [])


    def test_what_changes_for_less_than_between_two_readings_shows_no_stale_caller(self):
        if not self.HOST.exists():
            self.skipTest("the host that generates code is for x86-64 only")
        verdicts = self.verdicts(100000, "brief")
        self.assertEqual([key for key in verdicts if key.startswith("wrong")], [])

    def test_code_in_the_place_of_other_code_is_never_called_by_its_name(self):
        """What may have been either has none."""
        if not self.HOST.exists():
            self.skipTest("the host that generates code is for x86-64 only")
        for interval_us in 2000, 20000, 200000:
            run = self.run_program([self.HOST, interval_us, 1500, "named"], YARN_EVENTS="cpu-clock/freq=2000/u")
            turns = [tuple(map(int, line.split()[:2])) for line in run.stdout.decode().splitlines()]
            verdicts = collections.Counter()
            for sample in harness.samples(run.dumps):
                turn = bisect.bisect_right(turns, (sample.time_ns, 1 << 64)) - 1
                name = sample.frames[0].name
                is_generated = sample.frames[0].module in ("//anon", "[anon]") or name == "[unknown]"
                if is_generated and turns[turn][0] + 2000 <= sample.time_ns <= turns[turn][1] - 2000:
                    verdicts[{"[unknown]": "unknown", f"turn_{turn}": "right"}.get(name, "wrong")] += 1
            print(f"\n{interval_us} us: {dict(verdicts)}", flush=True)
            self.assertGreater(verdicts.total(), 500)
            self.assertEqual(verdicts["wrong"], 0)
            if interval_us == 200000:
                self.assertGreater(verdicts["right"], 0.6 * verdicts.total())

    def test_a_function_that_jumps_on_into_generated_code_hides_no_caller(self):
        if not self.HOST.exists():
            self.skipTest("the host that generates code is for x86-64 only")
        verdicts = self.verdicts(2500000, "jumped")
        self.assertGreater(verdicts["whole"], 0.8 * verdicts.total())


class Remapped(harness.Case):
    """Of memory that mremap moves the kernel says nothing: code there is not a library's that was unloaded."""

    def test_code_in_a_library_s_place_is_not_called_by_its_names(self):
        host = harness.HOSTS / "remapped_x86_64"
        if not host.exists():
            self.skipTest("the host that generates code is for x86-64 only")
        run = self.run_program([host, harness.HOSTS, 1500])
        self.assertEqual(run.status, 0)
        begun_ns = int(run.stdout)
        before, after = collections.Counter(), collections.Counter()
        for sample in harness.samples(run.dumps):
            if sample.time_ns < begun_ns - 10**6:
                before[sample.frames[0].name] += 1
            elif sample.time_ns > begun_ns + 2 * 10**8:  # the maps are read again within 0.1 s, however late the reader is
                after[sample.frames[0].name] += 1
        print(f"\n{before.most_common(2)} {after.most_common(2)}", flush=True)
        self.assertGreater(before["alpha_inner"], 0.5 * before.total())
        self.assertGreater(after["[unknown]"], 0.5 * after.total())
        self.assertEqual([name for name in after if name.startswith("alpha") or "dlloop" in name], [])


class Node(harness.Case):
    def test_node_names_its_functions(self):
        node = shutil.which("node")
        if not node:
            self.skipTest("node is not on this machine")
        files = self.folder()
        script = files / "fib.js"
        script.write_text(SCRIPT)
        argv = [node, "--perf-basic-prof", script]
        plain = self.run_program(argv, preload=False, cwd=files)
        profiled = self.run_program(argv, cwd=files)
        remove_maps(str(script))
        self.assertEqual(plain.outside(), profiled.outside())
        shares = harness.self_percent(profiled.dumps)
        of_fib = sum(
            share for name, share in shares.items() if name.startswith("JS:") and "fib" in name
        )
        self.assertGreater(of_fib, 80, shares)
        self.assertLess(shares.get("[unknown]", 0), 1)
        trust = harness.trust(profiled.dumps)
        whole = trust["stacks_complete"]
        # What its own code leads to through registers, without a frame yet or any more, is cut off; and
        # where the reader had no core, what was sampled before it had seen the code.
        if not trust["lost"]:
            self.assertGreaterEqual(whole, 0.85 * trust["samples"])


class Unnamed(harness.Case):
    """Where names are missing, report, info and the page say which switch gives them."""

    LOOP = "def hot(n):\n    return sum(i * i for i in range(n))\nfor _ in range(100): hot(20000)\n"

    def said(self, run):
        """The same sentence in all three; "": none."""
        page = self.root / "page.html"
        harness.yarnprof("flamegraph", run.dumps, "-o", page)
        text = page.read_text(errors="replace")
        sentences = [
            re.search(pattern, text)
            for pattern, text in (
                (r"note: (.* % of the samples are in .*gives.*)", harness.yarnprof("report", run.dumps).stdout.decode()),
                (r" names +(.* % of the samples are in .*gives.*)", harness.yarnprof("info", run.dumps).stdout.decode()),
                (r"<dt>Names</dt><dd>(.*)</dd>", text),
            )
        ]
        words = {match[1] if match else "" for match in sentences}
        self.assertEqual(len(words), 1, words)
        return words.pop()

    def test_an_interpreter(self):
        python = next((path for path in ("/usr/bin/python3", shutil.which("python3")) if path and
                       pathlib.Path(path).exists()), None)
        if not python:
            self.skipTest("python3 is not on this machine")
        sentence = self.said(self.run_program([python, "-c", self.LOOP]))
        self.assertRegex(sentence, r"in Python's interpreter: python3 -X perf gives .* as does yarnprof record --jit")

    def record_with_jit(self, *command, option="--jit"):
        """The status, what stands on standard error, the dumps; and what is left in the working folder."""
        folder, place = self.folder(), self.folder()
        done = subprocess.run([harness.YARNPROF, "record", option, "-o", f"{folder}/", "--", *command], cwd=place,
                              env=harness.clean_environment(), capture_output=True, check=False)
        maps = [path for path in pathlib.Path("/tmp").glob("perf-*.map")
                if any(path.name[5:-4] == dump.name.split(".")[-2] for dump in folder.iterdir())]
        self.assertEqual([*maps, *place.iterdir()], [])
        return done.returncode, done.stderr.decode(), folder

    def test_what_record_sets_and_gains_nothing_by(self):
        """Pythons that ignore it: -E, or before 3.12."""
        python = shutil.which("python3", path="/usr/bin:/usr/local/bin") or shutil.which("python3")
        if not python:
            self.skipTest("python3 is not on this machine")
        status, _, dumps = self.record_with_jit(python, "-E", "-c", self.LOOP)
        self.assertEqual(status, 0)
        for verb in "report", "info":
            self.assertRegex(harness.yarnprof(verb, dumps).stdout.decode(),
                             r"in Python's interpreter: --jit gives its functions no names here \(.*-E and -I ")

    def test_python_alone(self):
        """What is set and what it costs is said; other runtimes are left as they are."""
        shown = ["sh", "-c", 'echo "$PYTHONPERFSUPPORT$NODE_OPTIONS$JAVA_TOOL_OPTIONS" >&2']
        _, said, _ = self.record_with_jit(*shown, option="--python")
        self.assertRegex(said, r"--python sets PYTHONPERFSUPPORT=1; .*1\.4 to 1\.8 times.*recursion.*perf-PID\.map.*\n1\n")

    def test_functions_of_python_have_names(self):
        beside = pathlib.Path(sys.executable).parents[2].glob("*/bin/python3.1[2-9]")
        known = [shutil.which(f"python3.{version}") for version in range(12, 20)] + sorted(map(str, beside))
        python = next((path for path in known if path and os.access(path, os.X_OK) and subprocess.run(
            [path, "--version"], capture_output=True, check=False).returncode == 0), None)
        if not python:
            self.skipTest("no Python from 3.12 on is on this machine")
        status, _, dumps = self.record_with_jit(python, "-c", self.LOOP, option="--python")
        self.assertEqual(status, 0)
        rows = {row["function"]: row for row in harness.report(dumps)["rows"]}
        self.assertGreater(rows["py::hot:<string>"]["total_percent"], 50, rows)

    def test_java_starts_with_what_record_sets(self):
        if not shutil.which("java") or not shutil.which("javac"):
            self.skipTest("java is not on this machine")
        source = self.root / "Loop.java"
        source.write_text("public class Loop { public static void main(String[] a) { System.out.println(6 * 7); } }")
        subprocess.run(["javac", "-d", self.root, source], check=True)
        status, said, _ = self.record_with_jit("java", "-cp", self.root, "Loop")
        self.assertEqual(status, 0, said)

    def test_stacks_of_java_go_on_through_its_interpreter(self):
        """Compiled code that an interpreted function calls, and code whose calls are patched."""
        if not shutil.which("java") or not shutil.which("javac"):
            self.skipTest("java is not on this machine")
        source = self.root / "Deep.java"
        source.write_text("""public class Deep {
    static long inner(int n) { long s = 0; for (int i = 0; i < n; i++) s += Integer.toString(i).hashCode(); return s; }
    static long middle(int n) { long s = 0; for (int i = 0; i < 20; i++) s += inner(n + i % 3); return s; }
    public static void main(String[] a) {
        long end = System.nanoTime() + 2_500_000_000L, sum = 0;
        while (System.nanoTime() < end) sum += middle(200);
        System.out.println(sum != 0);
    }
}""")
        subprocess.run(["javac", "-d", self.root, source], check=True)
        status, said, dumps = self.record_with_jit("java", "-cp", self.root, "Deep")
        self.assertEqual(status, 0, said)
        trust = harness.info(dumps)[0]["trust"]
        # 0.2 without either. Slots that hold return addresses of earlier calls leave the rest cut, and marked so.
        self.assertGreater(trust["stacks_complete"] / trust["samples"], 0.3, trust)

    def test_node_leaves_no_file(self):
        node = shutil.which("node")
        if not node:
            self.skipTest("node is not on this machine")
        script = self.root / "fib.js"
        script.write_text(SCRIPT)
        status, said, _ = self.record_with_jit(node, script)
        self.assertEqual(status, 0, said)

    def test_processes_without_a_dump_leave_no_map(self):
        """Too short for a sample: a program, and children that it forks; what node writes beside its map goes with it."""
        folder, place = self.folder(), self.folder()
        write = 'echo "1000 10 f" >/tmp/perf-$BASHPID.map; : >isolate-0x1f-$BASHPID-v8.log; echo $BASHPID'
        done = subprocess.run([harness.YARNPROF, "record", "--jit", "-F", "1", "-o", f"{folder}/", "--", "bash", "-c",
                               f"for i in 1 2 3; do ({write}); done; {write}"],
                              cwd=place, env=harness.clean_environment(), capture_output=True, text=True, check=True)
        pids = done.stdout.split()
        self.assertEqual(len(pids), 4)
        left = [path for path in (pathlib.Path(f"/tmp/perf-{pid}.map") for pid in pids) if path.exists()]
        for path in left:
            path.unlink()
        self.assertEqual(left, [])
        self.assertEqual([*place.iterdir()], [])

    def test_generated_code(self):
        node = shutil.which("node")
        if not node:
            self.skipTest("node is not on this machine")
        script = self.root / "fib.js"
        script.write_text(SCRIPT)
        self.assertRegex(self.said(self.run_program([node, script])),
                         r"in Node.js's generated code without names: node --perf-basic-prof gives")
        named = self.run_program([node, "--perf-basic-prof", script])
        remove_maps(str(script))
        self.assertEqual(self.said(named), "")


@harness.as_root
class Kernel(harness.Case):
    def test_functions_of_the_kernel_have_names_where_it_shows_them(self):
        if subprocess.run(["grep", "-q", "^0*[1-9a-f][0-9a-f]* T ", "/proc/kallsyms"]).returncode:
            self.skipTest("the kernel hides its addresses from this user")
        argv = ["dd", "if=/dev/zero", "of=/dev/null", "bs=16", "count=2000000", "status=none"]
        run = self.run_program(argv, YARN_EVENTS="cpu-clock:uk")
        rows = harness.report(run.dumps)["rows"]
        shares = {row["function"]: row["total_percent"] for row in rows
                  if row["module"] == harness.KERNEL}
        for name in "vfs_read", "vfs_write":
            self.assertGreater(shares.get(name, 0), 2, shares)
        self.assert_nothing_is_lost(run, harness.trust(run.dumps))


if __name__ == "__main__":
    harness.main()
