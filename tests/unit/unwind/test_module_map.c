/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/base/pages.h"
#include "core/sys/file.h"
#include "core/sys/proc_maps.h"
#include "unwind/module_map.h"

enum { PAGE = 4096 };

static struct yarn_module_map *map;
static int proc_self;
static size_t pages_before;

static void set_up(void)
{
    pages_before = yarn_pages_total();
    proc_self = yarn_file_open_folder(YARN_FILE_CWD, "/proc/self");
    ck_assert_int_ge(proc_self, 0);
    ck_assert_int_eq(yarn_module_map_new(&map, proc_self), 0);
}

static void tear_down(void)
{
    yarn_module_map_free(map);
    yarn_file_close(proc_self);
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

static void copy_program(const char *path)
{
    char command[300];
    snprintf(command, sizeof command, "cp /proc/%d/exe %s && chmod u+w %s", (int)getpid(), path,
             path);
    ck_assert_int_eq(system(command), 0);
}

/* Maps the executable segment of the file at `path` as a loader would. */
static void *map_code(const char *path, size_t *ret_size)
{
    struct yarn_image image;
    ck_assert_int_eq(yarn_image_open(&image, YARN_FILE_CWD, path), 0);
    uint64_t first = image.segments[0].file_offset & ~(uint64_t)(PAGE - 1);
    *ret_size = (size_t)(image.segments[0].file_offset + image.segments[0].file_size - first);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *code = mmap(NULL, *ret_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (off_t)first);
    ck_assert_ptr_ne(code, MAP_FAILED);
    close(fd);
    yarn_image_close(&image);
    return code;
}

static bool may_use_map_files(const void *code, size_t size)
{
    char name[80];
    uint64_t start = (uint64_t)(uintptr_t)code;
    snprintf(name, sizeof name, "/proc/self/map_files/%lx-%lx", (unsigned long)start,
             (unsigned long)(start + yarn_align_up(size, PAGE)));
    int fd = open(name, O_RDONLY);
    close(fd);
    return fd >= 0;
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

START_TEST(vdso_is_copied_at_once)
{
    ck_assert_int_eq(yarn_module_map_read_proc(map, 0), 0);
    const struct yarn_module *vdso = NULL;
    for (uint32_t i = 0; i < yarn_module_map_count(map); i++)
        if (yarn_module_map_at(map, i)->kind == YARN_MODULE_VDSO)
            vdso = yarn_module_map_at(map, i);
    if (!vdso)
        return;
    ck_assert_int_eq(vdso->image_state, YARN_IMAGE_OPEN);
    ck_assert_uint_eq(vdso->bias, vdso->start);
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
    struct yarn_build_id one = {.size = 4, .bytes = "one"}, two = {.size = 4, .bytes = "two"};
    struct yarn_mapping mapping = {
        .start = 0x10000, .end = 0x20000, .path = "/a", .build_id = &one};
    for (int i = 0; i < 10; i++) {
        uint64_t generation = yarn_module_map_generation(map);
        ck_assert_int_eq(yarn_module_map_add(map, &mapping), 0);
        ck_assert_int_eq(number_at(0x10000), 0);
        ck_assert_int_eq(add(0x10000, 0x1f000, 0, "/b"), 0);
        ck_assert_int_eq(number_at(0x10000), 1);
        ck_assert_uint_gt(yarn_module_map_generation(map), generation + 1);
    }
    ck_assert_uint_eq(yarn_module_map_count(map), 2);
    mapping.build_id = &two;
    ck_assert_int_eq(yarn_module_map_add(map, &mapping), 0);
    ck_assert_int_eq(number_at(0x10000), 2);
}
END_TEST

START_TEST(two_sources_of_one_mapping_complete_each_other)
{
    struct yarn_build_id id = {.size = 4, .bytes = "abcd"};
    ck_assert_int_eq(add(0x10000, 0x20000, 0, "/a"), 0);
    struct yarn_mapping mapping = {
        .start = 0x10000, .end = 0x20000, .path = "/a", .inode = 5, .device = yarn_device_of(8, 1)};
    ck_assert_int_eq(yarn_module_map_add(map, &mapping), 0);
    mapping.inode = 0;
    mapping.build_id = &id;
    ck_assert_int_eq(yarn_module_map_add(map, &mapping), 0);
    ck_assert_uint_eq(yarn_module_map_count(map), 1);
    const struct yarn_module *module = yarn_module_map_at(map, 0);
    ck_assert_uint_eq(module->inode, 5);
    ck_assert_uint_eq(module->device, makedev(8, 1));
    ck_assert_uint_eq(module->kernel_build_id.size, 4);
}
END_TEST

START_TEST(other_file_at_the_same_address_has_its_own_image)
{
    char libc[PAGE], program[PAGE];
    ck_assert_int_eq(yarn_module_map_read_proc(map, 0), 0);
    strcpy(libc, yarn_module_map_find(map, (uint64_t)(uintptr_t)dprintf)->path);
    strcpy(program, yarn_module_map_find(map, (uint64_t)(uintptr_t)set_up)->path);
    uint64_t images[2];
    for (unsigned round = 0; round < 4; round++) {
        ck_assert_int_eq(add(0x10000, 0x12000, 0, round % 2 ? libc : program), 0);
        const struct yarn_module *module = yarn_module_map_find(map, 0x10000);
        ck_assert_int_eq(module->image_state, YARN_IMAGE_OPEN);
        if (round < 2)
            images[round] = (uint64_t)(uintptr_t)module->image;
        else
            ck_assert_uint_eq(images[round % 2], (uint64_t)(uintptr_t)module->image);
    }
    ck_assert_uint_ne(images[0], images[1]);
    /* And the same image as where the host itself has it. */
    ck_assert_uint_eq(
        images[1],
        (uint64_t)(uintptr_t)yarn_module_map_find(map, (uint64_t)(uintptr_t)dprintf)->image);
}
END_TEST

START_TEST(deleted_file_is_reached_through_map_files_or_absent)
{
    char path[] = "/tmp/yarn_deleted";
    size_t size;
    copy_program(path);
    void *code = map_code(path, &size);
    bool may = may_use_map_files(code, size);
    unlink(path);
    ck_assert_int_eq(yarn_module_map_read_proc(map, 0), 0);
    const struct yarn_module *module = yarn_module_map_find(map, (uint64_t)(uintptr_t)code);
    ck_assert_str_eq(module->path, path);
    ck_assert_int_eq(module->image_state, may ? YARN_IMAGE_OPEN : YARN_IMAGE_ABSENT);
    if (!may)
        ck_assert_int_eq(module->image_error, -ENOENT);
    munmap(code, size);
}
END_TEST

START_TEST(replaced_file_is_not_taken_for_the_mapped_one)
{
    char path[] = "/tmp/yarn_replaced", other[] = "/tmp/yarn_replaced.new";
    size_t size;
    copy_program(path);
    void *code = map_code(path, &size);
    struct yarn_image mapped;
    ck_assert_int_eq(yarn_image_open(&mapped, YARN_FILE_CWD, path), 0);
    ck_assert_int_eq(system("cp /bin/true /tmp/yarn_replaced.new"), 0);
    ck_assert_int_eq(rename(other, path), 0);
    ck_assert_int_eq(yarn_module_map_read_proc(map, 0), 0);
    const struct yarn_module *module = yarn_module_map_find(map, (uint64_t)(uintptr_t)code);
    if (may_use_map_files(code, size)) {
        ck_assert_int_eq(module->image_state, YARN_IMAGE_OPEN);
        ck_assert(yarn_build_id_equal(&module->image->build_id, &mapped.build_id));
    } else {
        ck_assert_int_eq(module->image_state, YARN_IMAGE_REPLACED);
    }
    unlink(path);
    yarn_image_close(&mapped);
    munmap(code, size);
}
END_TEST

START_TEST(replaced_file_is_said_to_be_replaced_where_map_files_is_out_of_reach)
{
    struct yarn_build_id other = {.size = 20, .bytes = "another build"};
    struct yarn_module_map *blind;
    ck_assert_int_eq(yarn_module_map_new(&blind, -1), 0);
    struct yarn_mapping by_build = {
        .start = 0x10000, .end = 0x20000, .path = "/bin/true", .build_id = &other};
    struct yarn_mapping by_inode = {
        .start = 0x20000, .end = 0x30000, .path = "/bin/true", .inode = 1};
    struct yarn_mapping gone = {.start = 0x30000, .end = 0x40000, .path = "/bin/true (deleted)"};
    ck_assert_int_eq(yarn_module_map_add(blind, &by_build), 0);
    ck_assert_int_eq(yarn_module_map_add(blind, &by_inode), 0);
    ck_assert_int_eq(yarn_module_map_add(blind, &gone), 0);
    for (uint64_t address = 0x10000; address < 0x40000; address += 0x10000) {
        const struct yarn_module *module = yarn_module_map_find(blind, address);
        ck_assert_int_eq(module->image_state, YARN_IMAGE_REPLACED);
        ck_assert_ptr_null(module->image);
    }
    yarn_module_map_free(blind);
}
END_TEST

START_TEST(memfd_with_a_library_is_a_file_and_with_jit_code_is_anonymous)
{
    int jit = memfd_create("jit", MFD_CLOEXEC);
    ck_assert_int_eq(ftruncate(jit, PAGE), 0);
    void *code = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, jit, 0);
    ck_assert_ptr_ne(code, MAP_FAILED);
    ck_assert_int_eq(yarn_module_map_read_proc(map, 0), 0);
    const struct yarn_module *module = yarn_module_map_find(map, (uint64_t)(uintptr_t)code);
    ck_assert_int_eq(module->kind, YARN_MODULE_ANONYMOUS);
    ck_assert_uint_eq(module->bias, 0);
    uint32_t count = yarn_module_map_count(map);
    ck_assert_int_eq(yarn_module_map_read_proc(map, 0), 0);
    ck_assert_uint_eq(yarn_module_map_count(map), count);
    munmap(code, PAGE);
    close(jit);

    char name[64];
    int library = memfd_create("library", MFD_CLOEXEC);
    snprintf(name, sizeof name, "/proc/%d/fd/%d", (int)getpid(), library);
    copy_program(name);
    size_t size;
    code = map_code(name, &size);
    ck_assert_int_eq(yarn_module_map_read_proc(map, 0), 0);
    module = yarn_module_map_find(map, (uint64_t)(uintptr_t)code);
    if (may_use_map_files(code, size)) {
        ck_assert_int_eq(module->kind, YARN_MODULE_FILE);
        ck_assert_int_eq(module->image_state, YARN_IMAGE_OPEN);
    } else {
        ck_assert_int_eq(module->kind, YARN_MODULE_ANONYMOUS);
    }
    munmap(code, size);
    close(library);
}
END_TEST

START_TEST(file_written_again_in_place_is_opened_again)
{
    char path[] = "/tmp/yarn_rewritten";
    copy_program(path);
    ck_assert_int_eq(add(0x10000, 0x20000, 0, path), 0);
    const struct yarn_image *first = yarn_module_map_find(map, 0x10000)->image;
    size_t first_size = first->file.size;
    ck_assert_int_eq(add(0x10000, 0x20000, 0, "/b"), 0);
    ck_assert_int_eq(system("cp /bin/true /tmp/yarn_rewritten"), 0);
    ck_assert_int_eq(add(0x10000, 0x20000, 0, path), 0);
    const struct yarn_module *module = yarn_module_map_find(map, 0x10000);
    ck_assert_int_eq(module->image_state, YARN_IMAGE_OPEN);
    ck_assert_uint_ne(module->image->file.size, first_size);
    unlink(path);
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
    tcase_add_test(tests, vdso_is_copied_at_once);
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
    tests = situation(suite, "files that change");
    tcase_add_test(tests, other_file_at_the_same_address_has_its_own_image);
    tcase_add_test(tests, deleted_file_is_reached_through_map_files_or_absent);
    tcase_add_test(tests, replaced_file_is_not_taken_for_the_mapped_one);
    tcase_add_test(tests, replaced_file_is_said_to_be_replaced_where_map_files_is_out_of_reach);
    tcase_add_test(tests, memfd_with_a_library_is_a_file_and_with_jit_code_is_anonymous);
    tcase_add_test(tests, file_written_again_in_place_is_opened_again);
}

int main(void)
{
    Suite *suite = suite_create("module_map");
    add_tests(suite);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
