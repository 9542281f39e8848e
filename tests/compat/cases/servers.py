# SPDX-License-Identifier: Apache-2.0
"""Servers under load, whole: started as daemons or in the foreground, asked, and stopped."""

from case import Case, shell

REDIS = r"""
redis-server --port 0 --unixsocket $PWD/s --save '' --daemonize {daemonize} \
    --pidfile $PWD/pid --logfile $PWD/log {rest} {background}
for i in $(seq 100); do redis-cli -s s ping >/dev/null 2>&1 && break; sleep 0.1; done
redis-benchmark -s s -n 20000 -c 20 -q -t set,get,lpush,lrange_100 >benchmark; echo "benchmark $?"
redis-cli -s s set key value; redis-cli -s s get key; redis-cli -s s dbsize
redis-cli -s s eval 'local n = 0; for i = 1, 200000 do n = n + i end; return n' 0
redis-cli -s s bgsave >/dev/null; sleep 0.5; redis-cli -s s lastsave | wc -l
pid=$(cat pid); grep -E '^Sig[BIC]' /proc/$pid/status; ls /proc/$pid/fd | sort -n | tr '\n' ' '
redis-cli -s s shutdown nosave; wait; for i in $(seq 50); do [ -d /proc/$pid ] || break; sleep 0.1; done
[ -d /proc/$pid ] && echo alive; grep -c 'ready to accept' log
"""

NGINX_CONF = r"""
worker_processes 3; daemon on; pid pid; error_log log notice;
events { worker_connections 200; }
http {
    access_log off; client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3;
    uwsgi_temp_path t4; scgi_temp_path t5; gzip on; gzip_min_length 1; gzip_types text/plain;
    types { text/plain txt; }
    server { listen 127.0.0.1:47102; root .; }
}
"""

NGINX = r"""
chmod 755 .; seq 20000 >page.txt
nginx -p $PWD -c nginx.conf -e log; echo "started $?"
curl -s --retry 30 --retry-connrefused --retry-delay 1 http://127.0.0.1:47102/page.txt | sha256sum
ab -q -n 3000 -c 10 -H 'Accept-Encoding: gzip' http://127.0.0.1:47102/page.txt >ab
grep -E 'Complete requests|Failed requests|Document Length' ab
master=$(cat pid); cat /proc/$master/task/*/children | wc -w
for worker in $master $(cat /proc/$master/task/*/children | head -n 1); do
    grep -E '^(Sig[BIC]|Uid)' /proc/$worker/status; ls /proc/$worker/fd | wc -l; done
kill -HUP $master; sleep 1; cat /proc/$master/task/*/children | wc -w
curl -s -o /dev/null -w '%{http_code}\n' http://127.0.0.1:47102/none
kill -QUIT $master; for i in $(seq 50); do [ -e pid ] || break; sleep 0.1; done; ls pid 2>&1
"""

POSTGRES = r"""
export PATH=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1):$PATH PGHOST=$PWD PGUSER=name PGDATABASE=postgres
initdb -D data -U name --no-sync -A trust >/dev/null; echo "initdb $?"
printf "fsync = off\nautovacuum = off\nlisten_addresses = ''\nunix_socket_directories = '$PWD'\nlog_min_messages = fatal\n" >>data/postgresql.conf
pg_ctl start -s -w -D data -l log; echo "started $?"
pgbench -i -q -s 2 >/dev/null 2>&1; echo "filled $?"
pgbench -t 300 -c 4 -j 2 2>/dev/null | grep -E 'clients|threads|processed|failed'
psql -At <<END
set max_parallel_workers_per_gather = 2; set min_parallel_table_scan_size = 0; set parallel_setup_cost = 0;
select count(*), sum(aid) from pgbench_accounts where aid % 7 = 3;
select count(*) from generate_series(1, 300000) n where n::text like '%7%';
create function raised() returns int language plpgsql as \$\$ begin raise exception 'raised'; exception when others then return 42; end \$\$;
select raised();
\\! echo shell
END
pid=$(head -n 1 data/postmaster.pid)
for i in $(seq 100); do grep -q '^SigBlk:.0*$' /proc/$pid/status && break; sleep 0.1; done # not while it ends a child
grep -E '^Sig[BIC]' /proc/$pid/status; ls /proc/$pid/fd | sort -n | tr '\n' ' '
pg_ctl stop -s -m fast -D data; echo "stopped $?"
cat log
"""

MEMCACHED = r"""
memcached -l 127.0.0.1 -p 47104 -U 0 -t 4 -u nobody & server=$!
for i in $(seq 50); do sleep 0.1; socat -u /dev/null TCP:127.0.0.1:47104 2>/dev/null && break; done
for client in 1 2 3; do
    { for i in $(seq 3000); do printf 'set key%d 0 0 5\r\nvalue\r\nget key%d\r\n' $i $i; done; printf 'quit\r\n'; } |
        socat -t5 - TCP:127.0.0.1:47104 | sha256sum
done
sleep 0.2 # until it has closed what its clients have
grep -E '^Sig[BIC]' /proc/$server/status; ls /proc/$server/fd | sort -n | tr '\n' ' '
kill $server; wait $server; echo "ended $?"
"""

OPENSSL = r"""
openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -days 2 -subj /CN=localhost 2>/dev/null
openssl s_server -accept 127.0.0.1:47103 -key key -cert cert -www -naccept 22 >/dev/null 2>errors & server=$!
sleep 0.5
for i in $(seq 20); do curl -sk https://127.0.0.1:47103/ | grep -c 'Ciphers supported'; done | sort | uniq -c
echo | openssl s_client -connect 127.0.0.1:47103 2>&1 | grep -c CONNECTED
kill $server; wait $server; echo $?
"""

MPI = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int rank, size; long sum = 0, total = 0;
    MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (long i = rank; i < 50000000; i += size) sum += i % 7;
    for (int i = 0; i < 200; i++) MPI_Allreduce(&sum, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (!rank) printf("%d ranks, %ld\n", size, total);
    MPI_Finalize();
    return 0;
}
"""

PAGE = r"""<!DOCTYPE html><title>page</title><div id=a></div><canvas id=c width=300 height=300></canvas><script>
let sum = 0; for (let i = 0; i < 3e6; i++) sum += i % 7;
const context = document.getElementById('c').getContext('2d');
for (let i = 0; i < 300; i++) { context.fillStyle = `hsl(${i}, 50%, 50%)`; context.fillRect(i, 0, 1, i); }
document.getElementById('a').textContent = sum + ' ' + document.getElementById('c').toDataURL().length;
</script>"""

CHROMIUM = "{program} --headless=new --disable-gpu --no-first-run --user-data-dir=$PWD/profile "


def redis(name, daemonize, rest, background):
    text = REDIS.format(daemonize=daemonize, rest=rest, background=background)
    return Case(
        name,
        shell(text),
        "redis-server redis-tools",
        needs="redis-server redis-benchmark",
        files_vary=("log", "benchmark", "dump.rdb", "s", "pid"),
    )


def chromium(name, rest, user, program="chromium", rightly=""):
    page = f"{rest} --dump-dom file://$PWD/page.html 2>errors; echo $?"
    command = CHROMIUM.format(program=program) + page
    return Case(
        name,
        shell(command),
        "chromium",
        needs="chromium",
        files={"page.html": PAGE},
        files_vary=("profile*", "errors", ".*", "org.chromium*", "*.pma"),
        user=user,
        rightly=rightly,
        no_state="which of its processes end by exit is chance",
        seconds=120,
    )


CASES = [
    redis("redis", "no", "", "&"),
    redis("redis-daemon", "yes", "--hz 50", ""),
    Case(
        "nginx",
        shell(NGINX),
        "nginx-light apache2-utils curl",
        needs="nginx ab curl",
        files={"nginx.conf": NGINX_CONF},
        files_vary=("ab", "log"),
    ),
    Case(
        "postgresql",
        shell(POSTGRES),
        "postgresql",
        needs="/usr/lib/postgresql",
        files_vary=("data*", "log"),
        states_vary=("/data/base/",),  # of four clients the first opens what the others find
        user="ordinary",
        seconds=180,
    ),
    Case("memcached", shell(MEMCACHED), "memcached socat", needs="memcached socat"),
    Case("openssl-server", shell(OPENSSL), "openssl curl", needs="openssl curl",
         files_vary=("key", "cert", "errors")),
    Case(
        "mpirun",
        shell(
            "mpicc -O1 program.c -o program && mpirun --allow-run-as-root --oversubscribe -n 2 "
            "./program; echo $?; mpirun --allow-run-as-root --oversubscribe -n 2 sh -c 'exit 3' "
            ">/dev/null 2>&1; echo $?"
        ),
        "openmpi-bin libopenmpi-dev",
        needs="mpicc mpirun",
        files={"program.c": MPI},
        files_vary=("ompi*", "pmix*"),
        variables={"OMPI_MCA_btl_vader_single_copy_mechanism": "none"},
        seconds=120,
    ),
    chromium("chromium", "--no-sandbox --no-zygote", "any"),
    chromium("chromium-sandbox", "", "ordinary",
             rightly="its zygote ends itself where it has another thread (preload/LIMITS.md)"),
    chromium("chromium-itself", "", "ordinary", "YARN_FOLLOW=fork /usr/lib/chromium/chromium"),
]
