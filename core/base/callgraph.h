/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The way in which the stack of a sample is recorded, in words and as a value: YARN_CALLGRAPH and
 * the term call-graph= of an event say it alike. Knows the words; does not know how stacks are
 * unwound.
 *
 * Threads, signals: pure functions over values; safe anywhere.
 */
#pragma once

#include "core/base/text.h"

enum yarn_callgraph_kind {
    YARN_CALLGRAPH_AUTO, /* as dwarf with the default copy, which may shrink to fit the memory */
    YARN_CALLGRAPH_FP,
    YARN_CALLGRAPH_DWARF,
    YARN_CALLGRAPH_LBR,
    YARN_CALLGRAPH_NONE,
};

struct yarn_callgraph {
    enum yarn_callgraph_kind kind;
    uint32_t stack_bytes; /* of the stack's copy; 0 where none is made */
};

/* The kernel refuses copies above 65528 bytes and such that are no multiple of 8. */
#define YARN_STACK_BYTES_DEFAULT 32768
#define YARN_STACK_BYTES_MIN 512
#define YARN_STACK_BYTES_MAX 65528

#define YARN_CALLGRAPH_DEFAULT                                                                     \
    ((struct yarn_callgraph){YARN_CALLGRAPH_AUTO, YARN_STACK_BYTES_DEFAULT})

/* auto, fp, dwarf[:BYTES], lbr, none or no. */
YARN_MUST_CHECK int yarn_callgraph_parse(const char *text, size_t size,
                                         struct yarn_callgraph *ret_callgraph,
                                         struct yarn_parse_error *ret_error);

/* A number of bytes that the kernel takes for a copy of the stack. */
YARN_MUST_CHECK int yarn_callgraph_parse_stack(const char *text, size_t size, uint32_t *ret_bytes,
                                               struct yarn_parse_error *ret_error);

/* The words that yarn_callgraph_parse reads back. */
void yarn_callgraph_describe(const struct yarn_callgraph *callgraph, struct yarn_text *text);
