/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What `yarnprof annotate` shows of one function and in which forms: between the verb, which reads
 * the command line, and the files that print. Threads: one.
 */
#pragma once

#include "output/fold/annotation.h"
#include "output/yarnprof/io/out.h"
#include "output/yarnprof/views/source_text.h"

enum { YARN_ANNOTATE_NOTES_MAX = 8 };

/* The source file of some lines; those of one file stand together. */
struct yarn_annotate_file {
    const char *path;    /* as recorded; "" where the lines are unknown */
    size_t first, count; /* lines of the annotation */
    struct yarn_source_text text;
};

struct yarn_annotate {
    struct yarn_annotation annotation;
    struct yarn_disassembly disassembly;
    const char *objdump;              /* borrowed; NULL: the one that PATH finds */
    const char *source_root;          /* borrowed; NULL: none */
    struct yarn_annotate_file *files; /* owned array */
    size_t nr_files, files_capacity;
    /* What was not available, a sentence each. */
    char notes[YARN_ANNOTATE_NOTES_MAX][256];
    size_t nr_notes;
    size_t limit;   /* the hottest lines and instructions; 0: all */
    size_t context; /* lines and instructions around each */
};

/* Disassembles, finds the sources, and notes what was not available. -ENOMEM. */
YARN_MUST_CHECK int yarn_annotate_init(struct yarn_annotate *annotate,
                                       const struct yarn_choice *choice, uint32_t function);
/* Idempotent. */
void yarn_annotate_fini(struct yarn_annotate *annotate);

/* In the form of `out`. -ENOMEM. */
YARN_MUST_CHECK int yarn_annotate_print(const struct yarn_annotate *annotate,
                                        const struct yarn_out *out);
