/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/bpf.h"

#include <sys/syscall.h>

#include "core/base/raw.h"
#include "core/sys/file.h"
#include "core/sys/own_files.h"

static int load(const struct bpf_insn *code, size_t count)
{
    static const char license[] = "Apache-2.0";
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr); /* the kernel wants all of it to be 0 */
    attr.prog_type = BPF_PROG_TYPE_PERF_EVENT;
    attr.insns = (uint64_t)(uintptr_t)code;
    attr.insn_cnt = (uint32_t)count;
    attr.license = (uint64_t)(uintptr_t)license;
    return (int)yarn_raw_call(SYS_bpf, BPF_PROG_LOAD, (long)&attr, sizeof attr, 0, 0, 0);
}

int yarn_bpf_load(const struct bpf_insn *code, size_t count)
{
    int fd = load(code, count);
    if (!yarn_own_files_is_reserved(fd))
        return fd;
    yarn_file_close(fd);
    int err = yarn_own_files_hold();
    return err ? err : load(code, count);
}
