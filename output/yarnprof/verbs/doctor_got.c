/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/event/machine.h"
#include "output/analysis/profile/event_status.h"
#include "output/analysis/time/kernel_time.h"
#include "output/yarnprof/events/usable.h"
#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/verbs/doctor_looks.h"

#define RATE_LEAST 0.75 /* of what was asked for; the trial is short */

/* Kept spans have a NUL behind them. */
static const char *text_of(struct yarn_span span)
{
    return span.size ? (const char *)span.data : "";
}

static bool is_timer(const struct yarn_profile_dump *dump)
{
    return yarn_span_equal(dump->sampler.got, yarn_span_of_text("timer"));
}

static int number_in(const char *path, int unknown)
{
    char text[32];
    return yarn_machine_read(path, text, sizeof text) > 0 ? atoi(text) : unknown;
}

/* Of whom perf_event_open is kept by what is no sysctl: the filter of a container. */
static const char *mend_of_perf(void)
{
    return number_in("/proc/sys/kernel/perf_event_paranoid", 3) <= 2
               ? "a filter refuses perf_event_open: docker run --cap-add=PERFMON --security-opt "
                 "seccomp=unconfined lets it through"
               : "sysctl kernel.perf_event_paranoid=2 or CAP_PERFMON permits it";
}

/* What mends what a sentence of the preload is about; NULL: none of these. */
static const char *mend_of(const char *sentence)
{
    static const struct {
        const char *words, *mend;
    } mends[] = {
        {"no thread could be made", YARN_DOCTOR_MORE_TASKS},
        {"(ulimit -v", "ulimit -v unlimited"},
        {"(ulimit -f)", "ulimit -f unlimited"},
        {"(ulimit -n)", "ulimit -n 256"},
        {"locked memory", "ulimit -l unlimited (memlock in limits.conf), or sysctl "
                          "kernel.perf_event_mlock_kb=8192"},
        {"clocks of whole cores", "sysctl kernel.perf_event_paranoid=0, or CAP_PERFMON"},
    };
    for (size_t i = 0; i < YARN_COUNT_OF(mends); i++)
        if (strstr(sentence, mends[i].words))
            return mends[i].mend;
    return NULL;
}

static void look_at_sampler(struct yarn_findings *findings, const struct yarn_profile_dump *dump)
{
    const struct yarn_dump_sampler *sampler = &dump->sampler;
    bool is_asked = yarn_span_equal(sampler->asked, sampler->got);
    if (!is_timer(dump)) {
        yarn_findings_add(findings, YARN_FINDING_GOOD, "sampler", "%s, %s", text_of(sampler->got),
                          text_of(sampler->strategy));
        return;
    }
    yarn_findings_add(findings, YARN_FINDING_LIMIT, "sampler",
                      "timer: one sample a tick at most, clocks alone%s%.900s",
                      sampler->reason.size ? "; " : "", text_of(sampler->reason));
    const char *mend = mend_of(text_of(sampler->reason));
    yarn_findings_mend(findings, "%s",
                       is_asked ? "YARN_SAMPLER=auto takes perf where that is permitted"
                       : mend   ? mend
                                : mend_of_perf());
}

static bool has_kernel_names(void)
{
    char line[64] = "";
    FILE *file = fopen("/proc/kallsyms", "re");
    bool has_line = file && fgets(line, sizeof line, file);
    if (file)
        (void)fclose(file);
    return has_line && strtoull(line, NULL, 16) != 0;
}

static void look_at_kernel(struct yarn_findings *findings, const struct yarn_profile *profile,
                           const struct yarn_profile_dump *dump)
{
    if (is_timer(dump) || yarn_kernel_is_refused(profile)) {
        yarn_findings_add(findings, YARN_FINDING_LIMIT, "kernel",
                          "its part is not sampled: its time is a row [kernel]%s",
                          is_timer(dump) ? ", or the calls'" : "");
        yarn_findings_mend(findings, "sysctl kernel.perf_event_paranoid=1 or CAP_PERFMON permits "
                                     "it");
        return;
    }
    if (has_kernel_names()) {
        yarn_findings_add(findings, YARN_FINDING_GOOD, "kernel", "%s", yarn_kernel_word(dump));
        return;
    }
    yarn_findings_add(findings, YARN_FINDING_LIMIT, "kernel", "%s, but its functions have no names",
                      yarn_kernel_word(dump));
    yarn_findings_mend(findings, "sysctl kernel.kptr_restrict=0 shows them in /proc/kallsyms");
}

static void look_at_rings(struct yarn_findings *findings, const struct yarn_profile_dump *dump)
{
    const struct yarn_dump_sampler *sampler = &dump->sampler;
    if (is_timer(dump))
        return;
    const char *reason = text_of(sampler->reason);
    bool is_about_memory = strstr(reason, "memory"), has_reason = reason[0] && is_about_memory;
    bool is_small = has_reason || sampler->stack_got_bytes < sampler->stack_asked_bytes ||
                    sampler->ring_got_bytes < sampler->ring_asked_bytes;
    char ring[64];
    (void)snprintf(ring, sizeof ring, "%s", yarn_number_bytes(sampler->ring_got_bytes).text);
    yarn_findings_add(findings, is_small ? YARN_FINDING_LIMIT : YARN_FINDING_GOOD, "ring memory",
                      "%u of %s, stack copies of %s%s%.900s", sampler->nr_rings, ring,
                      yarn_number_bytes(sampler->stack_got_bytes).text, has_reason ? "; " : "",
                      has_reason ? reason : "");
    if (is_small)
        yarn_findings_mend(findings, "%s", mend_of("locked memory"));
    if (!reason[0] || is_about_memory)
        return;
    bool is_refused = strstr(reason, "refused") != NULL;
    yarn_findings_add(findings, is_refused ? YARN_FINDING_LIMIT : YARN_FINDING_GOOD, "strategy",
                      "%.1400s", reason);
    if (is_refused && mend_of(reason))
        yarn_findings_mend(findings, "%s", mend_of(reason));
}

/* Samples a second that an event asks for; 0: a list that is at fault. */
static double rate_of(const char *asked, const struct yarn_options *options)
{
    static struct yarn_event_list list;
    struct yarn_arena arena;
    struct yarn_parse_error error;
    double rate = 0;
    yarn_arena_open(&arena, YARN_MIB(1));
    if (!yarn_event_list_parse(asked, strlen(asked), &arena, &list, &error) && list.count) {
        struct yarn_event_spec *spec = &list.specs[0];
        yarn_event_spec_apply_rate(spec, options->frequency_hz);
        rate = spec->period ? 1e9 / (double)spec->period : (double)spec->frequency;
    }
    yarn_arena_close(&arena);
    return rate;
}

static void look_at_rate(struct yarn_findings *findings, const struct yarn_options *options,
                         const struct yarn_profile_dump *dump)
{
    const struct yarn_profile_dump_event *event = dump->nr_events ? &dump->events[0] : NULL;
    int most = number_in("/proc/sys/kernel/perf_event_max_sample_rate", 0);
    if (!event || !yarn_span_equal(event->record.unit, yarn_span_of_text("ns")) ||
        !dump->trust.cpu_ns || !event->samples)
        return;
    double asked = rate_of(text_of(event->record.asked), options);
    double got = (double)event->samples * 1e9 / (double)dump->trust.cpu_ns;
    bool is_less = got < RATE_LEAST * asked;
    yarn_findings_add(findings, is_less ? YARN_FINDING_LIMIT : YARN_FINDING_GOOD, "clock rate",
                      "%.0f of %.0f samples a second of CPU time", got, asked);
    if (is_less && is_timer(dump))
        yarn_findings_mend(findings, "the kernel's tick is the most that timers give: perf samples "
                                     "as often as asked for");
    else if (is_less && most && asked > most)
        yarn_findings_mend(findings, "sysctl kernel.perf_event_max_sample_rate=%.0f", asked);
    else if (is_less)
        yarn_findings_mend(findings, "a lower YARN_FREQUENCY, or a machine that is less busy");
}

static bool is_shown(const struct yarn_profile *profile, const struct yarn_profile_dump *dump,
                     size_t number)
{
    const struct yarn_profile_dump_event *event = &dump->events[number];
    if (!yarn_profile_event_was_asked(profile, event->event) || event->record.alternate_of)
        return false;
    for (size_t i = 0; i < dump->nr_events; i++)
        if (dump->events[i].record.alternate_of == number + 1 && !dump->events[i].record.error)
            return !event->record.error;
    return true;
}

static void look_at_event(struct yarn_findings *findings, const struct yarn_dump_event *event,
                          bool is_all)
{
    if (!event->error) {
        yarn_findings_add(findings, YARN_FINDING_GOOD, "event", "%.700s, as %.700s",
                          text_of(event->asked), text_of(event->got));
        return;
    }
    yarn_findings_add(findings, is_all ? YARN_FINDING_BAD : YARN_FINDING_LIMIT, "event",
                      "%.500s is refused: %.900s", text_of(event->asked),
                      event->reason.size ? text_of(event->reason) : strerror((int)event->error));
    yarn_findings_mend(findings, "yarnprof list '%.200s' says what it needs",
                       text_of(event->asked));
}

static void look_at_events(struct yarn_findings *findings, const struct yarn_profile *profile,
                           const struct yarn_profile_dump *dump)
{
    size_t nr_refused = 0;
    for (size_t i = 0; i < dump->nr_events; i++)
        nr_refused += dump->events[i].record.error != 0;
    for (size_t i = 0; i < dump->nr_events; i++) {
        if (is_shown(profile, dump, i))
            look_at_event(findings, &dump->events[i].record, nr_refused == dump->nr_events);
    }
}

static void look_at_untried(struct yarn_findings *findings, const struct yarn_options *options)
{
    static struct yarn_event_list list;
    struct yarn_arena arena;
    struct yarn_parse_error error;
    yarn_arena_open(&arena, YARN_MIB(1));
    int err =
        yarn_event_list_parse(options->events, strlen(options->events), &arena, &list, &error);
    for (size_t i = 0; !err && i < list.count; i++) {
        const char *asked = list.specs[i].asked;
        if (!yarn_doctor_is_of_command(&list.specs[i]))
            continue;
        yarn_findings_add(findings, YARN_FINDING_LIMIT, "event",
                          "%.700s: whether the command has that symbol is not tried", asked);
        yarn_findings_mend(findings, "yarnprof list '%.200s' says what it needs", asked);
    }
    yarn_arena_close(&arena);
}

static void look_at_scheduling(struct yarn_findings *findings, const struct yarn_options *options,
                               const struct yarn_profile_dump *dump)
{
    struct yarn_usable tracepoints;
    char path[YARN_MACHINE_PATH_MAX];
    bool is_wanted = options->sched.kind >= YARN_SCHED_TRACEPOINTS;
    if (dump->has_sched)
        yarn_findings_add(findings,
                          dump->sched.reason.size && options->sched.kind != YARN_SCHED_AUTO
                              ? YARN_FINDING_LIMIT
                              : YARN_FINDING_GOOD,
                          "switches", "%.200s%s%.900s", text_of(dump->sched.got),
                          dump->sched.reason.size ? "; " : "", text_of(dump->sched.reason));
    (void)snprintf(path, sizeof path, "%s/available_events", yarn_event_machine_here.tracing);
    int fd = access(path, R_OK) ? -errno : 0;
    yarn_usable_tracepoints(fd, "", &tracepoints);
    if (tracepoints.is_usable) {
        yarn_findings_add(findings, YARN_FINDING_GOOD, "tracepoints", "can be recorded");
        return;
    }
    yarn_findings_add(findings, is_wanted ? YARN_FINDING_LIMIT : YARN_FINDING_GOOD, "tracepoints",
                      "none%s", is_wanted ? "" : " (none is asked for)");
    yarn_findings_mend(findings, "%s", tracepoints.why);
}

void yarn_doctor_look_at_trial(struct yarn_findings *findings, const struct yarn_options *options,
                               const struct yarn_doctor_trial *trial)
{
    const struct yarn_profile_dump *dump = trial->dump;
    if (!dump || !dump->has_sampler || !dump->sampler.got.size) {
        const char *line = strncmp(trial->line, "yarn: ", 6) == 0 ? trial->line + 6 : trial->line;
        yarn_findings_add(findings, YARN_FINDING_BAD, "recording", "%.1400s",
                          line[0] ? line : "a trial left no dump, and no word why");
        const char *mend = mend_of(line);
        yarn_findings_mend(findings, "%s%s",
                           mend ? mend : "yarnprof list shows the events that are to be had",
                           mend || options->sampler != YARN_SAMPLER_PERF
                               ? ""
                               : "; YARN_SAMPLER=auto takes timers where perf is refused");
        return;
    }
    look_at_sampler(findings, dump);
    look_at_kernel(findings, &trial->profile, dump);
    look_at_rings(findings, dump);
    if (!trial->has_no_events) {
        look_at_rate(findings, options, dump);
        look_at_events(findings, &trial->profile, dump);
    }
    look_at_untried(findings, options);
    look_at_scheduling(findings, options, dump);
}
