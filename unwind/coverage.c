/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/coverage.h"

/* The oldest two become one that claims what either does. */
static void make_room(struct yarn_coverage_thread *thread)
{
    uint64_t highest = thread->height[0].place;
    thread->nr_heights--;
    memmove(&thread->height[0], &thread->height[1], thread->nr_heights * sizeof thread->height[0]);
    thread->height[0].place = highest;
}

void yarn_coverage_add(struct yarn_coverage *coverage, uint32_t tid, uint64_t place, uint32_t walk)
{
    struct yarn_coverage_thread *thread = &coverage->thread[tid % YARN_COVERAGE_THREADS];
    if (thread->tid != tid)
        *thread = (struct yarn_coverage_thread){.tid = tid, .since = walk - 1};
    while (thread->nr_heights && thread->height[thread->nr_heights - 1].place <= place)
        thread->nr_heights--;
    if (thread->nr_heights == YARN_COVERAGE_HEIGHTS)
        make_room(thread);
    thread->height[thread->nr_heights++] = (struct yarn_coverage_height){place, walk};
}

uint32_t yarn_coverage_last(const struct yarn_coverage *coverage, uint32_t tid, uint64_t place)
{
    const struct yarn_coverage_thread *thread = &coverage->thread[tid % YARN_COVERAGE_THREADS];
    if (thread->tid != tid)
        return UINT32_MAX;
    for (unsigned i = thread->nr_heights; i-- > 0;)
        if (thread->height[i].place >= place)
            return thread->height[i].walk;
    return thread->since;
}
