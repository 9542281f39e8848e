/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/watch.h"

enum {
    PERIODS = 32,           /* for which it lasts after one */
    PERIOD_MIN_NS = 500000, /* samples that come faster are not waited for one by one */
    MISSES = 2,             /* periods without a sample: the thread does not run */
    DELAY_NS = 40000,       /* until a sample can be read from its ring */
    WINDOW_LOG2 = 9,        /* of samples, the older the less they count */
};

/* A wake that brings nothing is given up: each stack that it makes whole is worth some more, each
 * that stays cut off one, so that it is tried now and then. */
enum { WAKES_FIRST = 64, WAKES_A_JOIN = 32, WAKES_MAX = 256 };

/* Four of the window. */
#define SHARE_MANY (UINT32_MAX / 130)

struct yarn_watch yarn_watch_of(uint64_t rate_hz)
{
    uint64_t period_ns = YARN_NS_PER_SECOND / yarn_u64_max(rate_hz, 1);
    return (struct yarn_watch){
        .period_ns = yarn_u64_max(period_ns, PERIOD_MIN_NS),
        .nr_wakes = WAKES_FIRST,
    };
}

bool yarn_watch_see(struct yarn_watch *watch, uint64_t time_ns)
{
    bool is_newer = time_ns > watch->latest_ns;
    watch->latest_ns = yarn_u64_max(watch->latest_ns, time_ns);
    return is_newer;
}

void yarn_watch_alert(struct yarn_watch *watch, uint64_t time_ns)
{
    watch->until_ns = yarn_u64_max(watch->until_ns, time_ns + PERIODS * watch->period_ns);
}

static void earn(struct yarn_watch *watch, uint32_t nr_wakes)
{
    watch->nr_wakes =
        watch->nr_wakes + nr_wakes < WAKES_MAX ? watch->nr_wakes + nr_wakes : WAKES_MAX;
}

void yarn_watch_pay(struct yarn_watch *watch)
{
    watch->nr_wakes -= watch->nr_wakes > 0;
}

void yarn_watch_reward(struct yarn_watch *watch)
{
    earn(watch, WAKES_A_JOIN);
}

void yarn_watch_note(struct yarn_watch *watch, uint64_t time_ns, bool is_unknown)
{
    watch->share -= watch->share >> WINDOW_LOG2;
    (void)yarn_watch_see(watch, time_ns);
    if (is_unknown) {
        watch->share += UINT32_MAX >> WINDOW_LOG2;
        earn(watch, 1);
        yarn_watch_alert(watch, time_ns);
    }
}

bool yarn_watch_has_many(const struct yarn_watch *watch)
{
    return watch->share > SHARE_MANY;
}

uint64_t yarn_watch_wait_ns(const struct yarn_watch *watch, uint64_t now_ns)
{
    uint64_t due_ns = watch->latest_ns + watch->period_ns + DELAY_NS;
    uint64_t overdue_ns = now_ns - due_ns;
    if (!yarn_watch_is_on(watch))
        return UINT64_MAX;
    if (now_ns < due_ns)
        return due_ns - now_ns;
    return overdue_ns < MISSES * watch->period_ns ? watch->period_ns - overdue_ns % watch->period_ns
                                                  : UINT64_MAX;
}
