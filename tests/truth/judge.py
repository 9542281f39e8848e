# SPDX-License-Identifier: Apache-2.0
"""Compares the frames that a profiler shows with those that each sample's stack copy proves.

The programs beside this file lay a record of each activation into its own stack frame (activation.h).
This finds them in the copies and knows nothing of unwinding: no CFI, no frame pointers, no code of
the product. A function has no record in its prologue and epilogue, and functions of libraries have
none at all, so between proven frames it allows, and does not judge:
- innermost, at most one function that has records at other times, and any that never have;
- the same between a signal's or a library's callback and what it was called from. (A signal may
  arrive in a prologue and be sampled in the prologue of its handler.)
"""

import bisect
import collections
import difflib
import functools
import re
import struct
import subprocess

MARK = 0x9E1F7A3C5BD10842
RECORD = struct.Struct("<QQQQ")
# mov $SYS_rt_sigreturn, %rax; syscall
SIGNAL_RETURN = bytes.fromhex("48c7c00f0000000f05")

Sample = collections.namedtuple("Sample", "time_ns tid ip sp stack")
# `function` and `return_address` as they stood in memory; 0: unknown.
Activation = collections.namedtuple("Activation", "address function return_address caller")
# Of a frame: the path of its module and the address in it.
Frame = collections.namedtuple("Frame", "module address")
Stack = collections.namedtuple("Stack", "frames is_cut")

COUNTS = ("samples", "frames", "wrong", "missing", "extra", "cut", "unjudged")


class Modules:
    """Where the modules of a process lay, of the lines of its /proc/self/maps."""

    LINE = re.compile(r"([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ \d+ +(/.*)$")

    def __init__(self, lines):
        self.spans = []
        base = 0
        for line in lines:
            found = self.LINE.match(line)
            if not found:
                continue
            start, end, offset = (int(word, 16) for word in found.groups()[:3])
            base = base if offset else start
            self.spans.append((start, end, base, offset, found[4]))

    def frame(self, address):
        for start, end, base, _, path in self.spans:
            if start <= address < end:
                return Frame(path, address - base)
        return None

    @functools.lru_cache(maxsize=None)
    def code(self, frame, size):
        for start, end, base, offset, path in self.spans:
            if path == frame.module and start <= base + frame.address < end:
                with open(path, "rb") as file:
                    file.seek(offset + base + frame.address - start)
                    return file.read(size)
        return b""


class Functions:
    """The program's functions by address, as nm lists them; the parts that a compiler splits off
    belong to what they are of."""

    def __init__(self, path):
        lines = subprocess.run(["nm", "--defined-only", path], capture_output=True, text=True,
                               check=True).stdout.splitlines()
        symbols = sorted((int(words[0], 16), words[2]) for words in (line.split() for line in lines)
                         if len(words) == 3 and words[1] in "tTwW")
        self.starts = [address for address, _ in symbols]
        self.names = [re.split(r"\.(?:cold|part|constprop|isra|llvm)", name)[0]
                      for _, name in symbols]

    def name(self, address):
        at = bisect.bisect_right(self.starts, address) - 1
        return self.names[at] if at >= 0 else None


def activations_of(sample):
    """Innermost first, as far as the copy reaches; and whether it holds the outermost."""
    found = {}
    at = sample.stack.find(MARK.to_bytes(8, "little"))
    while at >= 0:
        if (sample.sp + at) % 8 == 0 and at + RECORD.size <= len(sample.stack):
            _, function, return_address, caller = RECORD.unpack_from(sample.stack, at)
            found[sample.sp + at] = Activation(sample.sp + at, function, return_address, caller)
        at = sample.stack.find(MARK.to_bytes(8, "little"), at + 1)
    chain = []
    at = min(found, default=0)
    while at in found:
        chain.append(found.pop(at))
        at = chain[-1].caller
    return chain, bool(chain) and chain[-1].caller == 0


class Judge:
    def __init__(self, program, maps, samples):
        """`maps`: lines of the process's /proc/self/maps; `samples`: all that will be judged."""
        self.program = str(program)
        self.modules = Modules(maps)
        self.functions = Functions(program)
        # Others of the program have no records: the language's own library, for example.
        self.recorded = {self.own_function(activation) for sample in samples
                         for activation in activations_of(sample)[0]}

    def function_of(self, frame):
        """Of the program's own frames, else None."""
        return self.functions.name(frame.address) if frame.module == self.program else None

    def caller_of(self, frame):
        """The function that a return address goes back to."""
        return self.function_of(Frame(frame.module, frame.address - 1))

    def own_function(self, activation):
        frame = self.modules.frame(activation.function)
        return self.function_of(frame) if frame else None

    def returns_to(self, activation, frame):
        """Some profilers show return addresses, others one less."""
        if not activation.return_address:
            return True
        wanted = self.modules.frame(activation.return_address)
        return wanted is not None and frame.module == wanted.module and wanted.address in (
            frame.address, frame.address + 1)

    def is_in(self, frames, at, activation):
        name = self.function_of(frames[at]) if at == 0 else self.caller_of(frames[at])
        return name is not None and name == self.own_function(activation)

    def is_recorded(self, frame, at):
        return (self.caller_of(frame) if at else self.function_of(frame)) in self.recorded

    def is_signal_return(self, frame):
        return SIGNAL_RETURN in (self.modules.code(shown, len(SIGNAL_RETURN)) for shown in
                                 (frame, frame._replace(address=frame.address + 1)))

    def may_lack_records(self, frames, at):
        """Whether the frames from `at` on may all be without a record."""
        own = 0
        for i in range(at, len(frames)):
            own = 0 if self.is_signal_return(frames[i]) else own + self.is_recorded(frames[i], i)
            if own > 1:
                return False
        return True

    def reachable(self, frames, at, activation):
        """From `at` on, past frames that need no record: where a frame is in the activation and
        followed by what that returns to. Of a function that calls itself there may be two, one of
        them an activation without a record."""
        for i in range(at, len(frames)):
            if self.is_in(frames, i, activation) and (
                    i + 1 == len(frames) or self.returns_to(activation, frames[i + 1])):
                yield i
            if not self.may_lack_records(frames[:i + 1], at):
                return

    def judge(self, sample, stack):
        """A Counter of COUNTS for one sample."""
        chain, is_whole = activations_of(sample)
        if not chain or not stack.frames:
            return collections.Counter(samples=1, unjudged=1)
        count = self.follow(stack, 0, chain, is_whole)
        # None of the programs makes code while it runs.
        count["wrong"] += sum(not frame.module.startswith(("/", "[vdso]")) for frame in stack.frames)
        return count + collections.Counter(samples=1, frames=len(stack.frames), cut=stack.is_cut)

    def follow(self, stack, at, chain, is_whole):
        """The deviations of the frames from `at` on from the chain of activations."""
        first = None
        for found in self.reachable(stack.frames, at, chain[0]):
            count = self.go_on(stack, found, chain, is_whole)
            if not count:
                return count
            first = first or count
        if first is None and stack.is_cut and self.may_lack_records(stack.frames, at):
            return collections.Counter()
        return first or self.mismatch(stack.frames[at:], chain, stack.is_cut)

    def go_on(self, stack, at, chain, is_whole):
        """The same, where frame `at` is in the first activation of the chain."""
        frames = stack.frames
        while len(chain) > 1:
            if at + 1 == len(frames):
                return collections.Counter() if stack.is_cut else (
                    collections.Counter(missing=len(chain) - 1))
            inner, chain = chain[0], chain[1:]
            if not inner.return_address or not self.is_in(frames, at + 1, chain[0]):
                return self.follow(stack, at + 1, chain, is_whole)
            at += 1
            if at + 1 < len(frames) and not self.returns_to(chain[0], frames[at + 1]):
                return self.mismatch(frames[at:], chain, stack.is_cut)
        if is_whole and any(self.caller_of(frame) in self.recorded for frame in frames[at + 1:]):
            return collections.Counter(extra=1)
        return collections.Counter()

    def mismatch(self, frames, left, is_cut):
        """Says by the functions' names what is wrong with frames that are not those of `left`."""
        want = [self.own_function(activation) for activation in left]
        have = [name for name in map(self.caller_of, frames) if name in self.recorded]
        count = collections.Counter()
        steps = difflib.SequenceMatcher(None, want, have, autojunk=False).get_opcodes()
        for kind, start, end, start_have, end_have in steps:
            is_rest = is_cut and end == len(want) and end_have == len(have)
            count["wrong"] += min(end - start, end_have - start_have) if kind == "replace" else 0
            if end - start > end_have - start_have and not is_rest:
                count["missing"] += end - start - (end_have - start_have)
            if end_have - start_have > end - start:
                count["extra"] += end_have - start_have - (end - start)
        if not count and not is_cut:
            count["wrong"] += 1  # the right functions, at addresses that are not the calls
        return count
