/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/sched/meter.h"

void yarn_sched_meter_read(struct yarn_sched_meter *meter, uint64_t number)
{
    /* Of unknown times none need to be of those that count: what is left is sure. */
    uint64_t more = yarn_u64_minus(yarn_u64_minus(number, meter->last), meter->unknown);
    if (meter->has_last && number >= meter->last && (!meter->unknown || more >= meter->since) &&
        more <= UINT64_MAX - meter->kernel) {
        meter->kernel += more;
        meter->recorded += meter->since;
    }
    meter->has_last = true;
    meter->last = number;
    meter->since = meter->unknown = 0;
}
