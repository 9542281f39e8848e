/* SPDX-License-Identifier: Apache-2.0 */
/* Public: libyarn shows it. */
#pragma GCC visibility push(default)
#include "core/include/yarn/counters.h"
#pragma GCC visibility pop

#include "core/counters/counter_set.h"
#include "core/event/events.h"
#include "core/event/status.h"
#include "core/sys/process.h"
#include "lib/placed.h"

enum { ROUNDS_MAX = 16, TIDS_MAX = 32768, ARENA_BYTES = 1 << 20 };

struct yarn_counters {
    struct yarn_arena arena; /* of this */
    struct yarn_placed placed;
    struct yarn_counter_set set;
    pid_t pid; /* whose it is */
};

/* Each event of the list is one counter: a pattern of several functions is none. */
static void refuse_patterns(struct yarn_event_list *list)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct yarn_event_spec *last = count ? &list->specs[count - 1] : NULL;
        if (!last || last->item != list->specs[i].item) {
            list->specs[count++] = list->specs[i];
            continue;
        }
        last->refusal = "several functions have such a name, and a counter is of one";
        last->refusal_error = EINVAL;
    }
    list->count = count;
}

static bool has(const pid_t *tids, size_t count, pid_t tid)
{
    while (count && tids[count - 1] != tid)
        count--;
    return count;
}

/* No thread has come since `tids` were read. */
static bool is_stable(const pid_t *tids, size_t count, pid_t *now)
{
    int nr_now = yarn_process_own_threads(yarn_process_pid(), now, TIDS_MAX);
    for (int i = 0; i < nr_now && i < TIDS_MAX; i++)
        if (!has(tids, count, now[i]))
            return false;
    return nr_now > 0 && nr_now <= TIDS_MAX;
}

/* Every thread once: a thread that came meanwhile may have inherited the events or not, which the
 * kernel does not tell, so then they are opened anew. */
static int open_process(struct yarn_counters *counters)
{
    const struct yarn_event_list *list = &counters->placed.list;
    pid_t *tids = YARN_ARENA_NEW(&counters->arena, pid_t, 2 * TIDS_MAX);
    if (!tids)
        return -ENOMEM;
    for (unsigned round = 0; round < ROUNDS_MAX; round++) {
        int count = yarn_process_own_threads(counters->pid, tids, TIDS_MAX);
        if (count < 0 || count > TIDS_MAX)
            return count < 0 ? count : -EAGAIN;
        struct yarn_counter_plan plan = {
            .tids = tids, .nr_tids = (size_t)count, .reach = YARN_COUNTER_OF_PROCESS};
        int err = yarn_counter_set_open(&counters->set, list->specs, list->count, &plan);
        if (err || is_stable(tids, (size_t)count, tids + TIDS_MAX))
            return err;
        yarn_counter_set_close(&counters->set);
    }
    return -EAGAIN;
}

static int open_thread(struct yarn_counters *counters)
{
    const struct yarn_event_list *list = &counters->placed.list;
    const pid_t self = 0;
    struct yarn_counter_plan plan = {.tids = &self, .nr_tids = 1, .reach = YARN_COUNTER_OF_THREAD};
    return yarn_counter_set_open(&counters->set, list->specs, list->count, &plan);
}

static int first_refusal(const struct yarn_counter_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (!set->counters[i].error)
            return 0;
    return set->count ? set->counters[0].error : -EINVAL;
}

int yarn_counters_open(const struct yarn_events *events, enum yarn_scope scope,
                       struct yarn_counters **ret_counters)
{
    struct yarn_arena arena = YARN_ARENA_CLOSED;
    if (!events || !ret_counters || (scope != YARN_SCOPE_THREAD && scope != YARN_SCOPE_PROCESS))
        return -EINVAL;
    yarn_arena_open(&arena, ARENA_BYTES);
    struct yarn_counters *counters = YARN_ARENA_NEW(&arena, struct yarn_counters, 1);
    if (!counters) {
        yarn_arena_close(&arena);
        return -ENOMEM;
    }
    counters->arena = arena;
    counters->pid = yarn_process_pid();
    yarn_placed_open(&counters->placed, events->list.specs, events->list.count, &counters->arena);
    refuse_patterns(&counters->placed.list);
    int err = scope == YARN_SCOPE_PROCESS ? open_process(counters) : open_thread(counters);
    if (!err)
        err = first_refusal(&counters->set);
    if (err) {
        yarn_counters_close(counters);
        return err;
    }
    *ret_counters = counters;
    return 0;
}

static int check_owner(const struct yarn_counters *counters)
{
    if (!counters)
        return -EINVAL;
    return counters->pid == yarn_process_pid() ? 0 : -ECHILD;
}

int yarn_counters_start(struct yarn_counters *counters)
{
    int err = check_owner(counters);
    if (!err)
        yarn_counter_set_enable(&counters->set);
    return err;
}

int yarn_counters_stop(struct yarn_counters *counters)
{
    int err = check_owner(counters);
    if (!err)
        yarn_counter_set_disable(&counters->set);
    return err;
}

static struct yarn_value value_of(const struct yarn_perf_count *sum, int error)
{
    if (error)
        return (struct yarn_value){.error = error};
    return (struct yarn_value){
        .count = sum->count,
        .enabled_ns = sum->time_enabled_ns,
        .running_ns = sum->time_running_ns,
    };
}

int yarn_counters_read(struct yarn_counters *counters, struct yarn_value *ret_values, size_t count)
{
    int err = check_owner(counters);
    if (!err && count && !ret_values)
        err = -EINVAL;
    if (err)
        return err;
    for (size_t i = 0, read; i < counters->set.count && i < count; i += read) {
        struct yarn_perf_count sums[YARN_PERF_GROUP_MAX];
        int errors[YARN_PERF_GROUP_MAX];
        read = yarn_counter_set_read_group(&counters->set, i, sums, errors);
        for (size_t k = 0; k < read && i + k < count; k++)
            ret_values[i + k] = value_of(&sums[k], errors[k]);
    }
    return 0;
}

static bool was_shared(const struct yarn_counter_set *set, size_t event)
{
    struct yarn_perf_count count;
    return yarn_counter_set_read(set, event, &count) == 0 &&
           count.time_running_ns < count.time_enabled_ns;
}

uint32_t yarn_counters_status(const struct yarn_counters *counters, size_t event,
                              const char **ret_reason)
{
    const char *none, **reason = ret_reason ? ret_reason : &none;
    *reason = NULL;
    if (!counters || event >= counters->set.count || check_owner(counters))
        return YARN_EVENT_REFUSED;
    const struct yarn_counter *counter = &counters->set.counters[event];
    if (counter->error) {
        *reason = counter->reason;
        return YARN_EVENT_REFUSED;
    }
    /* The clocks take no notice of who is left out. */
    bool is_user_only = counter->is_kernel_refused && !counter->spec.is_clock;
    if (is_user_only)
        *reason = yarn_event_status_user_only();
    return (is_user_only ? YARN_EVENT_USER_ONLY : 0u) |
           (was_shared(&counters->set, event) ? YARN_EVENT_MULTIPLEXED : 0u);
}

int yarn_counters_error(const struct yarn_counters *counters, size_t event, const char **ret_reason)
{
    const char *reason = NULL;
    int err = check_owner(counters);
    if (!err && event >= counters->set.count)
        err = -EINVAL;
    if (!err)
        (void)yarn_counters_status(counters, event, &reason);
    if (ret_reason)
        *ret_reason = reason;
    return err ? err : counters->set.counters[event].error;
}

void yarn_counters_close(struct yarn_counters *counters)
{
    if (!counters)
        return;
    struct yarn_arena arena = counters->arena; /* it lies in there itself */
    yarn_counter_set_close(&counters->set);
    yarn_placed_close(&counters->placed, counters->pid != yarn_process_pid());
    yarn_arena_close(&arena);
}
