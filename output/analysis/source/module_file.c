/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/source/module_file.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a section says that it unpacks to; 0: it is as it is in the file. */
static uint64_t unpacked_bytes(Elf *elf, size_t names, Elf_Scn *section)
{
    static const char magic[] = "ZLIB"; /* then 8 bytes, the most significant first */
    GElf_Shdr header;
    GElf_Chdr packed;
    uint64_t size = 0;
    if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
        return 0;
    if (header.sh_flags & SHF_COMPRESSED)
        return gelf_getchdr(section, &packed) ? packed.ch_size : UINT64_MAX;
    const char *name = elf_strptr(elf, names, header.sh_name);
    const Elf_Data *data =
        name && strncmp(name, ".zdebug", 7) == 0 ? elf_rawdata(section, NULL) : NULL;
    const uint8_t *bytes = data ? data->d_buf : NULL;
    if (!bytes || data->d_size < 12 || memcmp(bytes, magic, 4) != 0)
        return 0;
    for (int i = 4; i < 12; i++)
        size = size << 8 | bytes[i];
    return size;
}

bool yarn_module_file_is_bounded(int fd)
{
    struct stat status;
    Elf_Scn *section = NULL;
    if (fstat(fd, &status) || !S_ISREG(status.st_mode))
        return false;
    uint64_t most = YARN_MIB(32) + 20 * (uint64_t)status.st_size;
    (void)elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    size_t names = 0;
    bool is_bounded = true;
    if (elf && elf_getshdrstrndx(elf, &names))
        names = 0;
    while (is_bounded && elf && (section = elf_nextscn(elf, section))) {
        uint64_t size = unpacked_bytes(elf, names, section);
        is_bounded = size <= most;
        most -= is_bounded ? size : 0;
    }
    (void)elf_end(elf);
    return is_bounded;
}

int yarn_module_file_open_plain(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && !yarn_module_file_is_bounded(fd)) {
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

bool yarn_module_file_has_size(int fd, uint64_t file_bytes)
{
    struct stat status;
    return !file_bytes || (fstat(fd, &status) == 0 && (uint64_t)status.st_size == file_bytes);
}

int yarn_module_file_open(const char *path, struct yarn_span build_id, uint64_t file_bytes,
                          enum yarn_module_file_state *ret_state)
{
    *ret_state = YARN_MODULE_FILE_ABSENT;
    int fd = yarn_module_file_open_plain(path);
    if (fd < 0)
        return -1;
    (void)elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    bool is_right = elf && elf_kind(elf) == ELF_K_ELF &&
                    (build_id.size ? yarn_module_file_has_build_id(elf, build_id)
                                   : yarn_module_file_has_size(fd, file_bytes));
    (void)elf_end(elf);
    *ret_state = is_right ? YARN_MODULE_FILE_FOUND : YARN_MODULE_FILE_OTHER;
    if (!is_right) {
        (void)close(fd);
        return -1;
    }
    return fd;
}
