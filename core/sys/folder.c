/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/folder.h"

#include <stdalign.h>
#include <sys/file.h>
#include <sys/syscall.h>

#include "core/base/raw.h"
#include "core/sys/file.h"
#include "core/sys/futex.h"
#include "core/sys/process.h"

enum { LOCK_TRIES = 50 };

/* struct linux_dirent64 of getdents(2), which the C library does not declare. */
struct entry {
    uint64_t inode;
    int64_t offset;
    uint16_t size;
    uint8_t type;
    char name[];
};

int yarn_folder_list(int fd, yarn_folder_fn each, void *self)
{
    alignas(8) uint8_t block[8192];
    for (;;) {
        long filled = yarn_raw_call(SYS_getdents64, fd, (long)block, sizeof block, 0, 0, 0);
        if (filled <= 0)
            return (int)filled;
        for (long at = 0; at < filled;) {
            const struct entry *entry = (const void *)(block + at);
            if (!each(self, entry->name))
                return 0;
            at += entry->size;
        }
    }
}

int yarn_folder_lock(const char *path)
{
    _Atomic uint32_t never = 0;
    int fd = yarn_process_open_folder(YARN_FILE_CWD, path);
    for (size_t i = 0; fd >= 0 && i < LOCK_TRIES; i++) {
        long result = yarn_raw_call(SYS_flock, fd, LOCK_EX | LOCK_NB, 0, 0, 0, 0);
        if (!yarn_raw_is_error(result))
            return fd;
        if (result != -EWOULDBLOCK && result != -EINTR) {
            yarn_file_close(fd);
            return (int)result;
        }
        yarn_futex_wait(&never, 0, YARN_NS_PER_MS);
    }
    if (fd < 0)
        return fd;
    yarn_file_close(fd);
    return -EAGAIN;
}
