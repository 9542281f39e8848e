# SPDX-License-Identifier: Apache-2.0
"""truth.py BUILD: the table of scripts/truth."""

import collections
import pathlib
import shutil
import sys
import tempfile

import judge
import profilers
import programs

SHOWN = ("wrong", "missing", "extra", "cut")


def judged(profiler, program, folder):
    output, pairs = profiler.profile([program.path, program.rounds], folder)
    judging = judge.Judge(program.path, output.splitlines(), [sample for sample, _ in pairs])
    return sum((judging.judge(*pair) for pair in pairs), collections.Counter())


def row(name, counts):
    cells = [f"{name:<24}"]
    for count in counts:
        samples = max(count["samples"] - count["unjudged"], 1)
        cells.append(f"{samples:>8,}" + "".join(f"{count[key] * 10000 / samples:>9,.1f}"
                                                for key in SHOWN))
    print("  ".join(cells), flush=True)


def main():
    build = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="yarn-truth.") as folder:
        folder = pathlib.Path(folder)
        made = programs.build(folder)
        tools = [profilers.Yarn(build / "tests" / "truth" / "libtruth_preload.so",
                                build / "yarnprof")]
        if shutil.which("perf"):
            tools.append(profilers.Perf())
        print("per 10,000 samples" + " " * 8 +
              "  ".join(f"{tool.name:>8}" + "".join(f"{key:>9}" for key in SHOWN) for tool in tools))
        totals = [collections.Counter() for _ in tools]
        for program in made:
            counts = []
            for tool, total in zip(tools, totals):
                own = pathlib.Path(tempfile.mkdtemp(dir=folder))
                counts.append(judged(tool, program, own))
                total.update(counts[-1])
                shutil.rmtree(own)
            row(program.path.name, counts)
        row("all", totals)
    return 1 if totals[0]["wrong"] or totals[0]["extra"] else 0


if __name__ == "__main__":
    sys.exit(main())
