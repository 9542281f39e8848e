/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Marks what the host may see; exports.map lists the same names.
 */
#pragma once

#define YARN_EXPORTED __attribute__((visibility("default")))

/* What the calls of <yarn/control.h> find. */
YARN_EXPORTED int yarn_start(void);
YARN_EXPORTED int yarn_stop(void);
YARN_EXPORTED int yarn_mark(const char *text);
YARN_EXPORTED int yarn_flush(void);
