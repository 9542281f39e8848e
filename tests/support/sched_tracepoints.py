# SPDX-License-Identifier: Apache-2.0
"""Samples of sched_switch and sched_waking, put into dumps that are packed by hand."""

import struct

COMMON = """\
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

"""
SWITCH = "name: sched_switch\nID: 372\n" + COMMON + """\
\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;
\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;
\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;
\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;
\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;

print fmt: "%s:%d ==> %s:%d", REC->prev_comm, REC->prev_pid, REC->next_comm, REC->next_pid
"""
WAKING = "name: sched_waking\nID: 375\n" + COMMON + """\
\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;
\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;

print fmt: "comm=%s pid=%d", REC->comm, REC->pid
"""

def switch(prev, next_, state=0, kind=372, common=None):
    """The raw bytes of sched_switch; each side is (comm, pid)."""
    return struct.pack("<HBBi16siiq16sii", kind, 0, 0, prev[1] if common is None else common,
                       prev[0].encode(), prev[1], 120, state, next_[0].encode(), next_[1], 120)


def waking(by, comm, pid, core):
    return struct.pack("<HBBi16siii", 375, 0, 0, by, comm.encode(), pid, 120, core)


def put(dump, event, tid, core, events):
    """Samples of one thread on one core: (time since the dump's, raw bytes), with the four
    bytes behind them that the kernel fills up with."""
    raws = [raw + bytes(4) for _, raw in events]
    number, kinds = len(events), [time for time, _ in events]
    columns = {"sample": range(number), "address": 0, "raw_bytes": tuple(map(len, raws))}
    steps = [0] + [b - a - 1000 for a, b in zip(kinds, kinds[1:])]
    dump.named("STREAMS", 1, {"event": event, "tid": tid, "count": number,
                              "first_ns": kinds[0], "period_ns": 1000, "weight": 1})
    dump.batch("DETAILS", 0, number, columns["sample"], 0, columns["raw_bytes"],
               tail=b"".join(raws))
    dump.named("SAMPLES", number, {"time_ns": tuple(steps), "cpu": core})
    dump.flush()
