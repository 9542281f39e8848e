/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Files by raw system calls: descriptors and bytes for code inside a host. Descriptors are always
 * close-on-exec. Threads, signals: safe anywhere.
 */
#pragma once

#include <sys/types.h>

#include "core/base/span.h"

enum { YARN_FILE_CWD = -100 }; /* as AT_FDCWD: relative to the working directory */

struct yarn_file_info {
    uint64_t device;
    uint64_t inode;
    uint64_t size_bytes;
    uint64_t modified_ns;
    uint32_t mode;  /* as st_mode */
    uint32_t owner; /* user id */
};

static inline bool yarn_file_is_same(const struct yarn_file_info *a, const struct yarn_file_info *b)
{
    return a->device == b->device && a->inode == b->inode;
}

/* Sets permission bits. */
YARN_MUST_CHECK int yarn_file_change_mode(int fd, uint32_t mode);

/* Each returns a descriptor that the caller owns, or a negative errno. */
/* For reading; does not wait for the writer where the path names a FIFO. */
YARN_MUST_CHECK int yarn_file_open(int dir, const char *path);
/* The same of a whole path, which begins at `root` as its root folder, and stays below that;
 * YARN_FILE_CWD: at the calling process's. */
YARN_MUST_CHECK int yarn_file_open_below(int root, const char *path);
YARN_MUST_CHECK int yarn_file_open_folder(int dir, const char *path); /* O_PATH: names only */
/* A new file of mode 0600; -EEXIST where the name is taken, by a link too. */
YARN_MUST_CHECK int yarn_file_create(int dir, const char *path);
/* For appending; made with mode 0600 where it is missing. -ENXIO for a FIFO that nobody reads. */
YARN_MUST_CHECK int yarn_file_open_append(int dir, const char *path);

YARN_MUST_CHECK int yarn_file_remove(int dir, const char *path);
/* Only where the name still leads to that file, and its folder's rights allow it: whether it did.
 */
bool yarn_file_remove_same(int dir, const char *path, const struct yarn_file_info *file);

/* -EEXIST where it is there already. */
YARN_MUST_CHECK int yarn_file_make_folder(int dir, const char *path);

/* 0 where the caller may create files in the folder, or a negative errno. */
YARN_MUST_CHECK int yarn_file_can_write(int dir, const char *folder);

/* A negative errno where an exec of the file would fail: it is not to be found, is no file, or
 * nobody may execute it. Why not access: that asks by the real ids, an exec by the effective ones.
 */
YARN_MUST_CHECK int yarn_file_can_execute(int dir, const char *path);

/* Up to `size` bytes at the file's position; the number read, 0 at the end, or a negative errno. */
YARN_MUST_CHECK ssize_t yarn_file_read(int fd, void *ret_data, size_t size);
/* As yarn_file_read at a given offset. */
YARN_MUST_CHECK ssize_t yarn_file_read_at(int fd, void *ret_data, size_t size, uint64_t offset);
/* All of it, through short writes and EINTR. */
YARN_MUST_CHECK int yarn_file_write_all(int fd, struct yarn_span data);
/* Takes off what lies behind `size_bytes`, where the next write goes. */
YARN_MUST_CHECK int yarn_file_cut(int fd, uint64_t size_bytes);
YARN_MUST_CHECK int yarn_file_stat(int fd, struct yarn_file_info *ret_info);
/* Of what the name itself is, which may be a link. */
YARN_MUST_CHECK int yarn_file_stat_name(int dir, const char *path, struct yarn_file_info *ret_info);
/* The target of a link, NUL-terminated; its length, or a negative errno. */
YARN_MUST_CHECK ssize_t yarn_file_read_link(int dir, const char *path, char *ret_text, size_t size);
/* Locks what is open until it is closed; false where somebody else has. Advisory, never waits. */
YARN_MUST_CHECK bool yarn_file_lock(int fd);
/* Closes a descriptor; -1 is allowed. */
void yarn_file_close(int fd);
