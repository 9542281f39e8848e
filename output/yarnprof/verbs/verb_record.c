/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "core/config/options.h"
#include "core/event/machine.h"
#include "core/event/parse.h"
#include "output/yarnprof/events/encode.h"
#include "output/yarnprof/events/hint.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/io/written.h"
#include "output/yarnprof/options/arguments.h"
#include "output/yarnprof/options/misspelt.h"
#include "output/yarnprof/outside/attach.h"
#include "output/yarnprof/outside/outside.h"
#include "output/yarnprof/verbs/hold.h"
#include "output/yarnprof/verbs/launch.h"
#include "output/yarnprof/verbs/one_file.h"
#include "output/yarnprof/verbs/outcome.h"
#include "output/yarnprof/verbs/record_names.h"
#include "output/yarnprof/verbs/verb.h"

enum {
    FIRST_OPTION = YARN_ARGUMENT_OWN, /* plus enum yarn_option */
    STACKS = FIRST_OPTION + YARN_OPTION_COUNT,
    OUTSIDE,
    INSIDE,
    WHOLE_CORES,
    PROCESSES,
    TREE,
    WAIT,
    REQUIRE_SAMPLES,
    PYTHON,
};

/* Why -g has no value here: users of perf type it without one. */
#define YARN_OPTION(id, name, letter, type, field, parse, default_text, value, help, right)        \
    {name, (letter) == 'g' ? 0 : (letter), value,                                                  \
     sizeof(default_text) > 1 ? help " (" default_text ")" : help, FIRST_OPTION + (id)},
static const struct yarn_argument arguments[] = {
    {NULL, 'g', NULL, "record stacks, which is the default", STACKS},
    {"call-graph", 0, "HOW", "the same as --callgraph", FIRST_OPTION + YARN_OPTION_CALLGRAPH},
#include "core/config/options.def"
    {"outside", 0, NULL,
     "record from a process of its own, with nothing in the command: also static programs",
     OUTSIDE},
    {"whole-cores", 0, NULL,
     "record with events of whole cores, from a process of its own; without COMMAND or -p all of "
     "the machine (needs CAP_PERFMON)",
     WHOLE_CORES},
    {"pid", 'p', "PID[,PID...]", "record processes that run already", PROCESSES},
    {"tree", 0, NULL, "with -p: all that descend from them, too", TREE},
    {"wait", 0, "command|tree", "with --outside: until the command has ended, or all of its tree",
     WAIT},
    {"inside", 0, NULL, "record by the preload, which is the default", INSIDE},
    {"python", 0, NULL, "of what --jit sets, Python's alone", PYTHON},
    {"require-samples", 0, NULL, "status 3 where nothing was sampled", REQUIRE_SAMPLES},
    {"help", 'h', NULL, "this text", YARN_ARGUMENT_HELP},
    {0},
};
#undef YARN_OPTION

static const char *const option_names[YARN_OPTION_COUNT] = {
#define YARN_OPTION(id, name, ...) [id] = (name),
#include "core/config/options.def"
#undef YARN_OPTION
};

struct request {
    struct yarn_arena arena;
    struct yarn_options options;
    bool has_run;                  /* it was named */
    bool is_outside;               /* recorded by this process, not by the preload */
    bool has_whole_cores;          /* --whole-cores */
    struct yarn_attach attach;     /* pids NULL: a command is recorded, or all of the machine */
    bool has_wait, waits_for_tree; /* --wait */
    bool needs_samples;
    bool has_read;   /* the environment; what is misspelt in it was reported */
    char fault[512]; /* of a variable; empty: none */
};

/* YARN_LOG_FILE for log-file. */
static void variable_of(enum yarn_option option, char *ret_name, size_t size)
{
    (void)snprintf(ret_name, size, "YARN_%s", option_names[option]);
    for (char *at = ret_name; *at; at++) {
        if (*at == '-')
            *at = '_';
        else if (*at >= 'a' && *at <= 'z')
            *at = (char)(*at - 'a' + 'A');
    }
}

/* *ret_encoded: the list in words that the preload knows, to be freed. */
static int check_events(struct request *request, const char *value, char **ret_encoded,
                        const char **ret_right)
{
    static struct yarn_event_list list;
    struct yarn_parse_error error;
    static char bytes[768];
    struct yarn_text text = yarn_text_of(bytes, sizeof bytes);
    int err = yarn_events_understand(value, &request->arena, &list, &error);
    if (!err) {
        *ret_encoded = yarn_encode_text(value, &list);
        return *ret_encoded ? 0 : -ENOMEM;
    }
    if (err != -EINVAL)
        return err;
    yarn_text_add_format(
        &text, "a comma-separated list of events such as cpu-clock,page-faults (at %lu: %s)",
        (unsigned long)error.at + 1, error.why);
    *ret_right = bytes;
    return err;
}

/* Why: each program of the command would take a relative path anew, in its own working folder.
 * *ret_pattern is to be freed. */
static int make_absolute(const char *pattern, char **ret_pattern, const char **ret_right)
{
    char folder[PATH_MAX], escaped[2 * PATH_MAX], *end = escaped;
    if (pattern[0] == '/')
        return 0;
    *ret_right = "a whole path, since the working folder has none";
    if (!getcwd(folder, sizeof folder))
        return -errno;
    for (const char *at = folder; *at; at++) {
        *end++ = *at;
        if (*at == '%') /* which begins a letter of the pattern */
            *end++ = '%';
    }
    *end = 0;
    const char *slash = folder[1] ? "/" : "";
    return asprintf(ret_pattern, "%s%s%s", escaped, slash, pattern) < 0 ? -ENOMEM : 0;
}

/* As perf has them: the highest rate that the kernel allows, and a comma before the bytes. */
static const char *form_of(enum yarn_option option, const char *value)
{
    static char own[64];
    char most[32];
    const char *comma = strchr(value, ',');
    if (option == YARN_OPTION_FREQUENCY && strcmp(value, "max") == 0) {
        bool is_known =
            yarn_machine_read("/proc/sys/kernel/perf_event_max_sample_rate", most, sizeof most) > 0;
        (void)snprintf(own, sizeof own, "%.*s", (int)strcspn(most, "\n"),
                       is_known ? most : "100000");
        return strtoul(own, NULL, 10) > 100000 ? "100000" : own;
    }
    if (option != YARN_OPTION_CALLGRAPH || !comma || strlen(value) >= sizeof own)
        return value;
    (void)snprintf(own, sizeof own, "%.*s:%s", (int)(comma - value), value, comma + 1);
    return own;
}

static int take_wait(struct request *request, const char *value, const char **ret_right)
{
    request->has_wait = true;
    request->waits_for_tree = strcmp(value, "tree") == 0;
    *ret_right = "command or tree";
    return request->waits_for_tree || strcmp(value, "command") == 0 ? 0 : -EINVAL;
}

static int take(void *self, int id, const char *value, const char **ret_right)
{
    struct request *request = self;
    struct yarn_option_fault fault = {.right = "another value"};
    char variable[64], *encoded = NULL;
    if (id == OUTSIDE || id == INSIDE)
        request->is_outside = id == OUTSIDE;
    if (id == WHOLE_CORES) {
        request->has_whole_cores = request->is_outside = true;
        return yarn_launch_set("YARN_STRATEGY", "cores");
    }
    if (id == PROCESSES)
        request->attach.pids = value;
    request->attach.has_tree |= id == TREE;
    if (id == WAIT)
        return take_wait(request, value, ret_right);
    if (id == PYTHON)
        return yarn_jit_set("Python");
    request->needs_samples |= id == REQUIRE_SAMPLES;
    if (id >= STACKS)
        return 0;
    enum yarn_option option = (enum yarn_option)(id - FIRST_OPTION);
    if (option == YARN_OPTION_JIT)
        return yarn_jit_set(NULL);
    value = form_of(option, value);
    int err = yarn_options_set(&request->options, &request->arena, option, value, &fault);
    *ret_right = fault.right;
    if (!err && option == YARN_OPTION_EVENTS)
        err = check_events(request, value, &encoded, ret_right);
    if (err)
        return err;
    if (option == YARN_OPTION_OUTPUT)
        err = make_absolute(value, &encoded, ret_right);
    request->has_run |= option == YARN_OPTION_RUN;
    variable_of(option, variable, sizeof variable);
    if (!err)
        err = yarn_launch_set(variable, encoded ? encoded : value);
    free(encoded);
    return err;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * YARN_NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

/* What this command starts is one run, also inside of another. */
static int name_run(const struct request *request, uint64_t since_ns)
{
    char name[64];
    (void)snprintf(name, sizeof name, "%jd.%ju", (intmax_t)getpid(), (uintmax_t)since_ns);
    return request->has_run ? 0 : yarn_launch_set("YARN_RUN", name);
}

/* What the options, the variables and the compact variable ask for. False where one is bad, which
 * is the preload's to refuse. */
static bool read_environment(struct request *request)
{
    struct yarn_option_fault fault;
    struct yarn_text text = yarn_text_of(request->fault, sizeof request->fault);
    extern char **environ;
    int err = yarn_options_from_env(&request->options, &request->arena, environ, &fault);
    if (err == -EINVAL)
        yarn_option_fault_describe(&fault, &text);
    bool is_first = !request->has_read;
    request->has_read = true;
    for (size_t i = 0; !err && is_first && i < request->options.nr_warnings; i++)
        yarn_misspelt_tell("record", yarn_span_of_text(request->options.warnings[i]));
    return !err;
}

/* The tracepoints and probes that the options name, once those are removed that dead processes have
 * left; a bad list is the preload's to refuse. -1: it may begin. */
static int hold_events(struct request *request, struct yarn_hold *hold)
{
    static struct yarn_event_list list;
    struct yarn_parse_error error;
    const struct yarn_event_spec *refused;
    const char *events = request->options.events;
    (void)yarn_tracefs_sweep(YARN_TRACEFS);
    if (events == yarn_option_row(YARN_OPTION_EVENTS)->default_text ||
        yarn_event_list_parse(events, strlen(events), &request->arena, &list, &error))
        return -1;
    if (yarn_hold_open(hold, &list, &request->arena, &refused)) {
        yarn_complain("record", "%s: %s", refused->asked, refused->refusal);
        return YARN_STATUS_FAILED;
    }
    char *encoded = yarn_encode_text(events, &list);
    int err = encoded ? yarn_launch_set("YARN_EVENTS", encoded) : -ENOMEM;
    free(encoded);
    if (err)
        yarn_hold_close(hold);
    return err ? YARN_STATUS_FAILED : -1;
}

/* `own`: those that this process has written; NULL: others have. */
static void name_written(const struct yarn_written_folder *folder, uint64_t since_ns,
                         const struct yarn_own_dumps *own)
{
    struct yarn_sources sources;
    if (own && !getenv("YARN_JIT"))
        yarn_written_nameless(own, &sources);
    else
        yarn_written_find(folder, since_ns, &sources);
    yarn_name_dumps(&sources);
    if (getenv("YARN_JIT"))
        yarn_jit_clean_up(&sources, since_ns);
    yarn_sources_fini(&sources);
}

/* What was recorded, or why nothing was. The status: `status`, or that nothing was sampled. */
static int report_outcome(struct request *request, const struct yarn_unrecorded *unrecorded,
                          uint64_t since_ns, const struct yarn_own_dumps *own, int status)
{
    struct yarn_written_folder folder = {.path = ""};
    struct yarn_written written = {.nr_dumps = 0};
    const char *run = getenv("YARN_RUN");
    if (!request->fault[0]) {
        yarn_written_folder(request->options.output, &folder);
        name_written(&folder, since_ns, own);
        written = own ? yarn_written_know(own, &folder, run ? run : "")
                      : yarn_written_read(&folder, since_ns, run ? run : "");
    }
    struct yarn_outcome outcome = {
        .unrecorded = *unrecorded,
        .fault = request->fault[0] ? request->fault + strlen("yarn: ") : NULL,
    };
    outcome.unrecorded.options = &request->options;
    outcome.unrecorded.folder = folder.path;
    if (written.nr_dumps || !unrecorded->is_told)
        yarn_outcome_report(&outcome, &written);
    bool is_missing = request->needs_samples && !written.samples && !written.is_unread;
    return is_missing ? YARN_STATUS_UNMET : status;
}

/* By a process of its own: of a command, or (NULL) of processes that run already. */
static int run_outside(struct request *request, char *const argv[])
{
    uint64_t since_ns = now_ns();
    struct yarn_one_file file = {.path = ""};
    struct yarn_written_folder folder;
    struct yarn_outside outside = {.argv = argv, .waits_for_tree = request->waits_for_tree};
    struct yarn_unrecorded unrecorded = {.is_outside = true};
    int err = name_run(request, since_ns);
    if (!err && read_environment(request))
        err = yarn_one_file_begin(&file, request->options.output);
    if (err) {
        yarn_complain("record", "%s: %s", request->options.output, strerror(-err));
        return YARN_STATUS_FAILED;
    }
    int status = argv ? yarn_outside_run(&outside) : yarn_attach_run(&request->attach);
    struct yarn_own_dumps own = argv ? outside.dumps : request->attach.dumps;
    bool has_recorded = argv ? outside.life_ns : request->attach.has_recorded;
    bool is_one_file = file.path[0];
    if (is_one_file && has_recorded) {
        yarn_written_folder(file.folder, &folder);
        name_written(&folder, since_ns, &own);
    }
    int failure = yarn_one_file_end(&file);
    bool has_outcome = has_recorded && !failure && read_environment(request);
    unrecorded.life_ns = outside.life_ns;
    unrecorded.is_told = argv ? outside.has_failed : request->attach.has_failed;
    if (has_outcome)
        status = report_outcome(request, &unrecorded, since_ns, is_one_file ? NULL : &own, status);
    else if (failure && !argv) /* a command's status is its own */
        status = failure;
    yarn_own_dumps_fini(&own);
    return status;
}

static int run_inside(struct request *request, char *const argv[])
{
    struct yarn_launch launch = {.life_ns = 0};
    char why[4096 + 512];
    if (yarn_launch_find(&launch, why, sizeof why)) {
        yarn_complain("record", "libyarn_preload.so is missing: %s", why);
        return YARN_STATUS_FAILED;
    }
    uint64_t since_ns = now_ns();
    struct yarn_hold hold = {.count = 0};
    bool is_valid = read_environment(request);
    int status = is_valid ? hold_events(request, &hold) : -1;
    if (status < 0 && name_run(request, since_ns))
        status = YARN_STATUS_FAILED;
    if (status >= 0)
        return status;
    if (is_valid && request->options.sched.kind >= YARN_SCHED_TRACEPOINTS)
        yarn_hold_scheduling(&hold, &request->arena);
    status = yarn_launch_run(&launch, argv);
    yarn_hold_close(&hold);
    struct yarn_unrecorded unrecorded = {
        .command = argv[0], .cpu_ns = launch.cpu_ns, .life_ns = launch.life_ns};
    return launch.life_ns ? report_outcome(request, &unrecorded, since_ns, NULL, status) : status;
}

static int run(void *self, char **operands)
{
    struct request *request = self;
    const char *why = NULL;
    if (request->attach.pids && operands[0])
        why = "-p and a command exclude each other: -p PID --duration=TIME";
    else if (request->attach.has_tree && !request->attach.pids)
        why = "--tree is of processes that run already: -p PID names them";
    else if (request->has_wait && (request->attach.pids || !request->is_outside))
        why = "--wait is of a command that is recorded with --outside";
    else if (request->has_whole_cores && !request->is_outside)
        why = "--whole-cores is of a recording from outside, and --inside follows it";
    else if (!request->attach.pids && !operands[0] && !request->has_whole_cores)
        why = "no command is named: yarnprof record -- COMMAND, or -p PID; see "
              "yarnprof record --help";
    if (why) {
        yarn_complain("record", "%s", why);
        return YARN_STATUS_USAGE;
    }
    return request->attach.pids || request->is_outside
               ? run_outside(request, operands[0] ? operands : NULL)
               : run_inside(request, operands);
}

static void begin(void *self)
{
    struct request *request = self;
    yarn_arena_open(&request->arena, 4 * YARN_OPTIONS_ARENA_BYTES);
    yarn_options_default(&request->options);
}

static void fini(void *self)
{
    yarn_arena_close(&((struct request *)self)->arena);
}

const struct yarn_command yarn_verb_record = {
    .verb = "record",
    .operands = "[--] COMMAND...",
    .about = "Runs the command with the profiler in it and gives the command's own exit status. "
             "Each option\nis a variable of the environment as well: --log-file is YARN_LOG_FILE.",
    .arguments = arguments,
    .stops_at_operand = true,
    .take = take,
    .request_bytes = sizeof(struct request),
    .begin = begin,
    .run = run,
    .fini = fini,
};
