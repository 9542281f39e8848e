/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What only the machine's own ways can find out. Implemented by seccomp_probe_x86_64.c.
 * Private to core/sys.
 */
#pragma once

/* Asks for a thread that the kernel makes but for the last step, and gives up: with a thread
 * pointer that can be none. */
void yarn_seccomp_probe_try_thread(int flags);
