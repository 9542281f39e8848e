# SPDX-License-Identifier: Apache-2.0
"""Builds the programs beside this file with the compilers that are at hand."""

import collections
import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
# A record of a leaf has to lie above the stack pointer, or no copy would hold it.
C_FLAGS = ("-O2", "-g", "-mno-red-zone", "-D_GNU_SOURCE", "-pthread")
FRAME_POINTERS = ("", "-fno-omit-frame-pointer")
C_PROGRAMS = ("calls", "huge", "leaves", "tableless", "tails", "coroutines", "signals")
# Rounds for about a second of CPU time.
ROUNDS = {"calls": 12, "huge": 3, "leaves": 4, "tableless": 4, "tails": 4, "coroutines": 1, "signals": 2,
          "exceptions": 10, "rust": 4}

Program = collections.namedtuple("Program", "name compiler frame_pointers path rounds")


def make(folder, source, compiler, flags, frame_pointers):
    path = folder / f"{source.stem}-{compiler}{'-fp' if frame_pointers else ''}"
    subprocess.run([compiler, *flags, "-o", path, source], check=True)
    return Program(source.stem, compiler, bool(frame_pointers), path, ROUNDS[source.stem])


def build(folder, compilers=("gcc", "clang", "g++", "clang++", "rustc"),
          frame_pointers=FRAME_POINTERS):
    made = []
    for compiler in filter(shutil.which, compilers):
        if compiler == "rustc":
            made.append(make(folder, HERE / "rust.rs", compiler,
                             ("-O", "-g", "-C", "no-redzone=y"), ""))
            continue
        is_cxx = compiler.endswith("++")
        sources = [HERE / "exceptions.cc"] if is_cxx else [HERE / f"{n}.c" for n in C_PROGRAMS]
        for source in sources:
            for flag in frame_pointers:
                made.append(make(folder, source, compiler, (*C_FLAGS, *flag.split()), flag))
    return made
