/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "output/analysis/load/load_sched.h"
#include "output/analysis/load/loader.h"
#include "output/analysis/value/name.h"
#include "output/base/array.h"

enum { BASE_BYTES = 300, BUILD_BYTES = 4 };

static int keep_symbol(struct yarn_loader *loader, const struct yarn_dump_symbol *record,
                       uint32_t function)
{
    struct yarn_profile_symbol symbol = {
        .function = function,
        .dump = loader->dump,
        .module = record->module,
        .start = record->start,
        .end = record->end,
    };
    return record->start ? yarn_symbols_add(&loader->profile->symbols, &symbol) : 0;
}

/* Two builds have other functions at one address: "libx.so.1[abcdef01]". */
static void name_build(const char *base, struct yarn_span build_id, char ret_text[BASE_BYTES])
{
    int size = snprintf(ret_text, BASE_BYTES, "%.*s[", BASE_BYTES - 2 * BUILD_BYTES - 3, base);
    for (size_t i = 0; i < yarn_size_min(build_id.size, BUILD_BYTES); i++)
        size += snprintf(ret_text + size, BASE_BYTES - (size_t)size, "%02x", build_id.data[i]);
    (void)snprintf(ret_text + size, BASE_BYTES - (size_t)size, "]");
}

static int name_of(struct yarn_loader *loader, const struct yarn_dump_symbol *record,
                   const struct yarn_loader_module *module, uint32_t *ret_name)
{
    struct yarn_profile *profile = loader->profile;
    if (record->name.size)
        return yarn_name_demangle(&profile->strings, record->name, ret_name);
    const char *base = module->module && record->start
                           ? yarn_profile_text(profile, profile->modules[module->module].base)
                           : NULL;
    char other[BASE_BYTES];
    if (base && module->build == YARN_LOADER_BUILD_OTHER) {
        name_build(base, yarn_loader_dump(loader)->modules[module->at - 1].build_id, other);
        base = other;
    }
    return yarn_name_of_address(&profile->strings, base, record->start, ret_name);
}

/* The name of a frame was not asked for. */
static int keep_unnamed(struct yarn_loader *loader, const struct yarn_dump_frame *record,
                        uint32_t frame)
{
    const struct yarn_unnamed unnamed = {frame, loader->symbols[record->symbol]};
    if (!(record->flags & YARN_DUMP_FRAME_UNNAMED) || !unnamed.symbol.is_nameless)
        return 0;
    return YARN_ARRAY_PUT(&loader->unnamed, &loader->nr_unnamed, &loader->unnamed_capacity,
                          &unnamed);
}

int yarn_loader_on_symbol(void *self, const struct yarn_dump_symbol *record)
{
    struct yarn_loader *loader = self;
    uint32_t name, function;
    const struct yarn_loader_module module = yarn_loader_module(loader, record->module);
    int err = name_of(loader, record, &module, &name);
    if (err)
        return err;
    err = yarn_profile_function(loader->profile, module.module, name, &function);
    if (err)
        return err;
    struct yarn_profile_function *named = &loader->profile->functions[function];
    named->is_nameless = !record->name.size;
    named->is_unknown = !record->name.size && (!module.module || !record->start);
    if (named->is_unknown || (named->is_nameless && !module.build))
        named->is_made = true;
    if (YARN_ARRAY_RESERVE(&loader->symbols, &loader->symbols_capacity, (size_t)record->number + 1))
        return -ENOMEM;
    loader->symbols[record->number] = (struct yarn_loader_symbol){
        .start = record->start,
        .end = record->end,
        .function = function,
        .module = record->module,
        .is_nameless = named->is_nameless,
    };
    return keep_symbol(loader, record, function);
}

/* The key of a frame, the same in every process and epoch. A hash of it must do: that two frames
 * among a million have one is as likely as one in ten million. Code without a name may be named
 * yet, by this process for itself. */
static uint64_t key_of_frame(const struct yarn_loader *loader, const struct yarn_dump_frame *record,
                             uint32_t function)
{
    bool is_own =
        loader->profile->functions[function].is_made || (record->flags & YARN_DUMP_FRAME_UNNAMED);
    const struct yarn_loader_symbol *symbol = &loader->symbols[record->symbol];
    uint64_t place = yarn_hash_u64(record->address) + symbol->start;
    uint64_t lines = yarn_loader_module(loader, symbol->module).lines;
    uint64_t who = (uint64_t)function << 32 | (is_own ? loader->dump + 1 : 0);
    return yarn_hash_u64(yarn_hash_u64(place) ^ who) ^ yarn_hash_u64(lines << 32 | record->flags);
}

/* Frames of one function (and line), with what is inlined there, are one; `number` is the last.
 * What has no name yet may get one by its address. */
static int join_frames(const struct yarn_loader *loader, uint32_t *number)
{
    struct yarn_profile *profile = loader->profile;
    bool is_by_line = loader->options->frames == YARN_FRAMES_BY_LINE;
    const struct yarn_profile_frame *frames = &profile->frames[*number];
    if (profile->functions[frames->function].is_nameless)
        return 0;
    uint64_t key = frames->flags;
    for (uint32_t i = 0; i <= frames->nr_inlined; i++) {
        uint64_t line = is_by_line ? (uint64_t)frames[i].file << 32 | frames[i].line : 0;
        key = yarn_hash_u64(yarn_hash_u64(yarn_hash_u64(key) + frames[i].function) + line);
    }
    uint32_t found = yarn_table_find(&profile->frame_index, key);
    if (found == YARN_TABLE_NONE)
        return yarn_table_put(&profile->frame_index, key, *number);
    profile->nr_frames = *number;
    *number = found;
    return 0;
}

int yarn_loader_on_frame(void *self, const struct yarn_dump_frame *record)
{
    struct yarn_loader *loader = self;
    struct yarn_profile *profile = loader->profile;
    const struct yarn_loader_symbol *symbol = &loader->symbols[record->symbol];
    uint32_t function = symbol->function;
    int err = 0;
    if (record->flags & YARN_DUMP_FRAME_KERNEL)
        err = yarn_loader_kernel_function(profile, function, &function);
    if (err)
        return err;
    uint64_t key = key_of_frame(loader, record, function);
    uint32_t found = yarn_table_find(&profile->frame_index, key);
    if (found != YARN_TABLE_NONE)
        return yarn_number_map_put(&loader->frames, record->number, found);
    if (YARN_ARRAY_RESERVE(&profile->frames, &profile->frames_capacity, profile->nr_frames + 1))
        return -ENOMEM;
    profile->frames[profile->nr_frames] = (struct yarn_profile_frame){
        .address = record->address,
        .start = symbol->start,
        .function = function,
        .flags = record->flags,
    };
    uint32_t number = (uint32_t)profile->nr_frames++;
    err = yarn_loader_add_inlined(loader, record);
    if (!err && loader->options->frames != YARN_FRAMES_BY_ADDRESS)
        err = join_frames(loader, &number);
    if (!err)
        err = yarn_table_put(&profile->frame_index, key, number);
    if (!err)
        err = keep_unnamed(loader, record, number);
    return err ? err : yarn_number_map_put(&loader->frames, record->number, number);
}

/* A stack whose caller's is new in this epoch is new, too; but where frames are joined, two stacks
 * of the dump may be one. */
static bool may_be_there(const struct yarn_loader *loader, uint32_t parent)
{
    return loader->options->frames != YARN_FRAMES_BY_ADDRESS || parent == YARN_DUMP_NONE ||
           parent < loader->first_stack_of_epoch;
}

static int add_stack(struct yarn_loader *loader, uint32_t parent, uint32_t frame,
                     uint32_t *ret_stack)
{
    struct yarn_profile *profile = loader->profile;
    *ret_stack = YARN_DUMP_NONE;
    if (may_be_there(loader, parent)) {
        *ret_stack = yarn_stack_index_find(&profile->stack_index, profile->stacks, parent, frame);
        if (*ret_stack != YARN_DUMP_NONE)
            return 0;
    }
    if (YARN_ARRAY_RESERVE(&profile->stacks, &profile->stacks_capacity, profile->nr_stacks + 1))
        return -ENOMEM;
    profile->stacks[profile->nr_stacks] = (struct yarn_profile_stack){
        .parent = parent,
        .frame = frame,
        .function = profile->frames[frame].function,
    };
    *ret_stack = (uint32_t)profile->nr_stacks++;
    if (loader->options->frames == YARN_FRAMES_BY_ADDRESS)
        return 0;
    return yarn_stack_index_extend(&profile->stack_index, profile->stacks, profile->nr_stacks);
}

int yarn_loader_on_stack(void *self, const struct yarn_dump_stack *record)
{
    struct yarn_loader *loader = self;
    struct yarn_profile *profile = loader->profile;
    uint32_t frame = yarn_number_map_find(&loader->frames, record->frame);
    uint32_t parent = yarn_number_map_find(&loader->stacks, record->parent);
    if (frame == YARN_NUMBER_NONE ||
        (record->parent != YARN_DUMP_NONE && parent == YARN_NUMBER_NONE))
        return 0;
    uint32_t stack = parent;
    int err = 0;
    for (uint32_t i = 0; !err && i <= profile->frames[frame].nr_inlined; i++) {
        err = add_stack(loader, stack, frame + i, &parent);
        stack = parent;
    }
    return err ? err : yarn_number_map_put(&loader->stacks, record->number, stack);
}

int yarn_loader_on_reset(void *self)
{
    struct yarn_loader *loader = self;
    yarn_number_map_clear(&loader->frames);
    yarn_number_map_clear(&loader->stacks);
    struct yarn_profile *profile = loader->profile;
    loader->first_stack_of_epoch = (uint32_t)profile->nr_stacks;
    return yarn_stack_index_extend(&profile->stack_index, profile->stacks, profile->nr_stacks);
}

static void count_trust(struct yarn_loader *loader, uint32_t event_flags, uint32_t end,
                        uint32_t stack)
{
    struct yarn_profile *profile = loader->profile;
    struct yarn_trust *trust = &yarn_loader_dump(loader)->trust;
    trust->stack_ends[end < YARN_DUMP_STACK_END_COUNT ? end : YARN_DUMP_STACK_FAILED]++;
    if (end == YARN_DUMP_STACK_NONE && event_flags & YARN_DUMP_EVENT_WITHOUT_STACKS)
        trust->stacks_unasked++;
    if (stack == YARN_DUMP_NONE)
        return;
    struct yarn_profile_frame *frame = &profile->frames[profile->stacks[stack].frame];
    frame->leaf_samples++;
    frame->leaf_whole += end == YARN_DUMP_STACK_COMPLETE || end == YARN_DUMP_STACK_NONE;
}

static int place(struct yarn_loader *loader, const struct yarn_sample *sample,
                 const struct yarn_cell *cell)
{
    struct yarn_profile *profile = loader->profile;
    if (!loader->options->timeline && !loader->options->take_sample)
        return yarn_cells_add(&profile->cells, cell);
    struct yarn_timeline_entry entry = {
        .time_ns = sample->time_ns,
        .weight = sample->weight,
        .stack = cell->stack,
        .thread = cell->thread,
        .comm = profile->threads[cell->thread].comm,
        .dump = loader->dump,
        .event = cell->event,
        .cpu = (uint16_t)sample->cpu,
        .stack_end = cell->stack_end,
    };
    int err = yarn_loader_detail(loader, sample, &entry.detail);
    if (err)
        return err;
    if (loader->options->take_sample)
        return loader->options->take_sample(loader->options->take_self, profile, &entry);
    return yarn_timeline_add(loader->options->timeline, &entry);
}

static int take_waking(struct yarn_loader *loader, const struct yarn_sample *sample)
{
    const struct yarn_trace_fields *fields = yarn_loader_fields(loader, sample->event);
    uint32_t thread = YARN_DUMP_NONE;
    int err = sample->tid ? yarn_loader_thread(loader, sample->tid, &thread) : 0;
    if (err || !fields)
        return err;
    err = yarn_wakings_add(loader->wakings, loader->profile, fields, thread, sample);
    bool is_of_machine = yarn_loader_dump(loader)->events[sample->event].record.flags &
                         YARN_DUMP_EVENT_IS_OF_MACHINE;
    return err || !loader->options->sched->has_cores || !is_of_machine
               ? err
               : yarn_wakings_add_arrival(loader->wakings, fields, sample);
}

/* In no total, and only where the view is about scheduling. */
static int add_scheduling(struct yarn_loader *loader, const struct yarn_sample *sample)
{
    struct yarn_profile_dump *dump = yarn_loader_dump(loader);
    struct yarn_timeline_entry entry = {
        .time_ns = sample->time_ns,
        .weight = sample->weight,
        .stack = YARN_DUMP_NONE,
        .thread = YARN_DUMP_NONE,
        .dump = loader->dump,
        .event = (uint16_t)dump->events[sample->event].event,
        .cpu = (uint16_t)sample->cpu,
        .stack_end = YARN_DUMP_STACK_NONE,
    };
    dump->events[sample->event].samples++;
    dump->last_ns = yarn_u64_max(dump->last_ns, sample->time_ns);
    int err = loader->options->sched ? take_waking(loader, sample) : 0;
    if (err || !loader->options->has_scheduling || !loader->options->timeline ||
        sample->time_ns < loader->from_ns || sample->time_ns > loader->to_ns)
        return err;
    err = sample->tid ? yarn_loader_thread(loader, sample->tid, &entry.thread) : 0;
    if (!err)
        err = yarn_loader_detail(loader, sample, &entry.detail);
    if (!err)
        err = yarn_loader_runner(loader, sample, &entry);
    return err ? err : yarn_timeline_add(loader->options->timeline, &entry);
}

/* The leader of such a group has a period and is only a clock. */
static int add_counted(struct yarn_loader *loader, const struct yarn_sample *sample)
{
    struct yarn_profile_dump_event *event = &yarn_loader_dump(loader)->events[sample->event];
    const bool is_wanted = loader->options->has_counts,
               is_counter = yarn_profile_dump_event_is_counter(event);
    struct yarn_cell cell = {.weight = sample->weight,
                             .samples = 1,
                             .stack = YARN_DUMP_NONE,
                             .event = (uint16_t)event->event};
    event->samples++;
    if (is_wanted && !is_counter)
        return 0;
    int err = yarn_loader_thread(loader, sample->tid, &cell.thread);
    return err || !is_wanted ? err : yarn_cells_add(&loader->profile->cells, &cell);
}

static int add_sample(struct yarn_loader *loader, const struct yarn_sample *sample)
{
    struct yarn_profile_dump *dump = yarn_loader_dump(loader);
    if (sample->event >= dump->nr_events)
        return 0;
    uint32_t flags = dump->events[sample->event].record.flags;
    if (flags & YARN_DUMP_EVENT_IS_SCHEDULING)
        return add_scheduling(loader, sample);
    if (flags & YARN_DUMP_EVENT_IS_COUNTED || loader->options->has_counts)
        return add_counted(loader, sample);
    uint32_t thread;
    int err = yarn_loader_thread(loader, sample->tid, &thread);
    if (err)
        return err;
    uint32_t stack = yarn_number_map_find(&loader->stacks, sample->stack);
    bool is_left_out = stack == YARN_DUMP_NONE && sample->stack != YARN_DUMP_NONE;
    uint32_t stack_end = is_left_out ? YARN_DUMP_STACK_FAILED : sample->stack_end;
    count_trust(loader, flags, stack_end, stack);
    dump->last_ns = yarn_u64_max(dump->last_ns, sample->time_ns);
    dump->events[sample->event].samples++;
    loader->profile->threads[thread].samples++;
    if (sample->time_ns < loader->from_ns || sample->time_ns > loader->to_ns)
        return 0;
    err = yarn_loader_note_phase(loader, sample, stack);
    if (err)
        return err;
    struct yarn_cell cell = {
        .weight = sample->weight,
        .samples = 1,
        .squares = (double)sample->weight * (double)sample->weight,
        .stack = loader->options->has_no_stacks ? YARN_DUMP_NONE : stack,
        .thread = loader->options->has_no_threads ? 0 : thread,
        .event = (uint16_t)dump->events[sample->event].event,
        .cpu = loader->options->by_cpu ? (uint16_t)sample->cpu : 0,
        .stack_end = (uint8_t)stack_end,
        .latency = loader->options->by_address ? sample->latency : 0,
    };
    if (loader->options->sched && sample->raw.size)
        err = yarn_loader_sched_lock_sample(loader, sample, stack);
    if (!err)
        err = yarn_loader_value(loader, sample, &cell.value);
    if (!err)
        err = place(loader, sample, &cell);
    loader->profile->events[cell.event].total += cell.weight;
    loader->profile->events[cell.event].samples++;
    return err;
}

int yarn_loader_on_samples(void *self, const struct yarn_sample *samples, size_t count)
{
    struct yarn_loader *loader = self;
    int err = 0;
    for (size_t i = 0; !err && i < count; i++)
        err = add_sample(loader, &samples[i]);
    return err;
}
