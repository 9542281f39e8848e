/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/source/module_file.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int yarn_module_file_open_plain(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &status) || !S_ISREG(status.st_mode))) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

bool yarn_module_file_has_build_id(struct Elf *elf, struct yarn_span build_id)
{
    const void *bits;
    ssize_t size = dwelf_elf_gnu_build_id(elf, &bits);
    return size > 0 && yarn_span_equal(build_id, yarn_span_of(bits, (size_t)size));
}

int yarn_module_file_open(const char *path, struct yarn_span build_id,
                          enum yarn_module_file_state *ret_state)
{
    *ret_state = YARN_MODULE_FILE_ABSENT;
    int fd = yarn_module_file_open_plain(path);
    if (fd < 0)
        return -1;
    (void)elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    bool is_right = elf && elf_kind(elf) == ELF_K_ELF &&
                    (!build_id.size || yarn_module_file_has_build_id(elf, build_id));
    (void)elf_end(elf);
    *ret_state = is_right ? YARN_MODULE_FILE_FOUND : YARN_MODULE_FILE_OTHER;
    if (!is_right) {
        (void)close(fd);
        return -1;
    }
    return fd;
}
