/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * From a symbol's name to what its source calls it: C++ (Itanium), Rust (both manglings; the hash
 * goes) and D. Names of C, Go and Swift, and what only looks mangled, are not changed. What
 * compilers and linkers append to a name stays readable: "f() [clone .cold]", "f()@plt".
 * Made for foreign files: whatever the name, time and memory are bounded.
 *
 * Threads: safe anywhere. Signals: not safe.
 */
#pragma once

#include "core/base/base.h"

enum { YARN_DEMANGLED_SIZE = 32 * 1024 }; /* what a name may grow to, its NUL included */

/* False where the name is not mangled, or its readable form has no room: *ret_text is undefined. */
bool yarn_demangle(const char *name, char ret_text[YARN_DEMANGLED_SIZE]);
