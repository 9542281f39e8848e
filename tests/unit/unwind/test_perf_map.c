/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/pages.h"
#include "tests/support/suite.h"
#include "unwind/symbol/own_file.h"
#include "unwind/symbol/perf_map.h"

static const struct {
    const char *line;
    uint64_t start, size;
    const char *name;
} good[] = {
    {"7faa627c6180 180 JS:*fib /tmp/fib.js:1:13", 0x7faa627c6180, 0x180,
     "JS:*fib /tmp/fib.js:1:13"},
    {"0x7f00 0x10 f", 0x7f00, 0x10, "f"},
    {"0X7F00 0X10 f", 0x7f00, 0x10, "f"},
    {"7F00 1a py::f:/a b.py", 0x7f00, 0x1a, "py::f:/a b.py"},
    {"1 1  two  spaces ", 1, 1, "two  spaces "},
    {"1 1 f\r", 1, 1, "f"},
    {"fffffffffffffffe 1 f", UINT64_MAX - 1, 1, "f"},
};

START_TEST(line_is_taken_apart)
{
    struct yarn_perf_map_line line;
    ck_assert_int_eq(yarn_perf_map_parse(yarn_span_of_text(good[_i].line), &line), 0);
    ck_assert_uint_eq(line.start, good[_i].start);
    ck_assert_uint_eq(line.size, good[_i].size);
    ck_assert(yarn_span_equal(line.name, yarn_span_of_text(good[_i].name)));
}
END_TEST

static const char *const bad[] = {
    "",
    "f",
    "1",
    "1 ",
    "1 1",
    "1 1 ",
    "1 0 f",
    " 1 1 f",
    "g 1 f",
    "1 g f",
    "1,1 f",
    "0x 1 f",
    "1\t1\tf",
    "10000000000000000 1 f",
    "1 10000000000000000 f",
    "ffffffffffffffff 2 f",
};

START_TEST(what_is_no_line_is_reported)
{
    struct yarn_perf_map_line line;
    ck_assert_int_eq(yarn_perf_map_parse(yarn_span_of_text(bad[_i]), &line), -EINVAL);
}
END_TEST

static struct yarn_code_names names;
static struct yarn_perf_map map;
static char path[64];

static void open_all(void)
{
    (void)snprintf(path, sizeof path, "/tmp/yarn-test-perf-%d.map", (int)getpid());
    (void)unlink(path);
    map = (struct yarn_perf_map){.user = YARN_OWN_FILE_OURS};
    yarn_code_names_open(&names);
}

static void close_all(void)
{
    (void)unlink(path);
    yarn_code_names_close(&names);
}

static void write_file(const char *mode, const char *text)
{
    FILE *file = fopen(path, mode);
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static bool read_map(void)
{
    return yarn_perf_map_read(&map, path, YARN_MIB(1), &names);
}

static void assert_name(uint64_t address, const char *want)
{
    uint32_t number = yarn_code_names_find(&names, address);
    ck_assert_int_eq(number != YARN_CODE_NAME_NONE, want != NULL);
    if (want)
        ck_assert(
            yarn_span_equal(yarn_code_names_at(&names, number).text, yarn_span_of_text(want)));
}

START_TEST(names_appear_as_the_file_grows)
{
    ck_assert(!read_map());
    write_file("w", "1000 10 one\nnonsense\n2000 10 two\n");
    ck_assert(!read_map());
    assert_name(0x1008, "one");
    assert_name(0x2008, "two");
    assert_name(0x3008, NULL);
    write_file("a", "3000 10 three\n1000 10 again\n");
    ck_assert(!read_map());
    assert_name(0x3008, "three");
    assert_name(0x1008, "again");
}
END_TEST

START_TEST(a_line_that_is_not_whole_is_left_until_it_is)
{
    write_file("w", "1000 10 one\n2000 10 tw");
    ck_assert(!read_map());
    assert_name(0x2008, NULL);
    write_file("a", "o\n");
    ck_assert(!read_map());
    assert_name(0x2008, "two");
}
END_TEST

START_TEST(a_file_that_was_cut_or_written_again_is_read_from_its_begin)
{
    write_file("w", "1000 10 one\n2000 10 two\n");
    ck_assert(!read_map());
    write_file("w", "1000 10 uno\n");
    ck_assert(!read_map());
    assert_name(0x1008, "uno");
    write_file("w", "5000 1000 a_longer_line_than_all_before_together\n6000 10 seis\n");
    ck_assert(!read_map());
    assert_name(0x5008, "a_longer_line_than_all_before_together");
    assert_name(0x6008, "seis");
    ck_assert_int_eq(unlink(path), 0);
    write_file("w", "7000 10 siete\n8000 1000 another_file_by_the_same_name_and_longer_than_it\n");
    ck_assert(!read_map());
    assert_name(0x7008, "siete");
}
END_TEST

START_TEST(a_line_longer_than_any_buffer_is_skipped_and_the_next_is_read)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs("1000 10 ", file);
    for (int i = 0; i < 300000; i++)
        fputc('x', file);
    fputs("\n2000 10 two\n", file);
    ck_assert_int_eq(fclose(file), 0);
    while (read_map())
        continue;
    assert_name(0x2008, "two");
}
END_TEST

START_TEST(a_large_file_is_read_in_pieces)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    for (int i = 0; i < 50000; i++)
        fprintf(file, "%x 10 function_%d\n", 0x10000 + i * 16, i);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert(yarn_perf_map_read(&map, path, 100 << 10, &names));
    assert_name(0x10008, "function_0");
    assert_name(0x10000 + 49999 * 16, NULL);
    while (yarn_perf_map_read(&map, path, 100 << 10, &names))
        continue;
    assert_name(0x10000 + 49999 * 16, "function_49999");
}
END_TEST

START_TEST(a_file_of_an_earlier_process_is_not_believed)
{
    write_file("w", "1000 10 stale\n");
    struct stat info;
    ck_assert_int_eq(stat(path, &info), 0);
    map.not_before_ns = ((uint64_t)info.st_mtime + 5) * YARN_NS_PER_SECOND;
    ck_assert(!read_map());
    assert_name(0x1008, NULL);
    struct timespec times[2] = {{.tv_sec = info.st_mtime + 9}, {.tv_sec = info.st_mtime + 9}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
    ck_assert(!read_map());
    assert_name(0x1008, "stale");
}
END_TEST

START_TEST(what_is_no_plain_file_is_not_waited_for)
{
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert(!read_map());
}
END_TEST

/* Only root can make such a file; the others have nothing to fear from this test. */
START_TEST(a_file_of_another_user_is_not_believed)
{
    if (getuid() != 0)
        return;
    write_file("w", "1000 10 forged\n");
    ck_assert_int_eq(chown(path, 65534, 65534), 0);
    ck_assert(!read_map());
    assert_name(0x1008, NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("perf map");
    TCase *lines = tcase_create("lines");
    tcase_add_loop_test(lines, line_is_taken_apart, 0, YARN_COUNT_OF(good));
    tcase_add_loop_test(lines, what_is_no_line_is_reported, 0, YARN_COUNT_OF(bad));
    suite_add_tcase(suite, lines);
    TCase *files = tcase_create("a file that is followed");
    tcase_add_checked_fixture(files, open_all, close_all);
    tcase_add_test(files, names_appear_as_the_file_grows);
    tcase_add_test(files, a_line_that_is_not_whole_is_left_until_it_is);
    tcase_add_test(files, a_file_that_was_cut_or_written_again_is_read_from_its_begin);
    tcase_add_test(files, a_line_longer_than_any_buffer_is_skipped_and_the_next_is_read);
    tcase_add_test(files, a_large_file_is_read_in_pieces);
    tcase_add_test(files, a_file_of_an_earlier_process_is_not_believed);
    tcase_add_test(files, what_is_no_plain_file_is_not_waited_for);
    tcase_add_test(files, a_file_of_another_user_is_not_believed);
    suite_add_tcase(suite, files);
    return run_suite(suite);
}
