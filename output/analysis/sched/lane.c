/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/sched/lane.h"

static void on_piece(void *self, enum yarn_sched_state state, uint64_t from_ns, uint64_t to_ns)
{
    const struct yarn_sched_lane *lane = self;
    from_ns = yarn_u64_max(from_ns, lane->from_ns);
    while (from_ns < to_ns) {
        uint64_t slice = (from_ns - lane->from_ns) / lane->slice_ns;
        if (slice >= lane->count)
            return;
        uint64_t end_ns = lane->from_ns + (slice + 1) * lane->slice_ns;
        end_ns = end_ns < from_ns ? to_ns : yarn_u64_min(end_ns, to_ns);
        lane->cells[slice].states[state] += end_ns - from_ns;
        from_ns = end_ns;
    }
}

void yarn_sched_lane_add(const struct yarn_sched_lane *lane, const struct yarn_sched_log *sched,
                         const struct yarn_sched_life *life, uint64_t from_ns, uint64_t to_ns)
{
    static const struct yarn_sched_visitor visitor = {.piece = on_piece};
    struct yarn_sched_lane own = *lane;
    yarn_sched_walk(sched, life, from_ns, to_ns, &visitor, &own);
}
