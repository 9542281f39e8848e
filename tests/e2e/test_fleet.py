# SPDX-License-Identifier: Apache-2.0
"""Many processes on many machines: ranks of MPI jobs, dumps of many hosts merged in bounded memory, labels of
what other tools get."""

import gzip
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import unittest

import harness

sys.path.insert(0, str(harness.ROOT / "tests" / "support"))
import otlp_schema
import protobuf_wire

BUSY = "sum(len(str(i * i)) for i in range({}))"
NR_RANKS = 3
ORDINARY_USER = 65533
MPI_PROGRAM = """
#include <mpi.h>

__attribute__((noinline)) static double work(long count)
{
    double sum = 0;
    for (volatile long i = 0; i < count; i++)
        sum += 0.5 * i;
    return sum;
}

int main(int argc, char **argv)
{
    int rank, nr_ranks;
    double sum, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nr_ranks);
    for (int i = 0; i < 10; i++) {
        sum = work(rank == nr_ranks - 1 ? 16000000 : 8000000);
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    return MPI_Finalize();
}
"""
MERGED_MOST_BYTES = 200 << 20


def by_rank(folder):
    rows = harness.report(folder, "--by=rank")["rows"]
    return {row["rank"]: row["self"] for row in rows}


class Ranks(harness.Case):
    def run_mpi(self, folder, program, who=(), **variables):
        """The dumps of ranks that mpirun starts."""
        done = subprocess.run(
            [*who, "mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(NR_RANKS), *program],
            env={**harness.clean_environment(), "LD_PRELOAD": str(harness.PRELOAD), "YARN_OUTPUT": f"{folder}/",
                 **variables},
            capture_output=True, text=True, check=False, timeout=120)
        if done.returncode != 0 and not list(folder.iterdir()):
            self.skipTest(f"mpirun does not run here: {done.stderr}")
        self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun (Debian's package openmpi-bin)")
    def test_of_open_mpi_in_one_report(self):
        folder = self.folder()
        # One rank works longer than the others.
        code = ("import os\nrank = int(os.environ['OMPI_COMM_WORLD_RANK'])\n"
                f"{BUSY.format('(300_000, 300_000, 1_500_000)[rank]')}")
        self.run_mpi(folder, [sys.executable, "-c", code], YARN_COMM="python*")
        self.check(folder)

    def make_mpi_program(self):
        source, program = self.root / "job.c", self.root / "job"
        source.write_text(MPI_PROGRAM)
        subprocess.run(["mpicc", "-O1", source, "-o", program], check=True)
        return program

    @unittest.skipUnless(shutil.which("mpirun") and shutil.which("mpicc"),
                         "no mpirun and mpicc (Debian's packages openmpi-bin, libopenmpi-dev)")
    def test_ranks_that_wait_for_each_other(self):
        """The last rank has twice the work of the others, which wait for it in MPI_Allreduce."""
        folder = self.folder()
        self.run_mpi(folder, [self.make_mpi_program()], YARN_COMM="job")
        rows = harness.report(folder, "--by=rank", "--function=^work$")["rows"]
        ranks = {row["rank"]: row["self"] for row in rows}
        self.assertEqual(set(ranks), {str(rank) for rank in range(NR_RANKS)})
        self.assertAlmostEqual(ranks[str(NR_RANKS - 1)] / sum(ranks.values()), 0.5, delta=0.15)

    @harness.as_root
    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun (Debian's package openmpi-bin)")
    def test_of_an_ordinary_user(self):
        folder = self.folder()
        library = shutil.copy(harness.PRELOAD, self.root)
        self.root.chmod(0o755)
        os.chown(folder, ORDINARY_USER, ORDINARY_USER)
        home = self.folder()
        os.chown(home, ORDINARY_USER, ORDINARY_USER)
        who = ["setpriv", f"--reuid={ORDINARY_USER}", f"--regid={ORDINARY_USER}", "--clear-groups", "--bounding-set=-all"]
        self.run_mpi(folder, ["/usr/bin/python3", "-c", BUSY.format(500_000)], who, LD_PRELOAD=library,
                     HOME=str(home), TMPDIR=str(home), YARN_COMM="python*")
        self.assertEqual(set(by_rank(folder)), {str(rank) for rank in range(NR_RANKS)})

    def check(self, folder):
        ranks = by_rank(folder)
        self.assertEqual(set(ranks), {str(rank) for rank in range(NR_RANKS)})
        self.assertEqual(max(ranks, key=ranks.get), str(NR_RANKS - 1))
        self.check_rows(folder, ranks)
        merged = self.folder() / "job.dump"
        harness.yarnprof("merge", folder, "-o", merged)
        self.assertEqual(by_rank(merged), ranks)
        self.assertEqual({dump["process"]["rank"] for dump in harness.info(merged)}, set(ranks))

    def check_rows(self, folder, ranks):
        """By the query that SQLITE.md has for it."""
        path = self.folder() / "job.db"
        harness.yarnprof("export", "--to=sqlite", folder, "-o", path)
        text = (harness.ROOT / "output" / "export" / "SQLITE.md").read_text()
        (query,) = [one for one in re.findall(r"(?ms)^```sql\n(.*?)^```", text) if one.startswith("SELECT host, rank")]
        with sqlite3.connect(path) as database:
            rows = database.execute(query).fetchall()
            columns = database.execute("SELECT type FROM pragma_table_info('processes')").fetchall()
        self.assertEqual({rank: weight for _, rank, _, weight, _ in rows}, ranks)
        self.assertEqual({host for host, *_ in rows}, {os.uname().nodename})
        self.assertTrue(all(kind for (kind,) in columns))

    def test_by_each_launchers_variable(self):
        for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"):
            with self.subTest(name):
                folder = self.folder()
                for rank in range(NR_RANKS):
                    code = BUSY.format(300_000 if rank < NR_RANKS - 1 else 1_500_000)
                    run = self.run_program([sys.executable, "-c", code], **{name: str(rank)})
                    for dump in self.dumps_of(run):
                        shutil.copy(dump, folder)
                self.check(folder)

    def test_a_process_without_has_none(self):
        run = self.run_program([sys.executable, "-c", BUSY.format(300_000)])
        self.assertEqual(set(by_rank(run.dumps)), {"-"})


class Labels(harness.Case):
    def test_pprof_says_whose_each_sample_is(self):
        run = self.run_program([sys.executable, "-c", BUSY.format(300_000)], PMI_RANK="7")
        path = run.dumps / "p.pb.gz"
        harness.yarnprof("export", "--to=pprof", run.dumps, "-o", path)
        profile = protobuf_wire.pprof(gzip.decompress(path.read_bytes()))
        self.assertTrue(profile["samples"])
        for sample in profile["samples"]:
            labels = sample["labels"]
            self.assertEqual(labels["rank"], "7")
            self.assertEqual(labels["host"], os.uname().nodename)
            self.assertIn("300000", labels["command"])
            self.assertTrue(labels["thread"].startswith("python3"))


class OpenTelemetry(harness.Case):
    def test_file_holds_to_the_schema_and_has_the_weights_of_the_report(self):
        folder = self.folder()
        for count, rank in ((300_000, "0"), (600_000, "1")):
            run = self.run_program([sys.executable, "-c", BUSY.format(count)], PMI_RANK=rank,
                                   YARN_EVENTS="cpu-clock:u,page-faults:u")
            for dump in self.dumps_of(run):
                shutil.copy(dump, folder)
        path = self.folder() / "p.otlp"
        harness.yarnprof("export", "--to=otlp", folder, "-o", path)
        profiles = otlp_schema.check(path.read_bytes())
        self.assertEqual({(resource["rank"], event) for resource, event, _, _ in profiles},
                         {(rank, event) for rank in "01" for event in ("cpu-clock:u", "page-faults:u")})
        totals = {}
        for resource, event, unit, samples in profiles:
            self.assertEqual(unit, "nanoseconds" if event == "cpu-clock:u" else "events")
            self.assertEqual(resource["host.name"], os.uname().nodename)
            self.assertIn("python", resource["service.name"])
            totals[event] = totals.get(event, 0) + sum(value for value, _, _ in samples if value)
            for _, its, stack in samples:
                self.assertIn("thread.name", its)
                self.assertTrue(all(stack))
        kernel = harness.report(folder)["notes"]["kernel_ns"]
        wanted = {event["name"]: event["total"] for event in harness.report(folder)["events"]}
        self.assertEqual(totals["page-faults:u"], wanted["page-faults:u"])
        self.assertIn(totals["cpu-clock:u"] - wanted["cpu-clock:u"], (0, kernel))


class Merge(harness.Case):
    """Of 10,000 dumps; memory and time by the kernel's account of the one process."""

    def setUp(self):
        super().setUp()
        run = self.run_program([harness.HOSTS / "kinds", "turns", "1", "1"])
        (self.dump,) = self.dumps_of(run)

    def merge(self, nr_dumps):
        folder = self.folder()
        data = self.dump.read_bytes()
        for i in range(nr_dumps):
            host = folder / f"host{i % 100}"
            host.mkdir(exist_ok=True)
            (host / f"{i}.dump").write_bytes(data)
        merged = self.folder() / "all.dump"
        process = subprocess.Popen([harness.YARNPROF, "merge", *sorted(folder.iterdir()), "-o", merged],
                                   env=harness.clean_environment())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        self.assertGreaterEqual(merged.stat().st_size, nr_dumps * len(data) * 0.5)
        return usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime

    def test_ten_thousand_dumps_in_little_memory_and_linear_time(self):
        _, few = self.merge(1000)
        memory, many = self.merge(10_000)
        print(f"\n10,000 dumps: {memory >> 20} MiB, {many:.2f} s of CPU time; 1,000: {few:.2f} s")
        self.assertLessEqual(memory, MERGED_MOST_BYTES)
        # Ten times the dumps; twice that would not yet be a square.
        self.assertLessEqual(many, 20 * max(few, 0.05))


if __name__ == "__main__":
    harness.main()
