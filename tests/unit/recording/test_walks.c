/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <string.h>

#include "recording/pipeline/walks.h"
#include "tests/support/suite.h"

#define CODE UINT64_C(0x400000)
#define KERNEL UINT64_C(0xffffffff81000000)
#define IN_KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)
#define IN_USER ((uint64_t)PERF_CONTEXT_USER)

static struct yarn_module_map *map;
static struct yarn_unwinder *unwinder;
static struct yarn_walks walks;
static struct yarn_queue queue;
static struct yarn_queued *queued;
static struct perf_event_attr layout;

static void open_walks(void)
{
    struct yarn_mapping mapping = {.start = CODE, .end = CODE + 0x10000, .path = "/made/program"};
    static struct yarn_target target;
    target = yarn_target_of(4194000);
    ck_assert_int_eq(yarn_module_map_new(&map, &target, NULL), 0);
    ck_assert_int_eq(yarn_module_map_add(map, &mapping), 0);
    ck_assert_int_eq(yarn_unwinder_new(&unwinder, 0, map), 0);
    yarn_queue_open(&queue, 1 << 20);
    walks = (struct yarn_walks){.map = map, .unwinder = unwinder};
    layout.sample_type = YARN_SAMPLE_TYPE_COMMON | PERF_SAMPLE_CALLCHAIN;
}

static void close_walks(void)
{
    yarn_queue_close(&queue);
    yarn_unwinder_free(unwinder);
    yarn_module_map_free(map);
}

static const struct yarn_frames *walk(uint16_t mode, uint64_t ip, const uint64_t *chain,
                                      size_t count)
{
    struct yarn_typed_record record = {.type = YARN_RECORD_SAMPLE, .perf.misc = mode};
    record.perf.ip = ip;
    record.attr = &layout;
    record.perf.fields = layout.sample_type;
    if (count)
        record.perf.callchain = (struct yarn_bytes){(const uint8_t *)chain, count * sizeof *chain};
    queued = yarn_queue_reserve(&queue);
    ck_assert_ptr_nonnull(queued);
    yarn_walks_fill(&walks, &record, queued);
    yarn_queued_set_raw(queued, &record.perf.raw);
    yarn_queue_commit(&queue, queued);
    return queued->frames;
}

#define WALK(mode, ip, ...)                                                                        \
    walk(PERF_RECORD_MISC_##mode, ip, (const uint64_t[]){__VA_ARGS__},                             \
         sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

START_TEST(callers_are_looked_up_inside_their_calls)
{
    const struct yarn_frames *frames = WALK(USER, CODE, IN_USER, CODE, CODE + 16, CODE + 32);
    ck_assert_uint_eq(frames->count, 3);
    ck_assert_uint_eq(frames->frame[0].lookup_ip, CODE);
    ck_assert_uint_eq(frames->frame[1].ip, CODE + 16);
    ck_assert_uint_eq(frames->frame[1].lookup_ip, CODE + 15);
    ck_assert_ptr_nonnull(frames->frame[2].module);
    ck_assert_int_eq(frames->end, YARN_STACK_END_CUT);
    ck_assert_uint_eq(queued->nr_kernel, 0);
}
END_TEST

START_TEST(the_kernel_s_part_lies_apart)
{
    const struct yarn_frames *frames =
        WALK(KERNEL, KERNEL, IN_KERNEL, KERNEL, KERNEL + 8, IN_USER, CODE, CODE + 16);
    ck_assert_uint_eq(queued->nr_kernel, 2);
    ck_assert_uint_eq(queued->kernel[0], KERNEL);
    ck_assert_uint_eq(queued->kernel[1], KERNEL + 7);
    ck_assert_uint_eq(frames->count, 2);
    ck_assert_uint_eq(frames->frame[0].ip, CODE);
}
END_TEST

START_TEST(a_sample_in_the_kernel_without_its_chain_has_the_one_frame_of_it)
{
    const struct yarn_frames *frames = WALK(KERNEL, KERNEL + 4, IN_USER, CODE, CODE + 16);
    ck_assert_uint_eq(queued->nr_kernel, 1);
    ck_assert_uint_eq(queued->kernel[0], KERNEL + 4);
    ck_assert_uint_eq(frames->count, 2);
}
END_TEST

START_TEST(a_thread_without_a_user_part_is_whole)
{
    const struct yarn_frames *frames = WALK(KERNEL, KERNEL, IN_KERNEL, KERNEL, KERNEL + 8);
    ck_assert_uint_eq(frames->count, 0);
    ck_assert_int_eq(frames->end, YARN_STACK_END_COMPLETE);
}
END_TEST

START_TEST(an_exec_has_no_user_part_until_the_image_runs)
{
    const struct yarn_frames *frames =
        WALK(KERNEL, KERNEL, IN_KERNEL, KERNEL, IN_USER, CODE + 0x1000000);
    ck_assert_uint_eq(frames->count, 0);
    ck_assert_int_eq(frames->end, YARN_STACK_END_COMPLETE);
    (void)WALK(USER, CODE, IN_USER, CODE);
    frames = WALK(KERNEL, KERNEL, IN_KERNEL, KERNEL, IN_USER, CODE + 0x1000000);
    ck_assert_uint_eq(frames->count, 1);
    ck_assert_int_eq(frames->end, YARN_STACK_END_CUT);
}
END_TEST

START_TEST(code_that_is_mapped_nowhere_is_no_exec_outside_of_the_kernel)
{
    const struct yarn_frames *frames = WALK(USER, CODE, IN_USER, CODE + 0x1000000);
    ck_assert_uint_eq(frames->count, 1);
    ck_assert_int_eq(frames->end, YARN_STACK_END_CUT);
}
END_TEST

START_TEST(more_frames_of_the_kernel_than_there_is_room_for_are_left_out)
{
    static uint64_t chain[2 * YARN_KERNEL_FRAMES_MAX] = {IN_KERNEL};
    for (size_t i = 1; i < YARN_COUNT_OF(chain); i++)
        chain[i] = KERNEL + i;
    walk(PERF_RECORD_MISC_KERNEL, KERNEL, chain, YARN_COUNT_OF(chain));
    ck_assert_uint_eq(queued->nr_kernel, YARN_KERNEL_FRAMES_MAX);
}
END_TEST

START_TEST(more_frames_of_the_user_than_there_is_room_for_are_left_out)
{
    static uint64_t chain[2 * YARN_FRAMES_MAX] = {IN_USER};
    for (size_t i = 1; i < YARN_COUNT_OF(chain); i++)
        chain[i] = CODE + i;
    const struct yarn_frames *frames =
        walk(PERF_RECORD_MISC_USER, CODE, chain, YARN_COUNT_OF(chain));
    ck_assert_uint_eq(frames->count, YARN_FRAMES_MAX);
    ck_assert_int_eq(frames->end, YARN_STACK_END_CUT);
}
END_TEST

START_TEST(nothing_but_an_address_is_one_frame_and_cut_off_where_stacks_were_asked_for)
{
    const struct yarn_frames *frames = walk(PERF_RECORD_MISC_USER, CODE + 4, NULL, 0);
    ck_assert_uint_eq(frames->count, 1);
    ck_assert_uint_eq(frames->frame[0].ip, CODE + 4);
    ck_assert_int_eq(frames->end, YARN_STACK_END_CUT);
    layout.sample_type = YARN_SAMPLE_TYPE_COMMON;
    frames = walk(PERF_RECORD_MISC_USER, CODE + 4, NULL, 0);
    ck_assert_uint_eq(frames->count, 1);
    ck_assert_int_eq(frames->end, YARN_STACK_END_ABSENT);
}
END_TEST

START_TEST(copies_are_too_short_where_more_than_one_in_200_was_of_late)
{
    ck_assert(!yarn_walks_are_cut(&walks));
    walks.nr_copies = 200;
    walks.nr_cut = 1;
    ck_assert(!yarn_walks_are_cut(&walks));
    walks.nr_cut = 2;
    ck_assert(yarn_walks_are_cut(&walks));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("walks");
    TCase *tcase = tcase_create("chains");
    tcase_add_checked_fixture(tcase, open_walks, close_walks);
    tcase_add_test(tcase, callers_are_looked_up_inside_their_calls);
    tcase_add_test(tcase, the_kernel_s_part_lies_apart);
    tcase_add_test(tcase, a_sample_in_the_kernel_without_its_chain_has_the_one_frame_of_it);
    tcase_add_test(tcase, a_thread_without_a_user_part_is_whole);
    tcase_add_test(tcase, an_exec_has_no_user_part_until_the_image_runs);
    tcase_add_test(tcase, code_that_is_mapped_nowhere_is_no_exec_outside_of_the_kernel);
    tcase_add_test(tcase, more_frames_of_the_kernel_than_there_is_room_for_are_left_out);
    tcase_add_test(tcase, more_frames_of_the_user_than_there_is_room_for_are_left_out);
    tcase_add_test(tcase,
                   nothing_but_an_address_is_one_frame_and_cut_off_where_stacks_were_asked_for);
    tcase_add_test(tcase, copies_are_too_short_where_more_than_one_in_200_was_of_late);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
