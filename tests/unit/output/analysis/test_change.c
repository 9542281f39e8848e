/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "output/fold/change.h"
#include "tests/support/suite.h"

enum { PAIRS = 4000, RUN_SAMPLES = 40 };

static uint64_t state;

static double chance(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

/* The means are large: weights are whole numbers. */
static uint64_t equal_weight(void)
{
    return 1000000;
}

static uint64_t exponential_weight(void)
{
    return (uint64_t)(-log(chance()) * 1e6);
}

static uint64_t weight_of_two(void)
{
    return chance() < 0.5 ? 1000000 : 10000000;
}

/* One run: `count` samples, of which a share is in the function; joins the sums. */
static void sample(size_t count, double share, uint64_t (*weigh)(void), struct yarn_diff_sum *part,
                   struct yarn_diff_sum *whole)
{
    double spent = 0, all = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t weight = weigh();
        double square = (double)weight * (double)weight;
        whole->weight += weight;
        whole->samples++;
        whole->squares += square;
        all += (double)weight;
        if (chance() >= share)
            continue;
        part->weight += weight;
        part->samples++;
        part->squares += square;
        spent += (double)weight;
    }
    whole->runs.squares += all * all;
    part->runs.squares += spent * spent;
    part->runs.products[YARN_DIFF_SHARES] += spent * all;
    part->runs.products[YARN_DIFF_SECONDS] += spent;
}

static const struct {
    size_t nr_samples, nr_runs; /* runs 0: the samples are judged */
    double share, spread;       /* of the share from run to run */
    uint64_t (*weigh)(void);
    double least, most; /* percent of the intervals that hold 0 */
} sources[] = {
    {5, 0, 0.3, 0, equal_weight, 93, 100},          {10, 0, 0.3, 0, exponential_weight, 93, 100},
    {30, 0, 0.3, 0, equal_weight, 93, 97},          {30, 0, 0.5, 0, equal_weight, 93, 97},
    {30, 0, 0.3, 0, exponential_weight, 93, 97},    {100, 0, 0.2, 0, weight_of_two, 93, 97},
    {1000, 0, 0.05, 0, exponential_weight, 93, 97}, {0, 2, 0.3, 0.1, equal_weight, 93, 100},
    {0, 3, 0.3, 0.1, exponential_weight, 93, 100},  {0, 5, 0.3, 0.1, equal_weight, 93, 97},
    {0, 5, 0.3, 0, exponential_weight, 93, 97},     {0, 20, 0.3, 0.1, weight_of_two, 93, 97},
};

static bool holds_nothing(size_t at, enum yarn_diff_scale scale)
{
    struct yarn_diff_sum parts[2] = {0}, wholes[2] = {0};
    struct yarn_diff_bases bases[2];
    for (size_t side = 0; side < 2; side++) {
        size_t nr_runs = sources[at].nr_runs;
        for (size_t i = 0; i < nr_runs; i++) {
            double share = sources[at].share + sources[at].spread * (2 * chance() - 1);
            size_t count = RUN_SAMPLES / 2 + (size_t)(chance() * RUN_SAMPLES);
            count = scale == YARN_DIFF_SECONDS ? RUN_SAMPLES : count;
            sample(count, share, sources[at].weigh, &parts[side], &wholes[side]);
        }
        if (!nr_runs)
            sample(sources[at].nr_samples, sources[at].share, sources[at].weigh, &parts[side],
                   &wholes[side]);
        double seconds = nr_runs ? (double)nr_runs : 1;
        bases[side] = (struct yarn_diff_bases){.nr_runs = nr_runs};
        for (size_t i = 0; i < YARN_DIFF_SCALE_COUNT; i++)
            bases[side].sums[i] = bases[side].squares[i] = seconds;
    }
    struct yarn_change change =
        yarn_change_of(scale, parts, wholes, bases, sources[at].nr_runs != 0);
    ck_assert_int_eq(change.is_noise, change.low <= 0 && change.high >= 0);
    return change.is_noise;
}

static void check_source(size_t at, enum yarn_diff_scale scale)
{
    int nr_held = 0;
    state = 42 + at;
    for (int i = 0; i < PAIRS; i++)
        nr_held += holds_nothing(at, scale);
    double percent = 100.0 * nr_held / PAIRS;
    ck_assert_msg(percent >= sources[at].least && percent <= sources[at].most,
                  "of 100 pairs from one source %.2f hold 0", percent);
}

START_TEST(of_pairs_from_one_source_95_percent_of_the_shares_hold_0)
{
    check_source((size_t)_i, YARN_DIFF_SHARES);
}
END_TEST

/* What is sampled in a time of its own is one part of a whole only for the share. */
START_TEST(of_runs_from_one_source_95_percent_of_the_rates_hold_0)
{
    if (sources[_i].nr_runs)
        check_source((size_t)_i, YARN_DIFF_SECONDS);
}
END_TEST

/* One side of five runs, each of a time between 0.7 and 1.3 of the mean. */
static void spend(double mean, struct yarn_diff_sum *sum, struct yarn_diff_bases *bases)
{
    *sum = (struct yarn_diff_sum){.weight = 0};
    *bases = (struct yarn_diff_bases){.nr_runs = 5};
    bases->sums[YARN_DIFF_RUNS] = bases->squares[YARN_DIFF_RUNS] = 5;
    for (size_t i = 0; i < 5; i++) {
        double spent = floor(mean * (0.7 + 0.6 * chance()));
        sum->weight += (uint64_t)spent;
        sum->runs.squares += spent * spent;
        sum->runs.products[YARN_DIFF_RUNS] += spent;
    }
}

START_TEST(of_ratios_95_percent_of_the_intervals_hold_the_true_one)
{
    int nr_held = 0;
    const double ratio = 3;
    state = 42;
    for (int i = 0; i < PAIRS; i++) {
        struct yarn_diff_sum sums[2];
        struct yarn_diff_bases bases[2];
        spend(1e9, &sums[0], &bases[0]);
        spend(ratio * 1e9, &sums[1], &bases[1]);
        struct yarn_change change = yarn_change_of(YARN_DIFF_RUNS, sums, sums, bases, true);
        nr_held += change.ratio_low <= ratio && ratio <= change.ratio_high;
        ck_assert_int_eq(change.is_noise, change.ratio_low <= 1 && change.ratio_high >= 1);
    }
    double percent = 100.0 * nr_held / PAIRS;
    ck_assert_msg(percent >= 93 && percent <= 97, "%.2f %% hold the true ratio", percent);
}
END_TEST

static struct yarn_change change_of_counts(uint64_t before, uint64_t nr_before, uint64_t after,
                                           uint64_t nr_after)
{
    struct yarn_diff_sum parts[] = {{before, before, (double)before, {0, {0}}},
                                    {after, after, (double)after, {0, {0}}}};
    struct yarn_diff_sum wholes[] = {{nr_before, nr_before, (double)nr_before, {0, {0}}},
                                     {nr_after, nr_after, (double)nr_after, {0, {0}}}};
    struct yarn_diff_bases bases[2] = {{.nr_runs = 1}, {.nr_runs = 1}};
    return yarn_change_of(YARN_DIFF_SHARES, parts, wholes, bases, false);
}

START_TEST(two_of_three_against_none_is_noise)
{
    struct yarn_change change = change_of_counts(2, 3, 0, 3);
    ck_assert(change.is_noise);
    ck_assert_double_eq_tol(change.change, -200.0 / 3, 1e-9);
    /* (0 + 1) / 5 - (2 + 1) / 5 */
    ck_assert_double_eq_tol((change.low + change.high) / 2, -40, 1e-9);
}
END_TEST

START_TEST(a_side_without_samples_shows_nothing)
{
    ck_assert(change_of_counts(0, 0, 50, 100).is_noise);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("change");
    TCase *simulated = tcase_create("simulated");
    tcase_set_timeout(simulated, 60);
    tcase_add_loop_test(simulated, of_pairs_from_one_source_95_percent_of_the_shares_hold_0, 0,
                        YARN_COUNT_OF(sources));
    tcase_add_loop_test(simulated, of_runs_from_one_source_95_percent_of_the_rates_hold_0, 0,
                        YARN_COUNT_OF(sources));
    tcase_add_test(simulated, of_ratios_95_percent_of_the_intervals_hold_the_true_one);
    suite_add_tcase(suite, simulated);
    TCase *small = tcase_create("few samples");
    tcase_add_test(small, two_of_three_against_none_is_noise);
    tcase_add_test(small, a_side_without_samples_shows_nothing);
    suite_add_tcase(suite, small);
    return run_suite(suite);
}
