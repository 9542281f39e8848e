/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/stacks.h"

#include "core/base/pages.h"
#include "preload/registers.h"

enum {
    FRAMES_INITIAL = 4096,
    MODULES_INITIAL = 64,
    MODULES_LIMIT = 1 << 17,
    FRAMES_LIMIT = 1 << 20, /* distinct addresses; beyond, frames are written again */
};

int yarn_stacks_open(struct yarn_stacks *stacks, struct yarn_module_map *map,
                     struct yarn_unwinder *unwinder, struct yarn_frame_names *names,
                     uint64_t registers_mask)
{
    struct yarn_stacks opened = {
        .map = map,
        .unwinder = unwinder,
        .names = names,
        .registers_mask = registers_mask,
        .frames = yarn_pages_map(sizeof *opened.frames),
    };
    if (!opened.frames)
        return -ENOMEM;
    int err = yarn_table_open(&opened.numbers, FRAMES_INITIAL, FRAMES_LIMIT);
    if (!err)
        err = yarn_table_open(&opened.written, MODULES_INITIAL, MODULES_LIMIT);
    if (err) {
        yarn_stacks_close(&opened);
        return err;
    }
    *stacks = opened;
    return 0;
}

void yarn_stacks_close(struct yarn_stacks *stacks)
{
    yarn_table_close(&stacks->numbers);
    yarn_table_close(&stacks->written);
    yarn_pages_unmap(stacks->frames, sizeof *stacks->frames);
    stacks->frames = NULL;
}

static void write_module(struct yarn_stacks *stacks, const struct yarn_module *module)
{
    if (yarn_table_find(&stacks->written, module->number) != YARN_TABLE_NONE)
        return;
    const struct yarn_build_id *build_id = module->image && module->image->build_id.size
                                               ? &module->image->build_id
                                               : &module->kernel_build_id;
    struct yarn_dump_module record = {
        .number = module->number,
        .kind = module->kind,
        .start = module->start,
        .end = module->end,
        .file_offset = module->file_offset,
        .bias = module->bias,
        .time_ns = module->time_ns,
        .path = yarn_span_of_text(module->path),
        .build_id = yarn_span_of(build_id->bytes, build_id->size),
        .state = module->image_state,
    };
    yarn_dump_write_module(stacks->writer, &record);
    /* Why an error may pass: the record would only be written twice. */
    if (yarn_table_put(&stacks->written, module->number, 0))
        return;
}

void yarn_stacks_write_modules(struct yarn_stacks *stacks)
{
    for (uint32_t i = 0; i < yarn_module_map_count(stacks->map); i++)
        write_module(stacks, yarn_module_map_at(stacks->map, i));
}

/* A frame in the dump: its number, doubled, plus one where it has no name. */
static uint32_t add_frame(struct yarn_stacks *stacks, const struct yarn_frame *frame,
                          uint32_t flags, uint32_t code)
{
    const struct yarn_module *module = frame->module;
    uint64_t address = frame->lookup_ip - (module ? module->bias : 0);
    if (module)
        write_module(stacks, module);
    struct yarn_symbol symbol = yarn_frame_names_of(stacks->names, frame, flags, address, code);
    struct yarn_dump_symbol named = {
        .module = module ? module->number : YARN_DUMP_NONE,
        .start = symbol.start,
        .end = symbol.end,
        .name = symbol.name,
    };
    struct yarn_dump_frame record = {
        .symbol = yarn_dump_intern_symbol(stacks->writer, &named),
        .flags = flags,
        .address = address,
    };
    return yarn_dump_add_frame(stacks->writer, &record) << 1 | (symbol.name.size == 0);
}

static uint32_t frame_of(struct yarn_stacks *stacks, const struct yarn_frame *frame, uint32_t flags)
{
    uint64_t module = frame->module ? frame->module->number + 1 : 0;
    uint64_t key = frame->lookup_ip ^ yarn_hash_u64(module << 8 | flags);
    uint32_t code = YARN_CODE_NAME_NONE;
    if (yarn_frame_is_generated(frame, flags)) {
        code = yarn_frame_names_code(stacks->names, frame, stacks->time_ns);
        key ^= yarn_hash_u64(code);
    }
    uint32_t found = yarn_table_find(&stacks->numbers, key);
    if (found == YARN_TABLE_NONE) {
        found = add_frame(stacks, frame, flags, code);
        if (yarn_table_put(&stacks->numbers, key, found))
            yarn_table_clear(&stacks->numbers);
    }
    return found;
}

/* Interns the frames of the latest walk, outermost first. */
static uint32_t intern_frames(struct yarn_stacks *stacks, bool *ret_is_leaf_unknown)
{
    const struct yarn_frames *frames = stacks->frames;
    uint32_t stack = YARN_DUMP_NONE;
    for (unsigned i = frames->count; i-- > 0;) {
        uint32_t flags = i >= frames->first_joined ? YARN_DUMP_FRAME_JOINED : 0;
        uint32_t frame = frame_of(stacks, &frames->frame[i], flags);
        stack = yarn_dump_intern_stack(stacks->writer, stack, frame >> 1);
        *ret_is_leaf_unknown = frame & 1;
    }
    return stack;
}

/* As intern_frames; begun again where the writer began a new epoch on the way, whose numbers do
 * not go with the old ones. */
static uint32_t intern_in_one_epoch(struct yarn_stacks *stacks, bool *ret_is_leaf_unknown)
{
    uint32_t stack;
    do {
        uint32_t epoch = yarn_dump_writer_epoch(stacks->writer);
        if (epoch != stacks->epoch)
            yarn_table_clear(&stacks->numbers);
        stacks->epoch = epoch;
        stack = intern_frames(stacks, ret_is_leaf_unknown);
    } while (stacks->epoch != yarn_dump_writer_epoch(stacks->writer));
    return stack;
}

static void walk_chain(struct yarn_stacks *stacks, const struct yarn_wrapped *chain)
{
    struct yarn_frames *frames = stacks->frames;
    uint64_t ip;
    frames->count = 0;
    for (size_t at = 0; yarn_wrapped_read(chain, at, &ip, sizeof ip); at += sizeof ip) {
        if (ip >= PERF_CONTEXT_MAX || frames->count == YARN_FRAMES_MAX)
            continue;
        uint64_t lookup_ip = ip - (frames->count ? 1 : 0);
        frames->frame[frames->count++] = (struct yarn_frame){
            .ip = ip,
            .lookup_ip = lookup_ip,
            .module = yarn_module_map_find(stacks->map, lookup_ip),
        };
    }
    frames->first_joined = frames->count;
    if (!frames->count)
        frames->end = YARN_UNWIND_NONE;
    else if (yarn_unwinder_is_outermost(stacks->unwinder,
                                        frames->frame[frames->count - 1].lookup_ip))
        frames->end = YARN_UNWIND_COMPLETE;
    else
        frames->end = YARN_UNWIND_TRUNCATED;
}

static void walk_copy(struct yarn_stacks *stacks, const struct yarn_record_sample *sample,
                      uint32_t tid)
{
    struct yarn_registers registers;
    if (!yarn_registers_of(sample, stacks->registers_mask, &registers)) {
        stacks->frames->count = 0;
        stacks->frames->end = YARN_UNWIND_NONE;
        return;
    }
    struct yarn_stack_copy stack = {
        .start = registers.sp,
        .first = sample->stack.first,
        .second = sample->stack.second,
    };
    yarn_unwinder_unwind(stacks->unwinder, &registers, &stack, tid, stacks->frames);
}

/* The frame where the sample hit, alone: no stack was asked for, or none came. */
static void walk_ip(struct yarn_stacks *stacks, uint64_t ip)
{
    struct yarn_frames *frames = stacks->frames;
    frames->frame[0] = (struct yarn_frame){
        .ip = ip, .lookup_ip = ip, .module = yarn_module_map_find(stacks->map, ip)};
    frames->count = frames->first_joined = 1;
    frames->end = YARN_UNWIND_NONE;
}

struct yarn_stack_result yarn_stacks_of(struct yarn_stacks *stacks,
                                        const struct yarn_record *record, bool is_kernel)
{
    const struct yarn_record_sample *sample = &record->sample;
    struct yarn_stack_result result = {.stack = YARN_DUMP_NONE};
    stacks->time_ns = record->time_ns;
    if (sample->has_registers)
        walk_copy(stacks, sample, record->tid);
    else
        walk_chain(stacks, &sample->callchain);
    if (!stacks->frames->count && !is_kernel)
        walk_ip(stacks, sample->ip);
    result.end = stacks->frames->end;
    if (stacks->frames->count)
        result.stack = intern_in_one_epoch(stacks, &result.is_leaf_unknown);
    if (is_kernel) {
        struct yarn_frame frame = {.ip = sample->ip, .lookup_ip = sample->ip};
        uint32_t leaf = frame_of(stacks, &frame, YARN_DUMP_FRAME_KERNEL);
        result.stack = yarn_dump_intern_stack(stacks->writer, result.stack, leaf >> 1);
        result.is_leaf_unknown = false;
    }
    return result;
}
