/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "output/analysis/time/phase.h"
#include "tests/support/suite.h"

/* A program of some functions, of which each moment has its shares, as two clocks in turns see it.
 */
enum { FUNCTIONS = 20, THREADS = 4, PERIOD_US = 1000, TURN_US = 50000, START_US = 120000 };

struct program {
    uint64_t random;
    uint64_t seconds;
    uint64_t stint_us;   /* how long it does one thing: 0: all at once, at random */
    uint64_t turn_more;  /* turns are longer by up to that many us */
    double locked_share; /* what the second clock sees of function 0, where it is not -1 */
};

static double uniform(struct program *program)
{
    program->random += UINT64_C(0x9e3779b97f4a7c15);
    return (double)(yarn_hash_u64(program->random) >> 11) / 9007199254740992.0;
}

static uint32_t function_at(struct program *program, uint64_t now_us, bool is_alternate)
{
    if (is_alternate && program->locked_share >= 0 && uniform(program) < program->locked_share)
        return 0;
    if (!program->stint_us)
        return (uint32_t)(uniform(program) * FUNCTIONS);
    return (uint32_t)(now_us / program->stint_us % FUNCTIONS);
}

static void record(struct yarn_clock_phase *phase, struct program *program)
{
    uint64_t now_us = 0, turn_us = START_US;
    for (bool side = false; now_us < program->seconds * 1000000; side = !side) {
        uint64_t period_us = PERIOD_US + (side ? 60 : 0);
        uint64_t more_us = (uint64_t)(uniform(program) * (double)program->turn_more);
        for (uint64_t end_us = now_us + turn_us + more_us; now_us < end_us; now_us += period_us) {
            uint32_t function = function_at(program, now_us, side);
            for (int i = 0; i < THREADS; i++) {
                const struct yarn_clock_phase_sample sample = {
                    .time_ns = now_us * 1000,
                    .weight = period_us * 1000,
                    .number = program->stint_us ? function : function_at(program, now_us, side),
                    .example = 7,
                    .is_alternate = side,
                };
                if (yarn_clock_phase_add(phase,
                                         &sample)) /* why no assertion: each writes to a pipe */
                    ck_abort_msg("no memory");
            }
        }
        turn_us = TURN_US;
    }
    yarn_clock_phase_end(phase);
}

/* How many functions are said to be in phase; -1: none could be judged. */
static int judge(struct yarn_clock_phase *phase, struct yarn_clock_phase_verdict *ret_first)
{
    struct yarn_clock_phase_verdict verdict;
    int found = 0;
    size_t nr_judged = 0;
    for (size_t i = 0; i < phase->nr_rows; i++)
        nr_judged += yarn_clock_phase_judge(phase, &phase->rows[i], &verdict);
    for (size_t i = 0; i < phase->nr_rows; i++) {
        if (!yarn_clock_phase_judge(phase, &phase->rows[i], &verdict))
            continue;
        found += yarn_clock_phase_is_sure(verdict.chance, nr_judged);
        if (phase->rows[i].number == 0)
            *ret_first = verdict;
    }
    return nr_judged ? found : -1;
}

static int outcome_of(struct program program, struct yarn_clock_phase_verdict *ret_first)
{
    struct yarn_clock_phase phase = {0};
    record(&phase, &program);
    int found = judge(&phase, ret_first);
    yarn_clock_phase_fini(&phase);
    return found;
}

static const uint64_t stints_us[] = {0, 100000, 55000, 130000, 1000000, 20000};

/* Of so many programs three in a thousand are expected. */
START_TEST(programs_that_are_not_in_phase_are_not_said_to_be)
{
    enum { PROGRAMS = 60 };
    int found = 0;
    for (uint64_t i = 0; i < PROGRAMS; i++) {
        struct yarn_clock_phase_verdict first;
        found += outcome_of((struct program){.random = i << 32,
                                             .seconds = 3 + i % 9,
                                             .stint_us = stints_us[_i],
                                             .turn_more = 10000,
                                             .locked_share = -1},
                            &first) > 0;
    }
    ck_assert_int_le(found, 1);
}
END_TEST

START_TEST(a_function_that_one_clock_sees_more_of_is_found)
{
    struct yarn_clock_phase_verdict first;
    int found = outcome_of(
        (struct program){
            .seconds = 5, .stint_us = stints_us[_i], .turn_more = 10000, .locked_share = 0.5},
        &first);
    ck_assert_int_ge(found, 1);
    ck_assert(fabs(first.shares[1] - 0.5 - 0.5 * first.shares[0]) < 0.05);
}
END_TEST

START_TEST(few_turns_give_no_verdict)
{
    struct yarn_clock_phase_verdict first;
    struct program program = {.seconds = 1, .locked_share = 1};
    ck_assert_int_eq(outcome_of(program, &first), -1);
    program.seconds = 3;
    ck_assert_int_ge(outcome_of(program, &first), 1);
}
END_TEST

static int add(struct yarn_clock_phase *phase, uint64_t at, bool is_alternate, uint32_t number)
{
    const struct yarn_clock_phase_sample sample = {
        .time_ns = at, .weight = 1, .number = number, .is_alternate = is_alternate};
    return yarn_clock_phase_add(phase, &sample);
}

START_TEST(what_came_before_the_turns_and_what_is_late_counts_for_neither_clock)
{
    struct yarn_clock_phase phase = {0};
    ck_assert_int_eq(add(&phase, 1, false, 3), 0); /* the start */
    ck_assert_int_eq(add(&phase, 5, true, 3), 0);
    ck_assert_int_eq(add(&phase, 9, false, 4), 0);
    ck_assert_int_eq(add(&phase, 8, true, 3), 0); /* late */
    ck_assert_int_eq(add(&phase, 9, false, 4), 0);
    yarn_clock_phase_end(&phase);
    ck_assert_uint_eq(phase.nr_compared, 1);
    ck_assert_double_eq(phase.weights[0], 2);
    ck_assert_double_eq(phase.weights[1], 1);
    yarn_clock_phase_clear(&phase);
    ck_assert_uint_eq(phase.nr_rows, 0);
    ck_assert_int_eq(add(&phase, 1, true, 3), 0); /* another process, whose time is its own */
    ck_assert_double_eq(phase.weights[1], 1);
    yarn_clock_phase_fini(&phase);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("phase");
    TCase *judged = tcase_create("programs of which all is known");
    TCase *turns = tcase_create("turns");
    tcase_set_timeout(judged, 120);
    tcase_add_loop_test(judged, programs_that_are_not_in_phase_are_not_said_to_be, 0,
                        (int)YARN_COUNT_OF(stints_us));
    tcase_add_loop_test(judged, a_function_that_one_clock_sees_more_of_is_found, 0,
                        (int)YARN_COUNT_OF(stints_us));
    tcase_add_test(turns, few_turns_give_no_verdict);
    tcase_add_test(turns, what_came_before_the_turns_and_what_is_late_counts_for_neither_clock);
    suite_add_tcase(suite, judged);
    suite_add_tcase(suite, turns);
    return run_suite(suite);
}
