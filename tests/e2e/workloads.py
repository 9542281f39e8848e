# SPDX-License-Identifier: Apache-2.0
"""Real programs to profile, and the files that they work on: a second each, or as long as is asked for."""

import os
import random
import re
import shutil
import subprocess
import sys

import harness

PYTHON_LOOP = """
def step(value, count):
    for i in range(count):
        value = (value * 31 + i) % 1000003
    return value

value = 1
for round in range(@100):
    value = step(value, 400000)
print(value)
"""

PYTHON_MIX = """
import json, re
words = ["key%d" % i for i in range(2000)]
pattern = re.compile(r"([a-z]+)(\\d+)")
total = 0
for round in range(@500):
    text = json.dumps({word: [round, word, {"n": i}] for i, word in enumerate(words)})
    data = json.loads(text)
    total += sum(int(match.group(2)) for match in pattern.finditer(text)) + len(data)
print(total)
"""

SQL = """
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, size INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < @900000)
    INSERT INTO item SELECT i, 'name' || (i * 7919 % 100003), i * 31 % 1009 FROM n;
CREATE INDEX by_name ON item(name);
SELECT count(*), sum(a.size) FROM item a JOIN item b ON a.name = b.name WHERE a.id < @700000;
SELECT size, count(*) FROM item GROUP BY size ORDER BY 2 DESC, 1 LIMIT 5;
"""

PERL = """
use strict;
my (%count, $total);
for my $round (1 .. @600) {
    my $text = join " ", map { "key" . $_ * 7919 % 1009 } 1 .. 4000;
    $count{$1}++ while $text =~ /key(\\d+)/g;
    $total += length $_ for sort { $a <=> $b || $a cmp $b } keys %count;
}
print "$total\\n";
"""

BASH = """
declare -A seen
step() {
    local value=$1
    for ((i = 0; i < 400; i++)); do
        value=$(((value * 31 + i) % 10007))
        seen[$((value % 97))]=${value//1/2}
    done
    result=$value
}
result=1
for ((round = 0; round < @700; round++)); do step "$result"; done
echo "$result ${#seen[@]}"
"""

AWK = "{ for (i = 1; i <= NF; i++) { n[$i]++; s += length($i) } } END { print s, length(n) }"

JAVASCRIPT = """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
let sum = 0, text = "";
for (let i = 0; i < @500; i++) {
    sum += fib(24);
    text = JSON.stringify([...Array(3000).keys()].map(n => ({ n, s: "x" + n * i })));
    sum += JSON.parse(text).filter(o => /7$/.test(o.s)).length;
}
console.log(sum);
"""


def write_big_c(path, nr_functions):
    """Functions of loops, branches and tables: work for every pass of the compiler."""
    with open(path, "w") as file:
        for i in range(nr_functions):
            file.write(
                f"static const int table{i}[8] = {{1,{i},3,{i + 1},5,6,{i % 7},8}};\n"
                f"int work{i}(int *v, int n) {{\n"
                f"  int s = {i};\n"
                f"  for (int i = 0; i < n; i++) {{\n"
                f"    switch (v[i] & 7) {{\n"
                f"    case 0: s += v[i] * table{i}[i & 7]; break;\n"
                f"    case 1: s ^= s << {i % 13 + 1}; break;\n"
                f"    case 2: for (int k = 0; k < 4; k++) s += v[(i + k) % n] / (k + 1); break;\n"
                f"    case 3: if (s > {i * 3}) s -= v[i]; else s = s * 3 + 1; break;\n"
                f"    default: v[i] = s % {i + 3}; s += v[n - 1 - i];\n"
                f"    }}\n"
                f"  }}\n"
                f"  return s;\n"
                f"}}\n"
            )


def write_big_cc(path):
    """Much of the standard library, for many types."""
    with open(path, "w") as file:
        for header in ("algorithm", "functional", "iostream", "map", "regex", "sstream", "string",
                       "unordered_map", "variant", "vector"):
            file.write(f"#include <{header}>\n")
        for i in range(2):
            file.write(
                f"struct item{i} {{ std::string name; std::map<int, std::vector<std::string>> of; "
                f"long value[{i + 1}]; bool operator<(const item{i} &o) const {{ return name < o.name; }} }};\n"
                f"std::string work{i}(const std::string &text) {{\n"
                f"  static const std::regex words(\"([a-z]{i}+)([0-9]*)\");\n"
                f"  std::map<item{i}, std::unordered_map<std::string, std::variant<int, item{i}>>> all;\n"
                f"  std::vector<item{i}> list; std::ostringstream out;\n"
                f"  std::function<void(int)> fill = [&](int n) {{ if (n) {{ list.push_back({{text, {{{{n, {{text}}}}}}, {{n}}}}); "
                f"fill(n - 1); }} }};\n"
                f"  fill({i} + 3); std::sort(list.begin(), list.end()); std::stable_sort(list.begin(), list.end());\n"
                f"  for (std::sregex_iterator at(text.begin(), text.end(), words), end; at != end; ++at)\n"
                f"    all[list.front()][at->str(1)] = list.back();\n"
                f"  for (auto &pair : all) out << pair.first.name << pair.second.size();\n"
                f"  return out.str();\n"
                f"}}\n"
            )


def write_text(path, size):
    """Compressible, but not trivially; the same on every machine."""
    words = random.Random(1)
    vocabulary = ["".join(words.choices("abcdefghij", k=words.randint(2, 9))) for _ in range(5000)]
    with open(path, "w") as file:
        file.write(" ".join(words.choices(vocabulary, k=size // 6)))


def find_cc1():
    """gcc's compiler proper: gcc itself only starts it."""
    gcc = shutil.which("gcc")
    if not gcc:
        return None
    asked = subprocess.run([gcc, "-print-prog-name=cc1"], capture_output=True, text=True)
    return shutil.which(asked.stdout.strip())


def compile_sources():
    """Arguments that compile sources of this project: what people compile, unlike big.c."""
    plain = sorted(file for file in harness.ROOT.glob("unwind/*.c") if "libunwind" not in file.name)
    folders = [f"-I{harness.ROOT}", f"-I{harness.ROOT}/core/include"]
    return ["-O2", "-std=c17", "-D_GNU_SOURCE", *folders, "-c", *plain[::2]]


def make(folder, length=0.4):
    """Name -> argv; only what is installed. `length` is 1 for scripts/bench."""
    def write(name, text):
        (folder / name).write_text(re.sub(r"@(\d+)", lambda count: str(round(length * int(count[1]))), text))

    write("loop.py", PYTHON_LOOP)
    write("mix.py", PYTHON_MIX)
    write("work.sql", SQL)
    write_big_c(folder / "big.c", round(length * 220))
    write_big_cc(folder / "big.cc")
    write_text(folder / "text", round(length * 2_500_000))
    (folder / "lines").write_text((folder / "text").read_text().replace(" ", "\n"))
    write("work.pl", PERL)
    write("work.sh", BASH)
    write("work.js", JAVASCRIPT)
    os.chmod(folder, 0o755)

    python = sys.executable
    found = {
        "python-loop": [python, "-S", folder / "loop.py"],
        "python-mix": [python, folder / "mix.py"],
        "gcc": [shutil.which("gcc"), "-O2", "-c", folder / "big.c", "-o", "/dev/null"],
        "sqlite3": [shutil.which("sqlite3"), ":memory:", f".read {folder / 'work.sql'}"],
        "xz": [shutil.which("xz"), "-k", "-c", "-T1", "-6", folder / "text"],
        "threads8": [harness.HOSTS / "threads8", round(length * 50)],
        "cc1-big": [find_cc1(), "-quiet", "-O2", folder / "big.c", "-o", "/dev/null"],
        "clang-big": [shutil.which("clang"), "-O2", "-c", folder / "big.c", "-o", "/dev/null"],
        "clang++": [shutil.which("clang++"), "-std=c++17", "-O2", "-c", folder / "big.cc", "-o", "/dev/null"],
        "cc1": [shutil.which("gcc"), *compile_sources()],
        "clang": [shutil.which("clang"), *compile_sources()],
        "perl": [shutil.which("perl"), folder / "work.pl"],
        "bash": [shutil.which("bash"), folder / "work.sh"],
        "awk": [shutil.which("awk"), AWK, *[folder / "text"] * 3],
        "sort": [shutil.which("sort"), folder / "lines"],
        "node": [shutil.which("node"), "--perf-basic-prof", folder / "work.js"],
    }
    return {name: argv for name, argv in found.items() if argv[0] and os.path.exists(argv[0])}
