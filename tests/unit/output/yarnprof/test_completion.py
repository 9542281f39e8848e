# SPDX-License-Identifier: Apache-2.0
"""Completion in bash, zsh and fish, typed: verbs, options and values are those that --help shows. Help and man
pages fit 80 columns, and where the locale has no UTF-8, text is ASCII."""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import tempfile
import termios
import time
import unittest

YARNPROF = pathlib.Path(os.environ["YARN_TEST_YARNPROF"])
ROOT = pathlib.Path(__file__).resolve().parents[4]
SCRIPTS = ROOT / "output" / "yarnprof" / "completion"
MAN = ROOT / "output" / "yarnprof" / "man"
GOLDEN = ROOT / "tests" / "golden" / "process.yarndump"
ENVIRONMENT = {"PATH": f"{YARNPROF.parent}:{os.environ['PATH']}", "LANG": "C.UTF-8", "HOME": tempfile.gettempdir()}
# What is typed; what must and what must not come. `=` at the end: a value follows.
TYPED = [
    ("yarnprof anno", {"annotate"}, {"report"}),
    ("yarnprof ", {"record", "report", "stat", "export"}, set()),
    ("yarnprof report --sid", {"--side-by-side"}, {"--tree"}),
    ("yarnprof report --no-i", {"--no-inlines"}, {"--no-inlines="}),
    ("yarnprof export --to=pp", {"pprof"}, {"folded", "perf.data"}),
    ("yarnprof report --format=", {"text", "json", "csv"}, {"auto"}),
    ("yarnprof report --by=", {"function", "program", "rank", "branch"}, set()),
    ("yarnprof record --sampler=t", {"timer"}, {"perf", "auto"}),
    ("yarnprof record --callgraph=", {"auto", "fp", "dwarf", "lbr", "none"}, set()),
    ("yarnprof record --log-f", {"--log-file="}, set()),
    ("yarnprof merge --mem", {"--memory="}, set()),
    ("yarnprof diff --normalize=", {"run", "share", "time", "mark"}, set()),
    ("yarnprof diff --sort=", {"self", "total"}, set()),
    ("yarnprof help anno", {"annotate"}, {"report"}),
    ("yarnprof record -- yarnpro", {"yarnprof"}, {"record"}),
]


def run(*command, **variables):
    done = subprocess.run(list(map(str, command)), capture_output=True, timeout=60, check=False,
                          env={**ENVIRONMENT, **variables})
    return done.returncode, done.stdout.decode(errors="surrogateescape"), done.stderr.decode(errors="surrogateescape")


def verbs():
    return [line.split("\t")[0] for line in run(YARNPROF, "--complete")[1].splitlines()]


class Completion(unittest.TestCase):
    def check(self, typed, got, wanted, unwanted):
        with self.subTest(typed):
            self.assertLessEqual(wanted, got)
            self.assertFalse(unwanted & got, got)

    def bash(self, typed):
        words = re.findall(r"=|[^ =]+", typed) + ([""] if typed.endswith(" ") else [])
        code = (f"source {SCRIPTS}/yarnprof.bash; compopt() {{ :; }}; tool=$1; shift; COMP_WORDS=(\"$@\"); "
                "COMP_CWORD=$(($# - 1)); _yarnprof \"$tool\"; printf '%s\\n' \"${COMPREPLY[@]}\"")
        status, out, err = run("bash", "--norc", "-c", code, "bash", YARNPROF, *words)
        self.assertEqual((status, err), (0, ""))
        return set(out.split())

    def test_bash(self):
        for typed, wanted, unwanted in TYPED:
            self.check(typed, self.bash(typed), wanted, unwanted)

    @unittest.skipUnless(shutil.which("fish"), "no fish")
    def test_fish(self):
        for typed, wanted, unwanted in TYPED:
            status, out, err = run("fish", "--no-config", "-c",
                                   f"source {SCRIPTS}/yarnprof.fish; complete -C '{typed}'")
            self.assertEqual((status, err), (0, ""))
            got = {line.split("\t")[0] for line in out.splitlines()}
            got |= {word.partition("=")[2] for word in got}
            self.check(typed, got, wanted, unwanted)

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.execvpe("zsh", ["zsh", "-f", "-i"], {**ENVIRONMENT, "TERM": "dumb", "PS1": "", "COLUMNS": "200"})
        try:
            self.ask(terminal, f"fpath=({SCRIPTS} $fpath); autoload -U compinit; compinit -u -D; PS1=; "
                     "unsetopt zle_bracketed_paste; bindkey '^X' list-choices; bindkey '^T' complete-word; "
                     "bindkey '^U' kill-whole-line; stty -echo; LISTMAX=10000; ")
            for typed, wanted, unwanted in TYPED:
                self.check(typed, self.zsh(terminal, typed), wanted, unwanted)
        finally:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
            os.close(terminal)

    def zsh(self, terminal, typed):
        """The list that a key shows; what is completed at once stands in the line."""
        text = self.ask(terminal, f"{typed}\x18\x14\x15")
        text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\x07|\x08", " ", text).replace(typed, " ", 1)
        words = set(re.findall(r"[-\w.]+=?", text))
        stem = re.split(r"[ =]", typed)[-1]
        return words | {stem + word for word in words} if stem else words

    @staticmethod
    def ask(terminal, typed):
        """What the shell says up to a line that it prints. Before it reads keys the terminal would take them as lines."""
        until = time.monotonic() + 60
        while termios.tcgetattr(terminal)[3] & termios.ICANON and time.monotonic() < until:
            time.sleep(0.01)
        os.write(terminal, f"{typed}print rea''dy\n".encode())
        text = ""
        while "ready\r\n" not in text and time.monotonic() < until:
            if select.select([terminal], [], [], 1)[0]:
                text += os.read(terminal, 65536).decode(errors="replace")
        return text

    def test_every_option_of_the_help_is_offered_and_no_other(self):
        for verb in verbs():
            with self.subTest(verb):
                shown = set(re.findall(r"(?m)^  (?:-\w, |    )(--[\w-]+)", run(YARNPROF, verb, "--help")[1]))
                offered = {line.split("\t")[0] for line in run(YARNPROF, verb, "--complete")[1].splitlines()}
                hidden = {word for word in offered if word.startswith("--")} - shown
                self.assertLessEqual(shown, offered)
                self.assertLessEqual(hidden, {"--memory", "--color"})


class Width(unittest.TestCase):
    def assert_narrow(self, text):
        self.assertEqual([line for line in text.splitlines() if len(line) > 80], [])

    def test_help_is_ascii_and_fits(self):
        for verb in ([], *([verb] for verb in verbs())):
            with self.subTest(verb):
                status, text, _ = run(YARNPROF, *verb, "--help")
                self.assertEqual(status, 0)
                self.assertTrue(text.isascii())
                self.assert_narrow(text)

    @unittest.skipUnless(shutil.which("man") and shutil.which("groff"), "no man")
    def test_man_pages_fit_and_are_ascii_in_the_c_locale(self):
        for page in sorted(MAN.iterdir()):
            with self.subTest(page=page.name):
                _, text, _ = run("man", "-l", page, MANWIDTH="80", LC_ALL="C")
                self.assertGreater(len(text), 300)
                self.assert_narrow(text)
                self.assertTrue(text.isascii())


class Ascii(unittest.TestCase):
    def test_text_is_ascii_in_the_c_locale(self):
        for view in (["report"], ["report", "--tree"], ["report", "--callers"], ["report", "--limit=1"], ["info"],
                     ["script"], ["sched", "--timeline"], ["diff", GOLDEN]):
            with self.subTest(view):
                status, text, err = run(YARNPROF, *view, GOLDEN, LC_ALL="C")
                self.assertTrue(text.isascii() and err.isascii())
                self.assertEqual(status, run(YARNPROF, *view, GOLDEN)[0])

    def test_signs_have_a_form_in_ascii(self):
        tree = run(YARNPROF, "report", "--tree", GOLDEN, LC_ALL="C.UTF-8")[1]
        plain = run(YARNPROF, "report", "--tree", GOLDEN, LC_ALL="C")[1]
        self.assertIn("└─ ", tree)
        self.assertEqual(tree.translate(str.maketrans("└├─│…", "`|-|~")), plain.replace("\n...", "\n~"))

    def test_json_is_the_same_in_each_locale(self):
        command = (YARNPROF, "report", "--format=json", GOLDEN)
        self.assertEqual(run(*command, LC_ALL="C"), run(*command, LC_ALL="C.UTF-8"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
