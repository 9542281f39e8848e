# SPDX-License-Identifier: Apache-2.0
"""One row of the matrix: what is run, what of its output may vary and why."""

import dataclasses
import os
import re
import shlex
import shutil

# Debian's own programs, whatever else this machine's user has in front of them.
PATH = "/usr/bin:/bin:/usr/sbin:/sbin:/usr/games"
# The library's name stands for the preload in what a program prints of its environment.
LIBRARY = r"(?:/[^\s:]*/)?libyarn_preload\.so"


@dataclasses.dataclass(frozen=True)
class Case:
    """`varies`: pairs (pattern, replacement) for what differs from run to run without any
    preload. `differs`: triples (pattern, replacement, reason) for what may rightly differ with
    it. Both go over standard output and standard error, of all runs alike."""

    name: str
    command: object  # words, or one string with the shell's quotes but without its doings
    packages: str = ""
    needs: str = ""  # programs and files besides the first word
    files: dict = dataclasses.field(default_factory=dict)
    source: str = ""  # a source package of Debian, unpacked in the folder "source"
    variables: dict = dataclasses.field(default_factory=dict)
    stdin: str = ""
    varies: tuple = ()
    differs: tuple = ()
    files_vary: tuple = ()  # patterns of names whose files are not compared
    states_vary: tuple = ()  # patterns of lines of states that are not compared
    preloads: tuple = ()  # other libraries; "yarn" says where ours stands among them
    rightly: str = ""  # the reason why it may come to another end altogether with the preload
    user: str = "any"  # "root": skipped for others; "ordinary": uid 65534 even for root
    no_dump: str = ""  # the reason why it leaves none
    timers: str = ""  # the reason why some of its processes have the timer sampler in any case
    no_state: str = ""  # the reason why descriptors and signals are not compared
    once: bool = False  # it is long: one run without and one with it, more only where they differ
    seconds: int = 60
    linger: float = 3.0  # time that processes have to end after the first one
    fast: bool = False  # in ctest

    def words(self):
        if isinstance(self.command, str):
            return shlex.split(self.command)
        return [str(word) for word in self.command]

    def missing(self):
        """The first thing that it needs and this machine lacks."""
        for need in [self.words()[0], *self.needs.split()]:
            found = os.path.exists(need) if need.startswith("/") else find(need)
            if not found and not need.startswith("./"):
                return need
        return None

    def settle(self, text):
        """What is left of an output when all that may vary is taken out."""
        for pattern, replacement in [*self.varies, *[row[:2] for row in self.differs]]:
            text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
        return text


# What /proc shows with the timer sampler: it handles the signal that the C library keeps for itself.
TIMER_DIFFERS = ((r"(SigCgt:\s+[0-9a-f]{8})[0-9a-f]", r"\1T"),)


def find(program):
    return shutil.which(program, path=PATH)


def shell(text):
    """The words that let bash run a script."""
    return ("bash", "-c", text)


PIDS = (r"\b\d{2,7}\b", "PID")
SECONDS = (r"\b\d+(\.\d+)? ?(ms|msec|s|sec|secs|seconds)\b", "TIME")
CLOCK = (r"\b\d\d:\d\d:\d\d(\.\d+)?\b", "CLOCK")
HEX = (r"\b0x[0-9a-f]{5,16}\b", "ADDRESS")
NUMBERS = (r"\d+(\.\d+)?", "N")


def line_of(pattern):
    """Takes out every line with the pattern."""
    return (rf"^.*(?:{pattern}).*\n?", "")
