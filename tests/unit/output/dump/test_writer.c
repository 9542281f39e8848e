/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/pages.h"
#include "tests/support/suite.h"
#include "tests/unit/output/dump/made_dump.h"

static void read_log(const struct made_dump *dump, struct record_log *ret_log,
                     struct yarn_dump_summary *ret_summary)
{
    ck_assert_int_eq(
        yarn_dump_read_bytes(made_dump_span(dump), &record_log_visitor, ret_log, ret_summary), 0);
    ck_assert_uint_eq(ret_summary->nr_damages, 0);
    ck_assert_uint_eq(ret_summary->records_bad, 0);
}

START_TEST(equal_things_are_stored_once)
{
    struct made_dump dump;
    struct record_log log = {NULL, 0, 0};
    struct yarn_dump_summary summary;
    made_dump_begin(&dump, NULL);
    made_dump_frames(&dump, NULL);
    yarn_dump_writer_flush(dump.writer);
    uint32_t first = made_dump_stack(&dump, 1, 10);
    uint32_t other = made_dump_stack(&dump, 2, 10);
    yarn_dump_writer_flush(dump.writer);
    ck_assert_uint_ne(first, other);
    ck_assert_uint_eq(made_dump_stack(&dump, 1, 10), first);
    ck_assert_uint_eq(made_dump_stack(&dump, 2, 10), other);
    const struct yarn_dump_symbol symbol = {.module = 1,
                                            .start = 0x1040,
                                            .end = 0x1070,
                                            .name = yarn_span_of_text("_ZN4deep8functionILi1EEE")};
    struct yarn_dump_symbol elsewhere = symbol;
    elsewhere.module = 0;
    ck_assert_uint_eq(yarn_dump_intern_symbol(dump.writer, &symbol), 1);
    ck_assert_uint_eq(yarn_dump_intern_symbol(dump.writer, &elsewhere), 16);
    uint64_t before = yarn_dump_writer_bytes_written(dump.writer);
    yarn_dump_writer_flush(dump.writer);
    uint64_t after = yarn_dump_writer_bytes_written(dump.writer);
    ck_assert_uint_lt(after - before, 60);
    yarn_dump_writer_flush(dump.writer);
    ck_assert_uint_eq(yarn_dump_writer_bytes_written(dump.writer), after);
    made_dump_finish(&dump);
    ck_assert_uint_eq(dump.size, after);
    ck_assert_int_eq(
        yarn_dump_read_bytes(made_dump_span(&dump), &record_log_visitor, &log, &summary), 0);
    ck_assert_uint_eq(record_log_count(&log, "symbol "), 17);
    ck_assert_uint_eq(record_log_count(&log, "stack "), 15);
    record_log_free(&log);
    made_dump_free(&dump);
}
END_TEST

START_TEST(long_text_is_cut_and_many_texts_take_many_chunks)
{
    struct made_dump dump;
    struct record_log log = {NULL, 0, 0};
    struct yarn_dump_summary summary;
    char *text = malloc(100000);
    memset(text, 'x', 100000);
    made_dump_begin(&dump, NULL);
    for (uint32_t i = 0; i < 20; i++) {
        text[0] = (char)('a' + i);
        yarn_dump_write_message(dump.writer, &(struct yarn_dump_message){
                                                 .time_ns = i, .text = yarn_span_of(text, 100000)});
    }
    yarn_dump_writer_flush(dump.writer);
    made_dump_finish(&dump);
    read_log(&dump, &log, &summary);
    ck_assert_uint_gt(summary.chunks, 4);
    ck_assert_uint_eq(record_log_count(&log, "message "), 20);
    ck_assert_ptr_nonnull(strstr(log.text, "text=65536'sxxx"));
    free(text);
    record_log_free(&log);
    made_dump_free(&dump);
}
END_TEST

/* More of everything between two flushes than there is room for. */
START_TEST(much_without_a_flush_is_all_there)
{
    struct made_dump dump;
    struct record_log log = {NULL, 0, 0};
    struct yarn_dump_summary summary;
    made_dump_begin(&dump, NULL);
    yarn_dump_write_event(dump.writer, &(struct yarn_dump_event){.number = 0});
    for (uint32_t i = 0; i < 20000; i++) {
        struct yarn_dump_symbol symbol = {.module = YARN_DUMP_NONE,
                                          .start = i * 64,
                                          .end = i * 64 + 60,
                                          .name = yarn_span_of(&i, sizeof i)};
        struct yarn_dump_frame frame = {.symbol = yarn_dump_intern_symbol(dump.writer, &symbol),
                                        .address = i * 64 + 7};
        uint32_t number = yarn_dump_add_frame(dump.writer, &frame);
        uint32_t stack = yarn_dump_intern_stack(dump.writer, YARN_DUMP_NONE, number);
        yarn_dump_write_sample(dump.writer, &(struct yarn_sample){.time_ns = i * UINT64_C(997),
                                                                  .weight = i,
                                                                  .tid = 1 + i % 700,
                                                                  .cpu = i % 5,
                                                                  .stack = stack});
        yarn_dump_write_thread_end(dump.writer, &(struct yarn_dump_thread_end){.tid = i});
    }
    yarn_dump_write_end(dump.writer, &(struct yarn_dump_end){.status = 0});
    made_dump_finish(&dump);
    read_log(&dump, &log, &summary);
    ck_assert(summary.has_end);
    ck_assert_uint_eq(record_log_count(&log, "symbol "), 20000);
    ck_assert_uint_eq(record_log_count(&log, "frame "), 20000);
    ck_assert_uint_eq(record_log_count(&log, "stack "), 20000);
    ck_assert_uint_eq(record_log_count(&log, "sample "), 20000);
    ck_assert_uint_eq(record_log_count(&log, "thread_end "), 20000);
    record_log_free(&log);
    made_dump_free(&dump);
}
END_TEST

/* A thread id that comes again in the same chunk: the first thread's samples stand before it. */
START_TEST(thread_id_of_the_past_keeps_its_samples)
{
    struct made_dump dump;
    struct record_log log = {NULL, 0, 0};
    struct yarn_dump_summary summary;
    struct yarn_sample sample = {.time_ns = 5, .tid = 77, .stack = YARN_DUMP_NONE};
    made_dump_begin(&dump, NULL);
    yarn_dump_write_event(dump.writer, &(struct yarn_dump_event){.number = 0});
    yarn_dump_write_thread(dump.writer, &(struct yarn_dump_thread){.tid = 77, .time_ns = 1});
    yarn_dump_write_sample(dump.writer, &sample);
    yarn_dump_write_thread_end(dump.writer,
                               &(struct yarn_dump_thread_end){.tid = 77, .time_ns = 6});
    yarn_dump_write_thread(dump.writer, &(struct yarn_dump_thread){.tid = 77, .time_ns = 7});
    sample.time_ns = 8;
    yarn_dump_write_sample(dump.writer, &sample);
    yarn_dump_writer_flush(dump.writer);
    made_dump_finish(&dump);
    read_log(&dump, &log, &summary);
    const char *again = strstr(log.text, "thread tid=77 parent_tid=0 time_ns=7");
    const char *first_sample = strstr(log.text, "sample time_ns=5");
    ck_assert_ptr_nonnull(again);
    ck_assert_ptr_nonnull(first_sample);
    ck_assert(first_sample < again);
    record_log_free(&log);
    made_dump_free(&dump);
}
END_TEST

/* Little memory: many epochs, in each of which everything is whole. */
START_TEST(full_tables_begin_new_epochs)
{
    struct made_dump dump;
    struct record_log log = {NULL, 0, 0};
    struct yarn_dump_summary summary;
    const struct yarn_dump_writer_limits limits = {.interned_bytes = 64 << 10};
    made_dump_begin(&dump, &limits);
    yarn_dump_write_event(dump.writer, &(struct yarn_dump_event){.number = 0});
    yarn_dump_write_module(dump.writer, &(struct yarn_dump_module){.number = 0});
    yarn_dump_write_module(dump.writer, &(struct yarn_dump_module){.number = 1});
    made_dump_frames(&dump, NULL);
    uint32_t epoch = 0;
    for (uint32_t i = 0; i < 4000; i++) {
        if (yarn_dump_writer_epoch(dump.writer) != epoch) {
            epoch = yarn_dump_writer_epoch(dump.writer);
            made_dump_frames(&dump, NULL);
        }
        yarn_dump_write_sample(dump.writer,
                               &(struct yarn_sample){.time_ns = i * 1000,
                                                     .weight = 3,
                                                     .tid = 1,
                                                     .stack = made_dump_stack(&dump, i, 20)});
        if (i % 100 == 0)
            yarn_dump_writer_flush(dump.writer);
    }
    yarn_dump_writer_flush(dump.writer);
    made_dump_finish(&dump);
    read_log(&dump, &log, &summary);
    ck_assert_uint_gt(epoch, 2);
    ck_assert_uint_ge(record_log_count(&log, "reset"), epoch);
    ck_assert_uint_eq(record_log_count(&log, "sample "), 4000);
    ck_assert_ptr_null(strstr(log.text, "stack=4294967295"));
    record_log_free(&log);
    made_dump_free(&dump);
}
END_TEST

START_TEST(too_many_symbols_begin_a_new_epoch_at_once)
{
    struct made_dump dump;
    struct record_log log = {NULL, 0, 0};
    struct yarn_dump_summary summary;
    const struct yarn_dump_writer_limits limits = {.interned_bytes = 64 << 10};
    made_dump_begin(&dump, &limits);
    uint32_t i = 0;
    for (; yarn_dump_writer_epoch(dump.writer) == 0; i++) {
        struct yarn_dump_symbol symbol = {.module = YARN_DUMP_NONE, .start = i, .end = i + 1};
        symbol.number = yarn_dump_intern_symbol(dump.writer, &symbol);
        ck_assert_uint_eq(symbol.number, yarn_dump_writer_epoch(dump.writer) ? 0 : i);
        ck_assert_uint_lt(i, 1000000);
    }
    yarn_dump_writer_flush(dump.writer);
    made_dump_finish(&dump);
    read_log(&dump, &log, &summary);
    ck_assert_uint_eq(record_log_count(&log, "symbol "), i);
    ck_assert_uint_eq(record_log_count(&log, "reset"), 1);
    record_log_free(&log);
    made_dump_free(&dump);
}
END_TEST

START_TEST(second_process_begins_anew)
{
    struct made_dump dump;
    struct record_log log = {NULL, 0, 0};
    struct yarn_dump_summary summary;
    made_dump_begin(&dump, NULL);
    for (uint32_t pid = 1; pid <= 3; pid++) {
        yarn_dump_write_process(dump.writer, &(struct yarn_dump_process){.pid = pid});
        yarn_dump_write_event(dump.writer, &(struct yarn_dump_event){.number = 0});
        made_dump_frames(&dump, NULL);
        struct yarn_dump_symbol first = {.module = 0,
                                         .start = 0x1000,
                                         .end = 0x1030,
                                         .name = yarn_span_of_text("_ZN4deep8functionILi0EEE")};
        ck_assert_uint_eq(yarn_dump_intern_symbol(dump.writer, &first), 0);
        yarn_dump_write_totals(dump.writer,
                               &(struct yarn_dump_totals){.value = {[YARN_DUMP_TOTAL_LOST] = 5}});
        yarn_dump_write_end(dump.writer, &(struct yarn_dump_end){.status = 0});
    }
    made_dump_finish(&dump);
    ck_assert_int_eq(
        yarn_dump_read_bytes(made_dump_span(&dump), &record_log_visitor, &log, &summary), 0);
    ck_assert_uint_eq(summary.nr_damages, 0);
    ck_assert(summary.has_end);
    ck_assert_uint_eq(record_log_count(&log, "process "), 3);
    ck_assert_uint_eq(record_log_count(&log, "reset"), 2);
    ck_assert_uint_eq(record_log_count(&log, "symbol number=0 "), 3);
    ck_assert_uint_eq(record_log_count(&log, "totals time_ns=0 0=0 1=5 2=0 "), 6);
    record_log_free(&log);
    made_dump_free(&dump);
}
END_TEST

START_TEST(impossible_numbers_are_not_written)
{
    struct made_dump dump;
    made_dump_begin(&dump, NULL);
    made_dump_frames(&dump, NULL);
    const struct yarn_dump_frame frame = {.symbol = 16};
    ck_assert_uint_eq(yarn_dump_add_frame(dump.writer, &frame), YARN_DUMP_NONE);
    ck_assert_uint_eq(yarn_dump_intern_stack(dump.writer, YARN_DUMP_NONE, 64), YARN_DUMP_NONE);
    ck_assert_uint_eq(yarn_dump_intern_stack(dump.writer, 0, 1), YARN_DUMP_NONE);
    ck_assert_uint_eq(yarn_dump_intern_stack(dump.writer, YARN_DUMP_NONE, 63), 0);
    made_dump_free(&dump);
}
END_TEST

START_TEST(full_disk_refuses_the_first_byte)
{
    struct yarn_dump_writer *writer = NULL;
    size_t pages = yarn_pages_total();
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(yarn_dump_writer_new(&writer, NULL), 0);
    ck_assert_int_eq(yarn_dump_writer_open(writer, fd), -ENOSPC);
    yarn_dump_writer_free(writer);
    ck_assert_uint_eq(yarn_pages_total(), pages);
    ck_assert_int_eq(close(fd), 0);
}
END_TEST

/* A pipe that nobody reads fails once it is full; _i: how much it holds in pages. */
START_TEST(failing_write_keeps_what_was_before)
{
    int ends[2];
    struct yarn_dump_writer *writer;
    struct yarn_dump_summary summary;
    static uint8_t bytes[1 << 20];
    ck_assert_int_eq(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    ck_assert_int_gt(fcntl(ends[1], F_SETPIPE_SZ, 4096 * (1 + _i)), 0);
    ck_assert_int_eq(yarn_dump_writer_new(&writer, NULL), 0);
    ck_assert_int_eq(yarn_dump_writer_open(writer, ends[1]), 0);
    yarn_dump_write_event(writer, &(struct yarn_dump_event){.number = 0});
    uint64_t written = 0;
    for (uint32_t i = 0; i < 1000 && !yarn_dump_writer_error(writer); i++) {
        for (uint32_t k = 0; k < 100; k++)
            yarn_dump_write_sample(writer, &(struct yarn_sample){.time_ns = i * k * UINT64_C(7919),
                                                                 .weight = k * k,
                                                                 .tid = 5,
                                                                 .stack = YARN_DUMP_NONE});
        written = yarn_dump_writer_bytes_written(writer);
        yarn_dump_writer_flush(writer);
    }
    ck_assert_int_eq(yarn_dump_writer_error(writer), -EAGAIN);
    ssize_t size = read(ends[0], bytes, sizeof bytes);
    ck_assert_int_ge(size, (ssize_t)written);
    /* There is room again, but what would come does not fit behind what is there. */
    made_dump_frames(&(struct made_dump){.writer = writer}, NULL);
    yarn_dump_write_end(writer, &(struct yarn_dump_end){.status = 0});
    ck_assert_int_eq(read(ends[0], bytes + size, 1), -1);
    ck_assert_uint_eq(yarn_dump_writer_bytes_written(writer), written);
    yarn_dump_writer_free(writer);

    struct record_log log = {NULL, 0, 0};
    ck_assert_int_eq(yarn_dump_read_bytes(yarn_span_of(bytes, (size_t)size), &record_log_visitor,
                                          &log, &summary),
                     0);
    ck_assert_uint_eq(summary.nr_damages, 0);
    ck_assert(!summary.has_end);
    ck_assert(summary.is_cut == ((uint64_t)size > written));
    ck_assert_uint_gt(record_log_count(&log, "sample "), 0);
    ck_assert_uint_eq(record_log_count(&log, "sample ") % 100, 0);
    record_log_free(&log);
    close(ends[0]);
}
END_TEST

static void assert_fills_as_new(struct made_dump *dump)
{
    struct made_dump wanted;
    made_dump_everything(&wanted, NULL);
    made_dump_fill(dump, NULL);
    ck_assert_uint_eq(dump->size, wanted.size);
    ck_assert_mem_eq(dump->bytes, wanted.bytes, wanted.size);
    made_dump_free(&wanted);
}

/* _i: 1: without samples. */
START_TEST(renewed_writer_writes_what_a_new_one_would)
{
    struct made_dump dump;
    made_dump_begin(&dump, NULL);
    for (uint32_t i = 0; i < 2; i++) {
        yarn_dump_write_process(dump.writer, &(struct yarn_dump_process){.pid = 7 + i});
        made_dump_frames(&dump, NULL);
        for (uint32_t k = 0; k < 3000 && _i != 1; k++)
            yarn_dump_write_sample(
                dump.writer, &(struct yarn_sample){.time_ns = k * UINT64_C(7919),
                                                   .weight = k,
                                                   .tid = k % 9,
                                                   .stack = made_dump_stack(&dump, k * 31, 40)});
    }
    made_dump_renew(&dump);
    assert_fills_as_new(&dump);
    made_dump_free(&dump);
}
END_TEST

START_TEST(renewed_writer_has_not_failed)
{
    struct made_dump dump;
    made_dump_begin(&dump, NULL);
    yarn_dump_write_process(dump.writer, &(struct yarn_dump_process){.pid = 7});
    yarn_dump_writer_flush(dump.writer);
    struct rlimit before, small = {.rlim_cur = 4096};
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    yarn_dump_write_process(dump.writer, &(struct yarn_dump_process){.pid = 8});
    yarn_dump_writer_flush(dump.writer);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    ck_assert_int_eq(yarn_dump_writer_error(dump.writer), -EFBIG);
    ck_assert(yarn_dump_writer_recover(dump.writer));
    made_dump_renew(&dump);
    assert_fills_as_new(&dump);
    made_dump_free(&dump);
}
END_TEST

START_TEST(writer_gives_its_memory_back)
{
    struct made_dump dump;
    size_t pages = yarn_pages_total();
    made_dump_everything(&dump, NULL);
    ck_assert_uint_eq(yarn_pages_total(), pages);
    made_dump_free(&dump);
    yarn_dump_writer_free(NULL);
}
END_TEST

/* 10 s at 999 Hz with a flush each 100 ms, over 200 known stacks. */
START_TEST(sample_takes_few_bytes)
{
    struct made_dump dump;
    uint32_t state = 1;
    uint64_t now_ns = UINT64_C(5000000000000);
    made_dump_begin(&dump, NULL);
    made_dump_frames(&dump, NULL);
    yarn_dump_write_event(dump.writer, &(struct yarn_dump_event){.number = 0});
    for (uint32_t i = 0; i < 9990; i++) {
        state = state * 1664525 + 1013904223;
        now_ns += 1001001 + (state >> 20) % 4000 - 2000;
        yarn_dump_write_sample(
            dump.writer,
            &(struct yarn_sample){.time_ns = now_ns,
                                  .weight = 1001001,
                                  .tid = 4242,
                                  .cpu = i / 1000,
                                  .stack = made_dump_stack(&dump, state >> 10 & 127, 24)});
        if (i % 100 == 99) {
            yarn_dump_write_totals(dump.writer,
                                   &(struct yarn_dump_totals){
                                       .time_ns = now_ns,
                                       .value = {[YARN_DUMP_TOTAL_SAMPLES] = i,
                                                 [YARN_DUMP_TOTAL_STACKS_COMPLETE] = i,
                                                 [YARN_DUMP_TOTAL_CPU_NS] = i * UINT64_C(1001001)},
                                   });
            yarn_dump_writer_flush(dump.writer);
        }
    }
    yarn_dump_writer_flush(dump.writer);
    ck_assert_uint_lt(yarn_dump_writer_bytes_written(dump.writer), 51 * 999);
    made_dump_free(&dump);
}
END_TEST

struct runs {
    const struct yarn_dump_run *wanted;
    size_t count;
};

static int check_runs(void *self, const struct yarn_dump_run *runs, size_t count)
{
    struct runs *seen = self;
    for (size_t i = 0; i < count; i++) {
        const struct yarn_dump_run *wanted = &seen->wanted[seen->count + i];
        ck_assert_uint_eq(runs[i].time_ns, wanted->time_ns);
        ck_assert_uint_eq(runs[i].length_ns, wanted->length_ns);
        ck_assert_uint_eq(runs[i].tid, wanted->tid);
        ck_assert_uint_eq(runs[i].cpu, wanted->cpu);
        ck_assert(runs[i].is_preempted == wanted->is_preempted);
    }
    seen->count += count;
    return 0;
}

static uint32_t first_of(const uint64_t *times, uint32_t count)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < count; i++)
        first = times[i] < times[first] ? i : first;
    return first;
}

/* 16 threads that wait for each other on 4 cores, and now and then for a core. */
START_TEST(run_takes_few_bytes)
{
    enum { COUNT = 20000, A_CHUNK = 2000 };
    static struct yarn_dump_run runs[COUNT];
    struct made_dump dump;
    struct yarn_dump_summary summary;
    uint64_t now_ns[4] = {1000000000, 1000010000, 1000020000, 1000030000};
    uint32_t state = 1;
    made_dump_begin(&dump, NULL);
    yarn_dump_write_process(dump.writer, &(struct yarn_dump_process){.pid = 4242});
    for (size_t i = 0; i < COUNT; i++) {
        state = state * 1664525 + 1013904223;
        uint32_t cpu = first_of(now_ns, 4);
        runs[i] = (struct yarn_dump_run){
            .time_ns = now_ns[cpu],
            .length_ns = 5000 + (state >> 16) % 50000,
            .tid = 4242 + (state >> 28),
            .cpu = cpu,
            .is_preempted = (state >> 20) % 16 == 0,
        };
        now_ns[cpu] += runs[i].length_ns + 2000 + (state >> 8) % 30000;
    }
    for (size_t i = 0; i < COUNT; i += A_CHUNK) {
        yarn_dump_write_runs(dump.writer, runs + i, A_CHUNK);
        yarn_dump_writer_flush(dump.writer);
    }
    yarn_dump_write_end(dump.writer, &(struct yarn_dump_end){.status = 0});
    made_dump_finish(&dump);
    ck_assert_uint_le(dump.size, 6 * COUNT);
    struct runs seen = {runs, 0};
    const struct yarn_dump_visitor visitor = {.runs = check_runs};
    ck_assert_int_eq(yarn_dump_read_bytes(made_dump_span(&dump), &visitor, &seen, &summary), 0);
    ck_assert_uint_eq(seen.count, COUNT);
    ck_assert_uint_eq(summary.nr_damages + summary.records_bad + summary.records_unknown, 0);
    made_dump_free(&dump);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dump writer");
    TCase *tcase = tcase_create("interning");
    tcase_add_test(tcase, equal_things_are_stored_once);
    tcase_add_test(tcase, long_text_is_cut_and_many_texts_take_many_chunks);
    tcase_add_test(tcase, much_without_a_flush_is_all_there);
    tcase_add_test(tcase, thread_id_of_the_past_keeps_its_samples);
    tcase_add_test(tcase, full_tables_begin_new_epochs);
    tcase_add_test(tcase, too_many_symbols_begin_a_new_epoch_at_once);
    tcase_add_test(tcase, second_process_begins_anew);
    tcase_add_test(tcase, impossible_numbers_are_not_written);
    tcase_add_test(tcase, sample_takes_few_bytes);
    tcase_add_test(tcase, run_takes_few_bytes);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("failing writes");
    tcase_add_test(tcase, full_disk_refuses_the_first_byte);
    tcase_add_loop_test(tcase, failing_write_keeps_what_was_before, 0, 6);
    tcase_add_loop_test(tcase, renewed_writer_writes_what_a_new_one_would, 0, 2);
    tcase_add_test(tcase, renewed_writer_has_not_failed);
    tcase_add_test(tcase, writer_gives_its_memory_back);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
