/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which dumps a recording left: the files in the folder of the output pattern that are dumps and
 * have been written since. Threads: one.
 */
#pragma once

#include "core/base/base.h"

/* Printed on standard error. `since_ns` on CLOCK_REALTIME. */
void yarn_written_tell(const char *pattern, uint64_t since_ns);
