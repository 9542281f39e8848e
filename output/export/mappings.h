/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Pieces of code files that the stacks of an export lie in, in linked addresses: the same for every
 * process that has them. And, for each frame, in which dump and piece it is.
 * Threads: one owner at a time.
 */
#pragma once

#include "output/export/export.h"

struct yarn_export_mapping {
    uint32_t module; /* of the profile */
    uint32_t kind;   /* as yarn_dump_module has it */
    uint64_t start, end;
    uint64_t file_offset;
    bool is_fixed;             /* linked addresses are those in the process: no PIE, no library */
    struct yarn_span build_id; /* borrowed; bytes; empty where unknown */
};

struct yarn_frame_home {
    uint32_t dump;    /* YARN_DUMP_NONE: no sample that passes has the frame */
    uint32_t mapping; /* YARN_DUMP_NONE: none */
};

struct yarn_export_mappings {
    struct yarn_export_mapping *list; /* owned array; only what is used */
    size_t count;
    size_t capacity;
    struct yarn_frame_home *homes; /* owned; one a frame of the profile */
    uint8_t *stacks;               /* owned; a byte each, 1: on a sample that passes, or around */
};

YARN_MUST_CHECK int yarn_export_mappings_init(struct yarn_export_mappings *mappings,
                                              const struct yarn_export *export);
/* Idempotent. */
void yarn_export_mappings_fini(struct yarn_export_mappings *mappings);

/* The mapping of the executable with the most samples; `count`: none. */
size_t yarn_export_mappings_main(const struct yarn_export_mappings *mappings,
                                 const struct yarn_profile *profile);
