/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/session.h"

#include "core/session/attach.h"
#include "core/sys/clock.h"

enum { ARENA_BYTES = 64 * 1024 * 1024 };

static int init_specs(struct yarn_session *session)
{
    const struct yarn_session_spec *spec = session->spec;
    session->specs = YARN_ARENA_NEW(&session->arena, struct yarn_session_event, spec->nr_events);
    if (!session->specs)
        return -ENOMEM;
    for (size_t i = 0; i < spec->nr_events; i++)
        session->specs[i] = (struct yarn_session_event){.spec = spec->events[i]};
    return 0;
}

static int init_merge(struct yarn_session *session)
{
    struct yarn_merge_source *sources =
        YARN_ARENA_NEW(&session->arena, struct yarn_merge_source, session->nr_cores);
    if (!sources)
        return -ENOMEM;
    for (size_t i = 0; i < session->nr_cores; i++)
        sources[i] = (struct yarn_merge_source){.ring = &session->cores[i].ring};
    session->merge.sources = sources;
    session->merge.count = session->nr_cores;
    struct yarn_record_layout *layout = &session->merge.decoder.layout;
    *layout = (struct yarn_record_layout){.sample_type = YARN_SAMPLE_TYPE_COMMON};
    if (session->spec->stack == YARN_SESSION_STACK_COPY) {
        layout->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
        layout->registers_mask = yarn_attr_unwind_registers();
    } else if (session->spec->stack == YARN_SESSION_STACK_CHAIN) {
        layout->sample_type |= PERF_SAMPLE_CALLCHAIN;
    }
    return 0;
}

int yarn_session_open(struct yarn_session *session, const struct yarn_session_spec *spec)
{
    *session = YARN_SESSION_CLOSED;
    session->spec = spec;
    session->report = (struct yarn_session_report){
        .asked = yarn_plan_first(spec),
        .got = yarn_plan_first(spec),
        .features = YARN_ATTR_ALL,
    };
    int err = yarn_arena_open(&session->arena, ARENA_BYTES);
    if (!err)
        err = init_specs(session);
    if (!err)
        err = yarn_attach_per_core(session);
    if (!err)
        err = init_merge(session);
    if (!err)
        return 0;
    if (!session->report.failure) {
        session->report.failure = "no memory for the session";
        session->report.failure_error = err;
    }
    yarn_session_close(session);
    return err;
}

void yarn_session_enable(struct yarn_session *session)
{
    /* An event whose thread has gone meanwhile cannot fail in a way that matters. */
    for (size_t i = 0; i < session->nr_events; i++)
        yarn_perf_enable(session->events[i].fd);
}

void yarn_session_disable(struct yarn_session *session)
{
    for (size_t i = 0; i < session->nr_events; i++)
        yarn_perf_disable(session->events[i].fd);
}

size_t yarn_session_drain(struct yarn_session *session, bool is_last,
                          const struct yarn_record_listener *listener, bool *ret_left)
{
    uint64_t until_ns = UINT64_MAX;
    if (!is_last)
        until_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) - YARN_MERGE_MARGIN_NS;
    return yarn_merge_pass(&session->merge, until_ns, listener, ret_left);
}

bool yarn_session_event_number(const struct yarn_session *session, uint64_t id,
                               uint32_t *ret_number)
{
    uint32_t number = yarn_table_find(&session->numbers, id);
    if (number == YARN_TABLE_NONE)
        return false;
    *ret_number = number;
    return true;
}

struct yarn_perf_count yarn_session_count(const struct yarn_session *session, uint32_t number)
{
    struct yarn_perf_count sum = {0};
    for (size_t i = 0; i < session->nr_events; i++) {
        struct yarn_perf_count one;
        if (session->events[i].spec != number || yarn_event_count(&session->events[i], &one))
            continue;
        sum.count += one.count;
        sum.time_enabled_ns += one.time_enabled_ns;
        sum.time_running_ns += one.time_running_ns;
        sum.lost += one.lost;
    }
    return sum;
}

size_t yarn_session_ring_bytes(const struct yarn_session *session)
{
    return session->nr_cores * session->report.got.ring_bytes;
}

void yarn_session_close_rings(struct yarn_session *session)
{
    for (size_t i = 0; i < session->nr_cores; i++) {
        yarn_perf_unmap(session->cores[i].page, session->cores[i].ring.data.size);
        yarn_event_close(&session->cores[i].leader);
    }
    session->nr_cores = 0;
}

void yarn_session_close(struct yarn_session *session)
{
    for (size_t i = 0; i < session->nr_events; i++)
        yarn_event_close(&session->events[i]);
    session->nr_events = 0;
    yarn_session_close_rings(session);
    yarn_table_close(&session->numbers);
    yarn_arena_close(&session->arena);
}
