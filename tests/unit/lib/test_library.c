/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <yarn/yarn.h>

#include "tests/support/suite.h"

/* What the shared library leaves behind in a program that uses it. */

/* A page each second cycle would be more; the kernel's count and a sanitizer's memory vary by less.
 */
enum { NR_CYCLES = 1000, LEAST_LEAK = NR_CYCLES / 2, NR_WARM = 10, NR_THREADS = 4, KEPT = 77 };

static unsigned count_fds(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/fd");
    ck_assert_ptr_nonnull(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* Pages of address space and of memory. */
static void read_pages(long *ret_all, long *ret_resident)
{
    FILE *file = fopen("/proc/self/statm", "re");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%ld %ld", ret_all, ret_resident), 2);
    fclose(file);
}

static void cycle(enum yarn_scope scope)
{
    struct yarn_events *events = NULL;
    struct yarn_counters *counters = NULL;
    struct yarn_value values[2];
    ck_assert_int_eq(yarn_events_parse("task-clock,page-faults", &events, NULL), 0);
    ck_assert_int_eq(yarn_counters_open(events, scope, &counters), 0);
    yarn_events_free(events);
    ck_assert_int_eq(yarn_counters_start(counters), 0);
    ck_assert_int_eq(yarn_counters_stop(counters), 0);
    ck_assert_int_eq(yarn_counters_read(counters, values, 2), 0);
    ck_assert_uint_gt(values[0].count, 0);
    yarn_counters_close(counters);
}

START_TEST(a_thousand_cycles_leave_descriptors_mappings_and_memory_as_they_were)
{
    long all, resident, all_then, resident_then;
    for (unsigned i = 0; i < NR_WARM; i++)
        cycle(YARN_SCOPE_PROCESS);
    unsigned fds = count_fds();
    read_pages(&all, &resident);
    for (unsigned i = 0; i < NR_CYCLES; i++)
        cycle(i % 2 ? YARN_SCOPE_PROCESS : YARN_SCOPE_THREAD);
    read_pages(&all_then, &resident_then);
    ck_assert_uint_eq(count_fds(), fds);
    ck_assert_int_le(all_then, all + LEAST_LEAK);
    if (!IS_ADDRESS_SANITIZED)
        ck_assert_int_le(resident_then, resident + LEAST_LEAK);
}
END_TEST

static void *cycles(void *unused)
{
    for (unsigned i = 0; i < NR_CYCLES / NR_THREADS; i++)
        cycle(YARN_SCOPE_THREAD);
    return unused;
}

START_TEST(threads_with_counters_of_their_own_do_not_meet)
{
    pthread_t threads[NR_THREADS];
    for (unsigned i = 0; i < NR_THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, cycles, NULL), 0);
    for (unsigned i = 0; i < NR_THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}
END_TEST

START_TEST(errno_is_kept_also_where_a_call_fails)
{
    struct yarn_events *events = NULL;
    struct yarn_counters *counters = NULL;
    struct yarn_record record;
    struct perf_event_attr attr = {.sample_type = 0};
    errno = KEPT;
    cycle(YARN_SCOPE_PROCESS);
    ck_assert_int_eq(yarn_events_parse("no-such", &events, NULL), -EINVAL);
    ck_assert_int_eq(yarn_events_parse("nopmu/event=1/", &events, NULL), -EINVAL);
    ck_assert_int_eq(yarn_events_parse(NULL, &events, NULL), -EINVAL);
    ck_assert_ptr_null(events);
    ck_assert_int_eq(yarn_record_decode(&attr, "", 1, &record), -EBADMSG);
    ck_assert_int_eq(yarn_events_parse("context-switches:u", &events, NULL), 0);
    ck_assert_int_lt(yarn_counters_open(events, YARN_SCOPE_THREAD, &counters), 0);
    ck_assert_ptr_null(counters);
    yarn_events_free(events);
    yarn_events_free(NULL);
    yarn_counters_close(NULL);
    ck_assert_int_eq(errno, KEPT);
}
END_TEST

START_TEST(null_is_refused_where_something_is_needed)
{
    struct yarn_events *events = NULL;
    struct yarn_counters *counters = NULL;
    struct yarn_record record;
    const struct perf_event_attr attr = {.sample_type = 0};
    ck_assert_int_eq(yarn_events_parse("task-clock", NULL, NULL), -EINVAL);
    ck_assert_uint_eq(yarn_events_count(NULL), 0);
    ck_assert_ptr_null(yarn_events_name(NULL, 0));
    ck_assert_ptr_null(yarn_events_asked(NULL, 0));
    ck_assert_ptr_null(yarn_events_unit(NULL, 0));
    ck_assert_int_eq(yarn_counters_start(NULL), -EINVAL);
    ck_assert_int_eq(yarn_counters_stop(NULL), -EINVAL);
    ck_assert_int_eq(yarn_counters_read(NULL, NULL, 0), -EINVAL);
    ck_assert_int_eq(yarn_record_decode(NULL, "", 8, &record), -EINVAL);
    ck_assert_int_eq(yarn_record_decode(&attr, NULL, 8, &record), -EINVAL);
    ck_assert_int_eq(yarn_record_decode(&attr, "", 8, NULL), -EINVAL);
    ck_assert_int_eq(yarn_events_parse("task-clock", &events, NULL), 0);
    ck_assert_int_eq(yarn_counters_open(events, YARN_SCOPE_THREAD, NULL), -EINVAL);
    ck_assert_int_eq(yarn_counters_open(events, (enum yarn_scope)2, &counters), -EINVAL);
    ck_assert_ptr_null(counters);
    ck_assert_int_eq(yarn_counters_open(events, YARN_SCOPE_THREAD, &counters), 0);
    ck_assert_int_eq(yarn_counters_read(counters, NULL, 1), -EINVAL);
    ck_assert_int_eq(yarn_counters_read(counters, NULL, 0), 0);
    yarn_counters_close(counters);
    yarn_events_free(events);
}
END_TEST

/* The first record in the ring of an event on this thread, which then touches a page. */
static void assert_records_a_fault(struct perf_event_attr *attr)
{
    enum { PAGE = 4096 };
    uint8_t bytes[PAGE];
    struct yarn_record record;
    attr->disabled = 0;
    int fd = (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, 0);
    if (fd < 0 && (errno == EACCES || errno == EPERM))
        return;
    ck_assert_int_ge(fd, 0);
    uint8_t *ring = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    volatile uint8_t *page =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(ring, MAP_FAILED);
    bool has_it = false;
    page[0] = 1;
    const uint64_t end = ((struct perf_event_mmap_page *)(void *)ring)->data_head;
    memcpy(bytes, ring + PAGE, sizeof bytes);
    for (size_t at = 0; at < end;) {
        uint16_t size;
        memcpy(&size, bytes + at + offsetof(struct perf_event_header, size), sizeof size);
        ck_assert_int_eq(yarn_record_decode(attr, bytes + at, size, &record), 0);
        has_it |= record.type == PERF_RECORD_SAMPLE && record.tid == (uint32_t)gettid() &&
                  record.addr == (uint64_t)(uintptr_t)page;
        at += size;
    }
    ck_assert(has_it);
    munmap((void *)(uintptr_t)page, PAGE);
    munmap(ring, 2 * PAGE);
    close(fd);
}

START_TEST(an_event_has_the_attr_that_its_records_are_decoded_by)
{
    struct yarn_events *events = NULL;
    struct perf_event_attr attr;
    ck_assert_int_eq(yarn_events_parse("page-faults/period=1/u,off-cpu,cpu-clock/freq=100/,"
                                       "mem:stdout/8:w,page-faults/period=7/u",
                                       &events, NULL),
                     0);
    ck_assert_int_eq(yarn_events_attr(events, 0, &attr, sizeof attr), 0);
    ck_assert_uint_eq(attr.size, sizeof attr);
    ck_assert(attr.disabled && attr.exclude_kernel && !attr.inherit);
    assert_records_a_fault(&attr);
    ck_assert_int_eq(yarn_events_attr(events, 1, &attr, sizeof attr), -EOPNOTSUPP);
    ck_assert_int_eq(yarn_events_attr(events, 2, &attr, sizeof attr), 0);
    ck_assert_uint_eq(attr.freq ? attr.sample_freq : 1000000000 / attr.sample_period, 100);
    ck_assert_int_eq(yarn_events_attr(events, 3, &attr, sizeof attr), 0);
    ck_assert_uint_eq(attr.bp_addr, (uint64_t)(uintptr_t)&stdout);
    ck_assert_int_eq(yarn_events_attr(events, 4, &attr, sizeof attr), 0);
    ck_assert_uint_eq(attr.sample_period, 7);
    ck_assert_int_eq(yarn_events_attr(events, 5, &attr, sizeof attr), -EINVAL);
    ck_assert_int_eq(yarn_events_attr(events, 0, NULL, sizeof attr), -EINVAL);
    ck_assert_int_eq(yarn_events_attr(events, 0, &attr, 63), -EINVAL);
    ck_assert_int_eq(yarn_events_attr(events, 0, &attr, 64), -E2BIG);
    ck_assert_int_eq(yarn_events_attr(NULL, 0, &attr, sizeof attr), -EINVAL);
    yarn_events_free(events);
}
END_TEST

/* Of a stream that is no stream, or of an entry that is none. */
static void assert_nothing_of(struct yarn_stream *stream, const struct yarn_entry *entry)
{
    size_t size = KEPT;
    int64_t value = KEPT;
    enum yarn_field_type type = YARN_FIELD_TEXT;
    ck_assert_ptr_null(yarn_stream_event_name(stream, entry));
    ck_assert_ptr_null(yarn_stream_task(stream, entry));
    ck_assert_int_eq(yarn_stream_original_pid(stream, entry), 0);
    ck_assert_ptr_null(yarn_stream_latency(stream, entry));
    ck_assert_ptr_null(yarn_stream_info(stream, entry));
    ck_assert_ptr_null(yarn_stream_dump_text(stream, entry));
    ck_assert_ptr_null(yarn_stream_raw(stream, entry, &size));
    ck_assert_uint_eq(size, 0);
    ck_assert_ptr_null(yarn_stream_field_name(stream, entry, 0));
    ck_assert_ptr_null(yarn_stream_field_text(stream, entry, "pid"));
    ck_assert_int_eq(yarn_stream_field_type(stream, entry, "pid", &type), -EINVAL);
    ck_assert_int_eq(yarn_stream_field_value(stream, entry, "pid", &value), -EINVAL);
    ck_assert_int_eq(type, YARN_FIELD_TEXT);
    ck_assert_int_eq(value, KEPT);
}

START_TEST(null_for_a_stream_or_an_entry_gives_nothing)
{
    struct yarn_stream *stream = NULL;
    const struct yarn_entry entry = {.pid = 1};
    assert_nothing_of(NULL, NULL);
    assert_nothing_of(NULL, &entry);
    ck_assert_int_eq(yarn_stream_open(NULL, 0, &stream), -EINVAL);
    ck_assert_int_eq(yarn_stream_open(YARN_GOLDEN_FOLDER "/process.yarndump", 0, NULL), -EINVAL);
    ck_assert_int_eq(yarn_stream_open(YARN_GOLDEN_FOLDER "/process.yarndump", 0, &stream), 0);
    assert_nothing_of(stream, NULL);
    ck_assert_int_eq(yarn_stream_field_type(stream, &entry, NULL, NULL), -EINVAL);
    ck_assert_ptr_null(yarn_stream_raw(stream, &entry, NULL));
    yarn_stream_free(stream);
}
END_TEST

/* The golden dump with that byte of its first chunk flipped: the process is in there. */
static void write_damaged(const char *path, long at)
{
    char bytes[1 << 16];
    FILE *file = fopen(YARN_GOLDEN_FOLDER "/process.yarndump", "re");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    bytes[at] = (char)~bytes[at];
    file = fopen(path, "we");
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

START_TEST(a_dump_whose_process_is_damaged_is_a_bad_message)
{
    struct yarn_stream *stream = NULL;
    char path[] = "/tmp/yarn-damaged-XXXXXX";
    close(mkstemp(path));
    ck_assert_int_eq(yarn_stream_open(YARN_GOLDEN_FOLDER "/process.yarndump", 99, &stream),
                     -ENOENT);
    write_damaged(path, 300);
    ck_assert_int_eq(yarn_stream_open(path, 0, &stream), -EBADMSG);
    ck_assert_ptr_null(stream);
    unlink(path);
}
END_TEST

static void take(void *self, size_t event, const struct yarn_record *record)
{
    (void)self;
    (void)event;
    (void)record;
}

START_TEST(what_cannot_be_is_refused_before_the_kernel_is_asked)
{
    const struct yarn_listener listener = {.size = sizeof listener, .on_record = take};
    const struct yarn_listener deaf = {.size = sizeof deaf};
    const struct yarn_session_spec odd = {.size = sizeof odd, .ring_bytes = 5000};
    const struct yarn_session_spec cores = {.size = sizeof cores, .strategy = YARN_STRATEGY_CORES};
    const struct yarn_session_spec calls = {.size = sizeof calls, .stacks = YARN_STACKS_CALLS};
    const struct yarn_session_spec other = {.size = 4};
    const struct yarn_session_spec wild = {.size = SIZE_MAX / 2};
    struct {
        struct yarn_session_spec spec;
        uint64_t later;
    } larger = {.spec.size = sizeof larger};
    const struct yarn_record record = {0};
    uint64_t address;
    struct yarn_events *events;
    struct yarn_session *session = NULL;
    ck_assert_int_eq(yarn_events_parse("task-clock", &events, NULL), 0);
    ck_assert_int_eq(yarn_session_new(NULL, NULL, &listener, &session), -EINVAL);
    ck_assert_int_eq(yarn_session_new(events, NULL, &deaf, &session), -EINVAL);
    ck_assert_int_eq(yarn_session_new(events, &odd, &listener, &session), -EINVAL);
    ck_assert_int_eq(yarn_session_new(events, &cores, &listener, &session), -EINVAL);
    ck_assert_int_eq(yarn_session_new(events, &calls, &listener, &session), -EINVAL);
    ck_assert_int_eq(yarn_session_new(events, &other, &listener, &session), -EINVAL);
    ck_assert_int_eq(yarn_session_new(events, &wild, &listener, &session), -E2BIG);
    larger.later = 1;
    ck_assert_int_eq(yarn_session_new(events, &larger.spec, &listener, &session), -E2BIG);
    ck_assert_ptr_null(session);
    larger.later = 0;
    ck_assert_int_eq(yarn_session_new(events, &larger.spec, &listener, &session), 0);
    ck_assert_int_eq(yarn_session_unwind(session, NULL, &address, 1), -EINVAL);
    ck_assert_int_eq(yarn_session_unwind(session, &record, NULL, 1), -EINVAL);
    yarn_session_free(session);
    ck_assert_int_eq(yarn_session_new(events, NULL, &listener, &session), 0);
    ck_assert_int_eq(yarn_session_start(session), -EINVAL);
    ck_assert_int_eq(yarn_session_read(session, 0), -EINVAL);
    yarn_session_free(session);
    yarn_session_free(NULL);
    yarn_events_free(events);
}
END_TEST

START_TEST(what_is_no_stream_has_nothing)
{
    size_t count = 7;
    int id;
    ck_assert_ptr_null(yarn_stream_entries(NULL, &count));
    ck_assert_uint_eq(count, 0);
    ck_assert_ptr_null(yarn_stream_event_ids(NULL, NULL));
    ck_assert_ptr_null(yarn_stream_couplebreak_ids(NULL, NULL));
    ck_assert_int_eq(yarn_stream_find_event(NULL, "sched/sched_switch", &id), -EINVAL);
    ck_assert_int_eq(yarn_stream_couplebreak(NULL, true), -EINVAL);
    ck_assert(!yarn_stream_couplebreak_is_on(NULL));
    ck_assert_uint_eq(yarn_stream_n_couplebreak_events(NULL), 0);
    ck_assert_uint_eq(yarn_stream_couplebreak_flags(NULL), 0);
    ck_assert_uint_eq(yarn_stream_pid(NULL), 0);
    yarn_stream_free(NULL);
}
END_TEST

START_TEST(in_a_child_the_parent_s_counters_are_dead)
{
    struct yarn_events *events = NULL;
    struct yarn_counters *counters = NULL;
    struct yarn_value value;
    int status;
    ck_assert_int_eq(yarn_events_parse("task-clock", &events, NULL), 0);
    ck_assert_int_eq(yarn_counters_open(events, YARN_SCOPE_PROCESS, &counters), 0);
    ck_assert_int_eq(yarn_counters_start(counters), 0);
    pid_t child = fork();
    if (!child) {
        bool is_dead = yarn_counters_start(counters) == -ECHILD &&
                       yarn_counters_stop(counters) == -ECHILD &&
                       yarn_counters_read(counters, &value, 1) == -ECHILD;
        yarn_counters_close(counters);
        yarn_events_free(events);
        _exit(is_dead ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(yarn_counters_read(counters, &value, 1), 0);
    uint64_t before = value.count;
    for (volatile unsigned i = 0; i < 1000000; i++)
        continue;
    ck_assert_int_eq(yarn_counters_read(counters, &value, 1), 0);
    ck_assert_uint_gt(value.count, before);
    yarn_counters_close(counters);
    yarn_events_free(events);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("library");
    TCase *guest = tcase_create("what a program finds afterwards");
    tcase_set_timeout(guest, 60);
    tcase_add_test(guest, a_thousand_cycles_leave_descriptors_mappings_and_memory_as_they_were);
    tcase_add_test(guest, threads_with_counters_of_their_own_do_not_meet);
    tcase_add_test(guest, errno_is_kept_also_where_a_call_fails);
    tcase_add_test(guest, null_is_refused_where_something_is_needed);
    tcase_add_test(guest, what_is_no_stream_has_nothing);
    tcase_add_test(guest, an_event_has_the_attr_that_its_records_are_decoded_by);
    tcase_add_test(guest, null_for_a_stream_or_an_entry_gives_nothing);
    tcase_add_test(guest, a_dump_whose_process_is_damaged_is_a_bad_message);
    tcase_add_test(guest, what_cannot_be_is_refused_before_the_kernel_is_asked);
    tcase_add_test(guest, in_a_child_the_parent_s_counters_are_dead);
    suite_add_tcase(suite, guest);
    return run_suite(suite);
}
