/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/views/sched.h"

#include <stdlib.h>

static int compare_rows(const void *a, const void *b)
{
    const struct yarn_sched_row *one = a, *other = b;
    return (one->life->owner > other->life->owner) - (one->life->owner < other->life->owner);
}

static bool is_in_window(const struct yarn_sched_view *view, const struct yarn_sched_life *life)
{
    return life->birth_ns <= view->to_ns && life->end_ns >= view->from_ns;
}

static void set_window(struct yarn_sched_view *view)
{
    uint64_t first_ns = UINT64_MAX, last_ns = 0;
    for (size_t i = 0; i < view->sched->nr_lives; i++) {
        first_ns = yarn_u64_min(first_ns, view->sched->lives[i].birth_ns);
        last_ns = yarn_u64_max(last_ns, view->sched->lives[i].end_ns);
    }
    view->from_ns = yarn_u64_max(view->sched->from_ns, yarn_u64_min(first_ns, last_ns));
    view->to_ns = yarn_u64_min(view->sched->to_ns, last_ns);
    view->to_ns = yarn_u64_max(view->to_ns, view->from_ns);
}

int yarn_sched_view_build(struct yarn_sched_view *view, const struct yarn_choice *choice)
{
    const struct yarn_sched_log *sched = view->sched;
    struct yarn_sched_scratch scratch = {0};
    view->rows = malloc((sched->nr_lives + 1) * sizeof *view->rows);
    int err = view->rows ? 0 : -ENOMEM;
    set_window(view);
    for (size_t i = 0; !err && i < sched->nr_lives; i++) {
        struct yarn_sched_row row = {.life = &sched->lives[i]};
        if (!choice->threads[row.life->owner] || !is_in_window(view, row.life))
            continue;
        err = yarn_sched_sums_of(sched, row.life, view->from_ns, view->to_ns, &scratch, &row.sums);
        view->rows[view->nr_rows++] = row;
    }
    if (!err && view->nr_rows)
        qsort(view->rows, view->nr_rows, sizeof *view->rows, compare_rows);
    yarn_sched_scratch_fini(&scratch);
    return err;
}

void yarn_sched_view_fini(struct yarn_sched_view *view)
{
    free(view->rows);
    view->rows = NULL;
    view->nr_rows = 0;
}

size_t yarn_sched_view_count(const struct yarn_sched_view *view)
{
    return view->limit ? yarn_size_min(view->limit, view->nr_rows) : view->nr_rows;
}

const char *yarn_sched_view_comm(const struct yarn_sched_view *view,
                                 const struct yarn_sched_row *row)
{
    return yarn_profile_text(view->profile, view->profile->threads[row->life->owner].comm);
}

const char *yarn_sched_view_foreign(const struct yarn_sched_view *view, uint32_t tid)
{
    if (!tid)
        return "<idle>";
    uint32_t comm = view->comms ? yarn_table_find(view->comms, tid) : YARN_TABLE_NONE;
    return yarn_profile_text(view->profile, comm == YARN_TABLE_NONE ? 0 : comm);
}

uint32_t yarn_sched_view_pid(const struct yarn_sched_view *view, const struct yarn_sched_row *row)
{
    const struct yarn_profile *profile = view->profile;
    return profile->dumps[profile->threads[row->life->owner].dump].process.pid;
}

static uint64_t plus(uint64_t one, uint64_t other)
{
    return one > UINT64_MAX - other ? UINT64_MAX : one + other;
}

struct yarn_sched_missing yarn_sched_view_missing(const struct yarn_sched_view *view)
{
    struct yarn_sched_missing missing = {.refused = view->sched->nr_refused};
    const struct yarn_profile *profile = view->profile;
    uint32_t last = UINT32_MAX;
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        const struct yarn_profile_dump *dump = &profile->dumps[i];
        missing.cut_ns = plus(missing.cut_ns, yarn_profile_dump_cut_ns(dump));
        missing.lost = plus(missing.lost, dump->trust.stored.value[YARN_DUMP_TOTAL_SWITCHES_LOST]);
    }
    for (size_t i = 0; i < view->nr_rows; i++) {
        const struct yarn_sched_row *row = &view->rows[i];
        missing.refused = plus(missing.refused, row->sums.refused);
        if (!row->life->is_recorded && row->life->space != last)
            missing.nr_unrecorded++;
        last = row->life->space;
    }
    return missing;
}
