/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/events.h"

/* Public: libyarn shows it. */
#pragma GCC visibility push(default)
#include "core/event/catalog.h"
#include "core/include/yarn/event.h"
#pragma GCC visibility pop

enum { ARENA_BYTES = 1 << 20 };

struct adding {
    struct yarn_event_list *list;
    uint8_t group, item;
};

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

static void report_fault(const struct yarn_parse_error *error, struct yarn_fault *ret_fault)
{
    if (!ret_fault)
        return;
    struct yarn_text text = yarn_text_of(ret_fault->text, sizeof ret_fault->text);
    ret_fault->at = error->at;
    ret_fault->size = error->size;
    yarn_text_add(&text, error->why);
}

int yarn_events_parse(const char *text, struct yarn_events **ret_events,
                      struct yarn_fault *ret_fault)
{
    struct yarn_arena arena = YARN_ARENA_CLOSED;
    struct yarn_parse_error error = {.why = "no memory"};
    if (!ret_events)
        return -EINVAL;
    yarn_arena_open(&arena, ARENA_BYTES);
    struct yarn_events *events = YARN_ARENA_NEW(&arena, struct yarn_events, 1);
    if (!events) {
        yarn_arena_close(&arena);
        return -ENOMEM;
    }
    events->arena = arena;
    if (!text)
        text = "";
    int err = yarn_event_list_parse(text, strlen(text), &events->arena, &events->list, &error);
    if (err) {
        report_fault(&error, ret_fault);
        yarn_events_free(events);
        return err;
    }
    *ret_events = events;
    return 0;
}

size_t yarn_events_count(const struct yarn_events *events)
{
    return events ? events->list.count : 0;
}

const char *yarn_events_name(const struct yarn_events *events, size_t index)
{
    return index < yarn_events_count(events) ? events->list.specs[index].name : NULL;
}

const char *yarn_events_asked(const struct yarn_events *events, size_t index)
{
    return index < yarn_events_count(events) ? events->list.specs[index].asked : NULL;
}

const char *yarn_events_unit(const struct yarn_events *events, size_t index)
{
    return index < yarn_events_count(events) ? events->list.specs[index].unit : NULL;
}

void yarn_events_free(struct yarn_events *events)
{
    if (!events)
        return;
    struct yarn_arena arena = events->arena; /* it lies in there itself */
    yarn_arena_close(&arena);
}

int yarn_event_spec_copy_texts(struct yarn_event_spec *spec, struct yarn_arena *arena)
{
    const char **texts[] = {&spec->asked, &spec->refusal,   &spec->event,
                            &spec->unit,  &spec->site.path, &spec->filter,
                            &spec->pmu,   &spec->cpus,      &spec->site.symbol};
    for (size_t i = 0; i < YARN_COUNT_OF(texts); i++) {
        const char *text = *texts[i];
        if (text && !(*texts[i] = yarn_arena_text(arena, text, strlen(text))))
            return -ENOMEM;
    }
    return 0;
}
