/* SPDX-License-Identifier: Apache-2.0 */
#include "core/counters/counter_set.h"

#include "core/event/status.h"

enum { CPUS_MAX = 1024, FEATURES = YARN_ATTR_INHERIT_THREAD | YARN_ATTR_REMOVE_ON_EXEC };

struct opening {
    struct yarn_counter_set *set;
    const struct yarn_counter_plan *plan;
    uint32_t features; /* that the kernel takes */
};

/* Where an event is opened: number `at` of its targets. */
struct target {
    pid_t tid;
    int cpu;
};

static bool next_target(const struct opening *opening, const struct yarn_event_spec *spec,
                        size_t *at, struct target *ret_target)
{
    if (!spec->is_of_cpus) {
        if (*at >= opening->plan->nr_tids)
            return false;
        *ret_target = (struct target){opening->plan->tids[(*at)++], -1};
        return true;
    }
    while (*at < CPUS_MAX && !yarn_event_spec_is_on(spec, (int)*at))
        (*at)++;
    *ret_target = (struct target){-1, (int)*at};
    return (*at)++ < CPUS_MAX;
}

static size_t count_targets(const struct opening *opening, const struct yarn_event_spec *spec)
{
    struct target target;
    size_t count = 0;
    for (size_t at = 0; next_target(opening, spec, &at, &target);)
        count++;
    return count;
}

static struct perf_event_attr attr_of(const struct opening *opening,
                                      const struct yarn_event_spec *spec)
{
    enum yarn_counter_reach reach = opening->plan->reach;
    struct yarn_attr_options options = {
        .features = reach == YARN_COUNTER_OF_PROCESS ? opening->features : 0,
        .is_single = reach == YARN_COUNTER_OF_THREAD || spec->is_of_cpus,
    };
    struct perf_event_attr attr = yarn_attr_of_counter(spec, &options);
    attr.enable_on_exec = opening->plan->starts_at_exec && !spec->is_of_cpus;
    return attr;
}

static int set_filter(struct yarn_event *event, const struct yarn_event_spec *spec)
{
    int err = spec->filter ? yarn_perf_set_filter(event->fd, spec->filter) : 0;
    if (err)
        yarn_event_close(event);
    return err;
}

/* A group whose events all begin with their leader, at one call. */
static bool is_group(const struct opening *opening, size_t count)
{
    return count > 1 && count <= YARN_PERF_GROUP_MAX && !opening->plan->starts_at_exec;
}

/* What can be done without is given up as far as the kernel wants it. */
static int open_event(struct opening *opening, struct yarn_counter *counter, struct target target,
                      const struct yarn_event *leader, struct yarn_event *ret_event)
{
    for (;;) {
        struct perf_event_attr attr = attr_of(opening, &counter->spec);
        attr.disabled = !counter->is_led;
        if (counter->nr_led)
            attr.read_format |= PERF_FORMAT_GROUP;
        int err = leader ? yarn_event_open_member(ret_event, &attr, 0, leader)
                         : yarn_event_open(ret_event, &attr, 0, target.tid, target.cpu);
        if (!err)
            return set_filter(ret_event, &counter->spec);
        if ((err == -EINVAL || err == -E2BIG) && opening->features &&
            opening->plan->reach == YARN_COUNTER_OF_PROCESS)
            opening->features = yarn_attr_without_newest(opening->features);
        else if ((err == -EACCES || err == -EPERM) && yarn_event_spec_leave_kernel(&counter->spec))
            counter->is_kernel_refused = true;
        else
            return err;
    }
}

static void close_events(struct yarn_counter *counter)
{
    for (size_t i = counter->nr_events; i-- > 0;)
        yarn_event_close(&counter->events[i]);
    counter->nr_events = 0;
}

/* What the kernel can be asked for at all. Whole cpus are no hindrance to who counts from outside.
 */
static int check(const struct opening *opening, const struct yarn_event_spec *spec,
                 const char **ret_why)
{
    struct yarn_event_spec asked = *spec;
    asked.is_counted = true;
    asked.is_of_cpus &= opening->plan->reach != YARN_COUNTER_OF_TREE;
    return yarn_event_spec_check(&asked, ret_why);
}

static const char *reason_of(const struct yarn_event_spec *spec, int err)
{
    if (spec->filter && err == -EINVAL)
        return "the kernel does not take this filter: EXPR may name the event's own fields only";
    return yarn_event_refusal(err);
}

static void refuse(struct yarn_counter *counter, int err, const char *why)
{
    struct yarn_text text = yarn_text_of(counter->reason, sizeof counter->reason);
    counter->error = err;
    yarn_text_add(&text, why);
}

/* The others of a group, for the sake of the one that was refused. */
static void refuse_with(struct yarn_counter *counter, const struct yarn_counter *refused)
{
    struct yarn_text text = yarn_text_of(counter->reason, sizeof counter->reason);
    counter->error = refused->error;
    yarn_text_add(&text, "its group is refused for ");
    yarn_text_add(&text, refused->spec.name);
    yarn_text_add(&text, ": ");
    yarn_text_add(&text, refused->reason);
}

/* One event on every target; the leader's events are the members', in the same order. */
static int open_counter(struct opening *opening, struct yarn_counter *counter,
                        const struct yarn_counter *leader)
{
    const char *why;
    struct target target = {0, -1};
    int err = check(opening, &counter->spec, &why);
    size_t nr_targets = leader ? leader->nr_events : count_targets(opening, &counter->spec);
    counter->events = YARN_ARENA_NEW(&opening->set->arena, struct yarn_event, nr_targets + 1);
    if (!err && !counter->events) {
        err = -ENOMEM;
        why = yarn_event_refusal(err);
    }
    if (err) {
        refuse(counter, err, why);
        return err;
    }
    size_t at = 0;
    for (size_t i = 0; i < nr_targets; i++) {
        if (!leader && !next_target(opening, &counter->spec, &at, &target))
            break;
        err = open_event(opening, counter, target, leader ? &leader->events[i] : NULL,
                         &counter->events[counter->nr_events]);
        if (err == -ESRCH && !leader && nr_targets > 1)
            continue;
        if (err)
            break;
        counter->nr_events++;
    }
    if (!err || (err == -ESRCH && counter->nr_events))
        return 0;
    close_events(counter);
    refuse(counter, err, reason_of(&counter->spec, err));
    return err;
}

static void open_unit(struct opening *opening, struct yarn_counter *counters, size_t count)
{
    const struct yarn_counter *refused = NULL;
    counters[0].nr_led = is_group(opening, count) ? count : 0;
    for (size_t i = 0; i < count && !refused; i++) {
        counters[i].is_led = i && counters[0].nr_led;
        if (open_counter(opening, &counters[i], i ? &counters[0] : NULL))
            refused = &counters[i];
    }
    for (size_t i = 0; refused && i < count; i++) {
        close_events(&counters[i]);
        counters[i].is_led = false;
        counters[i].nr_led = 0;
        if (&counters[i] != refused)
            refuse_with(&counters[i], refused);
    }
}

/* As W has it: alone where they do not fit together. */
static void open_alone(struct opening *opening, struct yarn_counter *counters, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        counters[i].error = 0;
        open_unit(opening, &counters[i], 1);
    }
}

static size_t unit_at(const struct yarn_counter_set *set, size_t first)
{
    uint8_t group = set->counters[first].spec.group;
    size_t end = first + 1;
    while (group && end < set->count && set->counters[end].spec.group == group)
        end++;
    return end - first;
}

int yarn_counter_set_open(struct yarn_counter_set *set, const struct yarn_event_spec *specs,
                          size_t count, const struct yarn_counter_plan *plan)
{
    *set = YARN_COUNTER_SET_CLOSED;
    size_t nr_targets = yarn_size_max(plan->nr_tids, CPUS_MAX);
    size_t each = sizeof(struct yarn_counter) + sizeof(struct yarn_event) * (nr_targets + 2);
    yarn_arena_open(&set->arena, yarn_align_up(2 * (count + 1) * each, YARN_KIB(64)));
    set->counters = YARN_ARENA_NEW(&set->arena, struct yarn_counter, count + 1);
    if (!set->counters) {
        yarn_arena_close(&set->arena);
        return -ENOMEM;
    }
    struct opening opening = {.set = set, .plan = plan, .features = FEATURES};
    set->starts_at_exec = plan->starts_at_exec;
    set->count = count;
    for (size_t i = 0; i < count; i++)
        set->counters[i].spec = specs[i];
    for (size_t i = 0, size; i < count; i += size) {
        size = unit_at(set, i);
        open_unit(&opening, &set->counters[i], size);
        if (set->counters[i].error && set->counters[i].spec.is_weak && size > 1)
            open_alone(&opening, &set->counters[i], size);
    }
    return 0;
}

static bool starts_with(const struct yarn_counter_set *set, size_t index)
{
    return (!set->starts_at_exec || set->counters[index].spec.is_of_cpus) &&
           !set->counters[index].is_led;
}

/* Members first: with their leader all of them begin. */
void yarn_counter_set_enable(struct yarn_counter_set *set)
{
    for (size_t i = set->count; i-- > 0;)
        for (size_t j = 0; starts_with(set, i) && j < set->counters[i].nr_events; j++)
            (void)yarn_perf_enable(set->counters[i].events[j].fd);
}

void yarn_counter_set_disable(struct yarn_counter_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        for (size_t j = 0; !set->counters[i].is_led && j < set->counters[i].nr_events; j++)
            (void)yarn_perf_disable(set->counters[i].events[j].fd);
}

static void add(struct yarn_perf_count *sum, const struct yarn_perf_count *one)
{
    sum->count += one->count;
    sum->time_enabled_ns += one->time_enabled_ns;
    sum->time_running_ns += one->time_running_ns;
}

size_t yarn_counter_set_read_group(const struct yarn_counter_set *set, size_t index,
                                   struct yarn_perf_count ret_counts[YARN_PERF_GROUP_MAX],
                                   int ret_errors[YARN_PERF_GROUP_MAX])
{
    const struct yarn_counter *leader = &set->counters[index];
    const size_t count = yarn_size_max(leader->nr_led, 1);
    struct yarn_perf_count ones[YARN_PERF_GROUP_MAX];
    int err = 0;
    memset(ret_counts, 0, count * sizeof ret_counts[0]);
    if (count == 1)
        err = yarn_counter_set_read(set, index, ret_counts);
    for (size_t i = 0; !err && count > 1 && i < leader->nr_events; i++) {
        const struct yarn_event *event = &leader->events[i];
        err = yarn_perf_read_group(event->fd, event->read_format, ones, count);
        for (size_t k = 0; !err && k < count; k++)
            add(&ret_counts[k], &ones[k]);
    }
    for (size_t k = 0; k < count; k++)
        ret_errors[k] = err;
    return count;
}

int yarn_counter_set_read(const struct yarn_counter_set *set, size_t index,
                          struct yarn_perf_count *ret_count)
{
    const struct yarn_counter *counter = &set->counters[index];
    struct yarn_perf_count sum = {0}, one;
    if (counter->error)
        return counter->error;
    for (size_t i = 0; i < counter->nr_events; i++) {
        int err = yarn_event_count(&counter->events[i], &one);
        if (err)
            return err;
        add(&sum, &one);
    }
    *ret_count = sum;
    return 0;
}

void yarn_counter_set_close(struct yarn_counter_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        close_events(&set->counters[i]);
    yarn_arena_close(&set->arena);
    *set = YARN_COUNTER_SET_CLOSED;
}
