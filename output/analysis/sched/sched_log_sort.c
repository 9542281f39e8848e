/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/analysis/sched/sched_log.h"

enum { STEPS_MAX = 1 << 28 };

typedef int compare_fn(const void *one, const void *other);

/* Things that belong to groups. */
struct kind {
    size_t bytes, group_at; /* of a thing: its size, and where its group's number is */
    size_t end_at;          /* of a group: where the end of its things is */
    compare_fn *compare;
};

static int compare_u64(uint64_t one, uint64_t other)
{
    return (one > other) - (one < other);
}

/* Why the length: an empty span comes before the one that begins where it is. */
static int compare_spans(const void *a, const void *b)
{
    const struct yarn_sched_span *one = a, *other = b;
    int by_begin = compare_u64(one->begin_ns, other->begin_ns);
    return by_begin ? by_begin : compare_u64(one->length_ns, other->length_ns);
}

static int compare_lives(const void *a, const void *b)
{
    const struct yarn_sched_life *one = a, *other = b;
    int by_birth = compare_u64(one->birth_ns, other->birth_ns);
    return by_birth ? by_birth : compare_u64(one->owner, other->owner);
}

static int compare_wakings(const void *a, const void *b)
{
    const struct yarn_sched_waking *one = a, *other = b;
    return compare_u64(one->time_ns, other->time_ns);
}

static int compare_readings(const void *a, const void *b)
{
    const struct yarn_sched_reading *one = a, *other = b;
    return compare_u64(one->time_ns, other->time_ns);
}

static int compare_gaps(const void *a, const void *b)
{
    const struct yarn_sched_gap *one = a, *other = b;
    int by_space = compare_u64(one->space, other->space);
    return by_space ? by_space : compare_u64(one->from_ns, other->from_ns);
}

static const struct kind of_lives = {sizeof(struct yarn_sched_life),
                                     offsetof(struct yarn_sched_life, group),
                                     offsetof(struct yarn_sched_group, lives_end), compare_lives};
static const struct kind of_spans = {sizeof(struct yarn_sched_span),
                                     offsetof(struct yarn_sched_span, group),
                                     offsetof(struct yarn_sched_group, spans_end), compare_spans};
static const struct kind of_wakings = {
    sizeof(struct yarn_sched_waking), offsetof(struct yarn_sched_waking, group),
    offsetof(struct yarn_sched_group, wakings_end), compare_wakings};
static const struct kind of_readings = {
    sizeof(struct yarn_sched_reading), offsetof(struct yarn_sched_reading, group),
    offsetof(struct yarn_sched_group, readings_end), compare_readings};

static uint32_t *end_of(struct yarn_sched_log *sched, const struct kind *kind, size_t group)
{
    return (uint32_t *)((char *)&sched->groups[group] + kind->end_at);
}

static uint32_t group_of(const struct kind *kind, const char *thing)
{
    uint32_t group;
    memcpy(&group, thing + kind->group_at, sizeof group);
    return group;
}

/* Each group's things to one place, in the order in which they came. */
static void distribute(struct yarn_sched_log *sched, const struct kind *kind, const char *things,
                       size_t count, char *to)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < count; i++)
        ++*end_of(sched, kind, group_of(kind, things + i * kind->bytes));
    for (size_t i = 0; i < sched->nr_groups; i++) {
        uint32_t of_group = *end_of(sched, kind, i);
        *end_of(sched, kind, i) = sum;
        sum += of_group;
    }
    for (size_t i = 0; i < count; i++) {
        const char *thing = things + i * kind->bytes;
        memcpy(to + (*end_of(sched, kind, group_of(kind, thing)))++ * kind->bytes, thing,
               kind->bytes);
    }
}

static void sort(const struct kind *kind, char *things, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (kind->compare(things + (i - 1) * kind->bytes, things + i * kind->bytes) > 0) {
            qsort(things, count, kind->bytes, kind->compare);
            return;
        }
    }
}

/* Why a copy and counts: what comes in order of time takes linear time; only a thread whose own is
 * out of order is sorted. */
static int gather(struct yarn_sched_log *sched, const struct kind *kind, void *array, size_t count,
                  void **ret_array)
{
    if (count > UINT32_MAX)
        return -E2BIG;
    char *sorted = count ? malloc(count * kind->bytes) : NULL;
    if (count && !sorted)
        return -ENOMEM;
    distribute(sched, kind, array, count, sorted);
    size_t begin = 0;
    for (size_t i = 0; i < sched->nr_groups; i++) {
        size_t end = *end_of(sched, kind, i);
        if (end - begin > 1)
            sort(kind, sorted + begin * kind->bytes, end - begin);
        begin = end;
    }
    free(array);
    *ret_array = sorted;
    return 0;
}

/* Of one space: those that touch or overlap become one. */
static void join_gaps(struct yarn_sched_log *sched)
{
    size_t kept = 0;
    if (sched->nr_gaps)
        qsort(sched->gaps, sched->nr_gaps, sizeof *sched->gaps, compare_gaps);
    for (size_t i = 0; i < sched->nr_gaps; i++) {
        struct yarn_sched_gap *last = &sched->gaps[kept ? kept - 1 : 0];
        const struct yarn_sched_gap *gap = &sched->gaps[i];
        if (kept && last->space == gap->space && gap->from_ns <= last->to_ns)
            last->to_ns = yarn_u64_max(last->to_ns, gap->to_ns);
        else
            sched->gaps[kept++] = *gap;
    }
    sched->nr_gaps = kept;
}

/* Why: each life goes through the gaps of its space. More of them than a recording makes become
 * fewer, and what lies between them as unknown as they are. */
static void bound_gaps(struct yarn_sched_log *sched)
{
    while (sched->nr_gaps > 1 && sched->nr_gaps > STEPS_MAX / (sched->nr_lives + 1)) {
        size_t before = sched->nr_gaps;
        for (size_t i = 0; i + 1 < sched->nr_gaps; i += 2) {
            if (sched->gaps[i].space == sched->gaps[i + 1].space)
                sched->gaps[i].to_ns = sched->gaps[i + 1].to_ns;
        }
        join_gaps(sched);
        if (sched->nr_gaps == before)
            return; /* one or two a space */
    }
}

/* A thread that was found may be seen to have run before. */
static void begin_with_first_span(const struct yarn_sched_log *sched, struct yarn_sched_life *life)
{
    if (!life->is_born && life->count)
        life->birth_ns = yarn_u64_min(life->birth_ns, sched->spans[life->first].begin_ns);
}

/* Which spans are whose: of a tid that several threads had, those from a birth to the next. */
static void give_spans(struct yarn_sched_log *sched, uint32_t group)
{
    uint32_t at = YARN_SCHED_LOG_BEGIN(sched, group, spans_end);
    uint32_t end = sched->groups[group].spans_end;
    uint32_t first = YARN_SCHED_LOG_BEGIN(sched, group, lives_end);
    uint32_t lives_end = sched->groups[group].lives_end;
    for (uint32_t i = first; i < lives_end; i++) {
        struct yarn_sched_life *life = &sched->lives[i];
        life->is_last = i + 1 == lives_end;
        life->first = at;
        while (at < end && (life->is_last || sched->spans[at].begin_ns < life[1].birth_ns))
            at++;
        life->count = at - life->first;
        begin_with_first_span(sched, life);
        if (!life->is_last) /* its end was not seen */
            life->end_ns = yarn_u64_min(life->end_ns, life[1].birth_ns);
        life->end_ns = yarn_u64_max(life->end_ns, life->birth_ns);
    }
    sched->nr_refused += end - at;
}

int yarn_sched_log_sort(struct yarn_sched_log *sched)
{
    void *lives = sched->lives, *spans = sched->spans, *wakings = sched->wakings,
         *readings = sched->readings;
    int err = gather(sched, &of_lives, lives, sched->nr_lives, &lives);
    sched->lives = lives;
    if (!err)
        err = gather(sched, &of_spans, spans, sched->nr_spans, &spans);
    sched->spans = spans;
    if (!err)
        err = gather(sched, &of_wakings, wakings, sched->nr_wakings, &wakings);
    sched->wakings = wakings;
    if (!err)
        err = gather(sched, &of_readings, readings, sched->nr_readings, &readings);
    sched->readings = readings;
    join_gaps(sched);
    bound_gaps(sched);
    yarn_sched_cores_sort(&sched->cores);
    for (uint32_t i = 0; !err && i < sched->nr_groups; i++)
        give_spans(sched, i);
    return err;
}
