/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/doubles.h"

enum { FIRST = 256, THREADS_MAX = 1 << 16, WRITERS_MAX = 1 << 18, ID_BITS = 28, SILENT_MOST = 4 };

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
    uint64_t key = yarn_hash_u64((uint64_t)record->perf.tid << 32 | life);
    return yarn_hash_u64(key ^ ((uint64_t)number << 32 | record->perf.cpu));
}

/* The writer is another one once this many of others have come in a row: the kernel exchanges
 * events of threads, and one that missed the start may be where the writer was. */
static bool is_of_another(struct yarn_session_doubles *doubles,
                          const struct yarn_typed_record *record, uint32_t life, uint32_t number)
{
    const uint32_t one_more = UINT32_C(1) << ID_BITS;
    const uint32_t id = (uint32_t)record->perf.id & (one_more - 1);
    uint64_t key = key_of(record, life, number);
    uint32_t writer = yarn_table_find(&doubles->writers, key);
    if (writer == id)
        return false;
    bool is_new = writer == YARN_TABLE_NONE;
    bool is_another = !is_new && (writer & (one_more - 1)) != id && writer >> ID_BITS < SILENT_MOST;
    put(doubles, &doubles->writers, key, is_another ? writer + one_more : id);
    return is_another;
}

/* The second of two. Where one occurrence is a sample of two software events the kernel (6.18)
 * gives both records the time and the id of the first, whichever that is. */
static bool is_same_occurrence(struct yarn_session_doubles *doubles,
                               const struct yarn_typed_record *record, uint32_t number)
{
    size_t place = yarn_hash_u64((uint64_t)number << 32 | record->perf.cpu);
    struct yarn_session_latest *latest = &doubles->latest[place % YARN_SESSION_DOUBLES_LATEST];
    const struct yarn_session_latest own = {.time_ns = record->perf.time,
                                            .tid = record->perf.tid,
                                            .cpu = record->perf.cpu,
                                            .number = number};
    bool is_second = latest->time_ns == own.time_ns && latest->tid == own.tid &&
                     latest->cpu == own.cpu && latest->number == own.number;
    *latest = own;
    return is_second;
}

static bool has(struct yarn_session_doubles *doubles, const struct yarn_typed_record *record,
                uint32_t number, bool samples_each)
{
    /* What was lost of a ring is nobody's: it is counted whoever wrote it. */
    if (record->type == YARN_RECORD_LOST)
        return false;
    uint32_t life = life_of(doubles, record->perf.tid);
    bool has_ended = life & 1;
    if (has_ended && record->type == YARN_RECORD_EXIT)
        return true;
    if (has_ended) /* its number belongs to another thread now, whose start was lost */
        put(doubles, &doubles->lives, record->perf.tid, ++life);
    if (record->type == YARN_RECORD_SAMPLE && samples_each)
        return is_same_occurrence(doubles, record, number);
    if (is_of_another(doubles, record, life, number))
        return true;
    if (record->type == YARN_RECORD_EXIT)
        put(doubles, &doubles->lives, record->perf.tid, life | 1);
    if (record->type == YARN_RECORD_FORK) {
        uint32_t child = life_of(doubles, record->task.tid);
        put(doubles, &doubles->lives, record->task.tid, (child | 1) + 1);
    }
    return false;
}

bool yarn_session_doubles_has(struct yarn_session_doubles *doubles,
                              const struct yarn_typed_record *record, uint32_t number,
                              bool samples_each)
{
    bool is_double = has(doubles, record, number, samples_each);
    doubles->has_any |= is_double;
    return is_double;
}

void yarn_session_doubles_close(struct yarn_session_doubles *doubles)
{
    yarn_table_close(&doubles->writers);
    yarn_table_close(&doubles->lives);
}
