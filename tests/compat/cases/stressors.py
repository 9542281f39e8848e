# SPDX-License-Identifier: Apache-2.0
"""stress-ng: what programs can do to processes, memory, signals and time, checked by itself
(--verify). Each does a fixed number of its operations, for at most a second."""

from case import Case, line_of

# Operations of each stressor: as many as take some tenths of a second. Left out are `resources`
# and `forkheavy`, which take all of the disk for a moment.
OPERATIONS = {
    # processes
    "fork": 200, "vfork": 200, "vforkmany": 20, "clone": 50, "exec": 20,
    "spawn": 20, "daemon": 50, "zombie": 50, "pthread": 200, "exit-group": 20, "wait": 200,
    "kill": 2000, "pidfd": 50, "session": 20, "nice": 5, "race-sched": 50,
    "schedpolicy": 200, "affinity": 200, "resched": 10, "prctl": 50, "ptrace": 500, "procfs": 20,
    "personality": 50, "unshare": 20, "chroot": 20, "env": 5, "set": 50,
    "get": 50, "getrandom": 1000, "kcmp": 50, "usersyscall": 200, "seccomp": 20, "landlock": 5,
    "rlimit": 5, "sysinfo": 20, "close": 200, "dup": 200,
    # signals and time
    "sigsegv": 200, "sigfpe": 200, "sigabrt": 20, "sigtrap": 200, "sigq": 500, "sigrt": 200,
    "sigio": 50, "sigpipe": 100, "sigfd": 500, "sigchld": 50, "signal": 500, "signest": 20,
    "sigpending": 500, "sigsuspend": 500, "bad-altstack": 20, "alarm": 20, "itimer": 200,
    "timer": 200, "timerfd": 100, "hrtimers": 20, "nanosleep": 20, "clock": 50, "sleep": 50,
    "fp-error": 100, "opcode": 5, "far-branch": 20, "longjmp": 500, "context": 500,
    # threads waiting for each other; of mutex's, few are over before the maker has counted its first
    # thread, and it fails by chance (9 of 120 plain runs of 500)
    "switch": 2000, "futex": 2000, "membarrier": 100, "rseq": 2, "mutex": 100000, "sem": 500,
    "sem-sysv": 500, "mq": 500, "msg": 500, "poll": 500, "epoll": 200, "eventfd": 500,
    "pipe": 2000, "pipeherd": 500, "sockpair": 200, "sock": 50, "yield": 2000, "hsearch": 1,
    # memory
    "mmap": 5, "mmapmany": 2, "mremap": 5, "munmap": 5, "mprotect": 20,
    "madvise": 5, "brk": 500, "stack": 20, "stackmmap": 2, "bigheap": 20, "shm": 5,
    "shm-sysv": 5, "rmap": 5, "fault": 200, "userfaultfd": 50, "memfd": 20, "mlock": 5,
    "vm-segv": 20, "secretmem": 20, "remap": 5, "dynlib": 50, "malloc": 500, "vm": 5,
    # files
    "io-uring": 100, "aio": 50, "fcntl": 100, "flock": 200, "lockf": 100, "lease": 20,
    "inotify": 5, "fifo": 500, "splice": 100, "sendfile": 100, "dev-shm": 5, "access": 20,
    "chdir": 20, "getdent": 20, "pty": 2, "sysfs": 1, "sysbadaddr": 20,
}


RIGHTLY = {
    "kcmp": "a process of several threads has a list of semaphore operations to undo, which its fork "
    "child has not; the reader is a thread, and the test wants both to have none",
}


def stressor(name, operations):
    return Case(
        f"stress-{name}",
        f"stress-ng --{name} 1 --{name}-ops {operations} --timeout 1 --verify",
        "stress-ng",
        varies=(
            (r"\[\d+\]", "[PID]"),
            (r"\d+\.\d+ ?s\b", "TIME"),
            line_of(r"removing \d+ directories"),  # reported where it takes more than half a second
        ),
        files_vary=("*",),
        rightly=RIGHTLY.get(name, ""),
        linger=30.0,
        no_state="stressors end by chance in the middle of what they do",
        seconds=40,
    )


CASES = [stressor(name, operations) for name, operations in OPERATIONS.items()]
