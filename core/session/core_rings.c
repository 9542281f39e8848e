/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/core_rings.h"

#include "core/session/probe.h"

int yarn_core_rings_init(struct yarn_session *session, size_t max_rings)
{
    session->max_cores = max_rings;
    session->cores = YARN_ARENA_NEW(&session->arena, struct yarn_session_core, max_rings);
    if (!session->cores)
        return yarn_probe_fail(session, "no memory for the list of rings", -ENOMEM);
    return 0;
}

int yarn_core_rings_add(struct yarn_session *session, const struct yarn_event *event)
{
    if (session->nr_cores == session->max_cores)
        return -ENOSPC;
    struct yarn_session_core *core = &session->cores[session->nr_cores];
    *core = (struct yarn_session_core){.cpu = event->cpu, .leader = *event};
    int err = yarn_event_map(event, session->report.got.ring_bytes, &core->page);
    if (err)
        return err;
    const uint8_t *data = (const uint8_t *)core->page + core->page->data_offset;
    core->ring = yarn_ring_of(core->page, data, session->report.got.ring_bytes);
    session->nr_cores++;
    return 0;
}

int yarn_core_rings_merge(struct yarn_session *session)
{
    size_t count = session->nr_former_cores + session->nr_cores + session->nr_clocks, at = 0;
    struct yarn_merge_source *sources =
        YARN_ARENA_NEW(&session->arena, struct yarn_merge_source, count);
    if (!sources)
        return yarn_probe_fail(session, "no memory for the list of rings", -ENOMEM);
    for (size_t i = 0; i < session->nr_former_cores; i++)
        sources[at++] = (struct yarn_merge_source){.ring = &session->former_cores[i].ring};
    for (size_t i = 0; i < session->nr_cores; i++)
        sources[at++] = (struct yarn_merge_source){.ring = &session->cores[i].ring};
    for (size_t i = 0; i < session->nr_clocks; i++)
        sources[at++] = (struct yarn_merge_source){
            .ring = &session->clocks[i].core.ring,
            .offset_ns = &session->clocks[i].offset.offset_ns,
        };
    session->merge.sources = sources;
    session->merge.count = count;
    session->report.nr_rings = session->nr_cores + session->nr_clocks;
    return 0;
}

static void close_cores(struct yarn_session_core *cores, size_t *nr_cores)
{
    for (size_t i = 0; i < *nr_cores; i++) {
        yarn_perf_unmap(cores[i].page, cores[i].ring.data.size);
        yarn_event_close(&cores[i].leader);
    }
    *nr_cores = 0;
}

int yarn_core_rings_set_aside(struct yarn_session *session)
{
    struct yarn_session_core *cores =
        YARN_ARENA_NEW(&session->arena, struct yarn_session_core, session->max_cores);
    if (!cores || session->nr_former_cores)
        return -ENOMEM;
    session->former_cores = session->cores;
    session->nr_former_cores = session->nr_cores;
    session->cores = cores;
    session->nr_cores = 0;
    return 0;
}

void yarn_core_rings_take_back(struct yarn_session *session)
{
    close_cores(session->cores, &session->nr_cores);
    session->cores = session->former_cores;
    session->nr_cores = session->nr_former_cores;
    session->nr_former_cores = 0;
}

void yarn_core_rings_attend(struct yarn_session *session)
{
    struct yarn_merge *merge = &session->merge;
    for (size_t i = 0; i < session->nr_former_cores; i++) {
        struct yarn_ring *ring = &session->former_cores[i].ring;
        yarn_ring_begin(ring);
        if (ring->head != ring->tail)
            return;
    }
    if (!session->nr_former_cores)
        return;
    merge->sources += session->nr_former_cores;
    merge->count -= session->nr_former_cores;
    close_cores(session->former_cores, &session->nr_former_cores);
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

void yarn_core_rings_close(struct yarn_session *session)
{
    close_cores(session->cores, &session->nr_cores);
    close_cores(session->former_cores, &session->nr_former_cores);
}
