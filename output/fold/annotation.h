/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * One function from within: which of its instructions and which of its source lines the samples
 * fell into. What was inlined into the function is part of the line that calls it, so that the
 * lines, the instructions and the flat view agree on what the function itself spent.
 * Where dumps saw several builds of the module, the one with most samples in the function is shown.
 * Knows profiles; does not know how instructions look (disassembly) nor what a source file says.
 *
 * Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/source/disassembly.h"
#include "output/fold/fold.h"

/* An instruction or, where it could not be disassembled, an address that was sampled. */
struct yarn_annotation_instruction {
    uint64_t address;    /* first: searched by it */
    const char *text;    /* borrowed from the disassembly; NULL: none */
    uint32_t file, line; /* of the innermost inlined function; 0 where unknown or unsampled */
    uint32_t function;   /* the innermost; the annotated one where nothing is inlined there */
    bool is_after_gap;   /* it does not follow directly after the previous one */
};

struct yarn_annotation_line {
    uint32_t file, line;
};

struct yarn_annotation_extent {
    uint64_t start, end;
};

/* Pointers without another word are owned arrays; their counts follow. */
struct yarn_annotation {
    const struct yarn_profile *profile; /* borrowed, as what the choice points to; outlive it */
    struct yarn_choice choice;          /* of the build that is shown */
    uint32_t function;
    uint8_t *threads;          /* the choice's */
    struct yarn_span build_id; /* of that build; empty: unknown */
    uint64_t file_bytes;       /* the same; 0: unknown */
    bool is_file;              /* its code comes from a file, which has the module's path */
    uint64_t other_samples;    /* in the function, of other builds: left out */
    uint64_t *starts;          /* of its frames' functions, sorted */
    size_t nr_starts;
    struct yarn_annotation_extent *extents; /* the function's code; none where it is inlined */
    size_t nr_extents, extents_capacity;
    struct yarn_annotation_instruction *instructions; /* by address */
    size_t nr_instructions, instructions_capacity;
    struct yarn_annotation_line *lines; /* by name of the file, then line */
    size_t nr_lines, lines_capacity;
    uint32_t *instruction_keys, *line_keys; /* one a stack; YARN_DUMP_NONE: not of the function */
};

/* Sums of one event. */
struct yarn_annotation_sums {
    struct yarn_group whole;
    struct yarn_group *instructions; /* owned arrays, by number */
    struct yarn_group *lines;
};

/* The profile has been loaded with lines and inlined functions. -ENOMEM. */
YARN_MUST_CHECK int yarn_annotation_init(struct yarn_annotation *annotation,
                                         const struct yarn_choice *choice, uint32_t function);
/* Makes instructions and lines; `disassembly` (may be empty) holds the instructions of the extents,
 * as far as available. */
YARN_MUST_CHECK int yarn_annotation_place(struct yarn_annotation *annotation,
                                          const struct yarn_disassembly *disassembly);
/* Idempotent. */
void yarn_annotation_fini(struct yarn_annotation *annotation);

YARN_MUST_CHECK int yarn_annotation_sum(const struct yarn_annotation *annotation, uint32_t event,
                                        struct yarn_annotation_sums *ret_sums);
void yarn_annotation_sums_fini(struct yarn_annotation_sums *sums);

/* Groups, one a function of the profile: what it spent itself and what was inlined into it did. */
YARN_MUST_CHECK int yarn_annotation_selfs(const struct yarn_choice *choice, uint32_t event,
                                          struct yarn_group **ret_selfs);
