/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The dump reader with every visitor. The first byte says what the rest is: even, a dump; odd, the
 * unpacked payloads of chunks, each behind its size as 16 bits, whose headers and checksums are
 * made here, so that the fuzzer reaches the records behind them. Bits 1 and 2 of it then choose the
 * chunk's process and epoch. With bit 3 they are chunks of series, four each, and their payloads
 * are as stored, behind 16 bits of their size when unpacked; with bit 4 too, but nothing is
 * compressed.
 */
#include <stdlib.h>

#include "core/base/bytes.h"
#include "core/base/crc32c.h"
#include "output/dump/chunk.h"
#include "output/dump/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What visits read, so that nothing of it is left out; volatile, so that no compiler does. */
static volatile uint64_t sink;

static void use_text(struct yarn_span text)
{
    for (size_t i = 0; i < text.size; i++)
        sink += text.data[i];
}

static int use_process(void *self, const struct yarn_dump_process *process)
{
    (void)self;
    use_text(process->exe);
    use_text(process->cmdline);
    use_text(process->host);
    use_text(process->kernel);
    use_text(process->arch);
    return 0;
}

static int use_option(void *self, const struct yarn_dump_option *option)
{
    (void)self;
    use_text(option->name);
    use_text(option->value);
    return 0;
}

static int use_sampler(void *self, const struct yarn_dump_sampler *sampler)
{
    (void)self;
    use_text(sampler->asked);
    use_text(sampler->got);
    use_text(sampler->reason);
    use_text(sampler->strategy);
    use_text(sampler->reader);
    return 0;
}

static int use_event(void *self, const struct yarn_dump_event *event)
{
    (void)self;
    if (event->number >= YARN_DUMP_EVENTS_MAX)
        abort();
    use_text(event->name);
    use_text(event->asked);
    use_text(event->got);
    use_text(event->unit);
    use_text(event->reason);
    return 0;
}

static int use_count(void *self, const struct yarn_dump_count *count)
{
    (void)self;
    sink += count->event;
    return 0;
}

static int use_thread(void *self, const struct yarn_dump_thread *thread)
{
    (void)self;
    use_text(thread->comm);
    return 0;
}

static int use_thread_name(void *self, const struct yarn_dump_thread_name *name)
{
    (void)self;
    use_text(name->comm);
    return 0;
}

static int use_thread_end(void *self, const struct yarn_dump_thread_end *end)
{
    (void)self;
    sink += end->cpu_ns;
    return 0;
}

static int use_module(void *self, const struct yarn_dump_module *module)
{
    (void)self;
    use_text(module->path);
    use_text(module->build_id);
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

static int use_samples(void *self, const struct yarn_dump_sample *samples, size_t count)
{
    (void)self;
    for (size_t i = 0; i < count; i++) {
        if (samples[i].stack_end >= YARN_DUMP_STACK_END_COUNT)
            abort();
        sink += samples[i].time_ns + samples[i].weight + samples[i].cpu;
    }
    return 0;
}

static int use_lost(void *self, const struct yarn_dump_lost *lost)
{
    (void)self;
    sink += lost->count;
    return 0;
}

static int use_throttle(void *self, const struct yarn_dump_throttle *throttle)
{
    (void)self;
    sink += throttle->is_on;
    return 0;
}

static int use_message(void *self, const struct yarn_dump_message *message)
{
    (void)self;
    use_text(message->text);
    return 0;
}

static int use_totals(void *self, const struct yarn_dump_totals *totals)
{
    (void)self;
    sink += totals->value[YARN_DUMP_TOTAL_COUNT - 1];
    return 0;
}

static int use_from(void *self, const struct yarn_dump_from *from)
{
    (void)self;
    use_text(from->path);
    use_text(from->damage);
    return 0;
}

static int use_code_name(void *self, const struct yarn_dump_code_name *code_name)
{
    (void)self;
    use_text(code_name->name);
    return 0;
}

static int use_end(void *self, const struct yarn_dump_end *end)
{
    (void)self;
    sink += end->reason;
    return 0;
}

static const struct yarn_dump_visitor visitor = {
    .process = use_process,
    .option = use_option,
    .sampler = use_sampler,
    .event = use_event,
    .count = use_count,
    .thread = use_thread,
    .thread_name = use_thread_name,
    .thread_end = use_thread_end,
    .module = use_module,
    .symbol = use_symbol,
    .frame = use_frame,
    .stack = use_stack,
    .samples = use_samples,
    .lost = use_lost,
    .throttle = use_throttle,
    .message = use_message,
    .totals = use_totals,
    .end = use_end,
    .from = use_from,
    .code_name = use_code_name,
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

enum { CHUNKS_A_SERIES = 4, SERIES = 8, SERIES_PLAIN = 16 };

static const uint8_t no_piece[YARN_DUMP_PIECE_HEAD];

static void add_chunk(struct yarn_bytes *bytes, uint32_t sequence, uint8_t choice,
                      struct yarn_span payload)
{
    uint8_t header[YARN_DUMP_CHUNK_HEADER_BYTES];
    struct yarn_cursor cursor = yarn_cursor_of(payload);
    size_t head = choice & SERIES || !(choice & SERIES_PLAIN) ? 0 : sizeof no_piece;
    size_t raw_bytes = choice & SERIES ? yarn_cursor_u16(&cursor) : payload.size;
    payload = yarn_span_from(payload, cursor.at);
    struct yarn_dump_chunk chunk = {
        .payload_crc = yarn_crc32c(yarn_crc32c(0, yarn_span_of(no_piece, head)), payload),
        .sequence = sequence,
        .process = choice & 2 ? (uint16_t)(sequence / 4) : 0,
        .epoch = choice & 4 ? (uint16_t)(sequence / 2) : 0,
        .time_ns = 1000,
        .raw_bytes = (uint32_t)raw_bytes,
        .stored_bytes = (uint32_t)(head + payload.size),
        .header_bytes = sizeof header,
    };
    if (choice & (SERIES | SERIES_PLAIN))
        chunk.codec =
            sequence % CHUNKS_A_SERIES ? YARN_DUMP_CODEC_SERIES_NEXT : YARN_DUMP_CODEC_SERIES_BEGIN;
    yarn_dump_chunk_encode(&chunk, header);
    yarn_bytes_put(bytes, header, sizeof header);
    yarn_bytes_put(bytes, no_piece, head);
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
    struct yarn_bytes bytes = yarn_bytes_of(data, capacity);
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
