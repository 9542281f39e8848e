#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs real programs with and without the preload and compares all that can be seen from outside:
status, output, files, processes left over, descriptors, signals, limits. PATTERN chooses cases by
name, as the shell's patterns do. Status: 0 all the same, 1 a difference, 2 usage, 77 nothing could
be run."""

import argparse
import concurrent.futures
import fnmatch
import multiprocessing.util
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import cases.table as table
import harness
import judge
import runner

HERE = pathlib.Path(__file__).resolve().parent


def parse():
    parser = argparse.ArgumentParser(prog="compat", description=__doc__)
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    parser.add_argument("--list", action="store_true", help="print the cases and end")
    parser.add_argument("--fast", action="store_true", help="those that ctest runs")
    parser.add_argument("--user", action="store_true", help="as uid 65534 without capabilities")
    parser.add_argument("--sampler", choices=("auto", "perf", "timer"), default="auto")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a variable for each run"
    )
    parser.add_argument("--install", action="store_true", help="first install what can be had of Debian's packages")
    parser.add_argument("--show", action="store_true", help="print what each case prints")
    parser.add_argument("--repeat", type=int, default=1, help="run each case so many times")
    parser.add_argument("--jobs", type=int, default=1, help="run so many cases at once")
    return parser.parse_args()


def choose(arguments):
    chosen = [case for case in table.CASES if case.fast or not arguments.fast]
    if arguments.patterns:
        chosen = [
            case
            for case in chosen
            if any(fnmatch.fnmatchcase(case.name, pattern) for pattern in arguments.patterns)
        ]
    return chosen


def install(chosen):
    names = sorted({name for case in chosen for name in case.packages.split()})
    script = HERE.parents[1] / "scripts" / "lib" / "install-packages"
    return subprocess.run([script, "--optional", "--packages", *names]).returncode


def run_as_ordinary_user():
    """Runs this program again as that user, who gets copies of all that it needs."""
    rest = [argument for argument in sys.argv[1:] if argument not in ("--user", "--install")]
    script = HERE.parent / "e2e" / "as_nobody"
    os.execv(script, [script, "65534", harness.BUILD, sys.executable, __file__, *rest])


def is_for(case, uid):
    return case.user != "root" or uid == 0


def print_verdict(verdict):
    figures = ""
    if verdict.verdict != judge.SKIPPED:
        figures = f"{verdict.plain_seconds:6.2f} {verdict.seconds:6.2f} s {verdict.nr_dumps:5} dumps"
    lines = verdict.reason.splitlines()
    reported = (judge.SKIPPED, judge.RIGHTLY)
    note = lines[0] if verdict.verdict in reported else ""
    print(f"{verdict.verdict:8} {verdict.name:28} {figures} {note}".rstrip())
    if verdict.verdict not in (judge.SAME, *reported):
        for line in lines:
            print(f"         {line}")
    sys.stdout.flush()


class Worker:
    """What each process that runs cases has: a runner, whose children are its own."""

    one = None

    @classmethod
    def start(cls, variables):
        cls.one = runner.Runner(variables)
        multiprocessing.util.Finalize(None, cls.one.close, exitpriority=1)

    @classmethod
    def judge(cls, case, is_brief, nr_times):
        """A case never runs twice at once: it may have a port or a name that is its own."""
        if not is_for(case, os.getuid()):
            return [judge.Verdict(case.name, judge.SKIPPED, "needs root")]
        return [judge.Judge(cls.one, is_brief).judge(case) for _ in range(nr_times)]


def run(chosen, arguments):
    """In the table's order; several at once: first what takes longest."""
    variables = dict(assignment.split("=", 1) for assignment in arguments.set)
    if arguments.sampler != "auto":
        variables["YARN_SAMPLER"] = arguments.sampler
    if arguments.jobs > 1:
        chosen = sorted(chosen, key=lambda case: -case.seconds)
    counts = {}
    with concurrent.futures.ProcessPoolExecutor(
        arguments.jobs, initializer=Worker.start, initargs=(variables,)
    ) as pool:
        work = [
            pool.submit(Worker.judge, case, arguments.fast, arguments.repeat) for case in chosen
        ]
        for done in concurrent.futures.as_completed(work):
            for verdict in done.result():
                print_verdict(verdict)
                if arguments.show:
                    print(verdict.shown)
                counts[verdict.verdict] = counts.get(verdict.verdict, 0) + 1
    return counts


def main():
    arguments = parse()
    chosen = choose(arguments)
    if not chosen:
        print("compat: no case of such a name", file=sys.stderr)
        sys.exit(2)
    if arguments.list:
        for case in chosen:
            print(f"{case.name:28} {case.packages}")
        return
    if arguments.install and install(chosen) != 0:
        sys.exit(1)
    if arguments.user and os.getuid() == 0:
        run_as_ordinary_user()
    for artefact in (harness.PRELOAD, harness.YARNPROF, runner.STATE):
        if not artefact.exists():
            print(f"compat: no {artefact}", file=sys.stderr)
            sys.exit(2)
    error = harness.open_user_clock() if arguments.sampler != "timer" else 0
    if error:
        harness.skip(f"the kernel refuses perf_event_open here: {os.strerror(error)}")
    print(f"as uid {os.getuid()}, {len(chosen)} cases; seconds without and with the preload")
    counts = run(chosen, arguments)
    print(", ".join(f"{counts[key]} {key}" for key in sorted(counts)))
    if judge.DIFFERS in counts or judge.UNSTABLE in counts:
        sys.exit(1)
    if judge.SAME not in counts:
        sys.exit(harness.SKIPPED)


if __name__ == "__main__":
    main()
