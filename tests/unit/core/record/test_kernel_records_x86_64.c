/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/record/merge.h"
#include "core/sys/clock.h"
#include "core/sys/perf.h"
#include "tests/support/suite.h"

/* What this kernel really writes, so that a layout that we misread in its documents is found. */
enum {
    SKIPPED = 77,
    RING_BYTES = 1 << 20,
    STACK_BYTES = 4096,
    REGISTER_SP = 7,
    REGISTER_IP = 8,
    FILE_BYTES = 8192,
};
#define MARK UINT64_C(0x79616e726b72616d)

static int event_fd;
static struct perf_event_mmap_page *page;
static struct yarn_ring ring;
static struct yarn_merge_source source;
static struct yarn_merge merge;
static uint64_t begin_ns, event_id;

static struct {
    size_t samples, marked, comms, forks, maps;
    pid_t new_tid;
    char map_path[64];
    struct stat map_info;
    uint64_t map_start;
} seen;

static int open_event(void)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .sample_period = 200000,
        .sample_type = YARN_SAMPLE_TYPE_COMMON | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
                       PERF_SAMPLE_STACK_USER,
        .sample_regs_user = 1u << REGISTER_SP | 1u << REGISTER_IP,
        .sample_stack_user = STACK_BYTES,
        .exclude_kernel = 1,
        .exclude_callchain_kernel = 1,
        .exclude_hv = 1,
        .mmap = 1,
        .mmap2 = 1,
        .comm = 1,
        .task = 1,
        .sample_id_all = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
    return yarn_perf_open(&attr, 0, -1);
}

static bool stack_has_mark(const struct yarn_wrapped *stack)
{
    uint64_t word;
    for (size_t at = 0; yarn_wrapped_read(stack, at, &word, sizeof word); at += sizeof word)
        if (word == MARK)
            return true;
    return false;
}

static void hear_sample(const struct yarn_record *record)
{
    uint64_t ip, sp, mask = merge.decoder.layout.registers_mask;
    ck_assert(record->sample.has_registers);
    ck_assert(yarn_record_register(&record->sample, mask, REGISTER_IP, &ip));
    ck_assert(yarn_record_register(&record->sample, mask, REGISTER_SP, &sp));
    ck_assert_uint_eq(ip, record->sample.ip);
    ck_assert_uint_ne(sp, 0);
    ck_assert_uint_eq(record->sample.period, 200000);
    ck_assert_uint_gt(yarn_wrapped_size(&record->sample.callchain), 0);
    ck_assert_uint_le(yarn_wrapped_size(&record->sample.stack), STACK_BYTES);
    seen.samples++;
    seen.marked += stack_has_mark(&record->sample.stack);
}

static void hear_map(const struct yarn_record_mmap *map)
{
    if (strcmp(map->path, seen.map_path))
        return;
    ck_assert_uint_eq(map->pid, (uint32_t)getpid());
    ck_assert_uint_eq(map->tid, (uint32_t)getpid());
    ck_assert_uint_eq(map->start, seen.map_start);
    ck_assert_uint_eq(map->size, 4096);
    ck_assert_uint_eq(map->file_offset, 4096);
    ck_assert_uint_eq(map->protection, PROT_READ | PROT_EXEC);
    ck_assert_uint_eq(map->device, seen.map_info.st_dev);
    ck_assert_uint_eq(map->inode, seen.map_info.st_ino);
    seen.maps++;
}

static void hear_record(void *self, const struct yarn_record *record)
{
    (void)self;
    ck_assert_uint_eq(record->pid, (uint32_t)getpid());
    ck_assert_uint_eq(record->tid, (uint32_t)getpid());
    ck_assert_uint_eq(record->id, event_id);
    ck_assert_uint_ge(record->time_ns, begin_ns);
    ck_assert_uint_le(record->time_ns, yarn_clock_ns(YARN_TIME_MONOTONIC));
    ck_assert_uint_lt(record->cpu, 4096);
    switch (record->type) {
    case YARN_RECORD_SAMPLE:
        hear_sample(record);
        break;
    case YARN_RECORD_MMAP:
        hear_map(record->mmap);
        break;
    case YARN_RECORD_COMM:
        ck_assert_str_eq(record->comm.name, "fifteen letters");
        ck_assert_uint_eq(record->comm.tid, (uint32_t)getpid());
        seen.comms++;
        break;
    case YARN_RECORD_FORK:
        ck_assert_uint_eq(record->task.pid, (uint32_t)getpid());
        ck_assert_uint_eq(record->task.parent_pid, (uint32_t)getpid());
        ck_assert_uint_eq(record->task.parent_tid, (uint32_t)getpid());
        /* A sanitizer may have threads of its own. */
        seen.forks += record->task.tid == (uint32_t)seen.new_tid;
        break;
    default:
        break;
    }
}

static void hear_malformed(void *self, uint32_t kernel_type, size_t size)
{
    (void)self;
    ck_abort_msg("malformed: type %u, %zu bytes", kernel_type, size);
}

static void begin(void)
{
    begin_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    event_fd = open_event();
    ck_assert_int_ge(event_fd, 0);
    ck_assert_int_eq(yarn_perf_id(event_fd, &event_id), 0);
    ck_assert_int_eq(yarn_perf_map(event_fd, RING_BYTES, &page), 0);
    ring = yarn_ring_of(page, (const uint8_t *)page + page->data_offset, RING_BYTES);
    source = (struct yarn_merge_source){.ring = &ring};
    merge.sources = &source;
    merge.count = 1;
    merge.decoder.layout = (struct yarn_record_layout){
        .sample_type = YARN_SAMPLE_TYPE_COMMON | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
                       PERF_SAMPLE_STACK_USER,
        .registers_mask = 1u << REGISTER_SP | 1u << REGISTER_IP,
    };
}

static void read_all(void)
{
    const struct yarn_record_listener listener = {NULL, hear_record, hear_malformed};
    bool is_left;
    yarn_merge_pass(&merge, UINT64_MAX, &listener, &is_left);
    ck_assert(!is_left);
}

static void end(void)
{
    ck_assert_int_eq(yarn_perf_disable(event_fd), 0);
    read_all();
    ck_assert_uint_eq(page->data_tail, page->data_head);
    yarn_perf_unmap(page, RING_BYTES);
    close(event_fd);
}

static uint64_t burn_with_mark(uint64_t ns)
{
    volatile uint64_t mark = MARK;
    uint64_t start = yarn_clock_ns(YARN_TIME_THREAD_CPU);
    while (yarn_clock_ns(YARN_TIME_THREAD_CPU) - start < ns)
        for (volatile int i = 0; i < 10000; i++)
            ;
    return mark;
}

START_TEST(kernel_samples_hold_registers_and_the_stack_through_many_rounds_of_the_ring)
{
    begin();
    for (int round = 0; round < 20; round++) {
        ck_assert_uint_eq(burn_with_mark(20 * YARN_NS_PER_MS), MARK);
        read_all();
    }
    end();
    ck_assert_uint_ge(seen.samples, 300);
    ck_assert_uint_ge(seen.marked, seen.samples / 2);
}
END_TEST

static void *tell_tid(void *argument)
{
    *(pid_t *)argument = (pid_t)syscall(SYS_gettid);
    return NULL;
}

START_TEST(kernel_tells_of_names_and_new_threads)
{
    pthread_t thread;
    begin();
    ck_assert_int_eq(prctl(PR_SET_NAME, "fifteen letters"), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, tell_tid, &seen.new_tid), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    end();
    ck_assert_uint_eq(seen.comms, 1);
    ck_assert_uint_eq(seen.forks, 1);
}
END_TEST

START_TEST(kernel_tells_of_executable_mappings)
{
    strcpy(seen.map_path, "/memfd:yarn (deleted)");
    int file = memfd_create("yarn", MFD_CLOEXEC);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(ftruncate(file, FILE_BYTES), 0);
    ck_assert_int_eq(fstat(file, &seen.map_info), 0);
    begin();
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 4096);
    ck_assert_ptr_ne(memory, MAP_FAILED);
    seen.map_start = (uint64_t)(uintptr_t)memory;
    end();
    ck_assert_uint_eq(seen.maps, 1);
}
END_TEST

int main(void)
{
    int fd = open_event();
    if (fd < 0) {
        printf("skipped: perf_event_open says %s\n", strerror(-fd));
        return SKIPPED;
    }
    close(fd);
    Suite *suite = suite_create("records of this kernel");
    TCase *tcase = tcase_create("a thread that looks at itself");
    tcase_set_timeout(tcase, 30);
    tcase_add_test(tcase,
                   kernel_samples_hold_registers_and_the_stack_through_many_rounds_of_the_ring);
    tcase_add_test(tcase, kernel_tells_of_names_and_new_threads);
    tcase_add_test(tcase, kernel_tells_of_executable_mappings);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
