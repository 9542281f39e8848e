/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/verbs/outcome.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/glob.h"
#include "core/event/parse.h"
#include "output/text/legible.h"
#include "output/yarnprof/events/usable.h"
#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/verbs/loadable.h"

enum { TRIED_BYTES = 4096, PROCESSES_A_SECOND = 50, PROCESSES_FEW = 25, MISSING_PART = 10 };

#define LONG_NS (UINT64_C(50) * YARN_NS_PER_MS)

static int try_to_write(const char *folder)
{
    static const char bytes[TRIED_BYTES];
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    int err = fd < 0 ? -errno : 0;
    /* Why on: where only a part of it fits, the kernel does not say why. */
    for (ssize_t done = 0, size = 0; !err && done < (ssize_t)sizeof bytes; done += size) {
        size = write(fd, bytes, sizeof bytes - (size_t)done);
        err = size < 0 ? -errno : size ? 0 : -ENOSPC;
    }
    if (fd >= 0)
        (void)close(fd);
    (void)signal(SIGXFSZ, before);
    /* Why asked: file systems without such files. */
    if (err == -EOPNOTSUPP || err == -EISDIR)
        err = access(folder, W_OK | X_OK) ? -errno : 0;
    return err;
}

int yarn_unrecorded_try_to_write(const char *folder)
{
    char path[PATH_MAX];
    int err = try_to_write(folder);
    (void)snprintf(path, sizeof path, "%s", folder);
    /* Folders are made when needed, in the first one that there is. */
    while (err == -ENOENT && strcmp(path, ".") != 0) {
        size_t size = strlen(path);
        while (size > 1 && path[size - 1] == '/')
            size--;
        while (size && path[size - 1] != '/')
            size--;
        (void)strcpy(path + size, size ? "" : ".");
        err = try_to_write(path);
    }
    return err;
}

bool yarn_unrecorded_is_of(const char *comm, const char *command)
{
    char path[PATH_MAX];
    if (yarn_glob_list_matches(comm, yarn_path_base(command)))
        return true;
    if (!yarn_loadable_program(command, path))
        return false;
    char *file = realpath(path, NULL);
    bool is_of = file && yarn_glob_list_matches(comm, yarn_path_base(file));
    free(file);
    return is_of;
}

/* How long it lived is not known (0) of what ran already. */
static bool is_not_begun(const struct yarn_unrecorded *unrecorded, struct yarn_text *why)
{
    const struct yarn_options *options = unrecorded->options;
    if (options->start == YARN_START_OFF)
        yarn_text_add(why, "--start=off, and nothing started it: yarnprof ctl SOCKET start does, "
                           "with --control=SOCKET");
    else if (unrecorded->life_ns && options->delay_ns > unrecorded->life_ns)
        yarn_text_add_format(why, "it ended before --delay=%s was over",
                             options->texts[YARN_OPTION_DELAY]);
    else
        return false;
    return true;
}

static bool is_not_asked_for(const struct yarn_unrecorded *unrecorded, struct yarn_text *why)
{
    const char *comm = unrecorded->options->comm;
    if (yarn_unrecorded_is_of(comm, unrecorded->command))
        return false;
    yarn_text_add_format(why,
                         "--comm=%s met no program with a sample; it takes patterns of "
                         "executables' names, here such as %s",
                         comm, yarn_path_base(unrecorded->command));
    return true;
}

/* A list of which timers may take the place of a clock is never refused. */
static bool is_replaced(const struct yarn_event_list *list, enum yarn_sampler sampler)
{
    bool has_clock = !list->count;
    for (size_t i = 0; i < list->count; i++)
        has_clock |= list->specs[i].is_clock;
    return has_clock && sampler != YARN_SAMPLER_PERF;
}

static bool is_refused(const struct yarn_options *options, struct yarn_text *why)
{
    static struct yarn_event_list list;
    struct yarn_arena arena;
    struct yarn_parse_error error;
    struct yarn_usable usable = {.is_usable = true};
    const char *events = strcmp(options->events, "auto") == 0 ? "cpu-clock" : options->events;
    size_t i = 0;
    yarn_arena_open(&arena, YARN_MIB(1));
    if (!yarn_event_list_parse(events, strlen(events), &arena, &list, &error) &&
        !is_replaced(&list, options->sampler)) {
        for (usable.is_usable = false; i < list.count && !usable.is_usable; i++) {
            yarn_event_spec_apply_rate(&list.specs[i], options->frequency_hz);
            yarn_usable_ask(&list.specs[i], &usable);
        }
        bool is_clock = list.count && list.specs[0].is_clock;
        if (!usable.is_usable)
            yarn_text_add_format(why, "%s: %s%s", list.specs[0].name, usable.why,
                                 is_clock ? "; --sampler=auto takes timers there"
                                          : "; -e cpu-clock is to be had everywhere");
    }
    yarn_arena_close(&arena);
    return !usable.is_usable;
}

/* Enough of it for a sample, by chance too. */
static uint64_t long_ns(const struct yarn_options *options)
{
    return yarn_u64_max(LONG_NS, 3 * YARN_NS_PER_SECOND / yarn_u64_max(options->frequency_hz, 1));
}

static void say_too_little(const struct yarn_unrecorded *unrecorded, struct yarn_text *why)
{
    const struct yarn_options *options = unrecorded->options;
    const char *clock = yarn_number_duration(unrecorded->cpu_ns).text;
    bool is_off_cpu = strncmp(options->events, "off-cpu", strlen("off-cpu")) == 0 &&
                      !strchr(options->events, ',');
    if (is_off_cpu) {
        yarn_text_add(why, "no thread was blocked when it was looked at; -e cpu-clock,off-cpu "
                           "samples what runs, too");
        return;
    }
    yarn_text_add_format(why, "nothing was sampled in %s of CPU time", clock);
    if (unrecorded->cpu_ns <= long_ns(options))
        yarn_text_add(why, ", too little for a sample; -F 20000 takes them more often");
    else if (options->follow != (YARN_FOLLOW_FORK | YARN_FOLLOW_EXEC))
        yarn_text_add_format(why, "; --follow=%s leaves alone what the command starts besides",
                             options->texts[YARN_OPTION_FOLLOW]);
    else
        yarn_text_add_format(
            why,
            "; if no line above says why, what ran is statically linked or privileged, or clears "
            "LD_PRELOAD%s; yarnprof doctor -- COMMAND looks at a program",
            unrecorded->folder[0] == '/' ? "" : ", or has another working folder (see -o)");
}

static void say_why_unrecorded(const struct yarn_unrecorded *unrecorded, struct yarn_text *ret_why)
{
    int err = yarn_unrecorded_try_to_write(unrecorded->folder);
    bool is_inside = !unrecorded->is_outside;
    if (is_inside && !yarn_loadable_is(unrecorded->command, ret_why))
        return;
    if (is_not_begun(unrecorded, ret_why) || (is_inside && is_not_asked_for(unrecorded, ret_why)))
        return;
    if (!err && is_refused(unrecorded->options, ret_why))
        return;
    if (err)
        yarn_text_add_format(ret_why, "nothing can be written there: %s; -o FOLDER/ takes another",
                             strerror(-err));
    else if (is_inside)
        say_too_little(unrecorded, ret_why);
    else
        yarn_text_add(ret_why, "no process had a sample; -F 20000 takes them more often");
}

static void say_nothing(const struct yarn_outcome *outcome, struct yarn_text *line)
{
    const struct yarn_unrecorded *unrecorded = &outcome->unrecorded;
    if (outcome->fault) {
        yarn_text_add_format(line, "nothing was recorded: %s", outcome->fault);
        return;
    }
    yarn_text_add_format(line, "nothing was recorded in %s: ", unrecorded->folder);
    say_why_unrecorded(unrecorded, line);
}

/* Where one waits for samples, a dump without any is as bad as none. */
static void say_why(const struct yarn_outcome *outcome, const struct yarn_written *written,
                    struct yarn_text *line)
{
    const struct yarn_options *options = outcome->unrecorded.options;
    bool wants_samples = !options->counters[0] && options->sched.kind <= YARN_SCHED_SWITCH;
    if (written->fault[0])
        yarn_text_add_format(line, ": %s", written->fault);
    else if (!written->samples && wants_samples) {
        yarn_text_add(line, ": ");
        say_why_unrecorded(&outcome->unrecorded, line);
    }
}

/* Each process of such a tree pays for a recording of its own. */
static void say_what_costs_less(const struct yarn_unrecorded *unrecorded, uint64_t nr_processes,
                                struct yarn_text *line)
{
    uint64_t most =
        unrecorded->life_ns / YARN_NS_PER_SECOND * PROCESSES_A_SECOND +
        unrecorded->life_ns % YARN_NS_PER_SECOND * PROCESSES_A_SECOND / YARN_NS_PER_SECOND;
    if (unrecorded->is_outside || !unrecorded->life_ns ||
        nr_processes <= yarn_u64_max(most, PROCESSES_FEW))
        return;
    yarn_text_add_format(line, "; %s processes in ", yarn_number_grouped(nr_processes).text);
    yarn_text_add_format(line, "%s: record --outside costs such a tree less",
                         yarn_number_duration(unrecorded->life_ns).text);
}

/* Of a tree of which all was asked for. */
static void say_what_is_missing(const struct yarn_unrecorded *unrecorded, uint64_t recorded_ns,
                                struct yarn_text *line)
{
    const struct yarn_options *options = unrecorded->options;
    uint64_t missing_ns = yarn_u64_minus(unrecorded->cpu_ns, recorded_ns);
    bool is_all =
        strcmp(options->comm, "*") == 0 && options->follow == (YARN_FOLLOW_FORK | YARN_FOLLOW_EXEC);
    if (!is_all || missing_ns < LONG_NS || missing_ns < unrecorded->cpu_ns / MISSING_PART)
        return;
    yarn_text_add_format(line, "; %s of ", yarn_number_duration(missing_ns).text);
    yarn_text_add_format(line,
                         "%s of CPU time in no dump (static, privileged or short programs; record "
                         "--outside has them)",
                         yarn_number_duration(unrecorded->cpu_ns).text);
}

static void say_written(const struct yarn_outcome *outcome, const struct yarn_written *written,
                        struct yarn_text *line)
{
    bool has_samples = written->samples || written->is_unread;
    yarn_text_add_format(line, "%s in ", yarn_number_of_things(written->samples, "sample").text);
    yarn_text_add_format(line, "%s, %s", yarn_number_of_things(written->nr_dumps, "dump").text,
                         yarn_number_bytes(written->bytes).text);
    if (written->lost)
        yarn_text_add_format(line, "; %s more %s lost", yarn_number_grouped(written->lost).text,
                             written->lost == 1 ? "was" : "were");
    if (written->nr_failed)
        yarn_text_add_format(line, "; %lu ended early", (unsigned long)written->nr_failed);
    say_why(outcome, written, line);
    if (written->events[0])
        yarn_text_add_format(line, "; %s", written->events);
    say_what_is_missing(&outcome->unrecorded, written->cpu_ns, line);
    say_what_costs_less(&outcome->unrecorded, written->nr_processes, line);
    yarn_text_add_format(line, "; see: yarnprof %s%s%s", has_samples ? "report" : "info",
                         written->path[0] ? " " : "", written->path);
}

void yarn_outcome_report(const struct yarn_outcome *outcome, const struct yarn_written *written)
{
    char bytes[4 * 4096];
    struct yarn_legible legible;
    struct yarn_text line = yarn_text_of(bytes, sizeof bytes);
    if (written->is_unread)
        yarn_text_add_format(&line, "%s, not to be read back; see: yarnprof verify%s%s",
                             yarn_number_of_things(written->nr_dumps, "dump").text,
                             written->path[0] ? " " : "", written->path);
    else if (written->nr_dumps)
        say_written(outcome, written, &line);
    else
        say_nothing(outcome, &line);
    (void)fprintf(stderr, "[yarn: %s]\n", yarn_legible(&legible, bytes));
    yarn_legible_fini(&legible);
}
