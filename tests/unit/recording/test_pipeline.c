/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/support/suite.h"
#include "tests/unit/recording/made_process.h"

#define CODE UINT64_C(0x400000)
#define CODE_BYTES UINT64_C(0x10000)
#define START_NS UINT64_C(1000000000)

static struct yarn_typed_record record_of(enum yarn_record_type type)
{
    return (struct yarn_typed_record){
        .type = type,
        .perf = {.pid = MADE_PID,
                 .tid = MADE_THREAD,
                 .time = START_NS,
                 .misc = PERF_RECORD_MISC_USER},
    };
}

static void map_code(uint64_t start, const char *path)
{
    static struct yarn_record_mmap map;
    map = (struct yarn_record_mmap){
        .pid = MADE_PID,
        .start = start,
        .size = CODE_BYTES,
        .protection = PROT_READ | PROT_EXEC,
    };
    strcpy(map.path, path);
    struct yarn_typed_record record = record_of(YARN_RECORD_MMAP);
    record.mmap = &map;
    made_process_feed(&record);
}

static const struct perf_event_attr layout = {
    .sample_type = YARN_SAMPLE_TYPE_COMMON | PERF_SAMPLE_CALLCHAIN,
};

/* A sample with this chain, innermost first. */
static struct yarn_typed_record sample_of(const uint64_t *chain, size_t count)
{
    struct yarn_typed_record record = record_of(YARN_RECORD_SAMPLE);
    record.attr = &layout;
    record.perf.fields = layout.sample_type;
    record.perf.ip = chain[0];
    record.perf.period = MADE_PERIOD_NS;
    record.perf.callchain = (struct yarn_bytes){(const uint8_t *)chain, count * sizeof *chain};
    return record;
}

static const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_USER, CODE + 0x10, CODE + 0x20,
                                 CODE + 0x30};

static struct yarn_typed_record sample(void)
{
    struct yarn_typed_record record = sample_of(chain, YARN_COUNT_OF(chain));
    record.perf.ip = chain[1];
    return record;
}

static uint64_t total(enum yarn_dump_total which)
{
    return made.account.totals.value[which];
}

/* ---- samples ---- */

START_TEST(nothing_begins_no_dump)
{
    map_code(CODE, "/made/program");
    yarn_pipeline_flush(&made.pipeline, false);
    ck_assert_ptr_null(made.dump.writer);
    ck_assert(!yarn_process_dump_is_begun(&made.dump));
}
END_TEST

START_TEST(a_sample_becomes_a_stack_in_the_dump)
{
    map_code(CODE, "/made/program");
    struct yarn_typed_record record = sample();
    made_process_feed(&record);
    made_process_read();
    ck_assert_uint_eq(made_process_lines("sample "), 1);
    ck_assert_uint_eq(made_process_lines("stack "), 3);
    ck_assert_uint_eq(made_process_lines("frame "), 3);
    ck_assert_uint_eq(made_process_lines("module "), 1);
    ck_assert_ptr_nonnull(strstr(made_process_line("module "), "/made/program"));
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_SAMPLES), 1);
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_FRAMES_UNKNOWN), 1);
    ck_assert_uint_eq(made.account.sampled_ns, MADE_PERIOD_NS);
}
END_TEST

START_TEST(equal_stacks_are_stored_once)
{
    map_code(CODE, "/made/program");
    for (int i = 0; i < 100; i++) {
        struct yarn_typed_record record = sample();
        record.perf.time += (uint64_t)i;
        record.perf.tid += (uint32_t)i % 3;
        made_process_feed(&record);
    }
    made_process_read();
    ck_assert_uint_eq(made_process_lines("sample "), 100);
    ck_assert_uint_eq(made_process_lines("stack "), 3);
    ck_assert_uint_eq(made_process_lines("frame "), 3);
}
END_TEST

START_TEST(a_sample_waits_in_the_queue_until_it_is_stored)
{
    map_code(CODE, "/made/program");
    struct yarn_typed_record record = sample();
    made_process_feed(&record);
    ck_assert(!yarn_queue_is_empty(&made.pipeline.queue));
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_SAMPLES), 0);
    ck_assert(yarn_pipeline_store_queued(&made.pipeline, UINT64_MAX));
    ck_assert(yarn_queue_is_empty(&made.pipeline.queue));
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_SAMPLES), 1);
}
END_TEST

START_TEST(what_is_stored_in_no_time_is_some_and_the_rest_waits)
{
    uint64_t deep[64];
    map_code(CODE, "/made/program");
    for (uint64_t i = 0; i < 8; i++) {
        for (uint64_t k = 0; k < YARN_COUNT_OF(deep); k++)
            deep[k] = CODE + i * 0x1000 + k * 8;
        struct yarn_typed_record record = sample_of(deep, YARN_COUNT_OF(deep));
        made_process_feed(&record);
    }
    ck_assert(!yarn_pipeline_store_queued(&made.pipeline, 0));
    ck_assert_uint_gt(total(YARN_DUMP_TOTAL_SAMPLES), 0);
    ck_assert_uint_lt(total(YARN_DUMP_TOTAL_SAMPLES), 8);
    ck_assert(yarn_pipeline_store_queued(&made.pipeline, UINT64_MAX));
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_SAMPLES), 8);
}
END_TEST

START_TEST(a_full_queue_is_stored_and_loses_nothing)
{
    static uint64_t deep[1000];
    map_code(CODE, "/made/program");
    for (uint64_t k = 0; k < YARN_COUNT_OF(deep); k++)
        deep[k] = CODE + k * 8;
    for (int i = 0; i < 400; i++) {
        struct yarn_typed_record record = sample_of(deep, YARN_COUNT_OF(deep));
        made_process_feed(&record);
    }
    made_process_read();
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_SAMPLES), 400);
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_LOST), 0);
    ck_assert_uint_eq(made_process_lines("sample "), 400);
    ck_assert_uint_eq(made_process_lines("stack "), 1000);
}
END_TEST

START_TEST(generated_code_is_named_at_once)
{
    struct yarn_typed_record record = sample(); /* nothing is mapped there */
    made_process_feed(&record);
    ck_assert(yarn_queue_is_empty(&made.pipeline.queue));
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_SAMPLES), 1);
}
END_TEST

START_TEST(a_sample_without_a_chain_is_the_frame_where_it_hit_and_cut_off)
{
    map_code(CODE, "/made/program");
    struct yarn_typed_record record = record_of(YARN_RECORD_SAMPLE);
    record.attr = &layout;
    record.perf.fields = layout.sample_type;
    record.perf.ip = CODE + 8;
    made_process_feed(&record);
    made_process_read();
    ck_assert_uint_eq(made_process_lines("stack "), 1);
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_STACKS_TRUNCATED), 1);
}
END_TEST

START_TEST(frames_of_the_kernel_lie_above_the_user_s)
{
    static const uint64_t mixed[] = {(uint64_t)PERF_CONTEXT_KERNEL, UINT64_C(0xffffffff81000010),
                                     UINT64_C(0xffffffff81000020), (uint64_t)PERF_CONTEXT_USER,
                                     CODE + 0x10};
    map_code(CODE, "/made/program");
    struct yarn_typed_record record = sample_of(mixed, YARN_COUNT_OF(mixed));
    record.perf.misc = PERF_RECORD_MISC_KERNEL;
    made_process_feed(&record);
    made_process_read();
    ck_assert_uint_eq(made_process_lines("stack "), 3);
    ck_assert_uint_eq(made_process_lines("frame "), 3);
}
END_TEST

START_TEST(a_thread_of_the_kernel_s_own_is_whole_without_a_user_part)
{
    static const uint64_t kernel[] = {(uint64_t)PERF_CONTEXT_KERNEL, UINT64_C(0xffffffff81000010)};
    struct yarn_typed_record record = sample_of(kernel, YARN_COUNT_OF(kernel));
    record.perf.misc = PERF_RECORD_MISC_KERNEL;
    record.perf.ip = kernel[1];
    made_process_feed(&record);
    made_process_read();
    ck_assert_uint_eq(made_process_lines("stack "), 1);
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_STACKS_COMPLETE), 1);
}
END_TEST

/* ---- whose ---- */

START_TEST(another_process_is_counted_and_not_stored)
{
    struct yarn_typed_record record = sample();
    record.perf.pid = MADE_PID + 7;
    made_process_feed(&record);
    yarn_pipeline_flush(&made.pipeline, false);
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_FOREIGN), 1);
    ck_assert_ptr_null(made.dump.writer);
}
END_TEST

START_TEST(the_reader_and_threads_without_a_number_are_not_sampled)
{
    struct yarn_typed_record record = sample();
    record.perf.tid = MADE_READER;
    made_process_feed(&record);
    record.perf.tid = UINT32_MAX;
    made_process_feed(&record);
    ck_assert(yarn_queue_is_empty(&made.pipeline.queue));
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_FOREIGN), 0);
}
END_TEST

START_TEST(a_sample_of_a_time_that_is_stopped_was_not_wanted)
{
    yarn_coverage_stop(&made.account.coverage, START_NS - 1, YARN_DUMP_COVERAGE_PROGRAM);
    struct yarn_typed_record record = sample();
    made_process_feed(&record);
    ck_assert(yarn_queue_is_empty(&made.pipeline.queue));
}
END_TEST

START_TEST(two_pipelines_follow_a_process_each)
{
    static struct yarn_pipeline other;
    ck_assert_int_eq(yarn_pipeline_open(&other, &made.dump, NULL), 0);
    other.pid = MADE_PID + 7;
    struct yarn_typed_record record = sample();
    record.perf.pid = MADE_PID + 7;
    struct yarn_record_listener listener = yarn_pipeline_listener(&other);
    listener.record(listener.self, &record);
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_SAMPLES), 1);
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_FOREIGN), 0);
    yarn_pipeline_close(&other);
}
END_TEST

/* ---- beside samples ---- */

START_TEST(threads_and_their_names_are_stored_once_there_is_a_dump)
{
    struct yarn_typed_record record = sample(), fork = record_of(YARN_RECORD_FORK);
    struct yarn_typed_record comm = record_of(YARN_RECORD_COMM), end = record_of(YARN_RECORD_EXIT);
    made_thread_cpu_ns = 12345;
    made_process_feed(&record);
    fork.task.pid = fork.task.parent_pid = end.task.pid = comm.comm.pid = MADE_PID;
    fork.task.tid = end.task.tid = comm.comm.tid = MADE_THREAD + 5;
    fork.task.parent_tid = MADE_THREAD;
    strcpy(comm.comm.name, "worker");
    made_process_feed(&fork);
    made_process_feed(&comm);
    ck_assert(!made.pipeline.saw_thread_end);
    made_process_feed(&end);
    ck_assert(made.pipeline.saw_thread_end);
    made_process_read();
    ck_assert_ptr_nonnull(strstr(made_process_line("thread tid=4194007"), "parent_tid=4194002"));
    ck_assert_ptr_nonnull(strstr(made_process_line("thread_name tid=4194007"), "worker"));
    ck_assert_ptr_nonnull(strstr(made_process_line("thread_end tid=4194007"), "cpu_ns=12345"));
}
END_TEST

START_TEST(threads_of_another_process_are_none_of_ours)
{
    struct yarn_typed_record end = record_of(YARN_RECORD_EXIT);
    end.task.pid = MADE_PID + 7;
    made_process_feed(&end);
    ck_assert(!made.pipeline.saw_thread_end);
}
END_TEST

START_TEST(a_loss_begins_a_dump_and_is_counted)
{
    struct yarn_typed_record lost = record_of(YARN_RECORD_LOST);
    lost.event = YARN_RECORD_NO_EVENT;
    lost.lost.count = 17;
    made_process_feed(&lost);
    made_process_read();
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_LOST), 17);
    ck_assert_uint_eq(made_process_lines("lost "), 1);
}
END_TEST

START_TEST(throttling_is_counted_when_it_begins)
{
    struct yarn_typed_record throttle = record_of(YARN_RECORD_THROTTLE);
    throttle.throttle.is_on = true;
    made_process_feed(&throttle);
    throttle.throttle.is_on = false;
    made_process_feed(&throttle);
    made_process_read();
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_THROTTLED), 1);
    ck_assert_uint_eq(made_process_lines("throttle "), 2);
}
END_TEST

START_TEST(kinds_that_are_not_stored_are_passed_over_and_unknown_ones_counted)
{
    struct yarn_typed_record record = record_of(YARN_RECORD_SWITCH);
    made_process_feed(&record);
    record = record_of(YARN_RECORD_OTHER);
    made_process_feed(&record);
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_RECORDS_UNKNOWN), 0);
    record = record_of(YARN_RECORD_UNKNOWN);
    made_process_feed(&record);
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_RECORDS_UNKNOWN), 1);
}
END_TEST

START_TEST(what_cannot_be_decoded_is_counted)
{
    struct yarn_record_listener listener = yarn_pipeline_listener(&made.pipeline);
    listener.malformed(listener.self, PERF_RECORD_SAMPLE, 8);
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_RECORDS_BAD), 1);
}
END_TEST

START_TEST(a_module_that_no_frame_names_is_stored_at_the_end)
{
    map_code(CODE, "/made/program");
    map_code(2 * CODE, "/made/library");
    struct yarn_typed_record record = sample();
    made_process_feed(&record);
    made_process_read();
    ck_assert_uint_eq(made_process_lines("module "), 2);
}
END_TEST

/* ---- the dump ---- */

START_TEST(a_file_that_cannot_be_made_is_tried_once_and_fails_the_recording)
{
    strcpy(made.dump.file.path, "/nowhere/at/all");
    struct yarn_typed_record record = sample();
    made_process_feed(&record);
    made_process_feed(&record);
    yarn_pipeline_flush(&made.pipeline, false);
    ck_assert_ptr_nonnull(made.failure.what);
    ck_assert_int_eq(made.failure.error, -ENOENT);
    ck_assert(made.dump.has_tried);
    ck_assert_ptr_null(made.dump.writer);
    yarn_process_dump_end(&made.dump, YARN_DUMP_END_EXIT, 0);
    ck_assert(made.failure.is_unstored);
}
END_TEST

START_TEST(a_reserved_file_that_stays_empty_goes_away)
{
    struct yarn_file_info info;
    ck_assert(yarn_process_dump_reserve(&made.dump));
    ck_assert(!yarn_process_dump_reserve(&made.dump));
    ck_assert_int_eq(yarn_file_stat_name(YARN_FILE_CWD, made.dump.file.path, &info), 0);
    ck_assert(!yarn_process_dump_is_begun(&made.dump));
    yarn_process_dump_end(&made.dump, YARN_DUMP_END_EXIT, 0);
    yarn_process_dump_close(&made.dump);
    ck_assert_int_eq(yarn_file_stat_name(YARN_FILE_CWD, made.dump.file.path, &info), -ENOENT);
}
END_TEST

START_TEST(messages_are_stored_once_and_a_warning_is_worth_a_dump)
{
    yarn_messages_add(&made.messages, YARN_DUMP_MESSAGE_INFO, false, "by the way");
    yarn_messages_add(&made.messages, YARN_DUMP_MESSAGE_WARNING, true, "beside");
    ck_assert(!yarn_process_dump_has_warning(&made.dump));
    yarn_messages_add(&made.messages, YARN_DUMP_MESSAGE_WARNING, false, "%s: %s", "beware",
                      "of it");
    ck_assert(yarn_process_dump_has_warning(&made.dump));
    ck_assert(yarn_process_dump_begin(&made.dump));
    yarn_process_dump_flush(&made.dump);
    ck_assert_uint_eq(made.dump.nr_messages_kept, 3);
    made_process_read();
    ck_assert_uint_eq(made_process_lines("message "), 3);
    ck_assert(made.summary.has_end);
}
END_TEST

START_TEST(messages_that_found_no_room_are_in_the_totals)
{
    for (int i = 0; i < YARN_MESSAGES_MAX + 3; i++)
        yarn_messages_add(&made.messages, YARN_DUMP_MESSAGE_WARNING, false, "again");
    ck_assert(yarn_process_dump_begin(&made.dump));
    made_process_read();
    ck_assert_uint_eq(made_process_lines("message "), YARN_MESSAGES_MAX);
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_MESSAGES_LOST), 3);
    ck_assert_ptr_nonnull(strstr(made_process_line("totals "), " 34=3"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pipeline");
    TCase *tcase = tcase_create("samples");
    tcase_add_checked_fixture(tcase, made_process_begin, made_process_end);
    tcase_add_test(tcase, nothing_begins_no_dump);
    tcase_add_test(tcase, a_sample_becomes_a_stack_in_the_dump);
    tcase_add_test(tcase, equal_stacks_are_stored_once);
    tcase_add_test(tcase, a_sample_waits_in_the_queue_until_it_is_stored);
    tcase_add_test(tcase, what_is_stored_in_no_time_is_some_and_the_rest_waits);
    tcase_add_test(tcase, a_full_queue_is_stored_and_loses_nothing);
    tcase_add_test(tcase, generated_code_is_named_at_once);
    tcase_add_test(tcase, a_sample_without_a_chain_is_the_frame_where_it_hit_and_cut_off);
    tcase_add_test(tcase, frames_of_the_kernel_lie_above_the_user_s);
    tcase_add_test(tcase, a_thread_of_the_kernel_s_own_is_whole_without_a_user_part);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("whose they are");
    tcase_add_checked_fixture(tcase, made_process_begin, made_process_end);
    tcase_add_test(tcase, another_process_is_counted_and_not_stored);
    tcase_add_test(tcase, the_reader_and_threads_without_a_number_are_not_sampled);
    tcase_add_test(tcase, a_sample_of_a_time_that_is_stopped_was_not_wanted);
    tcase_add_test(tcase, two_pipelines_follow_a_process_each);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("beside samples");
    tcase_add_checked_fixture(tcase, made_process_begin, made_process_end);
    tcase_add_test(tcase, threads_and_their_names_are_stored_once_there_is_a_dump);
    tcase_add_test(tcase, threads_of_another_process_are_none_of_ours);
    tcase_add_test(tcase, a_loss_begins_a_dump_and_is_counted);
    tcase_add_test(tcase, throttling_is_counted_when_it_begins);
    tcase_add_test(tcase, kinds_that_are_not_stored_are_passed_over_and_unknown_ones_counted);
    tcase_add_test(tcase, what_cannot_be_decoded_is_counted);
    tcase_add_test(tcase, a_module_that_no_frame_names_is_stored_at_the_end);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("the dump");
    tcase_add_checked_fixture(tcase, made_process_begin, made_process_end);
    tcase_add_test(tcase, a_file_that_cannot_be_made_is_tried_once_and_fails_the_recording);
    tcase_add_test(tcase, a_reserved_file_that_stays_empty_goes_away);
    tcase_add_test(tcase, messages_are_stored_once_and_a_warning_is_worth_a_dump);
    tcase_add_test(tcase, messages_that_found_no_room_are_in_the_totals);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
