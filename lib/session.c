/* SPDX-License-Identifier: Apache-2.0 */
/* Public: libyarn shows it. */
#pragma GCC visibility push(default)
#include "core/include/yarn/session.h"
#pragma GCC visibility pop

#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

#include "core/base/base.h"
#include "core/base/raw.h"
#include "core/event/events.h"
#include "core/event/status.h"
#include "core/include/yarn/record.h"
#include "core/record/record.h"
#include "core/session/attach.h"
#include "core/session/probe.h"
#include "core/session/ring_reader.h"
#include "core/sys/clock.h"
#include "core/sys/file.h"
#include "core/sys/futex.h"
#include "core/sys/process.h"
#include "lib/own_stacks.h"
#include "lib/placed.h"

enum {
    ARENA_BYTES = 1 << 21,
    STRUCT_MAX = 4096, /* no later version has a larger struct: a size beyond is none */
    CPUS_MAX = 1024,
    ROUNDS = 16,
    FREQUENCY_HZ = 999,
    INTERVAL_MS = 100,
    CONFIRM_MS = 2,
    CONFIRM_FACTOR = 8,
    CONFIRM_LAST_MS = 2000,
};

enum state { DETACHED, ATTACHED, STARTED, STOPPED };

/* The session of core/session, which is what the program has, and what is kept beside it. */
struct own {
    struct yarn_session session; /* first: see own_of */
    struct yarn_arena arena;     /* of this and of the copy of the list */
    struct yarn_listener listener;
    struct yarn_session_request asked, request;
    struct yarn_event_spec *events; /* those of a kernel's counter */
    size_t *index_of;               /* of each in the list */
    struct yarn_placed placed;      /* what is attached: those in their places */
    size_t arena_unplaced;          /* bytes of the arena before; 0: there are none */
    size_t nr_listed;
    struct yarn_ring_reader reader;
    struct yarn_own_stacks *stacks; /* NULL before the first */
    uint8_t *room;                  /* for a stack that is in two pieces of its ring */
    enum state state;
    int error; /* of the last attach */
    int wake_fd;
    _Atomic int ticks_fd;                    /* owned: of who polls; -1: nobody does */
    _Atomic uint32_t command;                /* 1: to stop */
    uint64_t confirm_at_ns, confirm_step_ns; /* of the start; step 0: done */
    struct yarn_report report;
    char reason[YARN_SENTENCE_MAX]; /* the report's: it outlives what was opened */
    pid_t pid;                      /* whose it is */
};

/* ---- what was not got as asked ---- */

/* Bits of enum yarn_event_status_bit; *ret_reason as in yarn_session_status. */
static uint32_t status_of(const struct yarn_event_status *status, const char **ret_reason)
{
    *ret_reason = status->reason;
    if (status->error)
        return status->error == EEXIST ? YARN_EVENT_MERGED : YARN_EVENT_REFUSED;
    if (!status->is_kernel_refused)
        return 0;
    if (!status->reason)
        *ret_reason = yarn_event_status_user_only();
    return YARN_EVENT_USER_ONLY;
}

/* Of what was not got as asked, the worst, a sentence; NULL. `lacks_poll`: it was to be polled. */
static const char *reason_of(const struct yarn_session *session, bool lacks_poll)
{
    const char *reason = NULL;
    const struct yarn_session_report *got = &session->report;
    if (got->failure)
        return got->failure;
    if (got->nr_refused_threads)
        return yarn_probe_thread_reason(got->thread_refusal);
    if (!got->is_stable)
        return "threads were still being made when the list had been read max_rounds times";
    for (size_t i = 0; i < session->request->nr_events && !reason; i++)
        (void)status_of(&session->statuses[i], &reason);
    if (reason)
        return reason;
    if (got->got.ring_bytes < session->request->ring_bytes)
        return "the rings are smaller than asked for: the limit of locked memory is too low";
    return lacks_poll ? "there is nothing to poll: the rings are read by time" : NULL;
}

/* ---- waking ---- */

/* A close-on-exec descriptor, or a negative errno. */
static int open_wake(void)
{
    return (int)yarn_raw_call(SYS_eventfd2, 0, EFD_CLOEXEC | EFD_NONBLOCK, 0, 0, 0, 0);
}

/* It polls readable from now on. */
static void wake(int fd)
{
    const uint64_t one = 1;
    /* Why an error may pass: a full count polls readable, too. */
    (void)yarn_raw_call(SYS_write, fd, (long)&one, sizeof one, 0, 0, 0);
}

/* It does not any more. */
static void clear_wake(int fd)
{
    uint64_t count;
    (void)yarn_raw_call(SYS_read, fd, (long)&count, sizeof count, 0, 0, 0);
}

static struct timespec time_of(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / YARN_NS_PER_SECOND), (long)(ns % YARN_NS_PER_SECOND)};
}

/* It polls readable after that time, and again each interval; nothing where it is -1. */
static void set_ticks(int fd, uint64_t first_ns, uint64_t interval_ns)
{
    const struct itimerspec at = {time_of(interval_ns), time_of(first_ns)};
    (void)yarn_raw_call(SYS_timerfd_settime, fd, 0, (long)&at, 0, 0, 0);
}

/* ---- structs of other versions ---- */

/* 0: of this version. What a later one adds must not be asked for. */
static int copy_in(void *to, size_t size, const void *from)
{
    size_t given;
    memcpy(&given, from, sizeof given);
    if (given && given < sizeof given)
        return -EINVAL;
    if (given > STRUCT_MAX)
        return -E2BIG;
    size_t known = !given || given > size ? size : given;
    memcpy(to, from, known);
    for (size_t i = size; i < given; i++)
        if (((const uint8_t *)from)[i])
            return -E2BIG;
    return 0;
}

static struct own *own_of(const struct yarn_session *session)
{
    return (struct own *)(uintptr_t)session;
}

static int check_owner(const struct yarn_session *session)
{
    if (!session)
        return -EINVAL;
    return own_of(session)->pid == yarn_process_pid() ? 0 : -ECHILD;
}

/* ---- making one ---- */

/* The list need not live as long. */
static int copy_events(struct own *own, const struct yarn_event_list *list)
{
    own->events = YARN_ARENA_NEW(&own->arena, struct yarn_event_spec, list->count);
    own->index_of = YARN_ARENA_NEW(&own->arena, size_t, list->count);
    own->room = yarn_arena_alloc(&own->arena, YARN_RECORD_BYTES_MAX, 1);
    if (!own->events || !own->index_of || !own->room)
        return -ENOMEM;
    own->nr_listed = list->count;
    for (size_t i = 0; i < list->count; i++) {
        struct yarn_event_spec *event = &own->events[own->asked.nr_events];
        if (list->specs[i].kind == YARN_EVENT_OFF_CPU)
            continue;
        *event = list->specs[i];
        yarn_event_spec_apply_rate(event, own->asked.frequency_hz);
        own->index_of[own->asked.nr_events++] = i;
        int err = yarn_event_spec_copy_texts(event, &own->arena);
        if (err)
            return err;
    }
    own->asked.events = own->events;
    return own->asked.nr_events ? 0 : -EINVAL;
}

static bool is_valid(const struct yarn_session_spec *spec)
{
    return spec->strategy <= YARN_STRATEGY_PER_THREAD && spec->reader <= YARN_READER_TIMED &&
           spec->stacks <= YARN_STACKS_COPY && !(spec->ring_bytes & (spec->ring_bytes - 1)) &&
           !(spec->stack_bytes % sizeof(uint64_t)) && spec->stack_bytes <= YARN_STACK_BYTES_MAX;
}

static struct yarn_session_request request_of(const struct yarn_session_spec *spec)
{
    return (struct yarn_session_request){
        .frequency_hz = spec->frequency_hz ? spec->frequency_hz : FREQUENCY_HZ,
        .sampler = YARN_SAMPLER_PERF,
        .strategy = spec->strategy,
        .stack = spec->stacks,
        .stack_bytes = spec->stack_bytes ? spec->stack_bytes : YARN_STACK_BYTES_DEFAULT,
        .ring_bytes = spec->ring_bytes,
        .interval_ns = spec->interval_ns ? spec->interval_ns : INTERVAL_MS * YARN_NS_PER_MS,
        .reader = spec->reader,
        .pid = yarn_process_pid(),
        .target = &yarn_target_self,
        .max_scans = spec->max_rounds ? spec->max_rounds : ROUNDS,
        .includes_reader = spec->includes_caller,
        .may_refuse_threads = true,
    };
}

static int make(const struct yarn_events *events, const struct yarn_session_spec *spec,
                struct own *own)
{
    if (!is_valid(spec))
        return -EINVAL;
    own->session = YARN_SESSION_CLOSED;
    own->asked = request_of(spec);
    own->pid = yarn_process_pid();
    own->ticks_fd = -1;
    int err = copy_events(own, &events->list);
    if (err)
        return err;
    own->wake_fd = own->asked.wake_fd = open_wake();
    return own->wake_fd < 0 ? own->wake_fd : 0;
}

int yarn_session_new(const struct yarn_events *events, const struct yarn_session_spec *spec,
                     const struct yarn_listener *listener, struct yarn_session **ret_session)
{
    struct yarn_session_spec asked = {0};
    struct yarn_listener receiver = {0};
    struct yarn_arena arena = YARN_ARENA_CLOSED;
    if (!events || !listener || !ret_session)
        return -EINVAL;
    int err = spec ? copy_in(&asked, sizeof asked, spec) : 0;
    if (!err)
        err = copy_in(&receiver, sizeof receiver, listener);
    if (!err && !receiver.on_record)
        err = -EINVAL;
    if (err)
        return err;
    yarn_arena_open(&arena, ARENA_BYTES);
    struct own *own = YARN_ARENA_NEW(&arena, struct own, 1);
    if (!own) {
        yarn_arena_close(&arena);
        return -ENOMEM;
    }
    own->arena = arena;
    own->listener = receiver;
    err = make(events, &asked, own);
    if (err) {
        arena = own->arena; /* it lies in there itself */
        yarn_arena_close(&arena);
        return err;
    }
    *ret_session = &own->session;
    return 0;
}

/* ---- attaching ---- */

/* Rings of the whole size from the first on: while some are changed for others, a thread that is
 * made meanwhile could not be distinguished from one that has its events already. */
static void choose(struct own *own)
{
    int cpus[CPUS_MAX];
    size_t nr_cpus = yarn_process_present_cpus(cpus, CPUS_MAX);
    own->request = own->asked;
    own->arena_unplaced = own->arena.used;
    yarn_placed_open(&own->placed, own->events, own->asked.nr_events, &own->arena);
    own->request.events = own->placed.list.specs;
    own->request.nr_events = own->placed.list.count;
    bool is_per_thread = yarn_plan_strategy(&own->request, nr_cpus).is_per_thread;
    own->request.strategy = is_per_thread ? YARN_STRATEGY_PER_THREAD : YARN_STRATEGY_PER_CORE;
    if (!is_per_thread)
        own->request.ring_bytes = yarn_plan_of_core(&own->request, nr_cpus).ring_bytes;
}

static void set_reason(struct own *own, const char *reason)
{
    struct yarn_text text = yarn_text_of(own->reason, sizeof own->reason);
    yarn_text_add(&text, reason ? reason : "");
    own->report.reason = reason ? own->reason : NULL;
}

static void fill_report(struct own *own)
{
    const struct yarn_session_report *got = &own->session.report;
    own->report.nr_threads = got->nr_threads;
    own->report.nr_refused = got->nr_refused_threads;
    own->report.nr_rounds = got->nr_scans;
    own->report.is_stable = got->is_stable;
    own->report.nr_rings = got->nr_rings;
    own->report.ring_bytes = got->got.ring_bytes;
    own->report.strategy = yarn_session_strategy_name(&own->session);
    own->report.reader =
        yarn_reader_words[own->reader.is_poll ? YARN_READER_POLL : YARN_READER_TIMED];
    set_reason(own, reason_of(&own->session,
                              own->asked.reader == YARN_READER_POLL && !own->reader.is_poll));
}

static void close_all(struct own *own)
{
    yarn_reader_close(&own->reader);
    yarn_session_close(&own->session);
    yarn_placed_close(&own->placed, own->pid != yarn_process_pid());
    if (own->arena_unplaced)
        yarn_arena_rewind(&own->arena, own->arena_unplaced);
    own->arena_unplaced = 0;
    yarn_file_close(atomic_exchange(&own->ticks_fd, -1));
    own->state = DETACHED;
}

/* A stop that was asked for stays. */
static int fail(struct own *own, int err, const char *why)
{
    const char *sentence = own->session.report.failure;
    set_reason(own, sentence ? sentence : why);
    own->report.nr_threads = 0;
    own->report.nr_refused = own->session.report.nr_refused_threads;
    own->error = err;
    close_all(own);
    return err;
}

static int attach(struct own *own)
{
    own->error = 0;
    choose(own);
    int err = yarn_session_open(&own->session, &own->request);
    if (err)
        return fail(own, err, "the events could not be opened");
    if (!own->session.report.nr_threads)
        return fail(own, -ESRCH, "there is no thread but the one that reads");
    bool is_timed =
        own->request.reader == YARN_READER_TIMED || yarn_session_needs_time(&own->session);
    err = yarn_reader_open(&own->reader, !is_timed, &own->session, &own->command);
    if (err)
        return fail(own, err, "no memory or no descriptor for the reader");
    own->state = ATTACHED;
    fill_report(own);
    return 0;
}

int yarn_session_attach(struct yarn_session *session)
{
    int err = check_owner(session);
    if (!err && own_of(session)->state != DETACHED)
        err = -EBUSY;
    return err ? err : attach(own_of(session));
}

int yarn_session_start(struct yarn_session *session)
{
    struct own *own = own_of(session);
    int err = check_owner(session);
    if (err)
        return err;
    if (own->state != ATTACHED)
        return own->state == STARTED ? 0 : -EINVAL;
    yarn_session_enable(session);
    own->confirm_step_ns = CONFIRM_MS * YARN_NS_PER_MS;
    own->confirm_at_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) + own->confirm_step_ns;
    own->state = STARTED;
    return 0;
}

/* ---- reading ---- */

/* Why again: events that a thread inherits may miss the first. How long until it is due. */
static uint64_t confirm_start(struct own *own, uint64_t now_ns)
{
    if (own->state != STARTED || !own->confirm_step_ns)
        return UINT64_MAX;
    if (now_ns < own->confirm_at_ns)
        return own->confirm_at_ns - now_ns;
    yarn_session_enable(&own->session);
    own->confirm_step_ns *= CONFIRM_FACTOR;
    if (own->confirm_step_ns > CONFIRM_LAST_MS * YARN_NS_PER_MS)
        own->confirm_step_ns = 0;
    own->confirm_at_ns = now_ns + own->confirm_step_ns;
    return own->confirm_step_ns ? own->confirm_step_ns : UINT64_MAX;
}

static void tell(void *self, const struct yarn_typed_record *record)
{
    struct own *own = self;
    struct yarn_record shown = record->perf;
    if (!shown.fields)
        return;
    if (record->type == YARN_RECORD_LOST)
        own->report.nr_lost += record->lost.count;
    if (record->type == YARN_RECORD_MMAP && own->stacks)
        yarn_own_stacks_note_mapping(own->stacks);
    if (record->stack.second.size) {
        shown.stack = (struct yarn_bytes){own->room, yarn_wrapped_size(&record->stack)};
        (void)yarn_wrapped_read(&record->stack, 0, own->room, shown.stack.size);
    }
    uint32_t number = yarn_alternates_first(&own->session, record->event);
    size_t event = number < own->request.nr_events
                       ? own->index_of[own->placed.list.specs[number].item]
                       : SIZE_MAX;
    own->report.nr_records++;
    own->listener.on_record(own->listener.self, event, &shown);
}

static void count_malformed(void *self, uint32_t kernel_type, size_t size)
{
    struct own *own = self;
    (void)kernel_type;
    (void)size;
    own->report.nr_malformed++;
}

/* How many the listener got. */
static int drain(struct own *own, bool is_last)
{
    const struct yarn_record_listener listener = {
        .self = own, .record = tell, .malformed = count_malformed};
    bool has_news;
    uint64_t before = own->report.nr_records;
    yarn_session_drain(&own->session, is_last, &listener, &has_news);
    return (int)(own->report.nr_records - before);
}

static int finish(struct own *own)
{
    yarn_session_disable(&own->session);
    int count = drain(own, true);
    own->state = STOPPED;
    return count ? count : -ECANCELED;
}

int yarn_session_descriptor(struct yarn_session *session)
{
    struct own *own = own_of(session);
    int err = check_owner(session);
    if (err || own->state == DETACHED || own->ticks_fd >= 0)
        return err ? err : own->state == DETACHED ? -EINVAL : own->ticks_fd;
    const int flags = TFD_CLOEXEC | TFD_NONBLOCK;
    int fd = (int)yarn_raw_call(SYS_timerfd_create, CLOCK_MONOTONIC, flags, 0, 0, 0, 0);
    uint64_t interval_ns = yarn_plan_timed_ns(&own->request, &own->session.report.got);
    if (fd < 0)
        return fd;
    atomic_store(&own->ticks_fd, fd);
    set_ticks(fd, atomic_load(&own->command) ? 1 : interval_ns, interval_ns);
    return fd;
}

int yarn_session_read(struct yarn_session *session, int timeout_ms)
{
    struct own *own = own_of(session);
    int err = check_owner(session);
    if (err || own->state == DETACHED)
        return err ? err : -EINVAL;
    if (own->state == STOPPED)
        return -ECANCELED;
    clear_wake(own->ticks_fd);
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    uint64_t end_ns = timeout_ms < 0 ? UINT64_MAX : now_ns + (uint64_t)timeout_ms * YARN_NS_PER_MS;
    for (;;) {
        uint64_t pause_ns = yarn_u64_min(confirm_start(own, now_ns), own->request.interval_ns);
        if (now_ns < end_ns)
            yarn_reader_wait(&own->reader, yarn_u64_min(end_ns - now_ns, pause_ns));
        if (atomic_load(&own->command))
            return finish(own);
        int count = drain(own, false);
        now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
        if (count || now_ns >= end_ns)
            return count;
    }
}

int yarn_session_unwind(struct yarn_session *session, const struct yarn_record *record,
                        uint64_t *ret_addresses, size_t max)
{
    struct own *own = own_of(session);
    int err = check_owner(session);
    if (!err && (!record || (max && !ret_addresses)))
        err = -EINVAL;
    if (err)
        return err;
    if (!record->registers.size || !record->stack.size)
        return -ENODATA;
    if (!own->stacks)
        err = yarn_own_stacks_new(&own->stacks);
    return err ? err : yarn_own_stacks_walk(own->stacks, record, ret_addresses, max);
}

/* ---- what came of it ---- */

void yarn_session_report(const struct yarn_session *session, struct yarn_report *ret_report)
{
    if (!session || !ret_report)
        return;
    struct yarn_report report = own_of(session)->report;
    report.size = ret_report->size;
    if (report.size < sizeof report.size || report.size > sizeof report)
        report.size = sizeof report;
    memcpy(ret_report, &report, report.size);
}

/* SIZE_MAX: it is no event of the kernel. Of the functions of a pattern the last that is refused.
 */
static size_t number_of(const struct own *own, size_t event)
{
    size_t found = SIZE_MAX;
    if (own->state == DETACHED) {
        for (size_t i = 0; i < own->asked.nr_events; i++)
            found = own->index_of[i] == event ? i : found;
        return found;
    }
    for (size_t i = 0; i < own->placed.list.count; i++)
        if (own->index_of[own->placed.list.specs[i].item] == event &&
            (found == SIZE_MAX || own->session.statuses[i].error))
            found = i;
    return found;
}

static int error_of(const struct own *own, size_t event, const char **ret_reason)
{
    size_t number = number_of(own, event);
    if (event >= own->nr_listed)
        return -EINVAL;
    if (number == SIZE_MAX) {
        *ret_reason =
            "off-cpu is no event of the kernel: only a recording looks at blocked threads";
        return -EOPNOTSUPP;
    }
    int error = own->state == DETACHED ? own->error : -own->session.statuses[number].error;
    if (error)
        *ret_reason =
            own->state == DETACHED ? own->report.reason : own->session.statuses[number].reason;
    return error;
}

int yarn_session_error(const struct yarn_session *session, size_t event, const char **ret_reason)
{
    const char *reason = NULL;
    int err = check_owner(session);
    if (!err)
        err = error_of(own_of(session), event, &reason);
    if (ret_reason)
        *ret_reason = reason;
    return err;
}

uint32_t yarn_session_status(const struct yarn_session *session, size_t event,
                             const char **ret_reason)
{
    const char *none, **reason = ret_reason ? ret_reason : &none;
    int err = yarn_session_error(session, event, reason);
    if (err)
        return err == -EEXIST ? YARN_EVENT_MERGED : YARN_EVENT_REFUSED;
    const struct own *own = own_of(session);
    return own->state == DETACHED
               ? 0
               : status_of(&own->session.statuses[number_of(own, event)], reason);
}

/* ---- the end ---- */

void yarn_session_stop(struct yarn_session *session)
{
    struct own *own = own_of(session);
    if (check_owner(session))
        return;
    atomic_store(&own->command, 1);
    yarn_futex_wake(&own->command);
    wake(own->wake_fd);
    set_ticks(atomic_load(&own->ticks_fd), 1, 0);
}

static void detach(struct own *own)
{
    close_all(own);
    clear_wake(own->wake_fd);
    atomic_store(&own->command, 0);
}

int yarn_session_detach(struct yarn_session *session)
{
    int err = check_owner(session);
    if (!err)
        detach(own_of(session));
    return err;
}

void yarn_session_free(struct yarn_session *session)
{
    struct own *own = own_of(session);
    if (!own)
        return;
    struct yarn_arena arena = own->arena; /* it lies in there itself */
    yarn_own_stacks_free(own->stacks);
    /* In a child descriptors and rings are the parent's. */
    if (own->pid != yarn_process_pid()) {
        yarn_session_after_fork(session);
        own->reader.wake_fd = own->wake_fd = -1;
        own->ticks_fd = -1;
    }
    detach(own);
    yarn_file_close(own->wake_fd);
    yarn_arena_close(&arena);
}
