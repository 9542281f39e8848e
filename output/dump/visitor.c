/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/visitor.h"

void yarn_dump_summary_add_damage(struct yarn_dump_summary *summary, uint64_t offset, uint64_t size,
                                  const char *why)
{
    if (summary->nr_damages < YARN_COUNT_OF(summary->damages))
        summary->damages[summary->nr_damages] =
            (struct yarn_dump_damage){.offset = offset, .size = size, .why = why};
    summary->nr_damages++;
    summary->damaged_bytes += size;
}
