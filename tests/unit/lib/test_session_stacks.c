/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of stacks as a session of libyarn shows them. */
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <yarn/yarn.h>

#include "tests/support/suite.h"

/* A ring that each eighth copy meets the end of, with the marks nearly all of what is in it. */
enum {
    NR_MARKS = 512,
    NR_COPIES = 400,
    STACK_BYTES = 8192,
    RED_ZONE = 128,
    RING_BYTES = 65536,
    TIMEOUT_MS = 10000
};
#define MARK UINT64_C(0x6d61726b00000000)

static struct yarn_session *session;
static _Atomic int marked_tid, may_end;
static unsigned nr_copies;

static void *burn(void *unused)
{
    volatile uint64_t marks[NR_MARKS];
    for (uint64_t i = 0; i < NR_MARKS; i++)
        marks[i] = MARK + i;
    atomic_store(&marked_tid, gettid());
    while (!atomic_load(&may_end))
        marks[0] = marks[1] - 1;
    return unused;
}

static uint64_t word_at(struct yarn_bytes bytes, size_t at)
{
    uint64_t word;
    ck_assert_uint_le(at + sizeof word, bytes.size);
    memcpy(&word, bytes.data + at, sizeof word);
    return word;
}

static void on_record(void *self, size_t event, const struct yarn_record *record)
{
    uint64_t addresses[4];
    size_t at = 0;
    (void)self;
    if (record->type != PERF_RECORD_SAMPLE || event != 0 ||
        record->tid != (uint32_t)atomic_load(&marked_tid)) /* a sanitizer has threads, too */
        return;
    while (word_at(record->stack, at) - MARK >= NR_MARKS)
        at += sizeof(uint64_t);
    /* The first ones may lie below the stack pointer. */
    uint64_t first = word_at(record->stack, at) - MARK;
    ck_assert_uint_le(first, RED_ZONE / sizeof(uint64_t));
    for (uint64_t i = first; i < NR_MARKS; i++, at += sizeof(uint64_t))
        ck_assert_uint_eq(word_at(record->stack, at), MARK + i);
    ck_assert_int_gt(yarn_session_unwind(session, record, addresses, 4), 1);
    ck_assert_uint_eq(addresses[0], record->ip);
    nr_copies++;
}

START_TEST(each_copy_is_whole_wherever_it_lies_in_the_ring)
{
    const struct yarn_listener listener = {.size = sizeof listener, .on_record = on_record};
    const struct yarn_session_spec spec = {.size = sizeof spec,
                                           .stacks = YARN_STACKS_COPY,
                                           .stack_bytes = STACK_BYTES,
                                           .ring_bytes = RING_BYTES,
                                           .frequency_hz = 4999};
    struct yarn_events *events;
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, burn, NULL), 0);
    while (!atomic_load(&marked_tid))
        usleep(500);
    ck_assert_int_eq(yarn_events_parse("task-clock:u", &events, NULL), 0);
    ck_assert_int_eq(yarn_session_new(events, &spec, &listener, &session), 0);
    yarn_events_free(events);
    int err = yarn_session_attach(session);
    if (err)
        printf("skipped: no events here: %s\n", strerror(-err));
    else
        ck_assert_int_eq(yarn_session_start(session), 0);
    while (!err && nr_copies < NR_COPIES)
        ck_assert_int_gt(yarn_session_read(session, TIMEOUT_MS), 0);
    atomic_store(&may_end, 1);
    pthread_join(thread, NULL);
    yarn_session_free(session);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("session_stacks");
    TCase *tcase = tcase_create("a thread with marks on its stack");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, each_copy_is_whole_wherever_it_lies_in_the_ring);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
