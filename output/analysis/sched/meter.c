/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/sched/meter.h"

void yarn_sched_meter_read(struct yarn_sched_meter *meter, uint64_t number)
{
    uint64_t more = yarn_u64_minus(number, meter->last);
    if (meter->has_last && !meter->unknown && number >= meter->last &&
        more <= UINT64_MAX - meter->kernel) {
        meter->kernel += more;
        meter->recorded += meter->since;
    }
    meter->has_last = true;
    meter->last = number;
    meter->since = meter->unknown = 0;
}
