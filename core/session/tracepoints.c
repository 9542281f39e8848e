/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/tracepoints.h"

#include "core/event/machine.h"

enum { FORMAT_MAX = 60 * 1024 /* what a dump holds */ };

/* SYSTEM:NAME */
static int path_of(const char *event, char ret_path[YARN_MACHINE_PATH_MAX])
{
    const char *colon = strchr(event, ':');
    if (!colon)
        return -ENOENT;
    const struct yarn_span parts[] = {
        yarn_span_of_text("events"),
        yarn_span_of(event, (size_t)(colon - event)),
        yarn_span_of_text(colon + 1),
        yarn_span_of_text("format"),
    };
    return yarn_machine_path(yarn_event_machine_here.tracing, parts, YARN_COUNT_OF(parts),
                             ret_path);
}

/* In the session's memory; left empty where it cannot be read. */
static void read_format(struct yarn_session *session, struct yarn_event_status *state)
{
    char path[YARN_MACHINE_PATH_MAX];
    size_t mark = session->arena.used;
    char *text = yarn_arena_alloc(&session->arena, FORMAT_MAX, 1);
    int size = text ? path_of(state->spec.event, path) : -ENOMEM;
    if (!size)
        size = yarn_machine_read(path, text, FORMAT_MAX);
    yarn_arena_rewind(&session->arena, mark + (size > 0 ? (size_t)size + 1 : 0));
    if (size > 0)
        state->format = yarn_span_of(text, (size_t)size);
}

/* On the reader's own thread, where it never counts. What is refused here is refused again where it
 * is probed. */
static void hold(struct yarn_event *holder, const struct yarn_event_spec *spec)
{
    struct perf_event_attr attr = {
        .type = spec->type,
        .size = sizeof attr,
        .config = spec->config,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    if (yarn_event_open(holder, &attr, UINT32_MAX, 0, -1))
        *holder = YARN_EVENT_CLOSED;
}

void yarn_tracepoint_open(struct yarn_session *session, struct yarn_event_status *state)
{
    if (state->spec.kind != YARN_EVENT_TRACEPOINT || state->spec.refusal)
        return;
    read_format(session, state);
    hold(&state->holder, &state->spec);
}
