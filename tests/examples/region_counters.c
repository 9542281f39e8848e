/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a part of a program costs: events of this thread, counted around it.
 *
 *     cc region_counters.c $(pkg-config --cflags --libs yarn)
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <yarn/yarn.h>

enum { MOST = 8 };

static unsigned work(unsigned times)
{
    volatile unsigned sum = 0;
    while (times--)
        sum = sum + times;
    return sum;
}

static void show(const struct yarn_events *events, const struct yarn_value *values)
{
    for (size_t i = 0; i < yarn_events_count(events) && i < MOST; i++) {
        if (values[i].error)
            printf("%s: %s\n", yarn_events_name(events, i), strerror(-values[i].error));
        else
            printf("%s: %" PRIu64 " %s\n", yarn_events_name(events, i), values[i].count,
                   yarn_events_unit(events, i));
    }
}

int main(int argc, char **argv)
{
    struct yarn_events *events = NULL;
    struct yarn_counters *counters = NULL;
    struct yarn_value values[MOST];
    struct yarn_fault fault;

    int err =
        yarn_events_parse(argc > 1 ? argv[1] : "task-clock,page-faults,cycles", &events, &fault);
    if (err) {
        fprintf(stderr, "%.*s: %s\n", (int)fault.size, argv[1] + fault.at, fault.text);
        return 2;
    }
    err = yarn_counters_open(events, YARN_SCOPE_THREAD, &counters);
    if (!err)
        err = yarn_counters_start(counters);
    if (!err) {
        work(20000000);
        err = yarn_counters_stop(counters);
    }
    if (!err)
        err = yarn_counters_read(counters, values, MOST);
    if (err)
        fprintf(stderr, "%s\n", strerror(-err));
    else
        show(events, values);
    yarn_counters_close(counters);
    yarn_events_free(events);
    return err ? 1 : 0;
}
