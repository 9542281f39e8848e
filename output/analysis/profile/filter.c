/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/profile/filter.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/text.h"
#include "output/analysis/value/name.h"

const char *const yarn_filter_names[] = {
    [YARN_FILTER_EVENT] = "event",     [YARN_FILTER_THREAD] = "thread",
    [YARN_FILTER_PROCESS] = "process", [YARN_FILTER_COMM] = "comm",
    [YARN_FILTER_MODULE] = "module",   [YARN_FILTER_FUNCTION] = "function",
};

static int parse_moment(const char *text, size_t size, uint64_t *ret_ns, bool *ret_is_absolute)
{
    bool is_absolute = size && text[0] == '@';
    size_t skip = is_absolute ? 1 : 0;
    if (size == skip)
        return is_absolute ? -EINVAL : 0;
    int err = yarn_parse_duration(text + skip, size - skip, ret_ns);
    if (!err)
        *ret_is_absolute = is_absolute;
    return err;
}

int yarn_time_range_parse(const char *text, struct yarn_time_range *ret_range)
{
    struct yarn_time_range range = YARN_TIME_RANGE_ALL;
    const char *dots = strstr(text, "..");
    if (!dots)
        return -EINVAL;
    int err = parse_moment(text, (size_t)(dots - text), &range.from_ns, &range.from_is_absolute);
    if (err)
        return err;
    err = parse_moment(dots + 2, strlen(dots + 2), &range.to_ns, &range.to_is_absolute);
    if (err)
        return err;
    if (range.from_is_absolute == range.to_is_absolute && range.to_ns < range.from_ns)
        return -EINVAL;
    *ret_range = range;
    return 0;
}

static uint64_t moment(uint64_t at, bool is_absolute, uint64_t start_ns, int64_t offset_ns)
{
    if (at == UINT64_MAX || (!is_absolute && at > UINT64_MAX - start_ns))
        return UINT64_MAX;
    if (!is_absolute)
        return at + start_ns;
    return offset_ns > 0 && at < (uint64_t)offset_ns ? 0 : at - (uint64_t)offset_ns;
}

void yarn_time_range_on_clock(const struct yarn_time_range *range, uint64_t start_ns,
                              int64_t offset_ns, uint64_t *ret_from_ns, uint64_t *ret_to_ns)
{
    bool is_from_start = !range->from_ns && !range->from_is_absolute;
    *ret_from_ns =
        is_from_start ? 0 : moment(range->from_ns, range->from_is_absolute, start_ns, offset_ns);
    *ret_to_ns = moment(range->to_ns, range->to_is_absolute, start_ns, offset_ns);
}

int yarn_filter_set_function(struct yarn_filter *filter, const char *regex, char *ret_why,
                             size_t size)
{
    regex_t compiled;
    int err = regcomp(&compiled, regex, REG_EXTENDED | REG_NOSUB);
    if (err) {
        (void)regerror(err, &compiled, ret_why, size);
        return -EINVAL;
    }
    yarn_filter_fini(filter);
    filter->function = compiled;
    filter->has_function = true;
    return 0;
}

void yarn_filter_fini(struct yarn_filter *filter)
{
    if (filter->has_function)
        regfree(&filter->function);
    filter->has_function = false;
}

/* True where a word of the comma-separated list matches one of the texts. */
static bool list_has(const char *list, const char *text, const char *other)
{
    char word[256];
    if (!list)
        return true;
    for (const char *at = list; *at; at += *at == ',') {
        size_t size = strcspn(at, ",");
        if (size && size < sizeof word) {
            memcpy(word, at, size);
            word[size] = 0;
            /* Why literally first: brackets are part of some names. */
            if (strcmp(word, text) == 0 || fnmatch(word, text, 0) == 0 ||
                fnmatch(word, other, 0) == 0)
                return true;
        }
        at += size;
    }
    return false;
}

bool yarn_filter_list_has(const char *list, const char *text)
{
    return list_has(list, text, text);
}

bool yarn_filter_has_event(const struct yarn_filter *filter, const struct yarn_profile *profile,
                           uint32_t event)
{
    const char *name = yarn_profile_text(profile, profile->events[event].name);
    return list_has(filter->lists[YARN_FILTER_EVENT], name, name);
}

static bool has_process(const struct yarn_filter *filter, const char *name, uint32_t pid)
{
    char text[16];
    (void)snprintf(text, sizeof text, "%u", pid);
    return list_has(filter->lists[YARN_FILTER_PROCESS], name, text);
}

bool yarn_filter_has_task(const struct yarn_filter *filter, const struct yarn_profile *profile,
                          uint32_t dump, const char *comm, uint32_t tid)
{
    char text[16];
    (void)snprintf(text, sizeof text, "%u", tid);
    if (!list_has(filter->lists[YARN_FILTER_THREAD], comm, text) ||
        !list_has(filter->lists[YARN_FILTER_COMM], comm, comm))
        return false;
    if (dump == YARN_DUMP_NONE)
        return has_process(filter, comm, tid);
    const struct yarn_profile_dump *of = &profile->dumps[dump];
    return has_process(filter, yarn_profile_text(profile, of->comm), of->process.pid) ||
           has_process(filter, yarn_profile_text(profile, of->program), of->process.pid);
}

bool yarn_filter_has_thread(const struct yarn_filter *filter, const struct yarn_profile *profile,
                            uint32_t number)
{
    const struct yarn_profile_thread *thread = &profile->threads[number];
    return yarn_filter_has_task(filter, profile, thread->dump,
                                yarn_profile_text(profile, thread->comm), thread->tid);
}

bool yarn_filter_is_by_thread(const struct yarn_filter *filter)
{
    return filter->lists[YARN_FILTER_THREAD] || filter->lists[YARN_FILTER_PROCESS] ||
           filter->lists[YARN_FILTER_COMM];
}

bool yarn_filter_is_by_function(const struct yarn_filter *filter)
{
    return filter->lists[YARN_FILTER_MODULE] || filter->has_function;
}

bool yarn_filter_has_function(const struct yarn_filter *filter, const struct yarn_profile *profile,
                              uint32_t number)
{
    const struct yarn_profile_function *function = &profile->functions[number];
    const struct yarn_profile_module *module = &profile->modules[function->module];
    if (!list_has(filter->lists[YARN_FILTER_MODULE], yarn_profile_text(profile, module->base),
                  yarn_profile_text(profile, module->path)))
        return false;
    return !filter->has_function ||
           regexec(&filter->function, yarn_profile_text(profile, function->name), 0, NULL, 0) == 0;
}
