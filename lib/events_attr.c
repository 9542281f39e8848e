/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/attr.h"
#include "core/event/events.h"

/* Public: libyarn shows it. */
#pragma GCC visibility push(default)
#include "core/include/yarn/event.h"
#pragma GCC visibility pop

#include "unwind/symbol/place.h"

enum { FREQUENCY_HZ = 999 };

/* As a session attaches it where it has one thread. */
static int make(const struct yarn_event_spec *spec, struct perf_event_attr *ret_attr)
{
    const struct yarn_attr_options options = {.features = YARN_ATTR_CLOCK, .is_single = true};
    struct yarn_event_spec event = *spec;
    const char *why;
    if (event.kind == YARN_EVENT_OFF_CPU)
        return -EOPNOTSUPP;
    if (event.kind == YARN_EVENT_BREAKPOINT && event.site.symbol && !event.config1) {
        if (!yarn_symbol_place_find(event.site.symbol, &event.config1))
            return -ENOENT;
        event.config1 += event.site.offset;
    }
    int err = yarn_event_spec_check(&event, &why);
    if (err)
        return err;
    yarn_event_spec_apply_rate(&event, FREQUENCY_HZ);
    *ret_attr = yarn_attr_of(&event, &options);
    return 0;
}

int yarn_events_attr(const struct yarn_events *events, size_t index,
                     struct perf_event_attr *ret_attr, size_t size)
{
    struct perf_event_attr attr;
    if (index >= yarn_events_count(events) || !ret_attr || size < PERF_ATTR_SIZE_VER0)
        return -EINVAL;
    int err = make(&events->list.specs[index], &attr);
    if (err)
        return err;
    for (size_t i = size; i < sizeof attr; i++)
        if (((const uint8_t *)&attr)[i])
            return -E2BIG;
    attr.size = (uint32_t)yarn_size_min(size, sizeof attr);
    memset(ret_attr, 0, size);
    memcpy(ret_attr, &attr, attr.size);
    return 0;
}
