/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/raw.h"
#include "core/sys/own_files.h"

static int open_at(int dir, const char *path, int flags, int mode)
{
    long result;
    do
        result = yarn_raw_call(SYS_openat, dir, (long)path, flags | O_CLOEXEC, mode, 0, 0);
    while (result == -EINTR);
    return (int)result;
}

/* By the reader with a number of its reserve, where the host has left no other. */
static int open_at_all_costs(int dir, const char *path, int flags, int mode)
{
    int fd;
    do
        fd = open_at(dir, path, flags, mode);
    while (fd == -EMFILE && yarn_own_files_lend());
    return fd;
}

int yarn_file_open(int dir, const char *path)
{
    return open_at_all_costs(dir, path, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0);
}

int yarn_file_open_below(int root, const char *path)
{
    struct open_how how = {
        .flags = O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC,
        .resolve = RESOLVE_IN_ROOT,
    };
    long result;
    if (root == YARN_FILE_CWD)
        return yarn_file_open(root, path);
    do
        result = yarn_raw_call(SYS_openat2, root, (long)path, (long)&how, sizeof how, 0, 0);
    while (result == -EINTR || result == -EAGAIN); /* a name above was changed meanwhile */
    return (int)result;
}

int yarn_file_open_folder(int dir, const char *path)
{
    return open_at(dir, path, O_PATH | O_DIRECTORY, 0);
}

int yarn_file_create(int dir, const char *path)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY;
    return open_at_all_costs(dir, path, flags, 0600);
}

int yarn_file_change_mode(int fd, uint32_t mode)
{
    return (int)yarn_raw_call(SYS_fchmod, fd, mode, 0, 0, 0, 0);
}

int yarn_file_open_append(int dir, const char *path)
{
    return open_at(dir, path, O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_NONBLOCK, 0600);
}

int yarn_file_can_write(int dir, const char *folder)
{
    return (int)yarn_raw_call(SYS_faccessat, dir, (long)folder, W_OK | X_OK, 0, 0, 0);
}

int yarn_file_can_execute(int dir, const char *path)
{
    struct stat info;
    long result = yarn_raw_call(SYS_newfstatat, dir, (long)path, (long)&info, 0, 0, 0);
    if (yarn_raw_is_error(result))
        return (int)result;
    return S_ISREG(info.st_mode) && info.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH) ? 0 : -EACCES;
}

int yarn_file_remove(int dir, const char *path)
{
    return (int)yarn_raw_call(SYS_unlinkat, dir, (long)path, 0, 0, 0, 0);
}

int yarn_file_make_folder(int dir, const char *path)
{
    return (int)yarn_raw_call(SYS_mkdirat, dir, (long)path, 0777, 0, 0, 0);
}

ssize_t yarn_file_read(int fd, void *ret_data, size_t size)
{
    long result;
    do
        result = yarn_raw_call(SYS_read, fd, (long)ret_data, (long)size, 0, 0, 0);
    while (result == -EINTR);
    return result;
}

ssize_t yarn_file_read_at(int fd, void *ret_data, size_t size, uint64_t offset)
{
    long result;
    do
        result = yarn_raw_call(SYS_pread64, fd, (long)ret_data, (long)size, (long)offset, 0, 0);
    while (result == -EINTR);
    return result;
}

int yarn_file_write_all(int fd, struct yarn_span data)
{
    while (data.size) {
        long result = yarn_raw_call(SYS_write, fd, (long)data.data, (long)data.size, 0, 0, 0);
        if (result == -EINTR)
            continue;
        if (yarn_raw_is_error(result))
            return (int)result;
        if (result == 0)
            return -EIO;
        data = yarn_span_from(data, (uint64_t)result);
    }
    return 0;
}

static struct yarn_file_info info_of(const struct stat *info)
{
    return (struct yarn_file_info){
        .device = info->st_dev,
        .inode = info->st_ino,
        .size_bytes = (uint64_t)info->st_size,
        .modified_ns =
            (uint64_t)info->st_mtim.tv_sec * YARN_NS_PER_SECOND + (uint64_t)info->st_mtim.tv_nsec,
        .mode = info->st_mode,
        .owner = info->st_uid,
    };
}

int yarn_file_cut(int fd, uint64_t size_bytes)
{
    long result = yarn_raw_call(SYS_ftruncate, fd, (long)size_bytes, 0, 0, 0, 0);
    if (!yarn_raw_is_error(result))
        result = yarn_raw_call(SYS_lseek, fd, (long)size_bytes, SEEK_SET, 0, 0, 0);
    return yarn_raw_is_error(result) ? (int)result : 0;
}

int yarn_file_stat(int fd, struct yarn_file_info *ret_info)
{
    struct stat info;
    long result = yarn_raw_call(SYS_fstat, fd, (long)&info, 0, 0, 0, 0);
    if (yarn_raw_is_error(result))
        return (int)result;
    *ret_info = info_of(&info);
    return 0;
}

int yarn_file_stat_name(int dir, const char *path, struct yarn_file_info *ret_info)
{
    struct stat info;
    long result =
        yarn_raw_call(SYS_newfstatat, dir, (long)path, (long)&info, AT_SYMLINK_NOFOLLOW, 0, 0);
    if (yarn_raw_is_error(result))
        return (int)result;
    *ret_info = info_of(&info);
    return 0;
}

bool yarn_file_remove_same(int dir, const char *path, const struct yarn_file_info *file)
{
    struct yarn_file_info named;
    return !yarn_file_stat_name(dir, path, &named) && yarn_file_is_same(&named, file) &&
           !yarn_file_remove(dir, path);
}

ssize_t yarn_file_read_link(int dir, const char *path, char *ret_text, size_t size)
{
    if (!size)
        return -EINVAL;
    long result =
        yarn_raw_call(SYS_readlinkat, dir, (long)path, (long)ret_text, (long)size - 1, 0, 0);
    if (!yarn_raw_is_error(result))
        ret_text[result] = 0;
    return result;
}

bool yarn_file_lock(int fd)
{
    return !yarn_raw_is_error(yarn_raw_call(SYS_flock, fd, LOCK_EX | LOCK_NB, 0, 0, 0, 0));
}

void yarn_file_close(int fd)
{
    if (fd >= 0)
        yarn_raw_call(SYS_close, fd, 0, 0, 0, 0, 0);
}
