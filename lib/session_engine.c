/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/session_engine.h"

#include "core/event/events.h"
#include "core/session/attach.h"
#include "core/session/probe.h"
#include "core/session/reader.h"
#include "core/sys/clock.h"
#include "core/sys/file.h"
#include "core/sys/futex.h"
#include "core/sys/process.h"
#include "lib/session_unwind.h"
#include "lib/session_wake.h"
#include "unwind/symbol/place.h"

enum {
    CPUS_MAX = 1024,
    ROUNDS = 16,
    FREQUENCY_HZ = 999,
    INTERVAL_MS = 100,
    CONFIRM_MS = 2,
    CONFIRM_FACTOR = 8,
    CONFIRM_LAST_MS = 2000,
};

enum state { DETACHED, ATTACHED, STARTED, STOPPED };

struct yarn_session_engine {
    struct yarn_session_engine_listener listener;
    struct yarn_session_request asked, spec;
    struct yarn_event_spec *events; /* those of a kernel's counter */
    size_t *index_of;               /* of each in the list */
    size_t nr_listed;
    struct yarn_session session;
    struct yarn_ring_reader reader;
    uint8_t *room; /* for a stack that is in two pieces of its ring */
    enum state state;
    int error; /* of the last attach */
    int wake_fd;
    _Atomic uint32_t command; /* 1: to stop */
    uint64_t nr_given;
    uint64_t confirm_at_ns, confirm_step_ns; /* of the start; step 0: done */
    struct yarn_session_engine_report report;
};

/* ---- making one ---- */

static int copy_text(struct yarn_arena *arena, const char **text)
{
    if (*text)
        *text = yarn_arena_text(arena, *text, strlen(*text));
    return *text ? 0 : -ENOMEM;
}

/* The list need not live as long. */
static int copy_texts(struct yarn_arena *arena, struct yarn_event_spec *spec)
{
    const char **texts[] = {&spec->asked, &spec->refusal,   &spec->event,
                            &spec->unit,  &spec->site.path, &spec->filter,
                            &spec->pmu,   &spec->cpus,      &spec->site.symbol};
    for (size_t i = 0; i < YARN_COUNT_OF(texts); i++)
        if (*texts[i] && copy_text(arena, texts[i]))
            return -ENOMEM;
    return 0;
}

static int copy_events(struct yarn_session_engine *engine, struct yarn_arena *arena,
                       const struct yarn_event_list *list)
{
    engine->events = YARN_ARENA_NEW(arena, struct yarn_event_spec, list->count);
    engine->index_of = YARN_ARENA_NEW(arena, size_t, list->count);
    engine->room = yarn_arena_alloc(arena, YARN_RECORD_BYTES_MAX, 1);
    if (!engine->events || !engine->index_of || !engine->room)
        return -ENOMEM;
    engine->nr_listed = list->count;
    for (size_t i = 0; i < list->count; i++) {
        struct yarn_event_spec *event = &engine->events[engine->asked.nr_events];
        if (list->specs[i].kind == YARN_EVENT_OFF_CPU)
            continue;
        *event = list->specs[i];
        yarn_event_spec_apply_rate(event, engine->asked.frequency_hz);
        engine->index_of[engine->asked.nr_events++] = i;
        if (copy_texts(arena, event))
            return -ENOMEM;
    }
    engine->asked.events = engine->events;
    return engine->asked.nr_events ? 0 : -EINVAL;
}

static bool is_valid(const struct yarn_session_engine_spec *spec)
{
    return spec->strategy <= YARN_STRATEGY_PER_THREAD && spec->reader < YARN_READER_COUNT &&
           spec->stack <= YARN_SESSION_STACK_CHAIN &&
           !(spec->ring_bytes & (spec->ring_bytes - 1)) &&
           !(spec->stack_bytes % sizeof(uint64_t)) && spec->stack_bytes <= YARN_STACK_BYTES_MAX;
}

static struct yarn_session_request spec_of(const struct yarn_session_engine_spec *spec)
{
    return (struct yarn_session_request){
        .frequency_hz = spec->frequency_hz ? spec->frequency_hz : FREQUENCY_HZ,
        .sampler = YARN_SAMPLER_PERF,
        .strategy = (enum yarn_strategy_choice)spec->strategy,
        .stack = (enum yarn_session_stack)spec->stack,
        .stack_bytes = spec->stack_bytes ? spec->stack_bytes : YARN_STACK_BYTES_DEFAULT,
        .ring_bytes = spec->ring_bytes,
        .interval_ns = spec->interval_ns ? spec->interval_ns : INTERVAL_MS * YARN_NS_PER_MS,
        .reader = (enum yarn_reader_choice)spec->reader,
        .pid = yarn_process_pid(),
        .max_scans = spec->max_rounds ? spec->max_rounds : ROUNDS,
        .includes_reader = spec->includes_caller,
        .may_refuse_threads = true,
        .find_symbol = yarn_symbol_place_find,
    };
}

int yarn_session_engine_new(struct yarn_arena *arena, const struct yarn_session_engine_spec *spec,
                            const struct yarn_session_engine_listener *listener,
                            struct yarn_session_engine **ret_engine)
{
    struct yarn_session_engine *engine = YARN_ARENA_NEW(arena, struct yarn_session_engine, 1);
    if (!engine)
        return -ENOMEM;
    if (!is_valid(spec))
        return -EINVAL;
    engine->listener = *listener;
    engine->asked = spec_of(spec);
    engine->session = YARN_SESSION_CLOSED;
    int err = copy_events(engine, arena, &spec->events->list);
    if (err)
        return err;
    engine->wake_fd = yarn_session_wake_open();
    if (engine->wake_fd < 0)
        return engine->wake_fd;
    engine->asked.wake_fd = engine->wake_fd;
    *ret_engine = engine;
    return 0;
}

/* ---- attaching ---- */

/* Rings of the whole size from the first on: while some are changed for others, a thread that is
 * made meanwhile could not be distinguished from one that has its events already. */
static void choose(struct yarn_session_engine *engine)
{
    int cpus[CPUS_MAX];
    size_t nr_cpus = yarn_process_present_cpus(cpus, CPUS_MAX);
    engine->spec = engine->asked;
    bool is_per_thread = yarn_plan_strategy(&engine->spec, nr_cpus).is_per_thread;
    engine->spec.strategy = is_per_thread ? YARN_STRATEGY_PER_THREAD : YARN_STRATEGY_PER_CORE;
    if (!is_per_thread)
        engine->spec.ring_bytes = yarn_plan_of_core(&engine->spec, nr_cpus).ring_bytes;
}

/* Of what was not got as asked, the worst. */
static const char *reason_of(const struct yarn_session_engine *engine)
{
    const struct yarn_session_report *got = &engine->session.report;
    if (got->failure)
        return got->failure;
    if (got->nr_refused_threads)
        return yarn_probe_thread_reason(got->thread_refusal);
    if (!got->is_stable)
        return "threads were still being made when the list had been read max_rounds times";
    for (size_t i = 0; i < engine->spec.nr_events; i++)
        if (engine->session.specs[i].reason)
            return engine->session.specs[i].reason;
    if (got->got.ring_bytes < engine->spec.ring_bytes)
        return "the rings are smaller than asked for: the limit of locked memory is too low";
    if (engine->asked.reader == YARN_READER_POLL && !engine->reader.is_poll)
        return "there is nothing to poll: the rings are read by time";
    return NULL;
}

static void fill_report(struct yarn_session_engine *engine)
{
    const struct yarn_session_report *got = &engine->session.report;
    engine->report = (struct yarn_session_engine_report){
        .nr_threads = got->nr_threads,
        .nr_refused = got->nr_refused_threads,
        .nr_rings = got->nr_rings,
        .ring_bytes = got->got.ring_bytes,
        .nr_rounds = got->nr_scans,
        .is_stable = got->is_stable,
        .nr_lost = engine->report.nr_lost,
        .nr_malformed = engine->report.nr_malformed,
        .strategy = yarn_session_strategy_name(&engine->session),
        .reader = yarn_reader_words[engine->reader.is_poll ? YARN_READER_POLL : YARN_READER_TIMED],
        .reason = reason_of(engine),
    };
}

static int open_reader(struct yarn_session_engine *engine)
{
    bool is_timed =
        engine->spec.reader == YARN_READER_TIMED || yarn_session_needs_time(&engine->session);
    return yarn_reader_open(&engine->reader, !is_timed, &engine->session, &engine->command);
}

static void close_all(struct yarn_session_engine *engine)
{
    yarn_reader_close(&engine->reader);
    yarn_session_close(&engine->session);
    engine->state = DETACHED;
}

/* Its report stays, as far as its sentence is not in the memory of what was opened; and so does a
 * stop that was asked for. */
static int fail(struct yarn_session_engine *engine, int err, const char *why)
{
    const char *sentence = engine->session.report.failure;
    engine->report.reason = sentence ? sentence : why;
    engine->report.nr_threads = 0;
    engine->report.nr_refused = engine->session.report.nr_refused_threads;
    engine->error = err;
    close_all(engine);
    return err;
}

int yarn_session_engine_attach(struct yarn_session_engine *engine)
{
    if (engine->state != DETACHED)
        return -EBUSY;
    engine->error = 0;
    choose(engine);
    int err = yarn_session_open(&engine->session, &engine->spec);
    if (err)
        return fail(engine, err, "the events could not be opened");
    if (!engine->session.report.nr_threads)
        return fail(engine, -ESRCH, "there is no thread but the one that reads");
    err = open_reader(engine);
    if (err)
        return fail(engine, err, "no memory or no descriptor for the reader");
    engine->state = ATTACHED;
    fill_report(engine);
    return 0;
}

int yarn_session_engine_start(struct yarn_session_engine *engine)
{
    if (engine->state != ATTACHED)
        return engine->state == STARTED ? 0 : -EINVAL;
    yarn_session_enable(&engine->session);
    engine->confirm_step_ns = CONFIRM_MS * YARN_NS_PER_MS;
    engine->confirm_at_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) + engine->confirm_step_ns;
    engine->state = STARTED;
    return 0;
}

/* Why again: events that a thread inherits may miss the first. How long until it is due. */
static uint64_t confirm_start(struct yarn_session_engine *engine, uint64_t now_ns)
{
    if (engine->state != STARTED || !engine->confirm_step_ns)
        return UINT64_MAX;
    if (now_ns < engine->confirm_at_ns)
        return engine->confirm_at_ns - now_ns;
    yarn_session_enable(&engine->session);
    engine->confirm_step_ns *= CONFIRM_FACTOR;
    if (engine->confirm_step_ns > CONFIRM_LAST_MS * YARN_NS_PER_MS)
        engine->confirm_step_ns = 0;
    engine->confirm_at_ns = now_ns + engine->confirm_step_ns;
    return engine->confirm_step_ns ? engine->confirm_step_ns : UINT64_MAX;
}

/* ---- reading ---- */

static void tell(void *self, const struct yarn_typed_record *record)
{
    struct yarn_session_engine *engine = self;
    struct yarn_record shown = record->perf;
    if (!record->perf.fields)
        return;
    if (record->type == YARN_RECORD_LOST)
        engine->report.nr_lost += record->lost.count;
    if (record->stack.second.size) {
        shown.stack = (struct yarn_bytes){engine->room, yarn_wrapped_size(&record->stack)};
        (void)yarn_wrapped_read(&record->stack, 0, engine->room, shown.stack.size);
    }
    uint32_t number = yarn_session_first_of(&engine->session, record->event);
    size_t event = number < engine->spec.nr_events ? engine->index_of[number] : SIZE_MAX;
    engine->listener.record(engine->listener.self, event, &shown);
    engine->nr_given++;
}

static void count_malformed(void *self, uint32_t kernel_type, size_t size)
{
    struct yarn_session_engine *engine = self;
    (void)kernel_type;
    (void)size;
    engine->report.nr_malformed++;
}

/* How many the listener got. */
static int drain(struct yarn_session_engine *engine, bool is_last)
{
    const struct yarn_record_listener listener = {
        .self = engine, .record = tell, .malformed = count_malformed};
    bool has_news;
    uint64_t before = engine->nr_given;
    yarn_session_drain(&engine->session, is_last, &listener, &has_news);
    return (int)(engine->nr_given - before);
}

static int finish(struct yarn_session_engine *engine)
{
    yarn_session_disable(&engine->session);
    int count = drain(engine, true);
    engine->state = STOPPED;
    return count ? count : -ECANCELED;
}

int yarn_session_engine_read(struct yarn_session_engine *engine, int timeout_ms)
{
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    uint64_t end_ns = timeout_ms < 0 ? UINT64_MAX : now_ns + (uint64_t)timeout_ms * YARN_NS_PER_MS;
    if (engine->state == DETACHED)
        return -EINVAL;
    if (engine->state == STOPPED)
        return -ECANCELED;
    for (;;) {
        uint64_t pause_ns = yarn_u64_min(confirm_start(engine, now_ns), engine->spec.interval_ns);
        if (now_ns < end_ns)
            yarn_reader_wait(&engine->reader, yarn_u64_min(end_ns - now_ns, pause_ns));
        if (atomic_load(&engine->command))
            return finish(engine);
        int count = drain(engine, false);
        now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
        if (count || now_ns >= end_ns)
            return count;
    }
}

void yarn_session_engine_stop(struct yarn_session_engine *engine)
{
    atomic_store(&engine->command, 1);
    yarn_futex_wake(&engine->command);
    yarn_session_wake_send(engine->wake_fd);
}

/* ---- the end ---- */

void yarn_session_engine_detach(struct yarn_session_engine *engine)
{
    close_all(engine);
    yarn_session_wake_clear(engine->wake_fd);
    atomic_store(&engine->command, 0);
}

void yarn_session_engine_report(const struct yarn_session_engine *engine,
                                struct yarn_session_engine_report *ret_report)
{
    *ret_report = engine->report;
}

static int error_of(const struct yarn_session_engine *engine, size_t event, const char **ret_reason)
{
    for (size_t i = 0; i < engine->asked.nr_events; i++) {
        const struct yarn_session_event *state = &engine->session.specs[i];
        if (engine->index_of[i] != event || !state->error)
            continue;
        *ret_reason = state->reason;
        return -state->error;
    }
    return 0;
}

static bool is_of_kernel(const struct yarn_session_engine *engine, size_t event)
{
    for (size_t i = 0; i < engine->asked.nr_events; i++)
        if (engine->index_of[i] == event)
            return true;
    return false;
}

int yarn_session_engine_error(const struct yarn_session_engine *engine, size_t event,
                              const char **ret_reason)
{
    if (event >= engine->nr_listed)
        return -EINVAL;
    if (!is_of_kernel(engine, event)) {
        *ret_reason =
            "off-cpu is no event of the kernel: only a recording looks at blocked threads";
        return -EOPNOTSUPP;
    }
    if (engine->state != DETACHED)
        return error_of(engine, event, ret_reason);
    if (engine->error)
        *ret_reason = engine->report.reason;
    return engine->error;
}

uint64_t yarn_session_engine_registers(void)
{
    return yarn_attr_unwind_registers();
}

void yarn_session_engine_fini(struct yarn_session_engine *engine, bool is_child)
{
    if (is_child) {
        yarn_session_forget(&engine->session);
        engine->reader.wake_fd = -1;
        engine->wake_fd = -1;
    }
    yarn_session_engine_detach(engine);
    yarn_file_close(engine->wake_fd);
    engine->wake_fd = -1;
}
