/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/session.h"
#include "core/session/thread_rings.h"

static void forget_events(struct yarn_event *events, size_t count)
{
    for (size_t i = 0; events && i < count; i++)
        events[i] = YARN_EVENT_CLOSED;
}

static void forget_cores(struct yarn_session_core *cores, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cores[i].page = NULL;
        cores[i].leader = YARN_EVENT_CLOSED;
    }
}

static void forget_clocks(struct yarn_core_clock *clocks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        forget_cores(&clocks[i].core, 1);
}

static void forget_threads(struct yarn_thread_rings *threads)
{
    for (size_t i = 0; i < threads->nr_slots; i++) {
        struct yarn_thread_ring *slot = &threads->of_slot[i];
        slot->page = slot->watch.page = NULL;
        slot->watch.event = YARN_EVENT_CLOSED;
        forget_events(slot->events, slot->nr_events);
    }
}

void yarn_session_forget(struct yarn_session *session)
{
    forget_cores(session->cores, session->nr_cores);
    forget_cores(session->former_cores, session->nr_former_cores);
    forget_clocks(session->clocks, session->nr_clocks);
    forget_events(session->events, session->nr_events);
    forget_events(session->holders, session->holders ? session->spec->nr_events : 0);
    forget_events(session->wide.events, session->nr_cpus);
    for (size_t i = 0; session->specs && i < session->spec->nr_events; i++)
        session->specs[i].program = -1;
    if (session->threads)
        forget_threads(session->threads);
    yarn_session_close(session);
}
