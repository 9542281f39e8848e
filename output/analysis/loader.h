/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The state of reading one dump into a profile: which number of the dump is which of the profile.
 * Shared by the files that turn records into the profile (load*.c); nobody else includes it.
 * Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/load.h"
#include "output/analysis/number_map.h"

struct yarn_loader {
    struct yarn_profile *profile;
    const struct yarn_load_options *options;
    uint32_t dump;                  /* index in the profile */
    uint64_t from_ns, to_ns;        /* samples outside are passed over */
    struct yarn_number_map modules; /* survives an epoch, as do threads and events */
    struct yarn_number_map symbols; /* to functions */
    struct yarn_number_map starts;  /* of symbols: index in `start_list` */
    struct yarn_number_map frames;
    struct yarn_number_map stacks;
    uint64_t *start_list; /* owned array */
    size_t nr_starts, starts_capacity;
    struct yarn_table threads; /* tid to thread of the profile */
    uint32_t last_tid, last_thread;
    bool has_last_thread;
};

static inline struct yarn_profile_dump *yarn_loader_dump(struct yarn_loader *loader)
{
    return &loader->profile->dumps[loader->dump];
}

/* The thread that bears the tid now; one is made up where no record has told of it. */
YARN_MUST_CHECK int yarn_loader_thread(struct yarn_loader *loader, uint32_t tid,
                                       uint32_t *ret_thread);

/* Takes every record; `self` is the loader. */
extern const struct yarn_dump_visitor yarn_loader_visitor;

/* Members of it. */
int yarn_loader_on_thread(void *self, const struct yarn_dump_thread *record);
int yarn_loader_on_thread_name(void *self, const struct yarn_dump_thread_name *record);
int yarn_loader_on_thread_end(void *self, const struct yarn_dump_thread_end *record);
int yarn_loader_on_symbol(void *self, const struct yarn_dump_symbol *record);
int yarn_loader_on_frame(void *self, const struct yarn_dump_frame *record);
int yarn_loader_on_stack(void *self, const struct yarn_dump_stack *record);
int yarn_loader_on_samples(void *self, const struct yarn_dump_sample *samples, size_t count);
int yarn_loader_on_reset(void *self);

/* A line of the timeline, where one is wanted; `thread` may be YARN_DUMP_NONE. */
YARN_MUST_CHECK int yarn_loader_note(struct yarn_loader *loader, uint64_t time_ns, uint32_t thread,
                                     uint32_t cpu, const char *format, ...) YARN_PRINTF(5, 6);
