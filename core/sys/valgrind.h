/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Valgrind: whether the program runs on its processor. Implemented by valgrind_x86_64.c. Threads,
 * signals: safe anywhere.
 */
#pragma once

#include "core/base/base.h"

bool yarn_valgrind_is_processor(void);
