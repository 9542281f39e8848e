/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * .gnu_debugdata: a small ELF file with the symbols of static functions, compressed by xz inside
 * the stripped one (Fedora ships it in every binary). Unpacked by liblzma, which gets its memory
 * from pages.h and never from malloc. Knows the compression; does not know what is in the file.
 *
 * Threads, signals: as image.h.
 */
#pragma once

#include "unwind/image.h"

/* How many bytes are packed; 0 where the image has none. */
uint64_t yarn_minidebug_bytes(const struct yarn_image *image);

/* -ENOENT where the image has none; -EBADMSG where it cannot be unpacked within 32 MiB. */
YARN_MUST_CHECK int yarn_minidebug_open(struct yarn_image *debug, const struct yarn_image *image);
