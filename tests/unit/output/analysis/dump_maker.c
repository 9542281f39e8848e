/* SPDX-License-Identifier: Apache-2.0 */
#include "dump_maker.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct yarn_span text(const char *value)
{
    return yarn_span_of_text(value);
}

static void add_modules(struct dump_maker *maker, const char *exe,
                        const struct dump_maker_place *place)
{
    static const uint8_t build_id[] = {0xab, 0xcd, 0xef, 0x01};
    struct yarn_dump_module own = {
        .number = 0,
        .start = 0x400000,
        .end = 0x500000,
        .time_ns = place->start_ns,
        .path = text(exe),
        .build_id = yarn_span_of(build_id, sizeof build_id),
        .state = 1,
    };
    struct yarn_dump_module library = own;
    library.number = 1;
    library.start = 0x7f0000000000;
    library.end = 0x7f0000100000;
    library.path = text("/lib/libx.so.1");
    const uint8_t other[] = {place->library_build, 0x22, 0x33, 0x44, 0x55};
    library.build_id = yarn_span_of(other, place->library_build ? sizeof other : 0);
    yarn_dump_write_module(maker->writer, &own);
    yarn_dump_write_module(maker->writer, &library);
}

static void add_process(struct dump_maker *maker, const char *exe, uint32_t pid,
                        const struct dump_maker_place *place)
{
    char cmdline[256];
    int size = snprintf(cmdline, sizeof cmdline, "%s%c--fast%cit's", exe, 0, 0);
    struct yarn_dump_process process = {
        .pid = pid,
        .ppid = 1,
        .start_ns = place->start_ns,
        .start_realtime_ns = place->start_realtime_ns,
        .boot_id = text(place->boot_id),
        .boottime_offset_ns = 5 * YARN_NS_PER_SECOND,
        .cpus_present = 4,
        .cpus_online = 2,
        .page_bytes = 4096,
        .exe = text(exe),
        .cmdline = yarn_span_of(cmdline, (size_t)size),
        .host = text(place->host),
        .kernel = text("6.1.0"),
        .arch = text("x86_64"),
    };
    struct yarn_dump_sampler sampler = {
        .asked = text("auto"),
        .got = text("perf"),
        .strategy = text("per-core"),
        .reader = text("poll"),
        .ring_got_bytes = YARN_MIB(1),
        .stack_asked_bytes = 32768,
        .stack_got_bytes = 32768,
        .nr_rings = 2,
    };
    yarn_dump_write_process(maker->writer, &process);
    yarn_dump_write_sampler(maker->writer, &sampler);
}

void dump_maker_open(struct dump_maker *maker, const char *path, const char *name, uint32_t pid)
{
    static const struct dump_maker_place place = {
        .host = "host",
        .boot_id = "",
        .start_ns = MAKER_START_NS,
        .start_realtime_ns = UINT64_C(1700000000) * YARN_NS_PER_SECOND,
    };
    dump_maker_open_at(maker, path, name, pid, &place);
}

void dump_maker_open_at(struct dump_maker *maker, const char *path, const char *name, uint32_t pid,
                        const struct dump_maker_place *place)
{
    char exe[128];
    struct yarn_dump_event clock = {
        .number = 0,
        .name = text("cpu-clock"),
        .asked = text("auto"),
        .got = text("cpu-clock"),
        .unit = text("ns"),
        .flags = YARN_DUMP_EVENT_IS_CLOCK,
        .type = 1,
        .period = MAKER_PERIOD_NS,
    };
    memset(maker, 0, sizeof *maker);
    maker->now_ns = place->start_ns;
    (void)snprintf(maker->path, sizeof maker->path, "%s", path);
    (void)snprintf(exe, sizeof exe, "/usr/bin/%s", name);
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0 || yarn_dump_writer_new(&maker->writer, NULL) ||
        yarn_dump_writer_open(maker->writer, fd))
        abort();
    add_process(maker, exe, pid, place);
    yarn_dump_write_event(maker->writer, &clock);
    add_modules(maker, exe, place);
    dump_maker_add_thread(maker, pid, name);
}

void dump_maker_add_event(struct dump_maker *maker, uint32_t number, const char *name,
                          uint32_t error)
{
    struct yarn_dump_event event = {
        .number = number,
        .name = text(name),
        .asked = text(name),
        .got = text(error ? "" : name),
        .unit = text("events"),
        .error = error,
        .type = 1,
        .period = 1,
    };
    yarn_dump_write_event(maker->writer, &event);
}

void dump_maker_add_thread(struct dump_maker *maker, uint32_t tid, const char *comm)
{
    struct yarn_dump_thread thread = {.tid = tid, .time_ns = maker->now_ns, .comm = text(comm)};
    yarn_dump_write_thread(maker->writer, &thread);
}

static uint32_t make_frame(struct dump_maker *maker, const char *word)
{
    const char *bang = strchr(word, '!');
    struct yarn_dump_frame frame = {0};
    struct yarn_dump_symbol symbol = {.module = bang ? 1 : 0};
    const char *name = bang ? bang + 1 : word;
    uint64_t start = 0x1000 + 0x100 * (uint64_t)maker->nr_frames;
    if (*name == '+')
        start = strtoull(name + 1, NULL, 16);
    else if (*name != '?')
        symbol.name = text(name);
    if (*name == '?') {
        symbol.module = YARN_DUMP_NONE;
        start = 0;
    }
    symbol.start = start;
    symbol.end = start ? start + 0x100 : 0;
    frame.symbol = yarn_dump_intern_symbol(maker->writer, &symbol);
    frame.address = start + 0x10;
    return yarn_dump_add_frame(maker->writer, &frame);
}

static uint32_t frame_of(struct dump_maker *maker, const char *word)
{
    for (size_t i = 0; i < maker->nr_frames; i++) {
        if (strcmp(maker->names[i], word) == 0)
            return maker->frames[i];
    }
    if (maker->nr_frames == MAKER_FUNCTIONS_MAX)
        abort();
    maker->names[maker->nr_frames] = strdup(word);
    maker->frames[maker->nr_frames] = make_frame(maker, word);
    return maker->frames[maker->nr_frames++];
}

uint32_t dump_maker_stack(struct dump_maker *maker, const char *words)
{
    char *copy = strdup(words);
    char *rest = copy;
    uint32_t stack = YARN_DUMP_NONE;
    for (char *word; (word = strsep(&rest, ";"));)
        stack = yarn_dump_intern_stack(maker->writer, stack, frame_of(maker, word));
    free(copy);
    return stack;
}

static void write_sample(struct dump_maker *maker, const struct yarn_sample *sample)
{
    yarn_dump_write_sample(maker->writer, sample);
    maker->samples++;
    maker->weight += sample->event ? 0 : sample->weight;
    maker->ends[sample->stack_end]++;
}

void dump_maker_sample(struct dump_maker *maker, uint32_t tid, uint32_t stack, uint32_t end,
                       uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        struct yarn_sample sample = {
            .time_ns = maker->now_ns += MAKER_PERIOD_NS,
            .weight = MAKER_PERIOD_NS,
            .tid = tid,
            .stack = stack,
            .stack_end = end,
        };
        write_sample(maker, &sample);
    }
}

void dump_maker_sample_of(struct dump_maker *maker, uint32_t event, uint32_t tid, uint32_t cpu,
                          uint32_t stack, uint64_t weight)
{
    struct yarn_sample sample = {
        .time_ns = maker->now_ns,
        .weight = weight,
        .event = event,
        .tid = tid,
        .cpu = cpu,
        .stack = stack,
    };
    write_sample(maker, &sample);
}

void dump_maker_stop(struct dump_maker *maker, uint64_t stopped_ns)
{
    struct yarn_dump_coverage coverage = {.time_ns = maker->now_ns,
                                          .cause = YARN_DUMP_COVERAGE_PROGRAM};
    yarn_dump_write_coverage(maker->writer, &coverage);
    maker->now_ns += stopped_ns;
    maker->off_cpu_ns += stopped_ns / 2;
    coverage.time_ns = maker->now_ns;
    coverage.is_on = true;
    coverage.off_cpu_ns = stopped_ns / 2;
    yarn_dump_write_coverage(maker->writer, &coverage);
}

void dump_maker_totals(struct dump_maker *maker)
{
    struct yarn_dump_totals totals = {.time_ns = maker->now_ns};
    totals.value[YARN_DUMP_TOTAL_SAMPLES] = maker->samples;
    totals.value[YARN_DUMP_TOTAL_LOST] = maker->lost + maker->lost_of_faults;
    totals.value[YARN_DUMP_TOTAL_CPU_NS] = maker->weight + maker->unsampled_ns + maker->kernel_ns;
    totals.value[YARN_DUMP_TOTAL_UNSAMPLED_NS] = maker->unsampled_ns + maker->too_much_ns;
    totals.value[YARN_DUMP_TOTAL_CHILDREN_NS] = maker->children_ns;
    totals.value[YARN_DUMP_TOTAL_BEFORE_NS] = maker->before_ns;
    totals.value[YARN_DUMP_TOTAL_SWITCHING_NS] = maker->switching_ns;
    totals.value[YARN_DUMP_TOTAL_BLOCKED_NS] = maker->blocked_ns;
    totals.value[YARN_DUMP_TOTAL_REST_NS] = maker->rest_ns;
    totals.value[YARN_DUMP_TOTAL_UNWRITTEN_NS] = 100 * YARN_NS_PER_MS;
    totals.value[YARN_DUMP_TOTAL_KERNEL_NS] = maker->kernel_ns;
    totals.value[YARN_DUMP_TOTAL_OFF_CPU_NS] = maker->off_cpu_ns;
    for (size_t i = 0; i < YARN_DUMP_STACK_END_COUNT; i++)
        totals.value[YARN_DUMP_TOTAL_STACKS_COMPLETE + i] = maker->ends[i];
    struct yarn_dump_count count = {
        .time_ns = maker->now_ns,
        .count = maker->weight,
        .time_enabled_ns = maker->weight,
        .time_running_ns = maker->weight,
        .lost = maker->lost,
    };
    yarn_dump_write_count(maker->writer, &count);
    count = (struct yarn_dump_count){
        .event = 1,
        .time_ns = maker->now_ns,
        .count = maker->lost_of_faults,
        .lost = maker->lost_of_faults,
    };
    if (count.lost)
        yarn_dump_write_count(maker->writer, &count);
    yarn_dump_write_totals(maker->writer, &totals);
}

void dump_maker_close(struct dump_maker *maker, bool is_cut)
{
    struct yarn_dump_end end = {.time_ns = maker->now_ns, .status = 3};
    if (!is_cut) {
        dump_maker_totals(maker);
        yarn_dump_write_end(maker->writer, &end);
    }
    yarn_dump_writer_flush(maker->writer);
    if (yarn_dump_writer_error(maker->writer))
        abort();
    yarn_dump_writer_free(maker->writer);
    for (size_t i = 0; i < maker->nr_frames; i++)
        free(maker->names[i]);
    maker->nr_frames = 0;
}
