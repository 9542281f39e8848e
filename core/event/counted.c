/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/counted.h"

#include "core/event/catalog.h"

struct adding {
    struct yarn_event_list *list;
    uint8_t group, item;
};

static bool begins_group(const struct yarn_event_list *list, size_t index)
{
    return !list->specs[index].group || yarn_event_spec_leads(list->specs, index);
}

static void add(struct adding *adding, const struct yarn_event_spec *spec)
{
    struct yarn_event_spec *added = &adding->list->specs[adding->list->count++];
    *added = *spec;
    added->is_counted = true;
    added->has_callgraph = true;
    added->callgraph = (struct yarn_callgraph){.kind = YARN_CALLGRAPH_NONE};
    added->group = adding->group;
    added->item = adding->item++;
    added->reads_group = true;
}

static void add_leader(struct adding *adding)
{
    struct yarn_event_spec leader =
        yarn_catalog_spec(yarn_catalog_find(yarn_span_of_text("task-clock")));
    leader.frequency = YARN_COUNTED_HZ;
    leader.has_own_rate = true;
    yarn_event_spec_name(&leader);
    adding->group++;
    add(adding, &leader);
}

int yarn_event_list_add_counted(struct yarn_event_list *list, const struct yarn_event_list *counted)
{
    struct adding adding = {.list = list};
    size_t nr_leaders = 0;
    for (size_t i = 0; i < counted->count; i++)
        nr_leaders += begins_group(counted, i);
    if (counted->count + nr_leaders > YARN_EVENT_LIST_MAX - list->count)
        return -E2BIG;
    for (size_t i = 0; i < list->count; i++) {
        adding.group = (uint8_t)yarn_u64_max(adding.group, list->specs[i].group);
        adding.item = (uint8_t)yarn_u64_max(adding.item, list->specs[i].item + 1);
    }
    for (size_t i = 0; i < counted->count; i++) {
        if (begins_group(counted, i))
            add_leader(&adding);
        add(&adding, &counted->specs[i]);
    }
    return 0;
}
