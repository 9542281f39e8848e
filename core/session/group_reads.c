/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/group_reads.h"

enum {
    MEMBERS_MAX = 32,
    LASTS_MAX = 1 << 20,
    KEYS_INITIAL = 1024,
    KEYS_MAX = 4 * LASTS_MAX,
    TID_BITS = 22, /* as the kernel has it */
};

/* What the members of a group had counted at the latest sample of one thread on one core. */
struct last {
    uint64_t key;       /* 0: nobody uses it */
    uint32_t next_free; /* 1 + the next, while nobody uses it */
    uint64_t values[MEMBERS_MAX];
};

int yarn_group_reads_open(struct yarn_group_reads *reads)
{
    *reads = (struct yarn_group_reads){.nr_free = 0};
    yarn_pool_open(&reads->lasts, sizeof(struct last), LASTS_MAX);
    return yarn_table_open(&reads->numbers, KEYS_INITIAL, KEYS_MAX);
}

void yarn_group_reads_close(struct yarn_group_reads *reads)
{
    yarn_pool_close(&reads->lasts);
    yarn_table_close(&reads->numbers);
}

static struct last *take_place(struct yarn_group_reads *reads, uint32_t *ret_place)
{
    struct last *last;
    if (!reads->nr_free) {
        last = yarn_pool_add(&reads->lasts);
        *ret_place = reads->lasts.count - 1;
        return last;
    }
    *ret_place = reads->first_free - 1;
    last = yarn_pool_at(&reads->lasts, *ret_place);
    reads->first_free = last->next_free;
    reads->nr_free--;
    *last = (struct last){.key = 0};
    return last;
}

/* Found, or made with zeros; NULL where there is no memory. */
static struct last *last_of(struct yarn_group_reads *reads, const struct yarn_typed_record *record,
                            uint64_t leader)
{
    const uint64_t key = leader << TID_BITS | record->perf.tid;
    uint32_t place = yarn_table_find(&reads->numbers, key);
    if (place != YARN_TABLE_NONE)
        return yarn_pool_at(&reads->lasts, place);
    struct last *last = take_place(reads, &place);
    if (!last)
        return NULL;
    last->key = key;
    return yarn_table_put(&reads->numbers, key, place) ? NULL : last;
}

void yarn_group_reads_report(struct yarn_group_reads *reads, const struct yarn_table *numbers,
                             const struct yarn_typed_record *record,
                             const struct yarn_record_listener *listener)
{
    struct yarn_record_counter counter = {0};
    uint64_t format = record->attr->read_format;
    bool has_leader = yarn_record_counter(&record->perf, format, 0, &counter);
    bool is_leader = counter.id == record->perf.id;
    struct last *last = has_leader ? last_of(reads, record, counter.id) : NULL;
    if (!last) {
        listener->malformed(listener->self, record->perf.type, 0);
        return;
    }
    for (size_t i = 0; i < MEMBERS_MAX && yarn_record_counter(&record->perf, format, i, &counter);
         i++) {
        struct yarn_typed_record member = *record;
        uint64_t before = last->values[i] <= counter.value ? last->values[i] : 0;
        last->values[i] = counter.value;
        member.event = yarn_table_find(numbers, counter.id);
        member.perf.period = counter.value - before;
        if (member.event == YARN_RECORD_NO_EVENT || !member.perf.period)
            continue;
        /* Nor are all that a member has counted about what its own sample is. */
        if (!is_leader || member.event != record->event) {
            member.perf.fields &= ~(uint64_t)(PERF_SAMPLE_ADDR | PERF_SAMPLE_RAW);
            member.perf.addr = 0;
            member.perf.raw = (struct yarn_bytes){NULL, 0};
        }
        listener->record(listener->self, &member);
    }
}

void yarn_group_reads_remove_thread(struct yarn_group_reads *reads, uint32_t tid)
{
    for (uint32_t i = 0; i < reads->lasts.count; i++) {
        struct last *last = yarn_pool_at(&reads->lasts, i);
        if ((last->key & (((uint64_t)1 << TID_BITS) - 1)) != tid || !last->key)
            continue;
        yarn_table_remove(&reads->numbers, last->key);
        last->key = 0;
        last->next_free = reads->first_free;
        reads->first_free = i + 1;
        reads->nr_free++;
    }
}
