# SPDX-License-Identifier: Apache-2.0
"""What is on everybody's machine: archives, texts, keys, pictures, editors, terminals."""

from case import Case, line_of, shell

GIT = r"""
export GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'
git config --global user.name Name; git config --global user.email name@example.org
git init -q -b main one && cd one
for i in $(seq 40); do seq $i 500 >file$i; git add file$i; git commit -q -m "number $i"; done
git config alias.state '!grep -E "^Sig[BIC]" /proc/self/status; ls /proc/self/fd | wc -l; echo alias'
git state
git checkout -q -b side HEAD~20; echo side >side; git add side; git commit -q -m side
git checkout -q main; git merge -q -m merge side; git log --oneline --graph | tail -n 5
git gc -q; git fsck; git repack -q -a -d --threads=2; git clone -q . ../two
cd ../two; git log --format=%H | head -n 1; git grep -c 77 | head -n 3; git blame file3 | wc -l
git archive HEAD | tar -t | wc -l; git rebase -q HEAD~3 2>/dev/null; git status --short; git daemon --bad
"""

SQL = r"""
create table numbers(n integer primary key, square integer, name text);
with recursive counting(n) as (select 1 union all select n + 1 from counting where n < 60000)
insert into numbers select n, n * n, printf('number %d', n) from counting;
create index by_name on numbers(name);
select count(*), sum(square), max(name) from numbers where name like '%7%';
select n % 10, count(*) from numbers group by 1 order by 1 limit 4;
.shell grep -E "^Sig[BIC]" /proc/self/status; ls /proc/self/fd | wc -l
pragma integrity_check;
"""


def packed(name, pack, unpack, packages, **rest):
    commands = (
        f"seq 400000 >numbers; {pack} <numbers >packed; {unpack} <packed | sha256sum; "
        "sha256sum packed"
    )
    return Case(
        name, shell(commands), packages, needs=f"{pack.split()[0]} {unpack.split()[0]}", **rest
    )


def commands(name, packages, needs, text, **rest):
    return Case(name, shell(text), packages, needs=needs, **rest)


ARCHIVES = [
    packed("gzip", "gzip -9n", "gzip -dc", "gzip", fast=True),
    packed("bzip2", "bzip2", "bzip2 -dc", "bzip2"),
    packed("xz", "xz -T2 -3 --block-size=500KiB", "xz -dc", "xz-utils", fast=True),
    packed("zstd", "zstd -q -T2 -9", "zstd -dc", "zstd"),
    commands(
        "tar",
        "tar",
        "tar",
        "cp -r /etc/default /etc/init.d . 2>/dev/null; tar -czf a.tgz --sort=name default init.d; "
        "tar -tzf a.tgz | sha256sum; mkdir out; tar -xzf a.tgz -C out; diff -r default out/default "
        "&& echo alike; tar -xf /no/such/file; echo $?",
        files_vary=("a.tgz",),
        fast=True,
    ),
    commands(
        "rsync",
        "rsync",
        "rsync",
        "cp -r /etc/init.d from 2>/dev/null; rsync -a from/ to/ && echo x >>from/README; "
        "rsync -rlpci --delete from/ to/; diff -r from to && echo alike",
        files_vary=("from/*", "to/*"),
    ),
    commands("cpio", "cpio", "cpio", "cd /etc/init.d && find . | sort | cpio -o | cpio -t"),
    commands(
        "zip",
        "zip unzip",
        "zip unzip",
        "seq 300000 >numbers; zip -q a.zip numbers; unzip -t a.zip; rm numbers; unzip -q a.zip; "
        "sha256sum numbers",
        files_vary=("a.zip",),
    ),
]

TEXTS = [
    commands(
        "coreutils",
        "coreutils findutils",
        "find sort",
        "seq 300000 | shuf --random-source=<(yes) | sort -n --parallel=2 -S 1M | tail -n 1; "
        "seq 100000 | sort -R --random-source=/dev/zero | sha256sum; seq 9 | split -l 2 - part.; "
        "find /usr/include -name '*.h' 2>/dev/null | sort | head -n 400 | xargs -P 2 -n 50 cat | "
        "wc -c; ls -1 /proc/self/fd | wc -l; timeout 0.1 sleep 5; echo $?; stdbuf -o0 echo out; "
        "nice -n 5 nice; env -i /usr/bin/env; factor 600851475143; seq 100000 | md5sum; nproc",
    ),
    commands(
        "grep-sed",
        "grep sed diffutils",
        "grep sed",
        "seq 200000 >n; grep -c 7 n; grep -P '^(\\d)\\1+$' n | tail -n 1; sed -n 's/7/x/gp' n | "
        "sha256sum; sed -i '1,100000d' n; diff <(seq 100001 200000) n && echo alike; grep x n",
        fast=True,
    ),
    commands("jq", "jq", "jq", "jq -n '[range(200000)] | map(. * 2) | add, length, (.[5:8])'"),
    commands("bc", "bc", "bc", "echo 'scale=600; 4*a(1); 2^2000' | bc -l"),
    commands("m4", "m4", "m4", "echo 'define(f,`ifelse($1,0,1,`eval($1*f(decr($1)))'"
             "')')f(10) syscmd(echo shell) sysval' | m4"),
    commands(
        "groff",
        "groff",
        "groff",
        "printf '.TH NAME 1\\n.SH NAME\\nname \\\\- text\\n.PP\\n%s\\n' \"$(seq -s' ' 30000)\" >p.1; "
        "groff -man -Tascii p.1 | sha256sum; groff -man -Tps p.1 | grep -v '^%%Creat' | sha256sum",
    ),
    commands(
        "man",
        "man-db",
        "man",
        # Why the file: a page by its name may lie formatted in a cache.
        "man -P cat -l /usr/share/man/man1/bash.1.gz 2>errors | sha256sum; cat errors >&2; man nosuchpage; echo $?",
        timers="man's own sandbox lets what formats a page have no perf event",
        differs=(
            (
                *line_of(
                    "yarn: nothing is recorded: "
                    "(the reader could not get a descriptor table|/proc/self could not be opened|"
                    "the dump's folder cannot be written to)"
                ),
                "man's own sandbox forbids unshare and O_PATH, and the one line says so",
            ),
        ),
        files_vary=("errors",),
    ),
    commands(
        "vim",
        "vim",
        "vim",
        "seq 30000 >n; vim -N -u NONE -i NONE -es -c '%s/7/seven/g' -c 'g/3/d' -c 'put =system(\"echo sh\")' "
        "-c 'wq' n; echo $?; sha256sum n",
    ),
    commands(
        "emacs",
        "emacs-nox",
        "emacs",
        "emacs -Q --batch --eval '(progn (dotimes (i 20000) (insert (number-to-string i) \"\\n\")) "
        "(sort-lines nil (point-min) (point-max)) (princ (buffer-size)) (princ (shell-command-to-"
        "string \"echo shell\")) (princ (call-process \"sh\" nil nil nil \"-c\" \"exit 3\")) "
        "(kill-emacs 4))'",
        seconds=120,
    ),
    commands("ed", "ed", "ed", "printf 'a\\none\\ntwo\\n.\\n,s/o/0/g\\n,p\\n!echo shell\\nw f\\nq\\n' | ed"),
]

KEYS = [
    Case(
        "git", ["bash", "script"], "git", needs="git", files={"script": GIT},
        files_vary=("*/.git/*",),
    ),
    Case("sqlite3", "sqlite3 file.db", "sqlite3", stdin=SQL, fast=True),
    commands(
        "openssl",
        "openssl",
        "openssl",
        "openssl speed -seconds 1 -bytes 1024 sha256 >/dev/null 2>&1; echo $?; "
        "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out key; "
        "openssl req -x509 -key key -subj /CN=localhost -days 2 -out cert; "
        "seq 100000 >n; openssl dgst -sha512 n; "
        "openssl dgst -sha256 -sign key -out signature n; "
        "openssl dgst -sha256 -verify <(openssl pkey -in key -pubout) -signature signature n; "
        "openssl enc -aes-256-cbc -pbkdf2 -k secret -in n | "
        "openssl enc -d -aes-256-cbc -pbkdf2 -k secret | sha256sum",
        files_vary=("key", "cert", "signature"),
        varies=(*[(r"^[.+*\-\s]+$\n?", "")],),
    ),
    commands(
        "openssl-speed-multi",
        "openssl",
        "openssl",
        "openssl speed -seconds 1 -bytes 1024 -multi 2 sha256 >out 2>&1; echo $?; grep -c sha256 out",
        files_vary=("out",),
    ),
    commands(
        "ssh-keygen",
        "openssh-client",
        "ssh-keygen",
        "ssh-keygen -q -t rsa -b 3072 -N '' -f k; ssh-keygen -y -f k | cut -c1-20; "
        "ssh-keygen -Y sign -f k -n file k.pub; ssh-keygen -lf k.pub | cut -d' ' -f1,4",
        files_vary=("k*",),
    ),
    commands(
        "gpg",
        "gpg gpg-agent",
        "gpg gpg-agent",
        "mkdir -m 700 g; export GNUPGHOME=$PWD/g; gpg -q --batch --passphrase '' "
        "--quick-gen-key name ed25519 sign 2>/dev/null; echo $?; echo text | gpg -q --clearsign | "
        "gpg -q --verify 2>&1 | grep -c Good; gpgconf --kill all; sleep 0.3",
        files_vary=("g*",),
    ),
]

SYSTEM = [
    commands(
        "dpkg",
        "dpkg",
        "dpkg",
        "dpkg -l | sha256sum; dpkg -S /bin/bash; dpkg-query -W -f '${Status}\\n' bash; "
        "mkdir -p p/DEBIAN; printf 'Package: p\\nVersion: 1\\nArchitecture: all\\nMaintainer: n "
        "<n@example.org>\\nDescription: d\\n' >p/DEBIAN/control; dpkg-deb -b p p.deb && dpkg-deb -I "
        "p.deb | tail -n 6; dpkg --compare-versions 1.10 gt 1.9 && echo newer",
        files_vary=("p.deb",),
        varies=((r"size \d+ bytes.*", "size"), (r"^ *\d+ bytes, .*\n", "")),
        fast=True,
    ),
    commands(
        "apt",
        "apt",
        "apt-cache apt-get",
        "apt-cache show bash | grep ^Package: | sort -u; apt-get -s install bash | head -n 3; "
        "apt-cache depends bash | sha256sum; apt-config dump | sha256sum; apt-cache stats | wc -l",
    ),
    commands(
        "fakeroot",
        "fakeroot",
        "fakeroot",
        "fakeroot sh -c 'touch f; chown 0:0 f; stat -c %u:%g f; id -u; seq 100000 | sha256sum'",
    ),
    commands(
        "daemons",
        "dpkg util-linux",
        "start-stop-daemon setsid",
        "start-stop-daemon --start --background --make-pidfile --pidfile $PWD/pid --chdir $PWD "
        "--startas /bin/sh -- -c 'ls /proc/self/fd | wc -l >fds; grep Sig[BIC] /proc/self/status >signals; "
        "exec sleep 20'; for i in $(seq 50); do sleep 0.1; [ -s signals ] && break; done; "
        "start-stop-daemon --stop --pidfile $PWD/pid; echo $?; cat fds signals; "
        "setsid -f sh -c 'ps -o tty= -p $$ >tty; seq 200000 | sha256sum >sum'; "
        "for i in $(seq 50); do sleep 0.1; [ -s sum ] && break; done; cat tty sum",
        files_vary=("pid", "signals"),  # what is in the latter is printed, and compared there
        varies=((r"process \d+", "process PID"),),
    ),
    commands(
        "flock",
        "util-linux",
        "flock",
        "for i in 1 2 3 4; do flock lock sh -c 'n=$(cat n 2>/dev/null); echo $((n + 1)) >n' & done; "
        "wait; cat n; flock -n lock sh -c 'flock -n lock true; echo $?'",
        fast=True,
    ),
    commands(
        "script-pty",
        "bsdutils",
        "script",
        "script -qec 'tty >/dev/null && echo terminal; stty size; seq 30000 | tail -n 1; exit 5' "
        "/dev/null; echo $?",
        fast=True,
    ),
    commands(
        "tmux",
        "tmux",
        "tmux",
        "tmux -S s -f /dev/null new-session -d -x 80 -y 20 'seq 5; read -r line; echo got $line; "
        "sleep 5'; sleep 1; tmux -S s send-keys text Enter; sleep 1; tmux -S s capture-pane -p | head -n 8; "
        "tmux -S s kill-server; sleep 0.3",
        files_vary=("s",),
    ),
    commands(
        "curl",
        "curl python3",
        "curl",
        "seq 300000 >file; /usr/bin/python3 -m http.server --bind 127.0.0.1 47101 >/dev/null 2>&1 & "
        "server=$!; curl -s --retry 30 --retry-connrefused --retry-delay 1 -o /dev/null "
        "http://127.0.0.1:47101/; curl -s http://127.0.0.1:47101/file | sha256sum; "
        "curl -s --no-progress-meter --parallel -o 'a' -o 'b' http://127.0.0.1:47101/file http://127.0.0.1:47101/file; "
        "cmp a b; curl -s -o /dev/null -w '%{http_code}\\n' http://127.0.0.1:47101/none; "
        "curl -s http://127.0.0.1:1/; echo $?; kill $server; wait $server; echo $?",
    ),
    commands(
        "imagemagick",
        "imagemagick",
        "convert",
        "convert -size 600x600 plasma:fractal -seed 7 -define png:exclude-chunks=date a.png; "
        "convert -size 700x700 gradient:red-blue -blur 0x8 -rotate 30 -resize 50% rgb:b; "
        "sha256sum b; identify -format '%wx%h\\n' a.png",
        files_vary=("a.png",),
    ),
    commands(
        "ffmpeg",
        "ffmpeg",
        "ffmpeg",
        "ffmpeg -v error -nostdin -threads 2 -f lavfi -i testsrc=size=320x240:rate=25 -t 2 -c:v mpeg4 "
        "-bitexact -y a.avi; ffmpeg -v error -nostdin -threads 2 -i a.avi -f framemd5 - | sha256sum",
        seconds=120,
    ),
    commands(
        "socat",
        "socat",
        "socat",
        "socat UNIX-LISTEN:s,fork EXEC:'tr a-z A-Z' & pid=$!; sleep 0.3; for i in 1 2 3; do "
        "echo word $i | socat -t1 - UNIX-CONNECT:s; done; kill $pid; wait $pid; echo $?",
        files_vary=("s",),
    ),
]

CASES = [*ARCHIVES, *TEXTS, *KEYS, *SYSTEM]
