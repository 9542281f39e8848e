# SPDX-License-Identifier: Apache-2.0
"""Runs one case once, in a fresh folder of always the same name, and notes all that is seen from
outside. Knows how the preload is switched on; does not know what a difference means."""

import ctypes
import dataclasses
import fnmatch
import hashlib
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import case as cases
import harness

ORDINARY = 65534
STATE = harness.BUILD / "tests" / "compat" / "libcompat_state.so"
PR_SET_CHILD_SUBREAPER = 36


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What one run gave. `left` processes did not end in time and were killed."""

    status: int
    stdout: str
    stderr: str
    files: dict
    left: int
    states: frozenset
    user_seconds: float
    wall_seconds: float
    timed_out: bool


def adopt_orphans():
    """Daemons become children of this process, so that they can be waited for and killed."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children_of(pid):
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            for child in task.read_text().split():
                found += [int(child), *children_of(int(child))]
        except OSError:
            pass
    return found


def kill_children():
    """Until none is left: one that is killed may just have made another."""
    killed = set()
    while True:
        alive = children_of(os.getpid())
        for pid in alive:
            killed.add(pid)
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            while os.wait4(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return len(killed)
        time.sleep(0.01)


def wait_for_orphans(seconds):
    """The processes that outlived the first one: how many are still there after the time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if not os.wait4(-1, os.WNOHANG)[0]:
                time.sleep(0.005)
        except ChildProcessError:
            return 0
    return kill_children()


def describe(path):
    """Kind, mode and content of one file."""
    mode = path.lstat().st_mode
    if path.is_symlink():
        return f"link to {os.readlink(path)}"
    if path.is_file():
        return f"{mode:o} {hashlib.sha256(path.read_bytes()).hexdigest()[:16]}"
    return f"{mode:o}"


class Runner:
    def __init__(self, variables):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="yarn-compat."))
        self.root.chmod(0o755)
        self.work = self.root / "work"
        self.dumps = self.root / "dumps"
        self.states = self.root / "states"
        self.sources = self.root / "sources"
        self.variables = variables
        adopt_orphans()

    def close(self):
        shutil.rmtree(self.root, ignore_errors=True)

    def obtain(self, case):
        """Fetches the source package of a case. The reason where it cannot be had."""
        if not case.source or (self.sources / case.source).exists():
            return None
        fetch = [harness.ROOT / "scripts" / "lib" / "fetch-source", case.source, self.sources / case.source]
        done = subprocess.run(fetch, stderr=subprocess.PIPE, text=True)
        return " ".join(done.stderr.split()) if done.returncode else None

    def owner(self, case):
        return ORDINARY if case.user == "ordinary" else os.getuid()

    def prepare(self, case):
        for folder in (self.work, self.dumps):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        self.dumps.chmod(0o1777)
        self.states.write_text("")
        self.states.chmod(0o666)
        for name, content in case.files.items():
            path = self.work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
            path.chmod(0o755 if content.startswith("#!") else 0o644)
        if case.source:
            copy = ["cp", "-a", self.sources / case.source, self.work / "source"]
            subprocess.run(copy, check=True)
        if self.owner(case) != os.getuid():
            for path in [self.work, *self.work.rglob("*")]:
                os.chown(path, ORDINARY, ORDINARY)

    def environment(self, case, preload, state):
        libraries = [*case.preloads]
        if preload and "yarn" not in libraries:
            libraries.insert(0, "yarn")
        paths = [
            str(harness.PRELOAD) if library == "yarn" else library
            for library in libraries
            if preload or library != "yarn"
        ]
        if state:
            paths.append(str(STATE))
        environment = {
            "PATH": cases.PATH,
            "HOME": str(self.work),
            "TMPDIR": str(self.work),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "YARN_OUTPUT": f"{self.dumps}/",
            "COMPAT_STATE": str(self.states),
            **self.variables,
            **case.variables,
        }
        if paths:
            environment["LD_PRELOAD"] = ":".join(paths)
        return environment

    def start(self, case, environment):
        identity = {}
        if self.owner(case) != os.getuid():
            identity = {"user": ORDINARY, "group": ORDINARY, "extra_groups": ()}
        words = case.words()
        program = words[0] if "/" in words[0] else cases.find(words[0])
        with (
            open(self.root / "stdin", "w+") as stdin,
            open(self.root / "stdout", "wb") as stdout,
            open(self.root / "stderr", "wb") as stderr,
        ):
            stdin.write(case.stdin)
            stdin.seek(0)
            return subprocess.Popen(
                words,
                executable=program,
                env=environment,
                cwd=self.work,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
                **identity,
            )

    def run(self, case, preload, state):
        self.prepare(case)
        begun = time.monotonic()
        process = self.start(case, self.environment(case, preload, state))
        expired = threading.Event()

        def expire():
            expired.set()
            process.send_signal(signal.SIGKILL)

        timer = threading.Timer(case.seconds, expire)
        timer.start()
        pid = 0
        while pid != process.pid:  # orphans may end before it
            pid, status, usage = os.wait4(-1, 0)
        wall = time.monotonic() - begun
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        left = wait_for_orphans(0 if expired.is_set() else case.linger)
        return Outcome(
            status=process.returncode,
            stdout=case.settle(self.read("stdout")),
            stderr=case.settle(self.read("stderr")),
            files=self.list_files(case),
            left=left,
            states=frozenset(self.read("states", bool(case.timers)).splitlines()),
            user_seconds=usage.ru_utime,
            wall_seconds=wall,
            timed_out=expired.is_set(),
        )

    def read(self, name, has_timers=False):
        text = (self.root / name).read_text(errors="backslashreplace")
        if has_timers or self.variables.get("YARN_SAMPLER") == "timer":
            for pattern, replacement in cases.TIMER_DIFFERS:
                text = re.sub(pattern, replacement, text)
        return text

    def list_files(self, case):
        files = {}
        for path in sorted(self.work.rglob("*")):
            name = str(path.relative_to(self.work))
            if not any(fnmatch.fnmatchcase(name, pattern) for pattern in case.files_vary):
                files[name] = describe(path)
        return files
