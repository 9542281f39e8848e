/* SPDX-License-Identifier: Apache-2.0 */
/* What code proves of its frames: made pieces of it, and all of the C library's against the tables
 * that its compiler wrote. */
#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/suite.h"
#include "unwind/cfi_entry.h"
#include "unwind/code_x86_64.h"
#include "unwind/instruction_x86_64.h"

enum { RBP = 6, RSP = 7, SAME = YARN_SLOT_SAME, LOST = YARN_SLOT_LOST };

#define CODE(text) (const uint8_t *)(text), sizeof(text) - 1

struct row {
    const char *what;
    const uint8_t *code;
    size_t size, at;
    bool is_called;
    unsigned base; /* 0: nothing is proven */
    int cfa_offset, frame, popped;
};

static const struct row rows[] = {
    {"ret", CODE("\xc3"), 0, false, RSP, 8, SAME, 0},
    {"rep ret", CODE("\xf3\xc3"), 0, false, RSP, 8, SAME, 0},
    {"ret $16", CODE("\xc2\x10\0"), 0, false, RSP, 8, SAME, 2},
    {"pop %rbx; ret", CODE("\x5b\xc3"), 0, false, RSP, 16, SAME, 0},
    {"push %rbp to come", CODE("\x55\x48\x89\xe5\x5d\xc3"), 0, false, RSP, 8, SAME, 0},
    {"pop %rbp to come", CODE("\x55\x48\x89\xe5\x5d\xc3"), 4, false, RSP, 16, -2, 0},
    {"leave; ret", CODE("\xc9\xc3"), 0, false, RBP, 16, -2, 0},
    {"add $24, %rsp; pop %rbp; ret", CODE("\x48\x83\xc4\x18\x5d\xc3"), 0, false, RSP, 40, -2, 0},
    {"lea -8(%rbp), %rsp; pop %rbx; pop %rbp; ret", CODE("\x48\x8d\x65\xf8\x5b\x5d\xc3"), 0, false,
     RBP, 16, -2, 0},
    {"mov 8(%rsp), %rbp; add $16, %rsp; ret", CODE("\x48\x8b\x6c\x24\x08\x48\x83\xc4\x10\xc3"), 0,
     false, RSP, 24, -2, 0},
    {"a branch over a ret: both ways agree", CODE("\x74\x02\x5b\xc3\x5b\xc3"), 0, false, RSP, 16,
     SAME, 0},
    {"they do not", CODE("\x74\x02\x5b\xc3\xc3"), 0, false, 0, 0, 0, 0},
    {"jmp over what is no code", CODE("\xeb\x02\x0f\xff\xc3"), 0, false, RSP, 8, SAME, 0},
    {"jmp *8(%rip), as linkage does", CODE("\xff\x25\x08\0\0\0"), 0, false, RSP, 8, SAME, 0},
    {"jmp *%rax: where to?", CODE("\xff\xe0"), 0, false, 0, 0, 0, 0},
    {"leave; jmp *%rax: on to another function", CODE("\xc9\xff\xe0"), 0, false, RBP, 16, -2, 0},
    {"leave; pop %rcx; lea (%rsp,%rax,8), %rsp; push %rcx; ret",
     CODE("\xc9\x59\x48\x8d\x24\xc4\x51\xc3"), 0, false, RBP, 16, -2, YARN_POPPED_UNKNOWN},
    {"mov 16(%rsp), %rax; push %rax; ret", CODE("\x48\x8b\x44\x24\x10\x50\xc3"), 0, false, 0, 0, 0,
     0},
    {"mov (%rdi), %rsp; ret: another stack", CODE("\x48\x8b\x27\xc3"), 0, false, 0, 0, 0, 0},
    {"xchg %rax, %rsp; ret", CODE("\x48\x94\xc3"), 0, false, 0, 0, 0, 0},
    {"and $-16, %rsp; ret", CODE("\x48\x83\xe4\xf0\xc3"), 0, false, 0, 0, 0, 0},
    {"xor %ebp, %ebp; ret", CODE("\x31\xed\xc3"), 0, false, RSP, 8, LOST, 0},
    {"a call in between", CODE("\xe8\x40\0\0\0\x5b\xc3"), 0, false, RSP, 16, SAME, 0},
    {"the next function behind a call", CODE("\xe8\x40\0\0\0\xc3"), 0, false, 0, 0, 0, 0},
    {"the same, from the call on", CODE("\xe8\x40\0\0\0\xc3"), 5, true, 0, 0, 0, 0},
    {"behind a call", CODE("\xe8\x40\0\0\0\x5b\xc3"), 5, true, RSP, 16, SAME, 0},
    {"one place by two depths", CODE("\x74\x01\x50\xe8\x40\0\0\0\x5b\xc3"), 0, false, 0, 0, 0, 0},
    {"exit: mov $60, %eax; syscall", CODE("\x50\xb8\x3c\0\0\0\x0f\x05\xc3"), 1, false, 0, 0, 0, 0},
    {"getpid: mov $39, %eax; syscall", CODE("\xb8\x27\0\0\0\x0f\x05\xc3"), 0, false, RSP, 8, SAME,
     0},
    {"ud2", CODE("\x0f\x0b\xc3"), 0, false, 0, 0, 0, 0},
    {"a call of the next instruction: call +0; pop %rax; ret", CODE("\xe8\0\0\0\0\x58\xc3"), 0,
     false, RSP, 8, SAME, 0},
    {"APX: pop2 %rbx, %rax; ret", CODE("\x62\xf4\x64\x18\x8f\xc0\xc3"), 0, false, 0, 0, 0, 0},
    {"cmpbexadd %rbp, %rbx, (%rax); ret", CODE("\xc4\xe2\xe1\xe6\x28\xc3"), 0, false, RSP, 8, LOST,
     0},
    {"data16 cmp $imm32, %rax; ret", CODE("\x66\x48\x3d\x01\x02\x5d\xc3\xc3"), 0, false, RSP, 8,
     SAME, 0},
    {"rdsspq %rbp; ret", CODE("\xf3\x48\x0f\x1e\xcd\xc3"), 0, false, RSP, 8, LOST, 0},
    {"the 13th word that is stored, twice",
     CODE("\x48\x89\x45\xc0\x48\x89\x45\xb8\x48\x89\x45\xb0\x48\x89\x45\xa8\x48\x89\x45\xa0"
          "\x48\x89\x45\x98\x48\x89\x45\x90\x48\x89\x45\x88\x48\x89\x45\x80\x48\x89\x45\x78"
          "\x48\x89\x6c\x24\x08\x48\x89\x45\x70\x48\x89\x45\x68\x48\x89\x44\x24\x08"
          "\x48\x8b\x6c\x24\x08\xc3"),
     0, false, RSP, 8, LOST, 0},
    {"the frame of who never returns", CODE("\x55\x48\x89\xe5\xe8\x40\0\0\0\x0f\x0b"), 9, true, RBP,
     16, -2, 0},
    {"the same as HotSpot writes it", CODE("\x55\x48\x8b\xec\xe8\x40\0\0\0\x0f\x0b"), 9, true, RBP,
     16, -2, 0},
};

START_TEST(code_proves_where_the_return_address_is_or_nothing)
{
    enum { PADDING = 64, INT3 = 0xcc };
    const struct row *row = &rows[_i];
    uint8_t code[2 * PADDING + 32];
    memset(code, INT3, sizeof code);
    memcpy(code + PADDING, row->code, row->size);
    uint64_t at = (uintptr_t)(code + PADDING + row->at);
    struct yarn_code_extent near;
    struct yarn_rule rule =
        yarn_code_rule_x86_64(NULL, &yarn_target_self, at, row->is_called, &near);
    ck_assert(near.from <= at && near.to > at);
    ck_assert_msg((rule.kind == YARN_RULE_REGISTER) == (row->base != 0), "%s: proven", row->what);
    if (!row->base)
        return;
    ck_assert_msg(rule.base == row->base, "%s: base %d", row->what, rule.base);
    ck_assert_msg(rule.cfa_offset == row->cfa_offset, "%s: cfa %d", row->what, rule.cfa_offset);
    ck_assert_msg(rule.frame == row->frame, "%s: frame %d", row->what, rule.frame);
    ck_assert_msg(rule.popped == row->popped, "%s: popped %d", row->what, rule.popped);
}
END_TEST

START_TEST(a_signal_s_return_is_known_by_its_instructions)
{
    static const uint8_t longer[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05, 0xc3};
    struct yarn_code_extent near;
    struct yarn_rule rule =
        yarn_code_rule_x86_64(NULL, &yarn_target_self, (uint64_t)(uintptr_t)longer, true, &near);
    ck_assert_int_eq(rule.kind, YARN_RULE_SIGNAL);
    ck_assert(rule.is_signal);
}
END_TEST

struct tally {
    size_t nr_all, nr_same, nr_unknown, nr_wrong;
};

static void compare(const struct yarn_image *bare, const struct yarn_fde *fde, uint64_t vaddr,
                    bool is_called, struct tally *tally)
{
    struct yarn_rule want = yarn_machine_native.compile(fde, vaddr - is_called);
    struct yarn_code_extent near;
    struct yarn_rule got = yarn_code_rule_x86_64(bare, &yarn_target_self, vaddr, is_called, &near);
    tally->nr_all++;
    if (got.kind == YARN_RULE_NONE)
        tally->nr_unknown++;
    else if (want.kind == YARN_RULE_REGISTER && want.base == got.base &&
             want.cfa_offset == got.cfa_offset)
        tally->nr_same++;
    else if (want.kind == YARN_RULE_REGISTER && want.base == got.base)
        tally->nr_wrong++;
}

/* What follows a ret or a jump may be padding, of which tables say nothing true. */
static void compare_function(const struct yarn_image *image, const struct yarn_image *bare,
                             const struct yarn_fde *fde, struct tally *tally)
{
    struct yarn_instruction now = {.flow = YARN_FLOW_NEXT};
    for (uint64_t vaddr = fde->start; vaddr < fde->end; vaddr += now.size) {
        bool is_called = now.flow == YARN_FLOW_CALL;
        if (now.flow >= YARN_FLOW_JUMP)
            return;
        if (is_called || vaddr % 5 == 0)
            compare(bare, fde, vaddr, is_called, tally);
        if (!yarn_instruction_read(yarn_image_at(image, vaddr), &now))
            return;
    }
}

START_TEST(what_code_proves_is_what_its_tables_say)
{
    enum { STRIDE = 7 };
    Dl_info info;
    struct yarn_image image, bare;
    struct tally tally = {0};
    ck_assert(dladdr((void *)(uintptr_t)getenv, &info));
    ck_assert_int_eq(yarn_image_open(&image, YARN_FILE_CWD, info.dli_fname), 0);
    yarn_cfi_index_tables(&image);
    bare = image;
    bare.eh_frame_hdr = bare.eh_frame = bare.debug_frame = (struct yarn_section){.vaddr = 0};
    struct yarn_cfi_section in = {.section = image.eh_frame};
    struct yarn_cfi_index index = yarn_cfi_index_of(&in);
    for (size_t i = 0; i < index.count; i += STRIDE) {
        struct yarn_fde fde;
        if (yarn_cfi_find(&image, yarn_cfi_index_start(&index, i), &fde) == 0)
            compare_function(&image, &bare, &fde, &tally);
    }
    printf("%zu places: %zu as the tables say, %zu unknown, %zu otherwise\n", tally.nr_all,
           tally.nr_same, tally.nr_unknown, tally.nr_wrong);
    ck_assert_uint_gt(tally.nr_all, 1000);
    ck_assert_uint_gt(tally.nr_same * 10, tally.nr_all * 8);
    /* Debian's libc says of two functions of assembly that they push nothing, and they do. */
    ck_assert_uint_le(tally.nr_wrong * 500, tally.nr_all);
    yarn_cfi_index_close(&index);
    yarn_image_close(&image);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("code_x86_64");
    TCase *tests = tcase_create("code without tables");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, code_proves_where_the_return_address_is_or_nothing, 0,
                        YARN_COUNT_OF(rows));
    tcase_add_test(tests, a_signal_s_return_is_known_by_its_instructions);
    tcase_add_test(tests, what_code_proves_is_what_its_tables_say);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
