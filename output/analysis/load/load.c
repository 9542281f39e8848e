/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/load/load.h"

#include <stdio.h>
#include <stdlib.h>

#include "output/analysis/load/load_sched.h"
#include "output/analysis/profile/glue.h"
#include "output/analysis/value/clock.h"
#include "output/base/array.h"
#include "output/text/legible.h"

/* What a recording of a hundred events, of which each has all stacks, stays below. */
enum { LOOKS_FREE = 1 << 26, LOOKS_A_BYTE = 1024, SMALL_TABLE = 1024 };

static void loader_fini(struct yarn_loader *loader)
{
    free(loader->modules);
    free(loader->symbols);
    yarn_number_map_fini(&loader->frames);
    yarn_number_map_fini(&loader->stacks);
    free(loader->unnamed);
    free(loader->late_names);
    yarn_clock_phase_fini(&loader->phase);
    yarn_table_close(&loader->threads);
    yarn_table_close(&loader->raw_comms);
    free(loader->losses);
}

int yarn_loader_begin_dump(struct yarn_loader *loader)
{
    struct yarn_profile *profile = loader->profile;
    if (YARN_ARRAY_RESERVE(&profile->dumps, &profile->dumps_capacity, profile->nr_dumps + 1))
        return -ENOMEM;
    profile->dumps[profile->nr_dumps] = (struct yarn_profile_dump){.path = loader->shown};
    loader->dump = (uint32_t)profile->nr_dumps++;
    loader->first_thread = (uint32_t)profile->nr_threads;
    loader->first_frame = (uint32_t)profile->nr_frames;
    loader->first_stack = (uint32_t)profile->nr_stacks;
    loader->first_span = loader->options->sched ? loader->options->sched->nr_spans : 0;
    loader->has_last_thread = loader->has_spans = false;
    loader->nr_modules = 0;
    /* Why not cleared: one process with many threads would make all others slow. */
    if (loader->threads.capacity > SMALL_TABLE)
        yarn_table_close(&loader->threads);
    yarn_table_clear(&loader->threads);
    int err = loader->threads.slots ? 0 : yarn_table_open(&loader->threads, 64, (size_t)1 << 31);
    return err ? err : yarn_loader_on_reset(loader);
}

static void count_leaves(struct yarn_loader *loader)
{
    const struct yarn_profile *profile = loader->profile;
    struct yarn_trust *trust = &yarn_loader_dump(loader)->trust;
    for (size_t i = loader->first_frame; i < profile->nr_frames; i++) {
        const struct yarn_profile_frame *frame = &profile->frames[i];
        const struct yarn_profile_function *function = &profile->functions[frame->function];
        if (function->is_unknown) {
            trust->leaves_unknown += frame->leaf_samples;
            trust->leaves_unknown_only += frame->leaf_whole;
        }
        if (function->is_nameless && (frame->flags & YARN_DUMP_FRAME_UNNAMED))
            trust->nr_unnamed++;
    }
}

int yarn_loader_end_dump(struct yarn_loader *loader)
{
    struct yarn_profile *profile = loader->profile;
    struct yarn_profile_dump *dump = yarn_loader_dump(loader);
    int err = loader->options->has_no_code ? 0 : yarn_loader_name_code(loader);
    if (!err && !loader->options->has_no_code)
        err = yarn_loader_place_frames(loader);
    if (!err)
        err = yarn_loader_end_phase(loader);
    if (err)
        return err;
    count_leaves(loader);
    for (size_t i = loader->first_thread; i < profile->nr_threads; i++) {
        /* Why: a thread that no record named was there before the recording. */
        if (!profile->threads[i].has_record)
            profile->threads[i].start_ns = dump->process.start_ns;
    }
    profile->end_ns = yarn_u64_max(profile->end_ns, dump->last_ns);
    yarn_trust_finish(&dump->trust, dump->has_end);
    return yarn_loader_sched_end(loader);
}

void yarn_loader_set_time(struct yarn_loader *loader)
{
    yarn_time_range_on_clock(&loader->options->time, loader->profile->start_ns,
                             yarn_clock_offset_ns(&yarn_loader_dump(loader)->process),
                             &loader->from_ns, &loader->to_ns);
}

static int read_both(struct yarn_loader *loader, struct yarn_dump_summary *summary)
{
    const struct yarn_dump_visitor visitor = yarn_loader_streams_visitor(loader);
    int err =
        yarn_stream_reading_begin(&loader->reading, loader->options->streams, YARN_STREAM_EACH);
    if (!err)
        err = yarn_dump_read_file(loader->path, &visitor, loader, summary);
    return yarn_stream_reading_end(&loader->reading, loader->path, err);
}

static int read_file(struct yarn_loader *loader)
{
    struct yarn_dump_summary summary = {0};
    uint32_t first;
    int err = yarn_loader_begin_dump(loader);
    if (err)
        return err;
    first = loader->dump;
    yarn_loader_set_time(loader);
    loader->visitor = yarn_loader_shifted_visitor(loader->options);
    if (loader->options->streams)
        err = read_both(loader, &summary);
    else
        err = yarn_dump_read_file(loader->path, &loader->visitor, loader, &summary);
    if (!err)
        err = yarn_loader_end_dump(loader);
    for (uint32_t i = first; i <= loader->dump; i++)
        loader->profile->dumps[i].summary = summary;
    return err;
}

/* `of_all`: what all files have in common. */
static int load_one(const struct yarn_loader *of_all, const struct yarn_source *source)
{
    struct yarn_legible shown;
    struct yarn_loader loader = *of_all;
    (void)yarn_legible(&shown, source->path);
    loader.path = source->path;
    loader.shown = yarn_strings_keep(&loader.profile->strings, yarn_span_of_text(shown.text));
    yarn_legible_fini(&shown);
    int err = loader.shown ? read_file(&loader) : -ENOMEM;
    loader_fini(&loader);
    return err;
}

/* Gives what is in memory the names that threads had at their times. */
static void apply_comms(const struct yarn_profile *profile, struct yarn_timeline *timeline)
{
    struct yarn_timeline_entry *entries = timeline ? timeline->rows.list : NULL;
    for (size_t i = 0; timeline && i < timeline->rows.count; i++) {
        struct yarn_timeline_entry *entry = &entries[i];
        if (entry->thread != YARN_DUMP_NONE)
            entry->comm = yarn_profile_comm_at(profile, entry->thread, entry->time_ns);
    }
}

static const struct yarn_machine *machine_of(struct yarn_profile *profile,
                                             const struct yarn_source *source)
{
    return yarn_machines_note(&profile->machines, source->machine,
                              (int64_t)(source->start_realtime_ns - source->start_ns));
}

static int note_machines(struct yarn_profile *profile, const struct yarn_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++)
        if (sources->list[i].has_process && !machine_of(profile, &sources->list[i]))
            return -ENOMEM;
    return 0;
}

static uint64_t first_start_ns(struct yarn_profile *profile, const struct yarn_sources *sources)
{
    uint64_t start_ns = UINT64_MAX;
    for (size_t i = 0; i < sources->count; i++) {
        const struct yarn_source *source = &sources->list[i];
        if (!source->has_process)
            continue;
        int64_t shift_ns = yarn_machines_shift_ns(&profile->machines, machine_of(profile, source),
                                                  profile->machines.count);
        start_ns = yarn_u64_min(start_ns, source->start_ns + (uint64_t)shift_ns);
    }
    return start_ns == UINT64_MAX ? 0 : start_ns;
}

/* Of one number, other hosts' among them, that are looked at: more are not of one process. */
enum { SAME_NUMBER_MAX = 64 };

static int by_pid_and_start(const void *a, const void *b)
{
    const struct yarn_dump_process *one = *(struct yarn_dump_process *const *)a;
    const struct yarn_dump_process *other = *(struct yarn_dump_process *const *)b;
    if (one->pid != other->pid)
        return one->pid < other->pid ? -1 : 1;
    return one->start_ns == other->start_ns ? 0 : one->start_ns < other->start_ns ? -1 : 1;
}

static bool may_be_image_before(const struct yarn_dump_process *before,
                                const struct yarn_dump_process *process)
{
    return before->start_ns >= process->birth_ns && before->start_ns < process->start_ns &&
           yarn_span_equal(before->boot_id, process->boot_id) &&
           yarn_span_equal(before->host, process->host);
}

static void find_image_before(struct yarn_dump_process **sorted, size_t at)
{
    struct yarn_dump_process *process = sorted[at];
    for (size_t i = 1; i <= at && i <= SAME_NUMBER_MAX; i++) {
        const struct yarn_dump_process *before = sorted[at - i];
        if (before->pid != process->pid)
            return;
        if (may_be_image_before(before, process)) {
            process->predecessor_pid = before->pid;
            process->predecessor_start_ns = before->start_ns;
            return;
        }
    }
}

int yarn_loader_link_images(struct yarn_profile *profile)
{
    size_t count = profile->nr_dumps;
    struct yarn_dump_process **sorted = calloc(count + 1, sizeof *sorted);
    if (!sorted)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &profile->dumps[i].process;
    qsort(sorted, count, sizeof *sorted, by_pid_and_start);
    for (size_t i = 0; i < count; i++)
        if (sorted[i]->birth_ns && !sorted[i]->predecessor_pid)
            find_image_before(sorted, i);
    free(sorted);
    return 0;
}

/* Views look once an event at each stack. */
static bool is_too_much_work(const struct yarn_profile *profile, uint64_t bytes)
{
    uint64_t most = LOOKS_FREE + LOOKS_A_BYTE * bytes, nr_sampled = 0;
    if (profile->nr_events * (uint64_t)profile->nr_stacks <= most)
        return false;
    for (size_t i = 0; i < profile->nr_events; i++)
        nr_sampled += profile->events[i].samples != 0;
    return nr_sampled * profile->nr_stacks > most;
}

int yarn_profile_load(struct yarn_profile *profile, const struct yarn_sources *sources,
                      const struct yarn_load_options *options,
                      struct yarn_source_failure *ret_failure)
{
    if (note_machines(profile, sources))
        return -ENOMEM;
    profile->start_ns = first_start_ns(profile, sources);
    struct yarn_build_names files = {.nr_files = 0};
    struct yarn_wakings wakings = YARN_WAKINGS_EMPTY;
    struct yarn_loader loader = {
        .profile = profile,
        .options = options,
        .reached = {.all = yarn_sources_bytes(sources)},
        .nr_machines = profile->machines.count,
        .files = &files,
        .wakings = &wakings,
        .threads = YARN_TABLE_CLOSED,
        .raw_comms = YARN_TABLE_CLOSED,
        .phase_event = YARN_DUMP_NONE,
    };
    int err = 0;
    for (size_t i = 0; !err && i < sources->count; i++) {
        const struct yarn_source *source = &sources->list[i];
        err = load_one(&loader, source);
        if (!err && is_too_much_work(profile, loader.reached.all))
            err = -ENOBUFS;
        if (err) {
            (void)snprintf(ret_failure->path, sizeof ret_failure->path, "%s", source->path);
            (void)snprintf(ret_failure->why, sizeof ret_failure->why, "%s", strerror(-err));
        }
        loader.reached.done += source->bytes;
    }
    if (!err && options->sched)
        err = yarn_wakings_add_to_log(&wakings, profile, options->sched);
    yarn_build_names_close(&files);
    yarn_wakings_fini(&wakings);
    if (err)
        return err;
    yarn_stack_index_fini(&profile->stack_index);
    yarn_loader_rank_phases(profile);
    apply_comms(profile, options->timeline);
    err = yarn_loader_tell_events_apart(profile);
    if (!err)
        err = yarn_loader_link_images(profile);
    if (!err && options->frames != YARN_FRAMES_BY_ADDRESS)
        err = yarn_glue_fold_own(profile);
    return err || !options->folds_glue ? err : yarn_glue_fold(profile);
}
