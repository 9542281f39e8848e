/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/sys/file.h"
#include "core/sys/proc_maps.h"
#include "core/sys/target.h"
#include "tests/support/suite.h"

static const struct {
    const char *line;
    struct yarn_proc_map want;
    const char *path;
} good[] = {
    {"55d0c0a00000-55d0c0a02000 r-xp 00001000 fe:00 247498                     /usr/bin/head\n",
     {0x55d0c0a00000, 0x55d0c0a02000, 0x1000, 0xfe00, 247498, true, false, true, false, {0, 0}},
     "/usr/bin/head"},
    {"7ffe0000-7ffe1000 r-xp 00000000 00:00 0                  [vdso]",
     {0x7ffe0000, 0x7ffe1000, 0, 0, 0, true, false, true, false, {0, 0}},
     "[vdso]"},
    {"1000-2000 rwxs 00000000 00:00 0 \n",
     {0x1000, 0x2000, 0, 0, 0, true, true, true, true, {0, 0}},
     ""},
    {"1000-2000 ---p 00000000 00:00 0",
     {0x1000, 0x2000, 0, 0, 0, false, false, false, false, {0, 0}},
     ""},
    {"1000-2000 r--p 00000000 00:01 18446744073709551615 /memfd:a b (deleted)\n",
     {0x1000, 0x2000, 0, 1, UINT64_MAX, true, false, false, false, {0, 0}},
     "/memfd:a b (deleted)"},
    {"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n",
     {0xffffffffff600000, 0xffffffffff601000, 0, 0, 0, false, false, true, false, {0, 0}},
     "[vsyscall]"},
};

START_TEST(line_is_taken_apart)
{
    struct yarn_proc_map map;
    ck_assert_int_eq(yarn_proc_map_parse(yarn_span_of_text(good[_i].line), &map), 0);
    ck_assert_uint_eq(map.start, good[_i].want.start);
    ck_assert_uint_eq(map.end, good[_i].want.end);
    ck_assert_uint_eq(map.file_offset, good[_i].want.file_offset);
    ck_assert_uint_eq(map.device, good[_i].want.device);
    ck_assert_uint_eq(map.inode, good[_i].want.inode);
    ck_assert_int_eq(map.readable, good[_i].want.readable);
    ck_assert_int_eq(map.writable, good[_i].want.writable);
    ck_assert_int_eq(map.executable, good[_i].want.executable);
    ck_assert_int_eq(map.shared, good[_i].want.shared);
    ck_assert(yarn_span_equal(map.path, yarn_span_of_text(good[_i].path)));
}
END_TEST

static const char *const bad[] = {
    "",
    "\n",
    "1000",
    "1000-2000",
    "1000-2000 r-xp",
    "1000-2000 r-xp 0 0:0",
    "1000-2000 r-xp 0 0:0 ",
    "1000-2000 r-xp 0 0:0 x",
    "1000-2000 r-xp 0 0:0 1x",
    "2000-1000 r-xp 0 0:0 1",
    "1000-1000 r-xp 0 0:0 1",
    "-1000 r-xp 0 0:0 1",
    "10000000000000000-20000000000000000 r-xp 0 0:0 1",
    "1000-2000 r-xp 0 100000000:0 1",
    "1000-2000 r-xp 0 0:0 18446744073709551616",
    " 1000-2000 r-xp 0 0:0 1",
};

START_TEST(what_is_no_line_is_refused)
{
    struct yarn_proc_map map;
    ck_assert_int_eq(yarn_proc_map_parse(yarn_span_of_text(bad[_i]), &map), -EINVAL);
}
END_TEST

START_TEST(device_numbers_are_those_of_stat)
{
    ck_assert_uint_eq(yarn_device_of(8, 1), makedev(8, 1));
    ck_assert_uint_eq(yarn_device_of(0x12345, 0x6789ab), makedev(0x12345, 0x6789ab));
}
END_TEST

struct seen {
    unsigned count;
    uint64_t last_end;
    bool has_code;
};

static int look(void *context, const struct yarn_proc_map *map)
{
    struct seen *seen = context;
    uint64_t here = (uint64_t)(uintptr_t)look;
    ck_assert_uint_ge(map->start, seen->last_end);
    seen->last_end = map->end;
    seen->count++;
    if (map->start <= here && here < map->end)
        seen->has_code = map->executable && map->path.size != 0;
    return 0;
}

static int stop(void *context, const struct yarn_proc_map *map)
{
    (void)map;
    ++*(unsigned *)context;
    return -EINTR;
}

START_TEST(own_mappings_come_in_order)
{
    struct seen seen = {.count = 0};
    ck_assert_int_eq(yarn_proc_maps_read(YARN_FILE_CWD, "/proc/self/maps", look, &seen), 0);
    ck_assert_uint_gt(seen.count, 10);
    ck_assert(seen.has_code);
    unsigned calls = 0;
    ck_assert_int_eq(yarn_proc_maps_read(YARN_FILE_CWD, "/proc/self/maps", stop, &calls), -EINTR);
    ck_assert_uint_eq(calls, 1);
    ck_assert_int_eq(yarn_proc_maps_read(YARN_FILE_CWD, "/no/such/file", stop, &calls), -ENOENT);
}
END_TEST

/* More than one buffer, a line longer than a buffer, and no newline at the end. */
START_TEST(long_files_are_read_in_pieces)
{
    char path[] = "/tmp/yarn_maps_XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    for (unsigned i = 1; i < 3000; i++)
        fprintf(file, "%x000-%x000 r-xp 00000000 00:00 %u /a/path/of/some/length/%u\n", i, i + 1, i,
                i);
    for (unsigned i = 0; i < 80000; i++)
        fputc('x', file);
    fprintf(file, "\nfff000-1000000 r--p 0 0:0 0");
    fclose(file);
    struct seen seen = {.count = 0};
    ck_assert_int_eq(yarn_proc_maps_read(YARN_FILE_CWD, path, look, &seen), 0);
    ck_assert_uint_eq(seen.count, 3000);
    ck_assert_uint_eq(seen.last_end, 0x1000000);
    unlink(path);
}
END_TEST

START_TEST(memory_is_read_without_a_fault)
{
    char from[64] = "what stands here", to[64] = "";
    ck_assert_int_eq(yarn_target_read(&yarn_target_self, (uint64_t)(uintptr_t)from, to, sizeof to),
                     0);
    ck_assert_str_eq(from, to);
    ck_assert_int_eq(yarn_target_read(&yarn_target_self, 0, to, sizeof to), -EFAULT);
    ck_assert_int_eq(yarn_target_read(&yarn_target_self, UINT64_MAX - 8, to, sizeof to), -EFAULT);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("proc_maps");
    TCase *tests = tcase_create("proc_maps");
    tcase_add_loop_test(tests, line_is_taken_apart, 0, (int)YARN_COUNT_OF(good));
    tcase_add_loop_test(tests, what_is_no_line_is_refused, 0, (int)YARN_COUNT_OF(bad));
    tcase_add_test(tests, device_numbers_are_those_of_stat);
    tcase_add_test(tests, own_mappings_come_in_order);
    tcase_add_test(tests, long_files_are_read_in_pieces);
    tcase_add_test(tests, memory_is_read_without_a_fault);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
