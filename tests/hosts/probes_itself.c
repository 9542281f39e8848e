/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts and samples calls of its own functions, and writes of its own variable, by libyarn, two
 * sets at once, whose definitions the other leaves alone. A line of each event: its status, its
 * count and its sentence.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <yarn/yarn.h>

#ifdef __clang__
#define PROBED __attribute__((noinline))
#else
#define PROBED __attribute__((noipa))
#endif

enum { CALLS = 300, NR_EVENTS = 4 };

volatile long probed_variable;

PROBED long probed_first(long number)
{
    return 3 * number;
}

PROBED long probed_second(long number)
{
    return 5 * number;
}

static uint64_t nr_samples[NR_EVENTS];

static void on_record(void *self, size_t event, const struct yarn_record *record)
{
    (void)self;
    if (record->type == PERF_RECORD_SAMPLE && event < NR_EVENTS)
        nr_samples[event]++;
}

static void call(void)
{
    for (long i = 0; i < CALLS; i++)
        probed_variable = probed_first(i) + probed_second(i);
}

static struct yarn_events *parse(const char *path)
{
    static char words[8192];
    struct yarn_events *events;
    (void)snprintf(words, sizeof words,
                   "page-faults,uprobe:%s:probed_first,mem:probed_variable/8:w/period=1/,"
                   "uprobe:%s:probed_*",
                   path, path);
    if (yarn_events_parse(words, &events, NULL))
        exit(1);
    return events;
}

static void show(const char *what, uint32_t status, uint64_t count, const char *reason)
{
    printf("%s %" PRIu32 " %" PRIu64 " %s\n", what, status, count, reason ? reason : "");
}

static void count_calls(const struct yarn_events *events)
{
    struct yarn_counters *counters, *others;
    struct yarn_value values[NR_EVENTS];
    const char *reason;
    if (yarn_counters_open(events, YARN_SCOPE_THREAD, &counters) ||
        yarn_counters_open(events, YARN_SCOPE_PROCESS, &others))
        exit(1);
    yarn_counters_close(others);
    yarn_counters_start(counters);
    call();
    yarn_counters_stop(counters);
    yarn_counters_read(counters, values, NR_EVENTS);
    for (size_t i = 1; i < NR_EVENTS; i++) {
        uint32_t status = yarn_counters_status(counters, i, &reason);
        show("counter", status, values[i].count, reason);
    }
    yarn_counters_close(counters);
}

static struct yarn_session *attach(const struct yarn_events *events)
{
    const struct yarn_session_spec spec = {
        .size = sizeof spec, .ring_bytes = 1 << 20, .includes_caller = true};
    const struct yarn_listener listener = {.size = sizeof listener, .on_record = on_record};
    struct yarn_session *session;
    if (yarn_session_new(events, &spec, &listener, &session) || yarn_session_attach(session))
        exit(1);
    return session;
}

static void sample_calls(const struct yarn_events *events)
{
    const char *reason;
    struct yarn_session *other = attach(events), *session = attach(events);
    yarn_session_free(other);
    yarn_session_start(session);
    call();
    yarn_session_stop(session);
    while (yarn_session_read(session, 0) != -ECANCELED)
        ;
    for (size_t i = 1; i < NR_EVENTS; i++) {
        uint32_t status = yarn_session_status(session, i, &reason);
        show("session", status, nr_samples[i], reason);
    }
    yarn_session_free(session);
}

int main(int argc, char **argv)
{
    (void)argc;
    struct yarn_events *events = parse(argv[0]);
    count_calls(events);
    sample_calls(events);
    yarn_events_free(events);
    return 0;
}
