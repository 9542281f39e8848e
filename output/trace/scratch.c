/* SPDX-License-Identifier: Apache-2.0 */
#include "output/trace/scratch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BUFFER_BYTES = 256 << 10 };

static int open_file(void)
{
    static const char *const folders[] = {"/var/tmp", "/tmp"};
    for (size_t i = 0; i < YARN_COUNT_OF(folders); i++) {
        int fd = open(folders[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (fd >= 0)
            return fd;
    }
    return memfd_create("yarn", MFD_CLOEXEC);
}

int yarn_scratch_open(struct yarn_scratch *scratch)
{
    *scratch = (struct yarn_scratch){.fd = open_file()};
    if (scratch->fd < 0)
        return -errno;
    scratch->buffer = malloc(BUFFER_BYTES);
    if (scratch->buffer)
        return 0;
    yarn_scratch_close(scratch);
    return -ENOMEM;
}

static int flush(struct yarn_scratch *scratch)
{
    for (size_t at = 0; at < scratch->buffered;) {
        ssize_t put = write(scratch->fd, scratch->buffer + at, scratch->buffered - at);
        if (put < 0 && errno != EINTR)
            return -errno;
        at += put > 0 ? (size_t)put : 0;
    }
    scratch->buffered = 0;
    return 0;
}

int yarn_scratch_put(struct yarn_scratch *scratch, struct yarn_span bytes)
{
    int err = 0;
    scratch->size += bytes.size;
    for (size_t at = 0; !err && at < bytes.size;) {
        size_t part = yarn_size_min(bytes.size - at, BUFFER_BYTES - scratch->buffered);
        memcpy(scratch->buffer + scratch->buffered, bytes.data + at, part);
        scratch->buffered += part;
        at += part;
        if (scratch->buffered == BUFFER_BYTES)
            err = flush(scratch);
    }
    return err;
}

int yarn_scratch_map(struct yarn_scratch *scratch, struct yarn_span *ret_bytes)
{
    int err = flush(scratch);
    if (err || !scratch->size)
        return err;
    void *at = mmap(NULL, scratch->size, PROT_READ, MAP_PRIVATE, scratch->fd, 0);
    if (at == MAP_FAILED)
        return -errno;
    *ret_bytes = yarn_span_of(at, scratch->size);
    return 0;
}

void yarn_scratch_drop_pages(struct yarn_span bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)bytes.data + page - 1) / page * page;
    uintptr_t to = ((uintptr_t)bytes.data + bytes.size) / page * page;
    if (from < to)
        (void)madvise((void *)from, to - from, MADV_DONTNEED);
}

void yarn_scratch_unmap(struct yarn_span bytes)
{
    if (bytes.size)
        (void)munmap((void *)(uintptr_t)bytes.data, bytes.size);
}

void yarn_scratch_close(struct yarn_scratch *scratch)
{
    if (scratch->fd >= 0)
        (void)close(scratch->fd);
    free(scratch->buffer);
    *scratch = YARN_SCRATCH_CLOSED;
}
