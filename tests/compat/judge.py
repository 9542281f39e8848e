# SPDX-License-Identifier: Apache-2.0
"""What the runs of a case, with and without the preload, say about it."""

import dataclasses
import difflib
import re

import harness

SAME = "same"
DIFFERS = "DIFFERS"
UNSTABLE = "UNSTABLE"
SKIPPED = "skipped"
RIGHTLY = "rightly"
# Less than this may rightly leave no sample.
MUST_LEAVE_DUMP_SECONDS = 0.05
NR_DIFF_LINES = 30
# Pipes, sockets, processes, packs of git and files of random names have another name in each run.
SERIAL = re.compile(r"[0-9a-f]{40}|\d{3,}")
# What of a line of a process's state is a name: the program's, a file's.
NAMES = re.compile(r"^.* (?=(?:start|end) )|(?<= fd )\d+ .*(?= flags )|(?<= folder ).*")


@dataclasses.dataclass(frozen=True)
class Verdict:
    name: str
    verdict: str
    reason: str = ""
    plain_seconds: float = 0.0
    seconds: float = 0.0
    nr_dumps: int = 0
    shown: str = ""


def text_difference(name, wanted, got):
    if wanted == got:
        return []
    lines = difflib.unified_diff(
        wanted.splitlines(), got.splitlines(), f"{name} of one", f"{name} of the other", "", "", 1
    )
    lines = [line.rstrip("\n") for line in lines]
    if len(lines) > NR_DIFF_LINES:
        lines = [*lines[:NR_DIFF_LINES], f"... {len(lines) - NR_DIFF_LINES} lines more"]
    return lines


def difference(wanted, got):
    """Lines that say how the outside of two runs differs; none where it does not."""
    lines = []
    for run in (wanted, got):
        if run.timed_out:
            lines.append("one did not end in time")
            break
    if wanted.status != got.status:
        lines.append(f"status {wanted.status} and {got.status}")
    if wanted.left != got.left:
        lines.append(f"{wanted.left} and {got.left} processes outlived it")
    lines += text_difference("stdout", wanted.stdout, got.stdout)
    lines += text_difference("stderr", wanted.stderr, got.stderr)
    for name in sorted(set(wanted.files) | set(got.files)):
        if wanted.files.get(name) != got.files.get(name):
            lines.append(f"file {name}: {wanted.files.get(name)} and {got.files.get(name)}")
    return lines


def show(run):
    return f"status {run.status}\n{run.stdout}\n{run.stderr}\n{chr(10).join(run.files)}"


def hide_serials(name):
    return SERIAL.sub("#", name[0])


def states_of(case, run):
    lines = {NAMES.sub(hide_serials, line) for line in run.states}
    return {line for line in lines if not any(re.search(what, line) for what in case.states_vary)}


def state_difference(case, plains, profileds):
    """Lines that all runs with the preload have and none without, or the other way round."""
    plain = [states_of(case, run) for run in plains]
    profiled = [states_of(case, run) for run in profileds]
    gained = set.intersection(*profiled) - set.union(*plain)
    lost = set.intersection(*plain) - set.union(*profiled)
    return [f"state gained: {line}" for line in sorted(gained)] + [
        f"state lost: {line}" for line in sorted(lost)
    ]


class Judge:
    """Each case runs twice without and twice with the preload, one run of each pair with the
    library that writes the processes' state. What is long, and all if `brief`, runs once each,
    and again only where something differs."""

    def __init__(self, runner, brief):
        self.runner = runner
        self.brief = brief

    def judge(self, case):
        missing = case.missing()
        if missing:
            return Verdict(case.name, SKIPPED, f"no {missing} here (packages {case.packages})")
        refusal = self.runner.obtain(case)
        if refusal:
            return Verdict(case.name, SKIPPED, refusal)
        states = [False, True]
        if case.once or case.no_state:
            states = [False] if case.once else [False, False]
        elif self.brief:
            states = [True]
        plains, profileds, problems = [], [], []
        for state in states:
            plains.append(self.runner.run(case, False, state))
            profileds.append(self.runner.run(case, True, state))
            problems += self.check_dumps(case, plains[-1], profileds[-1])
        nr_dumps = len(list(self.runner.dumps.iterdir()))
        if states[-1] and not case.no_state:
            problems += self.compare_states(case, plains[-1:], profileds[-1:])
        if len(states) == 1 and difference(plains[0], profileds[0]):
            plains.append(self.runner.run(case, False, False))
            profileds.append(self.runner.run(case, True, False))
        return dataclasses.replace(
            self.compare(case, plains, profileds, problems),
            plain_seconds=plains[0].wall_seconds,
            seconds=profileds[0].wall_seconds,
            nr_dumps=nr_dumps,
            shown=show(plains[0]),
        )

    def compare(self, case, plains, profileds, problems):
        unstable = difference(plains[0], plains[-1])
        if unstable:
            lines = ["two runs without the preload differ:", *unstable]
            return Verdict(case.name, UNSTABLE, "\n".join(lines))
        lines = list(problems)
        for profiled in profileds:
            lines += difference(plains[0], profiled)
        if lines and case.rightly:
            return Verdict(case.name, RIGHTLY, f"differs: {case.rightly}")
        return Verdict(case.name, DIFFERS if lines else SAME, "\n".join(lines))

    def compare_states(self, case, plains, profileds):
        """Runs again where they differ: by chance a process ends earlier or later."""
        for _ in range(3):
            lines = state_difference(case, plains, profileds)
            if not lines:
                return []
            plains.append(self.runner.run(case, False, True))
            profileds.append(self.runner.run(case, True, True))
        return state_difference(case, plains, profileds)

    def check_dumps(self, case, plain, profiled):
        """Of the profiled run, which was the last. Of the two times the less: both are guessed by
        the kernel's ticks. Empty files are no dumps: a process that is killed between two calls
        can leave one."""
        user_seconds = min(plain.user_seconds, profiled.user_seconds)
        dumps = [dump for dump in self.runner.dumps.iterdir() if dump.stat().st_size]
        if not dumps:
            if case.no_dump or user_seconds <= MUST_LEAVE_DUMP_SECONDS:
                return []
            return [f"no dump of {user_seconds:.2f} s of CPU time"]
        done = harness.yarnprof("verify", *sorted(dumps), check=False)
        if done.returncode == 0:
            return []
        return [f"verify ends with {done.returncode}", *done.stderr.decode().splitlines()]
