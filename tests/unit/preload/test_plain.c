/* SPDX-License-Identifier: Apache-2.0 */
/* The preload's own memory and string functions, built under other names, against the C library's.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

void *plain_memcpy(void *restrict to, const void *restrict from, size_t size);
void *plain_memmove(void *to, const void *from, size_t size);
void *plain_memset(void *to, int value, size_t size);
int plain_memcmp(const void *left, const void *right, size_t size);
void *plain_memchr(const void *memory, int value, size_t size);
void *plain_memrchr(const void *memory, int value, size_t size);
size_t plain_strlen(const char *text);
size_t plain_strnlen(const char *text, size_t most);
int plain_strcmp(const char *left, const char *right);
int plain_strncmp(const char *left, const char *right, size_t most);
char *plain_strchr(const char *text, int value);
char *plain_strrchr(const char *text, int value);
size_t plain_strspn(const char *text, const char *accepted);
size_t plain_strcspn(const char *text, const char *refused);

enum { ROOM = 2700, MOST = 1100, SHIFTS = 19 };

static int sign(int value)
{
    return (value > 0) - (value < 0);
}

static void fill(unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)rand();
}

START_TEST(copies_every_size_at_every_alignment)
{
    unsigned char from[ROOM], got[ROOM], wanted[ROOM];
    fill(from, sizeof from);
    for (size_t size = 0; size < MOST; size++) {
        size_t in = size % SHIFTS, out = size % 7;
        memset(got, 0xa5, sizeof got);
        memset(wanted, 0xa5, sizeof wanted);
        memcpy(wanted + out, from + in, size);
        ck_assert_ptr_eq(plain_memcpy(got + out, from + in, size), got + out);
        ck_assert_mem_eq(got, wanted, sizeof got);
        memset(wanted + out, (int)size, size);
        ck_assert_ptr_eq(plain_memset(got + out, (int)size, size), got + out);
        ck_assert_mem_eq(got, wanted, sizeof got);
    }
}
END_TEST

START_TEST(moves_where_the_two_overlap)
{
    static const int shifts[] = {-700, -33, -16, -15, -8, -7, -1, 0, 1, 3, 8, 9, 16, 31, 300, 700};
    unsigned char from[ROOM], got[ROOM], wanted[ROOM];
    fill(from, sizeof from);
    for (size_t which = 0; which < sizeof shifts / sizeof shifts[0]; which++) {
        for (size_t size = 0; size < MOST; size += size < 100 ? 1 : 37) {
            unsigned char *in = got + 800;
            memcpy(got, from, sizeof got);
            memcpy(wanted, from, sizeof wanted);
            memmove(wanted + 800 + shifts[which], wanted + 800, size);
            ck_assert_ptr_eq(plain_memmove(in + shifts[which], in, size), in + shifts[which]);
            ck_assert_mem_eq(got, wanted, sizeof got);
        }
    }
}
END_TEST

START_TEST(compares_and_finds_bytes)
{
    unsigned char left[256], right[256];
    for (int round = 0; round < 20000; round++) {
        size_t size = (size_t)rand() % 70;
        fill(left, sizeof left);
        memcpy(right, left, sizeof right);
        right[rand() % 90] ^= (unsigned char)(rand() % 3);
        int value = rand() % 300;
        ck_assert_int_eq(sign(plain_memcmp(left, right, size)), sign(memcmp(left, right, size)));
        ck_assert_ptr_eq(plain_memchr(left, value, size), memchr(left, value, size));
        ck_assert_ptr_eq(plain_memrchr(left, value, size), memrchr(left, value, size));
    }
}
END_TEST

static void make_text(char *text)
{
    size_t length = (size_t)rand() % 12;
    for (size_t i = 0; i < length; i++)
        text[i] = "ab/\xff"[rand() % 4];
    text[length] = 0;
}

START_TEST(compares_and_searches_texts)
{
    char left[16], right[16];
    for (int round = 0; round < 20000; round++) {
        size_t most = (size_t)rand() % 14;
        int value = "ab/\xff"[rand() % 5];
        make_text(left);
        make_text(right);
        ck_assert_uint_eq(plain_strlen(left), strlen(left));
        ck_assert_uint_eq(plain_strnlen(left, most), strnlen(left, most));
        ck_assert_int_eq(sign(plain_strcmp(left, right)), sign(strcmp(left, right)));
        ck_assert_int_eq(sign(plain_strncmp(left, right, most)), sign(strncmp(left, right, most)));
        ck_assert_ptr_eq(plain_strchr(left, value), strchr(left, value));
        ck_assert_ptr_eq(plain_strrchr(left, value), strrchr(left, value));
        ck_assert_uint_eq(plain_strspn(left, "a/"), strspn(left, "a/"));
        ck_assert_uint_eq(plain_strcspn(left, "b\xff"), strcspn(left, "b\xff"));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plain");
    TCase *tcase = tcase_create("against the C library");
    tcase_add_test(tcase, copies_every_size_at_every_alignment);
    tcase_add_test(tcase, moves_where_the_two_overlap);
    tcase_add_test(tcase, compares_and_finds_bytes);
    tcase_add_test(tcase, compares_and_searches_texts);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
