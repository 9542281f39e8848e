/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/options/habits.h"

static const char of_machine[] = "record --whole-cores --duration=TIME records all of the machine "
                                 "(needs CAP_PERFMON); record -- COMMAND, a command and its "
                                 "children";
static const char of_cores[] = "record what runs on them: record -- taskset -c CORES COMMAND; "
                               "report --by=cpu shows each core's part";
static const char of_branches[] = "-e cycles/branch=any/, and report --by=branch (any_call, "
                                  "any_ret and others, too)";
static const char of_period[] = "the event has it: -e EVENT/period=N/";
static const char by_key[] = "report --by=KEY: function, module, line, thread, process, cpu and "
                             "others";
static const char of_file[] = "the FILE itself is named: yarnprof VERB [OPTIONS] FILE";
static const char of_pid[] = "stat counts the command that it starts: stat -- COMMAND; "
                             "record -p PID samples what runs already";

/* In the place of a verb: of every verb, and of those that read dumps. */
#define ANY "*"
#define OF_FILES "FILE"

/* A verb's own come first: the first that fits counts. */
static const struct yarn_habit habits[] = {
    {"record", "-a --all-cpus", of_machine},
    {"record", "-C --cpu", of_cores},
    {"record", "-c --count", of_period},
    {"record", "-b --branch-any -j --branch-filter", of_branches},
    {"record", "-t",
     "record -p PID takes the process with its threads; report --thread=TID shows one"},
    {"record", "--tid", "record -p PID takes the process; report --thread=TID shows one thread"},
    {"record", "-u", "run yarnprof as that user, or record -p PID,PID"},
    {"record", "-i --no-inherit", "children are left out by --follow=none"},
    {"record", "-D", "--delay=MS"},
    {"record", "-m --mmap-pages", "--ring=BYTES, of each core"},
    {"record", "-k --clockid", "--clock=monotonic, monotonic_raw or boottime"},
    {"record", "--switch-events", "they are recorded by default: --sched=switch"},
    {"record", "--off-cpu", "-e cpu-clock,off-cpu"},
    {"record", "--filter", "the event has it: -e SYSTEM:TRACEPOINT/filter='EXPR'/"},
    {"record", "--user-callchains --all-user", "-e EVENT:u"},
    {"record", "--kernel-callchains --all-kernel", "-e EVENT:k"},
    {"record", "-G",
     "record -p PID,PID --tree, or the command in the group: record -- systemd-run --scope "
     "COMMAND"},
    {"record", "--cgroup", "record -p PID,PID --tree of the processes in it"},
    {"record",
     "--aio -z -s -T -n -N -B --timestamp --period --sample-cpu --save-only --no-open "
     "--unstable-presymbolicate -R --raw-samples --no-buildid --no-buildid-cache "
     "--buildid-all --buildid-mmap --tail-synthesize --no-bpf-event --namespaces --all-cgroups "
     "--sample-identifier --strict-freq --native --nonblocking --subprocesses",
     NULL},
    {"record", "-d --data", "report --by=address, of -e mem:SYMBOL or a precise event"},
    {"record", "-I --intr-regs", "registers are not kept; stacks are unwound as they are recorded"},
    {"record", "-W --weight --phys-data --transaction",
     "-e cpu/mem-loads,ldlat=N/P, where the processor has it"},
    {"record", "-q --quiet", "its one line at the end is on standard error: 2>/dev/null"},
    {"record", "-r", "--rate is -F HZ"},
    {"record", "--rate", "-F HZ"},
    {"record", "--timestamp-filename", "-o 'yarn.%e.%t.dump'"},
    {"record", "--max-size", "--duration=TIME, or a lower -F"},
    {"record", "--iteration-count",
     "a run each: for i in 1 2 3; do yarnprof record -o runs/ …; done; report runs shows them as "
     "one"},
    {"record", "--group", "-e '{A,B}' counts them together"},
    {"record", "-A --append", "a run each: record -o runs/, and report runs shows them as one"},
    {"record", "--switch-output --snapshot",
     "--control=SOCKET, and yarnprof ctl SOCKET flush, stop or start"},
    {"record", "--overwrite", "no dump is overwritten; --duration=TIME bounds what is recorded"},
    {"record", "--realtime --affinity --per-cpu-threads --mmap-flush --no-buffering",
     "rings are read as they fill: --ring=BYTES, --interval=TIME"},
    {"record", "--stat", "--counters=LIST, and then yarnprof stat --by=thread FILE"},
    {"record", "--per-thread", "--strategy=per-thread"},
    {"record", "--dry-run", "yarnprof doctor -- COMMAND"},
    {"record", "-v --verbose", "--log=debug, and yarnprof info FILE"},
    {"record", "--max-stack --jstackdepth --cstack",
     "--callgraph=dwarf:BYTES is how much of a stack is unwound"},
    {"record", "--proc-map-timeout", "what is mapped is read as it is needed"},
    {"record", "--timeout", "--duration=TIME"},
    {"record", "--profile-name", "--run=NAME, and flamegraph --title=TEXT"},
    {"record", "--title --minwidth --port",
     "yarnprof flamegraph FILE --title=TEXT -o page.html, which any browser opens"},
    {"record", "--main-thread-only --threads --reuse-threads",
     "report --by=thread, --thread=LIST; flamegraph has a lane a thread"},
    {"record", "--fold-recursive-prefix", "flamegraph and report --tree show calls as they are"},
    {"record", "--include-args", "report --by=command shows arguments"},
    {"record", "--symbol-dir --emit-sidecar-files",
     "names are taken while recording: nothing is needed beside the dump"},
    {"record", "--perf-basic-prof --jit-markers", "--jit"},
    {"record", "--gfx --ttsp", "-e cpu-clock,off-cpu, and flamegraph shows it over time"},
    {"record", "--children --total", "report --sort=total"},
    {"record", "--gil --idle --wall --all --lock",
     "-e cpu-clock,off-cpu, and report --by=holder for locks"},
    {"record", "--alloc", "-e uprobe:libc.so.6:malloc"},
    {"record", "--format --jfr --collapsed --flamegraph",
     "it is recorded first: then yarnprof export --to=FORMAT FILE, or flamegraph FILE -o "
     "page.html"},
    {"record", "--loop", "--duration=TIME, in a loop of the shell"},
    {"record", "--begin --end",
     "--start=off with yarn_start() and yarn_stop() in the program, or --control=SOCKET"},
    {"record", "--simple", "names are whole; report --by=function"},
    {"report", "-g --call-graph", "report --tree (callees) or --callers"},
    {"report", "-G --hierarchy", "report --tree"},
    {"report", "-s --fields -F", by_key},
    {"report",
     "-n --show-nr-samples --no-children -i --show-total-period --text --functions --exclude-other "
     "--flat",
     NULL},
    {"report", "--children --cum", "report --sort=total"},
    {"report", "--no-demangle",
     "names are always demangled; yarnprof script --fields=ip,sym has the addresses, too"},
    {"report", "--header --header-only --stats -v --mmaps", "yarnprof info FILE"},
    {"report", "-D --dump-raw-trace", "yarnprof script FILE, or info"},
    {"report", "-c --comms", "report --comm=NAME"},
    {"report", "-d --dsos", "report --module=NAME"},
    {"report", "-S --symbols --symbol-filter -p --focus --show", "report --function=REGEX"},
    {"report", "--pid", "report --process=PID"},
    {"report", "--tid", "report --thread=TID"},
    {"report", "--parent --peek --ignore-callees", "report --callers=FUNCTION"},
    {"report", "-b --branch-stack --total-cycles",
     "report --by=branch, of a recording with -e cycles/branch=any/"},
    {"report", "--mem-mode", "report --by=address"},
    {"report", "--group", "report --side-by-side"},
    {"report", "--tasks", "yarnprof info FILE, or report --by=process"},
    {"report", "--percentage", "shares are of all samples of the event"},
    {"report", "--top -E --entries --nodecount", "report --limit=N"},
    {"report", "--list --addresses --disasm --weblist --objdump",
     "yarnprof annotate FUNCTION FILE"},
    {"report", "-k --symfs --kallsyms --vmlinux",
     "names are in the dump: the files are not needed"},
    {"report", "-w --column-widths",
     "columns are as wide as is needed; report --format=csv has no width"},
    {"report", "-x -t --field-separator --csv", "report --format=csv"},
    {"report", "--json", "report --format=json"},
    {"report", "--max-stack",
     "stacks are shown whole; --tree --percent-limit=P leaves out what is small"},
    {"report", "-U --hide-unresolved", "report --function='^[^[]' leaves out what has no name"},
    {"report", "-C --cpu --socket-filter --show-cpu-utilization", "report --by=cpu"},
    {"report", "--srcline --full-source-path --lines --files --granularity", "report --by=line"},
    {"report", "--raw --raw-trace --traces --tags", "yarnprof script FILE"},
    {"report", "--ignore --hide",
     "report --function=REGEX shows what matches; export --to=pprof has what pprof -ignore reads"},
    {"report", "--tagfocus", "--thread=LIST, --process=LIST, --comm=LIST or --module=LIST"},
    {"report", "--nodefraction --edgefraction", "report --percent-limit=P"},
    {"report", "--base --diff_base", "yarnprof diff BEFORE AFTER"},
    {"report", "--sample_index", "report --event=NAME"},
    {"report", "--unit", "report --format=csv has plain numbers"},
    {"report", "--gtk --web --http --svg --pdf --dot --png --gif --flamegraph",
     "yarnprof flamegraph FILE -o page.html"},
    {"report", "--callgrind --collapsed --proto --folded", "yarnprof export --to=FORMAT FILE"},
    {"report", "--reverse", "report --callers"},
    {"report", "-T --threads", "report --by=thread"},
    {"report", "--sort=pid --sort=overhead,comm",
     "report --by=process, command, thread and others"},
    {"report", "--time=10%-20%",
     "FROM..TO with times after the start, as yarnprof info shows its length"},
    {"annotate", "-i", of_file},
    {"annotate", "-l --print-line", NULL},
    {"annotate", "-s --symbol", "the function is named: yarnprof annotate FUNCTION FILE"},
    {"annotate", "-M --disassembler-style",
     "--objdump=COMMAND, a script of yours that calls objdump -M intel"},
    {"annotate", "--asm-raw --no-source --percent-type",
     "--format=json has lines, instructions and their weights apart"},
    {"script", "-i --show-task-events --show-mmap-events --show-switch-events --show-lost-events",
     NULL},
    {"script", "--header", "yarnprof info FILE"},
    {"script", "-g -l --list -s", "yarnprof export --to=folded, chrome, perf.data and others"},
    {"script", "-G", "script --fields=-ip,-sym,-dso"},
    {"script", "--call-trace", "record -e uprobe:PATH:SYMBOL"},
    {"script", "--itrace", "branch traces are not decoded; record -e cycles/branch=any/"},
    {"script", "--dlfilter", "--event=LIST, --thread=LIST, --function=REGEX"},
    {"script", "report flamegraph record",
     "yarnprof flamegraph FILE -o page.html, or export --to=folded FILE"},
    {"sched", "-i --summary -s --with-summary", NULL},
    {"sched", "timehist", "yarnprof script FILE, or sched FILE"},
    {"sched", "latency report", "yarnprof sched FILE"},
    {"sched", "map", "yarnprof sched --timeline FILE"},
    {"sched", "record", "yarnprof record --sched=tracepoints -- COMMAND"},
    {"sched", "script", "yarnprof script FILE"},
    {"sched", "replay stats", "yarnprof sched FILE, of record --sched=tracepoints -- COMMAND"},
    {"sched", "-w --wakeups -n --next", "sched --wakers"},
    {"sched", "-M --migrations --state", "sched --timeline"},
    {"sched", "-V --cpu-visual -C", "yarnprof flamegraph FILE -o page.html has lanes of cores"},
    {"sched", "--sort", "rows come by time; sched --format=csv is for sort"},
    {"diff", "-c --compute --delta --formula -F --period",
     "diff shows the change, its interval and the ratio"},
    {"diff", "-s --order", "diff --sort=self or total"},
    {"diff", "-b --baseline-only --stream", "diff --all has rows without a change, too"},
    {"diff", "--threshold", "diff --fail-on=PERCENT"},
    {"flamegraph", "-i", NULL},
    {"flamegraph", "--width --height --minwidth --fonttype",
     "the page is as wide as its window, and zooms"},
    {"flamegraph", "--colors --hash --palette --cp", "colours are of modules, or of what changed"},
    {"flamegraph", "--inverted --reverse", "the page turns it by the key i"},
    {"flamegraph", "--countname --subtitle --nametype", "flamegraph --title=TEXT"},
    {"flamegraph", "--svg",
     "yarnprof export --to=folded FILE -o x.folded, which flamegraph.pl reads"},
    {"flamegraph", "-F --freq --root --bin --example -e -g -a --pid -p -c",
     "it is recorded first: yarnprof record -- COMMAND"},
    {"export", "--format -f", "--to=FORMAT"},
    {"export", "--to-json --to-ctf --json --to=json", "--to=chrome, or report --format=json"},
    {"export", "--to=collapsed", "--to=folded"},
    {"export", "--to=flamegraph --to=html --to=svg", "yarnprof flamegraph FILE -o page.html"},
    {"export", "--to=jfr", "--to=pprof, or --to=firefox"},
    {"export", "--to=gecko", "--to=firefox"},
    {"export", "--to=perf", "--to=perf.data"},
    {"export", "--to=perfetto", "--to=chrome, or trace.dat"},
    {"export", "--to=ctf", "--to=trace.dat"},
    {"export", "--to=parquet", "--to=sqlite, which DuckDB reads"},
    {"export", "--to=csv", "report --format=csv, or --to=sqlite"},
    {"export", "--to=chrome-trace --to=cpuprofile", "--to=chrome"},
    {"export", "--to=gprof", "--to=callgrind"},
    {"export", "--to=proto", "--to=pprof"},
    {"info", "-i --header --header-only --stats", NULL},
    {"info", "--json -j", "info --format=json"},
    {"doctor", "--json -j", "doctor --format=json"},
    {"list", "--desc --no-desc --deprecated --debug --long-desc --details -l", NULL},
    {"list", "-e", "yarnprof list shows all events; yarnprof list 'STRING' what one becomes"},
    {"list", "--json -j", "list --format=json"},
    {"list", "--raw-dump --unit --cputype -a -E -g -t",
     "yarnprof list 'STRING' shows what one becomes; list --format=json"},
    {"stat", "-a",
     "stat counts a command with its threads and children; msr, power and uncore events of -e are "
     "of whole cpus"},
    {"stat", "--all-cpus", "stat counts a command; uncore events of -e are of whole cpus"},
    {"stat", "-p --pid -t --tid", of_pid},
    {"stat", "--per-thread", "record --counters=LIST -- COMMAND, and then stat --by=thread FILE"},
    {"stat", "-C --cpu -c", "stat -- taskset -c CORES COMMAND"},
    {"stat", "-g", "-M GROUP; -M list shows them"},
    {"stat", "-m", "libyarn counts regions of a program: #include <yarn/yarn.h>"},
    {"stat", "--append", "stat -o FILE, a file a run"},
    {"stat", "--topdown", "-M topdown, where the processor has it; -M list shows the groups"},
    {"stat", "-T", "-e cycles-t, tx-start and others, where the processor has them"},
    {"stat", "-i", "record --follow=none --counters=LIST -- COMMAND"},
    {"stat", "--no-big-num", "stat --format=csv has plain numbers"},
    {"stat", "--no-scale", "stat --format=json has what was counted, and the scaled value"},
    {"stat", "--field-separator -O", "stat --format=csv"},
    {"stat", "--json-output", "stat --format=json"},
    {"stat", "--metric-only", "stat -M GROUP --format=json has the metrics by themselves"},
    {"stat", "--table --stats", "stat -r N"},
    {"stat", "--timeout", "stat -- timeout TIME COMMAND"},
    {"stat",
     "-B --big-num --metric-no-group --no-merge --hybrid-merge --summary --no-csv-summary "
     "--interval-clear",
     NULL},
    {"stat", "--interval-print", "stat -I TIME"},
    {"stat", "--interval-count", "stat -I TIME -- timeout TIME COMMAND"},
    {"stat", "-D --delay", "record --delay=MS --counters=LIST -- COMMAND"},
    {"stat", "--log-fd", "stat -o FILE"},
    {"stat", "--pre --post", "stat -- sh -c 'BEFORE; COMMAND; AFTER'"},
    {"stat", "-n --null", "stat -e task-clock"},
    {"stat", "--detailed", "stat -d"},
    {"stat", "-S --sync", "sync; yarnprof stat -- COMMAND"},
    {"stat", "--group", "stat -e '{A,B}'"},
    {"stat", "-A --no-aggr --per-core --per-socket --per-die --per-node --per-cache --cputype",
     "counts are of threads; report --by=cpu shows the samples of each cpu"},
    {"stat", "-G --for-each-cgroup", "stat -- systemd-run --scope COMMAND"},
    {"stat", "--smi-cost --td-level --bpf-counters",
     "-M GROUP, where the processor has it; -M list shows the groups"},
    {"stat", "--control", "record --counters=LIST --control=SOCKET -- COMMAND"},
    {"stat", "-F", "it counts: record -F HZ samples"},
    {"stat", "-V", "yarnprof list, and doctor"},
    {ANY, "--quiet --verbose -v -q -f --force", NULL},
    {OF_FILES, "--json -j", "--format=json, of report, sched, diff, info, annotate and list"},
    {OF_FILES, "--csv -x", "--format=csv, of report, sched, diff and list"},
    {OF_FILES, "-c --comms -C", "--comm=LIST"},
    {OF_FILES, "-d --dsos --dso", "--module=LIST"},
    {OF_FILES, "-S --symbols --symbol-filter --focus --stop-bt", "--function=REGEX"},
    {OF_FILES, "--pid -p", "--process=LIST"},
    {OF_FILES, "--tid", "--thread=LIST"},
    {OF_FILES, "--cpu", "report --by=cpu, and flamegraph has lanes of cores"},
    {OF_FILES, "--max-stack", "stacks are whole"},
    {OF_FILES, "--demangle --ns --stdio --stdio2 --tui --inline", NULL},
    {OF_FILES, "--no-demangle", "names are always demangled"},
    {OF_FILES, "--header -D --dump-raw-trace", "yarnprof info FILE, or script"},
    {OF_FILES, "--input", of_file},
    {NULL, "top", "yarnprof record -p PID --duration=10s, then yarnprof report"},
    {NULL, "trace", "yarnprof record -e raw_syscalls:sys_enter -- COMMAND, then yarnprof script"},
    {NULL, "bench", "yarnprof stat -r N -- COMMAND"},
    {NULL, "probe", "yarnprof record -e uprobe:PATH:SYMBOL or kprobe:SYMBOL -- COMMAND"},
    {NULL, "mem c2c", "yarnprof record -e cpu/mem-loads/P -- COMMAND, then report --by=address"},
    {NULL, "lock", "yarnprof record -e cpu-clock,off-cpu -- COMMAND, then report --by=holder"},
    {NULL, "timechart", "yarnprof flamegraph FILE -o page.html has the time line"},
    {NULL, "buildid-list evlist", "yarnprof info FILE"},
    {NULL, "kmem", "yarnprof record -e 'kmem:*' -- COMMAND"},
    {NULL, "ftrace", "yarnprof record -e kprobe:FUNCTION -- COMMAND"},
    {NULL, "load", "yarnprof flamegraph FILE -o page.html, or export --to=firefox"},
    {NULL, "import", "yarnprof export --to=firefox, or flamegraph FILE"},
    {NULL, "dump", "yarnprof script FILE, or info FILE"},
    {NULL, "run", "yarnprof record -- COMMAND"},
    {NULL, "timehist", "yarnprof sched FILE"},
    {NULL, "events", "yarnprof list"},
    {NULL, "pin", "yarnprof stat -- taskset -c CORES COMMAND"},
    {NULL, "archive inject buildid-cache kallsyms",
     "nothing is needed beside the dump: names are in it"},
    {NULL, "daemon start stop status resume pause",
     "yarnprof record --control=SOCKET -- COMMAND, then ctl SOCKET start, stop or status"},
    {NULL, "config",
     "variables set the same: YARN_FREQUENCY=99, or YARN='frequency=99;interval=1s'"},
    {NULL, "iostat", "yarnprof record -e 'block:*' -- COMMAND"},
    {NULL, "kvm", "yarnprof record -e 'kvm:*' -- COMMAND"},
    {NULL, "kwork", "yarnprof sched FILE, of record --sched=tracepoints -- COMMAND"},
    {NULL, "topology topo test check features setup", "yarnprof doctor, or lscpu"},
    {NULL, "jfr collect -d -f -i --all",
     "yarnprof record -p PID --duration=TIME, then yarnprof report"},
    {NULL,
     "view web svg graph flame --web --http -http --text --top --svg --pdf --pprof -top -web -text "
     "-svg",
     "yarnprof report FILE, or flamegraph FILE -o page.html"},
    {NULL, "show text ps", "yarnprof report FILE"},
    {NULL, "peek tree", "yarnprof report --tree FILE, or --callers=FUNCTION"},
    {NULL, "disasm weblist source", "yarnprof annotate FUNCTION FILE"},
    {NULL, "convert data folded collapse speedscope pprof", "yarnprof export --to=FORMAT FILE"},
    {NULL, "compare", "yarnprof diff BEFORE AFTER"},
    {NULL, "attach -p --pid", "yarnprof record -p PID"},
    {NULL, "-e -F -a -o", "yarnprof record -e LIST -F HZ -o FILE -- COMMAND"},
    {NULL, "perfctr -g -C -c -m", "yarnprof stat -M GROUP -- COMMAND"},
    {NULL, "-v", "yarnprof --version"},
    {NULL, "--list-cmds", "yarnprof --help"},
};

/* The word may have a value: --cpu=3. */
static bool is_word(const char *typed, const char *word, size_t size)
{
    bool may_have_value = word[0] == '-' && size > 2;
    return strncmp(typed, word, size) == 0 &&
           (!typed[size] || (may_have_value && typed[size] == '='));
}

static bool is_one_of(const char *typed, const char *words)
{
    for (size_t size; *words; words += size + (words[size] == ' ')) {
        size = strcspn(words, " ");
        if (is_word(typed, words, size))
            return true;
    }
    return false;
}

static bool is_of_verb(const struct yarn_habit *habit, const char *verb)
{
    static const char *const without_files[] = {"record", "stat", "list", "doctor", "ctl"};
    if (!verb || !habit->verb)
        return !verb && !habit->verb;
    bool has_files = strcmp(habit->verb, OF_FILES) == 0;
    for (size_t i = 0; has_files && i < YARN_COUNT_OF(without_files); i++)
        has_files = strcmp(verb, without_files[i]) != 0;
    return has_files || strcmp(habit->verb, ANY) == 0 || strcmp(habit->verb, verb) == 0;
}

const struct yarn_habit *yarn_habit_find(const char *verb, const char *word)
{
    for (size_t i = 0; i < YARN_COUNT_OF(habits); i++)
        if (is_of_verb(&habits[i], verb) && is_one_of(word, habits[i].words))
            return &habits[i];
    return NULL;
}
