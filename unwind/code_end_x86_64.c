/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/code_end.h"
#include "unwind/instruction_x86_64.h"

enum { INSTRUCTIONS_MAX = 2000, LONGEST = 15 };

/* Whether the instruction before `at` is the last one; *reached is the farthest branch's target. */
static bool ends_at(const struct yarn_instruction *last, uint64_t at, uint64_t limit,
                    uint64_t *reached)
{
    uint64_t target = at + (uint64_t)(int64_t)last->distance;
    bool may_be_inside = last->flow == YARN_FLOW_BRANCH || last->flow == YARN_FLOW_JUMP;
    if (may_be_inside && target < limit)
        *reached = yarn_u64_max(*reached, target);
    bool goes_on = last->flow != YARN_FLOW_RETURN && last->flow != YARN_FLOW_JUMP &&
                   last->flow != YARN_FLOW_JUMP_MEMORY;
    return !goes_on && *reached < at;
}

uint64_t yarn_code_end(const struct yarn_image *image, uint64_t start, uint64_t limit)
{
    struct yarn_instruction now;
    struct yarn_span code = YARN_SPAN_EMPTY;
    uint64_t at = start, reached = start;
    for (unsigned i = 0; i < INSTRUCTIONS_MAX && at < limit; i++) {
        if (code.size < LONGEST)
            code = yarn_image_at(image, at);
        if (!yarn_instruction_read(code, &now) || now.flow == YARN_FLOW_JUMP_REGISTER ||
            now.flow == YARN_FLOW_STOP)
            return limit;
        at += now.size;
        code = yarn_span_from(code, now.size);
        if (ends_at(&now, at, limit, &reached))
            return yarn_u64_min(at, limit);
    }
    return limit;
}
