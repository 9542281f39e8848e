/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/table.h"

#include "core/base/pages.h"

enum { REMEMBERED_FIRST = 64, REMEMBERED_MOST = 1 << 24 };

struct yarn_table_slot {
    uint64_t key;
    uint32_t value; /* 1 + the caller's value, 0 while the slot is free */
    uint32_t unused;
};

static size_t power_of_two(size_t size)
{
    size_t power = 16;
    while (power < size)
        power *= 2;
    return power;
}

int yarn_table_open(struct yarn_table *table, size_t capacity, size_t max_capacity)
{
    capacity = power_of_two(capacity);
    struct yarn_table_slot *slots = yarn_pages_map(capacity * sizeof *slots);
    if (!slots)
        return -ENOMEM;
    yarn_pages_populate(slots, capacity * sizeof *slots);
    *table = (struct yarn_table){
        .slots = slots,
        .capacity = capacity,
        .max_capacity = yarn_size_max(capacity, power_of_two(max_capacity)),
    };
    return 0;
}

/* The slot that holds the key, or the free one where it belongs. */
static struct yarn_table_slot *slot_of(const struct yarn_table *table, uint64_t key)
{
    size_t mask = table->capacity - 1;
    size_t at = (size_t)yarn_hash_u64(key) & mask;
    while (table->slots[at].value && table->slots[at].key != key)
        at = (at + 1) & mask;
    return &table->slots[at];
}

uint32_t yarn_table_find(const struct yarn_table *table, uint64_t key)
{
    if (!table->slots)
        return YARN_TABLE_NONE;
    const struct yarn_table_slot *slot = slot_of(table, key);
    return slot->value ? slot->value - 1 : YARN_TABLE_NONE;
}

static int grow(struct yarn_table *table)
{
    struct yarn_table bigger = YARN_TABLE_CLOSED;
    if (table->capacity >= table->max_capacity)
        return -ENOSPC;
    int err = yarn_table_open(&bigger, table->capacity * 2, table->max_capacity);
    if (err)
        return err;
    for (size_t i = 0; i < table->capacity; i++) {
        const struct yarn_table_slot *slot = &table->slots[i];
        if (slot->value)
            *slot_of(&bigger, slot->key) = *slot;
    }
    bigger.count = table->count;
    yarn_table_close(table);
    *table = bigger;
    return 0;
}

int yarn_table_put(struct yarn_table *table, uint64_t key, uint32_t value)
{
    if (!table->slots || value == YARN_TABLE_NONE)
        return -EINVAL;
    struct yarn_table_slot *slot = slot_of(table, key);
    if (!slot->value) {
        if ((table->count + 1) * 4 > table->capacity * 3) {
            int err = grow(table);
            if (err)
                return err;
            slot = slot_of(table, key);
        }
        table->count++;
    }
    slot->key = key;
    slot->value = value + 1;
    return 0;
}

int yarn_table_remember(struct yarn_table *table, uint64_t key, uint32_t value)
{
    int err = table->slots ? 0 : yarn_table_open(table, REMEMBERED_FIRST, REMEMBERED_MOST);
    if (!err)
        err = yarn_table_put(table, key, value);
    return err == -ENOSPC ? 0 : err;
}

/* Slots behind it that belong further in front close the gap, so that none is cut off. */
void yarn_table_remove(struct yarn_table *table, uint64_t key)
{
    struct yarn_table_slot *slots = table->slots;
    const size_t mask = table->capacity - 1;
    size_t gap = slots ? (size_t)(slot_of(table, key) - slots) : 0;
    if (!slots || !slots[gap].value)
        return;
    for (size_t at = (gap + 1) & mask; slots[at].value; at = (at + 1) & mask) {
        size_t home = (size_t)yarn_hash_u64(slots[at].key) & mask;
        if (((at - home) & mask) < ((at - gap) & mask))
            continue;
        slots[gap] = slots[at];
        gap = at;
    }
    slots[gap] = (struct yarn_table_slot){.key = 0};
    table->count--;
}

void yarn_table_clear(struct yarn_table *table)
{
    if (table->slots)
        memset(table->slots, 0, table->capacity * sizeof *table->slots);
    table->count = 0;
}

void yarn_table_close(struct yarn_table *table)
{
    if (table->slots)
        yarn_pages_unmap(table->slots, table->capacity * sizeof *table->slots);
    *table = YARN_TABLE_CLOSED;
}
