/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/verbs/hold.h"

#include "core/event/events.h"
#include "core/sys/file.h"
#include "core/sys/perf.h"

static int open_disabled(const struct yarn_event_spec *spec)
{
    struct perf_event_attr attr = {
        .type = spec->type,
        .size = sizeof attr,
        .config = spec->config,
        .disabled = 1,
        .exclude_kernel = 1,
    };
    return yarn_perf_open(&attr, 0, -1, -1);
}

static void add(struct yarn_hold *hold, const struct yarn_event_spec *spec)
{
    bool can = spec->kind == YARN_EVENT_TRACEPOINT && !spec->refusal &&
               hold->count < YARN_COUNT_OF(hold->fds);
    int fd = can ? open_disabled(spec) : -1;
    if (fd >= 0)
        hold->fds[hold->count++] = fd;
}

void yarn_hold_scheduling(struct yarn_hold *hold, struct yarn_arena *arena)
{
    struct yarn_event_list list = {.count = 0};
    if (yarn_event_list_add_scheduling(&list, arena, false, true))
        return;
    for (size_t i = 0; i < list.count; i++)
        add(hold, &list.specs[i]);
}

int yarn_hold_open(struct yarn_hold *hold, struct yarn_event_list *list, struct yarn_arena *arena,
                   const struct yarn_event_spec **ret_refused)
{
    hold->count = 0;
    for (size_t i = 0; i < list->count; i++)
        list->specs[i].is_encoded |= list->specs[i].kind == YARN_EVENT_PROBE;
    yarn_probe_sites_open(&hold->probe_sites, list, arena, YARN_TRACEFS, false);
    for (size_t i = 0; i < list->count; i++) {
        struct yarn_event_spec *spec = &list->specs[i];
        if (spec->kind == YARN_EVENT_PROBE && spec->refusal) {
            *ret_refused = spec;
            yarn_hold_close(hold);
            return -spec->refusal_error;
        }
        if (spec->kind == YARN_EVENT_PROBE)
            spec->is_encoded = false;
        add(hold, spec);
    }
    return 0;
}

void yarn_hold_close(struct yarn_hold *hold)
{
    for (size_t i = 0; i < hold->count; i++)
        yarn_file_close(hold->fds[i]);
    hold->count = 0;
    yarn_probe_sites_close(&hold->probe_sites);
}
