/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Names as people read them: C++, Rust and D symbols demangled, nameless functions called by their
 * module and start. Threads: safe anywhere.
 */
#pragma once

#include "output/analysis/value/strings.h"

/* The readable form of a symbol's name, which is the name itself where it is not mangled. */
YARN_MUST_CHECK int yarn_name_demangle(struct yarn_strings *strings, struct yarn_span name,
                                       uint32_t *ret_text);

/* "libc.so.6+0x1234". `module` NULL: "0x1234"; address 0 as well: "[unknown]". */
YARN_MUST_CHECK int yarn_name_of_address(struct yarn_strings *strings, const char *module,
                                         uint64_t address, uint32_t *ret_text);
