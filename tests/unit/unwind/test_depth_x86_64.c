/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/suite.h"
#include "unwind/cfi_index.h"
#include "unwind/depth_x86_64.h"
#include "unwind/instruction_x86_64.h"
#include "unwind/rule.h"

#define CODE(text) (const uint8_t *)(text), sizeof(text) - 1

/* `depth` is 0 where there must be no answer. */
static const struct row {
    const char *what;
    const uint8_t *code;
    size_t size;
    uint32_t at, depth;
} rows[] = {
    {"begin", CODE("\xc3"), 0, 8},
    {"push %rbp; mov %rsp, %rbp; sub $32, %rsp; call; leave; ret",
     CODE("\x55\x48\x89\xe5\x48\x83\xec\x20\xe8\0\1\0\0\xc9\xc3"), 13, 48},
    {"the same at its ret", CODE("\x55\x48\x89\xe5\x48\x83\xec\x20\xe8\0\1\0\0\xc9\xc3"), 14, 8},
    {"the same without what it saved: lea -8(%rbp), %rsp; pop %rbx; pop %rbp; ret",
     CODE("\x55\x48\x89\xe5\x53\x48\x83\xec\x28\x48\x8d\x65\xf8\x5b\x5d\xc3"), 13, 24},
    {"alloca: sub %rax, %rsp; call; leave; ret",
     CODE("\x55\x48\x89\xe5\x48\x29\xc4\xe8\0\1\0\0\xc9\xc3"), 12, 0},
    {"alloca behind the place: call; sub %rax, %rsp; jmp to the call",
     CODE("\x55\x48\x89\xe5\xe8\0\1\0\0\x48\x29\xc4\xeb\xf6"), 9, 0},
    {"realigned: and $-32, %rsp; call",
     CODE("\x55\x48\x89\xe5\x48\x83\xe4\xe0\xe8\0\1\0\0\xc9\xc3"), 13, 0},
    {"pushes in a loop: push %rax; dec %ecx; jne; call",
     CODE("\x50\xff\xc9\x75\xfb\xe8\0\1\0\0\xc3"), 10, 0},
    {"through a table: jmp *%rax", CODE("\x53\x85\xff\x74\x02\xff\xe0\xe8\0\1\0\0\x5b\xc3"), 12, 0},
    {"through a table: jmp *8(,%rax,8)",
     CODE("\x53\x85\xff\x74\x07\xff\x24\xc5\x08\0\0\0\xe8\0\1\0\0\x5b\xc3"), 17, 0},
    {"another way traps: test; je; ud2; call",
     CODE("\x53\x85\xff\x74\x02\x0f\x0b\xe8\0\1\0\0\x5b\xc3"), 12, 16},
    {"a tail call through a slot: jmp *(%rip)",
     CODE("\x53\x85\xff\x74\x07\x5b\xff\x25\0\1\0\0\x90\xe8\0\1\0\0\x5b\xc3"), 0, 8},
    {"returns with words left: push %rbx; ret", CODE("\x53\xc3"), 1, 0},
    {"not come to: ret; call; ret", CODE("\xc3\xe8\0\1\0\0\xc3"), 6, 0},
    {"rbp is something else: mov %rdi, %rbp; leave", CODE("\x55\x48\x89\xfd\xc9\xc3"), 4, 0},
    {"behind its end", CODE("\xc3"), 1, 0},
};

START_TEST(depth_is_known_or_not_said)
{
    const struct row *row = &rows[_i];
    struct yarn_code_depth depth = {0};
    bool is_known = yarn_code_depth_x86_64(yarn_span_of(row->code, row->size), row->at, &depth);
    ck_assert_msg(is_known == (row->depth != 0), "%s: known", row->what);
    ck_assert_msg(!is_known || depth.bytes == row->depth, "%s: %u", row->what, depth.bytes);
    ck_assert_msg(!is_known || depth.has_frame == (memcmp(row->code, "\x55", 1) == 0), "%s: frame",
                  row->what);
}
END_TEST

/* push %rbp; mov %rsp, %rbp; test; jne 0x80 or 0x90 behind the code; leave; jmp far away; in front
 * of it something that is never come to. */
START_TEST(parts_that_lie_elsewhere_are_said)
{
    static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0x85, 0xff, 0x0f, 0x85,
                                   0x80, 0,    0,    0,    0x75, 0x7e, 0xc9, 0xe9,
                                   0,    0,    1,    0,    0x48, 0x29, 0xc4};
    struct yarn_span span = yarn_span_of(code, sizeof code);
    struct yarn_code_depth depth;
    ck_assert(yarn_code_depth_x86_64(span, 14, &depth));
    ck_assert_uint_eq(depth.bytes, 16);
    ck_assert(depth.has_frame);
    ck_assert_int_eq(depth.first_outside, 12 + 0x80);
    ck_assert_int_eq(depth.last_outside, 14 + 0x7e);
    ck_assert(yarn_code_allocates_x86_64(span));
    ck_assert(!yarn_code_allocates_x86_64(yarn_span_sub(span, 0, 20)));
}
END_TEST

struct tally {
    size_t nr_all, nr_known, nr_wrong;
};

/* Where the table counts from the stack pointer. What follows a jump may be padding. */
static void compare(const struct yarn_image *image, const struct yarn_fde *fde, struct tally *tally)
{
    enum { STACK_POINTER = 7 };
    struct yarn_instruction now = {.flow = YARN_FLOW_NEXT};
    struct yarn_span code = yarn_image_at(image, fde->start);
    struct yarn_rule begin = yarn_machine_native.compile(fde, fde->start);
    if (code.size < fde->end - fde->start || begin.base != STACK_POINTER || begin.cfa_offset != 8)
        return;
    code.size = fde->end - fde->start;
    for (uint32_t at = 0; at < code.size; at += now.size) {
        struct yarn_rule want = yarn_machine_native.compile(fde, fde->start + at);
        struct yarn_code_depth depth;
        bool is_comparable = want.kind == YARN_RULE_REGISTER && want.base == STACK_POINTER;
        bool is_known = is_comparable && yarn_code_depth_x86_64(code, at, &depth);
        tally->nr_all += is_comparable;
        tally->nr_known += is_known;
        tally->nr_wrong += is_known && depth.bytes != (uint32_t)want.cfa_offset;
        if (!yarn_instruction_read(yarn_span_from(code, at), &now))
            return;
    }
}

START_TEST(depth_is_what_the_tables_of_a_library_say)
{
    enum { STRIDE = 7 };
    Dl_info info;
    struct yarn_image image;
    struct tally tally = {0};
    ck_assert(dladdr((void *)(uintptr_t)getenv, &info));
    ck_assert_int_eq(yarn_image_open(&image, YARN_FILE_CWD, info.dli_fname), 0);
    yarn_cfi_index_tables(&image);
    struct yarn_cfi_section in = {.section = image.eh_frame};
    struct yarn_cfi_index index = yarn_cfi_index_of(&in);
    for (size_t i = 0; i < index.count; i += STRIDE) {
        struct yarn_fde fde;
        if (yarn_cfi_find(&image, yarn_cfi_index_start(&index, i), &fde) == 0)
            compare(&image, &fde, &tally);
    }
    printf("%zu places: %zu known, %zu of them otherwise\n", tally.nr_all, tally.nr_known,
           tally.nr_wrong);
    ck_assert_uint_gt(tally.nr_all, 1000);
    /* Most others use rbp for something else: they have no need of this. */
    ck_assert_uint_gt(tally.nr_known * 5, tally.nr_all);
    ck_assert_uint_eq(tally.nr_wrong, 0);
    yarn_cfi_index_close(&index);
    yarn_image_close(&image);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("depth_x86_64");
    TCase *tests = tcase_create("depth of the stack by code");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, depth_is_known_or_not_said, 0, YARN_COUNT_OF(rows));
    tcase_add_test(tests, parts_that_lie_elsewhere_are_said);
    tcase_add_test(tests, depth_is_what_the_tables_of_a_library_say);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
