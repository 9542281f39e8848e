/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "recording/pipeline/queue.h"
#include "tests/support/suite.h"

enum { QUEUE_BYTES = 1 << 20 };

static struct yarn_queue queue;

static void open_queue(void)
{
    yarn_queue_open(&queue, QUEUE_BYTES);
}

static void close_queue(void)
{
    yarn_queue_close(&queue);
    yarn_queue_close(&queue);
}

/* With so many frames, all of which hold the number. */
static bool put(uint64_t number, unsigned nr_frames, unsigned nr_kernel)
{
    struct yarn_queued *queued = yarn_queue_reserve(&queue);
    if (!queued)
        return false;
    queued->sample.time_ns = number;
    for (; queued->nr_kernel < nr_kernel; queued->nr_kernel++)
        queued->kernel[queued->nr_kernel] = number;
    struct yarn_frames *frames = yarn_queued_frames(queued);
    for (; frames->count < nr_frames; frames->count++)
        frames->frame[frames->count] = (struct yarn_unwind_frame){.ip = number};
    yarn_queue_commit(&queue, queued);
    return true;
}

static void take(uint64_t number, unsigned nr_frames, unsigned nr_kernel)
{
    const struct yarn_queued *queued = yarn_queue_take(&queue);
    ck_assert_ptr_nonnull(queued);
    ck_assert_uint_eq(queued->sample.time_ns, number);
    ck_assert_uint_eq(queued->frames->count, nr_frames);
    ck_assert_uint_eq(queued->nr_kernel, nr_kernel);
    for (unsigned i = 0; i < nr_frames; i++)
        ck_assert_uint_eq(queued->frames->frame[i].ip, number);
    for (unsigned i = 0; i < nr_kernel; i++)
        ck_assert_uint_eq(queued->kernel[i], number);
}

START_TEST(what_came_first_is_taken_first)
{
    static const unsigned sizes[][2] = {{1, 0}, {0, 0}, {2048, 128}, {3, 1}, {0, 7}, {17, 0}};
    for (size_t i = 0; i < YARN_COUNT_OF(sizes); i++)
        ck_assert(put(i + 1, sizes[i][0], sizes[i][1]));
    for (size_t i = 0; i < YARN_COUNT_OF(sizes); i++)
        take(i + 1, sizes[i][0], sizes[i][1]);
    ck_assert_ptr_null(yarn_queue_take(&queue));
    ck_assert(yarn_queue_is_empty(&queue));
}
END_TEST

START_TEST(a_short_sample_takes_its_own_room_only)
{
    size_t count = 0;
    while (put(count + 1, 2, 0))
        count++;
    ck_assert_uint_gt(count, (QUEUE_BYTES - sizeof(struct yarn_frames)) / 256);
    ck_assert(yarn_queue_is_filling(&queue));
    for (size_t i = 0; i < count; i++)
        take(i + 1, 2, 0);
}
END_TEST

START_TEST(an_emptied_queue_begins_at_its_front)
{
    for (uint64_t i = 1; i < 2000; i++) {
        ck_assert(put(i, 100, 5));
        take(i, 100, 5);
    }
    ck_assert(!yarn_queue_is_filling(&queue));
}
END_TEST

START_TEST(what_is_put_while_some_are_taken_stays_behind_them)
{
    ck_assert(put(1, 4, 0) && put(2, 5, 1));
    take(1, 4, 0);
    ck_assert(put(3, 6, 2));
    take(2, 5, 1);
    take(3, 6, 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("queue");
    TCase *tcase = tcase_create("queue");
    tcase_add_checked_fixture(tcase, open_queue, close_queue);
    tcase_add_test(tcase, what_came_first_is_taken_first);
    tcase_add_test(tcase, a_short_sample_takes_its_own_room_only);
    tcase_add_test(tcase, an_emptied_queue_begins_at_its_front);
    tcase_add_test(tcase, what_is_put_while_some_are_taken_stays_behind_them);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
