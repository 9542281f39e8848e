/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/pipeline/walks.h"

#include "unwind/registers.h"

/* Copies are too short where more than one in CUT_SHARE was; one alone is no share. */
enum { CUT_SHARE = 200, CUT_LEAST = 1, COPIES_OF_LATE = 2048 };

static void add_kernel(struct yarn_queued *queued, uint64_t ip)
{
    if (queued->nr_kernel == YARN_KERNEL_FRAMES_MAX)
        return;
    queued->kernel[queued->nr_kernel] = ip - (queued->nr_kernel ? 1 : 0);
    queued->nr_kernel++;
}

/* The kernel's part of the chain, which comes first; returns where it ends. */
static size_t walk_kernel(struct yarn_queued *queued, const struct yarn_record *sample)
{
    bool is_in_kernel = false;
    size_t at = 0;
    uint64_t ip;
    for (; yarn_record_caller(sample, at, &ip); at++) {
        if (ip >= PERF_CONTEXT_MAX)
            is_in_kernel = ip == (uint64_t)PERF_CONTEXT_KERNEL;
        else if (!is_in_kernel)
            break;
        else
            add_kernel(queued, ip);
    }
    return at;
}

static void add_frame(const struct yarn_walks *walks, uint64_t ip, uint64_t lookup_ip,
                      struct yarn_frames *frames)
{
    frames->frame[frames->count++] = (struct yarn_unwind_frame){
        .ip = ip,
        .lookup_ip = lookup_ip,
        .module = yarn_module_map_find(walks->map, lookup_ip),
    };
}

static enum yarn_stack_end end_of(const struct yarn_walks *walks, const struct yarn_frames *frames)
{
    uint64_t outermost = frames->frame[frames->count - 1].lookup_ip;
    return yarn_unwinder_is_outermost(walks->unwinder, outermost) ? YARN_STACK_END_COMPLETE
                                                                  : YARN_STACK_END_CUT;
}

static void walk_chain(struct yarn_walks *walks, const struct yarn_record *sample, size_t at,
                       struct yarn_frames *frames)
{
    uint64_t ip;
    for (; yarn_record_caller(sample, at, &ip); at++) {
        if (ip >= PERF_CONTEXT_MAX || frames->count == YARN_FRAMES_MAX)
            continue;
        add_frame(walks, ip, ip - (frames->count ? 1 : 0), frames);
    }
    frames->end = frames->count ? end_of(walks, frames) : YARN_STACK_END_ABSENT;
}

/* Copies of longer ago count less. */
static void note_copy(struct yarn_walks *walks, bool is_cut)
{
    if (walks->nr_copies == COPIES_OF_LATE) {
        walks->nr_copies /= 2;
        walks->nr_cut /= 2;
    }
    walks->nr_copies++;
    walks->nr_cut += is_cut;
}

bool yarn_walks_are_cut(const struct yarn_walks *walks)
{
    return walks->nr_cut >= CUT_LEAST && walks->nr_cut * CUT_SHARE > walks->nr_copies;
}

static bool read_register(const void *self, unsigned bit, uint64_t *ret_value)
{
    const struct yarn_typed_record *sample = self;
    return yarn_record_register(&sample->perf, sample->attr->sample_regs_user, bit, ret_value);
}

/* The kernel's copy ends at a page that was never touched, as in a large array that is not used
 * yet. Once such pages were read they are there, and later copies go on. True where there were
 * some. */
static bool fill_hole(const struct yarn_walks *walks, const struct yarn_stack_copy *stack,
                      uint64_t asked_bytes)
{
    enum { PAGE = 4096 };
    const struct yarn_target *target = yarn_module_map_target(walks->map);
    uint64_t bytes = stack->first.size + stack->second.size;
    uint64_t begin = stack->start + bytes, at = begin;
    uint8_t byte;
    if (bytes && begin % PAGE)
        return false;
    while (at < stack->start + asked_bytes && yarn_target_read(target, at, &byte, sizeof byte) == 0)
        at = (at / PAGE + 1) * PAGE;
    return at > begin;
}

static void walk_copy(struct yarn_walks *walks, const struct yarn_typed_record *sample,
                      struct yarn_frames *frames)
{
    struct yarn_registers registers;
    if (!yarn_registers_of_perf(read_register, sample, &registers)) {
        frames->end = YARN_STACK_END_ABSENT;
        return;
    }
    struct yarn_stack_copy stack = {
        .start = registers.sp,
        .first = sample->stack.first,
        .second = sample->stack.second,
        .time_ns = sample->perf.time,
        .tid = (pid_t)sample->perf.tid,
    };
    yarn_unwinder_unwind(walks->unwinder, &registers, &stack, frames);
    bool is_cut = frames->end == YARN_STACK_END_CUT;
    note_copy(walks, is_cut && !fill_hole(walks, &stack, sample->attr->sample_stack_user));
}

/* As the processor noted them: of each call the instruction that made it, the latest first. What
 * called the kernel is in the function that the latest call entered. */
static void walk_calls(struct yarn_walks *walks, const struct yarn_record *sample, bool is_kernel,
                       struct yarn_frames *frames)
{
    struct perf_branch_entry call = {.from = sample->ip};
    size_t at = 0;
    frames->end = YARN_STACK_END_CUT;
    if (is_kernel && !yarn_record_branch(sample, 0, &call))
        return;
    if (is_kernel)
        call.from = call.to;
    do {
        add_frame(walks, call.from, call.from, frames);
    } while (frames->count < YARN_FRAMES_MAX && yarn_record_branch(sample, at++, &call));
    frames->end = end_of(walks, frames);
}

/* The registers are of the image before until an exec returns: nothing is mapped there, and their
 * stack has gone. Once a process had a user part that is a fault on the stack of unknown code. */
static bool is_in_exec(const struct yarn_walks *walks, const struct yarn_frames *frames)
{
    return !walks->has_user_part && frames->count == 1 && !frames->frame[0].module &&
           frames->end == YARN_STACK_END_CUT;
}

void yarn_walks_fill(struct yarn_walks *walks, const struct yarn_typed_record *record,
                     struct yarn_queued *queued)
{
    const struct yarn_record *sample = &record->perf;
    /* A stack that did not come is a cut one. */
    bool is_asked = sample->fields & (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER);
    bool is_kernel = (record->perf.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    size_t user_at = walk_kernel(queued, sample);
    if (is_kernel && !queued->nr_kernel)
        add_kernel(queued, sample->ip);
    struct yarn_frames *frames = yarn_queued_frames(queued);
    if (record->attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK)
        walk_calls(walks, sample, is_kernel, frames);
    else if (yarn_record_has_registers(sample))
        walk_copy(walks, record, frames);
    else
        walk_chain(walks, sample, user_at, frames);
    /* A thread of the kernel's own, as io_uring has them, or one of which the kernel gave no
     * registers. */
    bool has_user_part = frames->count > 1 || (frames->count && frames->frame[0].ip);
    if (is_kernel && (!has_user_part || is_in_exec(walks, frames))) {
        frames->count = 0;
        frames->end = is_asked ? YARN_STACK_END_COMPLETE : YARN_STACK_END_ABSENT;
        return;
    }
    walks->has_user_part |= has_user_part;
    /* The frame where the sample hit, alone: no stack was asked for, or none came. */
    if (!frames->count) {
        add_frame(walks, sample->ip, sample->ip, frames);
        frames->end = YARN_STACK_END_ABSENT;
    }
    /* The kernel could give neither registers nor chain: callers there are, but which is unknown.
     */
    if (frames->end == YARN_STACK_END_ABSENT && is_asked)
        frames->end = YARN_STACK_END_CUT;
    if (sample->registers_abi == PERF_SAMPLE_REGS_ABI_32) {
        walks->has_narrow = true;
        frames->end = YARN_STACK_END_NO_INFO;
    }
}
