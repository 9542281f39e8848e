# SPDX-License-Identifier: Apache-2.0
"""Recording a part only: YARN_START, YARN_DELAY, YARN_DURATION, the control socket and its client,
and the calls of <yarn/control.h>."""

import fcntl
import os
import pathlib
import re
import socket
import stat
import subprocess
import sys
import time
import unittest

import harness

# Ends after so many seconds, or when the test says so.
SPIN = """
import os, sys, threading, time
end = time.monotonic() + float(sys.argv[1])
is_on = True
def spin():
    while is_on: sum(range(100))
threads = [threading.Thread(target=spin) for _ in range(2)]
for thread in threads: thread.start()
while time.monotonic() < end and not os.path.exists("done"): time.sleep(.01)
is_on = False
for thread in threads: thread.join()
"""

FORKER = """
import os, sys, time
def burn(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end and not os.path.exists("done"): pass
child = os.fork()
burn(float(sys.argv[1]))
if child: sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


# One thread ends before the stop, one while it is stopped, one not at all.
THREADS = """
import ctypes, os, threading, time
yarn = ctypes.CDLL(None)
def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end: pass
def thread(seconds, until):
    def work():
        burn(seconds)
        until.wait()
    made = threading.Thread(target=work, daemon=True)
    made.start()
    return made
said, never = threading.Event(), threading.Event()
third = thread(.02, never)
second = thread(.02, said)
burn(.1)
first = threading.Thread(target=burn, args=[.02])
first.start()
first.join()
time.sleep(.1)
yarn.yarn_stop()
said.set()
second.join()
time.sleep(.02)
yarn.yarn_start()
burn(.1)
os._exit(0)
"""


def ctl(path, *words, check=True):
    done = subprocess.run(
        [str(harness.YARNPROF), "ctl", str(path), *words], capture_output=True, text=True,
        timeout=30,
    )
    if check and done.returncode:
        raise AssertionError(f"ctl {words} ended with {done.returncode}: {done.stderr}")
    return done


def wait_until(is_so):
    """However busy the machine is; who waits in vain fails."""
    until = time.monotonic() + harness.HANG_SECONDS
    while not is_so():
        if time.monotonic() > until:
            raise AssertionError("waited in vain")
        time.sleep(0.01)


def let_work(pid, seconds):
    """Until the process has had so much more CPU time."""
    clock = ~pid << 3 | 2  # as clock_getcpuclockid(3) gives it
    end = time.clock_gettime(clock) + seconds
    wait_until(lambda: time.clock_gettime(clock) >= end)


def status(path):
    """The words of `status`; the dump's path may hold blanks."""
    line = ctl(path, "status").stdout.rstrip("\n")
    head, _, dump = line.partition(" dump=")
    return {**dict(word.split("=", 1) for word in head.split()), "dump": dump}


class Case(harness.Case):
    def start(self, argv, **variables):
        folder = self.folder()
        begun = time.monotonic()
        process = harness.start(argv, folder, **variables)
        self.addCleanup(process.poll)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process, begun, folder

    def python(self, text, *arguments, **variables):
        return self.start([sys.executable, "-c", text, *map(str, arguments)], **variables)

    def socket_of(self, folder, pattern="*.sock", count=1):
        wait_until(lambda: len(list(folder.glob(pattern))) >= count)
        found = sorted(folder.glob(pattern))
        return found if count > 1 else found[0]

    def finish(self, process, begun, folder, by_itself=False):
        if not by_itself:
            (folder / "done").touch()
        run = harness.wait(process, begun, folder)
        (folder / "done").unlink(missing_ok=True)
        self.assertEqual((run.status, run.stderr), (0, b""))
        return run

    def info_of(self, folder):
        dumps = harness.info(folder)
        self.assertEqual(len(dumps), 1)
        return dumps[0]


class Commands(Case):
    """`ctl` and a python3 with two threads."""

    def test_start_stop_mark_flush_and_status(self):
        run = self.python(SPIN, 60, YARN_START="off", YARN_CONTROL="c.%p.sock")
        process, _, folder = run
        path = self.socket_of(folder)
        self.assertEqual(path.name, f"c.{process.pid}.sock")
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        before = status(path)
        self.assertEqual((before["state"], before["samples"], before["dump"]),
                         ("stopped", "0", "none"))
        self.assertEqual(before["pid"], str(process.pid))
        self.assertEqual(list(folder.glob("*.dump")), [])
        self.assertEqual(ctl(path, "start").stdout, "recording\n")
        let_work(process.pid, 0.3)
        ctl(path, "mark", "second", "part")
        ctl(path, "flush")
        during = status(path)
        self.assertEqual(during["state"], "recording")
        self.assertGreater(int(during["samples"]), 50)
        self.assertEqual(ctl(path, "stop").stdout, "stopped\n")
        after = status(path)
        # The reply comes after the flush: the file has it all while the process goes on.
        stored = self.info_of(folder)["trust"]["samples"]
        self.assertEqual(stored, int(after["samples"]))
        self.assertGreaterEqual(stored, int(during["samples"]))
        let_work(process.pid, 0.1)
        self.assertEqual(status(path)["samples"], after["samples"])
        self.finish(*run)
        self.assertFalse(path.exists())
        self.look_at_parts(folder, stored, pathlib.Path(after["dump"]))

    def look_at_parts(self, folder, stored, path):
        dump = self.info_of(folder)
        trust = dump["trust"]
        self.assertTrue(path.is_absolute() and path.exists(), path)
        self.assertEqual(trust["samples"], stored)
        self.assertEqual([message["text"] for message in dump["messages"]
                          if message["kind"] == "mark"], ["second part"])
        gaps = dump["stopped"]
        self.assertEqual([(gap["stopped_by"], gap["started_by"]) for gap in gaps],
                         [("option", "socket"), ("socket", None)])
        off_ns = sum(gap["to_ns"] - gap["from_ns"] for gap in gaps)
        self.assertAlmostEqual(trust["off_ns"], off_ns, delta=20_000_000)
        # CPU time while it was stopped is nobody's loss.
        self.assertGreater(trust["off_cpu_ns"], 20_000_000)
        # Each thread ends each part with less than a period a core.
        self.assertLess(trust["unsampled_ns"], 0.1 * trust["cpu_ns"] + 20_000_000)
        script = harness.yarnprof("script", folder).stdout.decode()
        for words in ("YARN_mark second part", "YARN_started by socket", "YARN_stopped by socket"):
            self.assertIn(words, script)

    def test_one_connection_takes_many_commands_in_pieces(self):
        run = self.python(SPIN, 60, YARN_CONTROL="c.sock")
        path = self.socket_of(run[2])
        ctl(path, "status")  # which waits until somebody listens
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(harness.HANG_SECONDS)
            client.connect(str(path))
            replies = client.makefile("r")
            client.sendall(b"stop\nsta")
            self.assertEqual(replies.readline(), "ok stopped\n")
            client.sendall(b"rt\nmark " + b"x" * 300 + b"\nbogus\n" + b"y" * 5000 + b"\nflush\n")
            self.assertEqual(replies.readline(), "ok recording\n")
            self.assertRegex(replies.readline(), "^error .*239 bytes")
            self.assertRegex(replies.readline(), "^error not a command; start, stop")
            self.assertRegex(replies.readline(), "^error the line is too long")
            self.assertEqual(replies.readline(), "ok flushed\n")
        self.finish(*run)

    def test_silent_and_deaf_clients_do_not_matter(self):
        run = self.python(SPIN, 60, YARN_CONTROL="c.sock")
        path = self.socket_of(run[2])
        ctl(path, "status")
        silent = []
        for _ in range(20):
            client = socket.socket(socket.AF_UNIX)
            client.connect(str(path))
            silent.append(client)
        deaf = socket.socket(socket.AF_UNIX)
        deaf.connect(str(path))
        deaf.setblocking(False)
        try:
            for _ in range(10000):
                deaf.send(b"status\n" * 100)
        except OSError:
            pass
        self.assertEqual(ctl(path, "stop").stdout, "stopped\n")
        for client in [*silent, deaf]:
            client.close()
        self.assert_nothing_is_lost(self.finish(*run), harness.trust(run[2]))

    def test_timed_reader_is_commanded_too(self):
        run = self.python(SPIN, 60, YARN_CONTROL="c.sock", YARN_READER="timed",
                          YARN_START="off")
        path = self.socket_of(run[2])
        ctl(path, "start")
        let_work(run[0].pid, 0.2)
        waited = []
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
            replies = client.makefile("r")
            for _ in range(20):
                begun = time.monotonic()
                client.sendall(b"status\n")
                replies.readline()
                waited.append(time.monotonic() - begun)
        # A reader that looked by time only would take all of YARN_INTERVAL for each of them.
        self.assertLess(min(waited), 0.05)
        ctl(path, "stop")
        self.finish(*run)
        self.assertGreater(harness.trust(run[2])["samples"], 50)

    def test_client_says_what_is_wrong(self):
        folder = self.folder()
        gone = folder / "gone.sock"
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(gone))
            server.listen()
        plain = folder / "plain"
        plain.write_text("x")
        for path, words in ((folder / "none", "No such file"), (gone, "nobody listens"),
                            (plain, "nobody listens"), ("x" * 200, "107 bytes")):
            done = ctl(path, "status", check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(words, done.stderr)
        self.assertEqual(ctl(gone, "nonsense", check=False).returncode, 2)
        self.assertEqual(ctl(gone, check=False).returncode, 2)


    def test_client_waits_for_a_socket_that_is_bound_and_does_not_listen_yet(self):
        """Who makes it holds the folder's lock until it listens."""
        folder = self.folder()
        path = folder / "young.sock"
        lock = os.open(folder, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
            client = subprocess.Popen([harness.YARNPROF, "ctl", path, "status"],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            with self.assertRaises(subprocess.TimeoutExpired):
                client.wait(0.3)
            server.listen()
            os.close(lock)
            connection, _ = server.accept()
            connection.sendall(b"ok here\n")
            connection.close()
        self.assertEqual(client.communicate(), (b"here\n", b""))
        self.assertEqual(client.returncode, 0)


class Names(Case):
    """Where the socket goes."""

    def test_foreign_file_is_left_alone(self):
        folder = self.folder()
        for name in ("file", "link"):
            (folder / name).write_text("mine") if name == "file" else (folder / name).symlink_to(
                "nowhere")
            run = self.start([harness.HOSTS / "split", "3"], YARN_CONTROL=str(folder / name))
            self.finish(*run)
            dump = self.info_of(run[2])
            self.assertGreater(dump["trust"]["samples"], 0)
            self.assertTrue(any("YARN_CONTROL: the name is taken" in message["text"]
                                for message in dump["messages"]), dump["messages"])
        self.assertEqual((folder / "file").read_text(), "mine")
        self.assertEqual(os.readlink(folder / "link"), "nowhere")

    def test_living_socket_is_left_alone_and_a_dead_one_replaced(self):
        folder = self.folder()
        path = folder / "fixed.sock"
        first = self.python(SPIN, 60, YARN_CONTROL=str(path))
        self.socket_of(folder)
        second = self.python(SPIN, 0.3, YARN_CONTROL=str(path))
        self.finish(*second)
        self.assertIn("the name is taken", str(self.info_of(second[2])["messages"]))
        self.assertEqual(status(path)["pid"], str(first[0].pid))
        first[0].kill()
        first[0].communicate()
        self.assertTrue(path.exists())
        third = self.python(SPIN, 60, YARN_CONTROL=str(path))
        wait_until(lambda: ctl(path, "status", check=False).returncode == 0)
        self.assertEqual(status(path)["pid"], str(third[0].pid))
        self.finish(*third)
        self.assertFalse(path.exists())
        self.assertEqual(self.info_of(third[2])["messages"], [])

    def test_path_that_is_too_long_is_told_in_one_sentence(self):
        run = self.start([harness.HOSTS / "split", "3"], YARN_CONTROL="x" * 150)
        self.finish(*run)
        texts = [message["text"] for message in self.info_of(run[2])["messages"]]
        self.assertEqual(len(texts), 1)
        self.assertIn("at most 107 bytes", texts[0])

    def test_folder_and_missing_folders(self):
        folder = self.folder()
        run = self.python(SPIN, 60, YARN_CONTROL=str(folder / "a" / "b") + "/")
        path = self.socket_of(folder, "a/b/*.sock")
        self.assertRegex(path.name, rf"^yarn\..*\.{run[0].pid}\.sock$")
        ctl(path, "status")
        self.finish(*run)

    def test_child_after_fork_has_its_own(self):
        run = self.python(FORKER, 60, YARN_CONTROL="c.%p.sock", YARN_START="off")
        paths = self.socket_of(run[2], count=2)
        child = next(path for path in paths if str(run[0].pid) not in path.name)
        ctl(child, "start")
        let_work(int(status(child)["pid"]), 0.1)
        ctl(child, "stop")
        self.finish(*run)
        self.assertEqual(list(run[2].glob("*.sock")), [])
        dump = self.info_of(run[2])
        self.assertIn(str(dump["process"]["pid"]), child.name)

    def test_child_with_a_fixed_name_goes_without(self):
        run = self.python(FORKER, 60, YARN_CONTROL="c.sock")
        self.socket_of(run[2], "*.dump", count=2)
        self.finish(*run)
        dumps = harness.info(run[2])
        self.assertEqual(len(dumps), 2)
        texts = {dump["process"]["pid"]: str(dump["messages"]) for dump in dumps}
        self.assertEqual(texts.pop(run[0].pid), "[]")
        self.assertIn("the name is taken", *texts.values())

    def test_image_after_exec_has_it(self):
        run = self.start(["/bin/sh", "-c", f"exec {sys.executable} -c '{SPIN}' 60"],
                         YARN_CONTROL="c.sock")
        path = self.socket_of(run[2])
        is_python = f"/proc/{run[0].pid}/cmdline"
        wait_until(lambda: pathlib.Path(is_python).read_bytes().startswith(
            os.fsencode(sys.executable)))
        wait_until(lambda: ctl(path, "status", check=False).returncode == 0)
        self.assertEqual(status(path)["pid"], str(run[0].pid))
        self.finish(*run)
        self.assertFalse(path.exists())

    def test_another_user_may_not_command(self):
        if os.getuid():
            self.skipTest("needs root to be somebody else")
        folder = self.folder()
        run = self.python(SPIN, 60, YARN_CONTROL=str(folder / "c.sock"))
        path = self.socket_of(folder)
        os.chmod(path, 0o666)
        for upper in (self.root, folder):
            os.chmod(upper, 0o755)
        done = subprocess.run(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", sys.executable, "-c",
             "import socket,sys\ns=socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\n"
             "try: s.sendall(b'stop\\n')\nexcept BrokenPipeError: pass\n"
             "print(s.makefile().readline())", str(path)],
            capture_output=True, text=True)
        self.assertIn("error only the user of this process", done.stdout)
        self.assertEqual(status(path)["state"], "recording")
        self.finish(*run)


class Times(Case):
    """YARN_DELAY and YARN_DURATION."""

    def recorded(self, folder):
        """When the samples were taken, in seconds from the process's start."""
        start_ns = self.info_of(folder)["process"]["start_ns"]
        text = harness.yarnprof("script", folder).stdout.decode()
        times = [float(found) for found in
                 re.findall(r"^\S.*?\s+\d+/\d+\s+\[\d+\]\s+(\d+\.\d+):", text, re.M)]
        return [at - start_ns / 1e9 for at in times]

    def test_delay_and_duration(self):
        run = self.python(SPIN, 1.6, YARN_DELAY="500ms", YARN_DURATION="600ms")
        self.finish(*run, by_itself=True)
        dump = self.info_of(run[2])
        before, after = dump["stopped"]
        self.assertEqual([(gap["stopped_by"], gap["started_by"]) for gap in (before, after)],
                         [("option", "delay"), ("duration", None)])
        start_ns = dump["process"]["start_ns"]
        from_, to = ((ns - start_ns) / 1e9 for ns in (before["to_ns"], after["from_ns"]))
        # Never early; how late is up to who else uses the machine.
        self.assertGreaterEqual(from_, 0.5)
        self.assertGreaterEqual(to, from_ + 0.6)
        times = self.recorded(run[2])
        self.assertGreaterEqual(min(times), from_ - 1e-6)
        self.assertLessEqual(max(times), to + 1e-6)
        trust = dump["trust"]
        self.assertGreater(len(times), 0.8 * trust["cpu_ns"] / 1e9 * harness.FREQUENCY
                           - trust["lost"] - 20)

    def test_command_starts_before_the_delay_and_after_the_duration(self):
        run = self.python(SPIN, 60, YARN_DELAY="1h", YARN_DURATION="200ms", YARN_CONTROL="c.sock")
        path = self.socket_of(run[2])
        counts = [0]
        for _ in range(2):
            self.assertEqual(ctl(path, "start").stdout, "recording\n")
            wait_until(lambda: status(path)["state"] == "stopped")
            counts.append(int(status(path)["samples"]))
            self.assertGreater(counts[-1], counts[-2])
        self.finish(*run)
        dump = self.info_of(run[2])
        self.assertGreater(dump["trust"]["samples"] + dump["trust"]["lost"],
                           0.8 * dump["trust"]["cpu_ns"] / 1e9 * harness.FREQUENCY - 20)
        gaps = dump["stopped"]
        self.assertEqual(len(gaps), 3)
        for gap, later in zip(gaps, gaps[1:]):
            self.assertGreaterEqual(later["from_ns"] - gap["to_ns"], 200_000_000)

    def test_record_has_the_options(self):
        folder = self.folder()
        done = subprocess.run(
            [harness.YARNPROF, "record", "--delay=200ms", "--duration=200ms", "--empty=keep",
             f"--control={folder}/c.sock", "-o", f"{folder}/", "--", sys.executable, "-c", SPIN,
             "0.6"], capture_output=True, env=harness.clean_environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        options = self.info_of(folder)["options"]
        self.assertEqual((options["delay"], options["duration"], options["control"]),
                         ("200ms", "200ms", f"{folder}/c.sock"))

    def test_stopped_all_the_time_leaves_no_dump(self):
        for text in (SPIN, FORKER):
            run = self.python(text, 0.5, YARN_START="off", YARN_CONTROL="c.%p.sock")
            self.finish(*run, by_itself=True)
            self.assertEqual(list(run[2].iterdir()), [])

    def test_children_of_a_stopped_process_cost_it_nothing(self):
        run = self.start(["/bin/sh", "-c", "for i in 1 2 3 4 5 6 7 8; do (: $i); done"],
                         YARN_START="off")
        self.finish(*run)
        self.assertEqual(list(run[2].iterdir()), [])


class Calls(Case):
    """<yarn/control.h>"""

    HOSTS = ("parts", "parts_fixed", "parts_cxx")

    def test_only_what_is_wanted_is_recorded(self):
        for host in self.HOSTS:
            for start in ("on", "off"):
                run = self.start([harness.HOSTS / host, "codes"], YARN_START=start)
                done = self.finish(*run)
                self.assertEqual(done.stdout, b"0 0 0 0 0 errno 77\n")
                shares = {name.removesuffix("()"): share
                          for name, share in harness.self_percent(run[2]).items()}
                self.assertGreater(shares["wanted"], 90, (host, start, shares))
                self.assertNotIn("after", shares)
                self.assertLess(shares.get("before", 0), 5)
                self.assertIn("YARN_mark wanted begins",
                              harness.yarnprof("script", run[2]).stdout.decode())

    def test_every_thread_has_its_end(self):
        for way in ({}, {"YARN_STRATEGY": "per-thread"}, {"YARN_SAMPLER": "timer"}):
            with self.subTest(**way):
                run = self.finish(*self.python(THREADS, **way), by_itself=True)
                dump = self.info_of(run.dumps)
                threads = {thread["tid"]: thread for thread in dump["threads"]}
                main = threads.pop(dump["process"]["pid"])
                (gap,) = dump["stopped"]
                self.assertGreater(main["cpu_ns"], 200e6)
                self.assertEqual(len(threads), 3)
                for thread in (main, *threads.values()):
                    self.assertIsNotNone(thread["end_ns"])
                ends = sorted(thread["end_ns"] for thread in threads.values())
                self.assertLess(ends[0], gap["from_ns"])
                self.assertGreaterEqual(ends[1], gap["from_ns"])
                waited_ns = run.reader_waited * 1e9
                self.assertLess(abs(ends[1] - gap["to_ns"]), 50e6 + waited_ns)
                self.assertGreater(ends[2], gap["to_ns"] + 90e6)
                (last,) = (thread for thread in threads.values() if thread["end_ns"] == ends[2])
                self.assertGreater(last["cpu_ns"], 15e6)

    def test_they_do_nothing_without_the_preload(self):
        for host in self.HOSTS:
            done = self.run_program([harness.HOSTS / host, "codes"], preload=False)
            self.assertEqual((done.status, done.stdout), (0, b"-3 -3 -3 -3 -3 errno 77\n"))


class Host(Case):
    """Nothing of it is seen."""

    def test_descriptors_threads_and_signals_are_as_without(self):
        text = ("import os,signal\nprint(sorted(os.listdir('/proc/self/fd')),"
                "signal.pthread_sigmask(0, []), open('/proc/self/status').read().split("
                "'SigPnd')[1].split('Seccomp')[0])")
        plain = self.run_program([sys.executable, "-c", text], preload=False)
        run = self.python(text, YARN_CONTROL="c.sock", YARN_START="off")
        self.assertEqual(self.finish(*run).stdout, plain.stdout)

    def test_modules_that_were_loaded_while_stopped_are_known(self):
        text = ("import sys,time\nopen('ready','w').close()\n"
                "while not __import__('os').path.exists('go'): time.sleep(.01)\n"
                "import zlib\nend=time.monotonic()+.8\nopen('loaded','w').close()\n"
                "d=bytes(range(256))*4000\nwhile time.monotonic()<end: zlib.crc32(d)\n")
        run = self.python(text, YARN_CONTROL="c.sock")
        folder = run[2]
        path = self.socket_of(folder)
        self.socket_of(folder, "ready")
        ctl(path, "stop")
        (folder / "go").touch()
        self.socket_of(folder, "loaded")
        ctl(path, "start")
        self.finish(*run)
        rows = harness.report(folder, "--by=module")["rows"]
        modules = {row["module"]: row["self_percent"] for row in rows}
        found = [name for name, share in modules.items()
                 if re.search(r"libz|zlib", name) and share > 20]
        self.assertTrue(found, modules)


if __name__ == "__main__":
    harness.main()
