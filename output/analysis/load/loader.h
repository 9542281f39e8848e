/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The state of reading one dump into a profile: which number of the dump is which of the profile.
 * Shared by the files that turn records into the profile (load*.c); nobody else includes it.
 * Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/load/build_names.h"
#include "output/analysis/load/load_options.h"
#include "output/analysis/load/wakings.h"
#include "output/analysis/time/phase.h"
#include "output/analysis/value/number_map.h"
#include "output/dump/shown.h"

/* A name that came after the frames it is for; of no function: there is none. */
struct yarn_late_name {
    uint64_t address, start;
    uint32_t module;
    uint32_t function;
};

enum yarn_loader_build {
    YARN_LOADER_BUILD_UNKNOWN,
    YARN_LOADER_BUILD_FIRST, /* of the file that was seen */
    YARN_LOADER_BUILD_OTHER,
};

/* What a module's number stands for: all zero where the dump has none. */
struct yarn_loader_module {
    uint32_t module; /* of the profile */
    uint32_t at;     /* 1 + its place in the dump's */
    uint32_t lines;  /* 1 + that of the lines; 0: none */
    enum yarn_loader_build build;
};

struct yarn_loader_symbol {
    uint64_t start, end;
    uint32_t function; /* of the profile */
    uint32_t module;   /* the dump's number */
    bool is_nameless;
};

/* A frame whose name was not asked for. */
struct yarn_unnamed {
    uint32_t frame;
    struct yarn_loader_symbol symbol;
};

/* How far the reading of all files has come, in bytes. */
struct yarn_load_reached {
    uint64_t done, all;
};

struct yarn_loader {
    struct yarn_profile *profile;
    const struct yarn_load_options *options;
    struct yarn_load_reached reached;
    const char *path, *shown;           /* of the file; legible */
    uint32_t dump;                      /* index in the profile */
    int64_t shift_ns;                   /* of the times of the process's machine */
    size_t nr_machines;                 /* that were known before any dump was read */
    uint64_t from_ns, to_ns;            /* samples outside are skipped */
    struct yarn_loader_module *modules; /* owned array by number; survives an epoch */
    size_t nr_modules, modules_capacity;
    struct yarn_loader_symbol *symbols; /* owned array by number */
    size_t symbols_capacity;
    struct yarn_number_map frames;
    struct yarn_number_map stacks;
    struct yarn_table raw_comms;                     /* raw pid to the name it had last */
    struct yarn_table threads;                       /* tid to thread of the profile */
    uint32_t first_thread, first_frame, first_stack; /* of the dump, in the profile */
    uint32_t first_stack_of_epoch;
    struct yarn_late_name *late_names; /* owned array */
    size_t nr_late_names, late_names_capacity;
    struct yarn_unnamed *unnamed; /* owned array; of the dump */
    size_t nr_unnamed, unnamed_capacity;
    struct yarn_build_names *files;     /* borrowed; asked for them */
    struct yarn_wakings *wakings;       /* borrowed; of all files */
    struct yarn_dump_visitor visitor;   /* what takes the records */
    struct yarn_stream_reading reading; /* of the streams, where they are wanted */
    struct yarn_clock_phase phase;
    uint32_t phase_event;           /* of the dump, which it is of; YARN_DUMP_NONE: none yet */
    struct yarn_sched_loss *losses; /* owned array; of the dump */
    size_t nr_losses, losses_capacity;
    size_t first_span; /* of the dump, in the log */
    uint32_t last_tid, last_thread;
    bool has_last_thread, has_spans;
};

static inline struct yarn_profile_dump *yarn_loader_dump(struct yarn_loader *loader)
{
    return &loader->profile->dumps[loader->dump];
}

static inline struct yarn_loader_module yarn_loader_module(const struct yarn_loader *loader,
                                                           uint32_t number)
{
    return number < loader->nr_modules ? loader->modules[number]
                                       : (struct yarn_loader_module){.module = 0};
}

/* The thread that bears the tid now; one is made up where no record has named it. */
YARN_MUST_CHECK int yarn_loader_thread(struct yarn_loader *loader, uint32_t tid,
                                       uint32_t *ret_thread);

/* Of one of the dump's events, read at the first call; NULL: it has none. */
const struct yarn_trace_fields *yarn_loader_fields(struct yarn_loader *loader, uint32_t event);

/* Takes every record; `self` is the loader. */
extern const struct yarn_dump_visitor yarn_loader_visitor;
/* As that one, with the times of all machines on one clock. */
struct yarn_dump_visitor yarn_loader_shifted_visitor(const struct yarn_load_options *options);

/* The loader's own visitor, and the streams', take each record. */
struct yarn_dump_visitor yarn_loader_streams_visitor(const struct yarn_loader *loader);

/* Keeps a record that a profile has, as format.def says; its texts become legible. */
YARN_MUST_CHECK int yarn_loader_keep(struct yarn_loader *loader, enum yarn_dump_record record,
                                     void *thing);

/* Members of the first. */
int yarn_loader_on_thread(void *self, const struct yarn_dump_thread *record);
int yarn_loader_on_thread_name(void *self, const struct yarn_dump_thread_name *record);
int yarn_loader_on_thread_end(void *self, const struct yarn_dump_thread_end *record);
int yarn_loader_on_symbol(void *self, const struct yarn_dump_symbol *record);
/* The function of the same name in the kernel, or in the kernel module that stands in its name. */
YARN_MUST_CHECK int yarn_loader_kernel_function(struct yarn_profile *profile, uint32_t function,
                                                uint32_t *ret_function);
int yarn_loader_on_frame(void *self, const struct yarn_dump_frame *record);
int yarn_loader_on_stack(void *self, const struct yarn_dump_stack *record);
int yarn_loader_on_samples(void *self, const struct yarn_sample *samples, size_t count);
/* What the sample has beyond the rest becomes a detail of the profile. */
/* The text of what distinguishes it, where the options say so. */
YARN_MUST_CHECK int yarn_loader_value(struct yarn_loader *loader, const struct yarn_sample *sample,
                                      uint32_t *ret_value);
YARN_MUST_CHECK int yarn_loader_detail(struct yarn_loader *loader, const struct yarn_sample *sample,
                                       uint32_t *ret_detail);
int yarn_loader_on_branches(void *self, const struct yarn_dump_branch *branches, size_t count);
int yarn_loader_on_thread_times(void *self, const struct yarn_dump_thread_time *times,
                                size_t count);
int yarn_loader_on_runs(void *self, const struct yarn_dump_run *runs, size_t count);
/* Of a tracepoint: by whom it was, where that is no thread of the process. */
YARN_MUST_CHECK int yarn_loader_runner(struct yarn_loader *loader, const struct yarn_sample *sample,
                                       struct yarn_timeline_entry *entry);
/* What the two clocks of an event saw of the function that the stack ends in; and what comes of it,
 * once functions have their names, and once all dumps are read. */
YARN_MUST_CHECK int yarn_loader_note_phase(struct yarn_loader *loader,
                                           const struct yarn_sample *sample, uint32_t stack);
YARN_MUST_CHECK int yarn_loader_end_phase(struct yarn_loader *loader);
void yarn_loader_rank_phases(struct yarn_profile *profile);
/* Then, too: which recording an image's process had before its exec. */
YARN_MUST_CHECK int yarn_loader_link_images(struct yarn_profile *profile);
int yarn_loader_on_code_name(void *self, const struct yarn_dump_code_name *record);
int yarn_loader_on_reset(void *self);

/* Begins the next process: of the file, or of a merged dump. */
YARN_MUST_CHECK int yarn_loader_begin_dump(struct yarn_loader *loader);
/* Which samples count, by the clock of the process. */
void yarn_loader_set_time(struct yarn_loader *loader);
/* Works out what is known only when all records of a process were read. */
YARN_MUST_CHECK int yarn_loader_end_dump(struct yarn_loader *loader);
/* Gives frames the names that came late, in the dump or by what is at hand. */
YARN_MUST_CHECK int yarn_loader_name_code(struct yarn_loader *loader);

/* The profile's event that a kept record is of, found or added. */
YARN_MUST_CHECK int yarn_loader_find_event(struct yarn_loader *loader,
                                           const struct yarn_dump_event *record,
                                           uint32_t *ret_event);
/* At the end: where several dumps have an event of one name with other filters or units. */
YARN_MUST_CHECK int yarn_loader_tell_events_apart(struct yarn_profile *profile);

/* Where lines are wanted: 1 + which module of theirs a module is; frames for what is inlined at the
 * last frame, which is that of the record; the place of each frame of the dump. */
YARN_MUST_CHECK int yarn_loader_note_lines(struct yarn_loader *loader,
                                           const struct yarn_dump_module *module,
                                           uint32_t *ret_lines);
YARN_MUST_CHECK int yarn_loader_add_inlined(struct yarn_loader *loader,
                                            const struct yarn_dump_frame *record);
YARN_MUST_CHECK int yarn_loader_place_frames(struct yarn_loader *loader);

/* A line of the timeline, where one is wanted; `thread` may be YARN_DUMP_NONE. */
YARN_MUST_CHECK int yarn_loader_note(struct yarn_loader *loader, uint64_t time_ns, uint32_t thread,
                                     uint32_t cpu, const char *format, ...) YARN_PRINTF(5, 6);
/* The same, of a record that has such a line. */
YARN_MUST_CHECK int yarn_loader_show(struct yarn_loader *loader, enum yarn_dump_record record,
                                     const void *thing, const struct yarn_dump_shown_at *at);
