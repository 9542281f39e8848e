/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where the program's own threads spend their time: samples with stacks, read by its main thread.
 *
 *     cc own_threads.c $(pkg-config --cflags --libs yarn) -pthread
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <yarn/session.h>

enum { NR_THREADS = 2, STACK_MAX = 64, SAMPLES = 20 };

static struct yarn_session *session;
static volatile int goes_on = 1;
static unsigned nr_samples, nr_deep;

static void on_record(void *self, size_t event, const struct yarn_record *record)
{
    uint64_t addresses[STACK_MAX];
    (void)self;
    if (record->type != PERF_RECORD_SAMPLE || event != 0)
        return;
    int depth = yarn_session_unwind(session, record, addresses, STACK_MAX);
    nr_samples++;
    nr_deep += depth >= 2;
    if (nr_samples == SAMPLES)
        yarn_session_stop(session);
}

static void *work(void *unused)
{
    volatile uint64_t sum = 0;
    while (goes_on)
        for (unsigned i = 0; i < 100000; i++)
            sum = sum + i;
    return unused;
}

static int measure(const struct yarn_events *events)
{
    static struct yarn_session_spec spec;
    static struct yarn_listener listener;
    static struct yarn_report report;
    int count;

    spec.size = sizeof spec;
    spec.stacks = YARN_STACKS_COPY;
    listener.size = sizeof listener;
    listener.on_record = on_record;
    report.size = sizeof report;
    int err = yarn_session_new(events, &spec, &listener, &session);
    if (err)
        return err;
    err = yarn_session_attach(session);
    if (!err)
        err = yarn_session_start(session);
    while (!err && (count = yarn_session_read(session, -1)) != -ECANCELED)
        err = count < 0 ? count : 0;
    yarn_session_report(session, &report);
    printf("%zu threads, %s, %s: %s, %" PRIu64 " lost\n", report.nr_threads, report.strategy,
           report.reader, report.reason ? report.reason : "as asked", report.nr_lost);
    yarn_session_free(session);
    return err;
}

int main(void)
{
    pthread_t threads[NR_THREADS];
    struct yarn_events *events;

    if (yarn_events_parse("cpu-clock:u", &events, NULL))
        return 1;
    for (unsigned i = 0; i < NR_THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    int err = measure(events);
    goes_on = 0;
    for (unsigned i = 0; i < NR_THREADS; i++)
        pthread_join(threads[i], NULL);
    yarn_events_free(events);
    printf("%u samples, %u with callers\n", nr_samples, nr_deep);
    if (err == -EACCES || err == -EPERM || err == -ENOSYS)
        return 77;
    return err || nr_samples < SAMPLES || nr_deep < nr_samples;
}
