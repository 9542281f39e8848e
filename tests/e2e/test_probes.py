# SPDX-License-Identifier: Apache-2.0
"""Probes of functions: counted to the last call, filtered by their arguments, and gone afterwards."""

import json
import os
import pathlib
import signal
import subprocess
import unittest

import harness

PROBED = harness.HOSTS / "probed"
ITSELF = harness.HOSTS / "probes_itself"
THREADS, HITS = 4, 3000
TRACING = pathlib.Path("/sys/kernel/tracing")
DEFINITIONS = TRACING / "uprobe_events"
# A ring that holds all of them: how soon the reader comes is up to who else uses the machine.
ROOMY = {"YARN_RING": "16M", "YARN_EMPTY": "keep"}


def measured_by_itself():
    environment = dict(harness.clean_environment(), LD_LIBRARY_PATH=str(harness.BUILD))
    return subprocess.run([ITSELF], env=environment, check=True, capture_output=True, text=True)


def definitions():
    return [line for line in DEFINITIONS.read_text().splitlines() if ":yarn_" in line]


@harness.as_root
@unittest.skipUnless(os.access(DEFINITIONS, os.W_OK), "tracefs is not mounted")
class Probes(harness.Case):
    def recorded(self, events, *words, **variables):
        run = self.run_program([PROBED, HITS, *words], YARN_EVENTS=events, **{**ROOMY, **variables})
        self.assertEqual(run.outside(), self.outside_without([PROBED, HITS, *words]))
        (dump,) = harness.info(run.dumps)
        mine = f"yarn_{dump['process']['pid']}_"
        self.assertFalse([line for line in definitions() if mine in line])
        return run, dump["events"]

    def assert_exact(self, event, hits):
        self.assertEqual(
            (event["errno"], event["count"], event["samples"], event["lost"]), (0, hits, hits, 0), event
        )

    def test_every_call_is_counted(self):
        for path in (PROBED, PROBED.name):
            with self.subTest(path=path):
                _, (event,) = self.recorded(f"uprobe:{path}:probed_function/call-graph=no/")
                self.assert_exact(event, THREADS * HITS)

    def test_threads_that_come_and_go_are_not_held_up(self):
        run, (event,) = self.recorded(f"uprobe:{PROBED}:probed_function/call-graph=no/", "threads")
        self.assert_exact(event, THREADS * HITS)
        # An event of the uprobe PMU for each would take 17 s.
        self.assertLess(run.user_seconds + run.system_seconds, 5)

    def test_arguments_and_the_returned_value(self):
        run, (event,) = self.recorded(
            f"uprobe:{PROBED}:probed_function/call-graph=no,filter='arg1 >= {HITS - 100}'/"
        )
        self.assert_exact(event, THREADS * 100)
        run, (event,) = self.recorded(
            f"uretprobe:{PROBED}:probed_function/call-graph=no,filter='ret < 30'/"
        )
        self.assert_exact(event, THREADS * 10)
        lines = harness.yarnprof("script", "--samples", "--no-header", run.dumps).stdout.decode()
        returned = [int(word[4:]) for word in lines.split() if word.startswith("ret=")]
        self.assertEqual(sorted(returned), sorted([3 * i for i in range(10)] * THREADS))

    def test_stack_of_a_probe_begins_in_its_function(self):
        run, _ = self.recorded(f"uprobe:{PROBED}:probed_function/period=100/")
        stacks = list(harness.stacks(run.dumps))
        self.assertTrue(stacks)
        for stack in stacks:
            self.assertEqual([name for name, _ in stack[:2]], ["probed_function", "call"])

    def test_pattern_is_one_event_a_function(self):
        _, events = self.recorded(f"uprobe:{PROBED}:*_at_once/call-graph=no/", "threads")
        self.assertEqual([event["name"] for event in events], [f"uprobe:{PROBED}:end_at_once"])
        self.assert_exact(events[0], 100)

    def test_what_no_probe_can_be_put_on_is_refused_by_itself(self):
        cases = (
            (f"{PROBED}:no_such_function", "no such function"),
            (f"{PROBED}:probed_function+1", "no instruction begins"),
            (f"{PROBED}:probed_function+100000", "behind the function's end"),
            (f"{PROBED}:0x0", "no function at that offset"),
            ("no_such_file:main", "no file of that name is mapped"),
            ("/no/such/file:main", "cannot be read"),
            ("/etc/passwd:main", "no program and no library"),
        )
        for site, why in cases:
            with self.subTest(site=site):
                _, events = self.recorded(f"cpu-clock,uprobe:{site}")
                self.assertEqual(events[0]["errno"], 0)
                self.assertNotEqual(events[1]["errno"], 0)
                self.assertIn(why, events[1]["reason"])

    def test_calls_beside_their_cost(self):
        functions = {"fifty_us": (20000, 50000), "five_hundred_us": (2000, 500000)}
        events = [f"uprobe:{PROBED}:{name}/call-graph=no/" for name in (*functions, "probed_function")]
        run = self.run_program([PROBED, 0, "cost"], YARN_EVENTS=",".join(["cpu-clock", *events]), **ROOMY)
        shown = json.loads(harness.yarnprof("report", "--calls", "--format=json", run.dumps).stdout)
        rows = {row["function"]: row for row in shown["calls"]}
        for name, (calls, each_ns) in functions.items():
            self.assertEqual(rows[name]["calls"], calls)
            self.assertAlmostEqual(rows[name]["per_call_ns"], each_ns, delta=0.25 * each_ns)
            self.assertFalse(rows[name]["below_probe"])
        # So many that one sample of its own is less a call than a probe takes anywhere.
        self.assertEqual(rows["probed_function"]["calls"], 50000)
        self.assertTrue(rows["probed_function"]["below_probe"] or not shown["probe_ns"])
        self.assertEqual(shown["calls"][2]["function"], "probed_function")

    def test_addresses_of_a_stripped_file_and_a_path_with_a_blank(self):
        stripped = self.folder() / "with a blank"
        subprocess.run(["strip", "-o", stripped, PROBED], check=True)
        symbols = subprocess.run(["nm", PROBED], check=True, capture_output=True, text=True).stdout
        (address,) = [int(line.split()[0], 16) for line in symbols.splitlines()
                      if line.endswith(" probed_function")]
        program = stripped.read_bytes()
        at, size, count = (int.from_bytes(program[a:b], "little") for a, b in ((32, 40), (54, 56), (56, 58)))
        for header in (program[at + i * size:at + (i + 1) * size] for i in range(count)):
            offset, start = (int.from_bytes(header[a:a + 8], "little") for a in (8, 16))
            length = int.from_bytes(header[32:40], "little")
            if header[0] == 1 and start <= address < start + length:
                site = address - start + offset
        run = self.run_program([stripped, HITS], YARN_EVENTS=f"uprobe:{stripped}:{site:#x}/call-graph=no/", **ROOMY)
        (dump,) = harness.info(run.dumps)
        self.assert_exact(dump["events"][0], THREADS * HITS)
        run = self.run_program([stripped, 1], YARN_EVENTS=f"uprobe:{stripped}:{site + 1:#x},cpu-clock", **ROOMY)
        self.assertIn("no instruction begins", harness.info(run.dumps)[0]["events"][0]["reason"])

    def test_libyarn_defines_probes_of_its_own(self):
        done = measured_by_itself()
        rows = [line.split(" ", 3) for line in done.stdout.splitlines()]
        one_counter = "several functions have such a name, and a counter is of one"
        self.assertEqual(rows, [["counter", "0", "300", ""], ["counter", "0", "300", ""],
                                ["counter", "1", "0", one_counter], ["session", "0", "300", ""],
                                ["session", "0", "300", ""], ["session", "0", "600", ""]])
        self.assertFalse([line for line in definitions() if str(ITSELF) in line])

    def test_record_defines_once_for_the_whole_tree(self):
        folder = self.folder()
        done = harness.yarnprof(
            "record", f"-o{folder}/", "-e", f"uprobe:{PROBED}:probed_function/call-graph=no,name=hits/",
            "--ring=16M", "--", "/bin/sh", "-c", f"{PROBED} 10; {PROBED} 10",
        )
        self.assertEqual(done.returncode, 0)
        dumps = [dump for dump in harness.info(folder) if "yarn.probed." in dump["path"]]
        got = {dump["events"][0]["got"] for dump in dumps}
        self.assertEqual((len(dumps), len(got)), (2, 1))
        for dump in dumps:
            self.assert_exact(dump["events"][0], THREADS * 10)
            self.assertEqual(dump["events"][0]["name"], "hits")
        self.assertFalse([line for line in definitions() if got.pop().split(":")[0] in line])

    def test_record_takes_probes_by_path_under_their_own_name(self):
        event = f"uprobe:{PROBED}:probed_function"
        folder = self.folder()
        done = harness.yarnprof(
            "record", f"-o{folder}/", "-e", f"{event}/call-graph=no/", "--", PROBED, "10"
        )
        self.assertEqual(done.returncode, 0)
        (dump,) = harness.info(folder)
        self.assert_exact(dump["events"][0], THREADS * 10)
        self.assertRegex(dump["events"][0]["name"], "^uprobe:.*:probed_function$")

    def test_the_user_s_part_of_a_probe_in_user_code_is_all_of_it(self):
        for kind in ("uprobe", "uretprobe"):
            with self.subTest(kind=kind):
                folder = self.folder()
                harness.yarnprof("record", f"-o{folder}/", "-e",
                                 f"{kind}:{PROBED}:probed_function/call-graph=no/u", "--", PROBED, "10")
                (dump,) = harness.info(folder)
                self.assert_exact(dump["events"][0], THREADS * 10)

    def test_any_record_sweeps_definitions_of_dead_owners(self):
        dead = subprocess.Popen(["true"])
        dead.wait()
        namespace = os.stat("/proc/self/ns/pid").st_ino
        line = f"yarn_{dead.pid}_{namespace}/p0_1f"
        file = os.open(DEFINITIONS, os.O_WRONLY | os.O_APPEND)
        os.write(file, f"p:{line} {PROBED}:0x1000\n".encode())
        os.close(file)
        self.assertTrue([found for found in definitions() if line in found])
        harness.yarnprof("record", f"-o{self.folder()}/", "--", "/bin/true")
        self.assertFalse([found for found in definitions() if line in found])

    def test_record_refuses_what_cannot_be_had(self):
        done = harness.yarnprof(
            "record", "-e", f"uprobe:{PROBED}:no_such_function", "--", "/bin/true", check=False
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"no such function", done.stderr)

    def test_definitions_of_the_dead_are_swept(self):
        environment = dict(
            harness.clean_environment(),
            LD_PRELOAD=str(harness.PRELOAD),
            YARN_OUTPUT=f"{self.folder()}/",
            YARN_EVENTS=f"uprobe:{PROBED}:probed_function/call-graph=no/",
        )
        process = subprocess.Popen([PROBED, "1", "wait"], env=environment, stdout=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        mine = f"yarn_{process.pid}_"
        self.assertTrue([line for line in definitions() if mine in line])
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        self.recorded(f"uprobe:{PROBED}:probed_function/call-graph=no/")
        self.assertFalse([line for line in definitions() if mine in line])


class OrdinaryUser(harness.Case):
    @unittest.skipIf(os.getuid() == 0, "root may define probes")
    @unittest.skipUnless(os.path.ismount(TRACING), "tracefs is not mounted")
    def test_refusal_says_what_root_can_run(self):
        run = self.run_program(
            [PROBED, 1], YARN_EVENTS=f"cpu-clock,uprobe:{PROBED}:probed_function", YARN_EMPTY="keep"
        )
        (dump,) = harness.info(run.dumps)
        self.assertIn("echo 'p:yarn/probed_function ", dump["events"][1]["reason"])

    @unittest.skipIf(os.getuid() == 0, "root may define probes")
    @unittest.skipUnless(os.path.ismount(TRACING), "tracefs is not mounted")
    def test_libyarn_says_so_too(self):
        done = measured_by_itself()
        rows = done.stdout.splitlines()
        for row in (rows[0], rows[3], rows[5]):
            self.assertIn(" 1 0 only root may define probes; as root: echo 'p:yarn/probed_", row)
        for row in (rows[1], rows[4]):
            self.assertRegex(row, "^(counter|session) [04] 300 ")


if __name__ == "__main__":
    harness.main()
