/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Released blocks of memory that are kept for the next of their size: for a process of ours that
 * maps the same again and again, where calls and faults cost more than to zero them. Not linked
 * into what runs in a host. Threads: safe.
 */
#pragma once

/* From now on, of blocks of up to 256 KiB, at most 16 MiB. */
void yarn_pages_keep_released(void);
