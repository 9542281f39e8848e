/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loaded.h"
#include "output/analysis/load/loader.h"
#include "output/dump/chunk.h"
#include "tests/support/suite.h"

static struct loaded loaded;
static struct dump_maker maker;

static void set_up(void)
{
    loaded_open(&loaded);
    dump_maker_open(&maker, loaded_path(&loaded, "a"), "app", 100);
}

static void tear_down(void)
{
    loaded_close(&loaded);
}

static const char *text_of(uint32_t text)
{
    return yarn_profile_text(&loaded.profile, text);
}

START_TEST(a_tid_that_comes_again_is_another_thread)
{
    uint32_t stack = dump_maker_stack(&maker, "main");
    dump_maker_add_thread(&maker, 101, "first");
    dump_maker_sample(&maker, 101, stack, YARN_DUMP_STACK_COMPLETE, 2);
    struct yarn_dump_thread_end end = {.tid = 101, .time_ns = maker.now_ns, .cpu_ns = 77};
    yarn_dump_write_thread_end(maker.writer, &end);
    dump_maker_add_thread(&maker, 101, "second");
    dump_maker_sample(&maker, 101, stack, YARN_DUMP_STACK_COMPLETE, 3);
    dump_maker_close(&maker, false);
    loaded_read(&loaded);
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_THREAD), "second 3 3 3; first 2 2 2");
}
END_TEST

START_TEST(ends_of_one_time_are_one_and_of_another_time_another_threads)
{
    static const struct yarn_dump_thread_end ends[] = {
        {.tid = 7, .time_ns = 10, .cpu_ns = 0},
        {.tid = 7, .time_ns = 10, .cpu_ns = 3},
        {.tid = 7, .time_ns = 20, .cpu_ns = 4},
    };
    for (size_t i = 0; i < YARN_COUNT_OF(ends); i++)
        yarn_dump_write_thread_end(maker.writer, &ends[i]);
    dump_maker_close(&maker, false);
    loaded_read(&loaded);
    size_t at = loaded.profile.nr_threads - 2;
    const struct yarn_profile_thread *threads = loaded.profile.threads + at;
    for (size_t i = 0; i < 2; i++) {
        ck_assert_uint_eq(threads[i].tid, 7);
        ck_assert_uint_eq(threads[i].end_ns, ends[i + 1].time_ns);
        ck_assert_uint_eq(threads[i].cpu_ns, ends[i + 1].cpu_ns);
    }
    ck_assert(at == 0 || threads[-1].tid != 7);
}
END_TEST

START_TEST(a_thread_that_nobody_reported_has_the_name_of_the_process)
{
    dump_maker_sample(&maker, 555, dump_maker_stack(&maker, "main"), YARN_DUMP_STACK_COMPLETE, 1);
    dump_maker_close(&maker, false);
    loaded_read(&loaded);
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_THREAD), "app 1 1 1");
}
END_TEST

START_TEST(a_renamed_thread_has_its_last_name)
{
    struct yarn_dump_thread_name name = {
        .tid = 100,
        .time_ns = maker.now_ns,
        .comm = yarn_span_of_text("renamed"),
    };
    dump_maker_sample(&maker, 100, dump_maker_stack(&maker, "main"), YARN_DUMP_STACK_COMPLETE, 1);
    yarn_dump_write_thread_name(maker.writer, &name);
    dump_maker_close(&maker, false);
    loaded_read(&loaded);
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_THREAD), "renamed 1 1 1");
}
END_TEST

START_TEST(a_name_that_comes_late_is_that_of_the_frames)
{
    uint32_t stack = dump_maker_stack(&maker, "main;libx!+2000");
    dump_maker_sample(&maker, 100, stack, YARN_DUMP_STACK_COMPLETE, 2);
    struct yarn_dump_code_name name = {
        .module = 1,
        .address = 0x2010,
        .start = 0x2000,
        .end = 0x2100,
        .name = yarn_span_of_text("LazyCompile:run"),
    };
    yarn_dump_write_code_name(maker.writer, &name);
    dump_maker_close(&maker, false);
    loaded_read(&loaded);
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_FUNCTION),
                     "LazyCompile:run 2 2 2; main 0 2 0");
    const struct yarn_trust *trust = &loaded.profile.dumps[0].trust;
    ck_assert_uint_eq(trust->leaves_named_late, 2);
    ck_assert_uint_eq(trust->leaves_unknown, 0);
    ck_assert_uint_eq(trust->frames_unknown, 0);
}
END_TEST

/* The same code in another process may be another function. */
START_TEST(a_name_that_comes_late_is_not_that_of_another_process)
{
    struct dump_maker other;
    struct yarn_dump_code_name name = {
        .module = 1,
        .address = 0x2010,
        .start = 0x2000,
        .end = 0x2100,
        .name = yarn_span_of_text("LazyCompile:run"),
    };
    uint32_t stack = dump_maker_stack(&maker, "main;libx!+2000");
    dump_maker_sample(&maker, 100, stack, YARN_DUMP_STACK_COMPLETE, 2);
    yarn_dump_write_code_name(maker.writer, &name);
    dump_maker_close(&maker, false);
    dump_maker_open(&other, loaded_path(&loaded, "b"), "app", 200);
    stack = dump_maker_stack(&other, "main;libx!+2000");
    dump_maker_sample(&other, 200, stack, YARN_DUMP_STACK_COMPLETE, 3);
    dump_maker_close(&other, false);
    loaded_read(&loaded);
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_FUNCTION),
                     "libx.so.1+0x2000 3 3 3; LazyCompile:run 2 2 2; main 0 5 0");
}
END_TEST

START_TEST(stacks_that_are_equal_in_two_processes_are_there_once)
{
    struct dump_maker other;
    uint32_t stack = dump_maker_stack(&maker, "main;hot;deep");
    dump_maker_sample(&maker, 100, stack, YARN_DUMP_STACK_COMPLETE, 2);
    dump_maker_close(&maker, false);
    dump_maker_open(&other, loaded_path(&loaded, "b"), "app", 200);
    stack = dump_maker_stack(&other, "main;hot;deep;deeper");
    dump_maker_sample(&other, 200, stack, YARN_DUMP_STACK_COMPLETE, 3);
    stack = dump_maker_stack(&other, "main;hot");
    dump_maker_sample(&other, 200, stack, YARN_DUMP_STACK_COMPLETE, 1);
    dump_maker_close(&other, false);
    loaded_read(&loaded);
    ck_assert_uint_eq(loaded.profile.nr_frames, 4);
    ck_assert_uint_eq(loaded.profile.nr_stacks, 4);
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_FUNCTION),
                     "deeper 3 3 3; deep 2 5 2; hot 1 6 1; main 0 6 0");
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_PROCESS), "app 4 4 4; app 2 2 2");
}
END_TEST

/* Each began 10 ms after the former, on a machine that was booted at another time. */
START_TEST(machines_are_laid_side_by_side_by_real_time)
{
    static const struct dump_maker_place places[] = {
        {"a", "boot-a", 50 * YARN_NS_PER_SECOND, UINT64_C(1700000000) * YARN_NS_PER_SECOND, 0},
        {"b", "", 9000 * YARN_NS_PER_SECOND,
         UINT64_C(1700000000) * YARN_NS_PER_SECOND + 10 * YARN_NS_PER_MS, 0},
        /* The same boot under another name, whose clock of real time has moved by 5 ms. */
        {"c", "boot-a", 50 * YARN_NS_PER_SECOND + 20 * YARN_NS_PER_MS,
         UINT64_C(1700000000) * YARN_NS_PER_SECOND + 25 * YARN_NS_PER_MS, 0},
        /* A process that could not read which boot it is. */
        {"a", "", 50 * YARN_NS_PER_SECOND + 30 * YARN_NS_PER_MS,
         UINT64_C(1700000000) * YARN_NS_PER_SECOND + 34 * YARN_NS_PER_MS, 0},
    };
    static const char *const names[] = {"a", "b", "c", "d"};
    dump_maker_close(&maker, true);
    for (uint32_t i = 0; i < YARN_COUNT_OF(places); i++) {
        dump_maker_open_at(&maker, loaded_path(&loaded, names[i]), names[i], 100 + i, &places[i]);
        dump_maker_sample(&maker, 100 + i, dump_maker_stack(&maker, "main"),
                          YARN_DUMP_STACK_COMPLETE, 3);
        dump_maker_close(&maker, false);
    }
    loaded_read_timeline(&loaded);
    ck_assert_uint_eq(loaded.profile.machines.count, 2);
    ck_assert_uint_eq(yarn_machines_moved_ns(&loaded.profile.machines), 5 * YARN_NS_PER_MS);
    ck_assert_uint_eq(loaded.profile.nr_dumps, 4);
    ck_assert_uint_eq(loaded.profile.start_ns, 9000 * YARN_NS_PER_SECOND - 10 * YARN_NS_PER_MS);
    for (size_t i = 0; i < YARN_COUNT_OF(places); i++) {
        const struct yarn_profile_dump *dump = &loaded.profile.dumps[i];
        uint64_t start_ns = loaded.profile.start_ns + 10 * i * YARN_NS_PER_MS;
        ck_assert_str_eq(text_of(dump->comm), names[i]);
        ck_assert_uint_eq(dump->process.start_ns, start_ns);
        ck_assert_uint_eq(dump->end.time_ns, dump->last_ns);
        ck_assert_uint_le(dump->last_ns - start_ns, 4 * YARN_NS_PER_MS);
    }
    for (size_t i = 0; i < loaded.timeline.rows.count; i++) {
        const struct yarn_timeline_entry *entry = yarn_timeline_at(&loaded.timeline, i);
        uint64_t start_ns = loaded.profile.dumps[entry->dump].process.start_ns;
        ck_assert_uint_ge(entry->time_ns, start_ns);
        ck_assert_uint_le(entry->time_ns - start_ns, 4 * YARN_NS_PER_MS);
    }
}
END_TEST

START_TEST(nameless_functions_of_two_builds_are_two)
{
    struct dump_maker_place place = {"host", "", MAKER_START_NS,
                                     UINT64_C(1700000000) * YARN_NS_PER_SECOND, 0x11};
    static const char *const names[] = {"a", "b", "c"};
    dump_maker_close(&maker, true);
    for (uint32_t i = 0; i < YARN_COUNT_OF(names); i++) {
        place.library_build = i == 1 ? 0xfe : 0x11;
        place.start_ns++;
        place.start_realtime_ns++;
        dump_maker_open_at(&maker, loaded_path(&loaded, names[i]), "app", 100 + i, &place);
        dump_maker_sample(&maker, 100 + i, dump_maker_stack(&maker, "libx!+2000"),
                          YARN_DUMP_STACK_COMPLETE, 3);
        dump_maker_close(&maker, false);
    }
    loaded_read(&loaded);
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_FUNCTION),
                     "libx.so.1+0x2000 6 6 6; libx.so.1[fe223344]+0x2000 3 3 3");
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_MODULE), "libx.so.1 9 9 9");
}
END_TEST

START_TEST(a_cut_dump_is_counted_by_what_it_holds)
{
    dump_maker_sample(&maker, 100, dump_maker_stack(&maker, "main"), YARN_DUMP_STACK_COMPLETE, 5);
    dump_maker_close(&maker, true);
    loaded_read(&loaded);
    const struct yarn_trust *trust = &loaded.profile.dumps[0].trust;
    ck_assert_uint_eq(trust->samples, 5);
    ck_assert_uint_eq(trust->stacks_complete, 5);
    ck_assert(!trust->clean_end);
    ck_assert(!trust->disagrees);
}
END_TEST

START_TEST(a_cut_dump_may_hold_more_than_its_last_totals)
{
    uint32_t stack = dump_maker_stack(&maker, "main");
    dump_maker_sample(&maker, 100, stack, YARN_DUMP_STACK_COMPLETE, 5);
    dump_maker_totals(&maker);
    dump_maker_sample(&maker, 100, stack, YARN_DUMP_STACK_COMPLETE, 3);
    dump_maker_close(&maker, true);
    loaded_read(&loaded);
    ck_assert_uint_eq(loaded.profile.dumps[0].trust.samples, 8);
    ck_assert(!loaded.profile.dumps[0].trust.disagrees);
}
END_TEST

START_TEST(totals_of_other_samples_are_reported)
{
    dump_maker_sample(&maker, 100, dump_maker_stack(&maker, "main"), YARN_DUMP_STACK_COMPLETE, 5);
    maker.samples++;
    dump_maker_close(&maker, false);
    loaded_read(&loaded);
    ck_assert(loaded.profile.dumps[0].trust.disagrees);
    ck_assert_uint_eq(loaded.profile.dumps[0].trust.samples, 5);
    struct yarn_trust sum = {.clean_end = true};
    yarn_trust_add(&sum, &loaded.profile.dumps[0].trust);
    yarn_trust_add(&sum, &(struct yarn_trust){.clean_end = true});
    ck_assert(sum.disagrees);
}
END_TEST

START_TEST(doubt_is_the_share_of_what_is_missing)
{
    uint32_t stack = dump_maker_stack(&maker, "main");
    maker.lost = 2;
    dump_maker_sample(&maker, 100, stack, YARN_DUMP_STACK_COMPLETE, 90);
    dump_maker_sample(&maker, 100, stack, YARN_DUMP_STACK_TRUNCATED, 3);
    dump_maker_sample(&maker, 100, stack, YARN_DUMP_STACK_FAILED, 1);
    dump_maker_sample(&maker, 100, dump_maker_stack(&maker, "main;?"), YARN_DUMP_STACK_COMPLETE, 4);
    dump_maker_close(&maker, false);
    loaded_read(&loaded);
    ck_assert_double_eq_tol(yarn_trust_doubt_percent(&loaded.profile.dumps[0].trust), 10.0, 1e-9);
}
END_TEST

START_TEST(doubt_counts_a_sample_once)
{
    uint32_t unknown = dump_maker_stack(&maker, "?");
    maker.lost = 4;
    dump_maker_sample(&maker, 100, unknown, YARN_DUMP_STACK_TRUNCATED, 3);
    dump_maker_sample(&maker, 100, unknown, YARN_DUMP_STACK_FAILED, 2);
    dump_maker_sample(&maker, 100, unknown, YARN_DUMP_STACK_COMPLETE, 1);
    dump_maker_close(&maker, false);
    loaded_read(&loaded);
    const struct yarn_trust *trust = &loaded.profile.dumps[0].trust;
    ck_assert_uint_eq(trust->leaves_unknown, 6);
    ck_assert_double_eq_tol(yarn_trust_doubt_percent(trust), 100.0, 1e-9);
}
END_TEST

START_TEST(stacks_that_were_not_asked_for_are_not_missing)
{
    struct yarn_dump_event event = {
        .number = 1,
        .name = yarn_span_of_text("page-faults"),
        .flags = YARN_DUMP_EVENT_WITHOUT_STACKS,
    };
    struct yarn_sample sample = {
        .time_ns = maker.now_ns,
        .weight = 1,
        .event = 1,
        .tid = 100,
        .stack = YARN_DUMP_NONE,
        .stack_end = YARN_DUMP_STACK_NONE,
    };
    yarn_dump_write_event(maker.writer, &event);
    dump_maker_sample(&maker, 100, dump_maker_stack(&maker, "main"), YARN_DUMP_STACK_COMPLETE, 6);
    dump_maker_sample(&maker, 100, dump_maker_stack(&maker, "main"), YARN_DUMP_STACK_TRUNCATED, 3);
    dump_maker_sample(&maker, 100, YARN_DUMP_NONE, YARN_DUMP_STACK_NONE, 1);
    for (int i = 0; i < 90; i++)
        yarn_dump_write_sample(maker.writer, &sample);
    dump_maker_close(&maker, false);
    loaded_read(&loaded);
    const struct yarn_trust *trust = &loaded.profile.dumps[0].trust;
    ck_assert_uint_eq(trust->stacks_unasked, 90);
    struct yarn_trust_gaps gaps = yarn_trust_gaps(trust);
    ck_assert_double_eq_tol(gaps.none, 10.0, 1e-9);
    ck_assert_double_eq_tol(gaps.truncated, 30.0, 1e-9);
}
END_TEST

START_TEST(the_timeline_is_in_order_and_knows_the_name_of_then)
{
    uint32_t stack = dump_maker_stack(&maker, "main");
    dump_maker_sample(&maker, 100, stack, YARN_DUMP_STACK_COMPLETE, 2);
    struct yarn_dump_thread_name name = {
        .tid = 100,
        .time_ns = maker.now_ns + 1,
        .comm = yarn_span_of_text("late"),
    };
    yarn_dump_write_thread_name(maker.writer, &name);
    dump_maker_sample(&maker, 100, stack, YARN_DUMP_STACK_COMPLETE, 2);
    dump_maker_close(&maker, false);
    dump_maker_open(&maker, loaded_path(&loaded, "b"), "child", 200);
    dump_maker_sample(&maker, 200, dump_maker_stack(&maker, "main"), YARN_DUMP_STACK_COMPLETE, 4);
    dump_maker_close(&maker, false);
    loaded_read_timeline(&loaded);
    ck_assert_int_eq(yarn_timeline_sort(&loaded.timeline), 0);

    const struct yarn_timeline_entry *before = NULL;
    char names[256] = "";
    for (size_t i = 0; i < loaded.timeline.rows.count; i++) {
        const struct yarn_timeline_entry *entry = yarn_timeline_at(&loaded.timeline, i);
        ck_assert(!before || before->time_ns <= entry->time_ns);
        before = entry;
        if (!entry->text) {
            strcat(names, text_of(entry->comm));
            strcat(names, " ");
        }
    }
    ck_assert_str_eq(names, "app child app child late child late child ");
}
END_TEST

static int add(const char *path, struct yarn_source_failure *failure)
{
    struct yarn_sources sources = {0};
    int err = yarn_sources_add(&sources, path, failure);
    yarn_sources_fini(&sources);
    return err;
}

START_TEST(a_folder_gives_its_dumps_only)
{
    struct yarn_sources sources = {0};
    struct yarn_source_failure failure;
    dump_maker_close(&maker, false);
    int fd = open(loaded_path(&loaded, "notes.txt"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, "text", 4), 4);
    (void)close(fd);
    ck_assert_int_eq(yarn_sources_add(&sources, loaded.folder, &failure), 0);
    ck_assert_uint_eq(sources.count, 1);
    yarn_sources_fini(&sources);
    ck_assert_int_eq(add(loaded_path(&loaded, "notes.txt"), &failure), -ENOEXEC);
}
END_TEST

START_TEST(what_is_not_there_or_empty_is_named)
{
    struct yarn_source_failure failure = {.why = ""};
    dump_maker_close(&maker, false);
    (void)unlink(loaded_path(&loaded, "a"));
    ck_assert_int_eq(add(loaded_path(&loaded, "a"), &failure), -ENOENT);
    ck_assert_str_eq(failure.path, loaded_path(&loaded, "a"));
    ck_assert_int_eq(add(loaded.folder, &failure), -ENOENT);
    ck_assert_str_eq(failure.why, "the folder holds no dump of yarn");
    ck_assert_int_eq(mkdir(loaded_path(&loaded, "run"), 0700), 0);
    ck_assert_int_eq(add(loaded.folder, &failure), -ENOENT);
    ck_assert_str_eq(failure.why, "the folder holds no dump of yarn; those in it are FOLDER/*");
    (void)rmdir(loaded_path(&loaded, "run"));
}
END_TEST

static const struct {
    struct yarn_dump_file_header header;
    int result;
    const char *why;
} headers[] = {
    {{.major = 2, .minor = 3, .header_bytes = 32},
     -ENOEXEC,
     "a dump of version 2.3, which is later than this yarnprof"},
    {{.major = 1, .header_bytes = 32, .features_needed = 2},
     -ENOEXEC,
     "a dump that needs a feature of later versions"},
    {{.major = 1, .header_bytes = UINT32_MAX}, 0, ""},
    {{.major = 0x4141, .minor = 0x4141, .header_bytes = 32}, 0, ""},
};

START_TEST(only_what_may_be_a_later_version_is_called_so)
{
    struct yarn_source_failure failure = {.why = ""};
    uint8_t bytes[YARN_DUMP_FILE_HEADER_BYTES];
    dump_maker_close(&maker, false);
    yarn_dump_file_header_encode(&headers[_i].header, bytes);
    int fd = open(loaded_path(&loaded, "a"), O_WRONLY | O_CLOEXEC);
    ck_assert_int_eq(pwrite(fd, bytes, sizeof bytes, 0), sizeof bytes);
    (void)close(fd);
    ck_assert_int_eq(add(loaded_path(&loaded, "a"), &failure), headers[_i].result);
    ck_assert_str_eq(failure.why, headers[_i].why);
}
END_TEST

/* ---- images of one process ---- */

static struct yarn_profile_dump image(uint32_t pid, const char *host, uint64_t start_ns,
                                      uint64_t birth_ns)
{
    return (struct yarn_profile_dump){.process = {
                                          .pid = pid,
                                          .host = yarn_span_of_text(host),
                                          .start_ns = start_ns,
                                          .birth_ns = birth_ns,
                                      }};
}

START_TEST(an_image_finds_the_last_recording_of_its_process_before_it)
{
    struct yarn_profile_dump dumps[] = {
        image(10, "here", 40, 15), image(10, "here", 20, 15),  image(11, "here", 35, 0),
        image(10, "here", 30, 15), image(10, "there", 39, 15), image(10, "here", 12, 0),
        image(12, "here", 50, 45), image(10, "here", 90, 80),
    };
    const uint64_t found[] = {30, 0, 0, 20, 0, 0, 0, 0};
    struct yarn_profile profile = {.dumps = dumps, .nr_dumps = YARN_COUNT_OF(dumps)};
    for (int round = 0; round < 2; round++) { /* what was found stays */
        ck_assert_int_eq(yarn_loader_link_images(&profile), 0);
        for (size_t i = 0; i < YARN_COUNT_OF(dumps); i++) {
            ck_assert_uint_eq(dumps[i].process.predecessor_start_ns, found[i]);
            ck_assert_uint_eq(dumps[i].process.predecessor_pid, found[i] ? 10 : 0);
        }
    }
}
END_TEST

START_TEST(a_predecessor_that_was_recorded_is_taken_as_it_is)
{
    struct yarn_profile_dump one = image(10, "here", 40, 15);
    one.process.predecessor_pid = 10;
    one.process.predecessor_start_ns = 15;
    struct yarn_profile profile = {.dumps = &one, .nr_dumps = 1};
    ck_assert_int_eq(yarn_loader_link_images(&profile), 0);
    ck_assert_uint_eq(one.process.predecessor_pid, 10);
    ck_assert_uint_eq(one.process.predecessor_start_ns, 15);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("load");
    TCase *tcase = tcase_create("dumps in a folder");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_tid_that_comes_again_is_another_thread);
    tcase_add_test(tcase, ends_of_one_time_are_one_and_of_another_time_another_threads);
    tcase_add_test(tcase, a_thread_that_nobody_reported_has_the_name_of_the_process);
    tcase_add_test(tcase, a_renamed_thread_has_its_last_name);
    tcase_add_test(tcase, a_name_that_comes_late_is_that_of_the_frames);
    tcase_add_test(tcase, a_name_that_comes_late_is_not_that_of_another_process);
    tcase_add_test(tcase, stacks_that_are_equal_in_two_processes_are_there_once);
    tcase_add_test(tcase, machines_are_laid_side_by_side_by_real_time);
    tcase_add_test(tcase, nameless_functions_of_two_builds_are_two);
    tcase_add_test(tcase, a_cut_dump_is_counted_by_what_it_holds);
    tcase_add_test(tcase, a_cut_dump_may_hold_more_than_its_last_totals);
    tcase_add_test(tcase, totals_of_other_samples_are_reported);
    tcase_add_test(tcase, doubt_is_the_share_of_what_is_missing);
    tcase_add_test(tcase, doubt_counts_a_sample_once);
    tcase_add_test(tcase, stacks_that_were_not_asked_for_are_not_missing);
    tcase_add_test(tcase, the_timeline_is_in_order_and_knows_the_name_of_then);
    tcase_add_test(tcase, a_folder_gives_its_dumps_only);
    tcase_add_test(tcase, what_is_not_there_or_empty_is_named);
    tcase_add_loop_test(tcase, only_what_may_be_a_later_version_is_called_so, 0,
                        (int)YARN_COUNT_OF(headers));
    tcase_add_test(tcase, an_image_finds_the_last_recording_of_its_process_before_it);
    tcase_add_test(tcase, a_predecessor_that_was_recorded_is_taken_as_it_is);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
