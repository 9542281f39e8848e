/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/change.h"

#include <math.h>

static const double deviations = 1.96; /* of a normal distribution: 95 % lie within */

static struct yarn_change settle(double before, double after, double variance)
{
    struct yarn_change change = {
        .values = {before, after},
        .change = after - before,
        .noise = deviations * sqrt(variance),
    };
    change.is_noise = fabs(change.change) <= change.noise;
    return change;
}

struct yarn_change yarn_change_of_shares(const struct yarn_diff_sum parts[2],
                                         const struct yarn_diff_sum wholes[2])
{
    double shares[2], variance = 0;
    for (size_t side = 0; side < 2; side++) {
        double trials = (double)wholes[side].samples + 2;
        double share = ((double)parts[side].samples + 1) / trials;
        variance += share * (1 - share) / trials;
        shares[side] = wholes[side].weight
                           ? 100.0 * (double)parts[side].weight / (double)wholes[side].weight
                           : 0;
    }
    return settle(shares[0], shares[1], 100.0 * 100.0 * variance);
}

struct yarn_change yarn_change_of_rates(const struct yarn_diff_sum parts[2],
                                        const struct yarn_diff_sum wholes[2],
                                        const double seconds[2])
{
    double rates[2], variance = 0;
    for (size_t side = 0; side < 2; side++) {
        double weight =
            wholes[side].samples ? (double)wholes[side].weight / (double)wholes[side].samples : 0;
        double each = seconds[side] > 0 ? weight / seconds[side] : 0;
        rates[side] = seconds[side] > 0 ? (double)parts[side].weight / seconds[side] : 0;
        variance += ((double)parts[side].samples + 1) * each * each;
    }
    return settle(rates[0], rates[1], variance);
}
