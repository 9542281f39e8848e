/* SPDX-License-Identifier: Apache-2.0 */
#include "output/store/spill.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BUFFER_BYTES = 256 << 10 };

static int open_in(const char *folder)
{
    char path[4096];
    if (!folder || !folder[0])
        return -1;
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    /* Why: not every file system has files without a name. */
    if (snprintf(path, sizeof path, "%s/yarn.XXXXXX", folder) >= (int)sizeof path)
        return -1;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        (void)unlink(path);
    return fd;
}

static int open_file(void)
{
    const char *const folders[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
    int fd = -1;
    for (size_t i = 0; fd < 0 && i < YARN_COUNT_OF(folders); i++)
        fd = open_in(folders[i]);
    return fd < 0 ? memfd_create("yarn", MFD_CLOEXEC) : fd;
}

int yarn_spill_open(struct yarn_spill *spill)
{
    *spill = (struct yarn_spill){.fd = open_file()};
    if (spill->fd < 0)
        return -errno;
    spill->buffer = malloc(BUFFER_BYTES);
    if (spill->buffer)
        return 0;
    yarn_spill_close(spill);
    return -ENOMEM;
}

static int flush(struct yarn_spill *spill)
{
    for (size_t at = 0; at < spill->buffered;) {
        ssize_t put = write(spill->fd, spill->buffer + at, spill->buffered - at);
        if (put < 0 && errno != EINTR)
            return -errno;
        at += put > 0 ? (size_t)put : 0;
    }
    spill->buffered = 0;
    return 0;
}

int yarn_spill_put(struct yarn_spill *spill, struct yarn_span bytes)
{
    int err = 0;
    spill->size += bytes.size;
    for (size_t at = 0; !err && at < bytes.size;) {
        size_t part = yarn_size_min(bytes.size - at, BUFFER_BYTES - spill->buffered);
        memcpy(spill->buffer + spill->buffered, bytes.data + at, part);
        spill->buffered += part;
        at += part;
        if (spill->buffered == BUFFER_BYTES)
            err = flush(spill);
    }
    return err;
}

int yarn_spill_get(struct yarn_spill *spill, uint64_t at, void *bytes, size_t size)
{
    int err = flush(spill);
    for (size_t have = 0; !err && have < size;) {
        ssize_t got = pread(spill->fd, (uint8_t *)bytes + have, size - have, (off_t)(at + have));
        if (got <= 0)
            err = got ? -errno : -EIO;
        have += err ? 0 : (size_t)got;
    }
    return err;
}

int yarn_spill_map(struct yarn_spill *spill, struct yarn_span *ret_bytes)
{
    int err = flush(spill);
    if (err || !spill->size)
        return err;
    void *at = mmap(NULL, spill->size, PROT_READ | PROT_WRITE, MAP_SHARED, spill->fd, 0);
    if (at == MAP_FAILED)
        return -errno;
    *ret_bytes = yarn_span_of(at, spill->size);
    return 0;
}

void yarn_spill_drop_pages(struct yarn_span bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)bytes.data + page - 1) / page * page;
    uintptr_t to = ((uintptr_t)bytes.data + bytes.size) / page * page;
    if (from < to)
        (void)madvise((void *)from, to - from, MADV_DONTNEED);
}

void yarn_spill_unmap(struct yarn_span bytes)
{
    if (bytes.size)
        (void)munmap((void *)(uintptr_t)bytes.data, bytes.size);
}

void yarn_spill_close(struct yarn_spill *spill)
{
    if (spill->fd >= 0)
        (void)close(spill->fd);
    free(spill->buffer);
    *spill = YARN_SPILL_CLOSED;
}
