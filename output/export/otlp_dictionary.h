/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What profiles of OpenTelemetry refer to by numbers: the tables of a ProfilesDictionary, of which
 * item 0 is empty. Addresses are linked ones, as are those of mappings. Threads: one owner at a
 * time.
 */
#pragma once

#include "output/export/mappings.h"
#include "output/export/samples.h"
#include "output/export/wire.h"

enum { YARN_OTLP_TABLE_COUNT = 8 };

/* What an attribute of a sample or a mapping is about. */
enum yarn_otlp_attribute {
    YARN_OTLP_THREAD_NAME,
    YARN_OTLP_THREAD_ID,
    YARN_OTLP_CPU,
    YARN_OTLP_BUILD_ID,
};

struct yarn_otlp_dictionary {
    const struct yarn_export *export; /* borrowed */
    struct yarn_export_mappings mappings;
    struct yarn_strings strings;
    struct yarn_wire wire;                                      /* the message, its strings last */
    uint32_t counts[YARN_OTLP_TABLE_COUNT];                     /* by the table's field */
    struct yarn_table functions, locations, stacks, attributes; /* keys to indices */
    uint64_t *list; /* owned array: the locations of one stack */
    size_t list_capacity;
};

#define YARN_OTLP_DICTIONARY_CLOSED                                                                \
    ((struct yarn_otlp_dictionary){.functions = YARN_TABLE_CLOSED,                                 \
                                   .locations = YARN_TABLE_CLOSED,                                 \
                                   .stacks = YARN_TABLE_CLOSED,                                    \
                                   .attributes = YARN_TABLE_CLOSED})

/* After it, whether it failed or not, fini. */
YARN_MUST_CHECK int yarn_otlp_dictionary_init(struct yarn_otlp_dictionary *dictionary,
                                              const struct yarn_export *export);
/* Idempotent. */
void yarn_otlp_dictionary_fini(struct yarn_otlp_dictionary *dictionary);

/* Each finds or adds. */
YARN_MUST_CHECK int yarn_otlp_text(struct yarn_otlp_dictionary *dictionary, const char *text,
                                   uint64_t *ret_number);
/* `text` NULL: the number. */
YARN_MUST_CHECK int yarn_otlp_attribute(struct yarn_otlp_dictionary *dictionary,
                                        enum yarn_otlp_attribute attribute, const char *text,
                                        uint64_t number, uint64_t *ret_index);
YARN_MUST_CHECK int yarn_otlp_stack(struct yarn_otlp_dictionary *dictionary,
                                    const struct yarn_export_sample *sample, uint64_t *ret_index);

/* An AnyValue; `text` NULL: the number. */
void yarn_otlp_put_value(struct yarn_wire *wire, uint32_t field, const char *text, uint64_t number);

/* Once, when all is known: `wire` is the message. */
YARN_MUST_CHECK int yarn_otlp_dictionary_finish(struct yarn_otlp_dictionary *dictionary);
