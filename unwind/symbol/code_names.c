/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/symbol/code_names.h"

#include "core/base/pages.h"
#include "core/base/table.h"

enum {
    RECENT_MAX = 2048,
    SORTED_MAX = 128 << 10,
    FIRST_KEYS = 1024,
    ALIGN = 8, /* of an entry: its number is its place in these units */
};
#define TEXTS_BYTES YARN_MIB(8)

struct entry {
    uint64_t start, end, since_ns;
    uint32_t size; /* of the text behind it */
    uint8_t text[];
};

void yarn_code_names_open(struct yarn_code_names *names)
{
    *names = (struct yarn_code_names){.recent = YARN_RANGE_MAP_EMPTY(RECENT_MAX)};
    yarn_arena_open(&names->texts, TEXTS_BYTES);
}

static void free_sorted(struct yarn_code_names *names)
{
    if (names->sorted)
        yarn_pages_unmap(names->sorted, names->sorted_capacity * sizeof *names->sorted);
    names->sorted = NULL;
    names->nr_sorted = names->sorted_capacity = 0;
}

void yarn_code_names_close(struct yarn_code_names *names)
{
    yarn_range_map_close(&names->recent);
    free_sorted(names);
    yarn_arena_close(&names->texts);
}

static const struct entry *entry_at(const struct yarn_arena *texts, uint32_t number)
{
    return (const struct entry *)(const void *)(texts->base + (size_t)number * ALIGN);
}

/* A range of the ones before, less what the recent ones have taken from it. */
struct merge {
    const struct yarn_mapped_range *recent, *recent_end;
    const struct yarn_mapped_range *sorted, *sorted_end;
    struct yarn_mapped_range rest; /* of *sorted */
    struct yarn_mapped_range *out;
    size_t count, max_count;
};

static void emit(struct merge *merge, struct yarn_mapped_range range)
{
    if (range.start < range.end && merge->count < merge->max_count)
        merge->out[merge->count++] = range;
}

static void next_sorted(struct merge *merge)
{
    merge->sorted++;
    if (merge->sorted < merge->sorted_end)
        merge->rest = *merge->sorted;
}

static void take_recent(struct merge *merge)
{
    const struct yarn_mapped_range *recent = merge->recent++;
    emit(merge, *recent);
    while (merge->sorted < merge->sorted_end && merge->rest.end <= recent->end)
        next_sorted(merge);
    if (merge->sorted < merge->sorted_end)
        merge->rest.start = yarn_u64_max(merge->rest.start, recent->end);
}

static void take_sorted(struct merge *merge)
{
    struct yarn_mapped_range piece = merge->rest;
    uint64_t limit = merge->recent < merge->recent_end ? merge->recent->start : UINT64_MAX;
    if (piece.end <= limit) {
        emit(merge, piece);
        next_sorted(merge);
        return;
    }
    piece.end = limit;
    emit(merge, piece);
    merge->rest.start = limit;
}

static void merge_all(struct merge *merge)
{
    if (merge->sorted < merge->sorted_end)
        merge->rest = *merge->sorted;
    while (merge->sorted < merge->sorted_end || merge->recent < merge->recent_end) {
        bool is_recent_next =
            merge->recent < merge->recent_end &&
            (merge->sorted == merge->sorted_end || merge->rest.start >= merge->recent->start);
        if (is_recent_next)
            take_recent(merge);
        else
            take_sorted(merge);
    }
}

/* Makes one of both. What is beyond the bound is dropped from the top. */
static int merge_recent(struct yarn_code_names *names)
{
    size_t most = names->nr_sorted + 2 * names->recent.count;
    size_t capacity = yarn_size_min(most, SORTED_MAX);
    if (!names->recent.count)
        return 0;
    struct yarn_mapped_range *out = yarn_pages_map(capacity * sizeof *out);
    if (!out)
        return -ENOMEM;
    struct merge merge = {
        .recent = names->recent.items,
        .recent_end = names->recent.items + names->recent.count,
        .sorted = names->sorted,
        .sorted_end = names->sorted ? names->sorted + names->nr_sorted : NULL,
        .out = out,
        .max_count = capacity,
    };
    merge_all(&merge);
    free_sorted(names);
    names->sorted = out;
    names->nr_sorted = merge.count;
    names->sorted_capacity = capacity;
    names->recent.count = 0;
    names->recent.last = 0;
    return 0;
}

static uint32_t put_entry(struct yarn_arena *texts, const struct yarn_code_name *name)
{
    struct entry *entry =
        yarn_arena_alloc(texts, yarn_align_up(sizeof *entry + name->text.size, ALIGN), ALIGN);
    if (!entry)
        return YARN_CODE_NAME_NONE;
    entry->start = name->start;
    entry->end = name->end;
    entry->since_ns = name->since_ns;
    entry->size = (uint32_t)name->text.size;
    memcpy(entry->text, name->text.data, name->text.size);
    return (uint32_t)((size_t)((uint8_t *)entry - texts->base) / ALIGN);
}

/* The entry's number in the new texts, moved there at first sight. */
static int move_entry(const struct yarn_code_names *names, struct yarn_arena *to,
                      struct yarn_table *moved, uint32_t *number)
{
    const struct yarn_code_name name = yarn_code_names_at(names, *number);
    uint32_t old = *number;
    *number = yarn_table_find(moved, old);
    if (*number != YARN_TABLE_NONE)
        return 0;
    *number = put_entry(to, &name);
    return *number == YARN_CODE_NAME_NONE ? -ENOSPC : yarn_table_put(moved, old, *number);
}

/* Keeps only the texts that a range still has. The ranges are changed once all has gone well. */
static int move_entries(struct yarn_code_names *names, struct yarn_arena *to,
                        struct yarn_table *moved)
{
    int err = 0;
    uint32_t number;
    for (size_t i = 0; !err && i < names->nr_sorted; i++) {
        number = names->sorted[i].number;
        err = move_entry(names, to, moved, &number);
    }
    for (size_t i = 0; !err && i < names->nr_sorted; i++)
        names->sorted[i].number = yarn_table_find(moved, names->sorted[i].number);
    return err;
}

static void give_up_old_texts(struct yarn_code_names *names)
{
    struct yarn_arena texts = YARN_ARENA_CLOSED;
    struct yarn_table moved = YARN_TABLE_CLOSED;
    int err = merge_recent(names);
    yarn_arena_open(&texts, TEXTS_BYTES);
    if (!err)
        err = yarn_table_open(&moved, FIRST_KEYS, (size_t)SORTED_MAX * 2);
    if (!err)
        err = move_entries(names, &texts, &moved);
    yarn_table_close(&moved);
    if (err) {
        yarn_arena_close(&texts);
        names->is_full = true;
        return;
    }
    yarn_arena_close(&names->texts);
    names->texts = texts;
    names->generation++;
    /* Why: where little was given up, this would happen again and again. */
    names->is_full = texts.used > TEXTS_BYTES / 4 * 3;
}

static bool is_known(struct yarn_code_names *names, const struct yarn_code_name *name)
{
    uint32_t number = yarn_code_names_find(names, name->start);
    if (number == YARN_CODE_NAME_NONE || number != yarn_code_names_find(names, name->end - 1))
        return false;
    struct yarn_code_name known = yarn_code_names_at(names, number);
    return known.start == name->start && known.end == name->end &&
           yarn_span_equal(known.text, name->text);
}

/* The first that ends behind the address; nr_sorted where none does. */
static size_t position(const struct yarn_code_names *names, uint64_t address)
{
    size_t low = 0, high = names->nr_sorted;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (names->sorted[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has_any(const struct yarn_code_names *names, uint64_t start, uint64_t end)
{
    size_t recent = yarn_range_map_position(&names->recent, start);
    size_t sorted = position(names, start);
    return (recent < names->recent.count && names->recent.items[recent].start < end) ||
           (sorted < names->nr_sorted && names->sorted[sorted].start < end);
}

static int add(struct yarn_code_names *names, const struct yarn_code_name *name)
{
    if (names->nr_sorted + 2 * names->recent.count >= SORTED_MAX)
        return -ENOSPC;
    int err = names->recent.count + 2 > RECENT_MAX ? merge_recent(names) : 0;
    if (err)
        return err;
    uint32_t number = put_entry(&names->texts, name);
    if (number == YARN_CODE_NAME_NONE)
        return -ENOSPC;
    names->generation++;
    return yarn_range_map_put(&names->recent,
                              (struct yarn_mapped_range){name->start, name->end, number});
}

void yarn_code_names_add(struct yarn_code_names *names, uint64_t start, uint64_t size,
                         struct yarn_span text, uint64_t since_ns)
{
    uint8_t copy[YARN_CODE_NAME_BYTES];
    text.size = yarn_size_min(text.size, sizeof copy);
    struct yarn_code_name name = {.text = text, .start = start, .end = start + size};
    if (!size || !text.size || name.end < start || is_known(names, &name))
        return;
    if (has_any(names, name.start, name.end))
        name.since_ns = since_ns;
    memcpy(copy, text.data, text.size);
    name.text.data = copy;
    size_t room = sizeof(struct entry) + text.size + 2 * ALIGN;
    if (!names->is_full && names->texts.cap - names->texts.used < room)
        give_up_old_texts(names);
    if (names->is_full || add(names, &name))
        names->nr_dropped++;
}

static const struct yarn_mapped_range *find_sorted(const struct yarn_code_names *names,
                                                   uint64_t address)
{
    size_t at = position(names, address);
    return at < names->nr_sorted && names->sorted[at].start <= address ? &names->sorted[at] : NULL;
}

uint32_t yarn_code_names_find(struct yarn_code_names *names, uint64_t address)
{
    const struct yarn_mapped_range *range = yarn_range_map_find(&names->recent, address);
    if (!range)
        range = find_sorted(names, address);
    return range ? range->number : YARN_CODE_NAME_NONE;
}

struct yarn_code_name yarn_code_names_at(const struct yarn_code_names *names, uint32_t number)
{
    const struct entry *entry = entry_at(&names->texts, number);
    return (struct yarn_code_name){
        .text = yarn_span_of(entry->text, entry->size),
        .start = entry->start,
        .end = entry->end,
        .since_ns = entry->since_ns,
    };
}
