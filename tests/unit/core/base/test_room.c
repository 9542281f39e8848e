/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <sys/mman.h>

#include "core/base/kept_pages.h"
#include "core/base/pages.h"
#include "core/base/room.h"
#include "tests/support/suite.h"

enum { SIZE = 1 << 20 };

static bool grows(const struct yarn_room *room)
{
    return room->backed < room->size;
}

START_TEST(room_grows_in_place_and_keeps_what_it_has)
{
    struct yarn_room room;
    yarn_room_open(&room, SIZE);
    ck_assert_ptr_null(room.base);
    ck_assert(yarn_room_back(&room, 100));
    uint8_t *base = room.base;
    memset(base, 7, 100);
    ck_assert(yarn_room_back(&room, SIZE / 2));
    ck_assert_ptr_eq(room.base, base);
    ck_assert_uint_eq(base[99], 7);
    ck_assert_uint_eq(base[SIZE / 2 - 1], 0);
    base[SIZE / 2 - 1] = 1;
    ck_assert(yarn_room_back(&room, SIZE));
    ck_assert(!yarn_room_back(&room, SIZE + 1));
    yarn_room_close(&room);
    yarn_room_open(&room, SIZE);
    for (size_t size = 1; size <= SIZE; size += 1000) {
        ck_assert(yarn_room_back(&room, size));
        room.base[size - 1] = 1;
    }
    yarn_room_close(&room);
    ck_assert_ptr_null(room.base);
    yarn_room_close(&room);
}
END_TEST

START_TEST(little_is_mapped_where_little_is_needed)
{
    struct yarn_room room;
    yarn_room_open(&room, SIZE);
    ck_assert_uint_eq(room.backed, 0);
    ck_assert(yarn_room_back(&room, YARN_KIB(17)));
    /* A sanitizer has the addresses. */
    ck_assert(!grows(&room) || room.backed <= YARN_KIB(64));
    yarn_room_close(&room);
}
END_TEST

/* As where the host has mapped something there after all. */
START_TEST(room_ends_where_somebody_else_is)
{
    struct yarn_room room;
    yarn_room_open(&room, SIZE);
    ck_assert(yarn_room_back(&room, 1));
    if (!grows(&room))
        return;
    uint8_t *other = mmap(room.base + room.backed, 4096, PROT_READ,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    ck_assert_ptr_eq(other, room.base + room.backed);
    ck_assert(!yarn_room_back(&room, room.backed + 1));
    ck_assert(yarn_room_back(&room, room.backed));
    yarn_room_close(&room);
    ck_assert_int_eq(other[0], 0);
}
END_TEST

START_TEST(cap_counts_what_is_mapped)
{
    struct yarn_room room;
    yarn_room_open(&room, SIZE);
    ck_assert(yarn_room_back(&room, 1));
    bool has_place = grows(&room);
    yarn_room_close(&room);
    if (!has_place)
        return;
    yarn_pages_cap(SIZE / 2);
    yarn_room_open(&room, SIZE);
    ck_assert(yarn_room_back(&room, SIZE / 4));
    ck_assert(!yarn_room_back(&room, SIZE));
    yarn_room_close(&room);
    yarn_pages_cap(0);
}
END_TEST

START_TEST(kept_room_is_had_again_zeroed_and_grows)
{
    struct yarn_room room;
    yarn_pages_keep_released();
    yarn_room_open(&room, SIZE);
    ck_assert(yarn_room_back(&room, 1));
    if (!grows(&room))
        return;
    uint8_t *base = room.base;
    memset(base, 7, room.backed);
    yarn_room_close(&room);
    yarn_room_open(&room, SIZE / 2);
    ck_assert(yarn_room_back(&room, 1));
    ck_assert_ptr_ne(room.base, base);
    yarn_room_open(&room, SIZE);
    ck_assert(yarn_room_back(&room, YARN_KIB(64)));
    ck_assert_ptr_eq(room.base, base);
    ck_assert_uint_ge(room.backed, YARN_KIB(64));
    for (size_t i = 0; i < YARN_KIB(64); i += 512)
        ck_assert_int_eq(base[i], 0);
    yarn_room_close(&room);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("room");
    TCase *tcase = tcase_create("");
    tcase_add_test(tcase, room_grows_in_place_and_keeps_what_it_has);
    tcase_add_test(tcase, little_is_mapped_where_little_is_needed);
    tcase_add_test(tcase, room_ends_where_somebody_else_is);
    tcase_add_test(tcase, cap_counts_what_is_mapped);
    tcase_add_test(tcase, kept_room_is_had_again_zeroed_and_grows);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
