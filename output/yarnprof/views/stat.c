/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/views/stat.h"

#include <math.h>

#include "output/fold/change.h"

double yarn_stat_percent(const struct yarn_stat_row *row)
{
    if (!row->enabled_ns)
        return 0;
    double percent = 100.0 * (double)row->running_ns / (double)row->enabled_ns;
    return percent > 100 ? 100 : percent;
}

void yarn_stat_scale(struct yarn_stat_row *row)
{
    row->value = NAN;
    if (row->is_refused || !row->running_ns)
        return;
    row->value = (double)row->count * row->scale;
    if (yarn_stat_was_shared(row))
        row->value *= (double)row->enabled_ns / (double)row->running_ns;
}

double yarn_stat_plus_minus(const double *values, size_t count)
{
    double sum = 0, squares = 0;
    if (count < 2)
        return -1;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    double freedom = (double)count - 1;
    return yarn_change_student(freedom) * sqrt(squares / freedom / (double)count);
}
