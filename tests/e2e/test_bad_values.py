# SPDX-License-Identifier: Apache-2.0
"""A value that cannot be used: the host runs as without us, and one line says what is wrong."""

import pathlib
import re

import harness

OPTIONS = pathlib.Path(__file__).resolve().parents[2] / "core" / "config" / "options.def"
ANY_VALUE_IS_GOOD = {"YARN_LOG_FILE", "YARN_COMM", "YARN_RUN", "YARN_JIT"}

# Variable, value, the word at fault (the whole value where it is None).
BAD_VALUES = (
    ("YARN_EVENTS", "nonsense", None),
    ("YARN_EVENTS", "cpu-clock,nonsense", "nonsense"),
    ("YARN_EVENTS", "{cpu-clock,page-faults", None),
    ("YARN_EVENTS", "cpu-clock:uu", '"uu"'),
    ("YARN_EVENTS", "page-fault", "page-faults?"),
    ("YARN_EVENTS", "nowhere/event=1/", '"nowhere"'),
    ("YARN_EVENTS", "uprobe/config=1/", '"uprobe"'),
    ("YARN_EVENTS", "r12345678123456789", "16 digits"),
    ("YARN_EVENTS", "branch-prefetches", None),
    ("YARN_EVENTS", "mem:0x1001/2:rw", None),
    ("YARN_EVENTS", "mem:counter:rwx", None),
    ("YARN_EVENTS", "uprobe:malloc", '"malloc"'),
    ("YARN_EVENTS", "uretprobe:libc.so.6:malloc+4", None),
    ("YARN_EVENTS", "kprobe:f+x", '"f+x"'),
    ("YARN_EVENTS", "cpu-clock/branch=left/", '"left"'),
    ("YARN_EVENTS", "cpu-clock/filter='fd == 1'/", '"fd"'),
    ("YARN_FREQUENCY", "fast", None),
    ("YARN_FREQUENCY", "0", None),
    ("YARN_FREQUENCY", "-5", None),
    ("YARN_FREQUENCY", "99999999999999999999", None),
    ("YARN_CALLGRAPH", "sideways", None),
    ("YARN_CALLGRAPH", "dwarf:many", "many"),
    ("YARN_UNWINDER", "guess", None),
    ("YARN_OUTPUT", "yarn.%q.dump", "%q"),
    ("YARN_SAMPLER", "magic", None),
    ("YARN_STRATEGY", "per-week", None),
    ("YARN_READER", "lazy", None),
    ("YARN_RING", "3000", None),
    ("YARN_RING", "big", None),
    ("YARN_INTERVAL", "soon", None),
    ("YARN_COUNTERS", "nonsense", None),
    ("YARN_COUNTER_INTERVAL", "often", None),
    ("YARN_SCHED", "everything", None),
    ("YARN_EMPTY", "maybe", None),
    ("YARN_CLOCK", "sundial", None),
    ("YARN_FOLLOW", "money", None),
    ("YARN_START", "later", None),
    ("YARN_DELAY", "abit", None),
    ("YARN_DURATION", "long", None),
    ("YARN_CONTROL", "socket.%q", "%q"),
    ("YARN_LOG", "loud", None),
    ("YARN", "frequency=fast", "fast"),
)


def variables(macro):
    """Of options.def: those of a macro."""
    names = re.findall(r"^" + macro + r'\([^"]*"([a-z-]+)"', OPTIONS.read_text(), re.MULTILINE)
    return {"YARN_" + name.upper().replace("-", "_") for name in names}


class BadValues(harness.Case):
    def test_table_has_every_variable(self):
        tried = {variable for variable, _, _ in BAD_VALUES}
        self.assertEqual(variables("YARN_OPTION") - tried - ANY_VALUE_IS_GOOD, set())

    def test_each_leaves_the_host_alone_and_is_named(self):
        argv = ["/bin/sh", "-c", "echo out; echo err >&2; exit 7"]
        for variable, value, word in BAD_VALUES:
            with self.subTest(variable=variable, value=value):
                run = self.run_program(argv, **{variable: value})
                self.assertEqual(run.status, 7)
                self.assertEqual(run.stdout, b"out\n")
                lines = run.stderr.decode().splitlines()
                ours = [line for line in lines if line != "err"]
                self.assertEqual(len(lines), 2, lines)
                self.assertEqual(len(ours), 1, lines)
                self.assertIn(variable, ours[0])
                self.assertIn(value if word is None else word, ours[0])
                self.assertEqual(self.dumps_of(run), [])

    def test_unknown_name_is_no_reason_to_stop(self):
        run = self.run_program([harness.HOSTS / "split", "2"], YARN_COLOUR="red")
        self.assertEqual((run.status, run.stderr), (0, b""))
        self.assertEqual(len(self.dumps_of(run)), 1)


if __name__ == "__main__":
    harness.main()
