/* SPDX-License-Identifier: Apache-2.0 */
#include "output/base/array.h"
#include "output/store/spill.h"
#include "output/store/trace_file.h"

/* As the kernel's ring buffer has it: a word of 5 bits of a kind and 27 of a time before each. */
enum {
    KIND_BITS = 5,
    KIND_PADDING = 29,
    KIND_EXTEND,
    KIND_STAMP,
    TIME_BITS = 27,
    STAMP_BITS = 59,
    COMMIT_MASK = (1 << 27) - 1,
    HAS_COUNT_BIT = 30,
    HAS_LOST_BIT = 31,
    WORD = 4,
    DROP_BYTES = 1 << 20,
};

struct walk {
    struct yarn_trace_file *file;
    const struct yarn_trace_file_core *core;
    yarn_trace_file_event_fn *take;
    void *self;
    uint64_t time_ns;
};

/* Why in parts: a product of 96 bits. */
static uint64_t scaled(const struct yarn_trace_file *file, uint64_t time)
{
    uint64_t mult = file->scale.mult, shift = file->scale.shift;
    if (!mult)
        return time + file->offset_ns;
    uint64_t low = (time & UINT32_MAX) * mult, high = (time >> 32) * mult + (low >> 32);
    low &= UINT32_MAX;
    time = shift < 32 ? (high << (32 - shift)) + (low >> shift) : high >> (shift - 32);
    return time + file->offset_ns;
}

static int give(struct walk *walk, struct yarn_cursor *cursor, uint64_t size)
{
    struct yarn_span event = yarn_cursor_span(cursor, size);
    if (cursor->failed)
        return 0;
    return walk->take(walk->self, walk->core, scaled(walk->file, walk->time_ns), event);
}

/* True: the page has no more. */
static bool skip_padding(struct yarn_cursor *cursor, uint32_t delta)
{
    if (!delta)
        return true;
    uint32_t size = yarn_cursor_u32(cursor);
    if (size < WORD)
        cursor->failed = true;
    else
        yarn_cursor_skip(cursor, size - WORD);
    return false;
}

static int take_event(struct walk *walk, struct yarn_cursor *cursor, uint32_t kind)
{
    uint32_t size = kind * WORD;
    if (!kind) {
        size = yarn_cursor_u32(cursor);
        if (size < WORD)
            cursor->failed = true;
        size -= WORD;
        size += (0 - size) % WORD;
    }
    return cursor->failed ? 0 : give(walk, cursor, size);
}

static int walk_page(struct walk *walk, struct yarn_cursor *cursor)
{
    int err = 0;
    while (!err && yarn_cursor_left(cursor)) {
        uint32_t head = yarn_cursor_u32(cursor);
        uint32_t kind = head & ((1u << KIND_BITS) - 1), delta = head >> KIND_BITS;
        if (kind == KIND_STAMP) {
            uint64_t stamp = ((uint64_t)yarn_cursor_u32(cursor) << TIME_BITS) + delta;
            walk->time_ns = stamp | (walk->time_ns >> STAMP_BITS << STAMP_BITS);
            continue;
        }
        walk->time_ns += delta;
        if (kind == KIND_EXTEND)
            walk->time_ns += (uint64_t)yarn_cursor_u32(cursor) << TIME_BITS;
        else if (kind != KIND_PADDING)
            err = take_event(walk, cursor, kind);
        else if (skip_padding(cursor, delta))
            return 0;
    }
    return err;
}

/* `count`: behind the events, where the bit says so. */
static int add_gap(struct walk *walk, bool has_count, struct yarn_cursor count)
{
    struct yarn_trace_file *file = walk->file;
    uint64_t lost = file->long_bytes == 8 ? yarn_cursor_u64(&count) : yarn_cursor_u32(&count);
    lost = has_count && !count.failed && lost ? lost : 1;
    file->nr_lost = lost > UINT64_MAX - file->nr_lost ? UINT64_MAX : file->nr_lost + lost;
    const struct yarn_trace_gap gap = {scaled(file, walk->time_ns), lost, walk->core->cpu};
    return YARN_ARRAY_PUT(&file->gaps, &file->nr_gaps, &file->gaps_capacity, &gap);
}

/* `at`: of the page, as the fault says it. */
static int walk_bytes(struct walk *walk, struct yarn_span page, uint64_t at)
{
    struct yarn_cursor head = yarn_cursor_of(page);
    walk->time_ns = yarn_cursor_u64(&head);
    uint64_t commit = walk->file->long_bytes == 8 ? yarn_cursor_u64(&head) : yarn_cursor_u32(&head);
    struct yarn_span data = yarn_span_from(page, head.at);
    bool has_lost = commit >> HAS_LOST_BIT & 1, has_count = commit >> HAS_COUNT_BIT & 1;
    commit &= COMMIT_MASK;
    if (head.failed || commit > data.size)
        return yarn_trace_refuse(walk->file, at, "a page with more events than it can hold");
    struct yarn_cursor cursor = yarn_cursor_of(yarn_span_sub(data, 0, commit));
    int err = has_lost ? add_gap(walk, has_count, yarn_cursor_of(yarn_span_from(data, commit))) : 0;
    if (!err)
        err = walk_page(walk, &cursor);
    if (!err && cursor.failed)
        err = yarn_trace_refuse(walk->file, at + head.at + cursor.at,
                                "an event that goes on behind its page");
    return err;
}

/* Why: all of the file would be in memory beside what is made of it. */
static void drop_pages(const struct yarn_trace_file *file, struct yarn_span pages)
{
    if (file->is_mapped)
        yarn_spill_drop_pages(pages);
}

static int walk_core(struct walk *walk)
{
    const struct yarn_trace_file_core *core = walk->core;
    uint64_t size = walk->file->page_bytes, dropped = 0;
    int err = 0;
    for (uint64_t at = 0; !err && at < core->pages.size; at += size) {
        struct yarn_span page = yarn_span_sub(core->pages, at, size);
        err = page.size ? walk_bytes(walk, page, core->at + at)
                        : yarn_trace_refuse(walk->file, core->at + at, "a page is cut");
        if (at - dropped >= DROP_BYTES) {
            drop_pages(walk->file, yarn_span_sub(core->pages, dropped, at - dropped));
            dropped = at;
        }
    }
    drop_pages(walk->file, core->pages);
    return err;
}

int yarn_trace_file_each(struct yarn_trace_file *file, yarn_trace_file_event_fn *take, void *self)
{
    int err = 0;
    for (size_t i = 0; !err && i < file->nr_cores; i++) {
        struct walk walk = {.file = file, .core = &file->cores[i], .take = take, .self = self};
        err = walk_core(&walk);
    }
    return err;
}
