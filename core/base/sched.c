/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/sched.h"

enum { RATE_DEFAULT = 50000, RATE_MIN = 1000, RATE_MAX = 1000000000 };

static const char *const words[] = {
    [YARN_SCHED_OFF] = "off",
    [YARN_SCHED_SWITCH] = "switch",
    [YARN_SCHED_TRACEPOINTS] = "tracepoints",
    [YARN_SCHED_TRACEPOINTS_ALL] = "tracepoints:all",
    [YARN_SCHED_AUTO] = "auto",
};
static const char rated[] = "switch:";

static int fail_at(struct yarn_parse_error *ret_error, size_t at, size_t size, const char *why)
{
    *ret_error = (struct yarn_parse_error){.at = at, .why = why, .size = size};
    return -EINVAL;
}

static int parse_rate(const char *text, size_t size, uint32_t *ret_rate,
                      struct yarn_parse_error *ret_error)
{
    const size_t prefix = sizeof rated - 1;
    uint64_t rate;
    if (yarn_parse_count(text + prefix, size - prefix, &rate))
        return fail_at(ret_error, prefix, size - prefix, "not a number of records a second");
    if (rate && rate < RATE_MIN)
        return fail_at(ret_error, prefix, size - prefix,
                       "less than 1000 records a second; 0: any number");
    if (rate > RATE_MAX)
        return fail_at(ret_error, prefix, size - prefix, "more than 1000000000 records a second");
    *ret_rate = (uint32_t)rate;
    return 0;
}

int yarn_sched_parse(const char *text, size_t size, struct yarn_sched *ret_sched,
                     struct yarn_parse_error *ret_error)
{
    for (unsigned i = 0; i < YARN_COUNT_OF(words); i++) {
        if (size != strlen(words[i]) || memcmp(text, words[i], size) != 0)
            continue;
        *ret_sched = (struct yarn_sched){(enum yarn_sched_kind)i, RATE_DEFAULT};
        return 0;
    }
    const size_t prefix = sizeof rated - 1;
    if (size < prefix || memcmp(text, rated, prefix) != 0)
        return fail_at(ret_error, 0, size, "not one of its values");
    *ret_sched = (struct yarn_sched){.kind = YARN_SCHED_SWITCH};
    return parse_rate(text, size, &ret_sched->rate_max_hz, ret_error);
}

void yarn_sched_describe(const struct yarn_sched *sched, struct yarn_text *text)
{
    yarn_text_add(text, words[sched->kind]);
    if (sched->kind == YARN_SCHED_SWITCH)
        yarn_text_add_format(text, ":%lu", (uint64_t)sched->rate_max_hz);
}
