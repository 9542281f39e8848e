/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Both engines over the stacks of a real program: agreement, completeness, and nanoseconds a frame
 * with warm caches.
 *
 *     bench_unwind [--samples=N] [--copy=BYTES] [--period-us=N] [--verbose]
 * COMMAND…
 *
 * The command's first thread is stopped again and again (ptrace); its registers and the top of its
 * stack are copied as the kernel's sampler would copy them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/traced.h"

enum { COPY_MAX = 65528, ROUNDS = 7, ENGINES = 2, REPORTS_MAX = 10 };

static const char *const engine_name[ENGINES] = {"auto", "libunwind"};
static const char *const end_name[] = {[YARN_STACK_END_COMPLETE] = "complete",
                                       [YARN_STACK_END_CUT] = "truncated",
                                       [YARN_STACK_END_NO_INFO] = "no unwind information",
                                       [YARN_STACK_END_FAILED] = "failed",
                                       [YARN_STACK_END_ABSENT] = "none"};

struct sample {
    struct yarn_registers registers;
    struct yarn_stack_copy stack; /* owns first.data */
};

struct bench {
    unsigned max_samples, period_us;
    size_t copy;
    bool is_verbose;
    struct traced traced;
    struct yarn_unwinder *engine[ENGINES];
    struct sample *samples;
    unsigned nr_samples;
    uint64_t ends[ENGINES][YARN_COUNT_OF(end_name)];
    uint64_t frames[ENGINES];
    unsigned nr_equal;
};

static void die(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

static void print_frames(const char *who, const struct yarn_frames *frames)
{
    (void)printf("  %s: %s\n", who, end_name[frames->end]);
    for (unsigned i = 0; i < frames->count && i < 60; i++) {
        const struct yarn_unwind_frame *frame = &frames->frame[i];
        (void)printf("    %#lx %s+%#lx\n", (unsigned long)frame->ip,
                     frame->module ? frame->module->path : "?",
                     (unsigned long)(frame->module ? frame->ip - frame->module->bias : 0));
    }
}

static bool are_equal(const struct yarn_frames *a, const struct yarn_frames *b)
{
    bool is_equal = a->count == b->count && a->end == b->end;
    for (unsigned i = 0; is_equal && i < a->count; i++)
        is_equal = a->frame[i].ip == b->frame[i].ip;
    return is_equal;
}

static void take_sample(struct bench *bench)
{
    static struct yarn_frames frames[ENGINES];
    struct sample *sample = &bench->samples[bench->nr_samples];
    uint8_t *bytes = malloc(bench->copy);
    if (!bytes)
        die("malloc");
    if (traced_take(&bench->traced, &sample->registers, &sample->stack, bytes, bench->copy))
        die("traced_take");
    bench->nr_samples++;
    for (unsigned i = 0; i < ENGINES; i++) {
        yarn_unwinder_unwind(bench->engine[i], &sample->registers, &sample->stack, &frames[i]);
        bench->ends[i][frames[i].end]++;
        bench->frames[i] += frames[i].count;
    }
    bool is_equal = are_equal(&frames[0], &frames[1]);
    bench->nr_equal += is_equal;
    bool is_odd = !is_equal || frames[0].end != YARN_STACK_END_COMPLETE;
    static unsigned nr_reports;
    if (bench->is_verbose && is_odd && nr_reports++ < REPORTS_MAX) {
        (void)printf("sample %u:\n", bench->nr_samples);
        print_frames(engine_name[0], &frames[0]);
        if (!is_equal)
            print_frames(engine_name[1], &frames[1]);
    }
}

static uint64_t cpu_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * YARN_NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_ns(const struct bench *bench, unsigned engine)
{
    static struct yarn_frames frames;
    double rounds[ROUNDS];
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t nr_frames = 0, before = cpu_ns();
        for (unsigned i = 0; i < bench->nr_samples; i++) {
            const struct sample *sample = &bench->samples[i];
            yarn_unwinder_unwind(bench->engine[engine], &sample->registers, &sample->stack,
                                 &frames);
            nr_frames += frames.count;
        }
        rounds[round] = (double)(cpu_ns() - before) / (double)yarn_u64_max(nr_frames, 1);
    }
    qsort(rounds, ROUNDS, sizeof rounds[0], compare_doubles);
    return rounds[ROUNDS / 2];
}

static void report(struct bench *bench)
{
    double ns[ENGINES];
    (void)printf("%u samples, %.1f frames a sample, equal %u (%.2f %%)\n", bench->nr_samples,
                 (double)bench->frames[0] / bench->nr_samples, bench->nr_equal,
                 100.0 * bench->nr_equal / bench->nr_samples);
    for (unsigned i = 0; i < ENGINES; i++) {
        ns[i] = median_ns(bench, i);
        (void)printf("%-10s %7.1f ns a frame;", engine_name[i], ns[i]);
        for (unsigned end = 0; end < YARN_COUNT_OF(end_name); end++)
            if (bench->ends[i][end])
                (void)printf(" %s %lu", end_name[end], (unsigned long)bench->ends[i][end]);
        (void)printf("\n");
    }
    (void)printf("ratio %.1f\n", ns[1] / ns[0]);
}

static int parse_arguments(struct bench *bench, int argc, char **argv)
{
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at++) {
        const char *value = strchr(argv[at], '=');
        unsigned long number = value ? strtoul(value + 1, NULL, 10) : 0;
        if (strncmp(argv[at], "--samples=", 10) == 0)
            bench->max_samples = (unsigned)number;
        else if (strncmp(argv[at], "--copy=", 7) == 0)
            bench->copy = yarn_size_min(number, COPY_MAX);
        else if (strncmp(argv[at], "--period-us=", 12) == 0)
            bench->period_us = (unsigned)number;
        else if (strcmp(argv[at], "--verbose") == 0)
            bench->is_verbose = true;
        else
            return -1;
    }
    return at < argc ? at : -1;
}

int main(int argc, char **argv)
{
    struct bench bench = {.max_samples = 2000, .period_us = 500, .copy = COPY_MAX};
    int at = parse_arguments(&bench, argc, argv);
    if (at < 0 || !bench.max_samples) {
        (void)fprintf(stderr,
                      "usage: %s [--samples=N] [--copy=BYTES] [--period-us=N] [--verbose] "
                      "COMMAND...\n",
                      argv[0]);
        return 2;
    }
    if (traced_start(&bench.traced, argv + at))
        die(argv[at]);
    bench.samples = calloc(bench.max_samples, sizeof *bench.samples);
    if (!bench.samples)
        die("memory");
    for (unsigned i = 0; i < ENGINES; i++)
        if (yarn_unwinder_new(&bench.engine[i], (enum yarn_unwinder_choice)i, bench.traced.map))
            die("yarn_unwinder_new");
    while (bench.nr_samples < bench.max_samples && traced_run_on(&bench.traced, bench.period_us))
        take_sample(&bench);
    if (bench.nr_samples)
        report(&bench);
    traced_end(&bench.traced);
    return bench.nr_samples ? EXIT_SUCCESS : EXIT_FAILURE;
}
