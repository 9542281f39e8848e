/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/analysis/value/array.h"
#include "output/yarnprof/stream/columns.h"
#include "output/yarnprof/stream/numbers.h"
#include "output/yarnprof/views/sched.h"

enum {
    TID_COLUMNS = 7,
    COMM_COLUMNS = 15,
    NUMBER_COLUMNS = 9,
    DURATION_COLUMNS = 10,
    FRAMES_SHOWN = 2,
    FUNCTION_COLUMNS = 40,
};

/* NULL: it has no life, or does not pass. */
static const struct yarn_sched_life *life_of(const struct yarn_sched_view *view, uint32_t group)
{
    uint32_t end = view->sched->groups[group].lives_end;
    return end > YARN_SCHED_LOG_BEGIN(view->sched, group, lives_end) ? &view->sched->lives[end - 1]
                                                                     : NULL;
}

static const char *comm_of(const struct yarn_sched_view *view, uint32_t group)
{
    const struct yarn_sched_life *life = life_of(view, group);
    return life ? yarn_profile_text(view->profile, view->profile->threads[life->owner].comm) : "";
}

static int by_pair(const void *a, const void *b)
{
    const struct yarn_sched_look *one = a, *other = b;
    if (one->holder != other->holder)
        return one->holder < other->holder ? -1 : 1;
    return (one->waiter > other->waiter) - (one->waiter < other->waiter);
}

static int by_pair_in_order(const void *a, const void *b)
{
    const struct yarn_sched_look *one = a, *other = b;
    int order = by_pair(a, b);
    return order ? order : (one->time_ns > other->time_ns) - (one->time_ns < other->time_ns);
}

/* A long wait has one look and several samples of it: the thread did not run between them. */
static bool is_of_one_look(const struct yarn_sched_view *view, const struct yarn_sched_life *life,
                           const struct yarn_sched_look *one, const struct yarn_sched_look *other)
{
    const struct yarn_sched_span *spans = view->sched->spans + life->first;
    return life->count && one->time_ns &&
           YARN_ARRAY_UP_TO(spans, life->count, one->time_ns - 1) ==
               YARN_ARRAY_UP_TO(spans, life->count, other->time_ns - 1);
}

static int by_time(const void *a, const void *b)
{
    const struct yarn_sched_lock *one = a, *other = b;
    if (one->ns != other->ns)
        return one->ns > other->ns ? -1 : 1;
    if (one->holder != other->holder)
        return one->holder < other->holder ? -1 : 1;
    return (one->waiter > other->waiter) - (one->waiter < other->waiter);
}

/* Bit by bit of the owners of rows. */
static uint8_t *rows_by_owner(const struct yarn_sched_view *view)
{
    uint8_t *passes = calloc(view->profile->nr_threads + 1, 1);
    for (size_t i = 0; passes && i < view->nr_rows; i++)
        passes[view->rows[i].life->owner] = 1;
    return passes;
}

static void add_look(const struct yarn_sched_view *view, const struct yarn_sched_look *look,
                     bool is_new, struct yarn_sched_lock *row)
{
    if (is_new)
        *row = (struct yarn_sched_lock){
            .holder = view->sched->groups[look->holder].tid,
            .holder_comm = comm_of(view, look->holder),
            .waiter = view->sched->groups[look->waiter].tid,
            .waiter_comm = comm_of(view, look->waiter),
            .stack = look->place,
        };
    if (look->ns > row->most_ns) {
        row->most_ns = look->ns;
        row->stack = look->place;
    }
    row->ns += yarn_u64_min(look->ns, UINT64_MAX - row->ns);
}

int yarn_sched_locks_of(const struct yarn_sched_view *view, struct yarn_sched_lock **ret_rows,
                        size_t *ret_count)
{
    const struct yarn_sched_log *sched = view->sched;
    struct yarn_sched_lock *rows = calloc(sched->nr_looks + 1, sizeof *rows);
    uint8_t *passes = rows_by_owner(view);
    const struct yarn_sched_look *last = NULL;
    size_t count = 0;
    if (!rows || !passes) {
        free(rows);
        free(passes);
        return -ENOMEM;
    }
    if (sched->nr_looks)
        qsort(sched->looks, sched->nr_looks, sizeof *sched->looks, by_pair_in_order);
    for (size_t i = 0; i < sched->nr_looks; i++) {
        const struct yarn_sched_look *look = &sched->looks[i];
        const struct yarn_sched_life *life = life_of(view, look->waiter);
        if (!life || !passes[life->owner])
            continue;
        bool is_new = !last || by_pair(last, look);
        count += is_new;
        add_look(view, look, is_new, &rows[count - 1]);
        rows[count - 1].looks += is_new || !is_of_one_look(view, life, last, look);
        last = look;
    }
    if (count)
        qsort(rows, count, sizeof *rows, by_time);
    free(passes);
    *ret_rows = rows;
    *ret_count = count;
    return 0;
}

/* "pthread_mutex_lock < reader" */
static void print_place(const struct yarn_sched_view *view, uint32_t stack,
                        const struct yarn_out *out)
{
    const struct yarn_profile *profile = view->profile;
    for (int i = 0; i < FRAMES_SHOWN && stack < profile->nr_stacks; i++) {
        uint32_t function = profile->stacks[stack].function;
        (void)fputs(i ? " < " : "", out->file);
        yarn_print_cut(out, yarn_profile_text(profile, profile->functions[function].name),
                       FUNCTION_COLUMNS);
        stack = profile->stacks[stack].parent;
    }
}

int yarn_sched_locks_text(const struct yarn_sched_view *view, const struct yarn_out *out)
{
    struct yarn_sched_lock *rows;
    size_t count;
    int err = yarn_sched_locks_of(view, &rows, &count);
    if (err)
        return err;
    if (count)
        (void)fprintf(out->file, "\n%*s %-*s%*s %-*s%*s%*s  %s\n", TID_COLUMNS, "HOLDER",
                      COMM_COLUMNS, "", TID_COLUMNS, "WAITER", COMM_COLUMNS, "", NUMBER_COLUMNS,
                      "LOOKS", DURATION_COLUMNS, "TIME", "WHERE");
    else
        (void)fputs("no locks: no look at a blocked thread found who held one (off-cpu in "
                    "YARN_EVENTS)\n",
                    out->file);
    for (size_t i = 0; i < count && (!view->limit || i < view->limit); i++) {
        const struct yarn_sched_lock *row = &rows[i];
        (void)fprintf(out->file, "%*u ", TID_COLUMNS, row->holder);
        yarn_print_cell(out, row->holder_comm, COMM_COLUMNS);
        (void)fprintf(out->file, "%*u ", TID_COLUMNS, row->waiter);
        yarn_print_cell(out, row->waiter_comm, COMM_COLUMNS);
        (void)fprintf(out->file, "%*s%*s  ", NUMBER_COLUMNS, yarn_number_grouped(row->looks).text,
                      DURATION_COLUMNS, yarn_number_duration(row->ns).text);
        print_place(view, row->stack, out);
        (void)fputc('\n', out->file);
    }
    free(rows);
    return 0;
}
