/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which parts of an ELF file are read at all: its headers, notes, unwind tables, symbols with
 * their names, and what leads to symbols elsewhere. Not its code (yarn_view_peek) nor its data,
 * which are most of it. Knows ELF containers; does not know what is in a section.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "unwind/view.h"

/* -ENOEXEC where it is no ELF file. */
YARN_MUST_CHECK int yarn_image_view(struct yarn_view **ret_view, struct yarn_view_file *file);
