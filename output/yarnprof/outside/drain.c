/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/outside/drain.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/sys/clock.h"
#include "core/sys/process.h"

enum { LEADERS_MAX = 1024, IDLE_PASSES = 20, PAGE_BYTES = 4096, OTHERS_MAX = 16 };

#define RING_BYTES YARN_MIB(32)
#define KEPT_BYTES YARN_MIB(4)            /* of a ring where all was read */
#define RINGS_BYTES ((uint64_t)512 << 20) /* of all cores */
#define PAUSE_NS (5 * YARN_NS_PER_MS)
#define IDLE_NS (100 * YARN_NS_PER_MS)

/* From the kernel's ring at `at` to ours at `to`; each may wrap. */
static void copy(const struct yarn_drain *drain, struct yarn_drain_ring *ring, uint64_t at,
                 uint64_t to, size_t size)
{
    while (size) {
        size_t from_at = (size_t)(at & (ring->from_data.size - 1));
        size_t to_at = (size_t)(to & (drain->ring_bytes - 1));
        size_t piece = yarn_size_min(size, ring->from_data.size - from_at);
        piece = yarn_size_min(piece, drain->ring_bytes - to_at);
        memcpy(ring->data + to_at, ring->from_data.data + from_at, piece);
        at += piece;
        to += piece;
        size -= piece;
    }
}

/* The kernel's records are of whole words, and so are its rings. */
static uint64_t word_at(const struct yarn_drain_ring *ring, uint64_t at)
{
    uint64_t word;
    memcpy(&word, ring->from_data.data + (at & (ring->from_data.size - 1)), sizeof word);
    return word;
}

static void put_word(const struct yarn_drain *drain, struct yarn_drain_ring *ring, uint64_t to,
                     uint64_t word)
{
    memcpy(ring->data + (to & (drain->ring_bytes - 1)), &word, sizeof word);
}

/* A sample ends in the copy of its stack: how long the copy is, its bytes, and how many of these
 * are valid. How many bytes of them need not be kept; 0: it is another record, or ends in another
 * way. */
static size_t invalid_of(const struct yarn_drain_ring *ring, uint64_t at,
                         const struct perf_event_header *header, size_t copy_bytes)
{
    const size_t rest = copy_bytes + 2 * sizeof(uint64_t);
    if (header->type != PERF_RECORD_SAMPLE || !copy_bytes || header->size < sizeof *header + rest)
        return 0;
    uint64_t end = at + header->size, valid = word_at(ring, end - sizeof valid);
    if (word_at(ring, end - rest) != copy_bytes || valid > copy_bytes)
        return 0;
    size_t kept = yarn_size_max((size_t)(valid + 7) & ~(size_t)7, sizeof(uint64_t));
    return copy_bytes - yarn_size_min(kept, copy_bytes);
}

/* Of a copy of either size; *ret_copy: which. */
static size_t invalid_bytes(const struct yarn_drain *drain, const struct yarn_drain_ring *ring,
                            uint64_t at, const struct perf_event_header *header, size_t *ret_copy)
{
    *ret_copy = drain->stack_bytes;
    size_t invalid = invalid_of(ring, at, header, *ret_copy);
    if (invalid)
        return invalid;
    *ret_copy = drain->light_bytes;
    return invalid_of(ring, at, header, *ret_copy);
}

static void copy_record(const struct yarn_drain *drain, struct yarn_drain_ring *ring, uint64_t at,
                        struct perf_event_header header, size_t copy_bytes, size_t invalid)
{
    uint64_t first, to = ring->head, end = at + header.size;
    size_t kept = header.size - invalid;
    copy(drain, ring, at, to, kept);
    if (!invalid)
        return;
    size_t rest = copy_bytes - invalid + 2 * sizeof(uint64_t);
    header.size = (uint16_t)kept;
    memcpy(&first, &header, sizeof first);
    put_word(drain, ring, to, first);
    put_word(drain, ring, to + kept - rest, copy_bytes - invalid);
    put_word(drain, ring, to + kept - sizeof(uint64_t), word_at(ring, end - sizeof(uint64_t)));
}

/* Where all was read the next record goes to the ring's beginning. Why: else each comes to memory
 * that was not touched for long, or never. What a burst took is given back. */
static void begin_anew(const struct yarn_drain *drain, struct yarn_drain_ring *ring)
{
    uint64_t rest = ring->head & (drain->ring_bytes - 1);
    if (!rest || __atomic_load_n(&ring->page->data_tail, __ATOMIC_ACQUIRE) != ring->head)
        return;
    if (ring->head - ring->begun > KEPT_BYTES)
        (void)madvise(ring->data + KEPT_BYTES, drain->ring_bytes - KEPT_BYTES, MADV_DONTNEED);
    ring->head += drain->ring_bytes - rest;
    ring->begun = ring->head;
    __atomic_store_n(&ring->page->data_tail, ring->head, __ATOMIC_RELEASE);
}

/* As much as there is room for; the number of bytes. *is_full: there was no room for the rest. */
static uint64_t copy_ring(struct yarn_drain *drain, struct yarn_drain_ring *ring, bool *is_full)
{
    uint64_t at = ring->from->data_tail, before = ring->head;
    uint64_t end = __atomic_load_n(&ring->from->data_head, __ATOMIC_ACQUIRE);
    uint64_t most = __atomic_load_n(&ring->page->data_tail, __ATOMIC_ACQUIRE) + drain->ring_bytes;
    while (at < end) {
        struct perf_event_header header;
        uint64_t word = word_at(ring, at);
        memcpy(&header, &word, sizeof header);
        if (header.size < sizeof header || header.size > end - at) {
            at = end; /* nothing behind it can be found */
            atomic_fetch_add(&drain->nr_broken, 1);
            break;
        }
        size_t copy_bytes;
        size_t invalid = invalid_bytes(drain, ring, at, &header, &copy_bytes);
        *is_full = ring->head + header.size - invalid > most;
        if (*is_full)
            break;
        copy_record(drain, ring, at, header, copy_bytes, invalid);
        ring->head += header.size - invalid;
        at += header.size;
    }
    __atomic_store_n(&ring->from->data_tail, at, __ATOMIC_RELEASE);
    __atomic_store_n(&ring->page->data_head, ring->head, __ATOMIC_RELEASE);
    return ring->head - before;
}

/* Of all rings; *is_full as above. Why each ring has its own time: while one was full, another
 * would fill up with what is later than the last time of both, and neither be emptied again. */
static uint64_t copy_rings(struct yarn_drain *drain, bool *is_full)
{
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC), bytes = 0;
    uint64_t copied_ns = now_ns - YARN_MERGE_MARGIN_NS;
    *is_full = false;
    for (size_t i = 0; i < drain->nr_rings; i++) {
        bool is_this_full = false;
        begin_anew(drain, &drain->rings[i]);
        bytes += copy_ring(drain, &drain->rings[i], &is_this_full);
        if (!is_this_full)
            drain->rings[i].copied_ns = now_ns - YARN_MERGE_MARGIN_NS;
        copied_ns = yarn_u64_min(copied_ns, drain->rings[i].copied_ns);
        *is_full |= is_this_full;
    }
    atomic_store(&drain->copied_ns, copied_ns);
    return bytes;
}

static uint64_t copy_all(struct yarn_drain *drain, bool *is_full)
{
    (void)pthread_mutex_lock(&drain->copying);
    uint64_t bytes = copy_rings(drain, is_full);
    (void)pthread_mutex_unlock(&drain->copying);
    return bytes;
}

static void wake(const struct yarn_drain *drain)
{
    const uint64_t one = 1;
    ssize_t written = write(drain->fd, &one, sizeof one);
    (void)written; /* it is readable already */
}

static void *run(void *self)
{
    struct yarn_drain *drain = self;
    struct pollfd leaders[LEADERS_MAX];
    unsigned nr_idle = 0;
    yarn_process_prefer_latency();
    while (!atomic_load(&drain->is_over)) {
        bool is_full;
        if (copy_all(drain, &is_full)) {
            nr_idle = 0;
            wake(drain);
        } else if (nr_idle < IDLE_PASSES) {
            nr_idle++;
        }
        size_t count =
            nr_idle < IDLE_PASSES ? 0 : yarn_session_watched(drain->session, leaders, LEADERS_MAX);
        int ready = yarn_perf_poll(leaders, count, count ? IDLE_NS : PAUSE_NS);
        (void)ready; /* all rings are looked at in any case */
    }
    return NULL;
}

/* Signals are for the other thread. */
static int start(struct yarn_drain *drain)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int err = -pthread_create(&drain->thread, NULL, run, drain);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    drain->has_thread = !err;
    return err;
}

static void *map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static int open_ring(struct yarn_drain *drain, struct yarn_merge_source *source)
{
    struct yarn_drain_ring *ring = &drain->rings[drain->nr_rings];
    ring->page = map(PAGE_BYTES);
    ring->data = map(drain->ring_bytes);
    drain->nr_rings++;
    if (!ring->page || !ring->data)
        return -ENOMEM;
    ring->from = source->ring->page;
    ring->from_data = source->ring->data;
    ring->ring = yarn_ring_of(ring->page, ring->data, drain->ring_bytes);
    ring->ring.may_skip = true;
    return 0;
}

int yarn_drain_open(struct yarn_drain *drain, struct yarn_session *session)
{
    struct yarn_merge *merge = &session->merge;
    *drain = (struct yarn_drain){
        .session = session,
        .ring_bytes = RING_BYTES,
        .stack_bytes = session->report.got.stack_bytes,
        .light_bytes = session->alternates.stack_bytes,
        .copying = PTHREAD_MUTEX_INITIALIZER,
        .fd = -1,
    };
    while (drain->ring_bytes * merge->count > RINGS_BYTES && drain->ring_bytes > YARN_MIB(1))
        drain->ring_bytes /= 2;
    drain->rings = calloc(merge->count, sizeof *drain->rings);
    drain->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int err = !drain->rings ? -ENOMEM : drain->fd < 0 ? -errno : 0;
    for (size_t i = 0; !err && i < merge->count; i++)
        err = open_ring(drain, &merge->sources[i]);
    for (size_t i = 0; !err && i < merge->count; i++)
        merge->sources[i].ring = &drain->rings[i].ring;
    if (!err)
        err = start(drain);
    if (err)
        yarn_drain_close(drain);
    return err;
}

void yarn_drain_wait(const struct yarn_drain *drain, const struct pollfd *others, size_t nr_others,
                     uint64_t most_ns)
{
    uint64_t count;
    struct pollfd fds[1 + OTHERS_MAX] = {{.fd = drain->fd, .events = POLLIN}};
    nr_others = yarn_size_min(nr_others, OTHERS_MAX);
    for (size_t i = 0; i < nr_others; i++)
        fds[1 + i] = others[i];
    int ready = yarn_perf_poll(fds, 1 + nr_others, most_ns);
    ssize_t got = ready > 0 ? read(drain->fd, &count, sizeof count) : 0;
    (void)got; /* it is looked at everything in any case */
}

void yarn_drain_stop(struct yarn_drain *drain)
{
    atomic_store(&drain->is_over, true);
    if (drain->has_thread)
        (void)pthread_join(drain->thread, NULL);
    drain->has_thread = false;
}

void yarn_drain_copy(struct yarn_drain *drain)
{
    bool is_full;
    (void)copy_all(drain, &is_full);
}

bool yarn_drain_copy_rest(struct yarn_drain *drain)
{
    bool is_full;
    (void)copy_all(drain, &is_full);
    return is_full;
}

void yarn_drain_close(struct yarn_drain *drain)
{
    if (!drain->session)
        return;
    yarn_drain_stop(drain);
    for (size_t i = 0; i < drain->nr_rings; i++) {
        if (drain->rings[i].page)
            (void)munmap(drain->rings[i].page, PAGE_BYTES);
        if (drain->rings[i].data)
            (void)munmap(drain->rings[i].data, drain->ring_bytes);
    }
    free(drain->rings);
    if (drain->fd >= 0)
        (void)close(drain->fd);
    drain->session = NULL;
}
