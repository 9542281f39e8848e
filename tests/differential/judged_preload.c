/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The preload, made to believe that half of each stack copy had been taken: asked for copies of
 * 64 KiB, it walks, joins and reads live stacks as with 32 KiB, and each stack that it stores as
 * joined is compared with the walk of its whole copy. The folder JUDGE_FOLDER gets a file for each
 * process, named by its pid: numbers of 64 bits, one for each verdict.
 *
 * Linked with --wrap around functions of the recorder: everything between them is the real one.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "core/base/pages.h"
#include "core/base/raw.h"
#include "core/base/text.h"
#include "core/sys/file.h"
#include "core/sys/process.h"
#include "preload/stacks.h"
#include "preload/walks.h"

enum { COPY_BYTES = 32768, TRUTHS = 1024 };

enum verdict { RIGHT, WRONG, WITHOUT_TRUTH, WHOLE, CUT, OTHER, VERDICTS };

/* The walk of a whole copy. */
struct truth {
    uint64_t time_ns;
    uint32_t tid;
    enum yarn_unwind_end end;
    unsigned count;
    uint64_t ip[YARN_FRAMES_MAX];
};

static struct {
    struct yarn_unwinder *oracle;
    struct yarn_frames frames;
    struct truth *truths; /* a ring */
    unsigned nr_truths;
    uint64_t time_ns; /* of the sample that is being walked */
    uint64_t verdicts[VERDICTS];
    int file;
} judge = {.file = -1};

static void open_file(void)
{
    char path[256];
    const char *folder = getenv("JUDGE_FOLDER");
    struct yarn_text text = yarn_text_of(path, sizeof path);
    if (!folder)
        return;
    yarn_text_add(&text, folder);
    yarn_text_add(&text, "/");
    yarn_text_add_u64(&text, (uint64_t)yarn_process_pid());
    judge.file = yarn_file_create(YARN_FILE_CWD, path);
}

int __real_yarn_unwinder_new(struct yarn_unwinder **ret_unwinder, enum yarn_unwinder_kind kind,
                             struct yarn_module_map *map);
int __wrap_yarn_unwinder_new(struct yarn_unwinder **ret_unwinder, enum yarn_unwinder_kind kind,
                             struct yarn_module_map *map);
int __wrap_yarn_unwinder_new(struct yarn_unwinder **ret_unwinder, enum yarn_unwinder_kind kind,
                             struct yarn_module_map *map)
{
    judge.truths = yarn_pages_map(TRUTHS * sizeof *judge.truths);
    if (!judge.truths)
        return -ENOMEM;
    open_file();
    int err = __real_yarn_unwinder_new(&judge.oracle, kind, map);
    return err ? err : __real_yarn_unwinder_new(ret_unwinder, kind, map);
}

const struct yarn_frames *__real_yarn_walks_of(struct yarn_walks *walks,
                                               const struct yarn_record *record, bool is_kernel);
const struct yarn_frames *__wrap_yarn_walks_of(struct yarn_walks *walks,
                                               const struct yarn_record *record, bool is_kernel);
const struct yarn_frames *__wrap_yarn_walks_of(struct yarn_walks *walks,
                                               const struct yarn_record *record, bool is_kernel)
{
    judge.time_ns = record->time_ns;
    return __real_yarn_walks_of(walks, record, is_kernel);
}

static struct yarn_stack_copy shorten(const struct yarn_stack_copy *stack)
{
    struct yarn_stack_copy half = *stack;
    half.first.size = yarn_size_min(stack->first.size, COPY_BYTES);
    half.second.size = yarn_size_min(stack->second.size, COPY_BYTES - half.first.size);
    return half;
}

static void remember_truth(uint32_t tid)
{
    struct truth *truth = &judge.truths[judge.nr_truths++ % TRUTHS];
    *truth = (struct truth){
        .time_ns = judge.time_ns,
        .tid = tid,
        .end = judge.frames.end,
        .count = judge.frames.count,
    };
    for (unsigned i = 0; i < truth->count; i++)
        truth->ip[i] = judge.frames.frame[i].ip;
}

void __real_yarn_unwinder_unwind(struct yarn_unwinder *unwinder,
                                 const struct yarn_registers *registers,
                                 const struct yarn_stack_copy *stack, uint32_t tid,
                                 struct yarn_frames *ret_frames);
void __wrap_yarn_unwinder_unwind(struct yarn_unwinder *unwinder,
                                 const struct yarn_registers *registers,
                                 const struct yarn_stack_copy *stack, uint32_t tid,
                                 struct yarn_frames *ret_frames);
void __wrap_yarn_unwinder_unwind(struct yarn_unwinder *unwinder,
                                 const struct yarn_registers *registers,
                                 const struct yarn_stack_copy *stack, uint32_t tid,
                                 struct yarn_frames *ret_frames)
{
    struct yarn_stack_copy half = shorten(stack);
    __real_yarn_unwinder_unwind(judge.oracle, registers, stack, tid, &judge.frames);
    remember_truth(tid);
    __real_yarn_unwinder_unwind(unwinder, registers, &half, tid, ret_frames);
}

bool __real_yarn_unwinder_look_beyond(struct yarn_unwinder *unwinder,
                                      const struct yarn_registers *registers,
                                      const struct yarn_stack_copy *stack, uint32_t tid,
                                      uint64_t time_ns, struct yarn_frames *scratch);
bool __wrap_yarn_unwinder_look_beyond(struct yarn_unwinder *unwinder,
                                      const struct yarn_registers *registers,
                                      const struct yarn_stack_copy *stack, uint32_t tid,
                                      uint64_t time_ns, struct yarn_frames *scratch);
bool __wrap_yarn_unwinder_look_beyond(struct yarn_unwinder *unwinder,
                                      const struct yarn_registers *registers,
                                      const struct yarn_stack_copy *stack, uint32_t tid,
                                      uint64_t time_ns, struct yarn_frames *scratch)
{
    struct yarn_stack_copy half = shorten(stack);
    return __real_yarn_unwinder_look_beyond(unwinder, registers, &half, tid, time_ns, scratch);
}

static enum verdict compare(const struct yarn_queued *queued, const struct truth *truth)
{
    if (truth->end != YARN_UNWIND_COMPLETE)
        return WITHOUT_TRUTH;
    if (truth->count != queued->count)
        return WRONG;
    for (unsigned i = 0; i < truth->count; i++)
        if (truth->ip[i] != queued->frame[i].ip)
            return WRONG;
    return RIGHT;
}

static enum verdict verdict_of(const struct yarn_queued *queued)
{
    if (queued->end == YARN_UNWIND_COMPLETE)
        return WHOLE;
    if (queued->end != YARN_UNWIND_JOINED)
        return queued->end == YARN_UNWIND_TRUNCATED ? CUT : OTHER;
    for (unsigned i = 0; i < TRUTHS; i++)
        if (judge.truths[i].time_ns == queued->time_ns && judge.truths[i].tid == queued->tid)
            return compare(queued, &judge.truths[i]);
    return WITHOUT_TRUTH;
}

struct yarn_stack_result __real_yarn_stacks_of(struct yarn_stacks *stacks,
                                               const struct yarn_queued *queued);
struct yarn_stack_result __wrap_yarn_stacks_of(struct yarn_stacks *stacks,
                                               const struct yarn_queued *queued);
struct yarn_stack_result __wrap_yarn_stacks_of(struct yarn_stacks *stacks,
                                               const struct yarn_queued *queued)
{
    judge.verdicts[verdict_of(queued)]++;
    if (judge.file >= 0)
        yarn_raw_call(SYS_pwrite64, judge.file, (long)judge.verdicts, sizeof judge.verdicts, 0, 0,
                      0);
    return __real_yarn_stacks_of(stacks, queued);
}
