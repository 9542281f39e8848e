/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/session_doubles.h"

enum { FIRST = 256, THREADS_MAX = 1 << 16, WRITERS_MAX = 1 << 18, ID_BITS = 31 };

int yarn_session_doubles_open(struct yarn_session_doubles *doubles)
{
    *doubles =
        (struct yarn_session_doubles){.writers = YARN_TABLE_CLOSED, .lives = YARN_TABLE_CLOSED};
    int err = yarn_table_open(&doubles->writers, FIRST, WRITERS_MAX);
    if (!err)
        err = yarn_table_open(&doubles->lives, FIRST, THREADS_MAX);
    if (err)
        yarn_session_doubles_close(doubles);
    return err;
}

/* Full of threads that have ended: what lives is learned anew. */
static void put(struct yarn_session_doubles *doubles, struct yarn_table *table, uint64_t key,
                uint32_t value)
{
    if (!yarn_table_put(table, key, value))
        return;
    yarn_table_clear(&doubles->writers);
    yarn_table_clear(&doubles->lives);
}

static uint32_t life_of(const struct yarn_session_doubles *doubles, uint32_t tid)
{
    uint32_t life = yarn_table_find(&doubles->lives, tid);
    return life == YARN_TABLE_NONE ? 0 : life;
}

static uint64_t key_of(const struct yarn_typed_record *record, uint32_t life, uint32_t number)
{
    uint64_t key = yarn_hash_u64((uint64_t)record->tid << 32 | life);
    return yarn_hash_u64(key ^ ((uint64_t)number << 32 | record->cpu));
}

static bool is_of_another(struct yarn_session_doubles *doubles,
                          const struct yarn_typed_record *record, uint32_t life, uint32_t number)
{
    const uint32_t id = (uint32_t)record->id & ((UINT32_C(1) << ID_BITS) - 1);
    uint64_t key = key_of(record, life, number);
    uint32_t writer = yarn_table_find(&doubles->writers, key);
    if (writer == YARN_TABLE_NONE)
        put(doubles, &doubles->writers, key, id);
    return writer != YARN_TABLE_NONE && writer != id;
}

/* Where one occurrence is a sample of two software events the kernel (6.18) gives both records the
 * time and the id of the first, whichever that is: then one of the two goes on, whatever its id. */
static bool is_double_sample(struct yarn_session_doubles *doubles,
                             const struct yarn_typed_record *record, uint32_t life, uint32_t number)
{
    size_t place = yarn_hash_u64((uint64_t)number << 32 | record->cpu);
    struct yarn_session_latest *latest = &doubles->latest[place % YARN_SESSION_DOUBLES_LATEST];
    bool is_twin = latest->time_ns == record->time_ns && latest->tid == record->tid &&
                   latest->cpu == record->cpu && latest->number == number;
    bool is_double = is_twin ? latest->went_on : is_of_another(doubles, record, life, number);
    *latest = (struct yarn_session_latest){
        .time_ns = record->time_ns,
        .tid = record->tid,
        .cpu = record->cpu,
        .number = number,
        .went_on = !is_double || (is_twin && latest->went_on),
    };
    return is_double;
}

bool yarn_session_doubles_has(struct yarn_session_doubles *doubles,
                              const struct yarn_typed_record *record, uint32_t number)
{
    uint32_t life = life_of(doubles, record->tid);
    bool has_ended = life & 1;
    if (has_ended && record->type == YARN_RECORD_EXIT)
        return true;
    if (has_ended) /* its number belongs to another thread now, whose start was lost */
        put(doubles, &doubles->lives, record->tid, ++life);
    if (record->type == YARN_RECORD_SAMPLE)
        return is_double_sample(doubles, record, life, number);
    if (is_of_another(doubles, record, life, number))
        return true;
    if (record->type == YARN_RECORD_EXIT)
        put(doubles, &doubles->lives, record->tid, life | 1);
    if (record->type == YARN_RECORD_FORK) {
        uint32_t child = life_of(doubles, record->task.tid);
        put(doubles, &doubles->lives, record->task.tid, (child | 1) + 1);
    }
    return false;
}

void yarn_session_doubles_close(struct yarn_session_doubles *doubles)
{
    yarn_table_close(&doubles->writers);
    yarn_table_close(&doubles->lives);
}
