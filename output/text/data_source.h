/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a processor says of an access to memory (perf_mem_data_src), in words: "load, L3 hit, snoop
 * hitm, TLB L1 hit". Threads, signals: pure functions; safe anywhere.
 */
#pragma once

#include "core/base/base.h"

enum { YARN_DATA_SOURCE_MAX = 512 };

/* The text. What is not available is left out; all of it: "not known". */
const char *yarn_data_source_text(uint64_t data_source, char ret_text[YARN_DATA_SOURCE_MAX]);
