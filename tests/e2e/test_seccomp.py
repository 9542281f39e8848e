# SPDX-License-Identifier: Apache-2.0
"""Hosts that shut themselves in: nothing of ours may make a call that a filter would punish."""

import ctypes
import os
import shutil
import signal
import struct
import subprocess
import unittest

import harness

SANDBOX = harness.HOSTS / "sandbox"
DISPATCH = harness.HOSTS / "dispatch"
SPLIT = harness.HOSTS / "split"
PYTHON = "/usr/bin/python3"
LIBSECCOMP = """
import os, seccomp, sys
n = sum(i * i % 7 for i in range(800000))
f = seccomp.SyscallFilter(seccomp.KILL_PROCESS)
if sys.argv[1] == "all":
    f.set_attr(seccomp.Attr.CTL_TSYNC, True)
for name in ("write", "exit_group", "munmap", "mmap", "brk", "rt_sigaction", "close", "futex",
             "madvise", "mremap"):
    f.add_rule(seccomp.ALLOW, name)
f.load()
n += sum(i * i % 7 for i in range(800000))
print(n)
sys.stdout.flush()
os._exit(5)
"""


class Case(harness.Case):
    def assert_same_outside(self, argv, **variables):
        plain = self.outside_without(argv)
        if plain[0] == harness.SKIPPED:
            self.skipTest("no filter can be set here")
        profiled = self.run_program(argv, **variables)
        self.assertEqual(plain, profiled.outside())
        if self.dumps_of(profiled):
            harness.yarnprof("verify", profiled.dumps)
        return profiled

    def only_dump(self, run):
        (dump,) = harness.info(run.dumps)
        return dump

    def messages(self, dump):
        return " ".join(message["text"] for message in dump["messages"])


class Filters(Case):
    """With whatever sampler there is: the dump says how far it goes."""

    def assert_ended_before(self, way, why, **variables):
        run = self.assert_same_outside([SANDBOX, way], **variables)
        dump = self.only_dump(run)
        self.assertEqual(dump["process"]["exit"], "seccomp")
        self.assertTrue(dump["trust"]["clean_end"])
        self.assertIn(why, self.messages(dump))
        shares = harness.self_percent(run.dumps)
        self.assertGreater(shares.get("work_before", 0), 90)
        return run

    def test_filter_of_all_threads_ends_the_recording(self):
        for way in ("tsync", "threads-all"):
            with self.subTest(way=way):
                run = self.assert_same_outside([SANDBOX, way])
                dump = self.only_dump(run)
                self.assertEqual(dump["process"]["exit"], "seccomp")
                self.assertIn("for all of its threads", self.messages(dump))
                self.assertIn("work_before", harness.self_percent(run.dumps))

    def test_any_filter_ends_the_timer_sampler(self):
        for way in ("prctl", "syscall", "listener", "tsync", "strict", "fork", "killed"):
            with self.subTest(way=way):
                self.assert_ended_before(way, "the host sets a seccomp filter", YARN_SAMPLER="timer")

    def test_threads_under_the_timer_sampler(self):
        run = self.assert_same_outside([SANDBOX, "threads-main"], YARN_SAMPLER="timer")
        self.assertEqual(self.only_dump(run)["process"]["exit"], "seccomp")

    def test_failed_filter_begins_another_recording(self):
        for sampler in ("auto", "timer"):
            with self.subTest(sampler=sampler):
                run = self.assert_same_outside([SANDBOX, "fail"], YARN_SAMPLER=sampler)
                self.assertEqual(run.stdout, b"refused as expected\ndone\n")
                ends = sorted(d["process"]["exit"] for d in harness.info(run.dumps))
                self.assertEqual(ends, ["exit", "seccomp"])
                self.assertIn("work_behind", harness.self_percent(run.dumps))

    def test_every_word_of_a_call_passes_through(self):
        run = self.assert_same_outside([SANDBOX, "calls"])
        self.assertEqual(run.stdout, b"six words\none word\nclone\nprctl\ndone\n")

    def test_children_of_a_shut_in_host_are_left_alone(self):
        run = self.assert_same_outside([SANDBOX, "fork"])
        self.assertEqual(run.stdout, b"child: 5\ndone\n")
        self.only_dump(run)

    def test_child_that_shuts_itself_in_before_its_recording_has_begun(self):
        for sampler in ("auto", "timer"):
            with self.subTest(sampler=sampler):
                run = self.assert_same_outside([SANDBOX, "child"], YARN_SAMPLER=sampler)
                self.assertEqual(run.stdout, b"child: 5\ndone\n")

    def test_raw_filter_that_lets_us_through(self):
        """Not seen by anybody; a whitelist without our calls would end the host. Documented."""
        if harness.open_user_clock():
            self.skipTest("with the timer sampler that filter would end the host")
        self.assert_same_outside([SANDBOX, "raw"])


class Dispatch(Case):
    """Where only the C library may make system calls, none of ours is made on the host's threads."""

    WAYS = ("plain", "number", "fork", "thread", "much", "number-much", "twice", "exec", "quick", "_exit",
            "one-thread", "memory", "number-memory-fork-exec", "much-fork-thread-_exit")

    def test_recording_ends_before(self):
        for sampler, ways in (("auto", self.WAYS), ("timer", self.WAYS[::3])):
            for way in ways:
                with self.subTest(way=way, sampler=sampler):
                    run = self.assert_same_outside([DISPATCH, way], YARN_SAMPLER=sampler)
                    dump = min(harness.info(run.dumps), key=lambda d: d["process"]["start_ns"])
                    self.assertEqual(dump["process"]["exit"], "seccomp")
                    self.assertTrue(dump["trust"]["clean_end"])
                    self.assertIn("Syscall User Dispatch", self.messages(dump))
                    self.assertIn("work_before", harness.self_percent(run.dumps))

    def test_refused_begins_another_recording(self):
        run = self.assert_same_outside([DISPATCH, "fail"])
        self.assertEqual(run.stdout, b"refused\ndone\n")
        ends = sorted(d["process"]["exit"] for d in harness.info(run.dumps))
        self.assertEqual(ends, ["exit", "seccomp", "seccomp"])
        self.assertIn("work_after", harness.self_percent(run.dumps))


class PerfGoesOn(Case):
    """A filter of one thread, under perf: the reader is another thread."""

    def setUp(self):
        super().setUp()
        error = harness.open_user_clock()
        if error:
            self.skipTest(f"the kernel refuses perf_event_open: {os.strerror(error)}")

    def assert_goes_on(self, way, status=0, end=None):
        run = self.assert_same_outside([SANDBOX, way], YARN_SAMPLER="perf", YARN_INTERVAL="20ms")
        self.assertEqual(run.status, status)
        dump = self.only_dump(run)
        self.assertEqual(dump["process"]["exit"], end)
        self.assertIn("the host has set a seccomp filter", self.messages(dump))
        shares = harness.self_percent(run.dumps)
        # Most of the work, less the last interval.
        self.assertGreater(shares.get("work_behind", 0), 3)
        return run

    def test_filter_of_one_thread(self):
        for way, status in (("prctl", 4), ("syscall", 0), ("fork", 0), ("threads-main", 0)):
            with self.subTest(way=way):
                self.assert_goes_on(way, status)

    def test_kill(self):
        self.assert_goes_on("killed", -signal.SIGSYS)

    def test_kill_of_the_last_thread_is_the_end_of_the_process(self):
        self.assert_goes_on("killed-thread", -signal.SIGSYS, "exit_raw")
        self.assert_goes_on("strict-killed", -signal.SIGKILL, "exit_raw")

    def test_strict_mode(self):
        for way in ("strict", "strict-syscall"):
            with self.subTest(way=way):
                self.assert_goes_on(way, 6, "exit_raw")

    def test_second_filter_of_all_threads(self):
        self.assert_goes_on("twice", end="seccomp")

    @harness.as_root
    def test_filter_of_a_real_time_thread(self):
        """It could wait for the reader only by running, before the reader."""
        run = self.assert_same_outside(["chrt", "-f", "10", SANDBOX, "prctl"], YARN_SAMPLER="perf")
        (dump,) = (d for d in harness.info(run.dumps) if d["process"]["exe"] == str(SANDBOX))
        self.assertIn("real-time", self.messages(dump))

    @harness.as_root
    def test_rights_given_up_behind_a_filter(self):
        run = self.assert_same_outside([SANDBOX, "setuid"], YARN_SAMPLER="perf")
        dump = self.only_dump(run)
        self.assertEqual(dump["process"]["exit"], "seccomp")
        self.assertIn("changed its rights", self.messages(dump))


class Libseccomp(Case):
    def test_whitelist(self):
        found = subprocess.run([PYTHON, "-c", "import seccomp"], capture_output=True)
        if found.returncode:
            self.skipTest("no python3-seccomp on this machine")
        for reach in ("all", "one"):
            for sampler in ("auto", "timer"):
                with self.subTest(reach=reach, sampler=sampler):
                    run = self.assert_same_outside(
                        [PYTHON, "-c", LIBSECCOMP, reach], YARN_SAMPLER=sampler
                    )
                    self.assertEqual(run.status, 5)
                    self.assertGreater(harness.trust(run.dumps)["samples"], 0)

    def test_bubblewrap(self):
        if not shutil.which("bwrap"):
            self.skipTest("no bwrap on this machine")
        argv = ["bwrap", "--bind", "/", "/", "--dev", "/dev", "--unshare-pid", "--proc", "/proc"]
        argv += [harness.HOSTS / "split", "5"]
        plain = self.run_plainly(argv)
        if plain.status:
            self.skipTest(plain.stderr.decode())
        for sampler in ("auto", "timer"):
            with self.subTest(sampler=sampler):
                run = self.assert_same_outside(argv, YARN_SAMPLER=sampler)
                self.assertIn("hot_a", harness.self_percent(run.dumps))


# What filters say (seccomp(2)), and the numbers of calls on x86-64.
KILL, KILL_THREAD, TRAP = 0x80000000, 0, 0x00030000
EPERM, ENOSYS, ALLOW = 0x00050001, 0x00050026, 0x7FFF0000
THREAD_FLAG, NAMESPACE_FLAGS = 0x00010000, 0x7E020000
EXACTLY = "exactly"
CLOCK_THREAD_CPUTIME_ID = 3
CALLS = {
    "ioctl": 16, "socket": 41, "clone": 56, "wait4": 61, "uname": 63, "setresuid": 117,
    "pivot_root": 155, "prctl": 157, "mount": 165, "reboot": 169, "futex": 202, "sched_setaffinity": 203, "timer_create": 222,
    "clock_gettime": 228, "mbind": 237, "add_key": 248, "sched_setattr": 314, "unshare": 272, "move_pages": 279, "perf_event_open": 298,
    "open_by_handle_at": 304, "setns": 308, "kcmp": 312, "bpf": 321, "userfaultfd": 323,
    "io_uring_setup": 425, "clone3": 435, "close_range": 436, "pidfd_getfd": 438,
}
# Beside these a container's default profile lets pass whatever a program usually calls.
CONTAINER = [
    (EPERM, name) for name in (
        "pivot_root", "mount", "reboot", "mbind", "add_key", "unshare", "move_pages",
        "perf_event_open", "open_by_handle_at", "setns", "kcmp", "bpf", "userfaultfd",
        "io_uring_setup")
] + [(ENOSYS, "clone3"), (EPERM, "clone", NAMESPACE_FLAGS)]


def behind(rules):
    """To be done by a child before its exec: each rule is what the filter says to a call, or to one
    that has such a bit in its first word, or whose first word is EXACTLY that."""
    load, equal, any_bit, say = 0x20, 0x15, 0x45, 0x06
    program = [(load, 0, 0, 0)]
    for answer, name, *bits in rules:
        program.append((equal, 0, 4 if bits else 1, CALLS[name]))
        if bits:
            program += [(load, 0, 0, 16), (equal if bits[1:] == [EXACTLY] else any_bit, 0, 1, bits[0])]
        program += [(say, 0, 0, answer)] + ([(load, 0, 0, 0)] if bits else [])
    program.append((say, 0, 0, ALLOW))
    code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *row) for row in program))
    head = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(program), ctypes.addressof(code)))
    control = ctypes.CDLL(None, use_errno=True).prctl

    def install():
        assert control(38, 1, 0, 0, 0) == 0  # no new privileges
        assert control(22, 2, ctypes.c_void_p(ctypes.addressof(head)), 0, 0) == 0, code

    return install


@unittest.skipUnless(os.uname().machine == "x86_64", "the filters are written for x86-64")
class Inherited(Case):
    """A filter that was there before the program: what it would punish is found out by a child."""

    plain = {}  # what programs show without the preload; no filter here changes it

    def run_behind(self, rules, argv=(SPLIT, "1"), line=None, **variables):
        install = behind(rules)
        if argv not in self.plain:
            self.plain[argv] = self.run_plainly(argv, before=install)
        plain = self.plain[argv]
        run = self.run_program(argv, before=install, **variables)
        self.assertEqual((plain.status, plain.stdout), (run.status, run.stdout))
        reported = run.stderr.removeprefix(plain.stderr).decode()
        if line:
            self.assertRegex(reported, rf"^yarn: nothing is recorded: [^\n]*{line}[^\n]*\n$")
            self.assertEqual(self.dumps_of(run), [])
            return None
        self.assertEqual(reported, "")
        harness.yarnprof("verify", run.dumps)
        dumps = harness.info(run.dumps)
        for dump in dumps:
            self.assertGreater(dump["trust"]["samples"], 0)
        return dumps

    def usual(self):
        return "timer" if harness.open_user_clock() else "perf"

    def test_container(self):
        """Neither perf nor a descriptor table by unshare."""
        dumps = self.run_behind(CONTAINER, (harness.HOSTS / "children", "tree"))
        self.assertEqual([dump["sampler"]["got"] for dump in dumps], ["timer"] * 3)
        for dump in dumps:
            self.assertIn("perf was refused (EPERM)", dump["sampler"]["reason"])

    def test_landlock_whose_rules_the_reader_cannot_fetch(self):
        for answer, end in ((EPERM, "failed"), (KILL, "seccomp")):
            with self.subTest(end=end):
                run = self.run_program([harness.HOSTS / "landlock", "all", self.folder()],
                                       before=behind([(answer, "pidfd_getfd")]))
                if run.status == harness.SKIPPED:
                    self.skipTest("the kernel has no Landlock")
                self.assertEqual((run.status, run.stdout, run.stderr),
                                 (0, b"before: 1\ntaken: 1\nafter: 0\n", b""))
                dump = self.only_dump(run)
                self.assertEqual(dump["process"]["exit"], end)
                self.assertIn("rules of Landlock", self.messages(dump))

    def test_what_a_child_closes_is_closed(self):
        argv = (harness.HOSTS / "closes", self.folder() / "file", "64")
        run = self.run_program(argv, before=behind(CONTAINER))
        self.assertEqual((run.status, run.stdout), (0, b"still open: 0\n"))

    @harness.also_as_root
    def test_container_with_perf(self):
        rules = [rule for rule in CONTAINER if rule[1] != "perf_event_open"]
        argv = (SPLIT, "1")
        if os.getuid() == 0:
            argv = (harness.HOSTS / "children", "chroot", self.folder())
            os.chmod(self.root, 0o755)
        # Why by its parent: that leaves a dump, too, where a slow machine gives its start a sample.
        (dump,) = (d for d in self.run_behind(rules, argv) if d["process"]["exe"].endswith(("split", "children")) and
                   bool(d["process"]["parent"]) == (os.getuid() == 0))
        self.assertEqual(dump["sampler"]["got"], self.usual())

    def test_host_sees_nothing_of_the_child(self):
        program = "import os, signal, sys\n" \
            "print(signal.sigpending(), os.path.exists('/proc/self/task/%d/children' % os.getpid())" \
            " and open('/proc/self/task/%d/children' % os.getpid()).read())\n" \
            "try: print(os.waitpid(-1, os.WNOHANG | 0x40000000))\n" \
            "except ChildProcessError: print('no child')"
        argv = ["/bin/sh", "-c", 'trap "" CHLD; exec "$@"', "sh", PYTHON, "-c", program]
        for rules in (CONTAINER, [(KILL, "timer_create")]):
            install = behind(rules)
            plain = self.run_program(argv, preload=False, before=install)
            run = self.run_program(argv, before=install, YARN_EMPTY="keep")
            self.assertEqual(plain.outside(), run.outside())

    def test_call_that_ends_the_program(self):
        for answer, name, got in ((KILL, "perf_event_open", "timer"), (KILL, "prctl", "timer"),
                                  (KILL_THREAD, "ioctl", "timer"), (TRAP, "perf_event_open", "timer"),
                                  (KILL, "timer_create", "perf"), (KILL, "unshare", "perf"),
                                  (KILL, "setresuid", "perf"), (KILL, "sched_setattr", "perf"),
                                  (KILL, "bpf", "perf"),
                                  (KILL, "uname", None),
                                  (KILL_THREAD, "futex", None), (TRAP, "wait4", None)):
            with self.subTest(answer=hex(answer), name=name):
                if got == "perf" and self.usual() != "perf":
                    continue
                line = None if got else f"ends it for {name}"
                dumps = self.run_behind([(answer, name)], line=line, YARN_LOG="info")
                if got:
                    self.assertEqual(dumps[0]["sampler"]["got"], got)
                    self.assertIn(f"would end the program for: {name}", self.messages(dumps[0]))

    def test_nothing_is_left_to_sample_by(self):
        both = [(KILL, "perf_event_open"), (KILL, "timer_create")]
        self.run_behind(both, line="ends it for perf_event_open")
        self.run_behind(both[:1], line="ends it for perf_event_open", YARN_SAMPLER="perf")
        self.run_behind(both[1:], line="ends it for timer_create", YARN_SAMPLER="timer")
        self.run_behind([(KILL, "clone", THREAD_FLAG)], line="ends it for clone")
        self.run_behind([(EPERM, "clone")], line="no process could be made")

    def test_reader_of_a_program_that_sleeps_makes_no_timer_that_would_end_it(self):
        program = "import time\nprint(sum(i * i for i in range(3000000)))\ntime.sleep(2)"
        if self.usual() == "perf":
            self.run_behind([(KILL, "timer_create")], (PYTHON, "-c", program))

    def test_unprofiled_program_prints_nothing(self):
        run = self.run_program([SPLIT, "1"], before=behind([(KILL, "uname")]), YARN_COMM="other")
        self.assertEqual((run.status, run.stderr), (0, b""))

    def test_control_socket_that_would_end_the_program(self):
        (dump,) = self.run_behind([(KILL, "socket")], YARN_CONTROL="%p.sock")
        self.assertIn("the socket could not be made", self.messages(dump))

    def test_clock_of_threads_is_needed_by_all(self):
        """By each thread of the host at its end, and by the reader."""
        argv = (harness.HOSTS / "threads8", "3")
        rule = ("clock_gettime", CLOCK_THREAD_CPUTIME_ID, EXACTLY)
        self.run_behind([(KILL, *rule)], argv, line="ends it for clock_gettime")
        self.run_behind([(ALLOW, *rule)], argv)

    @harness.as_root
    def test_rights_that_may_not_be_followed(self):
        program = "import os\nsum(i * i for i in range(3000000))\nos.setuid(65534)\n" \
            "print(sum(i for i in range(1000000)))"
        (dump,) = self.run_behind([(KILL, "setresuid")], (PYTHON, "-c", program))
        self.assertEqual(dump["process"]["exit"], "seccomp")
        self.assertIn("the host changed its rights", self.messages(dump))


if __name__ == "__main__":
    harness.main(needs_perf=False)
