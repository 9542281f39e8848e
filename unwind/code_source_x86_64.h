/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Instructions one by one, of a file or of a process's memory, and which addresses were read near
 * the first. Does not know what they do to the stack.
 *
 * Threads: as image.h. Signals: not safe.
 */
#pragma once

#include "unwind/instruction_x86_64.h"
#include "unwind/rule.h"

struct yarn_code_source {
    const struct yarn_image *image;   /* borrowed; NULL: the process's memory */
    const struct yarn_target *target; /* borrowed: of that */
    struct yarn_code_extent near;     /* grows by what is read within 4 KiB of it */
    struct yarn_span bytes;           /* read last */
    uint64_t at;                      /* of these */
    uint8_t live[256];
};

/* What is there, as far as it can be read at once; empty where it cannot. */
struct yarn_span yarn_code_source_at(struct yarn_code_source *source, uint64_t vaddr);

bool yarn_code_source_read(struct yarn_code_source *source, uint64_t vaddr,
                           struct yarn_instruction *ret_instruction);
