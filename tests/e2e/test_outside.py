# SPDX-License-Identifier: Apache-2.0
"""record --outside: a command's whole tree, with nothing of ours in it."""

import errno
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import time
import unittest

import control
import harness
from outside import CHILDREN, IMAGES, SPLIT, STANDALONE, THREADS, KNOWN, JIT, PINGPONG, Case, children_of, key_of, name_of


class Command(Case):
    def test_shares_of_a_program_are_its_own(self):
        run = self.assert_same_outside([SPLIT])
        self.assert_whole(run)
        shares = harness.self_percent(run.dumps)
        for function, share in (("hot_a", 60), ("hot_b", 30), ("hot_c", 10)):
            self.assertAlmostEqual(shares[function], share, delta=4)

    def test_status_is_the_command_s(self):
        for script, status in (("exit 7", 7), ("kill -TERM $$", 128 + signal.SIGTERM)):
            self.assertEqual(self.record(["sh", "-c", script]).status, status)
        missing = self.record(["/nonexistent/program"])
        self.assertEqual(missing.status, 127)
        self.assertIn(b"/nonexistent/program", missing.stderr)

    def test_signals_of_the_terminal_come_once_and_others_are_passed_on(self):
        program = (
            "import signal, sys, time\n"
            "seen = []\n"
            "for number in (signal.SIGINT, signal.SIGTERM):\n"
            "    signal.signal(number, lambda number, frame: seen.append(number))\n"
            "print('ready', flush=True)\n"
            "while signal.SIGTERM not in seen: time.sleep(0.01)\n"
            "time.sleep(0.2)\n"
            "print([int(number) for number in seen])\n"
        )
        folder = self.folder()
        command = [harness.YARNPROF, "record", "--outside", "-o", f"{folder}/", "--", "python3", "-c", program]
        process = harness.start(command, folder, preload=False, before=os.setpgrp)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.2)
        os.kill(process.pid, signal.SIGTERM)
        run = self.finished(process, time.monotonic(), folder)
        self.assertEqual(run.stdout, f"[{int(signal.SIGINT)}, {int(signal.SIGTERM)}]\n".encode())
        self.assertEqual(run.status, 0)

    def test_command_has_nothing_of_ours(self):
        program = "import os; print(sorted(os.listdir('/proc/self/fd')), len(os.listdir('/proc/self/task')))"
        maps = ["sh", "-c", "! grep -q libyarn /proc/self/maps && ! env | grep LD_PRELOAD"]
        self.assert_same_outside(["python3", "-c", program])
        self.assertEqual(self.record(maps).status, 0)

    def test_program_without_a_loader(self):
        run = self.assert_same_outside([STANDALONE])
        self.assert_whole(run)
        shares = harness.self_percent(run.dumps)
        for function, share in (("hot_a", 60), ("hot_b", 30), ("hot_c", 10)):
            self.assertAlmostEqual(shares[function], share, delta=4)


class Tree(Case):
    def test_each_child_names_its_parent(self):
        run = self.assert_same_outside([CHILDREN, "tree"])
        parent, child, grandchild = self.processes(run)
        self.assertIsNone(parent["parent"])
        self.assertEqual(child["parent"], key_of(parent))
        self.assertEqual(grandchild["parent"], key_of(child))
        self.assertEqual(parent["exit_status"], 0)
        self.assert_whole(run)
        shares = harness.self_percent(run.dumps)
        self.assertAlmostEqual(shares["parent_work"], 100 / 3, delta=4)
        self.assertAlmostEqual(shares["child_work"], 200 / 3, delta=4)
        # The recorder is all processes' and is counted once.
        own = [dump["trust"] for dump in self.infos(run) if dump["trust"]["drain_cpu_ns"]]
        self.assertEqual([trust["memory_bytes"] > 0 for trust in own], [True])
        self.assertLess(own[0]["drain_cpu_ns"], (run.user_seconds + run.system_seconds) * 1e9)

    def test_each_image_names_the_one_before(self):
        run = self.assert_same_outside([IMAGES, "execv", "3"])
        images = self.processes(run)
        self.assertEqual([name_of(image) for image in images], ["images"] * 4)
        self.assertIsNone(images[0]["predecessor"])
        for before, after in zip(images, images[1:]):
            self.assertEqual(after["predecessor"], key_of(before))
            self.assertEqual(before["exit"], "exec")
        self.assert_whole(run)

    def test_children_made_in_other_ways(self):
        for way in ("clone", "_Fork", "forkpty", "signal", "programs", "threads", "atfork"):
            with self.subTest(way=way):
                self.assert_whole(self.assert_same_outside([CHILDREN, way]))

    def test_program_is_chosen_by_either_name(self):
        link, script = self.root / "renamed", self.root / "script"
        link.symlink_to(SPLIT)
        script.write_text(f"#!/bin/sh\ni=0; while [ $i -lt 50000 ]; do i=$((i+1)); done\nexec {SPLIT} 1\n")
        script.chmod(0o755)
        for comm, names in (("renamed", ["split"]), ("split", ["split"] * 2), ("script", ["dash"]),
                            ("other", [])):
            with self.subTest(comm=comm):
                run = self.record(["sh", "-c", f"{link} 1; {script}"], f"--comm={comm}")
                self.assertEqual(run.status, 0)
                found = self.processes(run) if self.dumps_of(run) else []
                self.assertEqual([name_of(image) for image in found], names)

    def test_a_program_has_one_name(self):
        """That which was run, a script's, too, whether its arguments could be read in time or not; and the same inside."""
        folder = pathlib.Path(self.folder())
        names = ["short", "with_a_name_that_is_long", "link"]
        for name in names[:2]:
            (folder / name).write_text("#!/bin/sh\ni=0; while [ $i -lt $1 ]; do i=$((i+1)); done\n")
            (folder / name).chmod(0o755)
        (folder / "link").symlink_to(SPLIT)
        turns = "; ".join(f"{folder}/{name} {amount}" for name in names for amount in (0, 0, 0, 1))
        turns += f"; {folder}/short 30000; {folder}/with_a_name_that_is_long 30000"
        run = self.record(["sh", "-c", turns], "-F", "5000")
        programs = {row["program"] for row in harness.report(run.dumps)["tree"]["programs"]}
        self.assertEqual({name for name in programs if name not in ("sh", "dash")},
                         {"short", "link"} | ({name for name in programs if names[1].startswith(name)}))
        self.assertIn(names[1], programs)
        inside = self.run_program(["sh", "-c", turns], YARN_FREQUENCY="5000")
        seen = lambda run: {dump["process"]["name"] for dump in self.infos(run) if dump["trust"]["samples"] > 20}
        self.assertEqual(seen(run) - {"sh"}, set(names))
        self.assertEqual(seen(inside) - {"sh"}, set(names))

    def test_what_an_image_that_is_left_out_executes_is_recorded(self):
        script = f"i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; {SPLIT} 1; {SPLIT} 1 & wait; exec {SPLIT} 1"
        for options, names in ((["--comm=split"], ["split"] * 3), (["--follow=exec"], ["dash"] + ["split"] * 3),
                               (["--follow=fork"], ["dash"])):
            with self.subTest(options=options):
                run = self.record(["sh", "-c", script], *options)
                seen = sorted(name_of(process) for process in self.processes(run))
                if options == ["--follow=fork"]:  # a child of the shell may have a sample before it executes
                    seen = sorted(set(seen))
                self.assertEqual(seen, names)

    @harness.as_root  # who has samples in the kernel
    def test_no_frame_of_the_image_before_is_in_the_next(self):
        script = "i=0; while [ $i -lt 40 ]; do /bin/true; i=$((i+1)); done"
        run = self.record(["sh", "-c", script], "--frequency=20000")
        in_execs = [[frame for frame in sample.frames if frame.module != harness.KERNEL]
                    for sample in harness.samples(run.dumps) if "load_elf_binary" in
                    [frame.name for frame in sample.frames if frame.module == harness.KERNEL]]
        self.assertGreater(len(in_execs), 20)
        unmapped = [frames for frames in in_execs if frames and frames[0].module == "[unknown]"]
        self.assertEqual(unmapped, [])

    def test_an_exec_of_another_thread_is_the_process_s(self):
        run = self.assert_same_outside([IMAGES, "thread", str(SPLIT)])
        images = self.processes(run)
        self.assertEqual([name_of(image) for image in images], ["images", "split"])
        self.assertEqual(images[1]["predecessor"], key_of(images[0]))
        self.assertEqual(images[0]["pid"], images[1]["pid"])

    def test_threads_have_their_names_and_their_ends(self):
        run = self.record([THREADS])
        (dump,) = self.infos(run)
        ends = [thread["end_ns"] for thread in dump["threads"]]
        self.assertEqual(len(dump["threads"]), 9)
        self.assertTrue(all(ends), ends)
        self.assert_whole(run)


class Memory(Case):
    def test_is_given_back_as_records_are_read(self):
        """Of the copies of 2000 stacks and more, 32 KiB each, it holds nothing once they are read."""
        folder = self.folder()
        command = [harness.YARNPROF, "record", "--outside", "-F", "5000", "-o", f"{folder}/", "--",
                   "sh", "-c", f"{harness.HOSTS / 'deepstack'} 900 100; sleep 2"]
        recorder = harness.start(command, folder, preload=False)
        held = []
        while not os.waitid(os.P_PID, recorder.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            lines = pathlib.Path(f"/proc/{recorder.pid}/status").read_text().splitlines()
            held += [int(line.split()[1]) for line in lines if line.startswith("VmRSS:")]
            time.sleep(0.05)
        run = self.finished(recorder, time.monotonic(), folder)
        self.assertGreater(harness.trust(run.dumps)["samples"], 2000)
        print(f"{max(held) / 1024:.0f} MiB at most, {min(held[-10:]) / 1024:.0f} at the end")
        self.assertLess(min(held[-10:]), 40 * 1024)


class Times(Case):
    """The CPU time of each process: `known` has children that say how much they have used."""

    def record_known(self, *argv, options=()):
        """What each child has used, what of that it has seen pass between its switches, and what its dump says."""
        run = self.record([KNOWN, *argv], *options)
        self.assertEqual(run.status, 0, run.stderr)
        lines = [[int(word) for word in line.split()] for line in run.stdout.decode().splitlines()[:-1]]
        trusts = {dump["process"]["pid"]: dump["trust"] for dump in self.infos(run)}
        return [(used, ran, trusts[pid]) for pid, used, ran in lines if pid in trusts]

    def test_is_what_the_processes_say(self):
        """Not less than they saw pass between their switches. More than they have used only by what the machine's
        host takes of its time, which no clock of a process has."""
        for mode in ([], ["threads"], ["pauses"]):
            with self.subTest(mode=mode):
                known = self.record_known("6", "30000", *mode)
                self.assertGreaterEqual(len(known), 3)
                for used, ran, trust in known:
                    self.assertFalse(trust["cpu_estimated"])
                    self.assertGreater(ran, 0.1 * used)
                    self.assertGreater(trust["cpu_ns"], 0.999 * ran)
                    self.assertLess(trust["cpu_ns"], 1.5 * used)

    def test_is_estimated_beyond_a_rate_of_switches(self):
        run = self.record([PINGPONG, "60000"])
        trusts = [dump["trust"] for dump in self.infos(run)]
        # The event that samples from then on is the same to whoever reads.
        harness.yarnprof("verify", run.dumps)
        (event,) = harness.report(run.dumps)["events"]
        self.assertEqual(event["samples"], sum(trust["samples"] for trust in trusts))
        self.assertTrue(all(trust["cpu_estimated"] for trust in trusts), trusts)
        # Of both processes, of which one may have been sampled alone.
        total = sum(trust["cpu_ns"] for trust in trusts) / 1e9
        self.assertGreater(total, 0.3 * len(trusts) / 2 * (run.user_seconds + run.system_seconds))

    def test_is_estimated_where_switches_are_not_to_be_recorded(self):
        known = self.record_known("2", "100000", options=["--sched=off"])
        self.assertEqual(len(known), 2)
        for used, _, trust in known:
            self.assertTrue(trust["cpu_estimated"])
            self.assertGreater(trust["cpu_ns"], 0.4 * used)
            self.assertLess(trust["cpu_ns"], 1.5 * used)  # with what the machine's host takes

    def test_of_a_process_that_is_attached_to_while_it_runs(self):
        process = harness.start([SPLIT, "100"], self.folder(), preload=False)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        time.sleep(0.2)
        before = time.clock_gettime(process.pid * -8 - 6)
        folder = self.folder()
        done = harness.yarnprof("record", "-p", process.pid, "--duration=600", "-o", f"{folder}/")
        self.assertEqual(done.returncode, 0)
        used = time.clock_gettime(process.pid * -8 - 6) - before
        trust = harness.trust(folder)
        self.assertLess(trust["cpu_ns"], used * 1e9)
        # An ordinary user has no samples of the kernel's part, which is some with many switches.
        unsampled_ms = trust["cpu_ns"] / 1e6 - trust["samples"] * 1000 / harness.FREQUENCY
        self.assertGreater(unsampled_ms, -8)
        self.assertLess(unsampled_ms, 60)


class Programs(Case):
    """Programs and processes of the tree, also those without a sample, in the command's dump."""

    def tree(self, dumps):
        return json.loads(harness.yarnprof("report", "--format=json", dumps).stdout)["tree"]

    def test_processes_shorter_than_a_period_are_counted(self):
        run = self.record([KNOWN, "200", "500"])
        tree = self.tree(run.dumps)
        (program,) = tree["programs"]
        self.assertEqual((program["program"], program["processes"]), ("known", 201))
        self.assertGreater(program["silent"], 100)
        self.assertAlmostEqual(tree["cpu_ns"] / tree["counted_ns"], 1, delta=0.05)

    def test_no_process_has_less_than_it_has_seen_itself(self):
        """Between its switches: a process's clock begins at the wake-up that leads to a switch, in whose time another
        may run."""
        run = self.record([KNOWN, "400", "500"])
        lines = [line.split() for line in run.stdout.decode().splitlines()]
        listed = {process["pid"]: process for dump in harness.info(run.dumps) if "tree" in dump
                  for process in dump["tree"]["list"]}
        self.assertEqual(len(listed), 401)
        ran = {int(pid): int(ns) for pid, _, ns in lines[:-1] if int(ns) and not listed[int(pid)]["is_estimated"]}
        self.assertGreater(len(ran), 20)
        short = {pid: (ns, listed[pid]["cpu_ns"]) for pid, ns in ran.items() if listed[pid]["cpu_ns"] < 0.999 * ns}
        self.assertEqual(short, {})

    def test_their_sum_is_the_event_s_own_count(self):
        for mode in ([], ["threads"], ["pauses"]):
            with self.subTest(mode=mode):
                tree = self.tree(self.record([KNOWN, "6", "50000", *mode]).dumps)
                self.assertGreater(tree["counted_ns"], 190e6)
                self.assertAlmostEqual(tree["cpu_ns"] / tree["counted_ns"], 1, delta=0.01)

    def test_views_show_them(self):
        run = self.record(["sh", "-c", f"{KNOWN} 200 300 >/dev/null; true"])
        text = harness.yarnprof("report", run.dumps).stdout.decode()
        self.assertRegex(text, r"The tree: 20[0-9] processes, .* without a sample")
        programs = harness.yarnprof("report", "--by=program", run.dumps).stdout.decode()
        self.assertRegex(programs, r"(?m)^ +201 .* known$")
        self.assertRegex(text, r"in children that ended unrecorded")
        text = harness.yarnprof("info", run.dumps).stdout.decode()
        percent = float(re.search(r"profiler's own .* \(([0-9.]+) % of the tree's\)", text)[1])
        (trust,) = [dump["trust"] for dump in self.infos(run) if "tree" in dump]
        self.assertAlmostEqual(percent, 100 * trust["drain_cpu_ns"] / self.tree(run.dumps)["cpu_ns"], delta=0.01)
        page = self.root / "page.html"
        harness.yarnprof("flamegraph", run.dumps, "-o", page)
        self.assertRegex(page.read_text(), r"Processes without a sample</dt><dd>[^<]* of 201 of known")

    def test_their_samples_are_those_of_the_rows_and_under_the_same_names(self):
        """Also where the arguments of a program could not be read, which has ended by then."""
        link = self.root / "renamed"
        link.symlink_to(SPLIT)
        run = self.record(["sh", "-c", f"for i in 1 2 3 4 5 6 7 8 9 10; do {link} 1; {KNOWN} 3 3000 >/dev/null; done"])
        programs = {row["program"]: row["sampled_ns"] for row in self.tree(run.dumps)["programs"]}
        self.assertLessEqual({"renamed", "known"}, set(programs))
        report = json.loads(harness.yarnprof("report", "--by=program", "--format=json", run.dumps).stdout)
        rows = {row["program"]: row["self"] for row in report["rows"] if "program" in row}
        self.assertGreater(rows["renamed"], 0)
        self.assertEqual({name: ns for name, ns in programs.items() if ns}, rows)
        commands = json.loads(harness.yarnprof("report", "--by=command", "--format=json", run.dumps).stdout)
        self.assertEqual([row for row in commands["rows"] if not row.get("command", "-")], [])

    def test_a_command_that_becomes_another_is_not_listed_twice(self):
        run = self.record(["sh", "-c", f"{SPLIT} 6; {KNOWN} 50 300 >/dev/null; exec {SPLIT} 6"])
        tree = self.tree(run.dumps)
        programs = {program["program"]: program["processes"] for program in tree["programs"]}
        self.assertEqual(programs["known"], 51)
        self.assertEqual(programs["split"], 2)
        self.assertEqual(sum(programs.values()), tree["processes"])
        self.assertAlmostEqual(tree["cpu_ns"] / tree["counted_ns"], 1, delta=0.02)

    def test_a_process_without_a_sample_was_recorded_all_the_same(self):
        run = self.record([KNOWN, "30", "1000"], "-e", "page-faults/period=100000/")
        self.assertNotIn(b"children", run.outcome)
        self.assertGreater(self.tree(run.dumps)["silent"], 25)

    def test_one_file_has_the_tree_once(self):
        path = self.root / "one.dump"
        harness.yarnprof("record", "--outside", "-o", path, "--", KNOWN, "100", "500")
        self.assertEqual(self.tree(path)["processes"], 101)
        harness.yarnprof("verify", path)

    def test_what_is_known_is_written_at_each_interval(self):
        folder = self.folder()
        command = [harness.YARNPROF, "record", "--outside", "-o", f"{folder}/", "--", "sh", "-c",
                   f"{SPLIT} 9000 >/dev/null & echo $!; while :; do {KNOWN} 20 300 >/dev/null; done"]
        process = harness.start(command, folder, preload=False, before=os.setpgrp)
        control.let_work(int(process.stdout.readline()), 1)
        process.kill()
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        said = harness.yarnprof("verify", "--trust=90", folder).stdout.decode().splitlines()
        self.assertRegex(said[-1], "^trusted as far as it goes: .*; not closed: the end is missing$")
        notes = harness.report(folder)["notes"]
        self.assertEqual((notes["clean_end"], notes["unwritten_ns"]), (False, 0))  # how much is not known
        tree = self.tree(folder)
        self.assertGreater(tree["processes"], 20)
        programs = {program["program"]: program for program in tree["programs"]}
        self.assertEqual(programs["split"]["processes"], 1)  # which lives
        self.assertGreater(programs["split"]["cpu_ns"], 0.5e9)
        self.assertGreater(tree["cpu_ns"], sum(program["cpu_ns"] for program in programs.values()) * 0.999)

    @unittest.skipUnless(os.getuid(), "root may read every file")
    def test_programs_that_may_not_be_followed_are_listed(self):
        program = self.root / "unreadable"
        shutil.copy(SPLIT, program)
        program.chmod(0o111)
        run = self.record(["sh", "-c", f"{program} 1; {SPLIT} 1"])
        unknown = {program["program"]: program["unknown"] for program in self.tree(run.dumps)["programs"]}
        self.assertEqual(unknown["unreadable"], 1)
        self.assertEqual(unknown["split"], 0)


class Files(Case):
    def record_into(self, path, argv):
        command = [harness.YARNPROF, "record", "--outside", "-o", path, "--", *argv]
        return self.finished(harness.start(command, self.root, preload=False), time.monotonic(), self.root)

    def test_a_file_has_all_processes_and_takes_no_other_s_place(self):
        path = self.root / "one.dump"
        for number, name in enumerate(("one.dump", "one.dump.1")):
            run = self.record_into(path, ["sh", "-c", f"{CHILDREN} tree; exit 3"])
            self.assertEqual((run.status, run.stderr), (3, b""))
            self.assertIn(b" in 1 dump, ", run.outcome)
            processes = [dump["process"] for dump in harness.info(self.root / name)]
            self.assertEqual([name_of(process) for process in processes if name_of(process) == "children"],
                             ["children"] * 3)
            harness.yarnprof("verify", self.root / name)
            self.assertEqual(len(list(self.root.glob("one.dump*"))), number + 1)

    def test_a_command_without_a_sample_has_its_dump_all_the_same(self):
        path = self.root / "none.dump"
        run = self.record_into(path, ["true"])
        self.assertEqual((run.status, run.stderr), (0, b""))
        self.assertIn(b"no process had a sample", run.outcome)
        (dump,) = harness.info(path)
        self.assertEqual((name_of(dump["process"]), dump["trust"]["samples"]), ("true", 0))
        self.assertEqual(dump["tree"]["processes"], 1)
        self.assertGreater(dump["trust"]["cpu_ns"], 0)

    def test_nothing_is_left_where_nothing_was_recorded(self):
        command = [harness.YARNPROF, "record", "--outside", "--comm=other", "-o", self.root / "none.dump", "--", "true"]
        run = self.finished(harness.start(command, self.root, preload=False), time.monotonic(), self.root)
        self.assertEqual(run.status, 0)
        self.assertIn(b"nothing was recorded", run.outcome)
        self.assertEqual(list(self.root.iterdir()), [])

    def test_the_line_counts_what_the_dumps_say_that_are_there(self):
        for script in (f"{KNOWN} 20 5000", f"{KNOWN} 20 5000; sleep 0.3; rm {self.root}/yarn.known.*; {SPLIT} 1"):
            run = self.record_into(f"{self.root}/", ["sh", "-c", script])
            dumps = sorted(self.root.glob("*.dump"))
            self.assertGreater(len(dumps), 1 if "rm" in script else 10)
            samples = harness.trust(self.root)["samples"]
            self.assertRegex(run.outcome.decode(), rf"^\[yarn: {samples:,} samples in {len(dumps)} dumps, ")
            for dump in dumps:
                dump.unlink()

    def test_a_file_is_its_owner_s_and_its_folders_are_made(self):
        path = self.root / "made" / "too" / "both"
        done = harness.yarnprof("record", "--outside", "-o", path, "--", "sh", "-c", f"{SPLIT} 1; {SPLIT} 1; exit 4",
                                check=False)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertEqual(os.listdir(path.parent), ["both"])
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)

    def test_a_file_that_cannot_be_written_leaves_the_command_s_status(self):
        folder = self.root / "gone"
        done = harness.yarnprof("record", "--outside", "-o", folder / "both", "--", "sh", "-c",
                                f"{SPLIT} 1; {SPLIT} 1; rm -r {folder}; exit 4", check=False)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertTrue(done.stderr)

    def test_processes_without_a_sample_have_no_file(self):
        run = self.record(["sh", "-c", f"for i in 1 2 3 4 5 6 7 8; do true; /bin/true; done; {SPLIT} 1 >/dev/null"])
        self.assertEqual(run.status, 0, run.stderr)
        command, *others = self.infos(run)
        self.assertEqual(command["process"]["exit_status"], 0)
        self.assertTrue(all(dump["trust"]["samples"] for dump in others))
        self.assertIn("split", {name_of(image) for image in self.processes(run)})


class Losses(Case):
    def test_what_is_lost_is_counted_exactly(self):
        """While the recorder stands still its rings run over, with switch records, too: these are another event's."""
        folder = self.folder()
        command = [harness.YARNPROF, "record", "--outside", "--ring=256K", "--callgraph=dwarf:16384",
                   "-o", f"{folder}/", "--", "sh", "-c", f"{SPLIT} 12; times"]
        recorder = harness.start(command, folder, preload=False)
        begun = time.monotonic()
        ((program,),) = map(children_of, children_of(recorder.pid))
        for seconds in (0.2, 0.1):
            control.let_work(program, seconds)
            recorder.send_signal(signal.SIGSTOP)
            control.let_work(program, seconds)
            recorder.send_signal(signal.SIGCONT)
        run = self.finished(recorder, begun, folder)
        self.assertEqual(run.status, 0, run.stderr)
        user, _ = run.stdout.decode().splitlines()[-1].split()
        minutes, seconds = re.match(r"(\d+)m([\d.]+)s", user).groups()
        trust = harness.trust(run.dumps)
        self.assertGreater(trust["lost"], 20)
        expected = (60 * int(minutes) + float(seconds)) * harness.FREQUENCY
        self.assertAlmostEqual((trust["samples"] + trust["lost"]) / expected, 1, delta=0.04)

    def test_nothing_is_lost_while_the_recorder_names_and_writes(self):
        run = self.record(["sh", "-c", f"{CHILDREN} threads & {SPLIT} 5 & {SPLIT} 5 & wait"])
        self.assert_none_lost(run)


class Sentences(Case):
    def inside(self, *argv):
        return harness.yarnprof("record", "-o", f"{self.folder()}/", "--", *argv, check=False).stderr

    def test_inside_names_what_costs_a_tree_of_short_processes_less(self):
        self.assertRegex(self.inside(KNOWN, "400", "2000"), rb"processes in [^;]*: record --outside costs such a tree less")
        self.assertNotIn(b"--outside", self.inside(SPLIT, "6"))

    def test_few_open_files_are_the_reason(self):
        few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (14, 14))
        command = [harness.YARNPROF, "record", "--outside", "-o", f"{self.folder()}/", "--", "true"]
        run = self.finished(harness.start(command, self.folder(), preload=False, before=few), time.monotonic(), self.folder())
        self.assertIn(b"ulimit -n", run.stderr)

    def test_inside_says_how_much_is_in_no_dump(self):
        def line(*options):
            command = [harness.YARNPROF, "record", *options, "-o", f"{self.folder()}/", "--", "sh", "-c",
                       f"{SPLIT} 2; {STANDALONE} 3"]
            return self.finished(harness.start(command, self.folder(), preload=False), time.monotonic(),
                                 self.folder()).outcome.decode()
        missing_ms, all_ms = map(float, re.search(r"; ([0-9.]+) ms of ([0-9.]+) ms of CPU time in no dump ", line()).groups())
        self.assertAlmostEqual(missing_ms / all_ms, 0.6, delta=0.06)
        self.assertNotIn("in no dump", line("--comm=split"))

    def test_a_static_command_inside_names_it_too(self):
        self.assertRegex(self.inside(STANDALONE, "1"), rb"statically linked[^;]*; [^;]*--outside")

    def test_where_perf_is_refused_timers_are_offered_and_not_taken(self):
        for error in (errno.EPERM, errno.EACCES):
            done = self.run_program([harness.HOSTS / "noperf", error, harness.YARNPROF, "record", "--outside", "-o",
                                     f"{self.folder()}/", "--", "touch", self.root / "ran"], preload=False)
            self.assertEqual((done.status, done.stderr.count(b"\n")), (1, 1), done.stderr)
            self.assertRegex(done.stderr, b"CAP_PERFMON.*--inside --sampler=timer")
            self.assertFalse((self.root / "ran").exists())

    def test_a_program_of_another_c_library_has_its_own_frames(self):
        program = self.compiled("musl-gcc", "-O2", "-fno-omit-frame-pointer")
        run = self.record([program, "5"])
        (dump,) = self.infos(run)
        shares = harness.self_percent(run.dumps)
        self.assertGreater(shares["hot_a"], shares["hot_b"])
        self.assertGreater(shares["hot_b"], shares["hot_c"])
        self.assertGreater(dump["trust"]["samples"], 100)

    def test_a_32_bit_program_is_counted_and_said(self):
        program = self.compiled("gcc", "-m32", "-O2")
        run = self.record([program, "5"])
        (dump,) = self.infos(run)
        trust = dump["trust"]
        self.assertGreater(trust["samples"], 100)
        self.assertGreater(trust["stacks_no_unwind_info"], 0.9 * trust["samples"])
        self.assertIn("32-bit code", " ".join(message["text"] for message in dump["messages"]))

    def compiled(self, *command):
        program = self.root / "program"
        try:
            sources = pathlib.Path(__file__).parents[2]
            done = subprocess.run([*command, f"-I{sources}", "-o", program, sources / "tests" / "hosts" / "split.c"],
                                  capture_output=True)
        except FileNotFoundError:
            self.skipTest(f"there is no {command[0]}")
        if done.returncode:
            self.skipTest(f"{command[0]} cannot link such programs")
        return program

    def test_events_that_cannot_be_followed_are_said(self):
        run = self.record([SPLIT, "1"], "-e", f"cpu-clock,uprobe:{SPLIT}:main")
        self.assertEqual((run.status, run.stderr.count(b"\n")), (2, 1), run.stderr)
        self.assertIn(b"does not have probes", run.stderr)
        run = self.record([SPLIT, "3"], "-e", "{cpu-clock,page-faults}:S")
        self.assertEqual(run.status, self.outside_without([SPLIT, "3"])[0])
        self.assertIn(b"(:S) makes each switch", run.stderr)
        self.assertGreater(harness.trust(run.dumps)["samples"], 100)


class Names(Case):
    """Names of generated code, by the process's own number and user."""

    def setUp(self):
        super().setUp()
        if not JIT.exists():
            self.skipTest("the program generates code for another processor")

    def assert_named(self, *before):
        run = self.record([*before, JIT, "map"])
        self.assertEqual(run.status, 0, run.stderr)
        for image in self.processes(run):
            self.addCleanup(pathlib.Path(f"/tmp/perf-{image['pid']}.map").unlink, missing_ok=True)
        shares = harness.self_percent(run.dumps)
        self.assertGreater(sum(shares.get(name, 0) for name in ("generated_first", "generated_second")), 80, shares)

    def test_of_a_process_of_this_user(self):
        self.assert_named()

    @harness.as_root
    def test_of_another_user_s_process(self):
        os.chmod(self.root, 0o777)
        self.assert_named("setpriv", "--reuid=65534", "--clear-groups")

    def test_of_a_process_that_has_another_number_in_its_namespace(self):
        argv = ["unshare", "--user", "--map-root-user", "--pid", "--fork"]
        if subprocess.run([*argv, "true"], capture_output=True).returncode:
            self.skipTest("namespaces of processes may not be made")
        self.addCleanup(pathlib.Path("/tmp/perf-1.map").unlink, missing_ok=True)
        self.assert_named(*argv)


class Descendants(Case):
    """--wait=tree: also what lives longer than the command."""

    COMMAND = ["sh", "-c", f"({SPLIT} 8 >/dev/null 2>&1 &) ; exit 5"]

    def test_what_outlives_the_command_is_recorded_to_its_end(self):
        run = self.record(self.COMMAND, "--wait=tree")
        self.assertEqual((run.status, run.stderr), (5, b""))
        images = self.processes(run)
        # The shell's subshell has a dump, too, where a sample fell into its short life.
        self.assertEqual([image["exit"] for image in images if name_of(image) == "split"], ["exit"])
        self.assertEqual([image["exit_status"] for image in images if not image["parent"]], [5])
        self.assertGreater(harness.trust(run.dumps)["samples"], 400)

    def test_else_up_to_the_command_s_end(self):
        for options in ([], ["--wait=command"]):
            run = self.record(["sh", "-c", f"({SPLIT} 1000 >/dev/null 2>&1 & echo $!); sleep 0.3; exit 5"], *options)
            os.kill(int(run.stdout), signal.SIGKILL)
            self.assertEqual(run.status, 5)
            images = {name_of(image): image for image in self.processes(run)}
            self.assertEqual(images["split"]["exit"], "stopped")

    def test_an_interrupt_ends_the_wait_alone(self):
        folder = self.folder()
        command = [harness.YARNPROF, "record", "--outside", "--wait=tree", "-o", f"{folder}/", "--", "sh", "-c",
                   f"({SPLIT} 1000 >/dev/null 2>&1 & echo $!); exit 5"]
        process = harness.start(command, folder, preload=False)
        pid = int(process.stdout.readline())
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        time.sleep(0.5)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        run = self.finished(process, time.monotonic(), folder)
        self.assertEqual(run.status, 5)
        os.kill(pid, 0)
        self.assertIn("stopped", {image["exit"] for image in self.processes(run)})

    def test_other_words_and_other_commands_are_refused(self):
        for options, text in ((["--wait=both"], b"command or tree"), (["--inside", "--wait=tree"], b"--outside")):
            run = self.record(["true"], *options)
            self.assertEqual(run.status, 2)
            self.assertIn(text, run.stderr)


class Ranks(Case):
    def test_each_process_has_the_rank_of_its_own_environment(self):
        script = f"for i in 3 4; do OMPI_COMM_WORLD_RANK=$i {SPLIT} 3 >/dev/null & done; wait"
        folder = self.folder()
        harness.yarnprof("record", "--outside", "-o", f"{folder}/%e.%r.dump", "--", "sh", "-c", script)
        ranks = {pathlib.Path(dump["path"]).name: dump["process"]["rank"] for dump in harness.info(folder)
                 if name_of(dump["process"]) == "split"}
        self.assertEqual(ranks, {"split.3.dump": "3", "split.4.dump": "4"})


class Rights(Case):
    @unittest.skipUnless(os.getuid(), "root may follow every program")
    def test_programs_that_gain_rights_are_named(self):
        privileged = next((path for path in map(shutil.which, ("su", "mount", "passwd", "chsh"))
                           if path and os.stat(path).st_mode & 0o4000), None)
        if not privileged:
            self.skipTest("there is no set-uid program here")
        name = pathlib.Path(privileged).name
        run = self.record(["sh", "-c", f"{privileged} --help >/dev/null; {SPLIT} 1; "
                                       f"{privileged} --help >/dev/null; exit 4"])
        self.assertEqual(run.status, 4)
        self.assertIn(f"{name} was not recorded, nor what it made (2x)".encode(), run.stderr)
        self.assertEqual(run.stderr.count(b"\n"), 1, run.stderr)
        self.assertEqual({name_of(image) for image in self.processes(run)} - {"sh", "dash"}, {"split"})

    @unittest.skipUnless(os.getuid(), "root may read every file")
    def test_programs_that_may_not_be_read_are_named(self):
        program = self.root / "unreadable"
        shutil.copy(SPLIT, program)
        program.chmod(0o111)
        run = self.record(["sh", "-c", f"{program} 1; {SPLIT} 1"])
        self.assertEqual(run.status, self.outside_without([SPLIT, "1"])[0])
        self.assertIn(b"unreadable was not recorded, nor what it made (1x)", run.stderr)


class Build(Case):
    FILES = 30

    def setUp(self):
        super().setUp()
        self.assertTrue(shutil.which("gcc") and shutil.which("make"))
        self.sources = self.root / "sources"
        self.sources.mkdir()
        for i in range(self.FILES):
            functions = "\n".join(
                f"int f{i}_{k}(int a, const char *b) {{ int s = 0; for (int j = 0; j < a; j++) s += j * {k} +"
                f" (int)strlen(b); if (s > 9) printf(\"%d\\n\", s); return s; }}" for k in range(40))
            (self.sources / f"f{i}.c").write_text(f"#include <stdio.h>\n#include <string.h>\n{functions}\n")
        (self.sources / "Makefile").write_text(
            "objects = $(patsubst %.c,%.o,$(wildcard *.c))\nall: $(objects)\n"
            "%.o: %.c\n\tgcc -c -o $@ $<\n")

    def test_build_of_small_files(self):
        run = self.record(["make", "-s", "-j2"], cwd=self.sources)
        self.assertEqual((run.status, run.stdout), (0, b""), run.stderr)
        self.assertEqual(len(list(self.sources.glob("*.o"))), self.FILES)
        self.assert_whole(run)
        images = self.processes(run)
        compilers = [image for image in images if name_of(image) == "cc1"]
        self.assertEqual(len(compilers), self.FILES)
        arguments = [image["cmdline"] for image in compilers if image["cmdline"]]
        self.assertTrue(arguments, "no compiler was seen while it lived")
        self.assertTrue(all(" -quiet " in line for line in arguments), arguments)
        self.assertEqual(len({image["pid"] for image in compilers}), self.FILES)
        self.assertIn("cc1", [row["program"] for row in
                              harness.report(run.dumps, "--by=program")["rows"]])

    def test_copies_suit_the_ring_that_was_had(self):
        def no_locked_memory():
            import resource
            resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))

        run = self.record(["make", "-s", "-j2"], cwd=self.sources, before=no_locked_memory)
        self.assertEqual(run.status, 0, run.stderr)
        sampler = self.infos(run)[0]["sampler"]
        if os.getuid():
            self.assertLess(sampler["ring_got_bytes"], 1 << 20)
            self.assertLessEqual(sampler["stack_got_bytes"], 16 << 10)
        self.assert_none_lost(run)


if __name__ == "__main__":
    harness.main()
