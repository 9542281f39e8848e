#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Threads and cores played through, written as trace.dat: yarnprof sched has to find what each thread did when."""

import collections
import json
import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "support"))
import made_trace
from command_line import WithDumps, main

MS = 10**6


def comm(pid):
    return f"t{pid}".encode().ljust(16, b"\0")


class Play:
    """What happens to threads: each does one thing at a time, since when and for how long in all is known."""

    def __init__(self, seed):
        self.pick = random.Random(seed)
        self.now = 10**9
        self.on = dict.fromkeys(range(self.pick.choice([1, 2, 4])), 0)
        self.events = {core: [] for core in self.on}
        self.does = dict.fromkeys(range(11, 11 + self.pick.randrange(2, 9)), "blocked")
        self.since, self.birth = {}, {}
        self.sums = collections.defaultdict(collections.Counter)
        self.waits = collections.defaultdict(list)
        self.history = {core: [] for core in self.on}  # since when who is on it, as far as events tell
        self.had = collections.Counter()
        for _ in range(self.pick.randrange(50, 600)):
            self.now += self.pick.choice([1, self.pick.randrange(1, 5000), self.pick.randrange(1, 5 * MS)])
            core = self.pick.choice(list(self.on))
            asleep = [pid for pid, what in self.does.items() if what == "blocked"]
            if asleep and self.pick.random() < 0.4:
                self.wake(core, self.pick.choice(asleep))
            else:
                self.switch(core)
        self.now = max(events[-1][0] for events in self.events.values() if events)
        for pid in self.birth:
            self.turn(pid, None)

    def see(self, pid):
        """A thread's life begins with the first event that names it."""
        self.birth.setdefault(pid, self.now)
        self.since.setdefault(pid, self.now)

    def turn(self, pid, what):
        self.see(pid)
        self.sums[pid][self.does[pid]] += self.now - self.since[pid]
        self.does[pid], self.since[pid] = what, self.now

    def wake(self, core, pid):
        self.events[core].append((self.now, struct.pack("<HBBi", 319, 0, 0, self.on[core]) + comm(pid)
                                  + struct.pack("<iii", pid, 120, core)))
        self.turn(pid, "runnable")

    def switch(self, core):
        leaves = self.on[core]
        ready = [pid for pid, what in self.does.items() if what == "runnable"]
        comes = self.pick.choice(ready) if ready and self.pick.random() < 0.8 else 0
        if comes == leaves:
            return
        is_preempted = bool(leaves) and self.pick.random() < 0.4
        self.events[core].append((self.now, struct.pack("<HBBi", 316, 0, 0, leaves) + comm(leaves)
                                  + struct.pack("<iiq", leaves, 120, int(bool(leaves) and not is_preempted))
                                  + comm(comes) + struct.pack("<ii", comes, 120)))
        self.on[core] = comes
        if leaves:
            self.turn(leaves, "runnable" if is_preempted else "blocked")
            self.sums[leaves].update(switches=1, preemptions=int(is_preempted))
        if comes:
            self.waits[comes].append(self.now - self.since[comes])
            self.blame(core, comes)
            self.turn(comes, "running")
        self.history[core].append((self.now, comes))

    def blame(self, core, waiter):
        """Who was on the core while the thread, which gets it now, waited: ns by ns of the history."""
        changes = [(0, None), *self.history[core], (self.now, None)]
        for (begin, who), (end, _) in zip(changes, changes[1:]):
            begin = max(begin, self.since[waiter])
            if begin < end:
                self.had[who, waiter] += end - begin


class Simulated(WithDumps):
    def test_what_each_thread_did(self):
        path = self.folder / "played.dat"
        for seed in range(100):
            play = Play(seed)
            path.write_bytes(made_trace.build(play.events, {pid: f"t{pid}" for pid in play.birth}))
            rows = {row["tid"]: row for row in json.loads(self.good("sched", "--format=json", path))["threads"]}
            self.assertEqual(set(rows), set(play.birth))
            had = json.loads(self.good("sched", "--wait-for-core", "--format=json", path))["wait_for_core"]
            self.assertEqual({(row["holder"], row["waiter"]): row["ns"] for row in had}, dict(play.had))
            for pid, birth in play.birth.items():
                sums, row = play.sums[pid], rows[pid]
                with self.subTest(seed=seed, pid=pid):
                    self.assertEqual(row["life_ns"], play.now - birth)
                    self.assertEqual([row[key] for key in ("running_ns", "runnable_ns", "blocked_ns", "unknown_ns",
                                                           "switches", "preemptions", "waits", "wait_ns_max")],
                                     [sums["running"], sums["runnable"], sums["blocked"], 0, sums["switches"],
                                      sums["preemptions"], len(play.waits[pid]), max(play.waits[pid], default=None)])


if __name__ == "__main__":
    main()
