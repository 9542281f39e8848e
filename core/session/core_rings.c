/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/core_rings.h"

#include "core/session/probe.h"
#include "core/sys/process.h"

enum { CPUS_MAX = 1024 };

int yarn_core_rings_find_cpus(struct yarn_session *session)
{
    int cpus[CPUS_MAX];
    session->nr_cpus = yarn_process_present_cpus(cpus, YARN_COUNT_OF(cpus));
    session->cpus = YARN_ARENA_NEW(&session->arena, int, session->nr_cpus);
    if (!session->cpus)
        return yarn_probe_fail(session, "no memory for the list of cores", -ENOMEM);
    memcpy(session->cpus, cpus, session->nr_cpus * sizeof cpus[0]);
    return 0;
}

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
    struct yarn_merge_source *sources =
        YARN_ARENA_NEW(&session->arena, struct yarn_merge_source, session->nr_cores);
    if (!sources)
        return yarn_probe_fail(session, "no memory for the list of rings", -ENOMEM);
    for (size_t i = 0; i < session->nr_cores; i++)
        sources[i] = (struct yarn_merge_source){.ring = &session->cores[i].ring};
    session->merge.sources = sources;
    session->merge.count = session->nr_cores;
    session->report.nr_rings = session->nr_cores;
    return 0;
}

size_t yarn_core_rings_bytes(const struct yarn_session *session)
{
    return session->nr_cores * session->report.got.ring_bytes;
}

void yarn_core_rings_close(struct yarn_session *session)
{
    for (size_t i = 0; i < session->nr_cores; i++) {
        yarn_perf_unmap(session->cores[i].page, session->cores[i].ring.data.size);
        yarn_event_close(&session->cores[i].leader);
    }
    session->nr_cores = 0;
}
