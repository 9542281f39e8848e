/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <yarn/yarn.h>

#include "tests/support/suite.h"

/* A session on threads that know how often they faulted. */

enum {
    PAGE = 4096,
    POLL_MOST_MS = 10000,
    NR_FAULTS = 20, /* of all threads they fit into one ring: nobody has to read in time */
    NR_STEADY = 50,
    NR_MAKERS = 3,
    NR_MADE_EACH = 8, /* that live on */
    NR_MAX = NR_STEADY + NR_MAKERS * (1 + NR_MADE_EACH),
    TIMEOUT_MS = 10000,
    ROUNDS_MANY = 1000,
    NR_CYCLES = 1000, /* of both strategies together */
    NR_WARM = 20,
    LEAST_LEAK = NR_CYCLES / 2,
};

static const enum yarn_strategy strategies[] = {YARN_STRATEGY_PER_CORE, YARN_STRATEGY_PER_THREAD};

#define FAULTS "page-faults/period=1/u"

struct worker {
    pthread_t thread;
    pid_t tid;
    uint8_t *pages; /* its own NR_FAULTS */
    unsigned nr_seen[NR_FAULTS];
    unsigned nr_strange; /* a sample of them by another thread */
};

/* What the listener and the threads share. */
static struct worker workers[NR_MAX];
static _Atomic unsigned nr_workers;
static _Atomic int may_fault, may_end, is_attached;
static _Atomic unsigned nr_ready, nr_done;
static unsigned nr_samples, nr_others;

static unsigned count_names(const char *path)
{
    unsigned count = 0;
    DIR *folder = opendir(path);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static unsigned count_fds(void)
{
    return count_names("/proc/self/fd");
}

static void *fault(void *argument)
{
    struct worker *worker = argument;
    worker->tid = (pid_t)syscall(SYS_gettid);
    atomic_fetch_add(&nr_ready, 1);
    while (!atomic_load(&may_fault))
        usleep(500);
    for (unsigned i = 0; i < NR_FAULTS; i++)
        ((volatile uint8_t *)worker->pages)[i * PAGE] = 1;
    atomic_fetch_add(&nr_done, 1);
    while (!atomic_load(&may_end))
        usleep(500);
    return NULL;
}

static void begin(void *(*run)(void *))
{
    struct worker *worker = &workers[atomic_fetch_add(&nr_workers, 1)];
    worker->pages = mmap(NULL, (size_t)NR_FAULTS * PAGE, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(worker->pages, MAP_FAILED);
    madvise(worker->pages, (size_t)NR_FAULTS * PAGE, MADV_NOHUGEPAGE);
    ck_assert_int_eq(pthread_create(&worker->thread, NULL, run, worker), 0);
}

static void *nothing(void *unused)
{
    return unused;
}

/* Makes threads all the time while events are attached; some of them live on. */
static void *make(void *argument)
{
    unsigned nr_made = 0;
    while (!atomic_load(&is_attached)) {
        pthread_t thread;
        if (nr_made < NR_MADE_EACH) {
            begin(fault);
            nr_made++;
        }
        ck_assert_int_eq(pthread_create(&thread, NULL, nothing, NULL), 0);
        pthread_join(thread, NULL);
    }
    return fault(argument);
}

static void on_record(void *self, size_t event, const struct yarn_record *record)
{
    (void)self;
    if (record->type != PERF_RECORD_SAMPLE || event != 0) {
        nr_others++;
        return;
    }
    nr_samples++;
    for (unsigned i = 0; i < atomic_load(&nr_workers); i++) {
        uint64_t at = record->addr - (uint64_t)(uintptr_t)workers[i].pages;
        if (at >= (uint64_t)NR_FAULTS * PAGE)
            continue;
        workers[i].nr_seen[at / PAGE]++;
        workers[i].nr_strange += record->tid != (uint32_t)workers[i].tid;
    }
}

static struct yarn_session *open_session(const char *words, const struct yarn_session_spec *spec)
{
    const struct yarn_listener listener = {.size = sizeof listener, .on_record = on_record};
    struct yarn_events *events = NULL;
    struct yarn_session *session = NULL;
    ck_assert_int_eq(yarn_events_parse(words, &events, NULL), 0);
    ck_assert_int_eq(yarn_session_new(events, spec, &listener, &session), 0);
    yarn_events_free(events);
    return session;
}

static void read_to_the_end(struct yarn_session *session)
{
    int count;
    yarn_session_stop(session);
    while ((count = yarn_session_read(session, TIMEOUT_MS)) > 0)
        continue;
    ck_assert_int_eq(count, -ECANCELED);
}

static void end_all(void)
{
    atomic_store(&may_end, 1);
    for (unsigned i = 0; i < atomic_load(&nr_workers); i++)
        pthread_join(workers[i].thread, NULL);
}

/* Each of the workers has one sample of each of its faults. */
static void check_all(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        for (unsigned k = 0; k < NR_FAULTS; k++)
            ck_assert_msg(workers[i].nr_seen[k] == 1, "thread %u, fault %u: %u samples", i, k,
                          workers[i].nr_seen[k]);
        ck_assert_uint_eq(workers[i].nr_strange, 0);
    }
}

static struct yarn_report report_of(const struct yarn_session *session)
{
    struct yarn_report report = {.size = sizeof report};
    yarn_session_report(session, &report);
    return report;
}

static void follow(struct yarn_session *session, unsigned count)
{
    ck_assert_int_eq(yarn_session_start(session), 0);
    atomic_store(&may_fault, 1);
    while (atomic_load(&nr_done) < count)
        ck_assert_int_ge(yarn_session_read(session, 10), 0);
    read_to_the_end(session);
}

/* Makers are ready when they make no more. */
static void wait_for_all(void)
{
    while (atomic_load(&nr_ready) < atomic_load(&nr_workers))
        usleep(500);
}

static void begin_steady(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        begin(fault);
    wait_for_all();
}

static void check_strategy(const struct yarn_session_spec *spec, const char *strategy,
                           const char *reader)
{
    begin_steady(NR_STEADY);
    struct yarn_session *session = open_session(FAULTS, spec);
    ck_assert_int_eq(yarn_session_attach(session), 0);
    struct yarn_report report = report_of(session);
    ck_assert_str_eq(report.strategy, strategy);
    ck_assert_str_eq(report.reader, reader);
    ck_assert_uint_ge(report.nr_threads, NR_STEADY); /* a sanitizer has its own, too */
    ck_assert(report.is_stable);
    follow(session, NR_STEADY);
    end_all();
    check_all(NR_STEADY);
    report = report_of(session);
    ck_assert_uint_eq(report.nr_lost + report.nr_malformed, 0);
    ck_assert_uint_eq(report.nr_records, nr_samples + nr_others);
    yarn_session_free(session);
}

START_TEST(per_core_and_polled_each_thread_has_every_sample)
{
    const struct yarn_session_spec spec = {
        .size = sizeof spec, .strategy = YARN_STRATEGY_PER_CORE, .reader = YARN_READER_POLL};
    check_strategy(&spec, "per-core", "poll");
}
END_TEST

START_TEST(per_thread_and_by_time_each_thread_has_every_sample)
{
    const struct yarn_session_spec spec = {.size = sizeof spec,
                                           .strategy = YARN_STRATEGY_PER_THREAD,
                                           .reader = YARN_READER_TIMED,
                                           .ring_bytes = 65536};
    check_strategy(&spec, "per-thread", "timed");
}
END_TEST

START_TEST(each_of_fifty_threads_and_of_those_made_meanwhile_has_every_sample)
{
    const struct yarn_session_spec spec = {
        .size = sizeof spec, .strategy = YARN_STRATEGY_PER_CORE, .max_rounds = ROUNDS_MANY};
    begin_steady(NR_STEADY);
    for (unsigned i = 0; i < NR_MAKERS; i++)
        begin(make);
    struct yarn_session *session = open_session(FAULTS, &spec);
    ck_assert_int_eq(yarn_session_attach(session), 0);
    atomic_store(&is_attached, 1);
    wait_for_all();
    follow(session, atomic_load(&nr_workers));
    end_all();
    struct yarn_report report = report_of(session);
    ck_assert_uint_eq(report.nr_lost + report.nr_malformed + report.nr_refused, 0);
    check_all(report.is_stable ? atomic_load(&nr_workers) : NR_STEADY + NR_MAKERS);
    yarn_session_free(session);
}
END_TEST

/* As in a loop of the program's own, by either reader. */
START_TEST(a_descriptor_is_readable_where_records_wait_and_after_a_stop)
{
    const struct yarn_session_spec spec = {.size = sizeof spec,
                                           .reader = _i ? YARN_READER_TIMED : YARN_READER_POLL};
    begin_steady(1);
    struct yarn_session *session = open_session(FAULTS, &spec);
    ck_assert_int_eq(yarn_session_descriptor(session), -EINVAL);
    ck_assert_int_eq(yarn_session_attach(session), 0);
    struct pollfd fd = {.fd = yarn_session_descriptor(session), .events = POLLIN};
    ck_assert_int_ge(fd.fd, 0);
    ck_assert_int_eq(yarn_session_descriptor(session), fd.fd);
    ck_assert_int_eq(yarn_session_start(session), 0);
    atomic_store(&may_fault, 1);
    while (nr_samples < NR_FAULTS) {
        ck_assert_int_eq(poll(&fd, 1, POLL_MOST_MS), 1);
        ck_assert_int_ge(yarn_session_read(session, 0), 0);
    }
    yarn_session_stop(session);
    ck_assert_int_eq(poll(&fd, 1, POLL_MOST_MS), 1);
    while (yarn_session_read(session, 0) != -ECANCELED)
        continue;
    end_all();
    yarn_session_free(session);
    ck_assert_int_eq(fcntl(fd.fd, F_GETFD), -1);
}
END_TEST

static struct yarn_session *interrupted;

static void stop_it(int unused)
{
    (void)unused;
    yarn_session_stop(interrupted);
}

static void *send_signal(void *reader)
{
    usleep(20000);
    pthread_kill(*(pthread_t *)reader, SIGUSR1);
    return NULL;
}

START_TEST(a_handler_stops_a_reader_that_waits_without_end)
{
    const struct sigaction action = {.sa_handler = stop_it, .sa_flags = SA_RESTART};
    pthread_t self = pthread_self(), sender;
    begin_steady(1);
    for (unsigned reader = YARN_READER_POLL; reader <= YARN_READER_TIMED; reader++) {
        const struct yarn_session_spec spec = {.size = sizeof spec,
                                               .reader = (enum yarn_reader)reader,
                                               .interval_ns = UINT64_C(3600000000000)};
        interrupted = open_session(FAULTS, &spec);
        sigaction(SIGUSR1, &action, NULL);
        ck_assert_int_eq(yarn_session_attach(interrupted), 0);
        ck_assert_int_eq(yarn_session_start(interrupted), 0);
        ck_assert_int_eq(pthread_create(&sender, NULL, send_signal, &self), 0);
        while (yarn_session_read(interrupted, -1) != -ECANCELED)
            continue;
        pthread_join(sender, NULL);
        ck_assert_int_eq(yarn_session_read(interrupted, -1), -ECANCELED);
        yarn_session_free(interrupted);
    }
    atomic_store(&may_fault, 1);
    end_all();
}
END_TEST

/* Pages of address space and of memory. */
static void read_pages(long *ret_all, long *ret_resident)
{
    FILE *file = fopen("/proc/self/statm", "re");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%ld %ld", ret_all, ret_resident), 2);
    fclose(file);
}

/* Half of them with a session of their own, half attach one again. */
static void cycle(struct yarn_session *kept, const struct yarn_session_spec *spec, bool is_new)
{
    struct yarn_session *session = is_new ? open_session("task-clock,page-faults:u", spec) : kept;
    ck_assert_int_eq(yarn_session_attach(session), 0);
    ck_assert_int_eq(yarn_session_start(session), 0);
    ck_assert_int_ge(yarn_session_read(session, 0), 0);
    ck_assert_int_eq(yarn_session_detach(session), 0);
    if (is_new)
        yarn_session_free(session);
}

START_TEST(a_thousand_cycles_leave_descriptors_mappings_and_memory_as_they_were)
{
    const struct yarn_session_spec spec = {
        .size = sizeof spec, .strategy = strategies[_i], .ring_bytes = 16384};
    long all, resident, all_then, resident_then;
    begin_steady(2);
    unsigned fds = count_fds();
    struct yarn_session *kept = open_session("task-clock", &spec);
    for (unsigned i = 0; i < NR_WARM; i++)
        cycle(kept, &spec, i % 2);
    read_pages(&all, &resident);
    for (unsigned i = 0; i < NR_CYCLES / 2; i++)
        cycle(kept, &spec, i % 2);
    read_pages(&all_then, &resident_then);
    yarn_session_free(kept);
    ck_assert_uint_eq(count_fds(), fds);
    ck_assert_int_le(all_then, all + LEAST_LEAK / 2);
    if (!IS_ADDRESS_SANITIZED)
        ck_assert_int_le(resident_then, resident + LEAST_LEAK / 2);
    atomic_store(&may_fault, 1);
    end_all();
}
END_TEST

static int try_in_child(struct yarn_session *session)
{
    const char *reason;
    uint64_t address;
    const struct yarn_record record = {0};
    unsigned fds = count_fds();
    bool is_dead = yarn_session_attach(session) == -ECHILD &&
                   yarn_session_start(session) == -ECHILD &&
                   yarn_session_read(session, -1) == -ECHILD &&
                   yarn_session_error(session, 0, &reason) == -ECHILD &&
                   yarn_session_unwind(session, &record, &address, 1) == -ECHILD &&
                   yarn_session_detach(session) == -ECHILD;
    yarn_session_stop(session);
    yarn_session_free(session);
    return !is_dead || count_fds() != fds;
}

START_TEST(in_a_child_the_session_is_dead_and_the_parent_s_goes_on)
{
    const struct yarn_session_spec spec = {.size = sizeof spec, .strategy = strategies[_i]};
    int status;
    begin_steady(2);
    struct yarn_session *session = open_session(FAULTS, &spec);
    ck_assert_int_eq(yarn_session_attach(session), 0);
    ck_assert_int_eq(yarn_session_start(session), 0);
    pid_t child = fork();
    if (!child)
        _exit(try_in_child(session));
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    follow(session, 2);
    end_all();
    check_all(2);
    yarn_session_free(session);
}

END_TEST

START_TEST(a_refused_event_has_its_sentence_and_the_others_go_on)
{
    struct yarn_session *session =
        open_session("page-faults/period=1/u,uprobe:/bin/true:main", NULL);
    const char *reason = "";
    begin_steady(1);
    ck_assert_int_eq(yarn_session_attach(session), 0);
    ck_assert_int_eq(yarn_session_error(session, 0, &reason), 0);
    ck_assert_ptr_null(reason);
    ck_assert_int_lt(yarn_session_error(session, 1, &reason), 0);
    ck_assert_uint_gt(strlen(reason), 20);
    ck_assert_uint_eq(yarn_session_status(session, 0, NULL), 0);
    ck_assert_uint_eq(yarn_session_status(session, 1, &reason), YARN_EVENT_REFUSED);
    ck_assert_uint_gt(strlen(reason), 20);
    follow(session, 1);
    end_all();
    check_all(1);
    yarn_session_free(session);
}
END_TEST

START_TEST(without_another_thread_there_is_nothing_to_attach_to)
{
    const struct yarn_session_spec includes = {.size = sizeof includes, .includes_caller = true};
    struct yarn_session *session = open_session(FAULTS, NULL);
    bool is_alone = count_names("/proc/self/task") == 3; /* with . and .. */
    int err = yarn_session_attach(session);
    ck_assert_int_eq(err, is_alone ? -ESRCH : 0);
    ck_assert(!is_alone || report_of(session).reason);
    yarn_session_free(session);
    session = open_session(FAULTS, &includes);
    ck_assert_int_eq(yarn_session_attach(session), 0);
    ck_assert_int_eq(yarn_session_start(session), 0);
    atomic_store(&may_fault, 1);
    atomic_store(&may_end, 1);
    struct worker *own = &workers[atomic_fetch_add(&nr_workers, 1)];
    own->pages = mmap(NULL, (size_t)NR_FAULTS * PAGE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(own->pages, (size_t)NR_FAULTS * PAGE, MADV_NOHUGEPAGE);
    fault(own);
    read_to_the_end(session);
    check_all(1);
    yarn_session_free(session);
}
END_TEST

START_TEST(a_stop_outlives_an_attachment_that_fails)
{
    struct rlimit limit;
    begin_steady(1);
    struct yarn_session *session = open_session(FAULTS, NULL);
    yarn_session_stop(session);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, limit.rlim_max}), 0);
    ck_assert_int_eq(yarn_session_attach(session), -EMFILE);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    ck_assert_int_eq(yarn_session_attach(session), 0);
    ck_assert_int_eq(yarn_session_start(session), 0);
    ck_assert_int_eq(yarn_session_read(session, 0), -ECANCELED);
    ck_assert_int_eq(yarn_session_detach(session), 0);
    ck_assert_int_eq(yarn_session_attach(session), 0);
    ck_assert_int_eq(yarn_session_read(session, 0), 0);
    yarn_session_free(session);
    atomic_store(&may_fault, 1);
    end_all();
}
END_TEST

static void reset(void)
{
    memset(workers, 0, sizeof workers);
    nr_workers = nr_ready = nr_done = nr_samples = nr_others = 0;
    may_fault = may_end = is_attached = 0;
}

/* Breakpoints aside, every event here is one that an ordinary user may have. */
static bool can_attach(void)
{
    const struct yarn_listener listener = {.size = sizeof listener, .on_record = on_record};
    const struct yarn_session_spec spec = {.size = sizeof spec, .includes_caller = true};
    struct yarn_events *events;
    struct yarn_session *session;
    int err = yarn_events_parse("task-clock:u", &events, NULL);
    if (err)
        return true; /* the tests say so */
    err = yarn_session_new(events, &spec, &listener, &session);
    yarn_events_free(events);
    if (err)
        return true;
    err = yarn_session_attach(session);
    if (err)
        printf("skipped: no events here: %s\n", strerror(-err));
    yarn_session_free(session);
    return !err;
}

int main(void)
{
    Suite *suite = suite_create("session");
    TCase *threads = tcase_create("threads that know how often they faulted");
    tcase_set_timeout(threads, 60);
    tcase_add_checked_fixture(threads, reset, NULL);
    if (!can_attach())
        return run_suite(suite);
    tcase_add_test(threads, per_core_and_polled_each_thread_has_every_sample);
    tcase_add_test(threads, per_thread_and_by_time_each_thread_has_every_sample);
    tcase_add_test(threads, each_of_fifty_threads_and_of_those_made_meanwhile_has_every_sample);
    tcase_add_loop_test(threads, a_descriptor_is_readable_where_records_wait_and_after_a_stop, 0,
                        2);
    tcase_add_test(threads, a_handler_stops_a_reader_that_waits_without_end);
    tcase_add_test(threads, a_stop_outlives_an_attachment_that_fails);
    tcase_add_test(threads, without_another_thread_there_is_nothing_to_attach_to);
    tcase_add_test(threads, a_refused_event_has_its_sentence_and_the_others_go_on);
    tcase_add_loop_test(threads, in_a_child_the_session_is_dead_and_the_parent_s_goes_on, 0, 2);
    tcase_add_loop_test(threads,
                        a_thousand_cycles_leave_descriptors_mappings_and_memory_as_they_were, 0, 2);
    suite_add_tcase(suite, threads);
    return run_suite(suite);
}
