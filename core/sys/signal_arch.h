/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The way back from a signal handler. Implemented by signal_x86_64.c. Private to core/sys.
 */
#pragma once

/* Where a handler returns to: rt_sigreturn(2). Never called. */
void yarn_signal_return(void);
