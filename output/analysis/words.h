/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The words for the enumerations of a dump, as text and JSON have them. "unknown" for values of a
 * later version. Threads: safe anywhere.
 */
#pragma once

#include "output/dump/types.h"

const char *yarn_word_of_end(uint32_t reason);           /* enum yarn_dump_end_reason */
const char *yarn_word_of_message(uint32_t kind);         /* enum yarn_dump_message_kind */
const char *yarn_word_of_coverage_cause(uint32_t cause); /* enum yarn_dump_coverage_cause */
const char *yarn_word_of_module_kind(uint32_t kind);     /* yarn_dump_module.kind */
const char *yarn_word_of_module_state(uint32_t state);   /* yarn_dump_module.state */
const char *yarn_word_of_clock(uint32_t clock);          /* yarn_dump_process.clock */
