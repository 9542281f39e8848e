# SPDX-License-Identifier: Apache-2.0
"""Narrow limits: either there is a profile, or the dump or one line says why there is none, and the
host never notices."""

import resource

import harness

MIB = 1 << 20


def limited(which, value):
    return lambda: resource.setrlimit(which, (value, value))


class Case(harness.Case):
    def assert_same_outside(self, argv, outcome="samples", must_work=False, **options):
        variables = {name: options.pop(name) for name in list(options) if name.startswith("YARN_")}
        plain = self.run_program(argv, preload=False, **options) if must_work else self.run_plainly(argv, **options)
        profiled = self.run_program(argv, **options, **variables)
        self.assertEqual((plain.status, plain.stdout), (profiled.status, profiled.stdout))
        if outcome == "line":
            rest = profiled.stderr.removeprefix(plain.stderr)
            self.assertRegex(rest, rb"^yarn: nothing is recorded: [^\n]*\n$")
            self.assertEqual(self.dumps_of(profiled), [])
        else:
            self.assertEqual(plain.stderr, profiled.stderr)
            harness.yarnprof("verify", profiled.dumps)
        if outcome == "samples":
            self.assertGreater(harness.trust(profiled.dumps)["samples"], 0)
        return profiled

    def ways(self):
        """The samplers that there are."""
        return ("timer",) if harness.open_user_clock() else ("auto", "timer")
