/* SPDX-License-Identifier: Apache-2.0 */
/* The cores' own clocks of this machine, as its kernel has them. A PMU that does not know
 * CLOCK_MONOTONIC is made of one that does: page faults are refused with it. */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "core/session/clock_offset.h"
#include "core/session/session.h"
#include "core/sys/clock.h"
#include "core/sys/process.h"
#include "tests/support/suite.h"

enum { SKIPPED = 77, CPUS_MAX = 1024, FAULTS = 200 };

int __real_yarn_perf_open(struct perf_event_attr *attr, pid_t tid, int cpu, int group);
int __wrap_yarn_perf_open(struct perf_event_attr *attr, pid_t tid, int cpu, int group);

int __wrap_yarn_perf_open(struct perf_event_attr *attr, pid_t tid, int cpu, int group)
{
    bool is_fault = attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_PAGE_FAULTS;
    return is_fault && attr->use_clockid ? -EINVAL : __real_yarn_perf_open(attr, tid, cpu, group);
}

START_TEST(it_is_measured_twice_the_same_and_leaves_no_trace)
{
    int cpus[CPUS_MAX];
    cpu_set_t before, after;
    char name_before[16], name_after[16];
    size_t nr_measured = 0, nr_cpus = yarn_process_online_cpus(cpus, CPUS_MAX);
    ck_assert_int_eq(sched_getaffinity(0, sizeof before, &before), 0);
    ck_assert_int_eq(prctl(PR_GET_NAME, name_before), 0);
    for (size_t i = 0; i < nr_cpus; i++) {
        struct yarn_clock_offset one, other;
        if (yarn_clock_offset_measure(cpus[i], YARN_ATTR_ALL, &one) ||
            yarn_clock_offset_measure(cpus[i], YARN_ATTR_ALL, &other))
            continue; /* not for us, or it is busy */
        int64_t off_ns = one.offset_ns - other.offset_ns;
        uint64_t slewed_ns = (other.time_ns - one.time_ns) / 1000; /* 500 ppm each at most */
        ck_assert_int_le(off_ns < 0 ? -off_ns : off_ns,
                         (int64_t)(one.bound_ns + other.bound_ns + slewed_ns + 1));
        nr_measured++;
    }
    ck_assert_uint_gt(nr_measured, 0);
    ck_assert_int_eq(sched_getaffinity(0, sizeof after, &after), 0);
    ck_assert(CPU_EQUAL(&before, &after));
    ck_assert_int_eq(prctl(PR_GET_NAME, name_after), 0);
    ck_assert_str_eq(name_before, name_after);
}
END_TEST

/* ---- a session ---- */

static const struct yarn_event_spec faults = {
    .name = "page-faults",
    .kind = YARN_EVENT_SOFTWARE,
    .type = PERF_TYPE_SOFTWARE,
    .config = PERF_COUNT_SW_PAGE_FAULTS,
    .period = 1,
    .exclude_kernel = true,
    .exclude_hv = true,
};
static const struct yarn_session_request spec = {
    .events = &faults,
    .nr_events = 1,
    .sampler = YARN_SAMPLER_PERF,
    .strategy = YARN_STRATEGY_PER_CORE,
    .interval_ns = 100 * YARN_NS_PER_MS,
};
static struct yarn_session_request request;
static struct yarn_session session;
static atomic_bool is_on;
static uint64_t first_ns, last_ns, bound_ns;
static size_t nr_samples;

static void *fault(void *unused)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = FAULTS * page;
    while (!atomic_load(&is_on))
        usleep(1000);
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, size, MADV_NOHUGEPAGE);
    first_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    for (size_t i = 0; i < FAULTS; i++)
        ((volatile char *)memory)[i * page] = 1;
    last_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    munmap(memory, size);
    return unused;
}

static void on_record(void *self, const struct yarn_typed_record *record)
{
    (void)self;
    nr_samples += record->type == YARN_RECORD_SAMPLE && record->time_ns + bound_ns >= first_ns &&
                  record->time_ns <= last_ns + bound_ns;
}

static void on_malformed(void *self, uint32_t kernel_type, size_t size)
{
    (void)self;
    ck_abort_msg("malformed record of type %u, %zu bytes", kernel_type, size);
}

START_TEST(samples_by_the_cores_clock_are_at_the_time_at_which_they_were_taken)
{
    struct yarn_record_listener listener = {.record = on_record, .malformed = on_malformed};
    pthread_t thread;
    bool has_news;
    request = spec;
    request.pid = getpid();
    ck_assert_int_eq(pthread_create(&thread, NULL, fault, NULL), 0);
    ck_assert_int_eq(yarn_session_open(&session, &request), 0);
    ck_assert_uint_eq(session.nr_clocks, session.nr_cores);
    for (size_t i = 0; i < session.nr_clocks; i++)
        bound_ns = yarn_u64_max(bound_ns, session.clocks[i].offset.bound_ns);
    yarn_session_enable(&session);
    atomic_store(&is_on, true);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    yarn_session_disable(&session);
    yarn_session_drain(&session, true, &listener, &has_news);
    ck_assert_uint_ge(nr_samples, FAULTS);
    yarn_session_close(&session);
}
END_TEST

int main(void)
{
    struct yarn_clock_offset offset;
    int err = yarn_clock_offset_measure((int)yarn_process_cpu(), YARN_ATTR_ALL, &offset);
    if (err) {
        printf("skipped: no core's own clock can be measured: %s\n", strerror(-err));
        return SKIPPED;
    }
    Suite *suite = suite_create("the cores' own clocks of this machine");
    TCase *tests = tcase_create("measured");
    tcase_add_test(tests, it_is_measured_twice_the_same_and_leaves_no_trace);
    tcase_add_test(tests, samples_by_the_cores_clock_are_at_the_time_at_which_they_were_taken);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
