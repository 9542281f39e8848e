/* SPDX-License-Identifier: Apache-2.0 */
#include "output/fold/change.h"

#include <math.h>

static const double deviations = 1.959964; /* of a normal distribution: 95 % lie within */

/* An estimate and what is known of it. */
struct estimate {
    double value; /* as it was seen */
    double centre, variance;
    double freedom; /* degrees of it, where the variance is of runs */
};

/* Up to ten degrees by table, between its rows by the inverse; above by the expansion of Cornish
 * and Fisher, right to four digits there. */
double yarn_change_student(double freedom)
{
    static const double least[] = {12.706, 4.303, 3.182, 2.776, 2.571,
                                   2.447,  2.365, 2.306, 2.262, 2.228};
    double z = deviations, cube = z * z * z;
    if (!(freedom > 1))
        return least[0];
    if (freedom >= 10)
        return z + (cube + z) / (4 * freedom) +
               (5 * cube * z * z + 16 * cube + 3 * z) / (96 * freedom * freedom);
    int row = (int)freedom;
    double part = freedom - row;
    return 1 / ((1 - part) / least[row - 1] + part / least[row]);
}

static double divide(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static struct estimate share_of_samples(const struct yarn_diff_sum *part,
                                        const struct yarn_diff_sum *whole)
{
    double more = divide(whole->squares, (double)whole->weight);
    double trials = (double)whole->weight + 2 * more;
    double share = trials > 0 ? ((double)part->weight + more) / trials : 0.5;
    double inside = part->squares + more * more;
    double outside = fmax(whole->squares - part->squares, 0) + more * more;
    double squares = (1 - share) * (1 - share) * inside + share * share * outside;
    return (struct estimate){
        .value = divide((double)part->weight, (double)whole->weight),
        .centre = share,
        .variance = trials > 0 ? squares / (trials * trials) : 0.125,
    };
}

static struct estimate rate_of_samples(const struct yarn_diff_sum *part,
                                       const struct yarn_diff_sum *whole, double base)
{
    double more = divide(whole->squares, (double)whole->weight);
    double rate = divide((double)part->weight, base);
    return (struct estimate){
        .value = rate,
        .centre = rate,
        .variance = divide(part->squares + more * more, base * base),
    };
}

static struct estimate of_samples(enum yarn_diff_scale scale, const struct yarn_diff_sum *part,
                                  const struct yarn_diff_sum *whole,
                                  const struct yarn_diff_bases *bases)
{
    return scale == YARN_DIFF_SHARES ? share_of_samples(part, whole)
                                     : rate_of_samples(part, whole, bases->sums[scale]);
}

static struct estimate of_runs(enum yarn_diff_scale scale, const struct yarn_diff_sum *part,
                               const struct yarn_diff_sum *whole,
                               const struct yarn_diff_bases *bases)
{
    bool is_share = scale == YARN_DIFF_SHARES;
    double base = is_share ? (double)whole->weight : bases->sums[scale];
    double base_squares = is_share ? whole->runs.squares : bases->squares[scale];
    double runs = (double)bases->nr_runs, ratio = divide((double)part->weight, base);
    double squares =
        part->runs.squares - 2 * ratio * part->runs.products[scale] + ratio * ratio * base_squares;
    /* Runs that are all alike, or would be but for rounding, are so by the few samples that they
     * have. */
    if (!(squares > 1e-9 * part->runs.squares))
        return of_samples(scale, part, whole, bases);
    return (struct estimate){
        .value = ratio,
        .centre = ratio,
        .variance = divide(runs / (runs - 1) * squares, base * base),
        .freedom = runs - 1,
    };
}

static double quantile_of(const struct estimate sides[2], double variance)
{
    double freedom = 0;
    for (size_t side = 0; side < 2; side++) {
        if (sides[side].freedom > 0)
            freedom += sides[side].variance * sides[side].variance / sides[side].freedom;
    }
    return freedom > 0 ? yarn_change_student(variance * variance / freedom) : deviations;
}

/* Fieller: of all ratios r those where after - r before is within its own noise. */
static void set_ratio(struct yarn_change *change, const struct estimate sides[2], double quantile)
{
    double before = sides[0].value, ratio = divide(sides[1].value, before);
    double doubt = divide(quantile * quantile * sides[0].variance, before * before);
    if (!(before > 0) || doubt >= 1)
        return;
    double variance = (1 - doubt) * sides[1].variance + ratio * ratio * sides[0].variance;
    double reach = quantile * sqrt(variance) / before;
    change->ratio_low = fmax((ratio - reach) / (1 - doubt), 0);
    change->ratio_high = (ratio + reach) / (1 - doubt);
}

struct yarn_change yarn_change_of(enum yarn_diff_scale scale, const struct yarn_diff_sum parts[2],
                                  const struct yarn_diff_sum wholes[2],
                                  const struct yarn_diff_bases bases[2], bool is_by_runs)
{
    struct estimate sides[2];
    double unit = scale == YARN_DIFF_SHARES ? 100 : 1;
    for (size_t i = 0; i < 2; i++)
        sides[i] = is_by_runs ? of_runs(scale, &parts[i], &wholes[i], &bases[i])
                              : of_samples(scale, &parts[i], &wholes[i], &bases[i]);
    double variance = sides[0].variance + sides[1].variance;
    double centre = sides[1].centre - sides[0].centre;
    double quantile = quantile_of(sides, variance);
    double reach = quantile * sqrt(variance);
    struct yarn_change change = {
        .values = {unit * sides[0].value, unit * sides[1].value},
        .change = unit * (sides[1].value - sides[0].value),
        .low = unit * (centre - reach),
        .high = unit * (centre + reach),
        .is_noise = fabs(centre) <= reach,
    };
    change.ratio_low = change.ratio_high = NAN;
    if (scale != YARN_DIFF_SHARES)
        set_ratio(&change, sides, quantile);
    return change;
}
