# SPDX-License-Identifier: Apache-2.0
"""What is installed: by `cmake --install` below DESTDIR, and as a Debian package in a minimal tree, where
README's first lines run. What was installed goes again."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

import harness

SUITE = "bookworm"
KEPT_SECONDS = 86400  # the minimal tree, between runs
# What is asked here is where it goes and what it needs; and to optimise is most of a build.
QUICK = "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1 -DNDEBUG"
BIN = "/usr/sbin:/usr/bin:/sbin:/bin"
# What dpkg and ldconfig themselves write.
STATE = ("/var/lib/dpkg/", "/var/lib/apt/", "/var/cache/", "/var/log/", "/root/", "/proc/", "/dev/", "/sys/")
COMPLETION = {"_yarnprof", "yarnprof.fish"}
LIBRARIES = {"libyarn_preload.so", "libyarn.so", "libyarn.so.0", "libyarn.a"}


def run(*command, **options):
    options = {"capture_output": True, "text": True, "timeout": 500, "check": False, **options}
    return subprocess.run(list(map(str, command)), **options)


def must(*command, **options):
    done = run(*command, **options)
    assert done.returncode == 0, f"{command} ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


def files_below(root):
    paths = {f"/{path.relative_to(root)}" for path in pathlib.Path(root).rglob("*")}
    return {path for path in paths if not f"{path}/".startswith(STATE)}


class Installed(harness.Case):
    def install(self, prefix):
        folder = self.folder()
        must("cmake", "--install", harness.BUILD, "--prefix", prefix, env={**os.environ, "DESTDIR": str(folder)})
        return folder

    def test_all_is_below_destdir_and_prefix(self):
        folder = self.install("/opt/yarn")
        outside = [path for path in files_below(folder) if not f"{path}/".startswith(("/opt/yarn/"))]
        self.assertEqual(outside, ["/opt"])
        names = {path.name for path in folder.rglob("*")}
        verbs = {path.name for path in (harness.ROOT / "output" / "yarnprof" / "man").iterdir()}
        self.assertLessEqual(LIBRARIES | verbs | {"yarnprof", "yarn.h", "control.h", "yarn.pc"} | COMPLETION, names)

    def test_the_tool_finds_the_library_where_it_was_moved(self):
        folder = self.install("/opt/yarn")
        moved = self.folder() / "elsewhere"
        shutil.move(folder / "opt" / "yarn", moved)
        done = run(moved / "bin" / "yarnprof", "record", "-o", f"{self.root}/dumps/", "--", harness.HOSTS / "split", "2",
                   env=harness.clean_environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(list((self.root / "dumps").iterdir()))


@unittest.skipUnless(os.getuid() == 0, "a tree needs root")
@unittest.skipUnless(shutil.which("debootstrap"), "no debootstrap")
@unittest.skipUnless(shutil.which("dpkg-shlibdeps") and shutil.which("file"), "no dpkg-dev or file")
class Package(harness.Case):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="yarn-package."))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.minimal = folder / "tree"
        kept = harness.BUILD / "package" / f"{SUITE}.tar"
        if kept.exists() and time.time() - kept.stat().st_mtime < KEPT_SECONDS:
            cls.minimal.mkdir()
            must("tar", "-C", cls.minimal, "--numeric-owner", "-xpf", kept)
            return
        debs = harness.BUILD / "package" / "debs"
        debs.mkdir(parents=True, exist_ok=True)
        done = run("debootstrap", "--variant=minbase", f"--cache-dir={debs.resolve()}", SUITE, cls.minimal)
        if done.returncode != 0:
            raise unittest.SkipTest(f"debootstrap: {(done.stdout + done.stderr).strip().splitlines()[-1]}")
        must("tar", "-C", cls.minimal, "--numeric-owner", "-cf", folder / "new.tar", ".")
        shutil.move(folder / "new.tar", kept)

    def setUp(self):
        super().setUp()
        self.tree = self.root / "tree"
        must("cp", "-al", self.minimal, self.tree)
        # Its own mounts go with the last process.
        self.enter = ["unshare", "--mount", "--pid", "--fork", "sh", "-c",
                      'mount -t proc proc "$0/proc" && exec chroot "$0" sh -c "$1"', self.tree]

    def inside(self, line):
        return must(*self.enter, line, env={"PATH": BIN, "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive"})

    def put_program(self):
        """A program as a user has one."""
        shutil.copy(harness.HOSTS / "split", self.tree / "root" / "app")
        return "cd /root && rm -f *.dump"

    def check_first_lines(self):
        begin = self.put_program()
        for line in ("LD_PRELOAD=libyarn_preload.so ./app 3", "yarnprof record -- ./app 3"):
            report = self.inside(f"{begin} && {line} >/dev/null && yarnprof report yarn.app.*.dump")
            self.assertRegex(report, r"(?m)^.*\d\.\d.* app\b", line)

    def test_package_works_in_a_minimal_tree_and_leaves_nothing(self):
        package = pathlib.Path(must(harness.ROOT / "scripts" / "package", harness.BUILD / "package", QUICK).strip())
        shutil.copy("/etc/resolv.conf", self.tree / "etc" / "resolv.conf")
        shutil.copy(package, self.tree / "root")
        self.inside("apt-get update")
        before = files_below(self.tree)
        self.inside(f"apt-get install -y --no-install-recommends /root/{package.name}")
        added = files_below(self.tree) - before
        self.assertIn("/usr/share/bash-completion/completions/yarnprof", added)
        self.assertLessEqual(LIBRARIES | COMPLETION | {"yarnprof", "yarn.7", "yarnprof-report.1", "yarn.h"},
                             {pathlib.Path(path).name for path in added})
        self.assertEqual(self.inside("yarnprof --version"), must(harness.YARNPROF, "--version"))
        self.check_first_lines()
        self.inside("apt-get purge -y --auto-remove yarnprof")
        self.assertEqual(files_below(self.tree) - before, set())
        self.assertEqual(before - files_below(self.tree), set())

    def test_the_name_alone_does_below_usr_local_after_ldconfig(self):
        must("cmake", "--install", harness.BUILD, "--prefix", "/usr/local",
             env={**os.environ, "DESTDIR": str(self.tree)})
        self.put_program()
        self.inside("ldconfig")
        self.inside("cd /root && LD_PRELOAD=libyarn_preload.so ./app 2 && ls yarn.app.*.dump")


if __name__ == "__main__":
    harness.main(needs_perf=False)
