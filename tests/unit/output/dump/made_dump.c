/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/output/dump/made_dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NR_SYMBOLS = 16, NR_FRAMES = 64 };

static const uint64_t START_NS = UINT64_C(123456789012345);

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    perror(what);
    abort();
}

void made_dump_begin(struct made_dump *dump, const struct yarn_dump_writer_limits *limits)
{
    *dump = (struct made_dump){.fd = memfd_create("dump", MFD_CLOEXEC)};
    must(dump->fd >= 0, "memfd_create");
    int fd = dup(dump->fd);
    must(fd >= 0, "dup");
    must(yarn_dump_writer_new(&dump->writer, limits) == 0, "yarn_dump_writer_new");
    must(yarn_dump_writer_open(dump->writer, fd) == 0, "yarn_dump_writer_open");
}

void made_dump_renew(struct made_dump *dump)
{
    must(ftruncate(dump->fd, 0) == 0 && lseek(dump->fd, 0, SEEK_SET) == 0, "ftruncate");
    int fd = dup(dump->fd);
    must(fd >= 0, "dup");
    must(yarn_dump_writer_renew(dump->writer) == 0, "yarn_dump_writer_renew");
    must(yarn_dump_writer_open(dump->writer, fd) == 0, "yarn_dump_writer_open");
}

void made_dump_finish(struct made_dump *dump)
{
    yarn_dump_writer_free(dump->writer);
    dump->writer = NULL;
    off_t size = lseek(dump->fd, 0, SEEK_END);
    must(size >= 0, "lseek");
    dump->size = (size_t)size;
    dump->bytes = malloc(dump->size + 1);
    must(dump->bytes && pread(dump->fd, dump->bytes, dump->size, 0) == size, "pread");
}

void made_dump_free(struct made_dump *dump)
{
    yarn_dump_writer_free(dump->writer);
    close(dump->fd);
    free(dump->bytes);
    *dump = (struct made_dump){.fd = -1};
}

struct yarn_span made_dump_span(const struct made_dump *dump)
{
    return yarn_span_of(dump->bytes, dump->size);
}

/* Writes the thing and says that it is wanted. */
#define WRITE(name, ...)                                                                           \
    do {                                                                                           \
        const struct yarn_dump_##name thing = {__VA_ARGS__};                                       \
        yarn_dump_write_##name(dump->writer, &thing);                                              \
        if (wanted)                                                                                \
            record_log_visitor.name(wanted, &thing);                                               \
    } while (0)
#define TEXT(text) yarn_span_of_text(text)

static void write_context(struct made_dump *dump, struct record_log *wanted)
{
    WRITE(process, .pid = 4242, .ppid = 1, .start_ns = START_NS,
          .start_realtime_ns = UINT64_C(1700000000000000000), .boottime_offset_ns = 77,
          .monotonic_raw_offset_ns = -123456, .clock = 1, .cpus_present = 8, .cpus_online = 6,
          .page_bytes = 4096, .exe = TEXT("/usr/bin/app"), .cmdline = yarn_span_of("app\0-x\0", 7),
          .host = TEXT("node-1"), .kernel = TEXT("6.1.0-18-amd64"), .arch = TEXT("x86_64"),
          .parent_pid = 4000, .parent_start_ns = START_NS - 5, .predecessor_pid = 4242,
          .predecessor_start_ns = START_NS - 9, .birth_ns = START_NS - 20, .root_pid = 77,
          .root_birth_ns = 4711);
    WRITE(option, .name = TEXT("frequency"), .value = TEXT("999"));
    WRITE(option, .name = TEXT("comm"), .value = YARN_SPAN_EMPTY);
    WRITE(sampler, .asked = TEXT("auto"), .got = TEXT("perf"), .reason = TEXT(""),
          .strategy = TEXT("per-core"), .reader = TEXT("poll"), .ring_asked_bytes = 0,
          .ring_got_bytes = 1 << 20, .stack_asked_bytes = 32768, .stack_got_bytes = 16384,
          .nr_rings = 8);
    WRITE(event, .number = 0, .name = TEXT("cpu-clock"), .asked = TEXT("auto"),
          .got = TEXT("cpu-clock:u"), .unit = TEXT("ns"), .reason = TEXT("no PMU here"),
          .flags = YARN_DUMP_EVENT_IS_CLOCK, .type = 1, .config = 0, .period = 1001001);
    WRITE(event, .number = 1, .name = TEXT("cycles"), .asked = TEXT("cycles"),
          .unit = TEXT("cycles"), .reason = TEXT("the machine has no such counter"), .error = 2,
          .flags = YARN_DUMP_EVENT_IS_FREQUENCY | YARN_DUMP_EVENT_EXCLUDES_KERNEL,
          .config = UINT64_MAX, .frequency = 999, .alternate_of = 1, .filter = TEXT("period > 7"));
    WRITE(thread, .tid = 4242, .time_ns = START_NS, .comm = TEXT("app"));
    WRITE(module, .number = 0, .start = 0x400000, .end = 0x500000, .file_offset = 0x1000,
          .bias = 0x3ff000, .time_ns = START_NS + 1, .path = TEXT("/usr/bin/app"),
          .build_id = yarn_span_of("\x01\x00\xff\x7f", 4), .state = 1, .file_bytes = 14328);
    WRITE(module, .number = 1, .kind = 1, .start = UINT64_MAX - 8191, .end = UINT64_MAX,
          .time_ns = START_NS - 1, .path = TEXT("[vdso]"), .state = 2);
}

void made_dump_frames(struct made_dump *dump, struct record_log *wanted)
{
    for (uint32_t i = 0; i < NR_SYMBOLS; i++) {
        char name[32];
        snprintf(name, sizeof name, "_ZN4deep8functionILi%uEEE", i);
        struct yarn_dump_symbol symbol = {
            .module = i == 15 ? YARN_DUMP_NONE : i % 2,
            .start = i == 14 ? 0 : 0x1000 + i * 0x40,
            .end = i == 14 ? 0 : 0x1030 + i * 0x40,
            .name = i == 14 ? YARN_SPAN_EMPTY : yarn_span_of_text(name),
        };
        symbol.number = yarn_dump_intern_symbol(dump->writer, &symbol);
        if (wanted)
            record_log_visitor.symbol(wanted, &symbol);
    }
    for (uint32_t i = 0; i < NR_FRAMES; i++) {
        struct yarn_dump_frame frame = {
            .symbol = i % NR_SYMBOLS,
            .flags = i % 7 == 0   ? YARN_DUMP_FRAME_KERNEL
                     : i % 5 == 0 ? YARN_DUMP_FRAME_UNNAMED
                                  : 0,
            .address = 0x1000 + i % NR_SYMBOLS * 0x40 + i - (i == 3 ? 0x100 : 0),
        };
        frame.number = yarn_dump_add_frame(dump->writer, &frame);
        if (wanted)
            record_log_visitor.frame(wanted, &frame);
    }
}

uint32_t made_dump_stack(struct made_dump *dump, uint32_t seed, uint32_t depth)
{
    uint32_t stack = YARN_DUMP_NONE;
    for (uint32_t i = 0; i < depth; i++) {
        seed = seed * 1664525 + 1013904223;
        uint32_t choice = i < depth / 2 ? i : seed >> 29;
        stack = yarn_dump_intern_stack(dump->writer, stack, (i * 5 + choice) % NR_FRAMES);
    }
    return stack;
}

static void write_stacks(struct made_dump *dump, struct record_log *wanted)
{
    for (uint32_t i = 0; i < 20; i++) {
        struct yarn_dump_stack stack = {
            .parent = i % 5 == 0 ? YARN_DUMP_NONE : i - 1 - i % 2,
            .frame = i * 3,
        };
        if (stack.parent != YARN_DUMP_NONE && stack.parent >= i)
            stack.parent = YARN_DUMP_NONE;
        stack.number = yarn_dump_intern_stack(dump->writer, stack.parent, stack.frame);
        if (wanted)
            record_log_visitor.stack(wanted, &stack);
    }
}

static void write_samples(struct made_dump *dump, struct record_log *wanted, uint64_t from_ns)
{
    for (uint32_t i = 0; i < 60; i++) {
        const struct yarn_sample sample = {
            .time_ns = from_ns + i * 1001001 + (i * 7919) % 500 - (i == 30 ? 40000000 : 0),
            .weight = i % 11 ? 1001001 : 2002002,
            .event = i % 13 == 0,
            .tid = 4242 + i % 3,
            .cpu = i / 20,
            .stack = i % 9 == 8 ? YARN_DUMP_NONE : i % 20,
            .stack_end = i % 9 == 8   ? (uint32_t)YARN_DUMP_STACK_NONE
                         : i % 5 == 1 ? (uint32_t)YARN_DUMP_STACK_TRUNCATED
                                      : i % 5,
            .address = i % 7 == 3 ? UINT64_C(0x7ffd00000000) + i * 64 : 0,
            .raw = {(const uint8_t *)"raw bytes of one", i % 13 == 0 ? i % 17 : 0},
        };
        yarn_dump_write_sample(dump->writer, &sample);
        if (wanted)
            record_log_visitor.samples(wanted, &sample, 1);
    }
}

static void write_happenings(struct made_dump *dump, struct record_log *wanted, uint64_t now_ns)
{
    WRITE(thread, .tid = 4243, .parent_tid = 4242, .time_ns = now_ns, .comm = TEXT("app"));
    WRITE(thread_name, .tid = 4243, .time_ns = now_ns + 10, .comm = TEXT("worker \xc3\xa4"));
    WRITE(thread_end, .tid = 4243, .time_ns = now_ns + 99, .cpu_ns = 123456);
    WRITE(count, .event = 0, .time_ns = now_ns, .count = 60060060, .time_enabled_ns = 70000000,
          .time_running_ns = 60000000, .lost = 3);
    WRITE(code_name, .module = 1, .address = 0x7f0012345678, .start = 0x7f0012345600,
          .end = 0x7f0012345700, .name = TEXT("JS:*fib fib.js:1:13"));
    WRITE(code_name, .module = YARN_DUMP_NONE, .address = UINT64_MAX, .name = TEXT("stub"));
    WRITE(code_name, .module = 1, .address = 0x7f0012345900, .start = 0x7f0012345800,
          .end = 0x7f0012345a00); /* asked for in vain */
    WRITE(lost, .time_ns = now_ns + 3, .count = 17, .event = YARN_DUMP_NONE, .cpu = 5);
    WRITE(lost, .time_ns = now_ns + 4, .count = 1, .event = 0, .cpu = 0);
    WRITE(throttle, .time_ns = now_ns + 5, .event = 0, .cpu = 2, .is_on = true);
    WRITE(throttle, .time_ns = now_ns + 6, .event = 0, .cpu = 2, .is_on = false);
    WRITE(message, .time_ns = now_ns + 7, .kind = YARN_DUMP_MESSAGE_MARK, .tid = 4242,
          .text = TEXT("phase two"));
    WRITE(message, .time_ns = now_ns + 8, .kind = YARN_DUMP_MESSAGE_WARNING,
          .text = TEXT("YARN_FOO is no variable of yarn"));
    WRITE(coverage, .time_ns = now_ns + 9, .cause = YARN_DUMP_COVERAGE_SOCKET);
    WRITE(coverage, .time_ns = now_ns + 90, .is_on = true, .cause = YARN_DUMP_COVERAGE_PROGRAM,
          .off_cpu_ns = 77);
}

static void write_totals(struct made_dump *dump, struct record_log *wanted, uint64_t now_ns)
{
    struct yarn_dump_totals totals = {.time_ns = now_ns};
    for (size_t key = 0; key < YARN_DUMP_TOTAL_COUNT; key++)
        totals.value[key] = key % 3 ? key * 1000 : now_ns * key;
    yarn_dump_write_totals(dump->writer, &totals);
    if (wanted)
        record_log_visitor.totals(wanted, &totals);
}

void made_dump_fill(struct made_dump *dump, struct record_log *wanted)
{
    write_context(dump, wanted);
    made_dump_frames(dump, wanted);
    write_stacks(dump, wanted);
    write_samples(dump, wanted, START_NS + 1000000);
    write_totals(dump, wanted, START_NS + 100000000);
    yarn_dump_writer_flush(dump->writer);

    write_happenings(dump, wanted, START_NS + 110000000);
    yarn_dump_writer_flush(dump->writer);

    write_samples(dump, wanted, START_NS + 200000000);
    write_totals(dump, wanted, START_NS + 300000000);
    write_totals(dump, wanted, START_NS + 300000000);
    WRITE(end, .time_ns = START_NS + 300000001, .reason = YARN_DUMP_END_EXEC, .status = -1);
    made_dump_finish(dump);
}

void made_dump_everything(struct made_dump *dump, struct record_log *wanted)
{
    made_dump_begin(dump, NULL);
    made_dump_fill(dump, wanted);
}
