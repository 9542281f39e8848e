/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a dump holds of one process: its records as they stand, with the spans kept by the profile's
 * strings, and how far it is to be trusted. Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/profile/trust.h"
#include "output/dump/reader.h"

struct yarn_trace_fields;

struct yarn_profile_dump_event {
    struct yarn_dump_event record;    /* spans are kept by `strings` */
    struct yarn_trace_fields *fields; /* owned: of its format; NULL until a sample asks */
    struct yarn_dump_count count;
    bool has_count;
    uint32_t event; /* of the profile */
    uint64_t samples;
    uint64_t alternate_period; /* of its alternate; 0: it has none */
};

static inline bool yarn_profile_dump_event_is_counter(const struct yarn_profile_dump_event *event)
{
    return event->record.flags & YARN_DUMP_EVENT_IS_COUNTED && !event->record.period;
}

struct yarn_profile_dump {
    const char *path; /* owned by `strings` */
    struct yarn_dump_process process;
    bool has_process;
/* As format.def says: the last record of a kind, or an owned array of each. */
#define YARN_KEPT_LAST(NAME, name)                                                                 \
    struct yarn_dump_##name name;                                                                  \
    bool has_##name;
#define YARN_KEPT_EACH(NAME, name, names)                                                          \
    struct yarn_dump_##name *names;                                                                \
    size_t nr_##names, names##_capacity;
#include "output/dump/format.def"
    uint64_t switches_off_ns; /* when switch records were turned off; 0: they are on */
    uint64_t switches_cut_ns; /* how long they had been off, up to the last time on */
    uint64_t last_ns;         /* of all records */
    uint32_t comm;            /* base name of the executable */
    /* Texts: the name that was run, which may be a link's; the arguments with blanks between; the
     * node; the number in a job of MPI. */
    uint32_t program, command, host, rank;
    struct yarn_profile_dump_event *events; /* owned array, by number */
    size_t nr_events, events_capacity;
    struct yarn_dump_module *modules; /* owned array */
    size_t nr_modules, modules_capacity;
    struct yarn_dump_count *counts; /* owned array; all, where they were asked for */
    size_t nr_counts, counts_capacity;
    struct yarn_dump_tree_program *tree_programs; /* owned array; the last one of each program */
    size_t nr_tree_programs, tree_programs_capacity;
    struct yarn_trust trust;
    struct yarn_dump_summary summary;
};

/* How long switch records were turned off because there were too many. */
static inline uint64_t yarn_profile_dump_cut_ns(const struct yarn_profile_dump *dump)
{
    uint64_t since_ns = dump->switches_off_ns;
    return dump->switches_cut_ns + (since_ns ? yarn_u64_minus(dump->last_ns, since_ns) : 0);
}
