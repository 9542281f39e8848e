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
#include "tests/unit/core/record/handmade.h"

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

static struct perf_event_attr layout;

static const struct perf_event_attr clock_attr = {
    .type = PERF_TYPE_SOFTWARE,
    .size = sizeof clock_attr,
    .config = PERF_COUNT_SW_CPU_CLOCK,
    .sample_period = 200000,
    .sample_type = YARN_SAMPLE_TYPE_COMMON | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN |
                   PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
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

static int open_event(void)
{
    struct perf_event_attr attr = clock_attr;
    return yarn_perf_open(&attr, 0, -1, -1);
}

static bool stack_has_mark(const struct yarn_wrapped *stack)
{
    uint64_t word;
    for (size_t at = 0; yarn_wrapped_read(stack, at, &word, sizeof word); at += sizeof word)
        if (word == MARK)
            return true;
    return false;
}

static void receive_sample(const struct yarn_typed_record *record)
{
    uint64_t ip, sp;
    ck_assert(yarn_record_has_registers(&record->perf));
    ck_assert(yarn_record_register(&record->perf, clock_attr.sample_regs_user, REGISTER_IP, &ip));
    ck_assert(yarn_record_register(&record->perf, clock_attr.sample_regs_user, REGISTER_SP, &sp));
    ck_assert_uint_eq(ip, record->perf.ip);
    ck_assert_uint_ne(sp, 0);
    ck_assert_uint_eq(record->perf.period, 200000);
    ck_assert_uint_gt(record->perf.callchain.size, 0);
    ck_assert_uint_le(yarn_wrapped_size(&record->stack), STACK_BYTES);
    seen.samples++;
    seen.marked += stack_has_mark(&record->stack);
}

static void receive_map(const struct yarn_record_mmap *map)
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

static void receive_record(void *self, const struct yarn_typed_record *record)
{
    (void)self;
    ck_assert_uint_eq(record->perf.pid, (uint32_t)getpid());
    ck_assert_uint_eq(record->perf.tid, (uint32_t)getpid());
    ck_assert_uint_eq(record->perf.id, event_id);
    ck_assert_uint_ge(record->perf.time, begin_ns);
    ck_assert_uint_le(record->perf.time, yarn_clock_ns(YARN_TIME_MONOTONIC));
    ck_assert_uint_lt(record->perf.cpu, 4096);
    switch (record->type) {
    case YARN_RECORD_SAMPLE:
        receive_sample(record);
        break;
    case YARN_RECORD_MMAP:
        receive_map(record->mmap);
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

static void receive_malformed(void *self, uint32_t kernel_type, size_t size)
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
    layout = clock_attr;
    handmade_know(&merge.decoder, &layout, event_id, 0);
}

static void read_all(void)
{
    const struct yarn_record_listener listener = {NULL, receive_record, receive_malformed};
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

static void *give_tid(void *argument)
{
    *(pid_t *)argument = (pid_t)syscall(SYS_gettid);
    return NULL;
}

START_TEST(kernel_reports_names_and_new_threads)
{
    pthread_t thread;
    begin();
    ck_assert_int_eq(prctl(PR_SET_NAME, "fifteen letters"), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, give_tid, &seen.new_tid), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    end();
    ck_assert_uint_eq(seen.comms, 1);
    ck_assert_uint_eq(seen.forks, 1);
}
END_TEST

START_TEST(kernel_reports_executable_mappings)
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

/* ---- several events, each with a layout of its own, in one ring ---- */

enum { FAULTS = 1, GROUP, TRACEPOINT, EVENTS, FAULTS_PERIOD = 10, FAULTS_MADE = 1000 };

static struct {
    size_t samples[EVENTS], faults_at_pages;
    uint64_t group_faults;
    uint8_t *pages;
} mixed;

/* Of a tracepoint that this process hits; negative where it may not know. */
static int tracepoint_number(void)
{
    int number = -1;
    FILE *file = fopen("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id", "r");
    if (!file)
        return -1;
    if (fscanf(file, "%d", &number) != 1)
        number = -1;
    fclose(file);
    return number;
}

static struct perf_event_attr attr_of_faults(void)
{
    struct perf_event_attr attr = clock_attr;
    attr.config = PERF_COUNT_SW_PAGE_FAULTS;
    attr.sample_period = FAULTS_PERIOD;
    attr.sample_type = YARN_SAMPLE_TYPE_COMMON | PERF_SAMPLE_ADDR;
    return attr;
}

static struct perf_event_attr attr_of_group(void)
{
    struct perf_event_attr attr = clock_attr;
    attr.sample_period = 2 * YARN_NS_PER_MS; /* who is throttled does not count */
    attr.sample_type = YARN_SAMPLE_TYPE_COMMON | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ;
    attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
                       PERF_FORMAT_TOTAL_TIME_RUNNING;
    return attr;
}

static struct perf_event_attr attr_of_tracepoint(uint64_t number)
{
    struct perf_event_attr attr = clock_attr;
    attr.type = PERF_TYPE_TRACEPOINT;
    attr.config = number;
    attr.sample_period = 1;
    attr.exclude_kernel = 0;
    attr.sample_type = YARN_SAMPLE_TYPE_COMMON | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW;
    return attr;
}

static void receive_mixed(void *self, const struct yarn_typed_record *record)
{
    const struct yarn_record *sample = &record->perf;
    struct yarn_record_counter counter;
    (void)self;
    if (record->type != YARN_RECORD_SAMPLE)
        return;
    ck_assert_uint_lt(record->event, EVENTS);
    mixed.samples[record->event]++;
    ck_assert_uint_eq(record->perf.tid, (uint32_t)getpid());
    ck_assert(yarn_record_has_registers(sample) == !record->event);
    switch (record->event) {
    case FAULTS:
        ck_assert_uint_eq(sample->period, FAULTS_PERIOD);
        mixed.faults_at_pages +=
            sample->addr - (uint64_t)(uintptr_t)mixed.pages < (uint64_t)FAULTS_MADE * 4096;
        break;
    case GROUP:
        ck_assert(!yarn_record_counter(sample, record->attr->read_format, 2, &counter));
        ck_assert(yarn_record_counter(sample, record->attr->read_format, 1, &counter));
        mixed.group_faults = counter.value;
        break;
    case TRACEPOINT:
        ck_assert_uint_ge(sample->raw.size, 16);
        break;
    default:
        ck_assert_uint_gt(yarn_wrapped_size(&record->stack), 0);
    }
}

static void make_faults(void)
{
    mixed.pages = mmap(NULL, (size_t)FAULTS_MADE * 4096, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(mixed.pages, MAP_FAILED);
    ck_assert_int_eq(madvise(mixed.pages, (size_t)FAULTS_MADE * 4096, MADV_NOHUGEPAGE), 0);
    for (size_t i = 0; i < FAULTS_MADE; i++)
        *(volatile uint8_t *)(mixed.pages + i * 4096) = 1;
}

static void add_event(const struct perf_event_attr *attr, uint32_t number, int group_fd,
                      struct perf_event_attr *layouts, int *ret_fd)
{
    struct perf_event_attr off = *attr;
    uint64_t id;
    off.disabled = 1;
    int fd = (int)syscall(SYS_perf_event_open, &off, 0, -1, group_fd, PERF_FLAG_FD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(yarn_perf_set_output(fd, event_fd), 0);
    ck_assert_int_eq(yarn_perf_id(fd, &id), 0);
    if (attr->sample_period)
        layouts[number] = *attr;
    handmade_know(&merge.decoder, layouts, id, number);
    *ret_fd = fd;
}

START_TEST(kernel_writes_events_of_different_layouts_into_one_ring)
{
    static struct perf_event_attr layouts[EVENTS];
    const struct yarn_record_listener listener = {NULL, receive_mixed, receive_malformed};
    struct perf_event_attr faults = attr_of_faults(), group = attr_of_group();
    struct perf_event_attr counted = faults;
    int fds[EVENTS + 1], nr_fds = 0, number = tracepoint_number();
    bool is_left;
    begin();
    layouts[0] = layout;
    add_event(&faults, FAULTS, -1, layouts, &fds[nr_fds++]);
    add_event(&group, GROUP, -1, layouts, &fds[nr_fds++]);
    counted.sample_period = 0;
    add_event(&counted, FAULTS, fds[1], layouts, &fds[nr_fds++]);
    if (number >= 0) {
        struct perf_event_attr tracepoint = attr_of_tracepoint((uint64_t)number);
        add_event(&tracepoint, TRACEPOINT, -1, layouts, &fds[nr_fds++]);
    } else {
        printf("skipped: a tracepoint beside them, for tracefs is not to be read here\n");
    }
    handmade_know(&merge.decoder, layouts, event_id, 0);
    int i = nr_fds;
    while (i-- > 0) /* a group's leader last */
        ck_assert_int_eq(yarn_perf_enable(fds[i]), 0);
    make_faults();
    burn_with_mark(60 * YARN_NS_PER_MS);
    for (i = 0; i < nr_fds; i++)
        ck_assert_int_eq(yarn_perf_disable(fds[i]), 0);
    ck_assert_int_eq(yarn_perf_disable(event_fd), 0);
    yarn_merge_pass(&merge, UINT64_MAX, &listener, &is_left);
    ck_assert_uint_gt(mixed.samples[0], 10);
    ck_assert_uint_gt(mixed.samples[GROUP], 3);
    ck_assert_uint_ge(mixed.samples[FAULTS], FAULTS_MADE / FAULTS_PERIOD);
    ck_assert_uint_ge(mixed.group_faults, FAULTS_MADE); /* more with a sanitizer's own memory */
    ck_assert_uint_le(mixed.samples[FAULTS], 2 * (mixed.group_faults / FAULTS_PERIOD));
    ck_assert_uint_ge(mixed.faults_at_pages, FAULTS_MADE / FAULTS_PERIOD * 9 / 10);
    ck_assert(number < 0 || mixed.samples[TRACEPOINT] > 0);
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
    tcase_add_test(tcase, kernel_reports_names_and_new_threads);
    tcase_add_test(tcase, kernel_reports_executable_mappings);
    tcase_add_test(tcase, kernel_writes_events_of_different_layouts_into_one_ring);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
