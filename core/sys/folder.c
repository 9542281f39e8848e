/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/folder.h"

#include <stdalign.h>
#include <sys/syscall.h>

#include "core/base/raw.h"

/* struct linux_dirent64 of getdents(2), which the C library does not declare. */
struct entry {
    uint64_t inode;
    int64_t offset;
    uint16_t size;
    uint8_t type;
    char name[];
};

int yarn_folder_list(int fd, yarn_folder_fn tell, void *self)
{
    alignas(8) uint8_t block[8192];
    for (;;) {
        long filled = yarn_raw_call(SYS_getdents64, fd, (long)block, sizeof block, 0, 0, 0);
        if (filled <= 0)
            return (int)filled;
        for (long at = 0; at < filled;) {
            const struct entry *entry = (const void *)(block + at);
            if (!tell(self, entry->name))
                return 0;
            at += entry->size;
        }
    }
}
