/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "core/record/merge.h"
#include "tests/support/suite.h"
#include "tests/unit/core/record/handmade.h"

/* Two threads play the kernel on two cores: each writes samples into its ring for as long as the
 * tail that it sees leaves room, while the merge reads. A tail that comes too early lets a writer
 * overwrite what a listener looks at; a head that is read too weakly lets the listener see old
 * bytes. */
enum { WRITERS = 2, RING_BYTES = 4096, STACK_MAX = 1024, SAMPLE_BYTES = 56, RUN_MS = 700 };

static _Atomic uint64_t clock_now; /* each reading is another time */
static _Atomic bool is_over;

/* To give a time until which a ring is complete, the writers must pass the reader something beside
 * the ring, and that would order memory where the ring's protocol fails to. So order of time is
 * watched in one run and order of memory in another. */
static bool watches_time;

static struct writer {
    struct handmade_ring ring;
    struct handmade_record record;
    pthread_t thread;
    uint32_t cpu;
    _Atomic uint64_t done_ns; /* everything up to here is in the ring */
    uint64_t nr_put, nr_refused;
} writers[WRITERS];

static struct reader {
    uint64_t nr[WRITERS];
    uint64_t tail[WRITERS];
    uint64_t last_ns, nr_records;
} reader;

static size_t stack_bytes_of(uint64_t nr)
{
    return (size_t)(1 + yarn_hash_u64(nr) % (STACK_MAX / 8)) * 8;
}

static void make_sample(struct writer *writer, uint64_t time_ns)
{
    struct handmade_identity identity = {
        .cpu = writer->cpu,
        .time_ns = time_ns,
        .id = handmade_someone.id,
    };
    size_t stack_bytes = stack_bytes_of(writer->nr_put);
    handmade_begin(&writer->record, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    handmade_sample(&writer->record, &identity, writer->nr_put, 1);
    yarn_bytes_u64(&writer->record.bytes, stack_bytes);
    handmade_pattern(&writer->record, stack_bytes, (uint8_t)writer->nr_put);
    yarn_bytes_u64(&writer->record.bytes, stack_bytes);
    handmade_end(&writer->record);
}

static bool has_room(struct writer *writer)
{
    struct perf_event_mmap_page *page = &writer->ring.page;
    uint64_t tail = __atomic_load_n(&page->data_tail, __ATOMIC_ACQUIRE);
    return RING_BYTES - (page->data_head - tail) >= writer->record.bytes.size;
}

static void *write_samples(void *argument)
{
    struct writer *writer = argument;
    while (!atomic_load(&is_over)) {
        uint64_t now = atomic_fetch_add(&clock_now, 1);
        make_sample(writer, now);
        bool is_put = has_room(writer);
        if (is_put) {
            handmade_ring_put_record(&writer->ring, &writer->record);
            writer->nr_put++;
        } else {
            writer->nr_refused++;
        }
        if (watches_time)
            atomic_store(&writer->done_ns, now);
        if (!is_put)
            sched_yield();
    }
    return NULL;
}

static void check_stack(const struct yarn_typed_record *record)
{
    uint8_t stack[STACK_MAX];
    size_t size = stack_bytes_of(record->perf.ip);
    ck_assert_uint_eq(yarn_wrapped_size(&record->stack), size);
    ck_assert(yarn_wrapped_read(&record->stack, 0, stack, size));
    for (size_t i = 0; i < size; i++)
        if (stack[i] != (uint8_t)(record->perf.ip + i))
            ck_abort_msg("record %lu has a wrong byte at %zu", (unsigned long)record->perf.ip, i);
}

static void receive_record(void *self, const struct yarn_typed_record *record)
{
    (void)self;
    uint32_t cpu = record->perf.cpu;
    ck_assert_uint_lt(cpu, WRITERS);
    ck_assert_uint_eq(record->perf.ip, reader.nr[cpu]++);
    reader.nr_records++;
    if (watches_time)
        ck_assert_uint_gt(record->perf.time, reader.last_ns);
    reader.last_ns = record->perf.time;
    check_stack(record);
    if (reader.nr_records % 16 == 0)
        sched_yield(); /* time for a writer to do harm */
    check_stack(record);
    ck_assert_uint_eq(writers[cpu].ring.page.data_tail, reader.tail[cpu]);
    reader.tail[cpu] += SAMPLE_BYTES + 16 + yarn_wrapped_size(&record->stack);
}

static void receive_malformed(void *self, uint32_t kernel_type, size_t size)
{
    (void)self;
    ck_abort_msg("malformed: type %u, %zu bytes", kernel_type, size);
}

static uint64_t milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void start_writers(struct yarn_merge_source *sources)
{
    for (uint32_t i = 0; i < WRITERS; i++) {
        reader.tail[i] = i ? UINT64_MAX - 20000 : UINT32_MAX - 20000;
        handmade_ring_open(&writers[i].ring, RING_BYTES, reader.tail[i]);
        writers[i].cpu = i;
        sources[i] = (struct yarn_merge_source){.ring = &writers[i].ring.ring};
        ck_assert_int_eq(pthread_create(&writers[i].thread, NULL, write_samples, &writers[i]), 0);
    }
}

/* So many that the ends of 2^32 and 2^64 are passed. */
static bool has_read_enough(void)
{
    for (size_t i = 0; i < WRITERS; i++) {
        if (reader.nr[i] < 100)
            return false;
    }
    return true;
}

static void read_while_they_write(struct yarn_merge *merge,
                                  const struct yarn_record_listener *listener)
{
    bool is_left;
    for (uint64_t end_ms = milliseconds() + RUN_MS;
         milliseconds() < end_ms || !has_read_enough();) {
        uint64_t until_ns = UINT64_MAX;
        for (size_t i = 0; watches_time && i < WRITERS; i++)
            until_ns = yarn_u64_min(until_ns, atomic_load(&writers[i].done_ns));
        if (!yarn_merge_pass(merge, until_ns, listener, &is_left))
            sched_yield();
    }
}

static void merge_while_they_write(void)
{
    const struct yarn_record_listener listener = {NULL, receive_record, receive_malformed};
    struct yarn_merge_source sources[WRITERS];
    static struct yarn_merge merge;
    merge.sources = sources;
    merge.count = WRITERS;
    static const struct perf_event_attr layout = {
        .sample_type = YARN_SAMPLE_TYPE_COMMON | PERF_SAMPLE_PERIOD | PERF_SAMPLE_STACK_USER,
    };
    handmade_know(&merge.decoder, &layout, handmade_someone.id, 0);
    atomic_store(&clock_now, 1);

    start_writers(sources);
    read_while_they_write(&merge, &listener);
    atomic_store(&is_over, true);
    for (size_t i = 0; i < WRITERS; i++)
        ck_assert_int_eq(pthread_join(writers[i].thread, NULL), 0);

    bool is_left = true;
    yarn_merge_pass(&merge, UINT64_MAX, &listener, &is_left);
    ck_assert(!is_left);
    for (size_t i = 0; i < WRITERS; i++) {
        ck_assert_uint_eq(reader.nr[i], writers[i].nr_put);
        handmade_ring_close(&writers[i].ring);
    }
}

START_TEST(merge_delivers_records_in_order_of_time_while_two_cores_write)
{
    watches_time = true;
    merge_while_they_write();
}
END_TEST

START_TEST(merge_reads_whole_records_of_cores_by_nothing_but_their_heads)
{
    watches_time = false;
    merge_while_they_write();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("merge against the clock");
    TCase *live = tcase_create("rings that are written while they are read");
    tcase_set_timeout(live, 30);
    tcase_add_test(live, merge_delivers_records_in_order_of_time_while_two_cores_write);
    tcase_add_test(live, merge_reads_whole_records_of_cores_by_nothing_but_their_heads);
    suite_add_tcase(suite, live);
    return run_suite(suite);
}
