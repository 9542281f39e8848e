# SPDX-License-Identifier: Apache-2.0
"""What the host gives up no task of its keeps: ids, capabilities, a root, a namespace, a view of
other processes. And nothing of a file system is held that the host has left."""

import os
import shutil
import unittest

import harness
from narrow import Case

RIGHTS = harness.HOSTS / "rights"
CANNOT_STOP = 77
STOPPED_MS = 300
WAYS = {
    "chroot": ("jail", 1),
    "chroot-raw": ("jail", 1),
    "helper": ("jail", 1),
    "pivot": ("jail", 2),
    "fs": ("jail", 2),
    "namespaces": ("jail", 2),
    "setns": (None, 2),
    "ids": (None, 1),
    "raw-ids": (None, 1),
    "groups": (None, 1),
    "threads": (None, 1),
    "bounds": (None, 1),
}


@harness.as_root
class Rights(harness.Case):
    def check(self, way, *words, **variables):
        place, nr_dumps = WAYS[way]
        argv = [RIGHTS, way, self.folder() if place else "-", *words]
        plain = self.run_plainly(argv)
        run = self.run_program(argv, **variables)
        if run.status == CANNOT_STOP:
            self.skipTest("no debugger may stop a thread here")
        self.assertEqual(plain.stdout.splitlines()[0].split(b",")[0], b"failed: 0")
        self.assertEqual((plain.status, plain.stdout, plain.stderr),
                         (run.status, run.stdout, run.stderr))
        return run, nr_dumps

    @staticmethod
    def own_dumps(run):
        """Not of a child, which has some only if it lives long enough."""
        dumps = harness.info(run.dumps)
        pids = {dump["process"]["pid"] for dump in dumps}
        return [dump for dump in dumps if dump["process"]["ppid"] not in pids]

    def test_nothing_is_kept(self):
        os.chmod(self.root, 0o711)
        for way in WAYS:
            with self.subTest(way=way):
                run, nr_dumps = self.check(way, YARN_EMPTY="keep")
                self.assertEqual(len(self.own_dumps(run)), nr_dumps)
                self.assertGreater(harness.trust(run.dumps)["samples"], 0)

    def test_nothing_is_kept_by_a_reader_that_gets_no_turn(self):
        """The host's call returns when the reader has followed, however long it is stopped."""
        os.chmod(self.root, 0o711)
        for way in WAYS:
            for sampler in ("auto", "timer") if way == "raw-ids" else ("auto",):
                with self.subTest(way=way, sampler=sampler):
                    self.check(way, STOPPED_MS, YARN_SAMPLER=sampler)

    def test_samples_go_on_in_a_root_without_proc(self):
        for way in ({"YARN_STRATEGY": "per-thread"}, {"YARN_SAMPLER": "timer"}):
            with self.subTest(**way):
                run, _ = self.check("chroot", **way)
                trust = harness.trust(run.dumps)
                self.assertLess(trust["unsampled_ns"], 0.5 * trust["cpu_ns"])
                self.assertGreater(harness.self_percent(run.dumps).get("main", 0), 50)

    def test_clocks_of_whole_cores_end_before_the_rights_go(self):
        for way in ("ids", "chroot", "namespaces", "helper"):
            with self.subTest(way=way):
                run, nr_dumps = self.check(way, YARN_STRATEGY="cores", YARN_EMPTY="keep")
                dumps = sorted(harness.info(run.dumps), key=lambda d: d["process"]["start_ns"])
                # Not from a child on our memory, whose thread the reader would be.
                self.assertEqual(len(dumps), nr_dumps + (way != "helper"))
                self.assertEqual(dumps[0]["sampler"]["strategy"], "cores")
                self.assertEqual(dumps[0]["process"]["exit"], "stopped")
                self.assertNotIn("cores", [d["sampler"]["strategy"] for d in dumps[1:]])
                if way != "helper":
                    self.assertGreater(dumps[-1]["trust"]["samples"], 0)

    def test_the_machine_s_switches_end_before_the_rights_go(self):
        if not os.access("/sys/kernel/tracing/events/sched/sched_switch/format", os.R_OK):
            self.skipTest("tracefs is not mounted")
        for way in ("ids", "raw-ids", "chroot"):
            with self.subTest(way=way):
                run, _ = self.check(way, YARN_SCHED="tracepoints:all", YARN_EMPTY="keep")
                first, last = sorted(harness.info(run.dumps), key=lambda d: d["process"]["start_ns"])
                self.assertEqual(first["sched"]["got"], "tracepoints:all")
                self.assertEqual(first["process"]["exit"], "stopped")
                self.assertNotEqual(last["sched"]["got"], "tracepoints:all")
                self.assertIn("has changed its rights", last["sched"]["reason"])

    def test_handler_that_leaves_while_its_thread_does(self):
        run = self.run_program([RIGHTS, "handler"])
        self.assertEqual((run.status, run.stdout.splitlines()[0]), (0, b"failed: 0"))
        self.assertNotIn(b"a task has", run.stdout)

    def test_who_changes_ids_and_leaves_has_no_empty_dump(self):
        folder = self.folder()
        os.chmod(self.root, 0o711)
        folder.chmod(0o777)
        for _ in range(5):
            run = self.run_program([RIGHTS, "leave"], YARN_OUTPUT=f"{folder}/")
            self.assertEqual(run.status, 0)
        for dump in folder.iterdir():  # it may have had a sample
            self.assertGreater(harness.trust(dump)["samples"], 0)

    def test_who_changes_ids_and_execs_has_no_empty_dump(self):
        """As setpriv and su do; one whose exec fails after all has its samples."""
        broken = self.folder() / "broken"
        broken.write_bytes(b"\x7fELF")
        broken.chmod(0o755)
        for program, nr_dumps in (("/bin/true", 0), (broken, 1)):
            run = self.run_program([RIGHTS, "exec", program])
            self.assertEqual([harness.trust(d)["samples"] > 0 for d in run.dumps.iterdir()],
                             [True] * nr_dumps)

    def test_dumps_that_children_could_not_remove_are_removed(self):
        """They may not write the folder any more; who made them may."""
        os.chmod(self.root, 0o711)
        run = self.run_program([RIGHTS, "children"], YARN_INTERVAL="0.05s")
        self.assertEqual((run.status, run.stdout.splitlines()[0]), (0, b"failed: 0"))
        dumps = harness.info(run.dumps)
        for dump in dumps:  # who left at once may have had a sample
            self.assertGreater(dump["trust"]["samples"], 0)
        worker = max((d for d in dumps if d["process"]["parent"]),
                     key=lambda d: d["trust"]["samples"])
        self.assertGreater(worker["trust"]["samples"], 20)

    def test_rights_given_up_before_there_is_a_reader(self):
        """It begins with those of the thread that calls for it, and has no older ones to take."""
        program = "import ctypes, os\nos.seteuid(60003); os.seteuid(0); os.setegid(60003)\n" \
            "os.setgroups([]); os.setgid(60003); os.setuid(60003)\n" \
            "print(ctypes.CDLL(None).yarn_start())\nprint(sum(i * i for i in range(6000000)))"
        folder = self.folder()
        os.chmod(self.root, 0o711)
        folder.chmod(0o777)
        run = self.run_program(["/usr/bin/python3", "-c", program], YARN_START="off", YARN_OUTPUT=f"{folder}/")
        self.assertEqual((run.status, run.stderr, run.stdout.splitlines()[0]), (0, b"", b"0"))
        (dump,) = harness.info(folder)
        self.assertEqual(dump["process"]["exit"], "exit")
        self.assertGreater(dump["trust"]["samples"], 0)

    def test_exec_that_only_the_effective_user_may_is_seen(self):
        program = self.folder() / "program"
        shutil.copy("/bin/true", program)
        os.chmod(self.root, 0o711)
        program.chmod(0o700)
        run = self.run_program([RIGHTS, "exec", program], YARN_EMPTY="keep")
        (dump,) = harness.info(run.dumps)
        self.assertEqual((run.status, dump["process"]["exit"]), (0, "exec"))


class Landlock(harness.Case):
    """The rules that the host takes bind the reader, too."""

    def check(self, way, **variables):
        folder = self.folder()
        argv = [harness.HOSTS / "landlock", way, folder]
        plain = self.run_plainly(argv)
        if plain.status == CANNOT_STOP:
            self.skipTest("the kernel has no Landlock")
        run = self.run_program(argv, **variables)
        self.assertEqual(plain.outside(), run.outside())
        return run

    def test_samples_go_on(self):
        for way in ("all", "keep", "threads", "refused"):
            for sampler in ("auto", "timer"):
                with self.subTest(way=way, sampler=sampler):
                    run = self.check(way, YARN_SAMPLER=sampler)
                    (dump,) = harness.info(run.dumps)
                    self.assertEqual(dump["process"]["exit"], "exit")
                    self.assertGreater(harness.self_percent(run.dumps).get("work_behind", 0), 40)

    def test_reader_is_bound(self):
        """A dump is made before, for it could not be later. Nothing comes, so it is removed again,
        unless the rules forbid that, whichever thread has taken them."""
        for way, nr_dumps in (("idle", 1), ("idle-threads", 1), ("idle-keep", 0), ("idle-refused", 0)):
            with self.subTest(way=way):
                run = self.check(way, YARN_FREQUENCY="1")
                self.assertEqual(len(self.dumps_of(run)), nr_dumps)


class Timer(Case):
    """With the sampler that handles a signal."""

    def test_unshare_begins_another_recording(self):
        run = self.assert_same_outside([harness.HOSTS / "children", "unshare"], YARN_SAMPLER="timer")
        first, second = sorted(harness.info(run.dumps), key=lambda d: d["process"]["start_ns"])
        self.assertEqual(first["process"]["exit"], "stopped")
        self.assertEqual(second["process"]["predecessor"]["start_ns"], first["process"]["start_ns"])

    @harness.as_root
    def test_rights_given_up_by_every_task(self):
        self.assert_same_outside([harness.HOSTS / "setids"], YARN_SAMPLER="timer")

    @harness.as_root
    def test_server_that_gives_up_root_and_folder(self):
        jail = self.folder()
        os.chmod(self.root, 0o755)
        run = self.run_program([harness.HOSTS / "children", "chroot", jail], YARN_SAMPLER="timer")
        self.assertEqual((run.status, run.stdout.splitlines()[-1]), (0, b"status 0"))
        self.assertIn("child_work", harness.self_percent(run.dumps))


class Things(harness.Case):
    @harness.as_root
    @unittest.skipUnless(shutil.which("unshare"), "needs unshare")
    def test_folder_that_was_left_can_be_unmounted(self):
        script = 'mount -t tmpfs none "$0" && cd "$0" && exec "$@"'
        argv = ["unshare", "--mount", "/bin/sh", "-c", script, self.folder(), RIGHTS, "umount"]
        plain = self.run_plainly(argv)
        run = self.run_program(argv)
        self.assertEqual(plain.stdout.splitlines()[0], b"failed: 0")
        self.assertEqual((plain.status, plain.stdout), (run.status, run.stdout))

    @harness.as_root
    @unittest.skipUnless(shutil.which("chrt"), "needs chrt")
    def test_reader_is_not_real_time(self):
        argv = ["chrt", "-f", "10", RIGHTS, "real-time"]
        plain = self.run_plainly(argv)
        if plain.stdout.splitlines()[:1] != [b"1 in real time"]:
            self.skipTest("real time is unavailable here")
        self.assertEqual(plain.stdout, self.run_program(argv).stdout)

    def test_dumps_lie_where_the_program_was_started(self):
        folder = self.folder()
        run = self.run_program([RIGHTS, "chdir"], cwd=folder, YARN_OUTPUT="x/%p.dump")
        self.assertEqual(run.stdout.splitlines()[0], b"failed: 0")
        self.assertEqual(len(list(folder.glob("x/*.dump"))), 1)


if __name__ == "__main__":
    harness.main(needs_perf=False)
