/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/scheduling.h"

static const char words[] = "sched:sched_switch,sched:sched_waking";

/* As the user asked for it: with stacks, perhaps. */
static bool has(const struct yarn_event_list *list, const struct yarn_event_spec *spec)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->specs[i].type == spec->type && list->specs[i].config == spec->config &&
            !list->specs[i].refusal)
            return true;
    return false;
}

int yarn_event_list_add_scheduling(struct yarn_event_list *list, struct yarn_arena *arena,
                                   bool is_of_machine, bool is_if_permitted)
{
    struct yarn_parse_error error;
    struct yarn_event_list *added = YARN_ARENA_NEW(arena, struct yarn_event_list, 1);
    int err =
        added ? yarn_event_list_parse(words, sizeof words - 1, arena, added, &error) : -ENOMEM;
    /* Why: a kernel without these tracepoints is one that cannot be asked for them. */
    if (err == -EINVAL)
        return 0;
    if (err)
        return err;
    if (added->count >= YARN_EVENT_LIST_MAX - list->count)
        return 0;
    uint8_t item = 0;
    for (size_t i = 0; i < list->count; i++)
        item = (uint8_t)yarn_u64_max(item, list->specs[i].item + 1);
    for (size_t i = 0; i < added->count; i++) {
        if (!is_of_machine && has(list, &added->specs[i]))
            continue;
        struct yarn_event_spec *spec = &list->specs[list->count++];
        *spec = added->specs[i];
        spec->is_scheduling = true;
        spec->is_of_machine = is_of_machine;
        spec->is_if_permitted = is_if_permitted;
        spec->has_callgraph = true;
        spec->callgraph = (struct yarn_callgraph){.kind = YARN_CALLGRAPH_NONE};
        spec->item = item++;
    }
    return 0;
}
