/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The things that a dump holds, as the writer takes them and the reader gives them: one struct a
 * record type, made of format.def, which says what each member means. How they lie in the file is
 * FORMAT.md; what they mean together is output/analysis. Times are CLOCK_MONOTONIC in ns. Numbers
 * of strings, modules, symbols, frames and stacks count from 0 in the order in which the dump
 * defines them; YARN_DUMP_NONE is "none".
 */
#pragma once

#include "core/base/span.h"
#include "core/include/yarn/sample.h"

#define YARN_DUMP_NONE UINT32_MAX

/* clang-format off */
#define YARN_ENUM(NAME, name, prose) enum yarn_dump_##name {
#define YARN_VALUE(NAME, VALUE, number, word, prose) YARN_DUMP_##VALUE = (number),
#define YARN_ENUM_END(NAME) YARN_DUMP_##NAME##_COUNT };
#include "output/dump/format.def"

enum yarn_dump_total {
#define YARN_TOTAL(number, NAME, name, prose) YARN_DUMP_TOTAL_##NAME = (number),
#include "output/dump/format.def"
    YARN_DUMP_TOTAL_COUNT
};

/* A member, by its field's kind. */
#define YARN_DUMP_U32(member) uint32_t member;
#define YARN_DUMP_U64(member) uint64_t member;
#define YARN_DUMP_AMOUNT(member) uint64_t member;
#define YARN_DUMP_I32(member) int32_t member;
#define YARN_DUMP_I64(member) int64_t member;
#define YARN_DUMP_BOOL(member) bool member;
#define YARN_DUMP_REF(member) uint32_t member;
#define YARN_DUMP_TID(member) uint32_t member;
#define YARN_DUMP_CPU(member) uint32_t member;
#define YARN_DUMP_TIME(member) uint64_t member;
#define YARN_DUMP_TEXT(member) struct yarn_span member;
#define YARN_DUMP_VALUES(member) uint64_t member[YARN_DUMP_TOTAL_COUNT];
#define YARN_RECORD(number, NAME, name, prose) struct yarn_dump_##name {
#define YARN_FIELD(NAME, name, KIND, member, prose) YARN_DUMP_##KIND(member)
#define YARN_RECORD_END(NAME, name) };
#include "output/dump/format.def"

/* A text is its number + 1 there, 0 where it is empty. */
#undef YARN_DUMP_TEXT
#define YARN_DUMP_TEXT(member) uint32_t member;
#define YARN_BATCH(number, NAME, names, row, prose) struct yarn_dump_##row {
#define YARN_COLUMN(NAME, row, KIND, ENCODING, member, prose) YARN_DUMP_##KIND(member)
#define YARN_BATCH_END(NAME, row) };
#include "output/dump/format.def"
/* clang-format on */

_Static_assert((int)YARN_DUMP_STACK_TRUNCATED == YARN_STACK_END_CUT &&
                   (int)YARN_DUMP_STACK_NO_UNWIND_INFO == YARN_STACK_END_NO_INFO &&
                   (int)YARN_DUMP_STACK_FAILED == YARN_STACK_END_FAILED &&
                   (int)YARN_DUMP_STACK_NONE == YARN_STACK_END_ABSENT,
               "stacks' ends have the dump's numbers");

/* A function. */
struct yarn_dump_symbol {
    uint32_t number;
    uint32_t module;       /* YARN_DUMP_NONE: no module holds the address */
    uint64_t start, end;   /* linked; both 0 where unknown */
    struct yarn_span name; /* as the symbol table has it, mangled; empty: unknown */
};

struct yarn_dump_frame {
    uint32_t number;
    uint32_t symbol; /* never NONE: every frame has a symbol record, named or not */
    uint32_t flags;
    uint64_t address; /* linked lookup address; where no module holds it, as in the process */
};

/* A stack is its outer neighbour plus one frame: `parent` is the caller's stack. */
struct yarn_dump_stack {
    uint32_t number;
    uint32_t parent; /* YARN_DUMP_NONE: the frame is the outermost */
    uint32_t frame;
    uint32_t depth; /* in frames, with this one */
};
