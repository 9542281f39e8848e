/* SPDX-License-Identifier: Apache-2.0 */
#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

#include "core/event/nearest.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/options/habits.h"
#include "output/yarnprof/verbs/verb.h"

enum { MAPPED_BYTES_MIN = 256 << 10 };

static const struct verb {
    const char *name;
    const char *about; /* a phrase for the list of verbs */
    const struct yarn_command *command;
} verbs[] = {
    {"record", "run a command under the profiler", &yarn_verb_record},
    {"doctor", "what would be recorded here, and what would mend it", &yarn_verb_doctor},
    {"list", "events that are to be had here, or what a string becomes", &yarn_verb_list},
    {"stat", "count events of a command, and metrics made of them", &yarn_verb_stat},
    {"ctl", "start, stop, mark or ask a process that is being recorded", &yarn_verb_ctl},
    {"report", "functions, threads, modules and more by their share", &yarn_verb_report},
    {"annotate", "source lines and instructions of a function by their share", &yarn_verb_annotate},
    {"sched", "how long threads ran, waited for a core and were blocked", &yarn_verb_sched},
    {"script", "every record as text, in the layout of perf script", &yarn_verb_script},
    {"export", "dumps in another tool's format", &yarn_verb_export},
    {"push", "to a server: Pyroscope, Parca, OpenTelemetry", &yarn_verb_push},
    {"diff", "what changed by function, and what is only noise", &yarn_verb_diff},
    {"flamegraph", "one page that works offline: flame graph, timeline, functions",
     &yarn_verb_flamegraph},
    {"merge", "one dump of many", &yarn_verb_merge},
    {"info", "what was recorded, how, and how far to trust it", &yarn_verb_info},
    {"verify", "whether dumps are whole", &yarn_verb_verify},
};

static void print_help(FILE *file)
{
    (void)fputs("usage: yarnprof VERB [OPTIONS] [FILE...]\n\nVerbs:\n", file);
    for (size_t i = 0; i < YARN_COUNT_OF(verbs); i++)
        (void)fprintf(file, "  %-12s%s\n", verbs[i].name, verbs[i].about);
    (void)fputs("\nyarnprof VERB --help lists the options of a verb. A FILE is a dump or a "
                "folder\nof dumps; several are one profile. Every verb takes --memory=SIZE, the "
                "most\nmemory for what it reads (1G).\n",
                file);
}

/* For the scripts in completion/. */
static int print_words(void)
{
    for (size_t i = 0; i < YARN_COUNT_OF(verbs); i++)
        (void)printf("%s\t%s\n", verbs[i].name, verbs[i].about);
    return YARN_STATUS_OK;
}

static int print_version(void)
{
    (void)printf("yarnprof %s\n", YARN_VERSION);
    return YARN_STATUS_OK;
}

static const struct verb *find(const char *name)
{
    for (size_t i = 0; i < YARN_COUNT_OF(verbs); i++)
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    return NULL;
}

static int complain(const char *name)
{
    const struct yarn_habit *habit = yarn_habit_find(NULL, name);
    struct yarn_nearest nearest = yarn_nearest_of(yarn_span_of_text(name));
    for (size_t i = 0; i < YARN_COUNT_OF(verbs); i++)
        yarn_nearest_offer(&nearest, verbs[i].name);
    for (size_t i = 0; !nearest.name[0] && i < YARN_COUNT_OF(verbs); i++)
        if (strncmp(verbs[i].name, name, strlen(name)) == 0)
            (void)snprintf(nearest.name, sizeof nearest.name, "%s", verbs[i].name);
    if (habit)
        yarn_complain(NULL, "there is no verb %s: %s", name, habit->way);
    else if (access(name, R_OK) == 0 && access(name, X_OK) != 0)
        yarn_complain(NULL, "there is no verb %s: yarnprof report %s", name, name);
    else if (nearest.name[0])
        yarn_complain(NULL, "there is no verb %s; %s? see yarnprof --help", name, nearest.name);
    else
        yarn_complain(NULL,
                      "there is no verb %s; see yarnprof --help: yarnprof record -- COMMAND "
                      "runs a program",
                      name);
    return YARN_STATUS_USAGE;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return YARN_STATUS_USAGE;
    }
    /* A large block is mapped by itself: it grows without a copy, and goes when it is freed. */
    (void)mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES_MIN);
    const char *name = argv[1];
    bool is_help = strcmp(name, "help") == 0;
    if (is_help && argc > 2) {
        char *words[] = {argv[2], "--help", NULL};
        const struct verb *verb = find(argv[2]);
        return verb ? yarn_command_run(verb->command, 2, words) : complain(argv[2]);
    }
    if (is_help || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        print_help(stdout);
        return YARN_STATUS_OK;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0 || strcmp(name, "-V") == 0)
        return print_version();
    if (strcmp(name, "--complete") == 0)
        return print_words();
    const struct verb *verb = find(name);
    return verb ? yarn_command_run(verb->command, argc - 1, argv + 1) : complain(name);
}
