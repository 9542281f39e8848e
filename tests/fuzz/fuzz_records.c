/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * One to three rings of any bytes, merged and decoded; each byte that a listener is given is read.
 *
 * The input: a byte for the number of rings, one for the parts of samples, the mask of registers,
 * the time of a first pass (8 bytes each); for each ring a byte for its size, one that lies about
 * how much is pending, and its position (8 bytes); the rest is shared out to the rings.
 */
#include <stdlib.h>

#include "core/record/merge.h"

enum { RINGS_MAX = 3, RING_ORDER_MIN = 3, RING_ORDERS = 12, EVENTS = 8 };

static struct perf_event_mmap_page pages[RINGS_MAX];
static struct yarn_ring rings[RINGS_MAX];
static uint8_t *ring_data[RINGS_MAX];
static size_t nr_reported;
static volatile uint64_t sum; /* so that no read is left out */

static void must(bool holds)
{
    if (!holds)
        __builtin_trap();
}

static void touch(struct yarn_span span)
{
    for (size_t i = 0; i < span.size; i++)
        sum += span.data[i];
}

static void touch_wrapped(const struct yarn_wrapped *bytes)
{
    touch(bytes->first);
    touch(bytes->second);
}

static void touch_bytes(struct yarn_bytes bytes)
{
    touch(yarn_span_of(bytes.data, bytes.size));
}

static void touch_sample(const struct yarn_typed_record *record)
{
    const struct yarn_record *sample = &record->perf;
    uint64_t registers_mask = record->attr->sample_regs_user;
    uint64_t format = record->attr->read_format, at = 0;
    struct yarn_record_counter counter = {0};
    for (; yarn_record_counter(sample, format, at, &counter); at++)
        sum += counter.value + counter.id + counter.lost;
    must(at <= sample->values.size / 8);
    touch_bytes(sample->values);
    touch_bytes(sample->raw);
    touch_bytes(sample->callchain);
    touch_bytes(sample->registers);
    touch_bytes(sample->stack);
    touch_wrapped(&record->stack);
    must(sample->callchain.size % 8 == 0);
    for (unsigned bit = 0; bit < 64; bit++) {
        uint64_t value = 0;
        bool is_there = yarn_record_register(sample, registers_mask, bit, &value);
        must(is_there == (yarn_record_has_registers(sample) && (registers_mask >> bit & 1)));
        sum += value;
    }
}

static void receive_record(void *self, const struct yarn_typed_record *record)
{
    (void)self;
    const struct yarn_record_mmap *map = record->mmap;
    nr_reported++;
    sum += record->perf.pid + record->perf.tid + record->perf.time + record->perf.cpu +
           record->perf.id;
    must(record->type < YARN_RECORD_TYPE_COUNT);
    must((map != NULL) == (record->type == YARN_RECORD_MMAP));
    if (record->type == YARN_RECORD_SAMPLE)
        touch_sample(record);
    else
        touch_bytes(record->perf.body);
    if (record->type == YARN_RECORD_COMM)
        must(memchr(record->comm.name, 0, sizeof record->comm.name));
    if (map) {
        must(memchr(map->path, 0, sizeof map->path));
        touch(yarn_span_of_text(map->path));
    }
}

static void receive_malformed(void *self, uint32_t kernel_type, size_t size)
{
    (void)self;
    nr_reported++;
    sum += kernel_type;
    must(size > 0);
}

/* That of event 7 is the input's; those of 0 to 6 have what that one has not: an address, raw data,
 * a counter or a group of them. */
static void make_layouts(struct yarn_record_decoder *decoder, uint8_t asked,
                         uint64_t registers_mask)
{
    static struct perf_event_attr layouts[EVENTS];
    static struct yarn_table numbers;
    static uint8_t room[YARN_RECORD_BYTES_MAX];
    for (uint32_t i = 0; i < EVENTS; i++) {
        bool is_asked = i == EVENTS - 1;
        layouts[i] = (struct perf_event_attr){
            .sample_type = YARN_SAMPLE_TYPE_COMMON | (is_asked ? PERF_SAMPLE_PERIOD : 0) |
                           (asked & 1 ? PERF_SAMPLE_CALLCHAIN : 0) |
                           (asked & 2 ? PERF_SAMPLE_REGS_USER : 0) |
                           (asked & 4 ? PERF_SAMPLE_STACK_USER : 0),
            .sample_regs_user = registers_mask,
            .read_format = asked >> 3, /* every combination, of times, ids, group and losses */
        };
        if (!is_asked)
            layouts[i].sample_type |= (i & 1 ? PERF_SAMPLE_RAW : 0) |
                                      (i & 2 ? PERF_SAMPLE_READ : 0) |
                                      (i & 4 ? PERF_SAMPLE_ADDR : 0);
        must(numbers.slots || yarn_table_open(&numbers, EVENTS, 4 * EVENTS) == 0);
        must(yarn_table_put(&numbers, i, i) == 0);
    }
    decoder->attrs = layouts;
    decoder->numbers = &numbers;
    decoder->room = room;
}

static void make_ring(size_t i, struct yarn_cursor *head, struct yarn_span bytes)
{
    size_t size = (size_t)1 << (RING_ORDER_MIN + yarn_cursor_u8(head) % RING_ORDERS);
    uint8_t lie = yarn_cursor_u8(head);
    uint64_t position = yarn_cursor_u64(head);
    size_t pending = yarn_size_min(bytes.size, size);
    /* Of exactly its size, so that a sanitizer sees what is read outside. */
    ring_data[i] = malloc(size);
    memset(ring_data[i], 0, size);
    for (size_t at = 0; at < pending; at++)
        ring_data[i][(position + at) & (size - 1)] = bytes.data[at];
    pages[i].data_tail = position;
    pages[i].data_head = position + pending + (lie < 128 ? 0 : (uint64_t)lie - 192);
    rings[i] = yarn_ring_of(&pages[i], ring_data[i], size);
}

static void merge_all(struct yarn_merge *merge, uint64_t until_ns)
{
    const struct yarn_record_listener listener = {NULL, receive_record, receive_malformed};
    bool is_left;
    nr_reported = 0;
    size_t count = yarn_merge_pass(merge, until_ns, &listener, &is_left);
    must(nr_reported >= count);
    must(is_left || nr_reported <= count + merge->count); /* a ring breaks once a pass */
    yarn_merge_pass(merge, UINT64_MAX, &listener, &is_left);
    must(!is_left);
    for (size_t i = 0; i < merge->count; i++)
        must(pages[i].data_tail == pages[i].data_head);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct yarn_merge merge;
    struct yarn_merge_source sources[RINGS_MAX] = {0};
    struct yarn_cursor head = yarn_cursor_of(yarn_span_of(data, size));
    merge.sources = sources;
    merge.count = 1 + yarn_cursor_u8(&head) % RINGS_MAX;
    uint8_t parts = yarn_cursor_u8(&head);
    make_layouts(&merge.decoder, parts, yarn_cursor_u64(&head));
    uint64_t until_ns = yarn_cursor_u64(&head);
    struct yarn_span rest = yarn_span_from(head.span, head.at + merge.count * 10);
    size_t share = rest.size / merge.count;
    for (size_t i = 0; i < merge.count; i++) {
        make_ring(i, &head, yarn_span_sub(rest, i * share, share));
        sources[i].ring = &rings[i];
    }
    merge_all(&merge, until_ns);
    for (size_t i = 0; i < merge.count; i++)
        free(ring_data[i]);
    return 0;
}
