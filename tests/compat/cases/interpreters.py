# SPDX-License-Identifier: Apache-2.0
"""Languages: their threads, processes, signals, exceptions and what they find in /proc."""

from case import Case

PYTHON = r"""
import json, multiprocessing, os, re, signal, subprocess, sys, tempfile, threading

def work(n):
    return sum(i * i for i in range(n))

def state():
    wanted = ("SigBlk", "SigIgn", "SigCgt", "Umask", "Cap", "NoNewPrivs", "Seccomp:")
    with open("/proc/self/status") as status:
        lines = [line.rstrip() for line in status if line.startswith(wanted)]
    return lines + [f"{fd} {re.sub('[0-9]{3,}', '#', os.readlink('/proc/self/fd/' + fd))}"
                    for fd in sorted(os.listdir("/proc/self/fd"), key=int)
                    if os.path.islink("/proc/self/fd/" + fd)]

if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, lambda *_: print("got USR1", flush=True))
    os.kill(os.getpid(), signal.SIGUSR1)
    threads = [threading.Thread(target=work, args=(20000,)) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    print(threading.active_count(), "thread")
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(method, pool.map(work, [10, 20, 30]), flush=True)
    print(subprocess.run("echo $0; exit 3", shell=True).returncode, flush=True)
    print(subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True).stdout)
    pid = os.fork()
    if not pid:
        os._exit(work(1000) % 7)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    print(os.posix_spawn("/bin/true", ["true"], os.environ) > 0, os.wait()[1])
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    signal.signal(signal.SIGALRM, lambda *_: print("alarm", flush=True))
    signal.pause()
    print("\n".join(state()), flush=True)
    print(json.dumps({"work": work(300000)}), flush=True)
    raise SystemExit(5)
"""

PERL = r"""
use strict; use warnings; use threads; use IPC::Open3; use POSIX;
$| = 1;
$SIG{USR1} = sub { print "got USR1\n" }; kill 'USR1', $$;
my @threads = map { my $n = $_; threads->create(sub { my $s = 0; $s += $_ for 1 .. 20000; $s + $n }) } 1 .. 4;
print join(' ', map { $_->join } @threads), "\n";
for my $n (1 .. 5) { my $pid = fork // die; exit $n unless $pid; waitpid $pid, 0; print $? >> 8, "\n"; }
print `echo from a shell`; system("sh", "-c", "exit 4"); print $? >> 8, "\n";
my $pid = open3(my $in, my $out, undef, 'tr', 'a-z', 'A-Z'); print $in "shout\n"; close $in;
print <$out>; waitpid $pid, 0;
eval { die { code => 42 } }; print "caught $@->{code}\n";
$SIG{ALRM} = sub { die "alarm\n" }; eval { ualarm(50000) if 0; alarm 1; select undef, undef, undef, 3; }; print "woken by $@";
my %words; $words{$_ % 1000}++ for 1 .. 200000; print scalar(keys %words), "\n";
open my $status, '<', '/proc/self/status'; print grep /^(Sig[BIC]|Umask|Cap)/, <$status>; close $status;
opendir my $fds, '/proc/self/fd'; print join(' ', sort grep /^\d/, readdir $fds), "\n";
exec 'sh', '-c', 'exit 6';
"""

RUBY = r"""
require 'open3'
$stdout.sync = true
trap('USR1') { puts 'got USR1' }
Process.kill('USR1', $$); sleep 0.05
puts (1..4).map { |n| Thread.new { (1..20000).sum + n } }.map(&:value).join(' ')
(1..3).each { |n| fork { exit n }; Process.wait; puts $?.exitstatus }
puts `echo from a shell`
puts Open3.capture2('tr a-z A-Z', stdin_data: 'shout')[0]
pid = Process.spawn('exit 4'); Process.wait pid; puts $?.exitstatus
begin; raise ArgumentError, 'raised'; rescue => e; puts e.message; end
reader, writer = IO.pipe
fork { reader.close; writer.puts Process.ppid == $$; writer.close }
writer.close; puts reader.read; Process.wait
Process.daemon(true, true) if false
puts (1..200_000).reduce(:+), (1..60000).map(&:to_s).sort.first
puts File.readlines('/proc/self/status').grep(/^(Sig[BIC]|Umask|Cap)/)
puts Dir.children('/proc/self/fd').sort.join(' ')
exit! 7
"""

NODE = r"""
const { Worker, isMainThread, parentPort } = require('worker_threads');
const { execSync, spawn, fork } = require('child_process');
const fs = require('fs'), crypto = require('crypto'), zlib = require('zlib');
if (!isMainThread) {
    let sum = 0; for (let i = 0; i < 3e6; i++) sum += i; parentPort.postMessage(sum);
} else if (process.argv[2] === 'child') {
    process.on('message', m => { process.send(m * 2); process.disconnect(); });
} else (async () => {
    process.on('SIGUSR2', () => console.log('got USR2'));
    process.kill(process.pid, 'SIGUSR2');
    await new Promise(r => setTimeout(r, 50));
    const sums = await Promise.all([1, 2, 3].map(() => new Promise(r => new Worker(__filename).on('message', r))));
    console.log(sums.join(' '));
    console.log(execSync('echo from a shell').toString().trim());
    const child = fork(__filename, ['child']);
    const ended = new Promise(r => child.on('exit', r));
    console.log(await new Promise(r => { child.on('message', r); child.send(21); }));
    const spawned = spawn('sh', ['-c', 'cat; exit 3']); spawned.stdin.end('through a pipe');
    spawned.stdout.on('data', d => console.log(d.toString()));
    console.log(await new Promise(r => spawned.on('close', r)));
    console.log(await new Promise(r => crypto.pbkdf2('a', 'b', 100000, 32, 'sha256', (e, k) => r(k.toString('hex')))));
    console.log(zlib.gunzipSync(zlib.gzipSync(Buffer.alloc(2e6, 'yarn'))).length);
    let text = ''; for (let i = 0; i < 3e5; i++) text = (text + i).slice(-50); console.log(text);
    await ended; // until then node catches SIGCHLD
    console.log(fs.readFileSync('/proc/self/status', 'utf8').split('\n').filter(l => /^(Sig[BIC]|Umask|Cap)/.test(l)).join('\n'));
    process.exitCode = 8;
})();
"""

CLUSTER = r"""
const cluster = require('cluster'), http = require('http');
if (cluster.isPrimary) {
    let answers = 0;
    const names = new Set();
    for (let i = 0; i < 2; i++) cluster.fork();
    let ready = 0;
    cluster.on('listening', () => {
        if (++ready < 2) return;
        for (let i = 0; i < 40; i++) http.get({ socketPath: './socket', agent: false }, answer => {
            answer.on('data', data => names.add(data.toString()));
            answer.on('end', () => {
                if (++answers < 40) return;
                console.log(answers, [...names].sort().join(' '));
                for (const id in cluster.workers) cluster.workers[id].kill();
            });
        });
    });
    let ended = 0;
    cluster.on('exit', (worker, code, signal) => { if (++ended === 2) console.log('ended', code, signal); });
} else http.createServer((question, answer) => answer.end('answer')).listen('./socket');
"""

JAVA = r"""
import java.util.*; import java.util.concurrent.*; import java.util.stream.*;
public class Main {
    static long work(int n) { long s = 0; for (int i = 0; i < n; i++) s += (long) i * i % 7; return s; }
    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(8);
        List<Future<Long>> results = new ArrayList<>();
        for (int i = 1; i <= 16; i++) { final int n = i * 100000; results.add(pool.submit(() -> work(n))); }
        for (Future<Long> result : results) System.out.println(result.get());
        pool.shutdown();
        System.out.println(IntStream.range(0, 200000).parallel().filter(i -> i % 3 == 0).count());
        Process child = new ProcessBuilder("sh", "-c", "cat; exit 3").redirectErrorStream(true).start();
        child.getOutputStream().write("through a pipe\n".getBytes()); child.getOutputStream().close();
        System.out.print(new String(child.getInputStream().readAllBytes()));
        System.out.println(child.waitFor());
        try { Object o = null; o.hashCode(); } catch (NullPointerException e) { System.out.println("null caught"); }
        try { deep(0); } catch (StackOverflowError e) { System.out.println("overflow caught"); }
        int[][] garbage = new int[100][]; for (int i = 0; i < 20000; i++) garbage[i % 100] = new int[1000]; System.gc();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook")));
        System.exit(9);
    }
    static int deep(int n) { return deep(n + 1) + 1; }
}
"""

LUA = r"""
local pipe = io.popen("echo from a shell; exit 3"); print(pipe:read("a")); print(pipe:close())
print(os.execute("kill -TERM $$")); print(pcall(error, {code = 1}) == false)
local t = {}; for i = 1, 300000 do t[i % 1000 + 1] = i * 2 end; print(#t)
local co = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end); print(co(), co(), co())
for line in io.lines("/proc/self/status") do if line:match("^Sig[BIC]") then print(line) end end
os.exit(4)
"""

TCL = r"""
puts [exec sh -c {echo from a shell}]; puts [catch {exec sh -c {exit 3}}]
set pipe [open "|tr a-z A-Z" r+]; puts $pipe shout; close $pipe write; puts [read $pipe]; close $pipe
after 50 {set done 1}; vwait done; puts $done
set sum 0; for {set i 0} {$i < 300000} {incr i} {incr sum $i}; puts $sum
set status [open /proc/self/status]; foreach line [split [read $status] \n] {if {[regexp {^Sig[BIC]} $line]} {puts $line}}
exit 5
"""

GUILE = r"""
(use-modules (ice-9 threads) (ice-9 popen) (ice-9 rdelim))
(define (work n) (let loop ((i 0) (s 0)) (if (= i n) s (loop (+ i 1) (+ s i)))))
(display (par-map work '(10000 20000 30000))) (newline)
(let ((port (open-input-pipe "echo from a shell; exit 3")))
  (display (read-line port)) (newline) (display (status:exit-val (close-pipe port))) (newline))
(display (catch 'wrong (lambda () (throw 'wrong 42)) (lambda (key value) value))) (newline)
(display (work 3000000)) (newline)
(primitive-exit 6)
"""

PHP = r"""<?php
echo shell_exec('echo from a shell'); exec('exit 3', $lines, $status); echo $status, "\n";
$process = proc_open(['tr', 'a-z', 'A-Z'], [['pipe', 'r'], ['pipe', 'w']], $pipes);
fwrite($pipes[0], "shout\n"); fclose($pipes[0]); echo stream_get_contents($pipes[1]); proc_close($process);
pcntl_async_signals(true); pcntl_signal(SIGUSR1, function () { echo "got USR1\n"; }); posix_kill(getmypid(), SIGUSR1);
for ($n = 1; $n < 4; $n++) { $pid = pcntl_fork(); if (!$pid) exit($n); pcntl_waitpid($pid, $status); echo pcntl_wexitstatus($status), "\n"; }
$sum = 0; for ($i = 0; $i < 2000000; $i++) $sum += $i % 7; echo $sum, "\n";
try { throw new Exception('thrown'); } catch (Exception $e) { echo $e->getMessage(), "\n"; }
echo implode(preg_grep('/^Sig[BIC]/', file('/proc/self/status')));
exit(7);
"""

AWK = r"""BEGIN {
    "echo from a shell" | getline line; print line
    print system("exit 3")
    print "shout" | "tr a-z A-Z"; close("tr a-z A-Z")
    for (i = 0; i < 500000; i++) sum += i % 7; print sum
    while ((getline line < "/proc/self/status") > 0) if (line ~ /^Sig[BIC]/) print line
    exit 4
}"""


def script(name, command, packages, text, **rest):
    return Case(name, f"{command} script", packages, files={"script": text}, **rest)


CASES = [
    Case(
        "python",
        "/usr/bin/python3 script.py",
        "python3",
        files={"script.py": PYTHON},
        fast=True,
    ),
    script("perl", "perl", "perl", PERL),
    script("ruby", "ruby", "ruby", RUBY),
    script("node", "node", "nodejs", NODE),
    script("node-cluster", "node", "nodejs", CLUSTER),
    Case(
        "java",
        "java Main.java",
        "default-jdk-headless",
        needs="javac",
        files={"Main.java": JAVA},
    ),
    Case(
        "java-serial-gc",
        "java -XX:+UseSerialGC -Xint Main.java",
        "default-jdk-headless",
        needs="javac",
        files={"Main.java": JAVA},
    ),
    script("lua", "lua5.4", "lua5.4", LUA),
    script("tcl", "tclsh", "tcl", TCL),
    script("guile", "guile --no-auto-compile -s", "guile-3.0", GUILE),
    script("php", "php", "php-cli", PHP),
    script("gawk", "gawk -f", "gawk", AWK),
    script("mawk", "mawk -f", "mawk", AWK, fast=True),
]
