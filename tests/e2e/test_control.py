# SPDX-License-Identifier: Apache-2.0
"""The control socket: its commands and its client."""

import fcntl
import os
import pathlib
import socket
import stat
import subprocess
import sys
import time

import control
import harness


class Commands(control.Case):
    """`ctl` and a python3 with two threads."""

    def test_start_stop_mark_flush_and_status(self):
        run = self.python(control.SPIN, 60, YARN_START="off", YARN_CONTROL="c.%p.sock")
        process, _, folder = run
        path = self.socket_of(folder)
        self.assertEqual(path.name, f"c.{process.pid}.sock")
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        before = control.status(path)
        self.assertEqual((before["state"], before["samples"], before["dump"]),
                         ("stopped", "0", "none"))
        self.assertEqual(before["pid"], str(process.pid))
        self.assertEqual(list(folder.glob("*.dump")), [])
        self.assertEqual(control.ctl(path, "start").stdout, "recording\n")
        control.let_work(process.pid, 0.3)
        control.ctl(path, "mark", "second", "part")
        control.ctl(path, "flush")
        during = control.status(path)
        self.assertEqual(during["state"], "recording")
        self.assertGreater(int(during["samples"]), 50)
        self.assertEqual(control.ctl(path, "stop").stdout, "stopped\n")
        after = control.status(path)
        # The reply comes after the flush: the file has it all while the process goes on.
        stored = self.info_of(folder)["trust"]["samples"]
        self.assertEqual(stored, int(after["samples"]))
        self.assertGreaterEqual(stored, int(during["samples"]))
        control.let_work(process.pid, 0.1)
        self.assertEqual(control.status(path)["samples"], after["samples"])
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
        run = self.python(control.SPIN, 60, YARN_CONTROL="c.sock")
        path = self.socket_of(run[2])
        control.ctl(path, "status")  # which waits until somebody listens
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(harness.HANG_SECONDS)
            client.connect(str(path))
            replies = client.makefile("r")
            client.sendall(b"stop\nsta")
            self.assertEqual(replies.readline(), "ok stopped\n")
            client.sendall(b"rt\nmark " + b"x" * 300 + b"\nbogus\n" + b"y" * 5000 + b"\nflush\n")
            self.assertEqual(replies.readline(), "ok recording\n")
            self.assertRegex(replies.readline(), "^error .*239 bytes")
            self.assertRegex(replies.readline(), "^error not a command; expected start, stop")
            self.assertRegex(replies.readline(), "^error the line is too long")
            self.assertEqual(replies.readline(), "ok flushed\n")
        self.finish(*run)

    def test_silent_and_deaf_clients_do_not_matter(self):
        run = self.python(control.SPIN, 60, YARN_CONTROL="c.sock")
        path = self.socket_of(run[2])
        control.ctl(path, "status")
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
        self.assertEqual(control.ctl(path, "stop").stdout, "stopped\n")
        for client in [*silent, deaf]:
            client.close()
        self.assert_nothing_is_lost(self.finish(*run), harness.trust(run[2]))

    def test_timed_reader_is_commanded_too(self):
        run = self.python(control.SPIN, 60, YARN_CONTROL="c.sock", YARN_READER="timed",
                          YARN_START="off")
        path = self.socket_of(run[2])
        control.ctl(path, "start")
        control.let_work(run[0].pid, 0.2)
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
        control.ctl(path, "stop")
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
            done = control.ctl(path, "status", check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(words, done.stderr)
        self.assertEqual(control.ctl(gone, "nonsense", check=False).returncode, 2)
        self.assertEqual(control.ctl(gone, check=False).returncode, 2)

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


class Host(control.Case):
    """Nothing of it is seen."""

    def test_descriptors_threads_and_signals_are_as_without(self):
        text = ("import os,signal\nprint(sorted(os.listdir('/proc/self/fd')),"
                "signal.pthread_sigmask(0, []), open('/proc/self/status').read().split("
                "'SigPnd')[1].split('Seccomp')[0])")
        plain = self.run_program([sys.executable, "-c", text], preload=False)
        run = self.python(text, YARN_CONTROL="c.sock", YARN_START="off")
        self.assertEqual(self.finish(*run).stdout, plain.stdout)


if __name__ == "__main__":
    harness.main()
