/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "core/event/trace_format.h"
#include "tests/support/suite.h"

#define FIELD(declaration, offset, size, sign)                                                     \
    "\tfield:" declaration ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #sign ";\n"

/* As the kernel writes them. */
static const char format[] =
    "name: made\nID: 331\nformat:\n" FIELD("unsigned short common_type", 0, 2, 0)
        FIELD("unsigned char common_flags", 2, 1, 0) FIELD("int common_pid", 4, 4, 1) "\n" FIELD(
            "int nr", 8, 4, 1) FIELD("unsigned int fd", 12, 8, 0) FIELD("char comm[8]", 20, 8, 0)
            FIELD("u16 ports[3]", 28, 6, 0) FIELD("void * at", 34, 8, 0)
                FIELD("__data_loc char[] name", 42, 4, 0) FIELD("__rel_loc s32[] turns", 46, 4, 1)
                    FIELD("bool ok", 50, 1, 0) "\nprint fmt: \"field:int never; offset:0\"\n";

static struct {
    uint16_t type;
    uint8_t flags, count;
    int32_t pid, nr;
    uint64_t fd;
    char comm[8];
    uint16_t ports[3];
    uint64_t at;
    uint32_t name, turns;
    uint8_t ok;
    char text[6];
    int32_t turned[2];
} __attribute__((packed)) raw = {
    .type = 331,
    .pid = 77,
    .nr = -5,
    .fd = UINT64_C(0x100000003),
    .comm = "worker",
    .ports = {1, 2, 65535},
    .at = 0xdead0000,
    .name = 51 | 6 << 16,
    .turns = (57 - 50) | 8 << 16,
    .ok = 1,
    .text = "hello",
    .turned = {-1, 2},
};

static struct yarn_span whole(void)
{
    return yarn_span_of(&raw, sizeof raw);
}

static const char *shown(const char *name, struct yarn_span bytes)
{
    static char buffer[128];
    struct yarn_trace_field field;
    struct yarn_text text = yarn_text_of(buffer, sizeof buffer);
    ck_assert_msg(
        yarn_trace_format_find(yarn_span_of_text(format), yarn_span_of_text(name), &field), "%s",
        name);
    yarn_trace_field_show(&field, bytes, &text);
    return buffer;
}

START_TEST(the_number_of_the_event_stands_in_it)
{
    ck_assert_uint_eq(yarn_trace_format_id(yarn_span_of_text(format)), 331);
    ck_assert_uint_eq(yarn_trace_format_id(yarn_span_of_text("name: x\nID: y\n")), 0);
}
END_TEST

START_TEST(fields_are_of_the_stated_size_and_sign)
{
    ck_assert_str_eq(shown("nr", whole()), "-5");
    ck_assert_str_eq(shown("fd", whole()), "4294967299"); /* an "unsigned int" of 8 bytes */
    ck_assert_str_eq(shown("common_pid", whole()), "77");
    ck_assert_str_eq(shown("at", whole()), "0xdead0000");
    ck_assert_str_eq(shown("ok", whole()), "1");
}
END_TEST

START_TEST(arrays_and_texts_are_whole)
{
    ck_assert_str_eq(shown("comm", whole()), "worker");
    ck_assert_str_eq(shown("ports", whole()), "1,2,65535");
}
END_TEST

START_TEST(what_is_located_is_followed)
{
    ck_assert_str_eq(shown("name", whole()), "hello");
    ck_assert_str_eq(shown("turns", whole()), "-1,2");
}
END_TEST

START_TEST(what_lies_outside_of_the_sample_is_nothing)
{
    for (size_t size = 0; size < sizeof raw; size++) {
        struct yarn_span cut = yarn_span_sub(whole(), 0, size);
        struct yarn_span rest = yarn_span_of_text(format);
        struct yarn_trace_field field;
        while (yarn_trace_format_next(&rest, &field))
            ck_assert_uint_le(yarn_trace_field_bytes(&field, cut).size, size);
    }
    ck_assert_str_eq(shown("name", yarn_span_sub(whole(), 0, 53)), "");
}
END_TEST

START_TEST(what_is_no_field_is_passed_over)
{
    size_t count = 0;
    struct yarn_trace_field field;
    struct yarn_span rest = yarn_span_of_text(format);
    while (yarn_trace_format_next(&rest, &field))
        count++;
    ck_assert_uint_eq(count, 11);
    ck_assert(
        !yarn_trace_format_find(yarn_span_of_text(format), yarn_span_of_text("never"), &field));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("formats of tracepoints");
    TCase *tcase = tcase_create("as the kernel writes them");
    tcase_add_test(tcase, the_number_of_the_event_stands_in_it);
    tcase_add_test(tcase, fields_are_of_the_stated_size_and_sign);
    tcase_add_test(tcase, arrays_and_texts_are_whole);
    tcase_add_test(tcase, what_is_located_is_followed);
    tcase_add_test(tcase, what_lies_outside_of_the_sample_is_nothing);
    tcase_add_test(tcase, what_is_no_field_is_passed_over);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
