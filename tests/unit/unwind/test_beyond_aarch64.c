/* SPDX-License-Identifier: Apache-2.0 */
/* Looks beyond the copy of a stack of the other machine: made of words, which lie in this test's
 * own memory as a live stack would, under code that is an ELF file made for it. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/sys/clock.h"
#include "tests/support/made_cfi.h"
#include "tests/support/made_elf.h"
#include "tests/support/suite.h"
#include "unwind/beyond.h"

enum { X29 = 29, X30 = 30, SP = 31, PC = 32, TID = 1 };
enum { FRAMES = 200, IN_COPY = 20, FRAME_WORDS = 4, FRAME_BYTES = 8 * FRAME_WORDS };
enum {
    PAGE = 4096,
    CODE = 0x1000,
    FUNCTION_BYTES = 0x100,
    AFTER_CALL = 0x44,
    AFTER_OTHER_CALL = 0x54
};

#define BASE UINT64_C(0x500000)
#define SIGNATURE UINT64_C(0x00ab000000000000)

static struct made_elf elf;
static struct made_cfi cfi;
static struct yarn_module_map *map;
static struct yarn_walker walker;
static struct yarn_beyond beyond;
static struct yarn_frames frames;
static _Alignas(16) uint64_t words[FRAMES * FRAME_WORDS];
static int proc;

/* Of function 0 the leaf, of function 2 the outermost, which has no caller; else of function 1. */
static uint64_t function_of(unsigned frame)
{
    return CODE + (frame ? frame < FRAMES - 1 ? 1u : 2u : 0u) * FUNCTION_BYTES;
}

static uint8_t code[3 * FUNCTION_BYTES];

/* bl, right before `offset`. */
static void put_call(int offset, int target)
{
    int32_t distance = target - (offset - 4);
    uint32_t bl = UINT32_C(0x94000000) | ((uint32_t)(distance / 4) & 0x3ffffff);
    memcpy(code + offset - 4, &bl, sizeof bl);
}

/* The middle function calls itself, the outermost the middle one; and, elsewhere, the leaf. */
static void put_code(void)
{
    put_call(FUNCTION_BYTES + AFTER_CALL, FUNCTION_BYTES);
    put_call(2 * FUNCTION_BYTES + AFTER_CALL, FUNCTION_BYTES);
    put_call(2 * FUNCTION_BYTES + AFTER_OTHER_CALL, 0);
    uint64_t at = made_elf_put(&elf, code, sizeof code, PAGE);
    ck_assert_uint_eq(at, CODE);
    made_elf_segment(&elf, PT_LOAD, PF_R | PF_X, CODE, at, sizeof code);
}

static void put_tables(void)
{
    cfi = (struct made_cfi){.frame_size = 0};
    made_cfi_cie(&cfi, X30, -8, MADE_BYTES(0x0c, SP, 0));
    for (unsigned i = 0; i < 2; i++) /* CFA sp+32, x29 at CFA-32, x30 at CFA-24 */
        made_cfi_fde(&cfi, CODE + i * FUNCTION_BYTES, FUNCTION_BYTES,
                     MADE_BYTES(0x0e, FRAME_BYTES, 0x80 | X29, 4, 0x80 | X30, 3));
    made_cfi_fde(&cfi, CODE + 2 * FUNCTION_BYTES, FUNCTION_BYTES, MADE_BYTES(0x07, X30));
    made_cfi_end(&cfi);
    uint64_t at = made_elf_put(&elf, cfi.frame, cfi.frame_size, PAGE);
    made_elf_segment(&elf, PT_LOAD, PF_R, MADE_CFI_VADDR, at, cfi.frame_size);
    made_elf_section(&elf, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, MADE_CFI_VADDR, at,
                     cfi.frame_size);
}

static void map_code(void)
{
    char path[64];
    made_elf_begin(&elf, EM_AARCH64);
    put_code();
    put_tables();
    struct yarn_span file = made_elf_end(&elf);
    int fd = memfd_create("code", 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, file.data, file.size), (ssize_t)file.size);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct yarn_mapping mapping = {
        .start = BASE + CODE,
        .end = BASE + CODE + PAGE,
        .file_offset = CODE,
        .path = path,
    };
    ck_assert_int_eq(yarn_module_map_add(map, &mapping), 0);
    ck_assert_ptr_nonnull(yarn_module_map_find(map, BASE + CODE));
    close(fd);
}

static void lay_out_stack(void)
{
    for (unsigned i = 0; i + 1 < FRAMES; i++) {
        words[i * FRAME_WORDS] = (uintptr_t)&words[(i + 1) * FRAME_WORDS];
        words[i * FRAME_WORDS + 1] = SIGNATURE | (BASE + function_of(i + 1) + AFTER_CALL);
    }
}

static void set_up(void)
{
    proc = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(proc, 0);
    ck_assert_int_eq(yarn_module_map_new(&map, proc), 0);
    map_code();
    lay_out_stack();
    walker = (struct yarn_walker){.map = map, .machine = &yarn_machine_aarch64};
    ck_assert_int_eq(yarn_rule_cache_open(&walker.cache, map, walker.machine), 0);
    (void)yarn_rule_cache_refresh(&walker.cache);
    ck_assert_int_eq(yarn_beyond_open(&beyond, proc), 0);
}

static void tear_down(void)
{
    yarn_beyond_close(&beyond);
    yarn_rule_cache_close(&walker.cache);
    yarn_module_map_free(map);
    close(proc);
}

/* Of a copy of the innermost frames. */
static struct yarn_walk walk_copy(unsigned nr_frames, struct yarn_stack_copy *ret_copy)
{
    struct yarn_walk walk;
    struct yarn_registers registers = {
        .valid = (UINT64_C(1) << (PC + 1)) - 1,
        .ip = BASE + function_of(0) + AFTER_CALL,
        .sp = (uintptr_t)words,
    };
    registers.value[X29] = registers.sp;
    *ret_copy = (struct yarn_stack_copy){
        .start = registers.sp,
        .first = yarn_span_of(words, (size_t)nr_frames * FRAME_BYTES),
    };
    frames.count = 0;
    yarn_walker_walk(&walker, &registers, ret_copy, &frames, &walk);
    ck_assert_int_eq(frames.end, YARN_UNWIND_TRUNCATED);
    ck_assert_uint_eq(frames.count, nr_frames + 1);
    return walk;
}

static bool read_beyond(void)
{
    struct yarn_stack_copy copy;
    struct yarn_walk walk = walk_copy(IN_COPY, &copy);
    return yarn_beyond_read(&beyond, &walk, TID, yarn_clock_ns(YARN_TIME_MONOTONIC));
}

static void assert_whole(void)
{
    ck_assert_int_eq(frames.end, YARN_UNWIND_COMPLETE);
    ck_assert_uint_eq(frames.count, FRAMES);
    for (unsigned i = 1; i < FRAMES; i++)
        ck_assert_uint_eq(frames.frame[i].ip, BASE + function_of(i) + AFTER_CALL);
}

START_TEST(what_lies_beyond_the_copy_is_read_and_believed)
{
    ck_assert(read_beyond());
    assert_whole();
}
END_TEST

START_TEST(a_return_address_that_has_gone_refutes_it)
{
    struct yarn_stack_copy copy;
    static uint64_t copied[IN_COPY * FRAME_WORDS];
    struct yarn_walk walk = walk_copy(IN_COPY, &copy);
    memcpy(copied, words, sizeof copied);
    copy.first = yarn_span_of(copied, sizeof copied);
    words[(IN_COPY - 1) * FRAME_WORDS + 1] += 4;
    ck_assert(!yarn_beyond_read(&beyond, &walk, TID, yarn_clock_ns(YARN_TIME_MONOTONIC)));
}
END_TEST

START_TEST(a_signature_is_no_part_of_the_address)
{
    struct yarn_stack_copy copy;
    struct yarn_walk walk = walk_copy(IN_COPY, &copy);
    words[(IN_COPY - 1) * FRAME_WORDS + 1] ^= SIGNATURE << 1;
    ck_assert(yarn_beyond_read(&beyond, &walk, TID, yarn_clock_ns(YARN_TIME_MONOTONIC)));
    assert_whole();
}
END_TEST

/* The leaf may have its return address in x30: its word alone proves nothing. */
START_TEST(the_leaf_s_own_word_is_no_proof)
{
    struct yarn_stack_copy copy;
    struct yarn_walk walk = walk_copy(2, &copy); /* one frame with a word beside the leaf */
    ck_assert(!yarn_beyond_read(&beyond, &walk, TID, yarn_clock_ns(YARN_TIME_MONOTONIC)));
}
END_TEST

START_TEST(the_call_of_the_cut_frame_is_found_later)
{
    struct yarn_stack_copy copy;
    struct yarn_walk walk = walk_copy(IN_COPY, &copy);
    frames.count = 1;
    ck_assert(yarn_beyond_follow(&beyond, &walk));
    ck_assert_int_eq(frames.end, YARN_UNWIND_COMPLETE);
    ck_assert_uint_eq(frames.count, FRAMES - IN_COPY);
}
END_TEST

START_TEST(the_call_of_another_function_is_not_taken_for_it)
{
    struct yarn_stack_copy copy;
    struct yarn_walk walk = walk_copy(FRAMES - 2, &copy);
    words[(FRAMES - 2) * FRAME_WORDS + 1] += AFTER_OTHER_CALL - AFTER_CALL;
    frames.count = 1;
    ck_assert(!yarn_beyond_follow(&beyond, &walk));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("beyond_aarch64");
    TCase *tests = tcase_create("a made stack");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, what_lies_beyond_the_copy_is_read_and_believed);
    tcase_add_test(tests, a_return_address_that_has_gone_refutes_it);
    tcase_add_test(tests, a_signature_is_no_part_of_the_address);
    tcase_add_test(tests, the_leaf_s_own_word_is_no_proof);
    tcase_add_test(tests, the_call_of_the_cut_frame_is_found_later);
    tcase_add_test(tests, the_call_of_another_function_is_not_taken_for_it);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
