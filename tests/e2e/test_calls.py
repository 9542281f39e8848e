# SPDX-License-Identifier: Apache-2.0
"""The calls of <yarn/control.h>."""

import control
import harness

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


class Calls(control.Case):
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
                    self.assertGreater(thread["cpu_ns"], 0)
                ends = sorted(thread["end_ns"] for thread in threads.values())
                self.assertLess(ends[0], gap["from_ns"])
                self.assertGreaterEqual(ends[1], gap["from_ns"])
                self.assertLess(ends[1], gap["to_ns"])  # noted by itself, as nobody else watched
                self.assertGreater(ends[2], gap["to_ns"] + 90e6)
                (last,) = (thread for thread in threads.values() if thread["end_ns"] == ends[2])
                self.assertGreater(last["cpu_ns"], 15e6)

    def test_they_do_nothing_without_the_preload(self):
        for host in self.HOSTS:
            done = self.run_program([harness.HOSTS / host, "codes"], preload=False)
            self.assertEqual((done.status, done.stdout), (0, b"-3 -3 -3 -3 -3 errno 77\n"))


if __name__ == "__main__":
    harness.main()
