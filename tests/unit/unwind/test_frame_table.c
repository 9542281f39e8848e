/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/pages.h"
#include "tests/support/suite.h"
#include "unwind/frame_table.h"

enum { MANY = 300000, HEAD = 12, VADDR = 0x4000000, STEP = 48, FDE_STEP = 24 };

static uint8_t *bytes;
static struct yarn_section header;
static struct yarn_frame_table table;

static uint64_t start_of(size_t position)
{
    return VADDR + 0x1000 + (uint64_t)position * STEP + position % 7;
}

static void make(uint32_t count)
{
    /* version; .eh_frame pc-relative, count absolute, table relative to here */
    const uint8_t head[] = {1, 0x1b, 0x03, 0x3b, 0xfc, 0xff, 0, 0};
    size_t size = HEAD + (size_t)count * 8;
    bytes = malloc(size);
    memcpy(bytes, head, sizeof head);
    memcpy(bytes + sizeof head, &count, sizeof count);
    for (uint32_t i = 0; i < count; i++) {
        int32_t entry[2] = {(int32_t)(start_of(i) - VADDR), (int32_t)(i * FDE_STEP)};
        memcpy(bytes + HEAD + (size_t)i * sizeof entry, entry, sizeof entry);
    }
    header = (struct yarn_section){.bytes = yarn_span_of(bytes, size), .vaddr = VADDR};
}

static void finds(size_t count, size_t position)
{
    uint64_t start = start_of(position);
    ck_assert_uint_eq(yarn_frame_table_position(&table, start), position + 1);
    ck_assert_uint_eq(yarn_frame_table_position(&table, start - 1), position);
    ck_assert_uint_eq(yarn_frame_table_position(&table, start + STEP / 2), position + 1);
    ck_assert_uint_eq(yarn_frame_table_start(&table, position), start);
    ck_assert_uint_eq(yarn_frame_table_fde(&table, position), VADDR + position * FDE_STEP);
    ck_assert_uint_lt(position, count);
}

static const uint32_t counts[] = {1, 2, 511, 512, 513, 1024, 1025, 5000, MANY};

START_TEST(each_function_is_found_whatever_the_number_of_pages)
{
    const uint32_t count = counts[_i];
    make(count);
    ck_assert_uint_eq(yarn_frame_table_eh_frame(&header), VADDR + 0x10000);
    table = yarn_frame_table_of(&header);
    ck_assert_uint_eq(table.count, count);
    for (int is_indexed = 0; is_indexed < 2; is_indexed++) {
        for (size_t i = 0; i < count; i += 1 + count / 4000)
            finds(count, i);
        finds(count, count - 1);
        ck_assert_uint_eq(yarn_frame_table_position(&table, UINT64_MAX), count);
        ck_assert_uint_eq(yarn_frame_table_position(&table, 0), 0);
        ck_assert_uint_eq(yarn_frame_table_fde(&table, count), 0);
        yarn_frame_table_index(&table);
    }
    yarn_frame_table_close(&table);
    yarn_frame_table_close(&table);
    free(bytes);
}
END_TEST

START_TEST(a_header_that_says_more_than_there_is_has_no_table)
{
    make(100);
    header.bytes.size -= 8;
    ck_assert_uint_eq(yarn_frame_table_of(&header).count, 0);
    for (size_t size = 0; size < HEAD; size++) {
        header.bytes.size = size;
        ck_assert_uint_eq(yarn_frame_table_of(&header).count, 0);
    }
    header.bytes.size = HEAD + 100 * 8;
    bytes[3] = 0x1b; /* a table of another encoding */
    ck_assert_uint_eq(yarn_frame_table_of(&header).count, 0);
    ck_assert_uint_eq(yarn_frame_table_eh_frame(&header), VADDR + 0x10000);
    bytes[1] = 0xff;
    ck_assert_uint_eq(yarn_frame_table_eh_frame(&header), 0);
    free(bytes);
}
END_TEST

START_TEST(a_table_that_is_not_sorted_does_no_harm)
{
    make(5000);
    for (size_t i = HEAD; i < header.bytes.size; i++)
        bytes[i] = (uint8_t)rand();
    table = yarn_frame_table_of(&header);
    yarn_frame_table_index(&table);
    for (int i = 0; i < 5000; i++) {
        size_t position = yarn_frame_table_position(&table, start_of((size_t)i));
        ck_assert(position == SIZE_MAX || position <= 5000);
    }
    yarn_frame_table_close(&table);
    free(bytes);
}
END_TEST

static void open_file(const char *path)
{
    struct yarn_view_file file = {.fd = yarn_file_open(YARN_FILE_CWD, path),
                                  .name = {{YARN_FILE_CWD, path}}};
    struct yarn_view_extents extents = {0};
    ck_assert_int_ge(file.fd, 0);
    ck_assert_int_eq(yarn_file_stat(file.fd, &file.info), 0);
    yarn_view_want(&extents, 0, file.info.size_bytes);
    ck_assert_int_eq(yarn_view_open(&header.view, &file, &extents, 0), 0);
    yarn_file_close(file.fd);
    header.bytes = yarn_view_place(header.view, 0, file.info.size_bytes);
    table = yarn_frame_table_of(&header);
    ck_assert_uint_eq(table.count, MANY);
    yarn_frame_table_index(&table);
}

START_TEST(of_a_large_table_in_a_file_a_little_is_read)
{
    char path[] = "/tmp/yarn-test-XXXXXX";
    int fd = mkstemp(path);
    make(MANY);
    ck_assert_int_eq(write(fd, bytes, header.bytes.size), (ssize_t)header.bytes.size);
    close(fd);
    open_file(path);
    size_t before = yarn_pages_total();
    for (size_t i = 0; i < 100; i++)
        finds(MANY, i * i * 29);
    ck_assert_uint_le(yarn_pages_total() - before, header.bytes.size / 4);
    /* What lies in a file that is another one by now is not known, and nobody says otherwise. */
    ck_assert_int_eq(truncate(path, 4096), 0);
    for (size_t i = 0; i < MANY; i += 1000) {
        uint64_t start = start_of(i);
        size_t position = yarn_frame_table_position(&table, start);
        ck_assert(position == i + 1 || position == SIZE_MAX);
        ck_assert_uint_eq(yarn_frame_table_fde(&table, SIZE_MAX - 1), 0);
    }
    ck_assert_uint_eq(yarn_frame_table_position(&table, start_of(MANY / 3)), SIZE_MAX);
    yarn_frame_table_close(&table);
    yarn_view_close(header.view);
    unlink(path);
    free(bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("frame_table");
    TCase *tcase = tcase_create("in memory");
    tcase_add_loop_test(tcase, each_function_is_found_whatever_the_number_of_pages, 0,
                        (int)YARN_COUNT_OF(counts));
    tcase_add_test(tcase, a_header_that_says_more_than_there_is_has_no_table);
    tcase_add_test(tcase, a_table_that_is_not_sorted_does_no_harm);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("in a file");
    tcase_add_test(tcase, of_a_large_table_in_a_file_a_little_is_read);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
