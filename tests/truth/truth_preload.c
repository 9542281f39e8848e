/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The preload, which also keeps what each sample was made of: with TRUTH_FILE each sample's time,
 * thread, registers and stack copy go to that file, for the judge (judge.py). What the preload
 * makes of them is in its dump as always.
 *
 * Linked with --wrap around two functions of the recorder: everything between them is the real one.
 */
#include <stdlib.h>
#include <sys/syscall.h>

#include "core/base/raw.h"
#include "core/sys/file.h"
#include "recording/pipeline/walks.h"
#include "unwind/unwinder.h"

static struct {
    uint64_t time_ns; /* of the sample that is being walked */
    uint32_t tid;
    int file;
} truth = {.file = -1};

int __real_yarn_unwinder_new(struct yarn_unwinder **ret_unwinder, enum yarn_unwinder_choice kind,
                             struct yarn_module_map *map);
int __wrap_yarn_unwinder_new(struct yarn_unwinder **ret_unwinder, enum yarn_unwinder_choice kind,
                             struct yarn_module_map *map);
int __wrap_yarn_unwinder_new(struct yarn_unwinder **ret_unwinder, enum yarn_unwinder_choice kind,
                             struct yarn_module_map *map)
{
    const char *path = getenv("TRUTH_FILE");
    if (path && truth.file < 0)
        truth.file = yarn_file_create(YARN_FILE_CWD, path);
    return __real_yarn_unwinder_new(ret_unwinder, kind, map);
}

void __real_yarn_walks_fill(struct yarn_walks *walks, const struct yarn_typed_record *record,
                            struct yarn_queued *queued);
void __wrap_yarn_walks_fill(struct yarn_walks *walks, const struct yarn_typed_record *record,
                            struct yarn_queued *queued);
void __wrap_yarn_walks_fill(struct yarn_walks *walks, const struct yarn_typed_record *record,
                            struct yarn_queued *queued)
{
    truth.time_ns = record->perf.time;
    truth.tid = record->perf.tid;
    __real_yarn_walks_fill(walks, record, queued);
}

static void put(const void *bytes, size_t size)
{
    if (truth.file >= 0)
        yarn_raw_call(SYS_write, truth.file, (long)bytes, (long)size, 0, 0, 0);
}

static void put_sample(const struct yarn_registers *registers, const struct yarn_stack_copy *stack)
{
    uint64_t head[] = {
        truth.time_ns,
        truth.tid,
        registers->ip,
        registers->sp,
        stack->first.size + stack->second.size,
    };
    put(head, sizeof head);
    put(stack->first.data, stack->first.size);
    put(stack->second.data, stack->second.size);
}

void __real_yarn_unwinder_unwind(struct yarn_unwinder *unwinder,
                                 const struct yarn_registers *registers,
                                 const struct yarn_stack_copy *stack,
                                 struct yarn_frames *ret_frames);
void __wrap_yarn_unwinder_unwind(struct yarn_unwinder *unwinder,
                                 const struct yarn_registers *registers,
                                 const struct yarn_stack_copy *stack,
                                 struct yarn_frames *ret_frames);
void __wrap_yarn_unwinder_unwind(struct yarn_unwinder *unwinder,
                                 const struct yarn_registers *registers,
                                 const struct yarn_stack_copy *stack,
                                 struct yarn_frames *ret_frames)
{
    put_sample(registers, stack);
    __real_yarn_unwinder_unwind(unwinder, registers, stack, ret_frames);
}
