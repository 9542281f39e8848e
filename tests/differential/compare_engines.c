/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Walks the same samples of a program by all methods (`auto`) and by libunwind alone, and fails
 * where their stacks differ for a reason that is not known, or differ in more than one of a
 * thousand, or where both give up on many: an agreement that would be worth nothing.
 *
 *     compare_engines SAMPLES COMMAND…
 *
 * The known reasons, each seen in real programs:
 *
 * - epilogue: after `pop %rbp` the tables still say that rbp lies on the stack, now below its
 *   pointer. `auto` knows that the register has its value already; libunwind looks there, at
 *   bytes that no copy of the stack has, and gives up.
 * - no table: hand-written code (gmp) without call frame information. Both guess, each its own way.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/traced.h"
#include "unwind/cfi_row.h"

enum { COPY_BYTES = 65528, PAUSE_US = 300, ENGINES = 2, SKIPPED = 77, FRAMES_SHOWN = 60 };
enum { RBP = 6, RSP = 7 }; /* numbers of DWARF on x86-64 */
enum { DIFFERENT_PER_THOUSAND = 1, CUT_PER_THOUSAND = 20 };

enum reason { EPILOGUE, NO_TABLE, UNKNOWN, REASONS };

struct tally {
    unsigned nr_samples, nr_equal, nr_complete, nr_by_reason[REASONS];
    uint64_t nr_frames;
};

static const char *const engine_name[ENGINES] = {"auto", "libunwind"};
static const char *const end_name[] = {[YARN_STACK_END_COMPLETE] = "complete",
                                       [YARN_STACK_END_CUT] = "truncated",
                                       [YARN_STACK_END_NO_INFO] = "no unwind information",
                                       [YARN_STACK_END_FAILED] = "failed",
                                       [YARN_STACK_END_ABSENT] = "none"};

static int find_row(const struct yarn_unwind_frame *frame, struct yarn_cfi_row *ret_row)
{
    struct yarn_fde fde;
    if (!frame->module || !frame->module->image)
        return -ENOENT;
    uint64_t address = frame->lookup_ip - frame->module->bias;
    int err = yarn_cfi_find(frame->module->image, address, &fde);
    if (err)
        return err;
    return yarn_cfi_row_at(&fde, address, ret_row);
}

/* The saved rbp of the row lies below the stack pointer. */
static bool is_in_epilogue(const struct yarn_unwind_frame *leaf)
{
    struct yarn_cfi_row row;
    return find_row(leaf, &row) == 0 && !row.has_cfa_expression && row.cfa_register == RSP &&
           row.place[RBP].where == YARN_CFI_AT_CFA && row.cfa_offset + row.place[RBP].value < 0;
}

static unsigned nr_common(const struct yarn_frames *a, const struct yarn_frames *b)
{
    unsigned nr = 0;
    while (nr < a->count && nr < b->count && a->frame[nr].ip == b->frame[nr].ip)
        nr++;
    return nr;
}

static enum reason reason_of(const struct yarn_frames *automatic,
                             const struct yarn_frames *libunwind)
{
    struct yarn_cfi_row row;
    unsigned nr = nr_common(automatic, libunwind);
    bool has_given_up = libunwind->count == nr && libunwind->end != YARN_STACK_END_COMPLETE;
    if (!nr)
        return UNKNOWN;
    if (has_given_up && automatic->end == YARN_STACK_END_COMPLETE &&
        is_in_epilogue(&automatic->frame[0]))
        return EPILOGUE;
    return find_row(&automatic->frame[nr - 1], &row) == -ENOENT ? NO_TABLE : UNKNOWN;
}

static void print_frames(const char *who, const struct yarn_frames *frames)
{
    (void)printf("  %s: %s\n", who, end_name[frames->end]);
    for (unsigned i = 0; i < frames->count && i < FRAMES_SHOWN; i++) {
        const struct yarn_unwind_frame *frame = &frames->frame[i];
        (void)printf("    %#lx %s+%#lx\n", (unsigned long)frame->ip,
                     frame->module ? frame->module->path : "?",
                     (unsigned long)(frame->module ? frame->ip - frame->module->bias : 0));
    }
}

static void compare(struct tally *tally, const struct yarn_frames *automatic,
                    const struct yarn_frames *libunwind)
{
    tally->nr_samples++;
    tally->nr_frames += automatic->count;
    tally->nr_complete += automatic->end == YARN_STACK_END_COMPLETE;
    if (automatic->count == libunwind->count && automatic->end == libunwind->end &&
        nr_common(automatic, libunwind) == automatic->count) {
        tally->nr_equal++;
        return;
    }
    enum reason reason = reason_of(automatic, libunwind);
    tally->nr_by_reason[reason]++;
    if (reason != UNKNOWN)
        return;
    (void)printf("sample %u differs:\n", tally->nr_samples);
    print_frames(engine_name[0], automatic);
    print_frames(engine_name[1], libunwind);
}

static int walk(struct traced *traced, struct yarn_unwinder **engines, struct tally *tally)
{
    static uint8_t bytes[COPY_BYTES];
    static struct yarn_frames frames[ENGINES];
    struct yarn_registers registers;
    struct yarn_stack_copy stack;
    int err = traced_take(traced, &registers, &stack, bytes, sizeof bytes);
    if (err)
        return err;
    for (unsigned i = 0; i < ENGINES; i++)
        yarn_unwinder_unwind(engines[i], &registers, &stack, &frames[i]);
    compare(tally, &frames[0], &frames[1]);
    return 0;
}

static bool is_at_most(const struct tally *tally, unsigned nr, unsigned per_thousand)
{
    return 1000 * (uint64_t)nr <= (uint64_t)per_thousand * tally->nr_samples;
}

static int judge(const struct tally *tally)
{
    if (!tally->nr_samples) {
        (void)printf("no samples\n");
        return EXIT_FAILURE;
    }
    bool is_rare = is_at_most(tally, tally->nr_samples - tally->nr_equal, DIFFERENT_PER_THOUSAND);
    bool is_whole = is_at_most(tally, tally->nr_samples - tally->nr_complete, CUT_PER_THOUSAND);
    (void)printf("%u samples, %.1f frames a sample, complete %.2f %%, equal %.2f %%; epilogue %u, "
                 "no table %u, unexplained %u\n",
                 tally->nr_samples, (double)tally->nr_frames / tally->nr_samples,
                 100.0 * tally->nr_complete / tally->nr_samples,
                 100.0 * tally->nr_equal / tally->nr_samples, tally->nr_by_reason[EPILOGUE],
                 tally->nr_by_reason[NO_TABLE], tally->nr_by_reason[UNKNOWN]);
    bool is_explained = !tally->nr_by_reason[UNKNOWN];
    return is_rare && is_whole && is_explained ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    struct traced traced;
    struct tally tally = {0};
    struct yarn_unwinder *engines[ENGINES];
    if (argc < 3) {
        (void)fprintf(stderr, "usage: %s SAMPLES COMMAND...\n", argv[0]);
        return 2;
    }
    unsigned max_samples = (unsigned)strtoul(argv[1], NULL, 10);
    int err = traced_start(&traced, argv + 2);
    if (err) {
        (void)printf("cannot trace %s: %s\n", argv[2], strerror(-err));
        return SKIPPED;
    }
    for (unsigned i = 0; i < ENGINES; i++)
        if (yarn_unwinder_new(&engines[i], (enum yarn_unwinder_choice)i, traced.map))
            return EXIT_FAILURE;
    while (tally.nr_samples < max_samples && traced_run_on(&traced, PAUSE_US))
        if (walk(&traced, engines, &tally))
            break;
    for (unsigned i = 0; i < ENGINES; i++)
        yarn_unwinder_free(engines[i]);
    traced_end(&traced);
    return judge(&tally);
}
