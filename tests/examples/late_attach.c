/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program of many threads that is measured for a moment, in the middle of its work, by a thread
 * that it makes for that: each page fault of each thread, and what was missed.
 *
 *     cc late_attach.c $(pkg-config --cflags --libs yarn) -pthread
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <yarn/session.h>

enum { NR_THREADS = 8, PAGE = 4096, SAMPLES = 500, TIMEOUT_MS = 100, TRIES = 100 };

static volatile int goes_on = 1;
static unsigned nr_samples;

static void on_record(void *self, size_t event, const struct yarn_record *record)
{
    (void)self;
    nr_samples += event == 0 && record->type == PERF_RECORD_SAMPLE && record->addr;
}

static void *work(void *unused)
{
    while (goes_on) {
        void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED)
            break;
        *(volatile char *)page = 1;
        munmap(page, PAGE);
    }
    return unused;
}

static int follow(struct yarn_session *session)
{
    int err = yarn_session_start(session), count = 0;
    for (unsigned i = 0; i < TRIES && !err && nr_samples < SAMPLES; i++) {
        count = yarn_session_read(session, TIMEOUT_MS);
        err = count < 0 ? count : 0;
    }
    yarn_session_stop(session);
    while (!err && (count = yarn_session_read(session, -1)) >= 0)
        continue;
    return err ? err : count == -ECANCELED ? 0 : count;
}

static int measure(const struct yarn_events *events)
{
    static struct yarn_session_spec spec;
    static struct yarn_listener listener;
    static struct yarn_report report;
    struct yarn_session *session;
    const char *reason;

    spec.size = sizeof spec;
    spec.max_rounds = 4;
    listener.size = sizeof listener;
    listener.on_record = on_record;
    report.size = sizeof report;
    int err = yarn_session_new(events, &spec, &listener, &session);
    if (err)
        return err;
    err = yarn_session_attach(session);
    if (err && yarn_session_error(session, 0, &reason))
        printf("refused: %s\n", reason);
    if (!err)
        err = follow(session);
    yarn_session_report(session, &report);
    printf("%zu threads attached, %zu refused, after %u readings of the list%s\n",
           report.nr_threads, report.nr_refused, report.nr_rounds,
           report.is_stable ? "" : ", to which threads were still being added");
    yarn_session_free(session);
    return err;
}

static void *profile(void *ret_error)
{
    struct yarn_events *events;
    *(int *)ret_error = yarn_events_parse("page-faults/period=1/u", &events, NULL);
    if (*(int *)ret_error)
        return NULL;
    *(int *)ret_error = measure(events);
    yarn_events_free(events);
    return NULL;
}

int main(void)
{
    pthread_t threads[NR_THREADS], profiler;
    int err = 0;

    for (unsigned i = 0; i < NR_THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    pthread_create(&profiler, NULL, profile, &err);
    pthread_join(profiler, NULL);
    goes_on = 0;
    for (unsigned i = 0; i < NR_THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%u faults seen\n", nr_samples);
    if (err == -EACCES || err == -EPERM || err == -ENOSYS)
        return 77;
    return err || nr_samples < SAMPLES;
}
