/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The arguments of a process as one line that a shell would take. Threads: safe anywhere.
 */
#pragma once

#include "core/base/span.h"

/* `arguments` have NULs between them. Owned by the caller; NULL: no memory. */
YARN_MUST_CHECK char *yarn_command_line(struct yarn_span arguments);
void yarn_command_line_free(char *line);
