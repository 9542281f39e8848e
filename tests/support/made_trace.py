# SPDX-License-Identifier: Apache-2.0
"""Made traces as trace.dat of version 7, and what couplebreak makes of them by its rules: target by target,
without regard to time."""
import struct
import zlib
SW = b"""name: sched_switch
ID: 316
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;
\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;
\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;
\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;
\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;

print fmt: "prev_comm=%s", REC->prev_comm
"""
WK = b"""name: sched_waking
ID: 319
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;
\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;

print fmt: "comm=%s pid=%d", REC->comm, REC->pid
"""
OT = b"""name: sys_enter
ID: 22
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;

print fmt: "NR %ld", REC->id
"""
def sized(b): return struct.pack("<Q", len(b)) + b
def deflated(b, level): return struct.pack("<II", len(z := zlib.compress(b, level)), len(b)) + z
def build(cores, names, level=None, options=(), lost={}):
    """cores: {cpu: [(time, bytes)]}; returns a version 7 file, packed by zlib where a level is given. lost: {cpu: (before
    which event, how many)}."""
    packing = b"none\0\0" if level is None else b"zlib\x001\0"
    head = b"\x17\x08\x44tracing7\0\0\x08" + struct.pack("<I", 4096) + packing
    out = bytearray(head + bytes(8))
    def section(n, body):
        flag = int(level is not None and n != 0)
        if flag: body = deflated(body, level)
        at = len(out); out.extend(struct.pack("<HHIQ", n, flag, 0, len(body)) + body); return at
    ph = b"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n"
    eh = b"# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n\tpadding     : type == 29\n\ttime_extend : type == 30\n\ttime_stamp : type == 31\n\tdata max type_len  == 28\n"
    opts = []
    opts.append((16, struct.pack("<Q", section(16, b"header_page\0" + sized(ph) + b"header_event\0" + sized(eh)))))
    opts.append((17, struct.pack("<Q", section(17, struct.pack("<I", 0)))))
    opts.append((18, struct.pack("<Q", section(18, struct.pack("<I", 2) + b"sched\0" + struct.pack("<I", 2) + sized(SW) + sized(WK) + b"raw_syscalls\0" + struct.pack("<I", 1) + sized(OT)))))
    nm = "".join(f"{p} {c}\n" for p, c in names.items()).encode()
    opts.append((21, struct.pack("<Q", section(21, sized(nm)))))
    bufat = len(out); out.extend(struct.pack("<HHIQ", 3, 0, 0, 0))
    places = []
    for cpu, events in sorted(cores.items()):
        out.extend(bytes(-len(out) % 4096)); at = len(out)
        page, t0, last, missed = b"", 0, 0, None
        def flush():
            nonlocal page, missed
            flags, count = (0, b"") if missed is None else (3 << 30, struct.pack("<Q", missed))
            if page:
                out.extend(struct.pack("<QQ", t0, len(page) | flags) + (page + count).ljust(4080, b"\0"))
                page, missed = b"", None
        for n, (t, b) in enumerate(events):
            if cpu in lost and lost[cpu][0] == n: flush(); missed = lost[cpu][1]
            d = t - last if page else 0
            enc = struct.pack("<I", len(b) // 4 | (d & 0x7ffffff) << 5) + b
            if d >> 27: enc = struct.pack("<II", 30 | (d & 0x7ffffff) << 5, d >> 27) + struct.pack("<I", len(b) // 4) + b
            if len(page) + len(enc) > 4080: flush()
            if not page: t0 = t; enc = struct.pack("<I", len(b) // 4) + b
            page += enc; last = t
        flush()
        if level is not None and len(out) > at:
            pages = bytes(out[at:]); del out[at:]
            chunks = [pages[i:i + 3 * 4096] for i in range(0, len(pages), 3 * 4096)]
            out.extend(struct.pack("<I", len(chunks)) + b"".join(deflated(c, level) for c in chunks))
        places.append((cpu, at, len(out) - at))
    struct.pack_into("<Q", out, bufat + 8, len(out) - bufat - 16)
    opts.append((8, struct.pack("<I", len(cores)))); opts.append((4, b"[mono]\0"))
    opts.append((3, struct.pack("<Q", bufat) + b"\0mono\0" + struct.pack("<II", 4096, len(places)) + b"".join(struct.pack("<IQQ", *p) for p in places)))
    opts.extend(options); opts.append((0, bytes(8)))
    at = section(0, b"".join(struct.pack("<HI", n, len(b)) + b for n, b in opts))
    struct.pack_into("<Q", out, len(head), at)
    return bytes(out)
def generate(rng, n):
    ncpu = rng.randint(1, 6); pids = list(range(100, 100 + rng.randint(1, 12))) + [0]
    cores, names = {c: [] for c in range(ncpu)}, {p: f"task {p}:x" for p in pids if p}
    t, cur = rng.randint(0, 1 << 40), [0] * ncpu
    for _ in range(n):
        t += rng.choice([0, 0, 1, 5, 1000, 10**6, 10**9 if rng.random() < .05 else 3])
        c = rng.randrange(ncpu); k = rng.random(); pid = cur[c]
        common = lambda i: struct.pack("<HBBi", i, rng.randrange(64), rng.choice([0, 1, 2, 0x12]), pid)
        comm = lambda p: (names.get(p, "swapper/%d" % c)).encode().ljust(16, b"\0")
        if k < .5:
            nx = rng.choice(pids); st = rng.choice([0, 1, 2, 256])
            cores[c].append((t, common(316) + comm(pid) + struct.pack("<iiq", pid, 120, st) + comm(nx) + struct.pack("<ii", nx, 110))); cur[c] = nx
        elif k < .85:
            w = rng.choice(pids + [999999])
            cores[c].append((t, common(319) + comm(w) + struct.pack("<iii", w, 120, rng.randrange(ncpu))))
        else: cores[c].append((t, common(22) + struct.pack("<q", rng.randrange(-5, 400))))
    return cores, names
def model(cores):
    flat = [(t, c, i, b) for c, evs in cores.items() for i, (t, b) in enumerate(evs)]
    flat.sort(key=lambda e: (e[0], e[1], e[2]))
    rows = []
    for t, c, _, b in flat:
        i, = struct.unpack_from("<H", b); pid, = struct.unpack_from("<i", b, 4)
        rows.append([t, i, pid, c, -1])
        if i == 316: rows.append([t, -10000, struct.unpack_from("<i", b, 56)[0], c, len(rows) - 1])
        if i == 319: rows.append([t, -10001, struct.unpack_from("<i", b, 24)[0], ("w", struct.unpack_from("<i", b, 32)[0]), len(rows) - 1])
    for k, r in enumerate(rows):
        if r[1] == -10001:
            r[3] = next((q[3] for q in rows[k:] if q[1] == -10000 and q[2] == r[2]), r[3][1])
    return rows
