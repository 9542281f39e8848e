# SPDX-License-Identifier: Apache-2.0
"""Real programs to profile, a few seconds each, and the files that they work on."""

import os
import random
import shutil
import sys

import harness

PYTHON_LOOP = """
def step(value, count):
    for i in range(count):
        value = (value * 31 + i) % 1000003
    return value

value = 1
for round in range(100):
    value = step(value, 400000)
print(value)
"""

PYTHON_MIX = """
import json, re
words = ["key%d" % i for i in range(2000)]
pattern = re.compile(r"([a-z]+)(\\d+)")
total = 0
for round in range(500):
    text = json.dumps({word: [round, word, {"n": i}] for i, word in enumerate(words)})
    data = json.loads(text)
    total += sum(int(match.group(2)) for match in pattern.finditer(text)) + len(data)
print(total)
"""

SQL = """
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, size INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900000)
    INSERT INTO item SELECT i, 'name' || (i * 7919 % 100003), i * 31 % 1009 FROM n;
CREATE INDEX by_name ON item(name);
SELECT count(*), sum(a.size) FROM item a JOIN item b ON a.name = b.name WHERE a.id < 700000;
SELECT size, count(*) FROM item GROUP BY size ORDER BY 2 DESC, 1 LIMIT 5;
"""


def write_big_c(path):
    """Functions of loops, branches and tables: work for every pass of the compiler."""
    with open(path, "w") as file:
        for i in range(350):
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


def write_text(path, size):
    """Compressible, but not trivially; the same on every machine."""
    words = random.Random(1)
    vocabulary = ["".join(words.choices("abcdefghij", k=words.randint(2, 9))) for _ in range(5000)]
    with open(path, "w") as file:
        file.write(" ".join(words.choices(vocabulary, k=size // 6)))


def make(folder):
    """Name -> (argv, whether more processes than one do the work); only what is installed."""
    (folder / "loop.py").write_text(PYTHON_LOOP)
    (folder / "mix.py").write_text(PYTHON_MIX)
    (folder / "work.sql").write_text(SQL)
    write_big_c(folder / "big.c")
    write_text(folder / "text", 7_000_000)
    os.chmod(folder, 0o755)

    python = sys.executable
    found = {
        "python-loop": [python, "-S", folder / "loop.py"],
        "python-mix": [python, folder / "mix.py"],
        "gcc": [shutil.which("gcc"), "-O2", "-c", folder / "big.c", "-o", "/dev/null"],
        "sqlite3": [shutil.which("sqlite3"), ":memory:", f".read {folder / 'work.sql'}"],
        "xz": [shutil.which("xz"), "-k", "-c", "-T1", "-6", folder / "text"],
        "threads8": [harness.HOSTS / "threads8"],
    }
    return {name: argv for name, argv in found.items() if argv[0] and os.path.exists(argv[0])}
