/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/io/numbers.h"

#include <inttypes.h>
#include <stdio.h>

struct yarn_number yarn_number_grouped(uint64_t value)
{
    struct yarn_number number;
    char digits[24];
    int size = snprintf(digits, sizeof digits, "%" PRIu64, value);
    char *to = number.text;
    for (int i = 0; i < size; i++) {
        if (i && (size - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = 0;
    return number;
}

struct yarn_number yarn_number_duration(uint64_t ns)
{
    struct yarn_number number;
    double seconds = (double)ns / 1e9;
    if (ns < 1000)
        (void)snprintf(number.text, sizeof number.text, "%" PRIu64 " ns", ns);
    else if (ns < 1000000)
        (void)snprintf(number.text, sizeof number.text, "%.1f us", seconds * 1e6);
    else if (ns < YARN_NS_PER_SECOND)
        (void)snprintf(number.text, sizeof number.text, "%.1f ms", seconds * 1e3);
    else if (seconds < 100)
        (void)snprintf(number.text, sizeof number.text, "%.2f s", seconds);
    else
        (void)snprintf(number.text, sizeof number.text, "%.0f s", seconds);
    return number;
}

struct yarn_number yarn_number_bytes(uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    struct yarn_number number;
    if (bytes < 1024) {
        (void)snprintf(number.text, sizeof number.text, "%" PRIu64 " B", bytes);
        return number;
    }
    double value = (double)bytes / 1024;
    size_t unit = 0;
    while (value >= 1024 && unit + 1 < YARN_COUNT_OF(units)) {
        value /= 1024;
        unit++;
    }
    (void)snprintf(number.text, sizeof number.text, value < 100 ? "%.1f %s" : "%.0f %s", value,
                   units[unit]);
    return number;
}

struct yarn_number yarn_number_in_unit(uint64_t value, const char *unit)
{
    return strcmp(unit, "ns") == 0 ? yarn_number_duration(value) : yarn_number_grouped(value);
}

struct yarn_number yarn_number_of_things(uint64_t count, const char *noun)
{
    struct yarn_number number = yarn_number_grouped(count);
    size_t used = strlen(number.text);
    (void)snprintf(number.text + used, sizeof number.text - used, " %.18s%s", noun,
                   count == 1 ? "" : "s");
    return number;
}

double yarn_percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}
