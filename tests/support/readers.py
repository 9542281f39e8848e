# SPDX-License-Identifier: Apache-2.0
"""Reads exports back, with other people's programs where there are some: what each event weighs in
all, and what each function weighs by itself. Readers lie in their exit codes, so what they print is
what counts. A reader that is not installed is None."""

import collections
import json
import re
import shutil
import sqlite3
import subprocess


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    return done.stdout


def folded(path):
    """Totals by leaf; the event is not in the file."""
    selfs = collections.Counter()
    for line in path.read_text().splitlines():
        stack, weight = line.rsplit(" ", 1)
        selfs[stack.split(";")[-1]] += int(weight)
    return {"": selfs}


def pprof(path):
    if not shutil.which("go"):
        return None
    environment = {"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(path.parent)}
    text = run("go", "tool", "pprof", "-raw", str(path), env=environment)
    head, samples, locations = re.search(
        r"Samples:\n(.*?)\n(.*?)Locations\n(.*?)Mappings\n", text, re.S
    ).groups()
    types = [word.split("/")[0] for word in head.replace("[dflt]", "").split()]
    names = {}
    current = None
    for line in locations.splitlines():
        first = re.match(r"\s+(\d+): 0x[0-9a-f]+ (?:M=\d+ )?(.*)", line)
        text_of_line = first.group(2) if first else line.strip()
        if first:
            current = int(first.group(1))
            # The innermost of what is inlined there comes first.
            names[current] = re.sub(r" \S*:\d+(?::\d+)? s=\d+.*$", "", text_of_line).strip()
    result = {}
    for line in samples.splitlines():
        match = re.match(r"((?:\s+\d+)+): ((?:\d+ ?)+)", line)
        if not match:
            continue
        values = list(map(int, match.group(1).split()))
        leaf = names[int(match.group(2).split()[0])]
        for name, value in zip(types, values):
            if not name.endswith("samples") and value:
                result.setdefault(name, collections.Counter())[leaf] += value
    return result


def speedscope(path):
    data = json.loads(path.read_text())
    assert data["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = data["shared"]["frames"]
    assert 0 <= data["activeProfileIndex"] < max(1, len(data["profiles"]))
    result = {}
    for profile in data["profiles"]:
        assert profile["type"] == "sampled"
        assert profile["unit"] in ("nanoseconds", "none")
        assert len(profile["samples"]) == len(profile["weights"])
        assert profile["endValue"] - profile["startValue"] == sum(profile["weights"])
        selfs = result.setdefault(profile["unit"], collections.Counter())
        for stack, weight in zip(profile["samples"], profile["weights"]):
            selfs[frames[stack[-1]]["name"]] += weight
    return result


def check_columns(table):
    for key, column in table.items():
        assert key in ("length", "weightType") or len(column) == table["length"], key


def firefox(path):
    """Follows every index, as the program does; its own importer is in the end-to-end test."""
    data = json.loads(path.read_text())
    strings = data["shared"]["stringArray"]
    check_columns(data["shared"]["sources"])
    categories = data["meta"]["categories"]
    assert data["meta"]["preprocessedProfileVersion"] == 58
    assert any(category["color"] == "grey" for category in categories)
    result = {}
    for thread in data["threads"]:
        stacks, frames, functions = (
            thread[name] for name in ("stackTable", "frameTable", "funcTable")
        )
        for name in ("samples", "markers", "resourceTable", "nativeSymbols"):
            check_columns(thread[name])
        for table in (stacks, frames, functions):
            check_columns(table)
        assert all(prefix is None or prefix < i for i, prefix in enumerate(stacks["prefix"]))
        assert all(0 <= category < len(categories) for category in frames["category"])
        assert all(lib < len(data["libs"]) for lib in thread["resourceTable"]["lib"])
        assert all(lib < len(data["libs"]) for lib in thread["nativeSymbols"]["libIndex"])
        assert all(-1 <= i < thread["resourceTable"]["length"] for i in functions["resource"])
        samples = thread["samples"]
        assert samples["time"] == sorted(samples["time"])
        scale = 10**6 if samples["weightType"] == "tracing-ms" else 1
        selfs = result.setdefault(samples["weightType"], collections.Counter())
        for stack, weight in zip(samples["stack"], samples["weight"]):
            name = strings[functions["name"][frames["func"][stacks["frame"][stack]]]]
            selfs[name] += round(weight * scale)
    return result


def perf_samples(path):
    """Event, name and module of the innermost frame, weight."""
    text = run("perf", "script", "-i", str(path), "-F", "event,period,ip,sym,dso", "-G")
    for match in re.finditer(r"^\s*(\d+)\s+(\S+?):+\s+\S+ (.*?) \((.*)\)$", text, re.M):
        weight, event, name, module = match.groups()
        yield event, name, module, int(weight)


def perf_data(path):
    """By event; a name is what perf found, so only totals can be compared on made-up programs."""
    if not shutil.which("perf"):
        return None
    result = {}
    for event, name, module, weight in perf_samples(path):
        selfs = result.setdefault(event, collections.Counter())
        selfs[name if name != "[unknown]" else module] += weight
    return result


def sqlite(path):
    database = sqlite3.connect(path)
    result = {}
    for event, function, weight in database.execute("SELECT event, function, self FROM self"):
        result.setdefault(event, collections.Counter())[function] += weight
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert not database.execute("PRAGMA foreign_key_check").fetchall()
    totals = dict(
        database.execute(
            "SELECT events.name, sum(weight) FROM samples JOIN events ON events.id = event "
            "GROUP BY events.id"
        )
    )
    assert totals == {event: sum(selfs.values()) for event, selfs in result.items()}
    return result


def callgrind(path):
    if not shutil.which("callgrind_annotate"):
        return None
    text = run("callgrind_annotate", "--threshold=100", "--auto=no", str(path))
    events = re.search(r"Events shown:\s+(.*)", text).group(1).split()
    names = dict(re.findall(r"^event: (\S+) : (.*) \(.*\)$", path.read_text(), re.M))
    body = text.split("file:function")[1]
    result = {names[event]: collections.Counter() for event in events}
    for line in body.splitlines():
        cells = re.findall(r"([\d,.]+)(?: \([\s\d.]+%\))?\s+", line)[: len(events)]
        name = re.search(r"\s\S*?:(.*?)(?: \[\S+\])?$", line)
        if not name or len(cells) < len(events):
            continue
        for event, cell in zip(events, cells):
            if cell.replace(",", "").isdigit():
                result[names[event]][name.group(1)] += int(cell.replace(",", ""))
    return {event: +selfs for event, selfs in result.items()}


def chrome(path):
    data = json.loads(path.read_text())
    selfs = collections.Counter()
    ids = set()
    for event in data["traceEvents"]:
        assert {"name", "ph", "ts", "pid", "tid"} <= set(event)
        if event["name"] != "ProfileChunk":
            continue
        chunk = event["args"]["data"]
        nodes = {node["id"]: node for node in chunk["cpuProfile"]["nodes"]}
        assert not ids & set(nodes), "ids of nodes are one set over all tracks"
        ids |= set(nodes)
        assert all(node.get("parent", 0) < node["id"] for node in nodes.values())
        samples = chunk["cpuProfile"]["samples"]
        assert len(samples) == len(chunk["timeDeltas"]) == len(chunk["weights"])
        assert all(delta >= 0 for delta in chunk["timeDeltas"])
        for sample, weight in zip(samples, chunk["weights"]):
            selfs[nodes[sample]["callFrame"]["functionName"]] += weight
    return {"": +selfs}


def outermost(form, path):
    """The names of the outermost functions of all stacks; None where the reader is missing."""
    if form == "folded":
        return {line.split(";")[1].split(" ")[0] for line in path.read_text().splitlines()}
    if form == "pprof":
        if not shutil.which("go"):
            return None
        text = run("go", "tool", "pprof", "-raw", str(path), env={"PATH": "/usr/bin:/bin", "HOME": str(path.parent)})
        names = dict(re.findall(r"^ +(\d+): 0x[0-9a-f]+ M=\d+ (.*) :0 s=", text, re.M))
        return {names[number] for number in re.findall(r"^[ \d]+: (?:\d+ )*?(\d+) $", text, re.M)}
    if form == "speedscope":
        data = json.loads(path.read_text())
        frames = data["shared"]["frames"]
        return {frames[stack[0]]["name"] for one in data["profiles"] for stack in one["samples"]}
    if form == "firefox":
        data = json.loads(path.read_text())
        strings, result = data["shared"]["stringArray"], set()
        for thread in data["threads"]:
            stacks, frames, functions = (
                thread[name] for name in ("stackTable", "frameTable", "funcTable")
            )
            for stack in thread["samples"]["stack"]:
                while stacks["prefix"][stack] is not None:
                    stack = stacks["prefix"][stack]
                result.add(strings[functions["name"][frames["func"][stacks["frame"][stack]]]])
        return result
    if form == "perf.data":
        if not shutil.which("perf"):
            return None
        text = run("perf", "script", "-i", str(path), "-F", "ip,sym,dso")
        return {block.strip().split("(")[-1].rstrip(")") for block in text.split("\n\n") if block.strip()}
    if form == "sqlite":
        return {name for name, in sqlite3.connect(path).execute(
            "WITH RECURSIVE up(id) AS (SELECT stack FROM samples UNION "
            "SELECT parent FROM stacks JOIN up ON stacks.id = up.id WHERE parent NOT NULL) "
            "SELECT name FROM up JOIN stacks ON stacks.id = up.id AND parent IS NULL "
            "JOIN frames ON frames.id = frame JOIN functions ON functions.id = function")}
    if form == "callgrind":
        names = dict(re.findall(r"fn=(\(\d+\)) (.*)", path.read_text()))
        callers = re.findall(r"^fn=(\(\d+\))", path.read_text(), re.M)
        called = set(re.findall(r"^cfn=(\(\d+\))", path.read_text(), re.M))
        return {names[number] for number in callers if number not in called}
    nodes = {}
    for event in json.loads(path.read_text())["traceEvents"]:
        if event["name"] == "ProfileChunk":
            nodes.update((node["id"], node) for node in event["args"]["data"]["cpuProfile"]["nodes"])
    tops = {node["id"] for node in nodes.values() if "parent" not in node}
    return {node["callFrame"]["functionName"] for node in nodes.values() if node.get("parent") in tops}


READERS = {
    "folded": folded,
    "pprof": pprof,
    "speedscope": speedscope,
    "firefox": firefox,
    "perf.data": perf_data,
    "sqlite": sqlite,
    "callgrind": callgrind,
    "chrome": chrome,
}
ONE_EVENT = {"folded", "chrome"}
# What stands for the event in formats that only know units.
UNITS = {
    "speedscope": {"nanoseconds": "cpu-clock", "none": "page-faults"},
    "firefox": {"tracing-ms": "cpu-clock", "samples": "page-faults"},
    "folded": {"": "cpu-clock"},
    "chrome": {"": "cpu-clock"},
}


def read(form, path):
    """Selfs by event and function, or None where the reader is missing."""
    result = READERS[form](path)
    if result is None:
        return None
    return {UNITS.get(form, {}).get(event, event): selfs for event, selfs in result.items()}
