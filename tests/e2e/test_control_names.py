# SPDX-License-Identifier: Apache-2.0
"""Where the control socket goes, and whose it is."""

import os
import pathlib
import subprocess
import sys

import control
import harness


class Names(control.Case):
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
        first = self.python(control.SPIN, 60, YARN_CONTROL=str(path))
        self.socket_of(folder)
        second = self.python(control.SPIN, 0.3, YARN_CONTROL=str(path))
        self.finish(*second)
        self.assertIn("the name is taken", str(self.info_of(second[2])["messages"]))
        self.assertEqual(control.status(path)["pid"], str(first[0].pid))
        first[0].kill()
        first[0].communicate()
        self.assertTrue(path.exists())
        third = self.python(control.SPIN, 60, YARN_CONTROL=str(path))
        control.wait_until(lambda: control.ctl(path, "status", check=False).returncode == 0)
        self.assertEqual(control.status(path)["pid"], str(third[0].pid))
        self.finish(*third)
        self.assertFalse(path.exists())
        self.assertEqual(self.info_of(third[2])["messages"], [])

    def test_path_that_is_too_long_is_reported_in_one_sentence(self):
        run = self.start([harness.HOSTS / "split", "3"], YARN_CONTROL="x" * 150)
        self.finish(*run)
        texts = [message["text"] for message in self.info_of(run[2])["messages"]]
        self.assertEqual(len(texts), 1)
        self.assertIn("at most 107 bytes", texts[0])

    def test_folder_and_missing_folders(self):
        folder = self.folder()
        run = self.python(control.SPIN, 60, YARN_CONTROL=str(folder / "a" / "b") + "/")
        path = self.socket_of(folder, "a/b/*.sock")
        self.assertRegex(path.name, rf"^yarn\..*\.{run[0].pid}\.sock$")
        control.ctl(path, "status")
        self.finish(*run)

    def test_child_after_fork_has_its_own(self):
        run = self.python(control.FORKER, 60, YARN_CONTROL="c.%p.sock", YARN_START="off")
        paths = self.socket_of(run[2], count=2)
        child = next(path for path in paths if str(run[0].pid) not in path.name)
        control.ctl(child, "start")
        control.let_work(int(control.status(child)["pid"]), 0.1)
        control.ctl(child, "stop")
        self.finish(*run)
        self.assertEqual(list(run[2].glob("*.sock")), [])
        dump = self.info_of(run[2])
        self.assertIn(str(dump["process"]["pid"]), child.name)

    def test_child_with_a_fixed_name_goes_without(self):
        run = self.python(control.FORKER, 60, YARN_CONTROL="c.sock")
        self.socket_of(run[2], "*.dump", count=2)
        self.finish(*run)
        dumps = harness.info(run[2])
        self.assertEqual(len(dumps), 2)
        texts = {dump["process"]["pid"]: str(dump["messages"]) for dump in dumps}
        self.assertEqual(texts.pop(run[0].pid), "[]")
        self.assertIn("the name is taken", *texts.values())

    def test_image_after_exec_has_it(self):
        run = self.start(["/bin/sh", "-c", f"exec {sys.executable} -c '{control.SPIN}' 60"],
                         YARN_CONTROL="c.sock")
        path = self.socket_of(run[2])
        is_python = f"/proc/{run[0].pid}/cmdline"
        control.wait_until(lambda: pathlib.Path(is_python).read_bytes().startswith(
            os.fsencode(sys.executable)))
        control.wait_until(lambda: control.ctl(path, "status", check=False).returncode == 0)
        self.assertEqual(control.status(path)["pid"], str(run[0].pid))
        self.finish(*run)
        self.assertFalse(path.exists())

    @harness.as_root
    def test_another_user_may_not_command(self):
        folder = self.folder()
        run = self.python(control.SPIN, 60, YARN_CONTROL=str(folder / "c.sock"))
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
        self.assertEqual(control.status(path)["state"], "recording")
        self.finish(*run)


if __name__ == "__main__":
    harness.main()
