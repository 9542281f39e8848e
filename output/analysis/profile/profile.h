/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * One profile in memory, made of one dump or many: what was recorded, by whom, and the samples,
 * added up by event, thread, stack and how the stack ended. Numbers (of events, modules, functions,
 * frames, stacks, threads) hold over all dumps: events of one name, unit and filter are one, equal
 * paths one module, equal names in one module one function.
 * Knows what a dump says; does not know what a view shows of it (rows, tree, callers, timeline).
 * Texts are numbers in `strings`. Times are CLOCK_MONOTONIC in ns; of several machines that of the
 * one that was booted first (`machines`).
 * Threads: one owner at a time; any number of readers once it is loaded.
 */
#pragma once

#include "core/sys/kernel_names.h"
#include "output/analysis/profile/detail.h"
#include "output/analysis/profile/places.h"
#include "output/analysis/profile/profile_dump.h"
#include "output/analysis/profile/profile_phase.h"
#include "output/analysis/profile/stack_index.h"
#include "output/analysis/profile/symbols.h"
#include "output/analysis/value/cells.h"
#include "output/analysis/value/comms.h"
#include "output/analysis/value/machines.h"
#include "output/analysis/value/pseudo.h"
#include "output/analysis/value/strings.h"

struct yarn_profile_event {
    uint32_t name, unit; /* no two events have one name */
    uint32_t words;      /* the name with its filter, beside one of that name */
    uint32_t flags;      /* enum yarn_dump_event_flag */
    bool was_opened;     /* by one dump at least */
    uint64_t total;      /* weights of all samples in the time that is looked at */
    uint64_t samples;
    uint64_t period, frequency; /* as the first dump that opened it had them */
};

struct yarn_profile_module {
    uint32_t path, base;       /* "[unknown]" is module 0 */
    const char *file;          /* the path byte for byte, to open it; owned by `strings` */
    struct yarn_span build_id; /* of the build that was seen first; owned by `strings` */
};

struct yarn_profile_function {
    uint32_t name;    /* readable */
    uint32_t module;  /* 0: none */
    bool is_nameless; /* called by its address */
    bool is_unknown;  /* not even a start is known */
    bool is_inlined;  /* inlined into its callers: not the same as the function of its own */
    bool is_made;     /* nameless and in no known file: perhaps made by one process for itself */
};

struct yarn_profile_frame {
    uint64_t address; /* linked */
    uint64_t start;   /* of the function; 0 where unknown */
    uint32_t function;
    uint32_t flags;        /* enum yarn_dump_frame_flag */
    uint64_t leaf_samples; /* of which it was the innermost */
    uint64_t leaf_whole;   /* of these: with a stack that is whole from there on */
    /* Where lines were loaded; else 0. What is inlined follows its frame, outermost first. */
    uint32_t file, line; /* 0 where unknown */
    uint32_t place;
    uint32_t nr_inlined; /* frames that follow */
};

/* Branches that were noted beside samples; how `script` and report --by=branch have them. */
struct yarn_profile_branch {
    uint32_t event, thread;
    uint32_t from, to; /* frames; YARN_DUMP_NONE: not known */
    uint64_t count, mispredicted, cycles;
};

struct yarn_profile_thread {
    uint32_t dump;
    uint32_t tid, parent_tid;
    uint32_t comm, last_comm; /* the latest, and its place in `comms` */
    bool has_record, has_ended;
    uint64_t start_ns, end_ns, cpu_ns; /* 0 where unknown */
    uint64_t run_open_ns;              /* up to here it ran, and may have gone on; 0: not known */
    uint64_t samples;
};

/* Each pointer is an owned array; its count and its capacity follow. */
struct yarn_profile {
    struct yarn_strings strings;
    struct yarn_cells cells;
    struct yarn_comms comms;
    struct yarn_symbols symbols;
    struct yarn_machines machines;
    struct yarn_places places; /* the first are those of the pseudo-functions */
    struct yarn_profile_dump *dumps;
    size_t nr_dumps, dumps_capacity;
    struct yarn_profile_event *events;
    size_t nr_events, events_capacity;
    struct yarn_profile_module *modules;
    size_t nr_modules, modules_capacity;
    struct yarn_profile_function *functions;
    size_t nr_functions, functions_capacity;
    struct yarn_profile_frame *frames;
    size_t nr_frames, frames_capacity;
    struct yarn_profile_stack *stacks;
    size_t nr_stacks, stacks_capacity;
    struct yarn_profile_thread *threads;
    size_t nr_threads, threads_capacity;
    struct yarn_profile_detail *details; /* of the samples of a timeline */
    size_t nr_details, details_capacity;
    struct yarn_profile_branch *branches; /* where they were asked for */
    size_t nr_branches, branches_capacity;
    struct yarn_profile_access *accesses; /* where they were asked for */
    size_t nr_accesses, accesses_capacity;
    struct yarn_profile_phase *phases; /* the largest difference first */
    size_t nr_phases, phases_capacity;
    bool has_folded;  /* glue of an interpreter was (glue.h) */
    size_t nr_judged; /* how many functions of processes could have been in it */
    struct yarn_kernel_names kernel_names; /* of this machine, where a dump needs them */
    uint64_t start_ns;                     /* of the first process */
    uint64_t end_ns;                       /* of the last record */
    /* Keys of things that are found again. */
    struct yarn_table event_index, module_index, function_index, frame_index;
    struct yarn_table access_index; /* by the text that is the cells' value */
    struct yarn_table detail_index; /* of those that are a tracepoint's fields alone */
    struct yarn_table raw_comms;    /* by number in the first pid namespace: the last name */
    struct yarn_stack_index stack_index;
};

/* What the thread was called then. */
static inline uint32_t yarn_profile_comm_at(const struct yarn_profile *profile, uint32_t thread,
                                            uint64_t time_ns)
{
    uint32_t last = profile->threads[thread].last_comm;
    return last == YARN_COMM_NONE ? profile->threads[thread].comm
                                  : yarn_comms_at(&profile->comms, last, time_ns);
}

static inline const char *yarn_profile_text(const struct yarn_profile *profile, uint32_t text)
{
    return yarn_strings_text(&profile->strings, text);
}

YARN_MUST_CHECK int yarn_profile_init(struct yarn_profile *profile);
/* Idempotent. */
void yarn_profile_fini(struct yarn_profile *profile);

/* The process that the others ran in (which began first and ended last); else the dump with the
 * most samples. NULL: there is none. */
const struct yarn_profile_dump *yarn_profile_chief(const struct yarn_profile *profile);

/* Each finds or adds. */
YARN_MUST_CHECK int yarn_profile_event(struct yarn_profile *profile,
                                       const struct yarn_profile_event *event, uint32_t *ret_event);
YARN_MUST_CHECK int yarn_profile_module(struct yarn_profile *profile, struct yarn_span path,
                                        uint32_t *ret_module);
YARN_MUST_CHECK int yarn_profile_function(struct yarn_profile *profile, uint32_t module,
                                          uint32_t name, uint32_t *ret_function);
YARN_MUST_CHECK int yarn_profile_inlined(struct yarn_profile *profile, uint32_t module,
                                         uint32_t name, uint32_t *ret_function);
