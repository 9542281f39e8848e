/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "core/base/pages.h"
#include "core/sys/file.h"
#include "core/sys/proc_maps.h"
#include "tests/support/suite.h"
#include "unwind/module_map.h"

enum { PAGE = 4096 };

static struct yarn_module_map *map;
static size_t pages_before;

static void set_up(void)
{
    pages_before = yarn_pages_total();
    ck_assert_int_eq(yarn_module_map_new(&map, &yarn_target_self, NULL), 0);
}

static void tear_down(void)
{
    yarn_module_map_free(map);
    ck_assert_uint_eq(yarn_pages_total(), pages_before);
}

static int add(uint64_t start, uint64_t end, uint64_t offset, const char *path)
{
    return yarn_module_map_add(
        map,
        &(struct yarn_mapping){.start = start, .end = end, .file_offset = offset, .path = path});
}

/* The number of the module at the address; -1 where there is none. */
static int number_at(uint64_t address)
{
    const struct yarn_module *module = yarn_module_map_find(map, address);
    return module ? (int)module->number : -1;
}

START_TEST(own_mappings_are_found_with_their_files)
{
    ck_assert_int_eq(yarn_module_map_read_proc(map, 7), 0);
    uint64_t here = (uint64_t)(uintptr_t)set_up;
    const struct yarn_module *module = yarn_module_map_find(map, here);
    ck_assert_ptr_nonnull(module);
    ck_assert_int_eq(module->kind, YARN_MODULE_FILE);
    ck_assert_int_eq(module->image_state, YARN_IMAGE_OPEN);
    ck_assert_uint_eq(module->time_ns, 7);
    struct yarn_span code = yarn_image_at(module->image, here - module->bias);
    ck_assert_uint_ge(code.size, 16);
    ck_assert_mem_eq(code.data, (const void *)(uintptr_t)here, 16);
    /* A function of libc: read by bias, the file's bytes are those in memory. */
    uint64_t there = (uint64_t)(uintptr_t)dprintf;
    module = yarn_module_map_find(map, there);
    ck_assert_ptr_nonnull(module);
    code = yarn_image_at(module->image, there - module->bias);
    ck_assert_mem_eq(code.data, (const void *)(uintptr_t)there, 16);
    struct stat info;
    ck_assert_int_eq(stat(module->path, &info), 0);
    ck_assert_uint_eq(module->inode, info.st_ino);
}
END_TEST

START_TEST(vdso_is_copied_when_it_is_looked_up)
{
    ck_assert_int_eq(yarn_module_map_read_proc(map, 0), 0);
    const struct yarn_module *vdso = NULL;
    for (uint32_t i = 0; i < yarn_module_map_count(map); i++)
        if (yarn_module_map_at(map, i)->kind == YARN_MODULE_VDSO)
            vdso = yarn_module_map_at(map, i);
    if (!vdso)
        return;
    ck_assert_int_eq(vdso->image_state, YARN_IMAGE_UNTRIED);
    ck_assert_ptr_eq(yarn_module_map_find(map, vdso->start), vdso);
    ck_assert_int_eq(vdso->image_state, YARN_IMAGE_OPEN);
    ck_assert_uint_eq(vdso->bias, vdso->start);
}
END_TEST

START_TEST(a_build_id_is_known_without_the_file)
{
    uint64_t there = (uint64_t)(uintptr_t)set_up;
    ck_assert_int_eq(yarn_module_map_read_proc(map, 0), 0);
    for (uint32_t i = 0; i < yarn_module_map_count(map); i++) {
        const struct yarn_module *module = yarn_module_map_at(map, i);
        if (there < module->start || there >= module->end)
            continue;
        ck_assert(yarn_module_map_identify(map, i));
        ck_assert_int_eq(module->image_state, YARN_IMAGE_UNTRIED);
        struct yarn_build_id by_memory = module->build_id;
        ck_assert_uint_gt(by_memory.size, 0);
        ck_assert_ptr_nonnull(yarn_module_map_find(map, there)->image);
        ck_assert(yarn_build_id_equal(&by_memory, &module->image->build_id));
        return;
    }
    ck_abort_msg("own code is in no module");
}
END_TEST

START_TEST(reading_twice_changes_nothing)
{
    ck_assert_int_eq(yarn_module_map_read_proc(map, 0), 0);
    uint32_t count = yarn_module_map_count(map);
    uint64_t generation = yarn_module_map_generation(map);
    ck_assert_int_eq(yarn_module_map_read_proc(map, 1), 0);
    ck_assert_uint_eq(yarn_module_map_count(map), count);
    ck_assert_uint_eq(yarn_module_map_generation(map), generation);
}
END_TEST

START_TEST(vdso_that_is_not_there_is_absent_and_no_crash)
{
    ck_assert_int_eq(add(0x1000, 0x3000, 0, "[vdso]"), 0);
    const struct yarn_module *module = yarn_module_map_find(map, 0x1000);
    ck_assert_int_eq(module->image_state, YARN_IMAGE_ABSENT);
    ck_assert_int_lt(module->image_error, 0);
    ck_assert_ptr_null(module->image);
}
END_TEST

START_TEST(kinds_follow_from_paths)
{
    static const struct {
        const char *path, *kept_path;
        enum yarn_module_kind kind;
    } rows[] = {
        {"", "//anon", YARN_MODULE_ANONYMOUS},
        {"//anon", "//anon", YARN_MODULE_ANONYMOUS},
        {"[heap]", "[heap]", YARN_MODULE_ANONYMOUS},
        {"[anon:v8]", "[anon:v8]", YARN_MODULE_ANONYMOUS},
        {"/dev/zero (deleted)", "/dev/zero", YARN_MODULE_ANONYMOUS},
        {"/SYSV00000000 (deleted)", "/SYSV00000000", YARN_MODULE_ANONYMOUS},
        {"anon_inode:[perf_event]", "anon_inode:[perf_event]", YARN_MODULE_ANONYMOUS},
        {"/usr/lib/libx.so (deleted)", "/usr/lib/libx.so", YARN_MODULE_FILE},
        {"relative", "relative", YARN_MODULE_FILE},
    };
    ck_assert_int_eq(add(0x1000, 0x2000, 0, rows[_i].path), 0);
    const struct yarn_module *module = yarn_module_map_at(map, 0);
    ck_assert_int_eq(module->kind, rows[_i].kind);
    ck_assert_str_eq(module->path, rows[_i].kept_path);
    ck_assert_ptr_null(yarn_module_map_find(map, 0x1800)->image);
}
END_TEST

START_TEST(nonsense_is_refused)
{
    ck_assert_int_eq(add(0x2000, 0x2000, 0, "/x"), -EINVAL);
    ck_assert_int_eq(add(0x2000, 0x1000, 0, "/x"), -EINVAL);
    ck_assert_int_eq(add(0x1000, 0x2000, 0, NULL), -EINVAL);
    ck_assert_ptr_null(yarn_module_map_find(map, 0x1000));
    ck_assert_ptr_null(yarn_module_map_at(map, 0));
}
END_TEST

START_TEST(addresses_at_both_ends_are_exact)
{
    ck_assert_int_eq(add(0x1000, 0x2000, 0, "/a"), 0);
    ck_assert_int_eq(add(0x2000, 0x3000, 0, "/b"), 0);
    ck_assert_int_eq(add(UINT64_MAX - 0xfff, UINT64_MAX, 0, "/c"), 0);
    ck_assert_int_eq(number_at(0xfff), -1);
    ck_assert_int_eq(number_at(0x1000), 0);
    ck_assert_int_eq(number_at(0x1fff), 0);
    ck_assert_int_eq(number_at(0x2000), 1);
    ck_assert_int_eq(number_at(0x2fff), 1);
    ck_assert_int_eq(number_at(0x3000), -1);
    ck_assert_int_eq(number_at(UINT64_MAX - 1), 2);
}
END_TEST

START_TEST(covering_mapping_retires_and_splits)
{
    ck_assert_int_eq(add(0x10000, 0x20000, 0, "/a"), 0);
    ck_assert_int_eq(add(0x14000, 0x16000, 0, "/b"), 0);
    ck_assert_int_eq(number_at(0x13fff), 0);
    ck_assert_int_eq(number_at(0x14000), 1);
    ck_assert_int_eq(number_at(0x16000), 0);
    ck_assert_int_eq(add(0x0f000, 0x15000, 0, "/c"), 0);
    ck_assert_int_eq(number_at(0x10000), 2);
    ck_assert_int_eq(number_at(0x15000), 1);
    ck_assert_int_eq(add(0x0f000, 0x20000, 0, "/d"), 0);
    ck_assert_int_eq(number_at(0x15000), 3);
    ck_assert_int_eq(number_at(0x1ffff), 3);
    /* Retired modules can still be asked for. */
    ck_assert_str_eq(yarn_module_map_at(map, 1)->path, "/b");
}
END_TEST

/* Against a plain array of pages, with many small mappings at random. */
START_TEST(random_mappings_agree_with_a_page_array)
{
    enum { PAGES = 64, ROUNDS = 20000 };
    const char *paths[] = {"/a", "/b", "/c", "//anon"};
    int want[PAGES];
    for (int i = 0; i < PAGES; i++)
        want[i] = -1;
    srand(1);
    for (int round = 0; round < ROUNDS; round++) {
        int from = rand() % (PAGES - 1), to = from + 1 + rand() % (PAGES - from - 1);
        int path = rand() % (int)YARN_COUNT_OF(paths);
        ck_assert_int_eq(add((uint64_t)(from + 1) * PAGE, (uint64_t)(to + 1) * PAGE,
                             (uint64_t)from * PAGE, paths[path]),
                         0);
        for (int i = from; i < to; i++)
            want[i] = path;
        for (int i = 0; i < PAGES; i++) {
            const struct yarn_module *module =
                yarn_module_map_find(map, (uint64_t)(i + 1) * PAGE + (uint64_t)(rand() % PAGE));
            ck_assert_int_eq(module != NULL, want[i] >= 0);
            if (module)
                ck_assert_str_eq(module->path, paths[want[i]]);
        }
    }
    /* The same mappings came again and again: they are the modules that they were. */
    ck_assert_uint_lt(yarn_module_map_count(map), 3 * PAGES * PAGES + 2 * PAGES);
}
END_TEST

START_TEST(reopened_library_is_the_module_that_it_was)
{
    struct yarn_mapping mapping = {.start = 0x10000, .end = 0x20000, .path = "/a", .inode = 1};
    for (int i = 0; i < 10; i++) {
        uint64_t generation = yarn_module_map_generation(map);
        ck_assert_int_eq(yarn_module_map_add(map, &mapping), 0);
        ck_assert_int_eq(number_at(0x10000), 0);
        ck_assert_int_eq(add(0x10000, 0x1f000, 0, "/b"), 0);
        ck_assert_int_eq(number_at(0x10000), 1);
        ck_assert_uint_gt(yarn_module_map_generation(map), generation + 1);
    }
    ck_assert_uint_eq(yarn_module_map_count(map), 2);
    mapping.inode = 2;
    ck_assert_int_eq(yarn_module_map_add(map, &mapping), 0);
    ck_assert_int_eq(number_at(0x10000), 2);
}
END_TEST

START_TEST(two_sources_of_one_mapping_complete_each_other)
{
    ck_assert_int_eq(add(0x10000, 0x20000, 0, "/a"), 0);
    struct yarn_mapping mapping = {
        .start = 0x10000, .end = 0x20000, .path = "/a", .inode = 5, .device = yarn_device_of(8, 1)};
    ck_assert_int_eq(yarn_module_map_add(map, &mapping), 0);
    mapping.inode = 0;
    ck_assert_int_eq(yarn_module_map_add(map, &mapping), 0);
    ck_assert_uint_eq(yarn_module_map_count(map), 1);
    const struct yarn_module *module = yarn_module_map_at(map, 0);
    ck_assert_uint_eq(module->inode, 5);
    ck_assert_uint_eq(module->device, makedev(8, 1));
}
END_TEST

START_TEST(adjoining_anonymous_mappings_are_one_module)
{
    for (uint64_t i = 0; i < 5000; i++)
        ck_assert_int_eq(add(0x7000000 - (i + 1) * PAGE, 0x7000000 - i * PAGE, 0, "//anon"), 0);
    ck_assert_uint_eq(yarn_module_map_count(map), 1);
    ck_assert_uint_eq(yarn_module_map_at(map, 0)->start, 0x7000000 - 5000 * PAGE);
    ck_assert_uint_eq(yarn_module_map_at(map, 0)->end, 0x7000000);
    uint64_t generation = yarn_module_map_generation(map);
    ck_assert_int_eq(add(0x7000000 - 4 * PAGE, 0x7000000 - 2 * PAGE, 0, ""), 0);
    ck_assert_uint_eq(yarn_module_map_generation(map), generation);
    /* A gap, then what closes it: the first one takes the second over. */
    ck_assert_int_eq(add(0x7002000, 0x7003000, 0, "//anon"), 0);
    ck_assert_int_eq(number_at(0x7002000), 1);
    ck_assert_int_eq(add(0x7000000, 0x7002000, 0, "//anon"), 0);
    ck_assert_int_eq(number_at(0x7002000), 0);
    ck_assert_int_eq(number_at(0x7000000), 0);
}
END_TEST

START_TEST(bound_on_modules_is_an_error_and_leaves_no_stale_module)
{
    for (uint64_t i = 0; i < 65536; i++)
        ck_assert_int_eq(add((i + 1) * PAGE, (i + 2) * PAGE, i * 2 * PAGE, "/a"), 0);
    ck_assert_int_eq(number_at(PAGE), 0);
    ck_assert_int_eq(number_at(65536 * PAGE), 65535);
    ck_assert_int_eq(add(PAGE, 3 * PAGE, 1, "/b"), -ENOSPC);
    ck_assert_int_eq(number_at(PAGE), -1);
    ck_assert_int_eq(number_at(2 * PAGE), -1);
    ck_assert_int_eq(number_at(3 * PAGE), 2);
}
END_TEST

START_TEST(bound_on_paths_is_an_error_and_leaves_no_stale_module)
{
    char path[3000] = "/";
    int err = 0;
    ck_assert_int_eq(add(PAGE, 2 * PAGE, 0, "/a"), 0);
    memset(path + 1, 'x', sizeof path - 2);
    for (unsigned i = 0; i < 1000 && !err; i++) {
        snprintf(path + 1, 8, "%04u", i);
        path[5] = 'x';
        err = add(PAGE, 2 * PAGE, 0, path);
    }
    ck_assert_int_eq(err, -ENOSPC);
    ck_assert_int_eq(number_at(PAGE), -1);
}
END_TEST

static TCase *situation(Suite *suite, const char *name)
{
    TCase *tests = tcase_create(name);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    suite_add_tcase(suite, tests);
    return tests;
}

static void add_tests(Suite *suite)
{
    TCase *tests = situation(suite, "own process");
    tcase_add_test(tests, own_mappings_are_found_with_their_files);
    tcase_add_test(tests, vdso_is_copied_when_it_is_looked_up);
    tcase_add_test(tests, a_build_id_is_known_without_the_file);
    tcase_add_test(tests, reading_twice_changes_nothing);
    tests = situation(suite, "made-up mappings");
    tcase_add_test(tests, vdso_that_is_not_there_is_absent_and_no_crash);
    tcase_add_loop_test(tests, kinds_follow_from_paths, 0, 9);
    tcase_add_test(tests, nonsense_is_refused);
    tcase_add_test(tests, addresses_at_both_ends_are_exact);
    tcase_add_test(tests, covering_mapping_retires_and_splits);
    tcase_add_test(tests, random_mappings_agree_with_a_page_array);
    tcase_add_test(tests, reopened_library_is_the_module_that_it_was);
    tcase_add_test(tests, two_sources_of_one_mapping_complete_each_other);
    tcase_add_test(tests, adjoining_anonymous_mappings_are_one_module);
    tcase_add_test(tests, bound_on_modules_is_an_error_and_leaves_no_stale_module);
    tcase_add_test(tests, bound_on_paths_is_an_error_and_leaves_no_stale_module);
}

int main(void)
{
    Suite *suite = suite_create("module_map");
    add_tests(suite);
    return run_suite(suite);
}
