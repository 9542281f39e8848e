/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The separate debug file of an image: by build id under /usr/lib/debug, then by .gnu_debuglink
 * beside the file, in .debug and under /usr/lib/debug. Used only if it belongs to the image: equal
 * build ids, or where the image has none the CRC that the link names (files up to 16 MiB, because
 * samples wait while it is computed).
 * Knows where debug files are; does not know what is in them.
 *
 * Threads, signals: as image.h.
 */
#pragma once

#include "unwind/image.h"

/* The one of that build id below /usr/lib/debug. -ENOENT where there is none. */
YARN_MUST_CHECK int yarn_debug_file_open_build(struct yarn_image *debug,
                                               const struct yarn_build_id *build_id);

/* `path`: of the image, absolute. -ENOENT where there is none that belongs to it. */
YARN_MUST_CHECK int yarn_debug_file_open(struct yarn_image *debug, const struct yarn_image *image,
                                         const char *path);
