/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/control/marks.h"

#include "core/sys/clock.h"
#include "core/sys/process.h"

void yarn_marks_init(struct yarn_marks *marks)
{
    yarn_slots_clear(marks->state, YARN_MARKS_MAX);
    if (atomic_load(&marks->count))
        atomic_store(&marks->count, 0);
}

int yarn_marks_put(struct yarn_marks *marks, const char *text)
{
    size_t size = strlen(text);
    if (size > YARN_CONTROL_MARK_MAX)
        return -EMSGSIZE;
    size_t at = yarn_slots_take(marks->state, YARN_MARKS_MAX);
    if (at == YARN_MARKS_MAX)
        return -EAGAIN;
    struct yarn_mark *mark = &marks->mark[at];
    struct yarn_text copy = yarn_text_of(mark->text, sizeof mark->text);
    yarn_control_add_line(&copy, yarn_span_of(text, size));
    mark->tid = (uint32_t)yarn_process_tid();
    mark->time_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    atomic_fetch_add(&marks->count, 1);
    atomic_store(&marks->state[at], YARN_SLOT_READY);
    return 0;
}

const struct yarn_mark *yarn_marks_next(struct yarn_marks *marks)
{
    for (size_t i = 0; i < YARN_MARKS_MAX && atomic_load(&marks->count); i++)
        if (atomic_load(&marks->state[i]) == YARN_SLOT_READY)
            return &marks->mark[i];
    return NULL;
}

void yarn_marks_free(struct yarn_marks *marks, const struct yarn_mark *mark)
{
    atomic_fetch_sub(&marks->count, 1);
    atomic_store(&marks->state[mark - marks->mark], YARN_SLOT_FREE);
}
