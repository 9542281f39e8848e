/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/base/bytes.h"
#include "core/sys/clock.h"
#include "tests/support/suite.h"
#include "unwind/module_map.h"
#include "unwind/symbol/jit_names.h"
#include "unwind/symbol/jitdump.h"
#include "unwind/symbol/own_file.h"

enum { PID = 4242, LOAD = 0, MOVE = 1, DEBUG_INFO = 2, CLOSE = 3, UNWINDING = 4 };

static struct yarn_code_names names;
static struct yarn_jitdump jitdump;
static uint8_t data[1 << 20];
static struct yarn_byte_buffer bytes;
static char path[64];

static void put_header(uint32_t magic, uint32_t version, uint32_t size, uint32_t pid)
{
    uint32_t words[10] = {magic, version, size, 62, 0, pid};
    yarn_bytes_put(&bytes, words, sizeof words);
    for (uint32_t i = sizeof words; i < size; i++)
        yarn_bytes_put(&bytes, "", 1);
}

static void put_head(uint32_t id, size_t size)
{
    uint32_t words[4] = {id, (uint32_t)size};
    yarn_bytes_put(&bytes, words, sizeof words);
}

static void put_load(uint32_t pid, uint64_t address, uint64_t size, const char *name)
{
    uint32_t who[2] = {pid, pid};
    uint64_t where[4] = {address, address, size, 1};
    put_head(LOAD, 56 + strlen(name) + 1 + size);
    yarn_bytes_put(&bytes, who, sizeof who);
    yarn_bytes_put(&bytes, where, sizeof where);
    yarn_bytes_put(&bytes, name, strlen(name) + 1);
    for (uint64_t i = 0; i < size; i++)
        yarn_bytes_put(&bytes, "\xcc", 1);
}

static void put_move(uint64_t from, uint64_t to, uint64_t size)
{
    uint32_t who[2] = {PID, PID};
    uint64_t where[5] = {to, from, to, size, 1};
    put_head(MOVE, 64);
    yarn_bytes_put(&bytes, who, sizeof who);
    yarn_bytes_put(&bytes, where, sizeof where);
}

static void open_all(void)
{
    (void)snprintf(path, sizeof path, "/tmp/jit-%d.dump", (int)getpid());
    (void)unlink(path);
    bytes = yarn_bytes_of(data, sizeof data);
    jitdump = (struct yarn_jitdump){.pid = PID, .user = YARN_OWN_FILE_OURS};
    yarn_code_names_open(&names);
}

static void close_all(void)
{
    (void)unlink(path);
    yarn_code_names_close(&names);
}

/* The first `size` bytes of what was put. */
static void write_file(size_t size)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(data, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

static void read_whole(void)
{
    ck_assert(!bytes.full);
    write_file(bytes.size);
    while (yarn_jitdump_read(&jitdump, path, 1000, &names))
        continue;
}

static void assert_name(uint64_t address, const char *want)
{
    uint32_t number = yarn_code_names_find(&names, address);
    ck_assert_int_eq(number != YARN_CODE_NAME_NONE, want != NULL);
    if (want)
        ck_assert(
            yarn_span_equal(yarn_code_names_at(&names, number).text, yarn_span_of_text(want)));
}

START_TEST(loaded_code_has_its_name)
{
    put_header(0x4a695444, 1, 40, PID);
    put_load(PID, 0x1000, 64, "one");
    put_load(PID, 0x2000, 16, "two");
    read_whole();
    assert_name(0x103f, "one");
    assert_name(0x1040, NULL);
    assert_name(0x2000, "two");
}
END_TEST

START_TEST(moved_code_takes_its_name_along)
{
    put_header(0x4a695444, 1, 40, PID);
    put_load(PID, 0x1000, 64, "one");
    put_move(0x1000, 0x9000, 64);
    put_load(PID, 0x1000, 64, "two");
    put_move(0x7777, 0x8000, 64);
    read_whole();
    assert_name(0x9000, "one");
    assert_name(0x1000, "two");
    assert_name(0x8000, NULL);
}
END_TEST

START_TEST(other_records_and_a_larger_header_are_passed_over)
{
    put_header(0x4a695444, 1, 48, PID);
    put_head(DEBUG_INFO, 16);
    put_head(UNWINDING, 24);
    yarn_bytes_put(&bytes, "12345678", 8);
    put_head(77, 16);
    put_load(PID, 0x1000, 64, "one");
    read_whole();
    assert_name(0x1000, "one");
}
END_TEST

START_TEST(code_of_another_process_is_not_ours)
{
    put_header(0x4a695444, 1, 40, PID);
    put_load(PID + 1, 0x1000, 64, "foreign");
    read_whole();
    assert_name(0x1000, NULL);
}
END_TEST

static const struct {
    uint32_t magic, version, size, pid;
} bad_headers[] = {
    {0x4454694a, 1, 40, PID}, {0, 1, 40, PID},         {0x4a695444, 0, 40, PID},
    {0x4a695444, 1, 39, PID}, {0x4a695444, 1, 0, PID}, {0x4a695444, 1, 40, PID + 1},
};

START_TEST(a_file_that_is_not_ours_or_no_jitdump_is_left)
{
    put_header(bad_headers[_i].magic, bad_headers[_i].version, bad_headers[_i].size,
               bad_headers[_i].pid);
    put_load(PID, 0x1000, 64, "one");
    read_whole();
    assert_name(0x1000, NULL);
    ck_assert(jitdump.is_done);
}
END_TEST

START_TEST(nothing_is_read_behind_the_close)
{
    put_header(0x4a695444, 1, 40, PID);
    put_head(CLOSE, 16);
    put_load(PID, 0x1000, 64, "one");
    read_whole();
    assert_name(0x1000, NULL);
    ck_assert(jitdump.is_done);
}
END_TEST

START_TEST(a_record_smaller_than_its_head_ends_the_reading)
{
    put_header(0x4a695444, 1, 40, PID);
    put_load(PID, 0x1000, 64, "one");
    put_head(DEBUG_INFO, (size_t)_i);
    put_load(PID, 0x2000, 64, "two");
    read_whole();
    assert_name(0x1000, "one");
    assert_name(0x2000, NULL);
}
END_TEST

START_TEST(a_file_that_grows_byte_by_byte_gives_each_record_once_it_is_whole)
{
    put_header(0x4a695444, 1, 40, PID);
    put_load(PID, 0x1000, 64, "one");
    size_t first = bytes.size;
    put_load(PID, 0x2000, 300, "two");
    for (size_t size = 0; size <= bytes.size; size++) {
        write_file(size);
        while (yarn_jitdump_read(&jitdump, path, 1000, &names))
            continue;
        assert_name(0x1000, size >= first ? "one" : NULL);
        assert_name(0x2000, size >= bytes.size ? "two" : NULL);
    }
    ck_assert_uint_eq(jitdump.offset, bytes.size);
}
END_TEST

START_TEST(code_larger_than_any_buffer_is_stepped_over)
{
    put_header(0x4a695444, 1, 40, PID);
    put_load(PID, 0x100000, 200000, "large");
    put_load(PID, 0x2000, 64, "two");
    for (int i = 0; i < 5000; i++)
        put_load(PID, 0x1000000 + (uint64_t)i * 64, 20, "many");
    put_load(PID, 0x3000, 64, "last");
    read_whole();
    assert_name(0x100000 + 199999, "large");
    assert_name(0x2000, "two");
    assert_name(0x1000000 + 4999 * 64, "many");
    assert_name(0x3000, "last");
}
END_TEST

static struct yarn_module_map *map;
static struct yarn_jit_names *jit;
static char map_path[64];

static void open_jit(void)
{
    open_all();
    (void)snprintf(map_path, sizeof map_path, "/tmp/perf-%d.map", (int)getpid());
    (void)unlink(map_path);
    ck_assert_int_eq(yarn_module_map_new(&map, &yarn_target_nobody, NULL), 0);
    ck_assert_int_eq(yarn_jit_names_new(&jit, map, (uint32_t)getpid(), 0), 0);
}

static void close_jit(void)
{
    (void)unlink(map_path);
    yarn_jit_names_free(jit);
    yarn_module_map_free(map);
    close_all();
}

static void map_file(const char *file, uint64_t start)
{
    struct yarn_mapping mapping = {.start = start, .end = start + 4096, .path = file};
    ck_assert_int_eq(yarn_module_map_add(map, &mapping), 0);
}

static uint64_t now_ns(void)
{
    return yarn_clock_ns(YARN_TIME_MONOTONIC);
}

static void assert_code(uint64_t address, uint64_t time_ns, const char *want)
{
    uint32_t number = yarn_jit_names_find(jit, address, time_ns);
    ck_assert_int_eq(number != YARN_CODE_NAME_NONE, want != NULL);
    if (want)
        ck_assert(yarn_span_equal(yarn_jit_names_at(jit, number).text, yarn_span_of_text(want)));
}

START_TEST(a_jitdump_is_found_by_its_mapping)
{
    put_header(0x4a695444, 1, 40, (uint32_t)getpid());
    put_load((uint32_t)getpid(), 0x1000, 64, "one");
    write_file(bytes.size);
    assert_code(0x1000, now_ns(), NULL);
    map_file("/tmp/jit-x.dump", 0x7f0000000000);
    map_file("/tmp/xjit-1.dump", 0x7f0000100000);
    map_file("/tmp/jit-1.dump.so", 0x7f0000200000);
    assert_code(0x1000, now_ns(), NULL);
    map_file(path, 0x7f0000300000);
    assert_code(0x1000, now_ns(), "one");
}
END_TEST

static void append(const char *text)
{
    FILE *file = fopen(map_path, "a");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

/* A file's time may be 10 ms late. */
static const struct timespec ticks = {.tv_nsec = 30 * YARN_NS_PER_MS};

START_TEST(a_perf_map_is_looked_into_for_samples_that_came_since)
{
    uint64_t before_ns = now_ns();
    append("1000 10 one\n");
    assert_code(0x1008, before_ns, "one");
    append("2000 10 two\n");
    assert_code(0x2008, before_ns, NULL);
    assert_code(0x2008, now_ns(), "two");
    assert_code(0x2008, before_ns, "two"); /* there was nothing else */
}
END_TEST

START_TEST(what_takes_another_s_place_has_its_name_from_when_it_is_there)
{
    append("1000 10 one\n2000 10 other\n");
    assert_code(0x1008, now_ns(), "one");
    uint64_t before_ns = now_ns();
    append("1000 10 uno\n");
    assert_code(0x1008, now_ns(), NULL);
    (void)nanosleep(&ticks, NULL);
    assert_code(0x1008, now_ns(), "uno");
    assert_code(0x1008, before_ns, NULL);
    assert_code(0x2008, before_ns, "other");
    ck_assert_uint_eq(yarn_jit_names_find_late(jit, 0x1008), YARN_CODE_NAME_NONE);
    ck_assert_uint_ne(yarn_jit_names_find_late(jit, 0x2008), YARN_CODE_NAME_NONE);
}
END_TEST

START_TEST(a_refresh_looks_at_once)
{
    uint64_t before_ns = now_ns();
    assert_code(0x1008, before_ns, NULL);
    uint64_t generation = yarn_jit_names_generation(jit);
    append("1000 10 one\n");
    assert_code(0x1008, before_ns, NULL);
    yarn_jit_names_refresh(jit, YARN_MIB(1));
    ck_assert_uint_gt(yarn_jit_names_generation(jit), generation);
    assert_code(0x1008, before_ns, "one");
}
END_TEST

START_TEST(a_large_perf_map_takes_many_looks)
{
    append("1000 10 one\n");
    ck_assert_int_eq(truncate(map_path, (off_t)YARN_MIB(8192)), 0);
    append("\n2000 10 two\n");
    for (unsigned i = 0; i < 4; i++)
        assert_code(0x2008, now_ns(), NULL);
    assert_code(0x1008, now_ns(), "one");
    ck_assert_int_eq(truncate(map_path, YARN_MIB(1)), 0);
    append("\n2000 10 two\n");
    assert_code(0x2008, now_ns(), NULL);
    yarn_jit_names_refresh(jit, YARN_MIB(2));
    assert_code(0x2008, now_ns(), "two");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("jitdump");
    TCase *tcase = tcase_create("a jitdump that is followed");
    tcase_add_checked_fixture(tcase, open_all, close_all);
    tcase_add_test(tcase, loaded_code_has_its_name);
    tcase_add_test(tcase, moved_code_takes_its_name_along);
    tcase_add_test(tcase, other_records_and_a_larger_header_are_passed_over);
    tcase_add_test(tcase, code_of_another_process_is_not_ours);
    tcase_add_loop_test(tcase, a_file_that_is_not_ours_or_no_jitdump_is_left, 0,
                        YARN_COUNT_OF(bad_headers));
    tcase_add_test(tcase, nothing_is_read_behind_the_close);
    tcase_add_loop_test(tcase, a_record_smaller_than_its_head_ends_the_reading, 0, 16);
    tcase_add_test(tcase, a_file_that_grows_byte_by_byte_gives_each_record_once_it_is_whole);
    tcase_add_test(tcase, code_larger_than_any_buffer_is_stepped_over);
    suite_add_tcase(suite, tcase);
    TCase *found = tcase_create("the files of a process");
    tcase_add_checked_fixture(found, open_jit, close_jit);
    tcase_add_test(found, a_jitdump_is_found_by_its_mapping);
    tcase_add_test(found, a_perf_map_is_looked_into_for_samples_that_came_since);
    tcase_add_test(found, what_takes_another_s_place_has_its_name_from_when_it_is_there);
    tcase_add_test(found, a_refresh_looks_at_once);
    tcase_add_test(found, a_large_perf_map_takes_many_looks);
    suite_add_tcase(suite, found);
    return run_suite(suite);
}
