/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The tables of a processed profile of the Firefox Profiler: what all threads share (texts, source
 * files, libraries) and, thread by thread, stacks, frames, functions and native symbols, of which
 * each thread numbers only what it uses. Threads: one owner at a time.
 */
#pragma once

#include "output/export/mappings.h"
#include "output/export/numbering.h"
#include "output/export/samples.h"
#include "output/text/json.h"

enum yarn_firefox_category {
    YARN_FIREFOX_OTHER,
    YARN_FIREFOX_USER,
    YARN_FIREFOX_KERNEL,
    YARN_FIREFOX_MISSING,
};

struct yarn_firefox_tables {
    const struct yarn_export *export;
    struct yarn_export_mappings mappings;
    struct yarn_strings strings;   /* stringArray */
    struct yarn_numbering sources; /* texts of the profile */
    struct yarn_numbering libs;    /* modules of the profile */
    uint32_t *files;               /* owned; of each function: text of its source, or 0 */
    uint32_t *outer;               /* owned; of each frame: the one that it is inlined in, or it */
    struct yarn_numbering stacks;  /* of the thread; things of yarn_firefox_node_of */
    struct yarn_numbering frames;  /* frames, then pseudo-functions */
    struct yarn_numbering functions; /* of the profile */
    struct yarn_numbering resources; /* modules */
    struct yarn_numbering symbols;   /* outer frames' functions */
    uint32_t *symbol_frames;         /* owned; of each function: a frame that it is known by */
    uint32_t *path;                  /* owned array */
    size_t path_capacity;
};

YARN_MUST_CHECK int yarn_firefox_tables_init(struct yarn_firefox_tables *tables,
                                             const struct yarn_export *export);
/* Idempotent. */
void yarn_firefox_tables_fini(struct yarn_firefox_tables *tables);

YARN_MUST_CHECK int yarn_firefox_string(struct yarn_firefox_tables *tables, const char *text,
                                        uint32_t *ret_string);

/* The sample's number in the stack table of the thread. */
YARN_MUST_CHECK int yarn_firefox_stack(struct yarn_firefox_tables *tables,
                                       const struct yarn_export_sample *sample,
                                       uint32_t *ret_stack);

/* A stack of the thread: its innermost frame and what is around it. */
struct yarn_firefox_node {
    uint32_t frame;  /* of the profile or, behind all of them, a pseudo-function */
    uint32_t prefix; /* thing; YARN_DUMP_NONE: none */
};

struct yarn_firefox_node yarn_firefox_node_of(const struct yarn_firefox_tables *tables,
                                              uint32_t thing);
void yarn_firefox_clear_thread(struct yarn_firefox_tables *tables);

/* The tables of the thread, as members of the open object; then clears them. */
YARN_MUST_CHECK int yarn_firefox_put_thread(struct yarn_firefox_tables *tables,
                                            struct yarn_json *json);
/* "libs" and "shared", after all threads. */
YARN_MUST_CHECK int yarn_firefox_put_shared(struct yarn_firefox_tables *tables,
                                            struct yarn_json *json);
