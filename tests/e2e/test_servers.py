# SPDX-License-Identifier: Apache-2.0
"""Programs that live in system calls: servers under their load generators, dd, find. Where the kernel
may be sampled the samples stand for the CPU time, with the kernel's functions above the user's; where
it may not, samples and [kernel] do."""

import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import time

import harness

LOOPBACK = "127.0.0.1"
MOST_UNKNOWN = 0.03
# Of a program that does nothing but switch: the event runs already while its timer is set.
MOST_UNKNOWN_OF_SWITCHES = 0.06
STARTS_IN_SECONDS = 60
CAP_SYS_ADMIN, CAP_PERFMON = 21, 38
POSTGRES = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), default=None)


def may_sample_kernel():
    paranoid = int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text())
    status = pathlib.Path("/proc/self/status").read_text()
    capabilities = int(status.split("CapEff:")[1].split()[0], 16)
    return paranoid <= 1 or bool(capabilities >> CAP_PERFMON & 1 or capabilities >> CAP_SYS_ADMIN & 1)


MAY_SAMPLE_KERNEL = may_sample_kernel()


def free_port():
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return probe.getsockname()[1]


def wait_until(answers, server):
    end = time.monotonic() + STARTS_IN_SECONDS
    while not answers():
        if server.poll() is not None or time.monotonic() > end:
            raise AssertionError(f"{server.args[0]} did not start: {server.communicate()[1]}")
        time.sleep(0.05)


def accepts(port):
    with socket.socket() as probe:
        return probe.connect_ex((LOOPBACK, port)) == 0


class Servers(harness.Case):
    def need(self, *programs):
        for program in programs:
            if not program or not shutil.which(str(program)):
                self.skipTest(f"no {program or 'postgresql'} on this machine")

    def serve(self, argv, answers, load, ends_by, **options):
        """The folder of the dumps of a server that was under load, and stopped."""
        folder = self.folder()
        folder.chmod(0o777)
        server = harness.start(argv, folder, **options)
        try:
            wait_until(answers, server)
            load(folder)
        finally:
            server.send_signal(ends_by)
            try:
                outputs = server.communicate(timeout=STARTS_IN_SECONDS)
            except subprocess.TimeoutExpired:
                server.kill()
                raise
        self.assertEqual((server.returncode, outputs[0]), (0, b""), outputs[1])
        return folder

    def generate(self, *argv, **options):
        subprocess.run([str(word) for word in argv], check=True, capture_output=True,
                       timeout=harness.HANG_SECONDS, **options)

    def assert_time_has_its_place(self, folder, may_sample=MAY_SAMPLE_KERNEL, most=MOST_UNKNOWN):
        dumps = harness.info(folder)
        excused_ns = sum(map(harness.excused_ns, dumps))
        total = {key: sum(dump["trust"][key] for dump in dumps)
                 for key in ("cpu_ns", "kernel_ns", "unsampled_ns", "switching_ns", "lost",
                             "samples")}
        report = harness.report(folder)
        print(f"\n{total} of {len(dumps)} dumps, unsampled: {report['notes']['unsampled']}")
        self.assertLessEqual(report["notes"]["unsampled"]["unknown_ns"],
                             most * total["cpu_ns"] + excused_ns)
        self.assertEqual(report["notes"]["kernel_ns"], total["kernel_ns"])
        stacks = list(harness.stacks(folder))
        in_kernel = [stack for stack in stacks if stack and stack[0][1] == "[kernel.kallsyms]"]
        if may_sample:
            self.assertEqual(total["kernel_ns"], 0)
            self.assert_kernel_is_above_user(in_kernel, len(stacks))
        else:
            self.assertEqual(in_kernel, [])
            self.assertGreater(total["kernel_ns"], 0)

    def assert_kernel_is_above_user(self, in_kernel, nr_stacks):
        """Most of it was called by code of the process; who may read the kernel's names has them."""
        self.assertGreater(len(in_kernel), 0.1 * nr_stacks)
        called = [stack for stack in in_kernel if stack[-1][1] != "[kernel.kallsyms]"]
        self.assertGreater(len(called), 0.9 * len(in_kernel))
        for stack in called:
            modules = [module == "[kernel.kallsyms]" or module.startswith("[") and
                       not module.startswith(("[v", "[u", "[t", "[a")) for _, module in stack]
            self.assertEqual(modules, sorted(modules, reverse=True), stack)

    @harness.also_as_root
    def test_dd(self):
        run = self.run_program(["dd", "if=/dev/zero", "of=/dev/null", "bs=512", "count=1000000"])
        self.assertEqual(run.status, 0)
        self.assert_time_has_its_place(run.dumps)

    def test_find(self):
        run = self.run_program(["find", "/usr", "/proc/self", "-newer", "/etc/hostname", "-false"])
        self.assert_time_has_its_place(run.dumps)

    @harness.also_as_root
    def test_switches(self):
        """With clocks of each thread, and with clocks inherited on each core."""
        for strategy in ("per-core", "per-thread"):
            with self.subTest(strategy=strategy):
                run = self.run_program([harness.HOSTS / "pingpong", "50000"],
                                       YARN_STRATEGY=strategy)
                self.assertEqual(run.status, 0)
                self.assert_time_has_its_place(run.dumps, most=MOST_UNKNOWN_OF_SWITCHES)
                self.assertGreater(harness.trust(run.dumps)["switching_ns"], 0)
                self.assertIn("in context switches", self.text_of_report(run))

    def text_of_report(self, run):
        return harness.yarnprof("report", run.dumps).stdout.decode()

    def test_user_only_where_it_is_asked_for(self):
        run = self.run_program(["dd", "if=/dev/zero", "of=/dev/null", "bs=512", "count=300000"],
                               YARN_EVENTS="cpu-clock:u")
        self.assert_time_has_its_place(run.dumps, may_sample=False)

    @harness.as_root
    def test_nginx(self):
        self.need("nginx", "ab")
        port = free_port()
        files = self.folder()
        files.chmod(0o755)
        self.root.chmod(0o755)
        (files / "index.html").write_text("hello\n" * 100)
        (files / "nginx.conf").write_text(
            f"daemon off; worker_processes 1; pid {files}/pid; error_log {files}/error.log;\n"
            "events { worker_connections 64; }\n"
            f"http {{ access_log off; client_body_temp_path {files}/a; proxy_temp_path {files}/b;\n"
            f"fastcgi_temp_path {files}/c; uwsgi_temp_path {files}/d; scgi_temp_path {files}/e;\n"
            f"server {{ listen {LOOPBACK}:{port}; root {files}; }} }}\n")
        folder = self.serve(
            ["nginx", "-p", files, "-e", files / "error.log", "-c", files / "nginx.conf"],
            lambda: accepts(port),
            lambda _: self.generate("ab", "-q", "-n", 10000, "-c", 8, f"http://{LOOPBACK}:{port}/"),
            signal.SIGQUIT)
        self.assert_time_has_its_place(folder)

    def test_redis(self):
        self.need("redis-server", "redis-benchmark")
        port = free_port()
        folder = self.serve(
            ["redis-server", "--port", port, "--bind", LOOPBACK, "--save", "", "--logfile", "log"],
            lambda: accepts(port),
            lambda _: self.generate("redis-benchmark", "-q", "-h", LOOPBACK, "-p", port, "-n", 20000,
                                    "-c", 8, "-t", "get,set"),
            signal.SIGTERM)
        self.assert_time_has_its_place(folder)

    @harness.as_root
    def test_postgresql(self):
        """It does not run as root, for whom it has CAP_PERFMON instead."""
        self.need(POSTGRES and POSTGRES / "initdb", POSTGRES and POSTGRES / "pgbench", "setpriv")
        files = self.folder()
        who = []
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            self.root.chmod(0o755)
            os.chown(files, user.pw_uid, user.pw_gid)
            who = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        data, client = files / "data", [*who, POSTGRES / "pgbench", "-h", files]
        self.generate(*who, POSTGRES / "initdb", "-A", "trust", "--no-sync", "-D", data, cwd=files)
        with_right = [*who, "--inh-caps=+perfmon", "--ambient-caps=+perfmon"] if who else []

        def load(_):
            self.generate(*client, "-i", "-s", 1, "postgres", cwd=files)
            self.generate(*client, "-n", "-c", 4, "-t", 250, "-S", "postgres", cwd=files)

        folder = self.serve(
            [*with_right, POSTGRES / "postgres", "-D", data, "-k", files, "-c", "listen_addresses=",
             "-c", "fsync=off"],
            lambda: subprocess.run([POSTGRES / "pg_isready", "-q", "-h", files]).returncode == 0,
            load, signal.SIGINT, cwd=files)
        self.assert_time_has_its_place(folder)


if __name__ == "__main__":
    harness.main()
