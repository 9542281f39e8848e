/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <yarn/couplebreak.h>
#include <yarn/dump.h>
#include <yarn/sched.h>

#include "tests/support/suite.h"
#include "tests/unit/output/dump/made_dump.h"

enum { FILE_MAX = 1 << 16, KEPT = 77 };

static const char *const golden[] = {YARN_GOLDEN_FOLDER "/process.yarndump",
                                     YARN_GOLDEN_FOLDER "/merged.yarndump"};

/* What a dump gave. */
struct reading {
    int result; /* of opening, or of the last step */
    uint64_t nr_items, nr_of[YARN_ITEM_END + 1], damages;
    enum yarn_item_kind last;
    char *text; /* owned; all of it */
    size_t size;
};

static void print_frames(struct yarn_dump *dump, const struct yarn_item *item, FILE *file)
{
    struct yarn_frame frame;
    for (size_t i = 0; i < item->nr_frames; i++) {
        ck_assert_int_eq(yarn_dump_frame(dump, i, &frame), 0);
        /* Why not all: 60,000 frames of one long name are gigabytes. */
        fprintf(file, " %.999s %.999s %" PRIx64, frame.function ? frame.function : "",
                frame.module ? frame.module : "", frame.address);
    }
    ck_assert_int_eq(yarn_dump_frame(dump, item->nr_frames, &frame), -ENOENT);
}

static struct reading read_dump(const char *path)
{
    struct reading reading = {0};
    struct yarn_dump *dump = NULL;
    struct yarn_item item = {0};
    FILE *file = open_memstream(&reading.text, &reading.size);
    ck_assert_ptr_nonnull(file);
    reading.result = yarn_dump_open(path, &dump);
    while (dump && (reading.result = yarn_dump_next(dump, &item)) > 0) {
        ck_assert_int_ge(item.kind, YARN_ITEM_PROCESS);
        ck_assert_int_le(item.kind, YARN_ITEM_END);
        reading.last = item.kind;
        reading.nr_items++;
        reading.nr_of[item.kind]++;
        fprintf(file, "%d %u/%u %u %u %" PRIu64 " %" PRIu64 " %s", item.kind, item.pid, item.tid,
                item.cpu, item.event, item.time_ns, item.value, item.name ? item.name : "");
        print_frames(dump, &item, file);
        fputc('\n', file);
    }
    if (dump)
        ck_assert_int_eq(yarn_dump_next(dump, &item), reading.result);
    reading.damages = yarn_dump_damages(dump);
    yarn_dump_close(dump);
    fclose(file);
    return reading;
}

/* A file in memory, its name and its bytes. */
struct copy {
    char path[64];
    int fd;
    uint8_t bytes[FILE_MAX];
    size_t size;
};

static void copy_open(struct copy *copy, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = read(fd, copy->bytes, FILE_MAX);
    ck_assert_int_gt(size, 0);
    ck_assert_int_lt(size, FILE_MAX);
    close(fd);
    copy->size = (size_t)size;
    copy->fd = memfd_create("dump", MFD_CLOEXEC);
    ck_assert_int_ge(copy->fd, 0);
    ck_assert_int_eq(pwrite(copy->fd, copy->bytes, copy->size, 0), size);
    snprintf(copy->path, sizeof copy->path, "/proc/self/fd/%d", copy->fd);
}

START_TEST(each_kind_of_thing_is_there_and_the_end_is_last)
{
    uint64_t nr_processes = (uint64_t)_i + 1;
    struct reading reading = read_dump(golden[_i]);
    ck_assert_int_eq(reading.result, 0);
    ck_assert_uint_eq(reading.damages, 0);
    ck_assert_uint_eq(reading.nr_of[YARN_ITEM_PROCESS], nr_processes);
    ck_assert_uint_eq(reading.nr_of[YARN_ITEM_EVENT], 2 * nr_processes);
    ck_assert_uint_eq(reading.nr_of[YARN_ITEM_SAMPLE], 120 * nr_processes);
    ck_assert_uint_eq(reading.nr_of[YARN_ITEM_END], nr_processes);
    for (int kind = YARN_ITEM_PROCESS; kind <= YARN_ITEM_END; kind++)
        ck_assert_uint_gt(reading.nr_of[kind], 0);
    ck_assert_int_eq(reading.last, YARN_ITEM_END);
    free(reading.text);
}
END_TEST

START_TEST(each_stack_says_how_it_ended_and_the_trust_report_what_is_missing)
{
    struct yarn_dump *dump = NULL;
    struct yarn_item item;
    /* As the reader written from FORMAT.md alone has them, in process.txt. */
    static const unsigned in_golden[] = {
        [YARN_STACK_END_COMPLETE] = 22, [YARN_STACK_END_CUT] = 44,    [YARN_STACK_END_NO_INFO] = 20,
        [YARN_STACK_END_FAILED] = 22,   [YARN_STACK_END_ABSENT] = 12,
    };
    const uint64_t nr_processes = (uint64_t)_i + 1;
    unsigned nr_of[YARN_COUNT_OF(in_golden)] = {0}, nr_details = 0, nr_raw = 0;
    struct {
        struct yarn_trust_report report;
        uint64_t later;
    } larger = {.report.size = sizeof larger, .later = KEPT};
    ck_assert_int_eq(yarn_dump_open(golden[_i], &dump), 0);
    while (yarn_dump_next(dump, &item) > 0) {
        int end = yarn_dump_stack_end(dump);
        ck_assert_int_eq(end == -ENOENT, item.kind != YARN_ITEM_SAMPLE);
        ck_assert_int_eq(item.sample != NULL, end >= 0);
        if (end < 0)
            continue;
        nr_of[end]++;
        nr_details += item.sample->address != 0;
        nr_raw += item.sample->raw.size != 0;
        ck_assert_uint_eq(item.sample->stack_end, (uint32_t)end);
        ck_assert_uint_eq(item.sample->time_ns, item.time_ns);
        ck_assert_uint_eq(item.sample->weight, item.value);
        ck_assert_uint_eq(item.sample->tid, item.tid);
        ck_assert(end != YARN_STACK_END_ABSENT || !item.nr_frames);
    }
    ck_assert_uint_eq(nr_details, 18 * nr_processes);
    ck_assert_uint_eq(nr_raw, 8 * nr_processes);
    ck_assert_int_eq(yarn_dump_stack_end(dump), -ENOENT);
    for (size_t i = 0; i < YARN_COUNT_OF(nr_of); i++)
        ck_assert_uint_eq(nr_of[i], in_golden[i] * nr_processes);
    ck_assert_int_eq(yarn_dump_trust_report(dump, &larger.report), 0);
    ck_assert_uint_eq(larger.report.size, sizeof larger.report);
    ck_assert_uint_eq(larger.report.lost, 1000 * nr_processes);
    ck_assert_uint_eq(larger.report.throttled, 2000 * nr_processes);
    ck_assert_uint_eq(larger.report.stacks_cut, UINT64_C(740742534074070) * nr_processes);
    ck_assert_uint_eq(larger.report.stacks_absent, UINT64_C(1111113801111105) * nr_processes);
    ck_assert_uint_eq(larger.later, KEPT);
    struct yarn_trust_report shorter = {.size = offsetof(struct yarn_trust_report, lost),
                                        .lost = KEPT};
    ck_assert_int_eq(yarn_dump_trust_report(dump, &shorter), 0);
    ck_assert_uint_eq(shorter.lost, KEPT);
    yarn_dump_close(dump);
}
END_TEST

/* But between two processes of a merged dump, where nothing is missing of the first. */
static bool says_so(const struct reading *reading)
{
    return reading->damages || reading->last != YARN_ITEM_END ||
           reading->nr_of[YARN_ITEM_END] < reading->nr_of[YARN_ITEM_PROCESS];
}

START_TEST(each_cut_is_refused_or_begins_as_the_whole_and_says_so)
{
    static struct copy copy;
    unsigned nr_silent = 0;
    copy_open(&copy, golden[_i]);
    struct reading whole = read_dump(golden[_i]);
    for (size_t size = copy.size; size--;) {
        if (_i && size % 4)
            continue;
        ck_assert_int_eq(ftruncate(copy.fd, (off_t)size), 0);
        struct reading cut = read_dump(copy.path);
        if (cut.result) {
            ck_assert_int_eq(cut.result, -ENOEXEC);
        } else {
            ck_assert_uint_lt(cut.nr_items, whole.nr_items);
            ck_assert_int_eq(memcmp(cut.text, whole.text, cut.size), 0);
            nr_silent += !says_so(&cut);
        }
        free(cut.text);
    }
    ck_assert_uint_le(nr_silent, (unsigned)_i);
    free(whole.text);
    close(copy.fd);
}
END_TEST

/* Generated code whose name became known when it had been sampled already, in another epoch. */
START_TEST(a_name_that_came_late_is_that_of_frames_before_it)
{
    enum { ADDRESS = 0x7000 };
    char path[64];
    struct made_dump made;
    struct yarn_dump *dump = NULL;
    struct yarn_item item;
    struct yarn_frame frame;
    made_dump_begin(&made, NULL);
    const struct yarn_dump_process process = {.pid = 7};
    yarn_dump_write_process(made.writer, &process);
    struct yarn_dump_symbol symbol = {.module = YARN_DUMP_NONE};
    struct yarn_dump_frame code = {.symbol = yarn_dump_intern_symbol(made.writer, &symbol),
                                   .address = ADDRESS};
    code.number = yarn_dump_add_frame(made.writer, &code);
    uint32_t stack = yarn_dump_intern_stack(made.writer, YARN_DUMP_NONE, code.number);
    const struct yarn_sample sample = {.tid = 7, .weight = 1, .stack = stack};
    const struct yarn_dump_event event = {.number = 0};
    yarn_dump_write_event(made.writer, &event);
    yarn_dump_write_sample(made.writer, &sample);
    yarn_dump_writer_flush(made.writer);
    for (int i = 0; i < 2; i++) {
        const struct yarn_dump_code_name name = {.module = YARN_DUMP_NONE,
                                                 .address = ADDRESS,
                                                 .name = yarn_span_of_text(i ? "fib" : "stub")};
        yarn_dump_write_code_name(made.writer, &name);
    }
    yarn_dump_writer_flush(made.writer);
    snprintf(path, sizeof path, "/proc/self/fd/%d", made.fd);
    ck_assert_int_eq(yarn_dump_open(path, &dump), 0);
    do
        ck_assert_int_eq(yarn_dump_next(dump, &item), 1);
    while (item.kind != YARN_ITEM_SAMPLE);
    ck_assert_int_eq(yarn_dump_frame(dump, 0, &frame), 0);
    ck_assert_str_eq(frame.function, "fib");
    yarn_dump_close(dump);
    made_dump_free(&made);
}
END_TEST

/* "TID NAME, " for each item of a thread. */
static void print_threads(const char *path, char *text, size_t size)
{
    struct yarn_dump *dump = NULL;
    struct yarn_item item;
    size_t used = 0;
    ck_assert_int_eq(yarn_dump_open(path, &dump), 0);
    while (yarn_dump_next(dump, &item) > 0)
        if (item.kind == YARN_ITEM_THREAD)
            used += (size_t)snprintf(text + used, size - used, "%u %s, ", item.tid,
                                     item.name ? item.name : "?");
    yarn_dump_close(dump);
}

START_TEST(a_thread_is_shown_with_its_name_and_again_with_each_other)
{
    enum { START, NAME, END, PROCESS };
    static const struct {
        int kind;
        uint32_t tid, parent_tid;
        const char *name;
    } rows[] = {
        {PROCESS, 7, 0, "/bin/app"},
        {START, 7, 0, ""},
        {START, 8, 7, "one"},
        {START, 9, 8, ""},
        {NAME, 8, 0, "two"},
        {NAME, 8, 0, "two"},
        {START, 10, 8, ""},
        {START, 10, 8, ""},
        {START, 11, 99, ""},
        {END, 8, 0, ""},
        {START, 8, 7, ""},
        {END, 7, 0, ""},
        {START, 7, 9, "three"},
        {PROCESS, 7, 0, ""},
        {START, 7, 9, ""},
        {START, 8, 7, "four"},
        {END, 8, 0, ""},
        {START, 8, 7, ""},
    };
    char path[64], text[256] = "";
    struct made_dump made;
    made_dump_begin(&made, NULL);
    for (size_t i = 0; i < YARN_COUNT_OF(rows); i++) {
        const struct yarn_span name = yarn_span_of_text(rows[i].name);
        const uint32_t tid = rows[i].tid;
        if (rows[i].kind == PROCESS)
            yarn_dump_write_process(made.writer,
                                    &(struct yarn_dump_process){.pid = tid, .exe = name});
        else if (rows[i].kind == NAME)
            yarn_dump_write_thread_name(made.writer,
                                        &(struct yarn_dump_thread_name){.tid = tid, .comm = name});
        else if (rows[i].kind == END)
            yarn_dump_write_thread_end(made.writer, &(struct yarn_dump_thread_end){.tid = tid});
        else
            yarn_dump_write_thread(made.writer,
                                   &(struct yarn_dump_thread){
                                       .tid = tid, .parent_tid = rows[i].parent_tid, .comm = name});
    }
    yarn_dump_writer_flush(made.writer);
    snprintf(path, sizeof path, "/proc/self/fd/%d", made.fd);
    print_threads(path, text, sizeof text);
    ck_assert_str_eq(text, "7 app, 8 one, 9 one, 8 two, 10 two, 11 app, 8 app, 7 three, 7 ?, "
                           "8 four, 8 ?, ");
    made_dump_free(&made);
}
END_TEST

START_TEST(each_changed_byte_is_passed_over_and_counted)
{
    static struct copy copy;
    copy_open(&copy, golden[0]);
    for (size_t at = 0; at < copy.size; at++) {
        uint8_t changed = (uint8_t)(copy.bytes[at] ^ (1u << at % 8));
        ck_assert_int_eq(pwrite(copy.fd, &changed, 1, (off_t)at), 1);
        struct reading reading = read_dump(copy.path);
        ck_assert(reading.result == -ENOEXEC || (!reading.result && reading.damages));
        ck_assert_int_eq(pwrite(copy.fd, &copy.bytes[at], 1, (off_t)at), 1);
        free(reading.text);
    }
    close(copy.fd);
}
END_TEST

START_TEST(dumps_that_lie_have_an_end)
{
    char path[512];
    unsigned nr_read = 0;
    DIR *folder = opendir(YARN_SEEDS_FOLDER);
    ck_assert_ptr_nonnull(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", YARN_SEEDS_FOLDER, entry->d_name);
        struct reading reading = read_dump(path);
        ck_assert_int_le(reading.result, 0);
        nr_read += reading.nr_items > 0;
        free(reading.text);
    }
    ck_assert_uint_gt(nr_read, 5);
    closedir(folder);
}
END_TEST

START_TEST(what_is_no_dump_is_refused_and_errno_is_kept)
{
    struct yarn_dump *dump = NULL;
    struct yarn_item item;
    struct yarn_frame frame;
    errno = KEPT;
    ck_assert_int_eq(yarn_dump_open("/nonexistent", &dump), -ENOENT);
    ck_assert_int_eq(yarn_dump_open("/", &dump), -EISDIR);
    ck_assert_int_eq(yarn_dump_open("/proc/self/exe", &dump), -ENOEXEC);
    ck_assert_int_eq(yarn_dump_open(NULL, &dump), -EINVAL);
    ck_assert_ptr_null(dump);
    ck_assert_int_eq(yarn_dump_next(NULL, &item), -EINVAL);
    ck_assert_int_eq(yarn_dump_frame(NULL, 0, &frame), -EINVAL);
    ck_assert_uint_eq(yarn_dump_damages(NULL), 0);
    ck_assert_int_eq(yarn_dump_stack_end(NULL), -EINVAL);
    ck_assert_int_eq(yarn_dump_trust_report(NULL, &(struct yarn_trust_report){0}), -EINVAL);
    yarn_dump_close(NULL);
    ck_assert_int_eq(yarn_dump_open(golden[0], &dump), 0);
    ck_assert_int_eq(yarn_dump_frame(dump, 0, &frame), -ENOENT);
    ck_assert_int_eq(yarn_dump_next(dump, &item), 1);
    yarn_dump_close(dump);
    ck_assert_int_eq(errno, KEPT);
}
END_TEST

/* So many bytes more than now. Why not beside a sanitizer: it keeps what was given back. */
static void limit_data(rlim_t more)
{
    unsigned long data = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%*u %*u %*u %*u %*u %lu", &data), 1);
    (void)fclose(file);
    const struct rlimit limit = {data * (rlim_t)sysconf(_SC_PAGESIZE) + more, RLIM_INFINITY};
    if (!IS_ADDRESS_SANITIZED && !IS_THREAD_SANITIZED)
        ck_assert_int_eq(setrlimit(RLIMIT_DATA, &limit), 0);
}

/* Two million entries of 32 bytes, of which each core has its own in order. */
START_TEST(entries_of_a_stream_are_in_order_where_they_do_not_fit_into_memory)
{
    enum { RUNS = 1000000, AT_ONCE = 1000, CORES = 4 };
    static struct yarn_dump_run runs[AT_ONCE];
    char path[64];
    struct made_dump made;
    struct yarn_stream *stream = NULL;
    size_t count;
    made_dump_begin(&made, NULL);
    yarn_dump_write_process(made.writer, &(struct yarn_dump_process){.pid = 7, .start_ns = 1});
    for (uint32_t i = 0; i < RUNS; i += AT_ONCE) {
        for (uint32_t k = 0; k < AT_ONCE; k++)
            runs[k] = (struct yarn_dump_run){.time_ns = 1 + (i / AT_ONCE / CORES * AT_ONCE + k),
                                             .length_ns = k % 7,
                                             .tid = 7,
                                             .cpu = i / AT_ONCE % CORES};
        yarn_dump_write_runs(made.writer, runs, AT_ONCE);
    }
    yarn_dump_writer_flush(made.writer);
    snprintf(path, sizeof path, "/proc/self/fd/%d", made.fd);
    limit_data(48 << 20);
    ck_assert_int_eq(yarn_stream_open(path, 0, &stream), 0);
    for (int on = 0; on < 2; on++) {
        ck_assert_int_eq(yarn_stream_couplebreak(stream, on), 0);
        const struct yarn_entry *entries = yarn_stream_entries(stream, &count);
        ck_assert_uint_eq(count, 2 * (size_t)RUNS);
        for (size_t i = 1; i < count; i++)
            if (entries[i].time_ns == entries[i - 1].time_ns)
                ck_assert_int_ge(entries[i].cpu, entries[i - 1].cpu);
            else
                ck_assert_uint_gt(entries[i].time_ns, entries[i - 1].time_ns);
    }
    yarn_stream_free(stream);
    made_dump_free(&made);
}
END_TEST

/* Whose reads would move the parent's place in the file. */
START_TEST(in_a_child_the_parent_s_dump_is_dead)
{
    int status;
    struct yarn_dump *dump = NULL;
    struct yarn_item item;
    ck_assert_int_eq(yarn_dump_open(golden[0], &dump), 0);
    pid_t child = fork();
    if (!child) {
        bool is_dead = yarn_dump_next(dump, &item) == -ECHILD;
        yarn_dump_close(dump);
        _exit(is_dead ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(yarn_dump_next(dump, &item), 1);
    yarn_dump_close(dump);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dump_items");
    TCase *read = tcase_create("dumps");
    tcase_set_timeout(read, 120);
    tcase_add_loop_test(read, each_kind_of_thing_is_there_and_the_end_is_last, 0, 2);
    tcase_add_loop_test(read, each_cut_is_refused_or_begins_as_the_whole_and_says_so, 0, 2);
    tcase_add_loop_test(read, each_stack_says_how_it_ended_and_the_trust_report_what_is_missing, 0,
                        2);
    tcase_add_test(read, a_name_that_came_late_is_that_of_frames_before_it);
    tcase_add_test(read, a_thread_is_shown_with_its_name_and_again_with_each_other);
    tcase_add_test(read, each_changed_byte_is_passed_over_and_counted);
    tcase_add_test(read, dumps_that_lie_have_an_end);
    tcase_add_test(read, what_is_no_dump_is_refused_and_errno_is_kept);
    tcase_add_test(read, in_a_child_the_parent_s_dump_is_dead);
    tcase_add_test(read, entries_of_a_stream_are_in_order_where_they_do_not_fit_into_memory);
    suite_add_tcase(suite, read);
    return run_suite(suite);
}
