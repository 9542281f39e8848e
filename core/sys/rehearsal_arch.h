/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What only the machine's own ways can find out. Implemented by rehearsal_x86_64.c.
 * Private to core/sys.
 */
#pragma once

/* Asks for a thread that the kernel makes but for the last step, and gives up: with a thread
 * pointer that can be none. */
void yarn_rehearsal_try_thread(int flags);
