/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/pipeline/stacks.h"

#include "core/base/pages.h"

enum {
    FRAMES_INITIAL = 256,
    MODULES_INITIAL = 64,
    MODULES_LIMIT = 1 << 17,
    FRAMES_LIMIT = 1 << 20, /* distinct addresses; beyond, frames are written again */
};

#define NO_MODULE UINT32_MAX
#define RECENT_BYTES sizeof(struct yarn_recent_stack)

/* Of known functions: a page of them at first, for each may touch a page of its own. */
enum { KNOWN_LOG2 = 7, KNOWN_MOST_LOG2 = 12 };

static size_t known_bytes(unsigned log2)
{
    return sizeof(struct yarn_known_function) << log2;
}

static size_t known_place(uint64_t key, unsigned log2)
{
    return key >> (64 - log2);
}

int yarn_stacks_open(struct yarn_stack_store *stacks, struct yarn_module_map *map,
                     struct yarn_frame_names *names)
{
    *stacks = (struct yarn_stack_store){.map = map, .names = names};
    int err = yarn_table_open(&stacks->numbers, FRAMES_INITIAL, FRAMES_LIMIT);
    if (!err)
        err = yarn_table_open(&stacks->written, MODULES_INITIAL, MODULES_LIMIT);
    stacks->recent[0] = yarn_pages_map(RECENT_BYTES);
    stacks->known_log2 = KNOWN_LOG2;
    stacks->known = yarn_pages_map(known_bytes(KNOWN_LOG2));
    if (!stacks->recent[0] || !stacks->known)
        err = -ENOMEM;
    if (err)
        yarn_stacks_close(stacks);
    return err;
}

void yarn_stacks_close(struct yarn_stack_store *stacks)
{
    yarn_table_close(&stacks->numbers);
    yarn_table_close(&stacks->written);
    for (size_t i = 0; i < YARN_RECENT_STACKS; i++) {
        yarn_pages_unmap(stacks->recent[i], RECENT_BYTES);
        stacks->recent[i] = NULL;
    }
    yarn_pages_unmap(stacks->known, known_bytes(stacks->known_log2));
    stacks->known = NULL;
}

_Static_assert((int)YARN_MODULE_VDSO == YARN_DUMP_MODULE_VDSO &&
                   (int)YARN_MODULE_KIND_COUNT == YARN_DUMP_MODULE_KIND_COUNT &&
                   (int)YARN_IMAGE_OPEN == YARN_DUMP_MODULE_OPEN &&
                   (int)YARN_IMAGE_ABSENT == YARN_DUMP_MODULE_ABSENT &&
                   (int)YARN_IMAGE_STATE_COUNT == YARN_DUMP_MODULE_STATE_COUNT,
               "kinds and states of modules have the dump's numbers");

static void write_module(struct yarn_stack_store *stacks, const struct yarn_module *module)
{
    if (yarn_table_find(&stacks->written, module->number) != YARN_TABLE_NONE)
        return;
    const struct yarn_build_id *build_id = module->image && module->image->build_id.size
                                               ? &module->image->build_id
                                               : &module->build_id;
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
        .file_bytes = module->image ? module->image->file_size : 0,
    };
    yarn_dump_write_module(stacks->writer, &record);
    /* Why an error may pass: the record would only be written twice. */
    if (yarn_table_put(&stacks->written, module->number, 0))
        return;
}

void yarn_stacks_write_modules(struct yarn_stack_store *stacks, struct yarn_dump_writer *writer)
{
    stacks->writer = writer;
    for (uint32_t i = 0; i < yarn_module_map_count(stacks->map); i++) {
        const struct yarn_module *module = yarn_module_map_at(stacks->map, i);
        if (yarn_module_map_identify(stacks->map, i))
            write_module(stacks, module);
    }
}

/* Where the function is or belongs that begins there. */
static struct yarn_known_function *known_at(struct yarn_stack_store *stacks,
                                            const struct yarn_module *module, uint64_t start,
                                            uint64_t *ret_key)
{
    /* Why the image: a module may come back with its file written anew. */
    uint64_t image = yarn_hash_u64(module->image ? module->image->id : 0);
    *ret_key = yarn_hash_u64(start ^ (uint64_t)module->number << 40 ^ image) | 1;
    return &stacks->known[known_place(*ret_key, stacks->known_log2)];
}

/* Where the frame's function is or belongs; NULL where none is known. */
static struct yarn_known_function *known_of(struct yarn_stack_store *stacks,
                                            const struct yarn_unwind_frame *frame, uint64_t address,
                                            uint64_t *ret_key)
{
    return frame->function_size && !yarn_frame_is_generated(frame)
               ? known_at(stacks, frame->module, address - frame->in_function, ret_key)
               : NULL;
}

static bool is_known(const struct yarn_known_function *known, uint64_t key,
                     const struct yarn_unwind_frame *frame)
{
    return known && known->key == key && frame->in_function >= known->from &&
           frame->in_function < known->to;
}

static uint64_t key_of(const struct yarn_unwind_frame *frame, uint32_t code, uint32_t flags)
{
    uint64_t module = frame->module ? frame->module->number + 1 : 0;
    return frame->lookup_ip ^ yarn_hash_u64((uint64_t)code << 32 ^ module << 8 ^ flags);
}

static void want(struct yarn_stack_store *stacks, const struct yarn_unwind_frame *frame)
{
    if (yarn_frame_is_generated(frame) || !frame->module->image)
        return;
    uint64_t key = 0, address = frame->lookup_ip - frame->module->bias;
    const struct yarn_known_function *known = known_of(stacks, frame, address, &key);
    if (!is_known(known, key, frame) &&
        yarn_table_find(&stacks->numbers, key_of(frame, 0, 0)) == YARN_TABLE_NONE)
        yarn_file_names_want(&stacks->names->files, frame, address);
}

/* The frames that a stack and the one before it have in common, outermost first, are mostly many:
 * those were looked at. */
static void want_all(struct yarn_stack_store *stacks, const struct yarn_frames *frames,
                     const struct yarn_frames *before)
{
    unsigned depth = 0;
    while (before && depth < frames->count && depth < before->count &&
           frames->frame[frames->count - 1 - depth].lookup_ip ==
               before->frame[before->count - 1 - depth].lookup_ip &&
           frames->frame[frames->count - 1 - depth].module ==
               before->frame[before->count - 1 - depth].module)
        depth++;
    for (unsigned i = 0; i < frames->count - depth; i++)
        want(stacks, &frames->frame[i]);
}

/* Of all that waits to be stored the names that are not known, at once. */
static void ask(struct yarn_stack_store *stacks)
{
    const struct yarn_frames *before = NULL;
    const struct yarn_queued *queued = stacks->first;
    for (; queued; queued = yarn_queue_next(stacks->queue, queued)) {
        want_all(stacks, queued->frames, before);
        before = queued->frames;
    }
    yarn_file_names_ask(&stacks->names->files, stacks->writer);
}

/* True where it was not asked for yet: what is given then is the function without its name. */
static bool name_in_file(struct yarn_stack_store *stacks, const struct yarn_unwind_frame *frame,
                         uint64_t address, struct yarn_symbol *ret_symbol)
{
    struct yarn_file_names *files = &stacks->names->files;
    uint64_t start = address - frame->in_function;
    *ret_symbol = (struct yarn_symbol){.start = 0};
    if (!frame->module->image)
        return false;
    struct yarn_file_name *name = yarn_file_names_find(files, frame->module, address);
    if (!name) {
        yarn_file_names_want(files, frame, address);
        if (stacks->queue && !files->has_asked)
            ask(stacks);
        name = yarn_file_names_find(files, frame->module, address);
    }
    if (name && name->question.is_answered) {
        *ret_symbol = name->question.answer;
        return false;
    }
    files->nr_unnamed++;
    if (name) /* for which there was room */
        name->is_stored = true;
    if (frame->function_size)
        *ret_symbol = (struct yarn_symbol){.start = start, .end = start + frame->function_size};
    return true;
}

static struct yarn_known_function found_of(struct yarn_stack_store *stacks, uint64_t key,
                                           const struct yarn_module *module, uint64_t start,
                                           const struct yarn_symbol *symbol)
{
    struct yarn_dump_symbol named = {
        .module = module ? module->number : YARN_DUMP_NONE,
        .start = symbol->start,
        .end = symbol->end,
        .name = symbol->name,
    };
    return (struct yarn_known_function){
        .key = key,
        .from = (uint32_t)(symbol->from - start),
        .to = (uint32_t)(symbol->to - start),
        .symbol = yarn_dump_intern_symbol(stacks->writer, &named),
        .is_unnamed = !symbol->name.size,
    };
}

/* Of the frame's function; what was found out is kept for others of it. */
static struct yarn_known_function symbol_of(struct yarn_stack_store *stacks,
                                            const struct yarn_unwind_frame *frame, uint32_t flags,
                                            uint64_t address, uint32_t code)
{
    uint64_t key = 0;
    struct yarn_symbol symbol;
    struct yarn_known_function *known = known_of(stacks, frame, address, &key);
    bool is_in_file = !(flags & YARN_DUMP_FRAME_KERNEL) && !yarn_frame_is_generated(frame);
    bool is_late = false;
    if (is_known(known, key, frame))
        return *known;
    if (is_in_file)
        is_late = name_in_file(stacks, frame, address, &symbol);
    else
        symbol = yarn_frame_names_of(stacks->names, frame, flags, address, code);
    uint64_t start = address - frame->in_function;
    uint32_t epoch = yarn_dump_writer_epoch(stacks->writer);
    struct yarn_known_function found = found_of(stacks, key, frame->module, start, &symbol);
    found.is_late = is_late;
    found.is_unnamed &= !is_late;
    if (known && symbol.from < symbol.to && epoch == yarn_dump_writer_epoch(stacks->writer))
        *known = found;
    return found;
}

void yarn_stacks_learn(struct yarn_stack_store *stacks, struct yarn_dump_writer *writer)
{
    size_t count;
    const struct yarn_file_name *names = yarn_file_names_all(&stacks->names->files, &count);
    stacks->writer = writer;
    for (size_t i = 0; i < count; i++) {
        const struct yarn_symbol_question *question = &names[i].question;
        uint64_t key;
        if (!names[i].is_stored || !question->is_answered ||
            question->answer.from == question->answer.to || !names[i].module->image)
            continue;
        struct yarn_known_function *known =
            known_at(stacks, names[i].module, question->start, &key);
        uint32_t epoch = yarn_dump_writer_epoch(writer);
        struct yarn_known_function found =
            found_of(stacks, key, names[i].module, question->start, &question->answer);
        if (epoch == yarn_dump_writer_epoch(writer) && epoch == stacks->epoch)
            *known = found;
    }
}

/* A frame in the dump: its number, doubled, plus one where it has no name. */
static uint32_t add_frame(struct yarn_stack_store *stacks, const struct yarn_unwind_frame *frame,
                          uint32_t flags, uint32_t code)
{
    const struct yarn_module *module = frame->module;
    uint64_t address = frame->lookup_ip - (module ? module->bias : 0);
    if (module)
        write_module(stacks, module);
    struct yarn_known_function function = symbol_of(stacks, frame, flags, address, code);
    struct yarn_dump_frame record = {
        .symbol = function.symbol,
        .flags = flags | (function.is_late ? YARN_DUMP_FRAME_UNNAMED : 0),
        .address = address,
    };
    return yarn_dump_add_frame(stacks->writer, &record) << 1 | function.is_unnamed;
}

/* As frames are added, which have fewer functions. */
static void grow_known(struct yarn_stack_store *stacks)
{
    unsigned log2 = stacks->known_log2;
    if (log2 == KNOWN_MOST_LOG2 || stacks->nr_frames_added >> log2 == 0)
        return;
    struct yarn_known_function *bigger = yarn_pages_map(known_bytes(log2 + 1));
    if (!bigger)
        return;
    for (size_t i = 0; i < (size_t)1 << log2; i++)
        if (stacks->known[i].key)
            bigger[known_place(stacks->known[i].key, log2 + 1)] = stacks->known[i];
    yarn_pages_unmap(stacks->known, known_bytes(log2));
    stacks->known = bigger;
    stacks->known_log2 = log2 + 1;
}

static uint32_t frame_of(struct yarn_stack_store *stacks, const struct yarn_unwind_frame *frame,
                         uint32_t flags, uint64_t time_ns)
{
    uint32_t code = yarn_frame_names_code(stacks->names, frame, flags, time_ns);
    uint64_t key = key_of(frame, code, flags);
    uint32_t found = yarn_table_find(&stacks->numbers, key);
    if (found == YARN_TABLE_NONE) {
        found = add_frame(stacks, frame, flags, code);
        stacks->nr_frames_added++;
        grow_known(stacks);
        if (yarn_table_put(&stacks->numbers, key, found))
            yarn_table_clear(&stacks->numbers);
    }
    return found;
}

static struct yarn_recent_stack *recent_of(struct yarn_stack_store *stacks, uint32_t tid)
{
    struct yarn_recent_stack **slot = &stacks->recent[tid % YARN_RECENT_STACKS];
    if (!*slot)
        *slot = yarn_pages_map(RECENT_BYTES);
    struct yarn_recent_stack *recent = *slot ? *slot : stacks->recent[0];
    if (recent->tid != tid)
        recent->count = 0;
    recent->tid = tid;
    return recent;
}

static struct yarn_recent_frame intern_frame(struct yarn_stack_store *stacks,
                                             const struct yarn_unwind_frame *frame,
                                             uint64_t time_ns, uint32_t parent)
{
    uint32_t number = frame_of(stacks, frame, 0, time_ns);
    return (struct yarn_recent_frame){
        .lookup_ip = frame->lookup_ip,
        .module = yarn_frame_is_generated(frame) ? NO_MODULE : frame->module->number,
        .stack = yarn_dump_intern_stack(stacks->writer, parent, number >> 1),
        .is_unnamed = number & 1,
    };
}

static bool is_same(const struct yarn_recent_frame *recent, const struct yarn_unwind_frame *frame)
{
    return recent->lookup_ip == frame->lookup_ip && recent->module != NO_MODULE && frame->module &&
           frame->module->number == recent->module;
}

/* Interns the frames, outermost first. True where the innermost has no name. */
static bool intern(struct yarn_stack_store *stacks, struct yarn_queued *queued)
{
    const struct yarn_frames *frames = queued->frames;
    uint32_t stack = YARN_DUMP_NONE;
    bool is_unnamed = false;
    struct yarn_recent_stack *recent = recent_of(stacks, queued->sample.tid);
    for (unsigned depth = 0; depth < frames->count; depth++) {
        unsigned i = frames->count - 1 - depth;
        struct yarn_recent_frame *known = &recent->frame[depth];
        if (depth >= recent->count || !is_same(known, &frames->frame[i])) {
            *known = intern_frame(stacks, &frames->frame[i], queued->sample.time_ns, stack);
            recent->count = depth + 1;
        }
        stack = known->stack;
        is_unnamed = known->is_unnamed;
    }
    for (unsigned i = queued->nr_kernel; i-- > 0;) {
        struct yarn_unwind_frame called = {.ip = queued->kernel[i], .lookup_ip = queued->kernel[i]};
        uint32_t frame = frame_of(stacks, &called, YARN_DUMP_FRAME_KERNEL, queued->sample.time_ns);
        stack = yarn_dump_intern_stack(stacks->writer, stack, frame >> 1);
        is_unnamed = frame & 1;
    }
    queued->sample.stack = stack;
    queued->sample.stack_end = frames->end;
    return is_unnamed;
}

/* What was taken from the writer before its epoch is of no use in it. */
static void follow_epoch(struct yarn_stack_store *stacks)
{
    uint32_t epoch = yarn_dump_writer_epoch(stacks->writer);
    if (epoch == stacks->epoch)
        return;
    stacks->epoch = epoch;
    yarn_table_clear(&stacks->numbers);
    memset(stacks->known, 0, known_bytes(stacks->known_log2));
    for (size_t i = 0; i < YARN_RECENT_STACKS; i++)
        if (stacks->recent[i])
            stacks->recent[i]->count = 0;
}

bool yarn_stacks_intern(struct yarn_stack_store *stacks, struct yarn_dump_writer *writer,
                        const struct yarn_queue *queue, struct yarn_queued *queued)
{
    bool is_leaf_unknown;
    stacks->writer = writer;
    stacks->queue = queue;
    stacks->first = queued;
    /* Begun again where the writer began a new epoch on the way, whose numbers do not go with the
     * old ones. */
    do {
        follow_epoch(stacks);
        is_leaf_unknown = intern(stacks, queued);
    } while (stacks->epoch != yarn_dump_writer_epoch(stacks->writer));
    return is_leaf_unknown;
}

uint32_t yarn_stacks_frame_at(struct yarn_stack_store *stacks, struct yarn_dump_writer *writer,
                              uint64_t address, uint64_t time_ns)
{
    bool is_kernel = address >> 63;
    struct yarn_unwind_frame frame = {.ip = address, .lookup_ip = address};
    if (!address)
        return YARN_DUMP_NONE;
    if (!is_kernel)
        frame.module = yarn_module_map_find(stacks->map, address);
    stacks->writer = writer;
    stacks->queue = NULL;
    follow_epoch(stacks);
    return frame_of(stacks, &frame, is_kernel ? YARN_DUMP_FRAME_KERNEL : 0, time_ns) >> 1;
}
