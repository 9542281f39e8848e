/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/pages.h"
#include "core/sys/file.h"
#include "tests/support/suite.h"
#include "unwind/image_cache.h"
#include "unwind/module_map.h"

enum { PAGE = 4096 };

static struct yarn_module_map *map;
static size_t pages_before;
static char path[64], other[64]; /* of this test's own files */

static void set_up(void)
{
    snprintf(path, sizeof path, "/tmp/yarn_test_%d", (int)getpid());
    snprintf(other, sizeof other, "/tmp/yarn_test_%d.new", (int)getpid());
    pages_before = yarn_pages_total();
    ck_assert_int_eq(yarn_module_map_new(&map, &yarn_target_self, NULL), 0);
}

static void tear_down(void)
{
    unlink(path);
    unlink(other);
    yarn_module_map_free(map);
    ck_assert_uint_eq(yarn_pages_total(), pages_before);
}

static int add(uint64_t start, uint64_t end, const char *file)
{
    return yarn_module_map_add(map,
                               &(struct yarn_mapping){.start = start, .end = end, .path = file});
}

static void copy_file(const char *from, const char *to)
{
    char command[300];
    snprintf(command, sizeof command, "cp %s %s && chmod u+w %s", from, to, to);
    ck_assert_int_eq(system(command), 0);
}

static void copy_program(const char *to)
{
    char program[64];
    snprintf(program, sizeof program, "/proc/%d/exe", (int)getpid());
    copy_file(program, to);
}

/* Maps the executable segment of the file as a loader would. */
static void *map_code(const char *file, size_t *ret_size)
{
    struct yarn_image image;
    ck_assert_int_eq(yarn_image_open(&image, YARN_FILE_CWD, file), 0);
    uint64_t first = image.segments[0].file_offset & ~(uint64_t)(PAGE - 1);
    *ret_size = (size_t)(image.segments[0].file_offset + image.segments[0].file_size - first);
    int fd = open(file, O_RDONLY | O_CLOEXEC);
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

START_TEST(other_file_at_the_same_address_has_its_own_image)
{
    char libc[PAGE], program[PAGE];
    ck_assert_int_eq(yarn_module_map_read_proc(map, 0), 0);
    strcpy(libc, yarn_module_map_find(map, (uint64_t)(uintptr_t)dprintf)->path);
    strcpy(program, yarn_module_map_find(map, (uint64_t)(uintptr_t)set_up)->path);
    uint64_t images[2];
    for (unsigned round = 0; round < 4; round++) {
        ck_assert_int_eq(add(0x10000, 0x12000, round % 2 ? libc : program), 0);
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

START_TEST(maps_of_several_processes_share_images_that_are_kept_while_one_has_them)
{
    static struct yarn_image_cache images;
    struct yarn_module_map *maps[2];
    const uint64_t address = (uint64_t)(uintptr_t)dprintf;
    ck_assert_int_eq(yarn_image_cache_open(&images), 0);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(yarn_module_map_new(&maps[i], &yarn_target_self, &images), 0);
        ck_assert_int_eq(yarn_module_map_read_proc(maps[i], 0), 0);
    }
    const struct yarn_image *image = yarn_module_map_find(maps[0], address)->image;
    ck_assert_ptr_nonnull(image);
    ck_assert_ptr_eq(yarn_module_map_find(maps[1], address)->image, image);
    yarn_module_map_free(maps[0]);
    for (int i = 0; i < 3; i++) {
        yarn_module_map_see_images(maps[1]);
        yarn_image_cache_sweep(&images);
        yarn_module_map_after_sweep(maps[1]);
    }
    ck_assert_ptr_eq(yarn_module_map_find(maps[1], address)->image, image);
    ck_assert_ptr_nonnull(image->memory.data);
    for (int i = 0; i < 2; i++)
        yarn_image_cache_sweep(&images);
    yarn_module_map_after_sweep(maps[1]);
    ck_assert_ptr_null(image->memory.data);
    ck_assert_ptr_nonnull(yarn_module_map_find(maps[1], address)->image); /* opened again */
    yarn_module_map_free(maps[1]);
    yarn_image_cache_close(&images);
}
END_TEST

START_TEST(deleted_file_has_the_build_id_that_its_memory_has)
{
    static const struct yarn_target without_proc = {.kind = YARN_TARGET_OWN};
    struct yarn_image libc;
    struct yarn_module_map *blind;
    ck_assert_int_eq(yarn_module_map_read_proc(map, 0), 0);
    const char *file = yarn_module_map_find(map, (uint64_t)(uintptr_t)dprintf)->path;
    ck_assert_int_eq(yarn_image_open(&libc, YARN_FILE_CWD, file), 0);
    ck_assert_uint_gt(libc.build_id.size, 0);
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    void *mapped = mmap(NULL, 8 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
    ck_assert_ptr_ne(mapped, MAP_FAILED);
    close(fd);
    uint64_t base = (uint64_t)(uintptr_t)mapped;
    ck_assert_int_eq(yarn_module_map_new(&blind, &without_proc, NULL), 0);
    struct yarn_mapping mapping = {.start = base + PAGE,
                                   .end = base + 2 * PAGE,
                                   .file_offset = PAGE,
                                   .path = "/gone (deleted)"};
    ck_assert_int_eq(yarn_module_map_add(blind, &mapping), 0);
    const struct yarn_module *module = yarn_module_map_find(blind, mapping.start);
    ck_assert_int_eq(module->image_state, YARN_IMAGE_ABSENT);
    ck_assert(yarn_build_id_equal(&module->build_id, &libc.build_id));
    mapping.start += 3 * PAGE; /* the file's first page is not where it would be */
    mapping.end += 3 * PAGE;
    ck_assert_int_eq(yarn_module_map_add(blind, &mapping), 0);
    ck_assert_uint_eq(yarn_module_map_find(blind, mapping.start)->build_id.size, 0);
    yarn_module_map_free(blind);
    yarn_image_close(&libc);
    munmap(mapped, 8 * PAGE);
}
END_TEST

START_TEST(replaced_file_is_not_taken_for_the_mapped_one)
{
    size_t size;
    copy_program(path);
    void *code = map_code(path, &size);
    struct yarn_image mapped;
    ck_assert_int_eq(yarn_image_open(&mapped, YARN_FILE_CWD, path), 0);
    copy_file("/bin/true", other);
    ck_assert_int_eq(rename(other, path), 0);
    ck_assert_int_eq(yarn_module_map_read_proc(map, 0), 0);
    const struct yarn_module *module = yarn_module_map_find(map, (uint64_t)(uintptr_t)code);
    if (may_use_map_files(code, size)) {
        ck_assert_int_eq(module->image_state, YARN_IMAGE_OPEN);
        ck_assert(yarn_build_id_equal(&module->image->build_id, &mapped.build_id));
    } else {
        ck_assert_int_eq(module->image_state, YARN_IMAGE_REPLACED);
    }
    yarn_image_close(&mapped);
    munmap(code, size);
}
END_TEST

START_TEST(replaced_file_is_said_to_be_replaced_where_map_files_is_out_of_reach)
{
    struct yarn_module_map *blind;
    ck_assert_int_eq(yarn_module_map_new(&blind, &yarn_target_nobody, NULL), 0);
    struct yarn_mapping by_inode = {
        .start = 0x20000, .end = 0x30000, .path = "/bin/true", .inode = 1};
    struct yarn_mapping gone = {.start = 0x30000, .end = 0x40000, .path = "/bin/true (deleted)"};
    ck_assert_int_eq(yarn_module_map_add(blind, &by_inode), 0);
    ck_assert_int_eq(yarn_module_map_add(blind, &gone), 0);
    for (uint64_t address = 0x20000; address < 0x40000; address += 0x10000) {
        const struct yarn_module *module = yarn_module_map_find(blind, address);
        ck_assert_int_eq(module->image_state, YARN_IMAGE_REPLACED);
        ck_assert_ptr_null(module->image);
    }
    yarn_module_map_free(blind);
}
END_TEST

/* As on overlay file systems of kernels before 6.8: the numbers of maps are those of a layer. */
START_TEST(foreign_numbers_are_settled_by_what_stands_in_memory)
{
    struct yarn_image program;
    size_t size;
    copy_program(path);
    void *code = map_code(path, &size);
    ck_assert_int_eq(yarn_image_open(&program, YARN_FILE_CWD, path), 0);
    struct yarn_mapping mapping = {
        .start = (uint64_t)(uintptr_t)code,
        .end = (uint64_t)(uintptr_t)code + yarn_align_up(size, PAGE),
        .file_offset = program.segments[0].file_offset & ~(uint64_t)(PAGE - 1),
        .device = 1,
        .inode = 1,
        .path = path,
    };
    ck_assert_int_eq(yarn_module_map_add(map, &mapping), 0);
    ck_assert_int_eq(yarn_module_map_find(map, mapping.start)->image_state, YARN_IMAGE_OPEN);
    struct yarn_module_map *blind;
    ck_assert_int_eq(yarn_module_map_new(&blind, &yarn_target_nobody, NULL), 0);
    mapping.path = "/bin/true";
    ck_assert_int_eq(yarn_module_map_add(blind, &mapping), 0);
    ck_assert_int_eq(yarn_module_map_find(blind, mapping.start)->image_state, YARN_IMAGE_REPLACED);
    yarn_module_map_free(blind);
    munmap(code, size);
    yarn_image_close(&program);
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
    copy_program(path);
    ck_assert_int_eq(add(0x10000, 0x20000, path), 0);
    const struct yarn_image *first = yarn_module_map_find(map, 0x10000)->image;
    size_t first_size = first->file_size;
    ck_assert_int_eq(add(0x10000, 0x20000, "/b"), 0);
    copy_file("/bin/true", path);
    ck_assert_int_eq(add(0x10000, 0x20000, path), 0);
    const struct yarn_module *module = yarn_module_map_find(map, 0x10000);
    ck_assert_int_eq(module->image_state, YARN_IMAGE_OPEN);
    ck_assert_uint_ne(module->image->file_size, first_size);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("module_map: files");
    TCase *tests = tcase_create("files that change");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, other_file_at_the_same_address_has_its_own_image);
    tcase_add_test(tests, maps_of_several_processes_share_images_that_are_kept_while_one_has_them);
    tcase_add_test(tests, deleted_file_has_the_build_id_that_its_memory_has);
    tcase_add_test(tests, deleted_file_is_reached_through_map_files_or_absent);
    tcase_add_test(tests, replaced_file_is_not_taken_for_the_mapped_one);
    tcase_add_test(tests, replaced_file_is_said_to_be_replaced_where_map_files_is_out_of_reach);
    tcase_add_test(tests, foreign_numbers_are_settled_by_what_stands_in_memory);
    tcase_add_test(tests, memfd_with_a_library_is_a_file_and_with_jit_code_is_anonymous);
    tcase_add_test(tests, file_written_again_in_place_is_opened_again);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
