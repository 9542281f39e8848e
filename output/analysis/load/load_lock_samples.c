/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/load/load_sched.h"

/* 0: no thread holds what it waits for, as far as is known. */
static uint32_t holder_of(struct yarn_loader *loader, const struct yarn_sample *sample)
{
    const struct yarn_dump_event *event = &yarn_loader_dump(loader)->events[sample->event].record;
    struct yarn_trace_field field;
    uint64_t holder;
    if (!(event->flags & YARN_DUMP_EVENT_IS_OFF_CPU) ||
        !yarn_trace_fields_find(yarn_loader_fields(loader, sample->event),
                                yarn_span_of_text("holder"), &field) ||
        !yarn_trace_field_number(
            &field, yarn_trace_field_bytes(&field, yarn_span_of_bytes(sample->raw)), 0, &holder))
        return 0;
    return (uint32_t)holder;
}

int yarn_loader_sched_lock_sample(struct yarn_loader *loader, const struct yarn_sample *sample,
                                  uint32_t stack)
{
    const struct yarn_sched_lock_sample added = {
        .place = stack, .time_ns = sample->time_ns, .ns = sample->weight};
    uint32_t holder = holder_of(loader, sample);
    if (!holder)
        return 0;
    return yarn_sched_log_add_lock_sample(loader->options->sched, loader->dump, sample->tid, holder,
                                          &added);
}
