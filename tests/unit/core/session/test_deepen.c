/* SPDX-License-Identifier: Apache-2.0 */
/* A session whose stack copies become deeper while it runs. The test is the reader; threads of it
 * touch fresh pages, each of which is an event, so nothing that is lost or reported twice is
 * missed. */
#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/session/changeover.h"
#include "core/session/session.h"
#include "tests/support/suite.h"

enum { SKIPPED = 77, PAGES = 10, PAGE_BYTES = 4096, DEPTH_BYTES = 48 * 1024, ASKED = 32768 };
enum { SETTLE_US = 2000 }; /* what is younger than the merge's margin stays in the rings */

static struct yarn_event_spec events[2];
static struct yarn_session_request spec;
static struct yarn_session session;
static pthread_barrier_t begin;
static atomic_bool is_over, is_done, makes_thread;
static uint8_t *pages;
struct seen {
    size_t nr_samples, nr_deep; /* of ours; with more of the stack than was asked for */
};
static struct seen seen;

static void on_record(void *self, const struct yarn_typed_record *record)
{
    (void)self;
    uint32_t number;
    if (record->type != YARN_RECORD_SAMPLE)
        return;
    number = record->event;
    ck_assert_uint_lt(number, session.spec->nr_events);
    ck_assert_uint_eq(number, 1);
    seen.nr_samples++;
    seen.nr_deep += yarn_wrapped_size(&record->sample.stack) > ASKED;
}

static void on_malformed(void *self, uint32_t kernel_type, size_t size)
{
    (void)self;
    ck_abort_msg("malformed record of type %u, %zu bytes", kernel_type, size);
}

static void drain(void)
{
    struct yarn_record_listener listener = {.record = on_record, .malformed = on_malformed};
    bool has_news;
    usleep(SETTLE_US);
    yarn_session_drain(&session, false, &listener, &has_news);
}

/* Uninstrumented: a sanitizer's own memory would fault in here, too. */
__attribute__((noinline, no_sanitize("address", "thread", "undefined"))) static void touch(void)
{
    volatile uint8_t stack[DEPTH_BYTES];
    for (size_t i = 0; i < DEPTH_BYTES; i += PAGE_BYTES) /* what is not there is not copied */
        stack[i] = 1;
    for (size_t i = 0; i < PAGES; i++)
        ((volatile uint8_t *)pages)[i * PAGE_BYTES] = stack[0];
}

/* A sanitizer has much to set up in a fresh thread, more than a ring holds. */
static void *touch_after_a_while(void *unused)
{
    usleep(20 * SETTLE_US);
    touch();
    return unused;
}

static void *touch_again_and_again(void *unused)
{
    for (;;) {
        pthread_barrier_wait(&begin);
        if (atomic_load(&is_over))
            return unused;
        pthread_t fresh;
        if (!atomic_load(&makes_thread))
            touch();
        else if (pthread_create(&fresh, NULL, touch_after_a_while, NULL) == 0)
            pthread_join(fresh, NULL);
        atomic_store(&is_done, true);
    }
}

/* Has the other thread touch fresh pages. All samples are then reported, each once. */
static void touch_and_drain(void)
{
    ck_assert_int_eq(madvise(pages, (size_t)PAGES * PAGE_BYTES, MADV_DONTNEED), 0);
    atomic_store(&is_done, false);
    pthread_barrier_wait(&begin);
    while (!atomic_load(&is_done))
        drain();
    drain();
    struct yarn_perf_count count = yarn_session_count(&session, 1);
    ck_assert_uint_eq(count.count, seen.nr_samples + count.lost);
    ck_assert(count.lost == 0 || atomic_load(&makes_thread));
}

static int deepen(void)
{
    session.change.wants_deeper = true;
    int err = yarn_changeover_try(&session);
    session.change.wants_deeper = false; /* no more by itself */
    return err;
}

static void describe_session(void)
{
    events[0] = (struct yarn_event_spec){
        .name = "cpu-clock",
        .kind = YARN_EVENT_CLOCK,
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .period = 100 * YARN_NS_PER_SECOND, /* counts only */
        .is_clock = true,
        .exclude_kernel = true,
        .exclude_hv = true,
    };
    events[1] = (struct yarn_event_spec){
        .name = "page-faults",
        .kind = YARN_EVENT_SOFTWARE,
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_PAGE_FAULTS,
        .period = 1,
        .exclude_kernel = true,
        .exclude_hv = true,
    };
    spec = (struct yarn_session_request){
        .events = events,
        .nr_events = YARN_COUNT_OF(events),
        .frequency_hz = 999,
        .sampler = YARN_SAMPLER_PERF,
        .strategy = YARN_STRATEGY_PER_CORE,
        .stack = YARN_SESSION_STACK_COPY,
        .stack_bytes = ASKED,
        .may_deepen = true,
        .interval_ns = 100 * YARN_NS_PER_MS,
        .pid = getpid(),
    };
}

static pthread_t toucher;

static void open_session(void)
{
    describe_session();
    seen = (struct seen){0};
    atomic_store(&is_over, false);
    atomic_store(&is_done, false);
    atomic_store(&makes_thread, false);
    pages = mmap(NULL, (size_t)PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(pages != MAP_FAILED);
    ck_assert_int_eq(madvise(pages, (size_t)PAGES * PAGE_BYTES, MADV_NOHUGEPAGE), 0);
    pthread_barrier_init(&begin, NULL, 2);
    ck_assert_int_eq(pthread_create(&toucher, NULL, touch_again_and_again, NULL), 0);
    pthread_barrier_wait(&begin); /* once without events: its stack is there from then on */
    while (!atomic_load(&is_done))
        usleep(SETTLE_US);
    ck_assert_int_eq(yarn_session_open(&session, &spec), 0);
    yarn_session_enable(&session);
}

static void close_session(void)
{
    atomic_store(&is_over, true);
    pthread_barrier_wait(&begin);
    ck_assert_int_eq(pthread_join(toucher, NULL), 0);
    yarn_session_close(&session);
}

START_TEST(samples_go_on_with_deeper_copies_and_none_is_lost_or_twice)
{
    size_t ring_bytes = yarn_session_ring_bytes(&session);
    touch_and_drain();
    ck_assert_uint_ge(seen.nr_samples, PAGES);
    ck_assert_uint_eq(seen.nr_deep, 0);
    ck_assert_int_eq(deepen(), 0);
    ck_assert_uint_gt(session.report.got.stack_bytes, DEPTH_BYTES);
    ck_assert_uint_eq(session.nr_changes, 1);
    for (unsigned i = 1; i <= 3; i++) {
        touch_and_drain();
        ck_assert_uint_ge(seen.nr_deep, (size_t)i * PAGES);
    }
    /* The former are gone. An ordinary user may have no memory for larger ones. */
    ck_assert_uint_eq(yarn_session_ring_bytes(&session),
                      session.nr_cpus * session.report.got.ring_bytes);
    ck_assert_uint_ge(yarn_session_ring_bytes(&session), ring_bytes);
    ck_assert_int_eq(deepen(), 0);
    ck_assert_uint_eq(session.nr_changes, 1);
}
END_TEST

START_TEST(threads_born_after_it_inherit_the_deeper_ones)
{
    touch_and_drain();
    ck_assert_int_eq(deepen(), 0);
    atomic_store(&makes_thread, true);
    touch_and_drain();
    ck_assert_uint_ge(seen.nr_deep, PAGES);
}
END_TEST

START_TEST(without_descriptors_all_is_as_before)
{
    struct rlimit limit, few;
    size_t ring_bytes = yarn_session_ring_bytes(&session);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    touch_and_drain();
    few = limit;
    for (rlim_t more = 0; more < 8; more++) { /* each of the openings fails once */
        few.rlim_cur = (rlim_t)session.events[session.nr_events - 1].fd + 1 + more;
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
        int err = deepen();
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
        if (!err)
            break;
        ck_assert_int_eq(err, -EMFILE);
        ck_assert_ptr_null(session.report.failure);
        ck_assert_uint_eq(session.report.got.stack_bytes, ASKED);
        ck_assert_uint_eq(yarn_session_ring_bytes(&session), ring_bytes);
        touch_and_drain();
        ck_assert_uint_eq(seen.nr_deep, 0);
    }
    if (session.report.got.stack_bytes == ASKED)
        ck_assert_int_eq(deepen(), 0);
    touch_and_drain();
    ck_assert_uint_ge(seen.nr_deep, PAGES);
}
END_TEST

START_TEST(what_is_stopped_is_left_alone)
{
    yarn_session_disable(&session);
    ck_assert_int_eq(deepen(), -EOPNOTSUPP);
    yarn_session_enable(&session);
    touch_and_drain();
    ck_assert_int_eq(deepen(), 0);
    yarn_session_disable(&session);
    size_t nr_samples = seen.nr_samples;
    touch_and_drain();
    ck_assert_uint_eq(seen.nr_samples, nr_samples);
    yarn_session_enable(&session);
    touch_and_drain();
    ck_assert_uint_ge(seen.nr_deep, PAGES);
}
END_TEST

static int refusal(void)
{
    describe_session();
    int err = yarn_session_open(&session, &spec);
    if (err)
        return err;
    yarn_session_enable(&session);
    err = deepen();
    bool is_deep = session.report.got.stack_bytes > ASKED;
    yarn_session_close(&session);
    return !err && !is_deep ? -ENOMEM : 0;
}

int main(void)
{
    int err = refusal();
    if (err) {
        printf("skipped: no events per core, or no memory for their rings: %s\n", strerror(-err));
        return SKIPPED;
    }
    Suite *suite = suite_create("deeper copies");
    TCase *tests = tcase_create("page faults, each a sample");
    tcase_add_checked_fixture(tests, open_session, close_session);
    tcase_set_timeout(tests, 30);
    tcase_add_test(tests, samples_go_on_with_deeper_copies_and_none_is_lost_or_twice);
    tcase_add_test(tests, threads_born_after_it_inherit_the_deeper_ones);
    tcase_add_test(tests, without_descriptors_all_is_as_before);
    tcase_add_test(tests, what_is_stopped_is_left_alone);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
