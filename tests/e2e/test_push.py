# SPDX-License-Identifier: Apache-2.0
"""push, to a server that takes what Pyroscope, Parca and OpenTelemetry's collectors take, and nothing else: it
decodes each body by the published schema."""

import base64
import gzip
import http.server
import json
import os
import re
import shutil
import sys
import threading

import harness

sys.path.insert(0, str(harness.ROOT / "tests" / "support"))
import otlp_schema
import programs
import protobuf_wire

BUSY = "sum(len(str(i * i)) for i in range({}))"
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"


def only_keys(value, *keys):
    if set(value) != set(keys):
        raise ValueError(f"keys {sorted(value)}, expected {sorted(keys)}")
    return [value[key] for key in keys]


def labels_of(pairs):
    found = {}
    for pair in pairs:
        name, value = only_keys(pair, "name", "value")
        if not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", name) or name in found:
            raise ValueError(f"label {name}")
        found[name] = value
    if "__name__" not in found:
        raise ValueError("no __name__")
    return found


def profile_of(text):
    return protobuf_wire.pprof(gzip.decompress(base64.b64decode(text, validate=True)))


def pyroscope(body):
    (series,) = only_keys(json.loads(body), "series")
    ((labels, (sample,)),) = [only_keys(one, "labels", "samples") for one in series]
    uuid, raw = only_keys(sample, "ID", "rawProfile")
    if not re.fullmatch(UUID, uuid):
        raise ValueError(uuid)
    return labels_of(labels), profile_of(raw)


def parca(body):
    (series,) = only_keys(json.loads(body), "series")
    ((labels, (sample,)),) = [only_keys(one, "labels", "samples") for one in series]
    return labels_of(*only_keys(labels, "labels")), profile_of(*only_keys(sample, "rawProfile"))


PATHS = {
    "/push.v1.PusherService/Push": ("application/json", pyroscope),
    "/api/profiles/writeraw": ("application/json", parca),
    "/v1development/profiles": ("application/x-protobuf", otlp_schema.check),
}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        kind, decode = PATHS.get(self.path, (None, None))
        status, answer, place = 200, self.server.answer, None
        if self.server.refuses:
            status, answer = 429, b"too many profiles"
        elif self.server.place:
            status, answer, place = 308, b"", self.server.place
        elif self.headers["Content-Type"] != kind:
            status, answer = 415, f"{self.path} takes {kind}".encode()
        else:
            try:
                self.server.taken.append((self.path, decode(body), dict(self.headers)))
                self.server.bodies.append(body)
            except Exception as error:  # whatever is wrong with it
                status, answer = 400, repr(error).encode()
        self.send_response(status)
        if place:
            self.send_header("Location", place)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


class Push(harness.Case):
    @classmethod
    def setUpClass(cls):
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        cls.server.daemon_threads = True
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.url = f"http://127.0.0.1:{cls.server.server_port}"
        cls.addClassCleanup(cls.server.shutdown)

    def setUp(self):
        super().setUp()
        self.server.bodies = []
        self.server.taken, self.server.refuses, self.server.place, self.server.answer = [], False, None, b"{}"
        self.dumps = self.folder()
        for rank in range(2):
            run = self.run_program([sys.executable, "-c", BUSY.format(300_000 + rank)], SLURM_PROCID=str(rank))
            for dump in self.dumps_of(run):
                shutil.copy(dump, self.dumps)

    def push(self, *arguments, check=True):
        return harness.yarnprof("push", *arguments, self.dumps, check=check)

    def check_pprof(self, server):
        self.push(f"--to={server}", self.url)
        self.assertEqual(len(self.server.taken), 2)
        for path, (labels, profile), _ in self.server.taken:
            self.assertEqual(PATHS[path][1].__name__, server)
            self.assertEqual(labels["host"], os.uname().nodename)
            self.assertRegex(labels["service_name"], "python")
            self.assertIn(f"range({300_000 + int(labels['rank'])})", labels["command"])
            self.assertTrue(profile["samples"])
            self.assertEqual({sample["labels"]["rank"] for sample in profile["samples"]}, {labels["rank"]})
            self.assertTrue(all(sample["labels"]["thread"] for sample in profile["samples"]))
        self.assertEqual({labels["rank"] for _, (labels, _), _ in self.server.taken}, {"0", "1"})
        weights = sum(sample["values"][1] for _, (_, profile), _ in self.server.taken for sample in profile["samples"])
        (event,) = harness.report(self.dumps)["events"]
        self.assertIn(weights - event["total"], (0, harness.report(self.dumps)["notes"]["kernel_ns"]))

    def test_pyroscope_takes_a_profile_of_each_process(self):
        self.check_pprof("pyroscope")

    def test_parca_takes_a_profile_of_each_process(self):
        self.check_pprof("parca")

    def test_parca_s_own_client_reads_it(self):
        npm = programs.FromNpm(harness.BUILD)
        if npm.why:
            self.skipTest(npm.why)
        with self.assertRaisesRegex(ValueError, "unknown field"):
            npm.parca(b'{"serious": []}')
        self.push("--to=parca", self.url)
        self.assertEqual(len(self.server.bodies), 2)
        for body, (_, (labels, _), _) in zip(self.server.bodies, self.server.taken):
            ((pairs, (sample,)),) = [(one["labels"]["labels"], one["samples"]) for one in npm.parca(body)["series"]]
            self.assertEqual({pair["name"]: pair["value"] for pair in pairs}, labels)
            self.assertTrue(profile_of(sample["rawProfile"])["samples"])

    def test_otlp_takes_all_as_one_request(self):
        self.push("--name=job", "--header=X-Scope-OrgID: me", f"{self.url}/v1development/profiles")
        ((_, profiles, headers),) = self.server.taken
        self.assertEqual({resource["rank"] for resource, *_ in profiles}, {"0", "1"})
        self.assertEqual({resource["service.name"] for resource, *_ in profiles}, {"job"})
        self.assertEqual(headers["X-Scope-OrgID"], "me")

    def test_part_of_it(self):
        self.push("--to=pyroscope", "--event=no-such-event", self.url, check=False)
        self.assertEqual(self.server.taken, [])

    def test_refusal_is_a_failure_with_the_servers_words(self):
        self.server.refuses = True
        done = self.push("--to=parca", self.url, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, rb"429: too many profiles")

    def test_what_an_otlp_server_takes_in_part_is_a_failure(self):
        # partial_success { rejected_profiles: 3 error_message: "too old" }
        self.server.answer = b"\x0a\x0b\x08\x03\x12\x07too old"
        done = self.push("--to=otlp", self.url, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, rb"answers 200: 3 profiles were not taken: too old")
        for whole in b"", b"\x0a\x00":
            self.server.answer = whole
            self.assertEqual(self.push("--to=otlp", self.url).stderr, b"")

    def test_a_server_elsewhere_is_named(self):
        self.server.place = "http://127.0.0.1:1/other"
        done = self.push("--to=otlp", self.url, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, rb"answers 308: that is at http://127.0.0.1:1/other\n")

    def test_each_header_is_sent(self):
        self.push("--to=otlp", "--header=X-One: 1", "--header=X-Two: 2", self.url)
        ((_, _, headers),) = self.server.taken
        self.assertEqual((headers["X-One"], headers["X-Two"]), ("1", "2"))

    def test_nothing_to_send_is_a_failure(self):
        empty = self.run_program(["/bin/true"], YARN_EMPTY="keep").dumps
        for server in "otlp", "parca":
            done = harness.yarnprof("push", f"--to={server}", self.url, empty, check=False)
            self.assertEqual((done.returncode, self.server.taken), (1, []))
            self.assertIn(b"nothing was sent", done.stderr)

    def test_nobody_there_is_a_failure(self):
        done = self.push("http://127.0.0.1:1/v1development/profiles", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, rb"127.0.0.1:1/.*: ")

    def test_address_that_says_no_server(self):
        for url, words in ((self.url, b"--to=pyroscope, --to=parca or --to=otlp"), ("here", b"no address")):
            done = self.push(url, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    harness.main()
