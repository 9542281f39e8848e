/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The dump reader with every visitor. The first byte says what the rest is: even, a dump; odd, the
 * payloads of chunks, each behind its size as 16 bits, whose headers and checksums are made here,
 * so that the fuzzer reaches the records behind them. Bits 1 and 2 of it then choose the chunk's
 * process and epoch. With bit 3 payloads are as stored, behind 16 bits of their size when unpacked.
 */
#include <stdlib.h>

#include "core/base/bytes.h"
#include "core/base/crc32c.h"
#include "output/dump/chunk.h"
#include "output/dump/reader.h"
#include "output/dump/shown.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What visits read, so that nothing of it is left out; volatile, so that no compiler does. */
static volatile uint64_t sink;

static void use_text(struct yarn_span text)
{
    for (size_t i = 0; i < text.size; i++)
        sink += text.data[i];
}

#define USE_U32(member) sink += thing->member;
#define USE_U64(member) sink += thing->member;
#define USE_AMOUNT USE_U64
#define USE_I32(member) sink += (uint64_t)thing->member;
#define USE_I64(member) sink += (uint64_t)thing->member;
#define USE_BOOL(member) sink += thing->member;
#define USE_REF(member) sink += thing->member;
#define USE_TID(member) sink += thing->member;
#define USE_CPU(member) use_cpu(thing->member);
#define USE_TIME(member) sink += thing->member;
#define USE_TEXT(member) use_text(thing->member);
#define USE_VALUES(member) sink += thing->member[YARN_DUMP_TOTAL_COUNT - 1];

static void use_cpu(uint32_t cpu)
{
    if (cpu >> YARN_DUMP_CPU_BITS)
        abort();
}

/* clang-format off */
#define YARN_RECORD(number, NAME, name, prose)                                                     \
    static int use_##name(void *self, const struct yarn_dump_##name *thing)                        \
    {                                                                                              \
        (void)self;
#define YARN_FIELD(NAME, name, KIND, member, prose) USE_##KIND(member)
#define YARN_RECORD_END(NAME, name)                                                                \
        return 0;                                                                                  \
    }
#include "output/dump/format.def"
/* clang-format on */

static int use_shown(void *self, enum yarn_dump_record record, const void *thing)
{
    uint8_t data[2048];
    struct yarn_byte_buffer bytes = yarn_bytes_of(data, sizeof data);
    (void)self;
    yarn_dump_show(&bytes, record, thing);
    use_text(yarn_bytes_span(&bytes));
    sink += yarn_dump_shown_at(record, thing).time_ns;
    return 0;
}

static int use_symbol(void *self, const struct yarn_dump_symbol *symbol)
{
    (void)self;
    if (symbol->number >= YARN_DUMP_SYMBOLS_MAX)
        abort();
    use_text(symbol->name);
    return 0;
}

static int use_frame(void *self, const struct yarn_dump_frame *frame)
{
    (void)self;
    if (frame->number >= YARN_DUMP_FRAMES_MAX || frame->symbol >= YARN_DUMP_SYMBOLS_MAX)
        abort();
    return 0;
}

static int use_stack(void *self, const struct yarn_dump_stack *stack)
{
    (void)self;
    if (stack->number >= YARN_DUMP_STACKS_MAX || stack->frame >= YARN_DUMP_FRAMES_MAX)
        abort();
    if (stack->parent != YARN_DUMP_NONE && stack->parent >= stack->number)
        abort();
    return 0;
}

static int use_samples(void *self, const struct yarn_sample *samples, size_t count)
{
    (void)self;
    for (size_t i = 0; i < count; i++) {
        if (samples[i].stack_end >= YARN_DUMP_STACK_END_COUNT)
            abort();
        sink += samples[i].time_ns + samples[i].weight + samples[i].cpu;
    }
    return 0;
}

static const struct yarn_dump_visitor visitor = {
#define YARN_RECORD(number, NAME, name, prose) .name = use_##name,
#include "output/dump/format.def"
    .symbol = use_symbol,
    .frame = use_frame,
    .stack = use_stack,
    .samples = use_samples,
    .shown = use_shown,
};

static void read_dump(struct yarn_span dump)
{
    struct yarn_dump_summary summary;
    int result = yarn_dump_read_bytes(dump, &visitor, NULL, &summary);
    if (result != 0 && result != -ENOEXEC)
        abort();
    if (summary.file_bytes != dump.size || summary.damaged_bytes > dump.size)
        abort();
}

enum { IS_ZSTD = 8 };

static void add_chunk(struct yarn_byte_buffer *bytes, uint32_t sequence, uint8_t choice,
                      struct yarn_span payload)
{
    uint8_t header[YARN_DUMP_CHUNK_HEADER_BYTES];
    struct yarn_cursor cursor = yarn_cursor_of(payload);
    size_t raw_bytes = choice & IS_ZSTD ? yarn_cursor_u16(&cursor) : payload.size;
    payload = yarn_span_from(payload, cursor.at);
    const struct yarn_dump_chunk chunk = {
        .payload_crc = yarn_crc32c(0, payload),
        .sequence = sequence,
        .process = choice & 2 ? (uint16_t)(sequence / 4) : 0,
        .epoch = choice & 4 ? (uint16_t)(sequence / 2) : 0,
        .time_ns = 1000,
        .raw_bytes = (uint32_t)raw_bytes,
        .stored_bytes = (uint32_t)payload.size,
        .header_bytes = sizeof header,
        .codec = choice & IS_ZSTD ? YARN_DUMP_CODEC_ZSTD : YARN_DUMP_CODEC_NONE,
    };
    yarn_dump_chunk_encode(&chunk, header);
    yarn_bytes_put(bytes, header, sizeof header);
    yarn_bytes_put(bytes, payload.data, payload.size);
}

static void read_payloads(struct yarn_span payloads, uint8_t choice)
{
    uint8_t header[YARN_DUMP_FILE_HEADER_BYTES];
    const struct yarn_dump_file_header file = {
        .major = YARN_DUMP_MAJOR,
        .header_bytes = sizeof header,
    };
    size_t capacity = sizeof header + (payloads.size + 1) * YARN_DUMP_CHUNK_HEADER_BYTES;
    uint8_t *data = malloc(capacity);
    if (!data)
        abort();
    struct yarn_byte_buffer bytes = yarn_bytes_of(data, capacity);
    struct yarn_cursor cursor = yarn_cursor_of(payloads);
    yarn_dump_file_header_encode(&file, header);
    yarn_bytes_put(&bytes, header, sizeof header);
    for (uint32_t sequence = 0; yarn_cursor_left(&cursor) >= 2; sequence++) {
        size_t size = yarn_cursor_u16(&cursor);
        size = yarn_size_min(size, yarn_cursor_left(&cursor));
        add_chunk(&bytes, sequence, choice, yarn_cursor_span(&cursor, size));
    }
    read_dump(yarn_bytes_span(&bytes));
    free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    struct yarn_span rest = yarn_span_of(data + 1, size - 1);
    if (data[0] & 1)
        read_payloads(rest, data[0]);
    else
        read_dump(rest);
    return 0;
}
