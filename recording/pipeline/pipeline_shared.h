/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Things that the pipelines of several processes share: the images of files, which are opened once,
 * with their rows and tables, the names of functions in them, what is known of the machine, and
 * what one has left for the next.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/spares.h"
#include "core/base/table.h"
#include "recording/process/facts.h"
#include "unwind/image_cache.h"
#include "unwind/symbol/symbols.h"

/* Names of functions that were found for one process of several, for the others: by image and
 * function. Where there is no room for more all are dropped. Does not know how names are found. */

struct yarn_known_names {
    struct yarn_arena names; /* an array of struct yarn_known_name */
    struct yarn_arena texts;
    struct yarn_table by_place; /* hash of image and function -> place in that */
};

YARN_MUST_CHECK int yarn_known_names_open(struct yarn_known_names *names);

/* Answers the question, if it can. */
void yarn_known_names_answer(const struct yarn_known_names *names, const struct yarn_image *image,
                             struct yarn_symbol_question *question);

/* Keeps a copy of the answer, if there is one. */
void yarn_known_names_keep(struct yarn_known_names *names, const struct yarn_image *image,
                           const struct yarn_symbol_question *question);

/* Idempotent. */
void yarn_known_names_close(struct yarn_known_names *names);

struct yarn_pipeline_shared {
    struct yarn_symbols *symbols; /* owned */
    struct yarn_known_names names;
    struct yarn_image_cache images;
    struct yarn_machine_facts machine;
    struct yarn_spares writers, runs; /* of processes that have ended */
};

YARN_MUST_CHECK int yarn_pipeline_shared_open(struct yarn_pipeline_shared *shared);
/* Idempotent. No pipeline uses it any more. */
void yarn_pipeline_shared_close(struct yarn_pipeline_shared *shared);
