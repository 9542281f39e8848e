/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/clock_offset.h"

#include "core/event/event.h"
#include "core/record/record.h"
#include "core/sys/clock.h"
#include "core/sys/process.h"

enum { TRIES = 40, DATA_BYTES = 4096 /* more than all of their records */ };

/* One reading between two: false where the name was not recorded. */
static bool measure_once(struct yarn_ring *ring, struct yarn_clock_offset *ret_offset)
{
    struct perf_event_header header;
    struct yarn_wrapped bytes;
    uint64_t before_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    yarn_perf_note_name();
    uint64_t after_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    yarn_ring_begin(ring);
    if (yarn_ring_peek(ring, &header, &bytes) != YARN_RING_RECORD)
        return false;
    uint64_t middle_ns = before_ns + (after_ns - before_ns) / 2;
    ret_offset->offset_ns = (int64_t)(middle_ns - yarn_record_time(&header, &bytes));
    ret_offset->bound_ns = (after_ns - before_ns + 1) / 2;
    ret_offset->time_ns = middle_ns;
    yarn_ring_take(ring, &header);
    yarn_ring_commit(ring);
    return header.type == PERF_RECORD_COMM;
}

static int measure(struct yarn_ring *ring, struct yarn_clock_offset *ret_offset)
{
    struct yarn_clock_offset one, best = {.bound_ns = UINT64_MAX};
    for (int i = 0; i < TRIES; i++)
        if (measure_once(ring, &one) && one.bound_ns < best.bound_ns)
            best = one;
    if (best.bound_ns == UINT64_MAX)
        return -EAGAIN;
    *ret_offset = best;
    return 0;
}

static int measure_here(int cpu, uint32_t features, struct yarn_clock_offset *ret_offset)
{
    struct yarn_attr_options options = {.features = features & ~(uint32_t)YARN_ATTR_CLOCK};
    struct perf_event_attr attr = yarn_attr_of_leader(&options, DATA_BYTES);
    struct yarn_event event = YARN_EVENT_CLOSED;
    struct perf_event_mmap_page *page = NULL;
    attr.comm = 1;
    int err = yarn_event_open(&event, &attr, UINT32_MAX, 0, cpu);
    if (err)
        return err;
    err = yarn_event_map(&event, DATA_BYTES, &page);
    if (!err)
        err = yarn_perf_enable(event.fd);
    if (!err) {
        struct yarn_ring ring =
            yarn_ring_of(page, (const uint8_t *)page + page->data_offset, DATA_BYTES);
        err = measure(&ring, ret_offset);
    }
    yarn_perf_unmap(page, DATA_BYTES);
    yarn_event_close(&event);
    return err;
}

int yarn_clock_offset_measure(int cpu, uint32_t features, struct yarn_clock_offset *ret_offset)
{
    struct yarn_process_cores before;
    int err = yarn_process_go_to_core(cpu, &before);
    if (err)
        return err;
    err = measure_here(cpu, features, ret_offset);
    yarn_process_leave_core(&before);
    return err;
}
