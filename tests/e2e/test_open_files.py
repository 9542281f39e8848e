# SPDX-License-Identifier: Apache-2.0
"""Hard limits of open files."""

import errno
import os
import resource
import socket
import time

import harness
from narrow import Case, limited

SPLIT = harness.HOSTS / "split"


class OpenFiles(Case):
    """Hard limits of open files that are too small for all events of all cores."""

    EVENTS = ("cpu-clock", "page-faults", "minor-faults")
    # Of the reader's own table: 0 to 2; to be woken, the dump, and files that it reads.
    TAKEN, SPARE = 3, 4

    def setUp(self):
        super().setUp()
        if harness.open_user_clock():
            self.skipTest("the kernel refuses perf_event_open here")

    def nr_events(self, limit):
        """As many as fit; 0: not one, with a descriptor for each core and its leader: timers."""
        cpus = os.sysconf("SC_NPROCESSORS_CONF")
        return max(0, min(3, (limit - self.TAKEN - self.SPARE - cpus) // cpus))

    def run_at(self, limit, argv, **variables):
        return self.assert_same_outside(
            argv, before=limited(resource.RLIMIT_NOFILE, limit), **variables
        )

    def test_as_many_events_as_fit(self):
        for limit, strategy in ((5, "per-core"), (8, "per-thread"), (14, "per-core"),
                                (32, "per-core")):
            with self.subTest(limit=limit, strategy=strategy):
                run = self.run_at(limit, [SPLIT, "3"], YARN_EVENTS=",".join(self.EVENTS),
                                  YARN_STRATEGY=strategy)
                self.check_events(run, limit, strategy)

    def check_events(self, run, limit, strategy):
        (dump,) = harness.info(run.dumps)
        nr_taken = sum(not event["errno"] for event in dump["events"])
        nr_fitting = self.nr_events(limit) if strategy == "per-core" else 0
        self.assertEqual(nr_taken, max(1, nr_fitting))
        self.assertEqual(dump["sampler"]["got"], "perf" if nr_fitting else "timer")
        self.assertEqual(dump["sampler"]["reader"], "poll" if nr_fitting else "timed")
        if not nr_fitting:
            self.assertIn("raise the limit of open files", dump["sampler"]["reason"])
        for event in dump["events"][nr_taken:]:
            self.assertEqual(event["errno"], errno.EMFILE if nr_fitting else errno.EOPNOTSUPP)
            self.assertIn("raise the limit of open files" if nr_fitting else "clock", event["reason"])
        shares = harness.self_percent(run.dumps, "--event=cpu-clock")
        self.assertAlmostEqual(shares.get("hot_a", 0), 60, delta=10)
        trust = dump["trust"]
        self.assert_threads_are_sampled(dump, 0.1)
        self.assert_nothing_is_lost(run, trust)
        self.assertEqual(trust["frames_unknown"], 0)

    def test_threads_and_children(self):
        for argv in (["threads8", "5"], ["children", "tree"], ["children", "unshare"]):
            with self.subTest(host=argv):
                run = self.run_at(8, [harness.HOSTS / argv[0], *argv[1:]])
                for dump in harness.info(run.dumps):
                    self.assertEqual(dump["sampler"]["got"], "timer")
                if argv[0] == "threads8":
                    shares = harness.self_percent(run.dumps)
                    for i in range(8):
                        found = shares[f"void (anonymous namespace)::worker<{i}>()"]
                        self.assertAlmostEqual(found, 12.5, delta=4)

    def test_no_descriptor_for_a_control_socket(self):
        """Nor for its client: nobody waits in vain, and the reader does not turn on the spot."""
        for limit, has_socket in ((6, False), (7, True)):
            with self.subTest(limit=limit):
                folder, begun = self.folder(), time.monotonic()
                process = harness.start([SPLIT, "8"], folder, YARN_CONTROL="c.sock",
                                        before=limited(resource.RLIMIT_NOFILE, limit))
                clients = [socket.socket(socket.AF_UNIX) for _ in range(8)]
                for client in clients if has_socket else ():
                    while process.poll() is None and client.connect_ex(str(folder / "c.sock")):
                        time.sleep(0.01)  # it is bound before it listens
                run = harness.wait(process, begun, folder)
                for client in clients:
                    client.close()
                (dump,) = harness.info(run.dumps)
                reported = " ".join(message["text"] for message in dump["messages"])
                self.assertEqual("the socket could not be made" in reported, not has_socket, reported)
                self.assertLess(dump["trust"]["drain_cpu_ns"], 0.5 * dump["trust"]["cpu_ns"])

    def test_stop_and_start(self):
        run = self.run_at(8, [harness.HOSTS / "parts"])
        self.assertGreater(harness.self_percent(run.dumps).get("wanted", 0), 95)


if __name__ == "__main__":
    harness.main(needs_perf=False)
