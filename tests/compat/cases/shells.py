# SPDX-License-Identifier: Apache-2.0
"""Shells: jobs, traps, pipelines, subshells, exec, and what the shell says of itself."""

from case import Case, line_of, shell

# What every shell of POSIX does, in the order in which they differ least.
POSIX = r"""
trap 'echo at the end' EXIT
trap 'echo got USR1' USR1
trap '' PIPE
kill -USR1 $$
echo one two three | tr a-z A-Z | while read -r first rest; do echo "$first:$rest"; done
for i in 1 2 3 4 5 6 7 8; do (exit $i); echo "subshell $?"; done
sleep 0.05 & wait $!; echo "background $?"
sh -c 'kill -TERM $$'; echo "killed $?"
/no/such/program 2>/dev/null; echo "missing $?"
/etc/passwd 2>/dev/null; echo "not a program $?"
cat <<END
here $((6 * 7)) $(echo substituted)
END
exec 7>seventh; echo text >&7; exec 7>&-; cat seventh
umask 027; : >masked; ls -l masked | cut -c1-10
ulimit -n 64; ulimit -n
i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done; echo $i
sh -c "sleep 0.1; grep -E '^(Sig[BIC]|Umask|Seccomp|NoNew|Cap)' /proc/$$/status"
sh -c "sleep 0.1; ls /proc/$$/fd" >descriptors; sort -n descriptors | tr '\n' ' '
(exec env -i PATH="$PATH" sh -c 'echo "cleared: $LD_PRELOAD"')
exec sh -c 'echo replaced; exit 7'
"""

FISH = r"""
function on_usr1 --on-signal USR1; echo got USR1; end
kill -USR1 $fish_pid
for i in (seq 5); sh -c "exit $i"; echo "status $status"; end
echo one two | string upper | while read a b; echo $b $a; end
set total 0
for i in (seq 4000); set total (math $total + $i); end
echo $total
# Once it has left posix_spawn, where all signals are blocked.
sh -c 'sleep 0.3; grep -E "^(Sig[BIC]|Umask)" /proc/$1/status' sh $fish_pid
exit 9
"""

JOBS = r"""
set -m
sleep 30 & kill -STOP %1; sleep 0.1; jobs | tr -s ' '; kill -CONT %1; kill %1; wait %1; echo $?
coproc { read -r line; echo "coproc said $line"; }
echo hello >&"${COPROC[1]}"; read -r answer <&"${COPROC[0]}"; echo "$answer"; wait
diff <(seq 5) <(seq 2 6)
exec 3< <(seq 3); mapfile -t lines <&3; echo "${lines[@]}"; wait
for i in {1..300}; do /bin/true; done
trap 'echo child ended' CHLD; (exit 3); trap - CHLD
( ulimit -v 60000; sort /etc/passwd | head -n 1 ); ( ulimit -u 4096; (echo nested) )
timeout 0.2 sleep 5; echo "timeout $?"
nohup sh -c 'grep SigIgn /proc/self/status' 2>/dev/null
"""

THREADS = r"""i=0; while ((i < 50000)); do ((i++)); done; grep Threads /proc/$$/status"""


def posix(name, program, packages, **rest):
    return Case(name, [*program.split(), "script"], packages, files={"script": POSIX}, **rest)


CASES = [
    posix("bash", "bash", "bash", fast=True),
    posix("bash-posix", "bash --posix", "bash"),
    posix("dash", "dash", "dash", fast=True),
    posix("zsh", "zsh", "zsh"),
    posix("ksh", "ksh", "ksh", varies=((r"\d+: Terminated", "PID: Terminated"),)),
    posix("busybox-static", "busybox sh", "busybox-static", no_dump="a static program"),
    Case("fish", "fish --no-config script", "fish", files={"script": FISH}),
    Case(
        "bash-jobs",
        ["bash", "script"],
        "bash",
        files={"script": JOBS},
        differs=(
            (*line_of("yarn: nothing is recorded: the limit of address space"), "ulimit -v leaves no room for it"),
        ),
    ),
    Case(
        "bash-thread-count",
        shell(THREADS),
        "bash",
        differs=((r"Threads:\s+\d+", "Threads: N", "the reader is a thread, and it prints them"),),
        fast=True,
    ),
    Case(
        "bash-environment",
        shell("export -p; env | sort"),
        "bash",
        differs=((*line_of("LD_PRELOAD"), "it prints the variable that switches the preload on"),),
        fast=True,
    ),
]
