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

WAITING = """
import ctypes, os, sys, time
yarn = ctypes.CDLL(None)
def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
def tasks():
    return len(os.listdir("/proc/self/task"))
print(tasks(), yarn.yarn_stop(), yarn.yarn_flush(), tasks(), flush=True)
burn(.1)
if not os.fork():
    print(tasks(), flush=True)
    burn(.05)
    if sys.argv[2:]:
        print(yarn.yarn_start(), tasks(), flush=True)
        burn(.1)
    sys.exit()
os.wait()
for _ in range(int(sys.argv[1])):
    print(yarn.yarn_start(), tasks(), flush=True)
    burn(.1)
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

    def test_nothing_is_there_before_the_call_that_it_waits_for(self):
        for arguments, said in (((0,), b"1 0 0 1\n1\n"), ((2,), b"1 0 0 1\n1\n0 2\n0 2\n"),
                                ((1, 1), b"1 0 0 1\n1\n0 2\n0 2\n")):
            with self.subTest(arguments=arguments):
                run = self.python(WAITING, *arguments, YARN_START="off")
                self.assertEqual(self.finish(*run, by_itself=True).stdout, said)
                dumps = [self.info_of(dump) for dump in run[2].iterdir()]
                self.assertEqual(len(dumps), sum(arguments[:1]) > 0 and len(arguments))
                for dump in dumps:
                    (gap,) = dump["stopped"]
                    self.assertEqual((gap["stopped_by"], gap["started_by"]), ("option", "program"))
                    self.assertEqual(gap["from_ns"], dump["process"]["start_ns"])
                    self.assertGreaterEqual(gap["to_ns"] - gap["from_ns"], 50e6)
                    self.assertGreater(dump["trust"]["samples"], 20)

    def test_a_mark_before_the_start_is_kept(self):
        text = "import ctypes\nprint(ctypes.CDLL(None).yarn_mark(b'early'), flush=True)"
        run = self.python(text, YARN_START="off")
        self.assertEqual(self.finish(*run, by_itself=True).stdout, b"0\n")
        self.assertIn("YARN_mark early", harness.yarnprof("script", run[2]).stdout.decode())

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
