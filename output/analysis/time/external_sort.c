/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/time/external_sort.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "output/analysis/value/array.h"

enum {
    WINDOW_ENTRIES = 4096,       /* of a run, in memory */
    WINDOWS_ENTRIES = 256 << 10, /* of all, where there are that many runs */
};

struct run {
    uint64_t at, end;                   /* in the file, of what is not in the window */
    struct yarn_timeline_entry *window; /* owned */
    size_t next, count;                 /* in the window */
};

struct yarn_external_sort {
    int fd; /* owned */
    enum yarn_timeline_order order;
    uint64_t size;
    struct run *runs; /* owned array */
    size_t count, capacity;
    size_t *heap; /* owned: runs that are not at their end, the earliest entry on top */
    size_t nr_heap;
    bool is_open; /* windows and heap are there */
};

static int open_in(const char *folder)
{
    char path[4096];
    if (!folder || !folder[0])
        return -ENOENT;
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    /* Why: not every file system has files without a name. */
    if (snprintf(path, sizeof path, "%s/yarnprof.XXXXXX", folder) >= (int)sizeof path)
        return -ENAMETOOLONG;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return -errno;
    (void)unlink(path);
    return fd;
}

static int open_somewhere(void)
{
    const char *const folders[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
    int fd = -ENOENT;
    for (size_t i = 0; fd < 0 && i < YARN_COUNT_OF(folders); i++)
        fd = open_in(folders[i]);
    return fd;
}

int yarn_external_sort_new(enum yarn_timeline_order order, struct yarn_external_sort **ret_sort)
{
    struct yarn_external_sort *sort = calloc(1, sizeof *sort);
    if (!sort)
        return -ENOMEM;
    sort->order = order;
    sort->fd = open_somewhere();
    int err = sort->fd;
    if (err < 0) {
        free(sort);
        return err;
    }
    *ret_sort = sort;
    return 0;
}

void yarn_external_sort_free(struct yarn_external_sort *sort)
{
    if (!sort)
        return;
    for (size_t i = 0; i < sort->count; i++)
        free(sort->runs[i].window);
    free(sort->runs);
    free(sort->heap);
    (void)close(sort->fd);
    free(sort);
}

static int append(int fd, const struct yarn_timeline_entry *entries, size_t count,
                  uint64_t *file_size)
{
    const uint8_t *bytes = (const uint8_t *)entries;
    size_t size = count * sizeof *entries;
    while (size) {
        ssize_t written = pwrite(fd, bytes, size, (off_t)*file_size);
        if (written <= 0)
            return written ? -errno : -EIO;
        bytes += written;
        size -= (size_t)written;
        *file_size += (uint64_t)written;
    }
    return 0;
}

int yarn_external_sort_add(struct yarn_external_sort *sort,
                           const struct yarn_timeline_entry *entries, size_t count)
{
    if (YARN_ARRAY_RESERVE(&sort->runs, &sort->capacity, sort->count + 1))
        return -ENOMEM;
    struct run run = {.at = sort->size, .end = sort->size + count * sizeof *entries};
    int err = append(sort->fd, entries, count, &sort->size);
    if (!err)
        sort->runs[sort->count++] = run;
    return err;
}

/* The next entries of a run; none at its end. */
static int fill(const struct yarn_external_sort *sort, struct run *run, size_t room)
{
    size_t size = (size_t)yarn_u64_min(room * sizeof *run->window, run->end - run->at);
    size_t have = 0;
    while (have < size) {
        ssize_t got =
            pread(sort->fd, (uint8_t *)run->window + have, size - have, (off_t)(run->at + have));
        if (got <= 0)
            return got ? -errno : -EIO;
        have += (size_t)got;
    }
    run->at += size;
    run->next = 0;
    run->count = size / sizeof *run->window;
    return 0;
}

static size_t window_entries(const struct yarn_external_sort *sort)
{
    return yarn_size_max(16, yarn_size_min(WINDOW_ENTRIES, WINDOWS_ENTRIES / sort->count));
}

static bool is_before(const struct yarn_external_sort *sort, size_t a, size_t b)
{
    const struct run *one = &sort->runs[a], *other = &sort->runs[b];
    const struct yarn_timeline_entry *first = &one->window[one->next];
    const struct yarn_timeline_entry *second = &other->window[other->next];
    if (yarn_timeline_is_before(sort->order, first, second))
        return true;
    return a < b && !yarn_timeline_is_before(sort->order, second, first);
}

/* What is at `at` goes down to where it belongs. */
static void sink(struct yarn_external_sort *sort, size_t at)
{
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < sort->nr_heap; child++) {
            if (is_before(sort, sort->heap[child], sort->heap[least]))
                least = child;
        }
        if (least == at)
            return;
        size_t moved = sort->heap[at];
        sort->heap[at] = sort->heap[least];
        sort->heap[least] = moved;
        at = least;
    }
}

static int open_windows(struct yarn_external_sort *sort)
{
    sort->heap = calloc(sort->count + 1, sizeof *sort->heap);
    if (!sort->heap)
        return -ENOMEM;
    for (size_t i = 0; i < sort->count; i++) {
        struct run *run = &sort->runs[i];
        run->window = calloc(window_entries(sort), sizeof *run->window);
        int err = run->window ? fill(sort, run, window_entries(sort)) : -ENOMEM;
        if (err)
            return err;
        if (run->count)
            sort->heap[sort->nr_heap++] = i;
    }
    for (size_t i = sort->nr_heap; i-- > 0;)
        sink(sort, i);
    sort->is_open = true;
    return 0;
}

int yarn_external_sort_next(struct yarn_external_sort *sort, struct yarn_timeline_entry *ret_entry)
{
    int err = sort->is_open || !sort->count ? 0 : open_windows(sort);
    if (err || !sort->nr_heap)
        return err;
    struct run *run = &sort->runs[sort->heap[0]];
    *ret_entry = run->window[run->next++];
    if (run->next == run->count)
        err = fill(sort, run, window_entries(sort));
    if (!run->count)
        sort->heap[0] = sort->heap[--sort->nr_heap];
    if (sort->nr_heap)
        sink(sort, 0);
    return err ? err : 1;
}

static int write_in_order(struct yarn_external_sort *sort, int fd, uint64_t *ret_size)
{
    struct yarn_timeline_entry *buffer = calloc(WINDOW_ENTRIES, sizeof *buffer);
    uint64_t size = 0;
    int more = buffer ? 1 : -ENOMEM;
    while (more > 0) {
        size_t count = 0;
        while (count < WINDOW_ENTRIES && (more = yarn_external_sort_next(sort, &buffer[count])) > 0)
            count++;
        int err = more < 0 ? more : append(fd, buffer, count, &size);
        more = err ? err : more;
    }
    free(buffer);
    *ret_size = size;
    return more;
}

int yarn_external_sort_map(struct yarn_external_sort *sort,
                           const struct yarn_timeline_entry **ret_mapped)
{
    uint64_t size;
    int fd = open_somewhere();
    if (fd < 0)
        return fd;
    int err = write_in_order(sort, fd, &size);
    if (!err) {
        void *mapped = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
        err = mapped == MAP_FAILED ? -errno : 0;
        if (!err)
            *ret_mapped = mapped;
    }
    (void)close(fd);
    return err;
}
