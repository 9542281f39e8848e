/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/core_rings.h"

#include "core/session/probe.h"

int yarn_core_ring_open(const struct yarn_session *session, int cpu, size_t bytes, size_t watermark,
                        struct yarn_session_core *ret_core)
{
    struct yarn_session_core core = {.cpu = cpu, .leader = YARN_EVENT_CLOSED};
    struct yarn_attr_options options = {.features = session->report.features};
    struct perf_event_attr attr = yarn_attr_of_leader(&options, (uint32_t)watermark);
    int err = yarn_event_open(&core.leader, &attr, UINT32_MAX, 0, cpu);
    if (!err)
        err = yarn_ring_open(&core.leader, bytes, &core.ring);
    if (err)
        yarn_event_close(&core.leader);
    *ret_core = core;
    return err;
}

int yarn_core_rings_open(const struct yarn_session *session, struct yarn_session_core *cores,
                         size_t *nr_cores)
{
    const struct yarn_plan *plan = &session->report.got;
    for (size_t i = 0; i < session->nr_cpus; i++) {
        int err = yarn_core_ring_open(session, session->cpus[i], plan->ring_bytes,
                                      yarn_plan_watermark(plan), &cores[*nr_cores]);
        *nr_cores += !err;
        if (err && !(err == -EINVAL && *nr_cores)) { /* present and yet not possible */
            yarn_core_rings_close(cores, nr_cores);
            return err;
        }
    }
    return 0;
}

const struct yarn_event *yarn_core_rings_leader(const struct yarn_session *session, int cpu)
{
    size_t core = 0;
    while (core + 1 < session->nr_cores && session->cores[core].cpu != cpu)
        core++;
    return &session->cores[core].leader;
}

int yarn_core_rings_merge(struct yarn_session *session)
{
    size_t count = session->nr_former_cores + session->nr_cores, at = 0;
    struct yarn_merge_source *sources =
        YARN_ARENA_NEW(&session->arena, struct yarn_merge_source, count);
    if (!sources)
        return yarn_probe_fail(session, "no memory for the list of rings", -ENOMEM);
    for (size_t i = 0; i < session->nr_former_cores; i++)
        sources[at++] = (struct yarn_merge_source){.ring = &session->former_cores[i].ring};
    for (size_t i = 0; i < session->nr_cores; i++)
        sources[at++] = (struct yarn_merge_source){.ring = &session->cores[i].ring};
    session->merge.sources = sources;
    session->merge.count = count;
    session->report.nr_rings = session->nr_cores;
    return 0;
}

void yarn_core_rings_close(struct yarn_session_core *cores, size_t *nr_cores)
{
    for (size_t i = 0; i < *nr_cores; i++) {
        yarn_ring_close(&cores[i].ring);
        yarn_event_close(&cores[i].leader);
    }
    *nr_cores = 0;
}

int yarn_core_rings_replace(struct yarn_session *session, struct yarn_session_core *cores,
                            size_t nr_cores)
{
    session->former_cores = session->cores;
    session->nr_former_cores = session->nr_cores;
    session->cores = cores;
    session->nr_cores = nr_cores;
    int err = yarn_core_rings_merge(session);
    if (!err)
        return 0;
    yarn_core_rings_close(session->cores, &session->nr_cores);
    session->cores = session->former_cores;
    session->nr_cores = session->nr_former_cores;
    session->nr_former_cores = 0;
    return err;
}

void yarn_core_rings_close_former(struct yarn_session *session)
{
    struct yarn_merge *merge = &session->merge;
    if (!session->nr_former_cores || session->growth.is_moving)
        return;
    for (size_t i = 0; i < session->nr_former_cores; i++)
        if (!yarn_ring_is_empty(&session->former_cores[i].ring))
            return;
    merge->sources += session->nr_former_cores;
    merge->count -= session->nr_former_cores;
    yarn_core_rings_close(session->former_cores, &session->nr_former_cores);
}

size_t yarn_core_rings_bytes(const struct yarn_session *session)
{
    size_t bytes = 0;
    for (size_t i = 0; i < session->nr_cores; i++)
        bytes += session->cores[i].ring.data.size;
    for (size_t i = 0; i < session->nr_former_cores; i++)
        bytes += session->former_cores[i].ring.data.size;
    return bytes;
}
