/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the pipelines of several processes share: the images of files, which are opened once, with
 * their rows and tables, and the names of functions in them.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "recording/pipeline/known_names.h"
#include "unwind/image_cache.h"

struct yarn_pipeline_shared {
    struct yarn_symbols *symbols; /* owned */
    struct yarn_known_names names;
    struct yarn_image_cache images;
};

YARN_MUST_CHECK int yarn_pipeline_shared_open(struct yarn_pipeline_shared *shared);
/* Idempotent. No pipeline uses it any more. */
void yarn_pipeline_shared_close(struct yarn_pipeline_shared *shared);
