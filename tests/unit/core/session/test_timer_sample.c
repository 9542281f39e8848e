/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/event/attr.h"
#include "core/record/merge.h"
#include "core/session/timer_sample.h"
#include "core/sys/clock.h"
#include "core/sys/proc_maps.h"
#include "core/sys/process.h"
#include "tests/support/suite.h"

enum {
    PAGE = 4096,
    RING = 256 * 1024,
    ID = 7,
    ALTERNATE = 64 * 1024,
    STACK_COPY = 2048,
    PERIODS_MAX = 40
};
#define PERIOD_NS YARN_NS_PER_MS

static struct yarn_stack_bounds bounds;
static struct yarn_timer_terms terms;
static struct yarn_timer_slot *slot = &yarn_timer_slots[3];

/* What the records of a slot said. */
static struct sum {
    uint64_t samples, weight, lost, bad;
    uint64_t nr_inside, nr_with_stack, shortest_stack;
    uint64_t last_time_ns;
} sum;

static volatile uint64_t sink;

__attribute__((noinline)) static void burn(uint64_t cpu_ns)
{
    uint64_t end_ns = yarn_clock_ns(YARN_TIME_THREAD_CPU) + cpu_ns;
    while (yarn_clock_ns(YARN_TIME_THREAD_CPU) < end_ns)
        for (int i = 0; i < 100000; i++)
            sink = sink * 31 + 1;
}

static uint64_t nr_handled(void)
{
    struct yarn_ring ring = yarn_ring_of(slot->page, slot->data, slot->data_bytes);
    yarn_ring_begin(&ring);
    return ring.head + atomic_load(&slot->nr_lost);
}

/* The kernel looks at CPU timers at its ticks, which others may get on a core that is shared. */
static void burn_to_a_sample(uint64_t cpu_ns)
{
    burn(cpu_ns);
    for (uint64_t before = nr_handled(); nr_handled() == before;)
        burn(PERIOD_NS);
}

static void on_record(void *self, const struct yarn_typed_record *record)
{
    (void)self;
    if (record->type == YARN_RECORD_LOST) {
        sum.lost += record->lost.count;
        ck_assert_uint_eq(record->event, 0);
        return;
    }
    uint64_t sp, first_word;
    const struct yarn_record *sample = &record->perf;
    ck_assert_int_eq(record->type, YARN_RECORD_SAMPLE);
    ck_assert_uint_eq(record->perf.id, ID);
    ck_assert_uint_eq(record->perf.pid, (uint32_t)getpid());
    ck_assert_uint_eq(record->perf.tid, (uint32_t)gettid());
    ck_assert_uint_ge(record->perf.time, sum.last_time_ns);
    sum.last_time_ns = record->perf.time;
    sum.samples++;
    sum.weight += sample->period;
    if (!terms.registers_mask)
        return;
    ck_assert(yarn_record_has_registers(sample));
    ck_assert(yarn_record_register(sample, terms.registers_mask, 7, &sp));
    ck_assert_uint_lt((uint64_t)(uintptr_t)&sp - sp + 65536, 2 * 65536);
    size_t size = yarn_wrapped_size(&record->stack);
    sum.nr_with_stack += size >= 8 && yarn_wrapped_read(&record->stack, 0, &first_word, 8);
    sum.shortest_stack = yarn_u64_min(sum.shortest_stack, size);
}

static void on_malformed(void *self, uint32_t kernel_type, size_t size)
{
    (void)self;
    (void)kernel_type;
    (void)size;
    sum.bad++;
}

static void drain(void)
{
    struct yarn_ring ring = yarn_ring_of(slot->page, slot->data, slot->data_bytes);
    struct yarn_merge_source source = {.ring = &ring};
    static struct yarn_merge merge;
    struct yarn_table numbers;
    struct yarn_record_listener listener = {.record = on_record, .malformed = on_malformed};
    bool left;
    merge.sources = &source;
    merge.count = 1;
    struct perf_event_attr layout = {
        .sample_type = YARN_SAMPLE_TYPE_COMMON | PERF_SAMPLE_PERIOD |
                       (terms.registers_mask ? PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER : 0),
        .sample_regs_user = terms.registers_mask,
    };
    merge.decoder.attrs = &layout;
    merge.decoder.numbers = &numbers;
    ck_assert_int_eq(yarn_table_open(&numbers, 4, 4), 0);
    ck_assert_int_eq(yarn_table_put(&numbers, ID, 0), 0);
    yarn_merge_pass(&merge, UINT64_MAX, &listener, &left);
    yarn_table_close(&numbers);
}

static int add_writable(void *context, const struct yarn_proc_map *map)
{
    (void)context;
    if (map->writable)
        yarn_stack_bounds_add(&bounds, map->start, map->end);
    return 0;
}

static void set_up(void)
{
    sum = (struct sum){.shortest_stack = UINT64_MAX};
    yarn_stack_bounds_open(&bounds);
    yarn_stack_bounds_begin(&bounds);
    ck_assert_int_eq(yarn_proc_maps_read(-100, "/proc/self/maps", add_writable, NULL), 0);
    yarn_stack_bounds_end(&bounds);
    terms = (struct yarn_timer_terms){
        .pid = getpid(),
        .id = ID,
        .period_ns = PERIOD_NS,
        .periods_max = PERIODS_MAX,
        .registers_mask = yarn_attr_unwind_registers(),
        .stack_bytes = STACK_COPY,
        .can_copy = true,
        .bounds = &bounds,
    };
    ck_assert_int_eq(yarn_signal_take(yarn_timer_sample_on_signal, yarn_signal_handler(), true), 0);
}

static void start(size_t ring_bytes)
{
    struct yarn_timer_rate rate = {.first_ns = PERIOD_NS, .interval_ns = PERIOD_NS};
    ck_assert_int_eq(yarn_timer_slot_set_up(slot, gettid(), &terms, ring_bytes), 0);
    yarn_timer_slot_set(slot, YARN_TIMER_SLOT_ON);
    ck_assert_int_eq(yarn_timer_slot_set_timer(slot, &rate), 0);
}

static void stop(void)
{
    yarn_timer_slot_reset(slot, YARN_TIMER_SLOT_ON);
    yarn_timer_slot_cancel_timer(slot);
    ck_assert(!yarn_timer_slot_has(slot, YARN_TIMER_SLOT_WRITING));
}

static void tear_down(void)
{
    yarn_signal_leave_behind();
    yarn_timer_slot_tear_down(slot);
    yarn_stack_bounds_close(&bounds);
}

START_TEST(weights_add_up_to_the_time_that_was_used)
{
    uint64_t before_ns = yarn_clock_ns(YARN_TIME_THREAD_CPU);
    start(RING);
    errno = 77;
    for (int i = 0; i < 10; i++)
        burn(20 * YARN_NS_PER_MS);
    burn_to_a_sample(0);
    ck_assert_int_eq(errno, 77);
    stop();
    uint64_t used_ns = yarn_clock_ns(YARN_TIME_THREAD_CPU) - before_ns;
    drain();
    ck_assert_uint_eq(sum.bad, 0);
    ck_assert_uint_eq(atomic_load(&slot->nr_lost), 0);
    ck_assert_uint_gt(sum.samples, 0);
    sum.weight += atomic_load(&terms.nr_withheld) * PERIOD_NS;
    ck_assert_uint_ge(sum.weight, used_ns - used_ns / 7);
    ck_assert_uint_le(sum.weight, used_ns + used_ns / 7);
    ck_assert_uint_eq(sum.nr_with_stack, sum.samples);
    ck_assert_uint_eq(atomic_load(&terms.nr_unbounded), 0);
}
END_TEST

START_TEST(stack_copy_is_no_longer_than_asked)
{
    terms.stack_bytes = 512;
    start(RING);
    burn(200 * YARN_NS_PER_MS); /* a core that is shared may tick rarely */
    stop();
    drain();
    ck_assert_uint_gt(sum.samples, 0);
    ck_assert_uint_eq(sum.shortest_stack, 512);
}
END_TEST

START_TEST(without_a_safe_copy_the_page_of_the_stack_pointer_is_taken)
{
    terms.can_copy = false;
    start(RING);
    burn_to_a_sample(60 * YARN_NS_PER_MS);
    stop();
    drain();
    ck_assert_uint_eq(sum.bad, 0);
    ck_assert_uint_gt(sum.samples, 0);
    ck_assert_uint_eq(sum.nr_with_stack, sum.samples);
    ck_assert_uint_le(sum.shortest_stack, PAGE);
}
END_TEST

START_TEST(unknown_stack_without_a_safe_copy_is_not_touched)
{
    terms.can_copy = false;
    yarn_stack_bounds_begin(&bounds);
    yarn_stack_bounds_end(&bounds);
    start(RING);
    burn_to_a_sample(60 * YARN_NS_PER_MS);
    stop();
    drain();
    ck_assert_uint_eq(sum.bad, 0);
    ck_assert_uint_gt(sum.samples, 0);
    ck_assert_uint_eq(sum.shortest_stack, 0);
    ck_assert_uint_gt(atomic_load(&terms.nr_unbounded), 0);
}
END_TEST

START_TEST(samples_without_stacks_are_short)
{
    terms.registers_mask = 0;
    ck_assert_uint_eq(yarn_timer_sample_fixed_bytes(&terms), 56);
    start(RING);
    burn_to_a_sample(60 * YARN_NS_PER_MS);
    stop();
    drain();
    ck_assert_uint_eq(sum.bad, 0);
    ck_assert_uint_gt(sum.samples, 0);
}
END_TEST

START_TEST(what_finds_no_room_is_reported_later)
{
    start(PAGE);
    burn_to_a_sample(100 * YARN_NS_PER_MS);
    drain();
    uint64_t lost = atomic_load(&slot->nr_lost);
    ck_assert_uint_gt(lost, 0);
    ck_assert_uint_eq(sum.lost, 0);
    burn_to_a_sample(30 * YARN_NS_PER_MS);
    stop();
    drain();
    ck_assert_uint_eq(sum.bad, 0);
    ck_assert_uint_ge(sum.lost, lost);
}
END_TEST

START_TEST(handler_needs_less_than_a_page_beside_the_kernels_frame)
{
    uint8_t *memory =
        mmap(NULL, ALTERNATE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(memory, MAP_FAILED);
    memset(memory, 0xa5, ALTERNATE);
    stack_t stack = {.ss_sp = memory, .ss_size = ALTERNATE};
    ck_assert_int_eq(sigaltstack(&stack, NULL), 0);
    terms.stack_bytes = 32768;
    start(RING);
    burn_to_a_sample(40 * YARN_NS_PER_MS);
    stop();
    size_t untouched = 0;
    while (untouched < ALTERNATE && memory[untouched] == 0xa5)
        untouched++;
    size_t frame = getauxval(AT_MINSIGSTKSZ) ? getauxval(AT_MINSIGSTKSZ) : 2 * PAGE;
    ck_assert_uint_lt(untouched, ALTERNATE);
    ck_assert_uint_le(ALTERNATE - untouched, frame + PAGE);
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, NULL);
    munmap(memory, ALTERNATE);
}
END_TEST

START_TEST(signal_of_somebody_else_has_its_default_effect)
{
    pid_t child = fork();
    if (!child) {
        syscall(SYS_tgkill, getpid(), gettid(), YARN_SIGNAL_TICK);
        _exit(3);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), YARN_SIGNAL_TICK);
}
END_TEST

/* By the kernel's own call: the C library lets nobody block it. */
static void block(bool is_blocked)
{
    uint64_t mask = UINT64_C(1) << (YARN_SIGNAL_TICK - 1);
    ck_assert_int_eq(
        syscall(SYS_rt_sigprocmask, is_blocked ? SIG_BLOCK : SIG_UNBLOCK, &mask, NULL, sizeof mask),
        0);
}

START_TEST(late_signal_finds_a_slot_that_takes_no_writes)
{
    start(RING);
    block(true);
    burn(20 * YARN_NS_PER_MS);
    yarn_timer_slot_reset(slot, YARN_TIMER_SLOT_ON);
    block(false);
    ck_assert_uint_eq(slot->page->data_head, 0);
    stop();
}
END_TEST

START_TEST(what_waited_until_it_was_let_in_is_in_no_sample)
{
    start(RING);
    for (int i = 0; i < 10; i++) {
        block(true);
        burn(20 * YARN_NS_PER_MS);
        block(false);
    }
    stop();
    drain();
    ck_assert_uint_ge(atomic_load(&slot->nr_ticks), 1);
    ck_assert_uint_le(sum.weight, 30 * YARN_NS_PER_MS);
    ck_assert_uint_ge(sum.weight + atomic_load(&terms.nr_withheld) * PERIOD_NS,
                      150 * YARN_NS_PER_MS);
}
END_TEST

static void on_virtual(int number)
{
    (void)number;
    burn(300 * YARN_NS_PER_MS);
    sum.nr_inside++;
}

START_TEST(what_waited_for_a_handlers_end_weighs_little)
{
    struct sigaction action = {.sa_handler = on_virtual};
    struct itimerval soon = {.it_value = {.tv_usec = 20000}};
    memset(&action.sa_mask, 0xff, sizeof action.sa_mask);
    ck_assert_int_eq(sigaction(SIGVTALRM, &action, NULL), 0);
    start(RING);
    ck_assert_int_eq(setitimer(ITIMER_VIRTUAL, &soon, NULL), 0);
    while (!*(volatile uint64_t *)&sum.nr_inside)
        sink = sink * 31 + 1;
    stop();
    drain();
    ck_assert_uint_le(sum.weight, (PERIODS_MAX + 120) * PERIOD_NS);
}
END_TEST

/* The next might come while a handler of the host's is on it. */
START_TEST(a_tick_that_finds_a_small_alternate_stack_takes_no_sample_and_is_the_last)
{
    static _Alignas(64) uint8_t memory[ALTERNATE];
    stack_t stack = {.ss_sp = memory, .ss_size = yarn_signal_frame_bytes() + PAGE};
    ck_assert_int_eq(sigaltstack(&stack, NULL), 0);
    uint32_t before = atomic_load(&slot->nr_ticks);
    start(RING);
    while (atomic_load(&slot->nr_ticks) == before)
        burn(PERIOD_NS);
    burn(60 * YARN_NS_PER_MS);
    stop();
    ck_assert_uint_eq(atomic_load(&slot->nr_ticks), before + 1);
    ck_assert_uint_eq(nr_handled(), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("timer sample");
    TCase *live = tcase_create("a timer on this thread");
    tcase_add_checked_fixture(live, set_up, tear_down);
    tcase_set_timeout(live, 60);
    tcase_add_test(live, weights_add_up_to_the_time_that_was_used);
    tcase_add_test(live, stack_copy_is_no_longer_than_asked);
    tcase_add_test(live, without_a_safe_copy_the_page_of_the_stack_pointer_is_taken);
    tcase_add_test(live, unknown_stack_without_a_safe_copy_is_not_touched);
    tcase_add_test(live, samples_without_stacks_are_short);
    tcase_add_test(live, what_finds_no_room_is_reported_later);
    tcase_add_test(live, handler_needs_less_than_a_page_beside_the_kernels_frame);
    tcase_add_test(live, signal_of_somebody_else_has_its_default_effect);
    tcase_add_test(live, late_signal_finds_a_slot_that_takes_no_writes);
    tcase_add_test(live, what_waited_until_it_was_let_in_is_in_no_sample);
    tcase_add_test(live, what_waited_for_a_handlers_end_weighs_little);
    tcase_add_test(live, a_tick_that_finds_a_small_alternate_stack_takes_no_sample_and_is_the_last);
    suite_add_tcase(suite, live);
    return run_suite(suite);
}
