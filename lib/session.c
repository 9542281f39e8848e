/* SPDX-License-Identifier: Apache-2.0 */
/* Public: libyarn shows it. */
#pragma GCC visibility push(default)
#include "core/include/yarn/session.h"
#pragma GCC visibility pop

#include <string.h>
#include <sys/types.h>

#include "core/sys/process.h"
#include "lib/session_engine.h"
#include "lib/session_unwind.h"

/* No later version has a larger struct: a size beyond is none. */
enum { ARENA_BYTES = 1 << 21, STRUCT_MAX = 4096 };

struct yarn_session {
    struct yarn_arena arena; /* of this and of the engine */
    struct yarn_session_engine *engine;
    struct yarn_session_unwinder *unwinder; /* NULL before the first stack */
    struct yarn_listener listener;
    uint64_t nr_records;
    pid_t pid; /* whose it is */
};

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

static int check_owner(const struct yarn_session *session)
{
    if (!session)
        return -EINVAL;
    return session->pid == yarn_process_pid() ? 0 : -ECHILD;
}

/* ---- making one ---- */

static void tell(void *self, size_t event, const struct yarn_record *record)
{
    struct yarn_session *session = self;
    if (session->unwinder && record->type == PERF_RECORD_MMAP2)
        yarn_session_unwinder_note_mapping(session->unwinder);
    session->nr_records++;
    session->listener.on_record(session->listener.self, event, record);
}

static unsigned engine_stack(enum yarn_stacks stacks)
{
    static const unsigned kinds[] = {
        [YARN_STACKS_NONE] = YARN_SESSION_ENGINE_NONE,
        [YARN_STACKS_CHAIN] = YARN_SESSION_ENGINE_CHAIN,
        [YARN_STACKS_COPY] = YARN_SESSION_ENGINE_COPY,
    };
    return (size_t)stacks < YARN_COUNT_OF(kinds) ? kinds[stacks] : UINT32_MAX;
}

static int make(const struct yarn_events *events, const struct yarn_session_spec *spec,
                struct yarn_session *session)
{
    const struct yarn_session_engine_listener listener = {.self = session, .record = tell};
    const struct yarn_session_engine_spec asked = {
        .events = events,
        .strategy = spec->strategy,
        .reader = spec->reader,
        .stack = engine_stack(spec->stacks),
        .stack_bytes = spec->stack_bytes,
        .ring_bytes = spec->ring_bytes,
        .interval_ns = spec->interval_ns,
        .frequency_hz = spec->frequency_hz,
        .max_rounds = spec->max_rounds,
        .includes_caller = spec->includes_caller,
    };
    session->pid = yarn_process_pid();
    return yarn_session_engine_new(&session->arena, &asked, &listener, &session->engine);
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
    struct yarn_session *session = YARN_ARENA_NEW(&arena, struct yarn_session, 1);
    if (!session) {
        yarn_arena_close(&arena);
        return -ENOMEM;
    }
    session->arena = arena;
    session->listener = receiver;
    err = make(events, &asked, session);
    if (err) {
        arena = session->arena; /* it lies in there itself */
        yarn_arena_close(&arena);
        return err;
    }
    *ret_session = session;
    return 0;
}

/* ---- its life ---- */

int yarn_session_attach(struct yarn_session *session)
{
    int err = check_owner(session);
    return err ? err : yarn_session_engine_attach(session->engine);
}

int yarn_session_start(struct yarn_session *session)
{
    int err = check_owner(session);
    return err ? err : yarn_session_engine_start(session->engine);
}

int yarn_session_read(struct yarn_session *session, int timeout_ms)
{
    int err = check_owner(session);
    return err ? err : yarn_session_engine_read(session->engine, timeout_ms);
}

void yarn_session_stop(struct yarn_session *session)
{
    if (!check_owner(session))
        yarn_session_engine_stop(session->engine);
}

int yarn_session_detach(struct yarn_session *session)
{
    int err = check_owner(session);
    if (!err)
        yarn_session_engine_detach(session->engine);
    return err;
}

void yarn_session_free(struct yarn_session *session)
{
    if (!session)
        return;
    struct yarn_arena arena = session->arena; /* it lies in there itself */
    yarn_session_unwinder_free(session->unwinder);
    yarn_session_engine_fini(session->engine, session->pid != yarn_process_pid());
    yarn_arena_close(&arena);
}

/* ---- what came of it ---- */

void yarn_session_report(const struct yarn_session *session, struct yarn_report *ret_report)
{
    struct yarn_session_engine_report got;
    if (!session || !ret_report)
        return;
    size_t size = ret_report->size;
    if (size < sizeof size || size > sizeof *ret_report)
        size = sizeof *ret_report;
    yarn_session_engine_report(session->engine, &got);
    const struct yarn_report report = {
        .size = size,
        .nr_threads = got.nr_threads,
        .nr_refused = got.nr_refused,
        .nr_rounds = got.nr_rounds,
        .is_stable = got.is_stable,
        .nr_rings = got.nr_rings,
        .ring_bytes = got.ring_bytes,
        .nr_records = session->nr_records,
        .nr_lost = got.nr_lost,
        .nr_malformed = got.nr_malformed,
        .strategy = got.strategy,
        .reader = got.reader,
        .reason = got.reason,
    };
    memcpy(ret_report, &report, size);
}

int yarn_session_error(const struct yarn_session *session, size_t event, const char **ret_reason)
{
    const char *reason = NULL;
    int err = check_owner(session);
    if (!err)
        err = yarn_session_engine_error(session->engine, event, &reason);
    if (ret_reason)
        *ret_reason = reason;
    return err;
}

int yarn_session_unwind(struct yarn_session *session, const struct yarn_record *record,
                        uint64_t *ret_addresses, size_t max)
{
    int err = check_owner(session);
    if (!err && (!record || (max && !ret_addresses)))
        err = -EINVAL;
    if (err)
        return err;
    if (!record->registers.size || !record->stack.size)
        return -ENODATA;
    if (!session->unwinder)
        err = yarn_session_unwinder_new(&session->unwinder);
    if (err)
        return err;
    const struct yarn_session_stack_copy stack = {
        .registers_mask = yarn_session_engine_registers(),
        .registers = yarn_span_of(record->registers.data, record->registers.size),
        .stack = yarn_span_of(record->stack.data, record->stack.size),
    };
    return yarn_session_unwinder_walk(session->unwinder, &stack, ret_addresses, max);
}
