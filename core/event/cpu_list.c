/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/cpu_list.h"

/* The decimal number at *at, which goes on behind it; UINT32_MAX is more than any cpu. */
static uint64_t take_number(const char **at)
{
    uint64_t number = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++)
        number = number < UINT32_MAX ? number * 10 + (uint64_t)(**at - '0') : number;
    return number;
}

bool yarn_cpu_list_has(const char *list, unsigned cpu)
{
    for (const char *at = list; *at >= '0' && *at <= '9'; at++) {
        uint64_t first = take_number(&at), last = first;
        if (*at == '-') {
            at++;
            last = take_number(&at);
        }
        if (first <= cpu && cpu <= last)
            return true;
        if (*at != ',')
            return false;
    }
    return false;
}
