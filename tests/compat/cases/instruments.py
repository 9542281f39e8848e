# SPDX-License-Identifier: Apache-2.0
"""Other preloads, sanitizers, debuggers and profilers at the same time; and programs that no
library of glibc's can be loaded into."""

from case import Case, shell

PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void *work(void *argument) {
    unsigned long sum = (unsigned long)argument;
    for (int i = 0; i < 15000000; i++) sum = sum * 31 + 7;
    for (int i = 0; i < 5000; i++) { char *p = malloc(100 + i); memset(p, 1, 100); sum += (unsigned char)p[50]; free(p); }
    return (void *)sum;
}
int main(void) {
    pthread_t threads[3];
    for (long i = 0; i < 3; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 3; i++) { void *sum; pthread_join(threads[i], &sum); printf("%lx\n", (unsigned long)sum); }
    fflush(stdout);
    pid_t child = fork();
    if (!child) { work(NULL); _exit(4); }
    int status; waitpid(child, &status, 0); printf("%d\n", WEXITSTATUS(status));
    return 5;
}
"""

RECURSION = r"""
#include <stdio.h>
static long __attribute__((noinline)) deep(int n) {
    volatile char room[3000];
    long sum = room[0] = n;
    for (int i = 0; i < 20000; i++) sum += i ^ n;
    return n ? sum + deep(n - 1) + room[0] : sum;
}
int main(void) { printf("%lx\n", deep(1000)); return 5; }
"""

FILES = {"program.c": PROGRAM}
LIBRARIES = "/usr/lib/x86_64-linux-gnu/"
VALGRIND = (r"==\d+==", "==PID==")


def beside(name, library, package, order):
    """The library alone, and with ours before or behind it."""
    path = LIBRARIES + library
    libraries = ("yarn", path) if order == "before" else (path, "yarn")
    return Case(
        f"{name}-{order}",
        "/usr/bin/python3 -c \"import json, threading; "
        "t = [threading.Thread(target=lambda: json.dumps(list(range(200000)))) for _ in range(4)]; "
        "[x.start() for x in t]; [x.join() for x in t]; print(len(t))\"",
        package,
        needs=path,
        preloads=libraries,
    )


def sanitized(name, compiler, flags, package, run="./program", **rest):
    build = f"{compiler} -g -O1 {flags} program.c -o program -lpthread"
    return Case(
        name,
        shell(f"LD_PRELOAD= {build} && {run}"),
        package,
        needs=compiler,
        files=FILES,
        files_vary=("program",),
        no_state="a sanitizer's runtime comes first, or it ends the program",
        seconds=120,
        **rest,
    )


def under(name, command, packages, **rest):
    """Compiles the program and runs it under something else."""
    return Case(
        name,
        shell(f"LD_PRELOAD= gcc -g -O1 program.c -o program -lpthread && {command}"),
        f"gcc {packages}",
        needs=f"gcc {command.split()[0]}",
        files=FILES,
        files_vary=("program", "*.out*", "trace", "*.data", "*.prof*", ".debug*"),
        seconds=180,
        **rest,
    )


def foreign(name, build, packages, needs, **rest):
    """A program that our library cannot be loaded into, and one of ours that starts it."""
    return Case(
        name,
        shell(f"LD_PRELOAD= {build} program.c -o program; ./program; echo $?"),
        packages,
        needs=needs,
        files={"program.c": '#include <stdio.h>\nint main(void) { puts("hello"); return 3; }\n'},
        files_vary=("program",),
        **rest,
    )


ASAN_FIRST = "LD_PRELOAD=$(gcc -print-file-name=libasan.so):$LD_PRELOAD ./program"

CASES = [
    beside("jemalloc", "libjemalloc.so.2", "libjemalloc2", "before"),
    beside("jemalloc", "libjemalloc.so.2", "libjemalloc2", "behind"),
    beside("tcmalloc", "libtcmalloc_minimal.so.4", "libtcmalloc-minimal4", "before"),
    beside("tcmalloc", "libtcmalloc_minimal.so.4", "libtcmalloc-minimal4", "behind"),
    sanitized("asan-gcc", "gcc", "-fsanitize=address", "gcc", run=ASAN_FIRST),
    sanitized("asan-gcc-static", "gcc", "-fsanitize=address -static-libasan", "gcc"),
    sanitized("asan-clang", "clang", "-fsanitize=address", "clang"),
    sanitized("tsan-gcc", "gcc", "-fsanitize=thread", "gcc"),
    sanitized("tsan-clang", "clang", "-fsanitize=thread", "clang"),
    sanitized("ubsan-gcc", "gcc", "-fsanitize=undefined", "gcc"),
    sanitized("ubsan-clang", "clang", "-fsanitize=undefined", "clang"),
    under(
        "gdb",
        "gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'break work' -ex run -ex bt "
        "-ex 'delete' -ex continue ./program",
        "gdb",
        varies=((r"0x[0-9a-f]+", "ADDRESS"), (r"LWP \d+", "LWP"), (r"\(?process \d+\)?", "PROCESS"),
                (r"^\[(New Thread|Thread|Switching|Detaching).*\n", ""), (r"Thread \d+", "Thread"),
                (r"argument=ADDRESS.*", "argument"), (r'^\d+\t.*\n', "")),
        differs=((r"^\[New PROCESS\]\n", "", "gdb reports each thread, and the reader is one"),),
    ),
    under("valgrind", "valgrind -q --error-exitcode=9 ./program", "valgrind", varies=(VALGRIND,),
          no_dump="valgrind's processor is not the kernel's: perf is refused to it"),
    Case(
        "valgrind-recursion",
        shell("LD_PRELOAD= gcc -g -O1 program.c -o program && valgrind -q ./program"),
        "gcc valgrind",
        needs="gcc valgrind",
        files={"program.c": RECURSION},
        files_vary=("program",),
        no_dump="as under valgrind otherwise",
        varies=(VALGRIND,),
    ),
    under("strace", "strace -f -o trace ./program", "strace"),
    under("malloc-check", "env MALLOC_CHECK_=3 MALLOC_PERTURB_=7 ./program", ""),
    under("perf-record", "perf record -q -o perf.data ./program", "linux-perf"),
    Case(
        "perf-record-libraries",
        "perf record -q -o perf.data python3 -c "
        "'import ssl, sqlite3, decimal; print(sum(i * i for i in range(1000000)))'",
        "linux-perf python3",
        needs="perf python3",
        files_vary=("perf.data*", ".debug*"),
    ),
    under("perf-stat", "perf stat -o perf.out ./program", "linux-perf"),
    under(
        "gperftools",
        f"env CPUPROFILE=cpu.prof LD_PRELOAD={LIBRARIES}libprofiler.so.0:$LD_PRELOAD ./program",
        "libgoogle-perftools4",
        varies=((r"^PROFILE: .*\n", ""),),
    ),
    under("taskset-nice-prlimit", "nice -n 3 taskset -c 0 prlimit --nofile=64 ./program", ""),
    foreign("static", "gcc -static", "gcc", "gcc", no_dump="a static program"),
    foreign("musl-static", "musl-gcc -static", "musl-tools", "musl-gcc", no_dump="static"),
    foreign(
        "musl",
        "musl-gcc",
        "musl-tools",
        "musl-gcc",
        no_state="the library that looks at the state wants glibc",
        differs=(
            (
                r"^yarn: nothing is recorded: the C library of this program is not glibc\n",
                "",
                "one line says that a program of musl is not recorded",
            ),
        ),
    ),
    foreign(
        "32-bit",
        "gcc -m32",
        "gcc-multilib",
        "/usr/lib32/libc.so.6",
        no_dump="a program of 32 bits",
        no_state="the loader says of each library of 64 bits that it cannot be loaded",
        differs=(
            (
                r"^ERROR: ld.so: object '\S*libyarn_preload.so' from LD_PRELOAD cannot be preloaded "
                r"\(wrong ELF class: ELFCLASS64\): ignored.\n",
                "",
                "the loader of 32 bits says so of each library that is not",
            ),
        ),
    ),
    Case("setuid", "su --version", "util-linux", needs="/usr/bin/su", user="ordinary",
         no_state="the loader leaves out libraries by path for a program with more rights",
         differs=((r"^ERROR: ld.so: object .*\n", "", "the loader says what it leaves out"),)),
]
