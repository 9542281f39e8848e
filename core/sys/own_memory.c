/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/own_memory.h"

#include <sys/syscall.h>
#include <sys/uio.h>

#include "core/base/raw.h"
#include "core/sys/file.h"

static ssize_t read_by_call(uint64_t address, void *ret_data, size_t size)
{
    struct iovec local = {ret_data, size};
    struct iovec remote = {(void *)(uintptr_t)address, size};
    long pid = yarn_raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
    return yarn_raw_call(SYS_process_vm_readv, pid, (long)&local, 1, (long)&remote, 1, 0);
}

static ssize_t read_by_file(uint64_t address, void *ret_data, size_t size)
{
    int fd = yarn_file_open(YARN_FILE_CWD, "/proc/self/mem");
    if (fd < 0)
        return fd;
    ssize_t got = yarn_file_read_at(fd, ret_data, size, address);
    yarn_file_close(fd);
    return got;
}

int yarn_own_memory_read(uint64_t address, void *ret_data, size_t size)
{
    ssize_t got = read_by_call(address, ret_data, size);
    if (got == -EPERM || got == -ENOSYS || got == -EACCES)
        got = read_by_file(address, ret_data, size);
    if (got < 0)
        return (int)got;
    return (size_t)got == size ? 0 : -EFAULT;
}

ssize_t yarn_own_memory_copy(pid_t pid, uint64_t address, void *ret_first, size_t first_bytes,
                             void *ret_second, size_t second_bytes)
{
    struct iovec local[] = {{ret_first, first_bytes}, {ret_second, second_bytes}};
    struct iovec remote = {(void *)(uintptr_t)address, first_bytes + second_bytes};
    return yarn_raw_call(SYS_process_vm_readv, pid, (long)local, second_bytes ? 2 : 1,
                         (long)&remote, 1, 0);
}
