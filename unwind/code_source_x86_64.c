/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/code_source_x86_64.h"

enum { PAGE = 4096, NEAR = 4096 };

struct yarn_span yarn_code_source_at(struct yarn_code_source *source, uint64_t vaddr)
{
    if (source->image)
        return yarn_image_at(source->image, vaddr);
    source->bytes = YARN_SPAN_EMPTY; /* which `live` held */
    size_t in_page = PAGE - vaddr % PAGE;
    size_t size = yarn_size_min(in_page, sizeof source->live);
    if (yarn_target_read(source->target, vaddr, source->live, sizeof source->live) == 0)
        size = sizeof source->live;
    else if (yarn_target_read(source->target, vaddr, source->live, size))
        size = 0;
    return yarn_span_of(source->live, size);
}

static void note_near(struct yarn_code_extent *near, uint64_t from, uint64_t to)
{
    if (from < near->from && near->to - from <= 2 * NEAR)
        near->from = from;
    if (to > near->to && to - near->from <= 2 * NEAR)
        near->to = to;
}

bool yarn_code_source_read(struct yarn_code_source *source, uint64_t vaddr,
                           struct yarn_instruction *ret_instruction)
{
    enum { LONGEST = 15 };
    uint64_t from = vaddr - source->at;
    if (from >= source->bytes.size || source->bytes.size - from < LONGEST) {
        source->bytes = yarn_code_source_at(source, vaddr);
        source->at = vaddr;
        from = 0;
    }
    if (!yarn_instruction_read(yarn_span_from(source->bytes, from), ret_instruction))
        return false;
    note_near(&source->near, vaddr, vaddr + ret_instruction->size);
    return true;
}
