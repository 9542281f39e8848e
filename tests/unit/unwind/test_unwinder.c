/* SPDX-License-Identifier: Apache-2.0 */
#include <alloca.h>
#include <check.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/pages.h"
#include "tests/support/live_stack.h"
#include "tests/support/suite.h"

enum { DEEP = 1000 };

static struct yarn_module_map *map;
static struct yarn_unwinder *automatic, *oracle;
static struct yarn_live_stack live;
static struct yarn_frames by_auto, by_oracle;

static void open_unwinders(void)
{
    ck_assert_int_eq(yarn_module_map_new(&map, &yarn_target_self, NULL), 0);
    ck_assert_int_eq(yarn_module_map_read_proc(map, 0), 0);
    ck_assert_int_eq(yarn_unwinder_new(&automatic, YARN_UNWINDER_AUTO, map), 0);
    ck_assert_int_eq(yarn_unwinder_new(&oracle, YARN_UNWINDER_LIBUNWIND, map), 0);
}

static void close_unwinders(void)
{
    yarn_unwinder_free(automatic);
    yarn_unwinder_free(oracle);
    yarn_module_map_free(map);
}

static void print_frames(const char *who, const struct yarn_frames *frames)
{
    (void)fprintf(stderr, "%s: end %d\n", who, frames->end);
    for (unsigned i = 0; i < frames->count && i < 12; i++) {
        const struct yarn_unwind_frame *frame = &frames->frame[i];
        (void)fprintf(stderr, "  %#lx %s+%#lx\n", (unsigned long)frame->ip,
                      frame->module ? frame->module->path : "?",
                      (unsigned long)(frame->module ? frame->ip - frame->module->bias : 0));
    }
}

static bool are_equal(const struct yarn_frames *a, const struct yarn_frames *b)
{
    if (a->count != b->count || a->end != b->end)
        return false;
    for (unsigned i = 0; i < a->count; i++)
        if (a->frame[i].ip != b->frame[i].ip || a->frame[i].lookup_ip != b->frame[i].lookup_ip ||
            a->frame[i].module != b->frame[i].module)
            return false;
    return true;
}

static void unwind_both(void)
{
    yarn_unwinder_unwind(automatic, &live.registers, &live.stack, &by_auto);
    yarn_unwinder_unwind(oracle, &live.registers, &live.stack, &by_oracle);
}

static void assert_whole(void)
{
    unwind_both();
    if (!are_equal(&by_auto, &by_oracle) || by_auto.end != YARN_STACK_END_COMPLETE) {
        print_frames("automatic", &by_auto);
        print_frames("libunwind", &by_oracle);
    }
    ck_assert(are_equal(&by_auto, &by_oracle));
    ck_assert_int_eq(by_auto.end, YARN_STACK_END_COMPLETE);
}

/* How many frames lie in the `size` bytes of code from `start`. */
static unsigned frames_in(const struct yarn_frames *frames, uintptr_t start, size_t size)
{
    unsigned count = 0;
    for (unsigned i = 0; i < frames->count; i++)
        count += frames->frame[i].lookup_ip - start < size;
    return count;
}

START_TEST(a_stack_is_walked_to_its_start)
{
    yarn_live_stack_take(&live, YARN_LIVE_STACK_MAX);
    assert_whole();
    ck_assert_uint_ge(by_auto.count, 5);
    ck_assert_uint_eq(by_auto.frame[0].ip, live.registers.ip);
    ck_assert_uint_eq(by_auto.frame[0].lookup_ip, live.registers.ip);
    ck_assert_uint_eq(by_auto.frame[1].lookup_ip, by_auto.frame[1].ip - 1);
}
END_TEST

__attribute__((noinline)) static unsigned descend(unsigned depth, size_t max)
{
    volatile unsigned below = 0;
    if (depth)
        below = descend(depth - 1, max);
    else
        yarn_live_stack_take(&live, max);
    return below + 1;
}

START_TEST(a_thousand_frames_are_a_thousand_frames)
{
    ck_assert_uint_eq(descend(DEEP, YARN_LIVE_STACK_MAX), DEEP + 1);
    assert_whole();
    ck_assert_uint_ge(frames_in(&by_auto, (uintptr_t)descend, 400), DEEP);
}
END_TEST

START_TEST(more_frames_than_fit_are_cut_off)
{
    (void)descend(YARN_FRAMES_MAX + 10, YARN_LIVE_STACK_MAX);
    unwind_both();
    ck_assert(are_equal(&by_auto, &by_oracle));
    ck_assert_uint_eq(by_auto.count, YARN_FRAMES_MAX);
    ck_assert_int_eq(by_auto.end, YARN_STACK_END_CUT);
}
END_TEST

static int compare_and_take(const void *a, const void *b)
{
    yarn_live_stack_take(&live, YARN_LIVE_STACK_MAX);
    return *(const int *)a - *(const int *)b;
}

START_TEST(a_callback_of_the_c_library_is_walked_through_it)
{
    int numbers[] = {5, 3, 1, 4};
    qsort(numbers, YARN_COUNT_OF(numbers), sizeof numbers[0], compare_and_take);
    assert_whole();
    ck_assert_uint_ge(by_auto.count, 7);
}
END_TEST

static void take_in_handler(int number)
{
    (void)number;
    yarn_live_stack_take(&live, YARN_LIVE_STACK_MAX);
}

START_TEST(a_signal_handler_is_walked_into_what_it_interrupted)
{
    ck_assert(signal(SIGUSR1, take_in_handler) != SIG_ERR);
    ck_assert_int_eq(raise(SIGUSR1), 0);
    assert_whole();
    unsigned nr_exact = 0;
    for (unsigned i = 1; i < by_auto.count; i++)
        nr_exact += by_auto.frame[i].ip == by_auto.frame[i].lookup_ip;
    ck_assert_uint_eq(nr_exact, 1);
}
END_TEST

START_TEST(a_handler_s_own_stack_ends_at_the_interrupted_frame)
{
    static _Alignas(16) char own[1 << 16];
    stack_t stack = {.ss_sp = own, .ss_size = sizeof own};
    struct sigaction action = {.sa_handler = take_in_handler, .sa_flags = SA_ONSTACK};
    ck_assert_int_eq(sigaltstack(&stack, NULL), 0);
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    ck_assert_int_eq(raise(SIGUSR1), 0);
    live.stack.first.size = (size_t)((uintptr_t)own + sizeof own - live.stack.start);
    unwind_both();
    ck_assert(are_equal(&by_auto, &by_oracle));
    ck_assert_int_eq(by_auto.end, YARN_STACK_END_CUT);
    const struct yarn_unwind_frame *last = &by_auto.frame[by_auto.count - 1];
    ck_assert_uint_eq(last->ip, last->lookup_ip);
}
END_TEST

__attribute__((noinline)) static int take_realigned(size_t size)
{
    volatile _Alignas(128) char aligned[256];
    volatile char *moved = alloca(size);
    volatile char variable[size];
    aligned[0] = moved[0] = variable[0] = 1;
    yarn_live_stack_take(&live, YARN_LIVE_STACK_MAX);
    return aligned[0] + moved[0] + variable[0];
}

START_TEST(realigned_frames_of_variable_size_are_walked)
{
    ck_assert_int_eq(take_realigned(300), 3);
    assert_whole();
}
END_TEST

static void take_here(void)
{
    yarn_live_stack_take(&live, YARN_LIVE_STACK_MAX);
}

/* Frames that hang on r12, which rules do not follow: once as a register, once by an expression
 * (DW_CFA_def_cfa_expression, breg12 16), and one that says that rbp is in r13. */
void hang_on_r12(void (*call)(void));
void hang_on_r12_by_expression(void (*call)(void));
void keep_rbp_in_r13(void (*call)(void));
#define HANG(name, cfa)                                                                            \
    __asm__(".text\n.type " name ",@function\n" name ":\n.cfi_startproc\n"                         \
            "push %r12\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %r12, 0\n"                       \
            "mov %rsp, %r12\n" cfa "\n"                                                            \
            "sub $96, %rsp\ncall *%rdi\nmov %r12, %rsp\n.cfi_def_cfa %rsp, 16\n"                   \
            "pop %r12\n.cfi_adjust_cfa_offset -8\n.cfi_restore %r12\nret\n.cfi_endproc\n")
HANG("hang_on_r12", ".cfi_def_cfa %r12, 16");
HANG("hang_on_r12_by_expression", ".cfi_escape 0x0f, 0x02, 0x7c, 0x10");
__asm__(".text\n.type keep_rbp_in_r13,@function\nkeep_rbp_in_r13:\n.cfi_startproc\n"
        "push %r13\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %r13, 0\n"
        "mov %rbp, %r13\n.cfi_register %rbp, %r13\nxor %ebp, %ebp\ncall *%rdi\n"
        "mov %r13, %rbp\n.cfi_restore %rbp\n"
        "pop %r13\n.cfi_adjust_cfa_offset -8\n.cfi_restore %r13\nret\n.cfi_endproc\n");

static void (*const hangers[])(void (*)(void)) = {hang_on_r12, hang_on_r12_by_expression,
                                                  keep_rbp_in_r13};

START_TEST(rows_beyond_our_rules_are_walked_by_libunwind_from_the_leaf)
{
    volatile int below = 1;
    hangers[_i](take_here);
    assert_whole();
    ck_assert_uint_eq(frames_in(&by_auto, (uintptr_t)hangers[_i], 16), 1);
    ck_assert_int_eq(below, 1);
}
END_TEST

typedef void (*generated_fn)(void (*call)(void));

/* As a JIT would: code on pages of no file. */
static generated_fn generate(const uint8_t *code, size_t size)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(page != MAP_FAILED);
    memcpy(page, code, size);
    ck_assert_int_eq(mprotect(page, 4096, PROT_READ | PROT_EXEC), 0);
    generated_fn function;
    memcpy(&function, &page, sizeof function);
    return function;
}

/* push %rbp; mov %rsp,%rbp; call *%rdi; leave; ret */
static const uint8_t framed[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0xc9, 0xc3};
enum { FRAMED_CALL_END = 6 };
/* push %rbp; xor %ebp,%ebp; call *%rdi; pop %rbp; ret */
static const uint8_t unframed[] = {0x55, 0x31, 0xed, 0xff, 0xd7, 0x5d, 0xc3};

START_TEST(generated_code_is_walked_by_its_frame_pointer)
{
    volatile int below = 1;
    generated_fn function = generate(framed, sizeof framed);
    if (_i) /* known as a mapping without a file, or not known at all */
        ck_assert_int_eq(yarn_module_map_read_proc(map, 1), 0);
    function(take_here);
    assert_whole();
    ck_assert_uint_eq(frames_in(&by_auto, (uintptr_t)function + FRAMED_CALL_END - 1, 1), 1);
    ck_assert_int_eq(below, 1);
}
END_TEST

/* As HotSpot's interpreter calls: it pushes where it goes on, here twice, as adapters leave it, and
 * jumps there (to the second argument, which is handed the first).
 * push %rbp; mov %rsp,%rbp; sub $24,%rsp; lea 8(%rip),%rax; push %rax; mov %rsp,-16(%rbp);
 * push %rax; jmp *%rsi; mov -16(%rbp),%rsp; movq $0,-16(%rbp); leave; ret */
static const uint8_t interpreter[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x18, 0x48, 0x8d,
                                      0x05, 8,    0,    0,    0,    0x50, 0x48, 0x89, 0x65, 0xf0,
                                      0x50, 0xff, 0xe6, 0x48, 0x8b, 0x65, 0xf0, 0x48, 0xc7, 0x45,
                                      0xf0, 0,    0,    0,    0,    0xc9, 0xc3};

START_TEST(generated_code_is_walked_to_an_interpreter_that_jumped_there)
{
    volatile int below = 1;
    generated_fn function = generate(framed, sizeof framed);
    generated_fn made = generate(interpreter, sizeof interpreter);
    void (*interpret)(void (*call)(void), generated_fn function);
    memcpy(&interpret, &made, sizeof interpret);
    ck_assert_int_eq(yarn_module_map_read_proc(map, 1), 0);
    interpret(take_here, function);
    assert_whole();
    ck_assert_uint_eq(frames_in(&by_auto, (uintptr_t)function, sizeof framed), 1);
    ck_assert_uint_eq(frames_in(&by_auto, (uintptr_t)made, sizeof interpreter), 1);
    ck_assert_int_eq(below, 1);
}
END_TEST

/* As code that HotSpot compiled calls its interpreter: by an adapter that puts room for arguments
 * below the return address. A stale word behind a call keeps the frame pointer from being believed.
 * push %rbp; mov %rsp,%rbp; sub $32,%rsp; lea 10(%rip),%rax; mov %rax,8(%rsp); call 1f;
 * add $32,%rsp; pop %rbp; ret; 1: pop %rax; mov %rsp,%r11; sub $16,%rsp; push %rax; push %rbp;
 * mov %rsp,%rbp; push %r11; sub $16,%rsp; lea 8(%rip),%rax; push %rax; mov %rsp,-16(%rbp);
 * push %rax; jmp *%rsi; mov -16(%rbp),%rsp; movq $0,-16(%rbp); mov -8(%rbp),%r11; leave; pop %rcx;
 * mov %r11,%rsp; jmp *%rcx */
static const uint8_t adapted[] = {
    0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20, 0x48, 0x8d, 0x05, 10,   0,    0,    0,
    0x48, 0x89, 0x44, 0x24, 8,    0xe8, 6,    0,    0,    0,    0x48, 0x83, 0xc4, 0x20, 0x5d,
    0xc3, 0x58, 0x49, 0x89, 0xe3, 0x48, 0x83, 0xec, 0x10, 0x50, 0x55, 0x48, 0x89, 0xe5, 0x41,
    0x53, 0x48, 0x83, 0xec, 0x10, 0x48, 0x8d, 0x05, 8,    0,    0,    0,    0x50, 0x48, 0x89,
    0x65, 0xf0, 0x50, 0xff, 0xe6, 0x48, 0x8b, 0x65, 0xf0, 0x48, 0xc7, 0x45, 0xf0, 0,    0,
    0,    0,    0x4c, 0x8b, 0x5d, 0xf8, 0xc9, 0x59, 0x4c, 0x89, 0xdc, 0xff, 0xe1};

START_TEST(an_interpreter_gives_back_the_stack_pointer_from_before_its_adapter)
{
    volatile int below = 1;
    generated_fn function = generate(framed, sizeof framed);
    generated_fn made = generate(adapted, sizeof adapted);
    void (*interpret)(void (*call)(void), generated_fn function);
    memcpy(&interpret, &made, sizeof interpret);
    ck_assert_int_eq(yarn_module_map_read_proc(map, 1), 0);
    interpret(take_here, function);
    assert_whole();
    ck_assert_uint_eq(frames_in(&by_auto, (uintptr_t)function, sizeof framed), 1);
    ck_assert_uint_eq(frames_in(&by_auto, (uintptr_t)made, sizeof adapted), 2);
    ck_assert_int_eq(below, 1);
}
END_TEST

START_TEST(generated_code_without_frames_is_walked_by_what_it_does_until_it_returns)
{
    volatile int below = 1;
    generated_fn function = generate(unframed, sizeof unframed);
    function(take_here);
    assert_whole();
    ck_assert_uint_eq(frames_in(&by_auto, (uintptr_t)function, sizeof unframed), 1);
    ck_assert_int_eq(below, 1);
}
END_TEST

/* A return, or a jump through a table; code that changes and then returns to a zero. */
static const struct {
    uint8_t code[16];
    size_t call_end, changed;
} wild[] = {
    /* push %rbp; xor %ebp,%ebp; call *%rdi; pop %rbp; pop %rax; jmp *%rax */
    {{0x55, 0x31, 0xed, 0xff, 0xd7, 0x5d, 0x58, 0xff, 0xe0}, 5, 15},
    /* push %rbp; push $0; push $0; xor %ebp,%ebp; call *%rdi; pop %rax; pop %rax; pop %rbp; ret */
    {{0x55, 0x6a, 0, 0x6a, 0, 0x31, 0xed, 0xff, 0xd7, 0x58, 0x58, 0x5d, 0xc3}, 9, 10},
};

START_TEST(generated_code_that_cannot_be_followed_ends_the_walk_and_says_so)
{
    uint8_t *code;
    generated_fn function = generate(wild[_i].code, sizeof wild[_i].code);
    function(take_here);
    memcpy(&code, &function, sizeof code);
    (void)mprotect(code, 4096, PROT_READ | PROT_WRITE);
    code[wild[_i].changed] = 0xc3;
    unwind_both();
    ck_assert(are_equal(&by_auto, &by_oracle));
    ck_assert_int_eq(by_auto.end, YARN_STACK_END_NO_INFO);
    ck_assert_uint_eq(by_auto.frame[by_auto.count - 1].ip, (uintptr_t)code + wild[_i].call_end);
}
END_TEST

static void *take_in_thread(void *unused)
{
    (void)unused;
    yarn_live_stack_take(&live, YARN_LIVE_STACK_MAX);
    return NULL;
}

START_TEST(a_thread_s_stack_is_walked_to_its_clone)
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, take_in_thread, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    assert_whole();
    ck_assert_uint_ge(by_auto.count, 4);
}
END_TEST

/* Nothing that another sample of the same frames showed is put in the place of what is missing. */
START_TEST(a_short_copy_is_cut_off_whatever_was_walked_before)
{
    enum { SHORT = 4096 };
    (void)descend(400, YARN_LIVE_STACK_MAX);
    assert_whole();
    unsigned whole = by_auto.count;
    live.stack.first.size = SHORT;
    unwind_both();
    ck_assert_int_eq(by_auto.end, YARN_STACK_END_CUT);
    ck_assert_uint_lt(by_auto.count, whole);
    ck_assert(are_equal(&by_auto, &by_oracle));
}
END_TEST

START_TEST(every_length_of_the_copy_is_walked_within_it)
{
    (void)descend(30, YARN_LIVE_STACK_MAX);
    size_t whole = live.stack.first.size;
    for (size_t size = 1; size < yarn_size_min(whole, 6000); size += 3) {
        uint8_t *copy = malloc(size); /* of exactly that size, for the sanitizer */
        ck_assert_ptr_nonnull(copy);
        memcpy(copy, live.word, size);
        live.stack.first = yarn_span_of(copy, size / 3);
        live.stack.second = yarn_span_of(copy + size / 3, size - size / 3);
        if (!live.stack.first.size)
            live.stack.first = live.stack.second, live.stack.second = YARN_SPAN_EMPTY;
        unwind_both();
        ck_assert_uint_ge(by_auto.count, 1);
        ck_assert(are_equal(&by_auto, &by_oracle));
        ck_assert(by_auto.end == YARN_STACK_END_CUT || by_auto.end == YARN_STACK_END_COMPLETE);
        free(copy);
    }
}
END_TEST

START_TEST(without_registers_the_leaf_is_all)
{
    yarn_live_stack_take(&live, YARN_LIVE_STACK_MAX);
    live.registers.valid = 0;
    unwind_both();
    ck_assert_int_eq(by_auto.end, YARN_STACK_END_ABSENT);
    ck_assert_uint_eq(by_auto.count, 1);
    ck_assert_uint_eq(by_auto.frame[0].ip, live.registers.ip);
    ck_assert_ptr_nonnull(by_auto.frame[0].module);
}
END_TEST

START_TEST(a_leaf_in_no_module_has_no_unwind_info)
{
    yarn_live_stack_take(&live, YARN_LIVE_STACK_MAX);
    live.registers.ip = 0x10000;
    live.registers.value[6] = 0;
    live.word[0] = 0;
    unwind_both();
    ck_assert_int_eq(by_auto.end, YARN_STACK_END_NO_INFO);
    ck_assert_uint_eq(by_auto.count, 1);
    ck_assert_ptr_null(by_auto.frame[0].module);
    ck_assert(are_equal(&by_auto, &by_oracle));
}
END_TEST

/* The live stack as it was at the moment of the call by the innermost caller: the return address at
 * sp, nothing of the callee yet. Below it may lie remains of earlier calls from there. */
static uint64_t go_back_to_the_call(void)
{
    void (*volatile pointer)(struct yarn_live_stack *, size_t) = yarn_live_stack_take;
    pointer(&live, YARN_LIVE_STACK_MAX);
    unwind_both();
    uint64_t caller = by_auto.frame[1].ip;
    size_t nr_words = live.stack.first.size / 8, at = 0;
    for (size_t i = 0; i < nr_words; i++)
        at = live.word[i] == caller ? i : at;
    live.stack.start += 8 * at;
    live.stack.first = yarn_span_from(live.stack.first, 8 * at);
    live.registers.sp = live.registers.value[7] = live.stack.start;
    if (live.registers.value[6] < live.registers.sp && at > 0) /* where it was built with frames */
        live.registers.value[6] = live.word[at - 1];
    return caller;
}

START_TEST(memory_that_mremap_put_in_a_file_s_place_is_known_to_the_first_walk_there)
{
    enum { PAGE = 4096, PAUSE_US = 101000 };
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    char *place = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    void *code = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(place != MAP_FAILED && code != MAP_FAILED);
    close(fd);
    ck_assert_int_eq(yarn_module_map_read_proc(map, 0), 0);
    usleep(PAUSE_US);
    ck_assert_ptr_eq(mremap(code, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place), place);
    yarn_live_stack_take(&live, YARN_LIVE_STACK_MAX);
    live.registers.ip = (uintptr_t)place + PAGE / 2;
    yarn_unwinder_unwind(automatic, &live.registers, &live.stack, &by_auto);
    ck_assert_int_eq(by_auto.frame[0].module->kind, YARN_MODULE_ANONYMOUS);
    munmap(place, PAGE);
}
END_TEST

START_TEST(a_call_through_a_null_pointer_is_walked_by_its_return_address)
{
    uint64_t caller = go_back_to_the_call();
    unsigned count = by_auto.count;
    live.registers.ip = 0;
    unwind_both();
    ck_assert_uint_eq(by_auto.frame[1].ip, caller);
    ck_assert_uint_eq(by_auto.count, count);
}
END_TEST

/* It takes it from the stack, which the child has, too, and overwrites. */
START_TEST(vfork_is_walked_by_the_return_address_in_its_register)
{
    enum { RDI = 5, LONGEST = 64 };
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD); /* a sanitizer has one of its own */
    ck_assert_ptr_nonnull(libc);
    const uint8_t *code = (const uint8_t *)dlsym(libc, "vfork");
    const uint8_t *call = memmem(code, LONGEST, "\x0f\x05", 2);
    ck_assert_ptr_nonnull(call);
    uint64_t caller = go_back_to_the_call();
    unsigned count = by_auto.count;
    live.registers.ip = (uintptr_t)(call + 2);
    live.registers.value[RDI] = caller;
    live.registers.sp += 8;
    live.registers.value[7] = live.registers.sp;
    live.stack.start += 8;
    live.stack.first = yarn_span_from(live.stack.first, 8);
    assert_whole();
    ck_assert_uint_eq(by_auto.frame[1].ip, caller);
    ck_assert_uint_eq(by_auto.count, count);
}
END_TEST

START_TEST(senseless_registers_fail_and_do_no_harm)
{
    (void)descend(3, YARN_LIVE_STACK_MAX);
    struct yarn_registers good = live.registers;
    uint64_t random = 88172645463325252;
    for (unsigned round = 0; round < 20000; round++) {
        live.registers = good;
        for (unsigned i = 0; i < 17; i++) {
            random = yarn_hash_u64(random + 1);
            if (random % 3 == 0)
                live.registers.value[i] = random % 5 ? good.sp + random % 4096 : random;
        }
        live.registers.sp = live.registers.value[7];
        live.registers.ip = good.ip + (random % 7 ? random % 100000 : 0);
        unwind_both();
        ck_assert_uint_ge(by_auto.count, 1);
        ck_assert_int_le(by_auto.end, YARN_STACK_END_ABSENT);
    }
}
END_TEST

START_TEST(an_unwinder_stays_below_four_megabytes_and_gives_them_back)
{
    yarn_live_stack_take(&live, YARN_LIVE_STACK_MAX);
    unwind_both(); /* what the modules' files take is the map's */
    size_t before = yarn_pages_total(), leaked;
    struct yarn_unwinder *one;
    ck_assert_int_eq(yarn_unwinder_new(&one, YARN_UNWINDER_LIBUNWIND, map), 0);
    ck_assert_uint_le(yarn_pages_total() - before, YARN_MIB(4));
    yarn_live_stack_take(&live, YARN_LIVE_STACK_MAX);
    yarn_unwinder_unwind(one, &live.registers, &live.stack, &by_auto);
    ck_assert_uint_le(yarn_pages_total() - before, YARN_MIB(4));
    yarn_unwinder_free(one);
    leaked = yarn_pages_total() - before;
    ck_assert_uint_le(leaked, YARN_KIB(128)); /* libunwind's pools, which all share */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("unwinder");
    TCase *tests = tcase_create("live stacks, both engines");
    tcase_add_checked_fixture(tests, open_unwinders, close_unwinders);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_stack_is_walked_to_its_start);
    tcase_add_test(tests, a_thousand_frames_are_a_thousand_frames);
    tcase_add_test(tests, more_frames_than_fit_are_cut_off);
    tcase_add_test(tests, a_callback_of_the_c_library_is_walked_through_it);
    tcase_add_test(tests, a_signal_handler_is_walked_into_what_it_interrupted);
    tcase_add_test(tests, a_handler_s_own_stack_ends_at_the_interrupted_frame);
    tcase_add_test(tests, realigned_frames_of_variable_size_are_walked);
    tcase_add_loop_test(tests, rows_beyond_our_rules_are_walked_by_libunwind_from_the_leaf, 0,
                        YARN_COUNT_OF(hangers));
    tcase_add_loop_test(tests, generated_code_is_walked_by_its_frame_pointer, 0, 2);
    tcase_add_test(tests, generated_code_is_walked_to_an_interpreter_that_jumped_there);
    tcase_add_test(tests, an_interpreter_gives_back_the_stack_pointer_from_before_its_adapter);
    tcase_add_test(tests, generated_code_without_frames_is_walked_by_what_it_does_until_it_returns);
    tcase_add_loop_test(tests, generated_code_that_cannot_be_followed_ends_the_walk_and_says_so, 0,
                        2);
    tcase_add_test(tests, a_thread_s_stack_is_walked_to_its_clone);
    tcase_add_test(tests, a_short_copy_is_cut_off_whatever_was_walked_before);
    tcase_add_test(tests, every_length_of_the_copy_is_walked_within_it);
    tcase_add_test(tests, without_registers_the_leaf_is_all);
    tcase_add_test(tests, a_leaf_in_no_module_has_no_unwind_info);
    tcase_add_test(tests,
                   memory_that_mremap_put_in_a_file_s_place_is_known_to_the_first_walk_there);
    tcase_add_test(tests, a_call_through_a_null_pointer_is_walked_by_its_return_address);
    tcase_add_test(tests, vfork_is_walked_by_the_return_address_in_its_register);
    tcase_add_test(tests, senseless_registers_fail_and_do_no_harm);
    tcase_add_test(tests, an_unwinder_stays_below_four_megabytes_and_gives_them_back);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
