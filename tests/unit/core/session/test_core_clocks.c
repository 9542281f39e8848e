/* SPDX-License-Identifier: Apache-2.0 */
/* Events whose PMU does not know CLOCK_MONOTONIC, in a kernel that is made: each core's own clock
 * is a second behind the next one's. */
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "core/session/session.h"
#include "tests/support/fake_perf.h"
#include "tests/support/suite.h"

enum { BIG = 4, REFUSED = 77, EVENTS_MAX = 8 };

static struct yarn_event_spec events[EVENTS_MAX];
static struct yarn_session_request spec;
static struct yarn_session session;
static pthread_t host;
static atomic_bool is_over;

static void *wait(void *unused)
{
    while (!atomic_load(&is_over))
        usleep(1000);
    return unused;
}

static void begin(void)
{
    fake_perf_reset();
    atomic_store(&is_over, false);
    ck_assert_int_eq(pthread_create(&host, NULL, wait, NULL), 0);
    spec = (struct yarn_session_request){
        .events = events,
        .sampler = YARN_SAMPLER_PERF,
        .strategy = YARN_STRATEGY_PER_CORE,
        .ring_bytes = 65536,
        .interval_ns = 100 * YARN_NS_PER_MS,
        .frequency_hz = 999,
        .pid = getpid(),
    };
}

static void end(void)
{
    yarn_session_close(&session);
    atomic_store(&is_over, true);
    ck_assert_int_eq(pthread_join(host, NULL), 0);
    fake_perf_reset();
}

static struct yarn_event_spec *add(const char *name, uint32_t type)
{
    struct yarn_event_spec *event = &events[spec.nr_events++];
    *event = (struct yarn_event_spec){
        .asked = name,
        .event = name,
        .unit = "events",
        .kind = YARN_EVENT_HARDWARE,
        .type = type,
        .period = 1000000,
        .scale = 1,
        .has_own_rate = true,
    };
    struct yarn_text text = yarn_text_of(event->name, sizeof event->name);
    yarn_text_add(&text, name);
    return event;
}

static int refuse_clock(const struct fake_perf_event *event)
{
    return event->attr.type == REFUSED && event->attr.use_clockid ? -EINVAL : 0;
}

START_TEST(who_has_no_such_clock_is_refused_by_itself_where_none_can_be_measured)
{
    fake_perf_judge = refuse_clock;
    if (_i == 0)
        spec.strategy = YARN_STRATEGY_PER_THREAD;
    else
        spec.clock_refusal = "not CLOCK_MONOTONIC, and a filter";
    add("odd", REFUSED);
    add("cycles", BIG);
    ck_assert_int_eq(yarn_session_open(&session, &spec), 0);
    ck_assert_int_eq(session.specs[0].error, EINVAL);
    ck_assert_int_eq(session.specs[1].error, 0);
    ck_assert_ptr_nonnull(strstr(session.specs[0].reason, "CLOCK_MONOTONIC"));
    ck_assert_uint_eq(session.report.features, YARN_ATTR_ALL);
}
END_TEST

static int64_t clock_of(int cpu)
{
    return (cpu + 1) * (int64_t)YARN_NS_PER_SECOND;
}

static const struct fake_perf_event *first_of(uint32_t type)
{
    const struct fake_perf_event *event = NULL;
    while ((event = fake_perf_next(event)) && event->attr.type != type)
        continue;
    ck_assert_ptr_nonnull(event);
    return event;
}

static void write_sample(const struct fake_perf_event *event, uint64_t time_ns)
{
    const struct {
        struct perf_event_header header;
        uint64_t id, ip;
        uint32_t pid, tid;
        uint64_t time_ns;
        uint32_t cpu, reserved;
        uint64_t period;
    } sample = {
        .header = {.type = PERF_RECORD_SAMPLE, .size = sizeof sample},
        .id = event->id,
        .time_ns = time_ns,
        .cpu = (uint32_t)event->cpu,
        .period = 1,
    };
    ck_assert(fake_perf_write_by(event, &sample, sizeof sample));
}

enum { TOLERANCE_NS = 1000000000 / 4 }; /* on a busy machine; each core's is a second apart */

struct seen {
    uint32_t events[EVENTS_MAX];
    uint64_t times_ns[EVENTS_MAX];
    size_t count;
};

static void see(void *self, const struct yarn_typed_record *record)
{
    struct seen *seen = self;
    ck_assert_uint_lt(seen->count, EVENTS_MAX);
    seen->events[seen->count] = record->event;
    seen->times_ns[seen->count++] = record->time_ns;
}

static void see_malformed(void *self, uint32_t kernel_type, size_t size)
{
    (void)self;
    (void)size;
    ck_abort_msg("malformed: %u", kernel_type);
}

START_TEST(who_has_no_such_clock_has_rings_of_its_own_and_the_right_time)
{
    struct seen seen = {.count = 0};
    struct yarn_record_listener listener = {&seen, see, see_malformed};
    bool has_news;
    fake_perf_judge = refuse_clock;
    fake_perf_behind_ns = clock_of;
    add("odd", REFUSED);
    add("cycles", BIG);
    add("odd too", REFUSED);
    ck_assert_int_eq(yarn_session_open(&session, &spec), 0);
    ck_assert_int_eq(session.specs[0].error | session.specs[1].error | session.specs[2].error, 0);
    ck_assert_uint_eq(session.report.nr_rings, 2 * session.nr_cores);
    for (size_t i = 0; i < session.nr_clocks; i++) {
        const struct yarn_core_clock *clock = yarn_session_changed_clock(&session);
        ck_assert_ptr_eq(clock, &session.clocks[i]);
        int64_t off_ns = clock->offset.offset_ns - clock_of(clock->core.cpu);
        ck_assert_int_le(off_ns < 0 ? -off_ns : off_ns, (int64_t)clock->offset.bound_ns);
        ck_assert_uint_lt(clock->offset.bound_ns, TOLERANCE_NS);
    }
    ck_assert_ptr_null(yarn_session_changed_clock(&session));
    const struct fake_perf_event *odd = first_of(REFUSED), *other = first_of(BIG);
    const uint64_t now_ns = 1000 * YARN_NS_PER_SECOND;
    write_sample(odd, now_ns - (uint64_t)clock_of(odd->cpu));
    write_sample(other, now_ns - YARN_NS_PER_SECOND / 2);
    write_sample(other, now_ns + YARN_NS_PER_SECOND / 2);
    ck_assert_uint_eq(yarn_session_drain(&session, true, &listener, &has_news), 3);
    ck_assert_uint_eq(seen.events[0], 1);
    ck_assert_uint_eq(seen.events[1], 0);
    ck_assert_uint_eq(seen.events[2], 1);
    ck_assert_uint_gt(seen.times_ns[1], now_ns - TOLERANCE_NS);
    ck_assert_uint_lt(seen.times_ns[1], now_ns + TOLERANCE_NS);
}
END_TEST

START_TEST(a_group_has_one_clock)
{
    fake_perf_judge = refuse_clock;
    add("first", BIG)->group = 1;
    add("odd", REFUSED)->group = 1;
    ck_assert_int_eq(yarn_session_open(&session, &spec), 0);
    ck_assert_int_eq(session.specs[0].error | session.specs[1].error, 0);
    for (const struct fake_perf_event *event = NULL; (event = fake_perf_next(event));)
        ck_assert(!event->attr.use_clockid);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cores' own clocks");
    TCase *tcase = tcase_create("opened");
    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_loop_test(
        tcase, who_has_no_such_clock_is_refused_by_itself_where_none_can_be_measured, 0, 2);
    tcase_add_test(tcase, who_has_no_such_clock_has_rings_of_its_own_and_the_right_time);
    tcase_add_test(tcase, a_group_has_one_clock);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
