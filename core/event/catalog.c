/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/catalog.h"

#include <linux/perf_event.h>

#include "core/event/nearest.h"

/* Why through a second macro: SOFTWARE and HARDWARE stand for two columns. */
#define YARN_EVENT(...) ENTRY(__VA_ARGS__)
#define ENTRY(name, alias, kind, type, config, unit, counts_kernel, period_1, help)                \
    {name, alias, kind, type, config, unit, counts_kernel, period_1, help},
static const struct yarn_catalog_entry entries[] = {
#include "core/event/catalog.def"
};
#undef YARN_EVENT
#undef ENTRY

const struct yarn_catalog_entry *yarn_catalog_at(size_t index)
{
    return index < YARN_COUNT_OF(entries) ? &entries[index] : NULL;
}

const struct yarn_catalog_entry *yarn_catalog_find(struct yarn_span name)
{
    for (size_t i = 0; i < YARN_COUNT_OF(entries); i++)
        if (yarn_event_word_is(name, entries[i].name) ||
            (entries[i].alias && yarn_event_word_is(name, entries[i].alias)))
            return &entries[i];
    return NULL;
}

struct yarn_event_spec yarn_catalog_spec(const struct yarn_catalog_entry *entry)
{
    return (struct yarn_event_spec){
        .asked = entry->name,
        .event = entry->name,
        .unit = entry->unit,
        .kind = entry->kind,
        .type = entry->type,
        .config = entry->config,
        .has_default_period_1 = entry->has_default_period_1,
        .scale = 1,
        .is_clock = entry->kind == YARN_EVENT_CLOCK,
        .is_in_kernel = entry->counts_kernel,
    };
}
