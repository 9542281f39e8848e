/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Writes dumps of known content into a folder, for the tests of yarnprof's command line:
 *     make_dumps FOLDER
 *     make_dumps FILE SAMPLES      one large dump, for measuring
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "dump_maker.h"

static struct dump_maker maker;

static void open_in(const char *folder, const char *file, const char *name, uint32_t pid)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder, file);
    dump_maker_open(&maker, path, name, pid);
}

/* 100 samples: 60 in hot, 30 in warm below it, 6 cut, 4 without a stack. */
static void make_app(const char *folder)
{
    open_in(folder, "app.dump", "app", 100);
    dump_maker_add_thread(&maker, 101, "worker");
    dump_maker_add_event(&maker, 1, "page-faults", 0);
    dump_maker_add_event(&maker, 2, "cycles", 2);
    uint32_t hot = dump_maker_stack(&maker, "_start;main;hot");
    uint32_t warm = dump_maker_stack(&maker, "_start;main;hot;libx!_ZN2ns4warmEi");
    uint32_t cut = dump_maker_stack(&maker, "outer;deep\033[31m;+1a00");
    dump_maker_sample(&maker, 100, hot, YARN_DUMP_STACK_COMPLETE, 60);
    dump_maker_sample(&maker, 101, warm, YARN_DUMP_STACK_COMPLETE, 30);
    dump_maker_sample(&maker, 101, cut, YARN_DUMP_STACK_TRUNCATED, 6);
    dump_maker_sample(&maker, 100, YARN_DUMP_NONE, YARN_DUMP_STACK_NONE, 4);
    dump_maker_sample_of(&maker, 1, 100, 1, hot, 3);
    struct yarn_dump_message mark = {
        .time_ns = maker.now_ns,
        .kind = YARN_DUMP_MESSAGE_MARK,
        .tid = 101,
        .text = yarn_span_of_text("phase 2"),
    };
    yarn_dump_write_message(maker.writer, &mark);
    dump_maker_close(&maker, false);
}

static void make_child(const char *folder)
{
    open_in(folder, "child.dump", "child", 200);
    uint32_t hot = dump_maker_stack(&maker, "_start;main;hot");
    dump_maker_sample(&maker, 200, hot, YARN_DUMP_STACK_COMPLETE, 100);
    dump_maker_close(&maker, false);
}

static void make_cut(const char *folder)
{
    open_in(folder, "cut.dump", "cut", 300);
    uint32_t hot = dump_maker_stack(&maker, "_start;main;hot");
    dump_maker_sample(&maker, 300, hot, YARN_DUMP_STACK_COMPLETE, 10);
    yarn_dump_writer_flush(maker.writer);
    dump_maker_sample(&maker, 300, hot, YARN_DUMP_STACK_COMPLETE, 10);
    dump_maker_close(&maker, true);
}

/* One has a name that a terminal must not get. One has no sample, but used the CPU for 7 ms. One
 * was stopped for 30 of 40 ms. Of the
 * other's 10 samples 2 more were lost; 5 ms passed unsampled, 2 of them with the lost samples. */
static void make_missing(const char *folder)
{
    char more[200];
    (void)snprintf(more, sizeof more, "%s/more", folder);
    if (mkdir(more, 0700))
        exit(EXIT_FAILURE);
    open_in(more, "missing.dump", "missing", 500);
    dump_maker_add_event(&maker, 1, "page-faults", 0);
    uint32_t hot = dump_maker_stack(&maker, "main;hot");
    dump_maker_sample(&maker, 500, hot, YARN_DUMP_STACK_COMPLETE, 10);
    dump_maker_sample_of(&maker, 1, 500, 0, dump_maker_stack(&maker, "main;grow"), 4);
    maker.lost = 2;
    maker.unsampled_ns = 5 * MAKER_PERIOD_NS;
    dump_maker_close(&maker, false);
    open_in(more, "escape.dump", "esc\033[31mape", 700);
    dump_maker_sample(&maker, 700, dump_maker_stack(&maker, "main;hot"), YARN_DUMP_STACK_COMPLETE,
                      5);
    dump_maker_close(&maker, false);
    open_in(more, "silent.dump", "silent", 600);
    maker.unsampled_ns = 7 * MAKER_PERIOD_NS;
    dump_maker_close(&maker, false);
    open_in(more, "stopped.dump", "stopped", 800);
    dump_maker_sample(&maker, 800, dump_maker_stack(&maker, "main;hot"), YARN_DUMP_STACK_COMPLETE,
                      10);
    dump_maker_stop(&maker, 30 * MAKER_PERIOD_NS);
    dump_maker_close(&maker, false);
}

/* One process each on two machines. */
static void make_machines(const char *folder)
{
    static const struct dump_maker_place places[] = {
        {"one", "boot-1", 50 * YARN_NS_PER_SECOND, UINT64_C(1700000000) * YARN_NS_PER_SECOND, 0},
        {"two", "boot-2", 90 * YARN_NS_PER_SECOND, UINT64_C(1700000000) * YARN_NS_PER_SECOND, 0},
    };
    char path[400];
    (void)snprintf(path, sizeof path, "%s/machines", folder);
    if (mkdir(path, 0700))
        exit(EXIT_FAILURE);
    for (uint32_t i = 0; i < YARN_COUNT_OF(places); i++) {
        (void)snprintf(path, sizeof path, "%s/machines/%s.dump", folder, places[i].host);
        dump_maker_open_at(&maker, path, "app", 1400 + i, &places[i]);
        dump_maker_sample(&maker, 1400 + i, dump_maker_stack(&maker, "main;hot"),
                          YARN_DUMP_STACK_COMPLETE, 10);
        dump_maker_close(&maker, false);
    }
}

/* 100 ms without a sample, with each reason that can be reported, beside lost samples of faults,
 * which are no time; and a dump that says that 900 ms
 * of its 10 ms passed unsampled. */
static void make_reasons(const char *folder)
{
    open_in(folder, "more/reasons.dump", "reasons", 1200);
    dump_maker_add_event(&maker, 1, "page-faults", 0);
    uint32_t hot = dump_maker_stack(&maker, "main;hot");
    dump_maker_sample(&maker, 1200, hot, YARN_DUMP_STACK_COMPLETE, 100);
    dump_maker_add_thread(&maker, 1201, "short");
    dump_maker_add_thread(&maker, 1202, "silent");
    struct yarn_dump_thread_end ends[] = {{.tid = 1201, .cpu_ns = MAKER_PERIOD_NS / 2},
                                          {.tid = 1202, .cpu_ns = 40 * MAKER_PERIOD_NS}};
    for (size_t i = 0; i < YARN_COUNT_OF(ends); i++) {
        ends[i].time_ns = maker.now_ns;
        yarn_dump_write_thread_end(maker.writer, &ends[i]);
    }
    maker.lost = 3;
    maker.lost_of_faults = 4;
    maker.children_ns = 20 * MAKER_PERIOD_NS;
    maker.before_ns = 10 * MAKER_PERIOD_NS;
    maker.switching_ns = 12 * MAKER_PERIOD_NS;
    maker.blocked_ns = 4 * MAKER_PERIOD_NS;
    maker.rest_ns = 3 * MAKER_PERIOD_NS;
    maker.unsampled_ns = 100 * MAKER_PERIOD_NS;
    dump_maker_close(&maker, false);
    open_in(folder, "more/killed.dump", "killed", 1250);
    dump_maker_sample(&maker, 1250, dump_maker_stack(&maker, "main;hot"), YARN_DUMP_STACK_COMPLETE,
                      10);
    dump_maker_totals(&maker);
    dump_maker_close(&maker, true);
    open_in(folder, "more/too_much.dump", "too_much", 1300);
    dump_maker_sample(&maker, 1300, dump_maker_stack(&maker, "main;hot"), YARN_DUMP_STACK_COMPLETE,
                      10);
    maker.too_much_ns = 900 * MAKER_PERIOD_NS;
    dump_maker_close(&maker, false);
}

/* 10 ms in user mode and 30 in the kernel, which was not permitted to be sampled. */
static void make_kernel(const char *folder)
{
    open_in(folder, "more/kernel.dump", "kernel", 1100);
    struct yarn_dump_event event = {
        .name = yarn_span_of_text("cpu-clock"),
        .asked = yarn_span_of_text("auto"),
        .got = yarn_span_of_text("cpu-clock:u"),
        .unit = yarn_span_of_text("ns"),
        .flags = YARN_DUMP_EVENT_IS_CLOCK | YARN_DUMP_EVENT_EXCLUDES_KERNEL |
                 YARN_DUMP_EVENT_KERNEL_REFUSED,
        .period = MAKER_PERIOD_NS,
    };
    yarn_dump_write_event(maker.writer, &event);
    dump_maker_sample(&maker, 1100, dump_maker_stack(&maker, "main;hot"), YARN_DUMP_STACK_COMPLETE,
                      10);
    maker.kernel_ns = 30 * MAKER_PERIOD_NS;
    dump_maker_close(&maker, false);
}

/* More functions than a terminal is shown. */
static void make_many(const char *folder)
{
    open_in(folder, "more/many.dump", "many", 900);
    for (unsigned i = 0; i < 60; i++) {
        char words[32];
        (void)snprintf(words, sizeof words, "main;function_%u", i);
        dump_maker_sample(&maker, 900, dump_maker_stack(&maker, words), YARN_DUMP_STACK_COMPLETE,
                          1);
    }
    dump_maker_close(&maker, false);
}

/* Stopped by a client's command, and not started again. */
static void make_stopped(const char *folder)
{
    open_in(folder, "more/stopped_for_good.dump", "off", 1000);
    dump_maker_sample(&maker, 1000, dump_maker_stack(&maker, "main;hot"), YARN_DUMP_STACK_COMPLETE,
                      5);
    struct yarn_dump_coverage coverage = {
        .time_ns = maker.now_ns,
        .cause = YARN_DUMP_COVERAGE_SOCKET,
    };
    yarn_dump_write_coverage(maker.writer, &coverage);
    dump_maker_close(&maker, false);
}

/* Depth 8 to 40, a few hundred functions, about a third of the stacks new. */
static void make_large(const char *path, uint64_t samples)
{
    static char words[4096];
    uint64_t state = 1;
    uint32_t stack = YARN_DUMP_NONE;
    dump_maker_open(&maker, path, "large", 400);
    for (uint64_t i = 0; i < samples; i++) {
        state = yarn_hash_u64(state + i);
        if (i % 3 == 0) {
            size_t depth = 8 + state % 32;
            size_t at = 0;
            for (size_t level = 0; level < depth; level++)
                at += (size_t)snprintf(words + at, sizeof words - at, "%sfunction_%zu",
                                       level ? ";" : "",
                                       level * 8 + (size_t)(state >> (level % 24 + 8)) % 8);
            stack = dump_maker_stack(&maker, words);
        }
        dump_maker_sample(&maker, 400, stack, YARN_DUMP_STACK_COMPLETE, 1);
    }
    dump_maker_close(&maker, false);
}

int main(int argc, char **argv)
{
    if (argc == 3) {
        make_large(argv[1], strtoull(argv[2], NULL, 10));
        return EXIT_SUCCESS;
    }
    if (argc != 2)
        return EXIT_FAILURE;
    make_app(argv[1]);
    make_child(argv[1]);
    make_cut(argv[1]);
    make_missing(argv[1]);
    make_kernel(argv[1]);
    make_reasons(argv[1]);
    make_machines(argv[1]);
    make_many(argv[1]);
    make_stopped(argv[1]);
    return EXIT_SUCCESS;
}
