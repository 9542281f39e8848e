/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/views/info.h"

struct yarn_info_threads yarn_info_threads_of(const struct yarn_profile *profile, size_t dump)
{
    struct yarn_info_threads threads = {0};
    while (threads.begin < profile->nr_threads && profile->threads[threads.begin].dump != dump)
        threads.begin++;
    threads.end = threads.begin;
    while (threads.end < profile->nr_threads && profile->threads[threads.end].dump == dump)
        threads.end++;
    return threads;
}

uint64_t yarn_info_cpu_ns(const struct yarn_profile_dump *dump)
{
    if (dump->trust.cpu_ns)
        return dump->trust.cpu_ns;
    for (size_t i = 0; i < dump->nr_events; i++) {
        const struct yarn_profile_dump_event *event = &dump->events[i];
        if (event->has_count && event->record.flags & YARN_DUMP_EVENT_IS_CLOCK)
            return event->count.count;
    }
    return 0;
}
