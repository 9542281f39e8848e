/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/instruction_x86_64.h"
#include "unwind/site/site_work.h"

bool yarn_site_is_instruction(const struct yarn_image *image, uint64_t start, uint64_t offset)
{
    uint64_t at = 0;
    while (at < offset) {
        struct yarn_instruction instruction;
        if (!yarn_instruction_read(yarn_image_at(image, start + at), &instruction))
            return false;
        at += instruction.size;
    }
    return at == offset;
}
