/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/output/yarnprof/corruption.h"

#include <stdlib.h>

#include "core/base/bytes.h"
#include "core/base/crc32c.h"
#include "output/dump/chunk_reader.h"

enum { CHUNKS_MAX = 4096 };

/* Where the whole chunks of a dump lie. */
struct chunks {
    size_t at[CHUNKS_MAX + 1]; /* and the end */
    size_t count;
};

static struct chunks chunks;

uint64_t corruption_random(uint64_t *state, uint64_t bound)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return yarn_hash_u64(*state) % bound;
}

static void find_chunks(const struct corrupted *dump)
{
    struct yarn_dump_chunk chunk;
    struct yarn_span span = yarn_span_of(dump->bytes, dump->size);
    size_t at = YARN_DUMP_FILE_HEADER_BYTES;
    chunks.count = 0;
    while (chunks.count < CHUNKS_MAX && yarn_dump_chunk_decode(yarn_span_from(span, at), &chunk)) {
        chunks.at[chunks.count++] = at;
        at += (size_t)chunk.header_bytes + chunk.stored_bytes;
    }
    chunks.at[chunks.count] = at;
}

/* Replaces [at, at + size) by so many other bytes. */
static void splice(struct corrupted *dump, size_t at, size_t size, const uint8_t *bytes,
                   size_t other)
{
    memmove(dump->bytes + at + other, dump->bytes + at + size, dump->size - at - size);
    if (other)
        memcpy(dump->bytes + at, bytes, other);
    dump->size = dump->size - size + other;
}

static bool flip_bit(struct corrupted *dump, uint64_t *state)
{
    dump->bytes[corruption_random(state, dump->size)] ^=
        (uint8_t)(1u << corruption_random(state, 8));
    return true;
}

static bool change_byte(struct corrupted *dump, uint64_t *state)
{
    dump->bytes[corruption_random(state, dump->size)] ^=
        (uint8_t)(1 + corruption_random(state, 255));
    return true;
}

static bool blot(struct corrupted *dump, uint64_t *state)
{
    size_t at = corruption_random(state, dump->size);
    size_t size = yarn_size_min(1 + corruption_random(state, 5000), dump->size - at);
    bool is_zero = corruption_random(state, 2);
    bool is_other = false;
    for (size_t i = at; i < at + size; i++) {
        uint8_t byte = is_zero ? 0 : (uint8_t)corruption_random(state, 256);
        is_other = is_other || byte != dump->bytes[i];
        dump->bytes[i] = byte;
    }
    return is_other;
}

static bool cut(struct corrupted *dump, uint64_t *state)
{
    dump->size = corruption_random(state, dump->size);
    /* Where a chunk ends, nothing distinguishes a cut from a program that was killed. */
    for (size_t i = 0; i <= chunks.count; i++) {
        if (dump->size == chunks.at[i])
            return false;
    }
    return dump->size > 0;
}

static bool cut_out(struct corrupted *dump, uint64_t *state)
{
    size_t at = corruption_random(state, dump->size - 1);
    size_t size = yarn_size_min(1 + corruption_random(state, 3000), dump->size - at - 1);
    if (!size)
        return false;
    splice(dump, at, size, NULL, 0);
    /* As before: only the end may be missing. */
    return at + 1 < chunks.at[chunks.count - 1];
}

static bool insert(struct corrupted *dump, uint64_t *state)
{
    uint8_t bytes[512];
    size_t size = 1 + corruption_random(state, sizeof bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)corruption_random(state, 256);
    splice(dump, corruption_random(state, dump->size), 0, bytes, size);
    return true;
}

static bool lose_chunk(struct corrupted *dump, uint64_t *state)
{
    if (chunks.count < 3)
        return false;
    size_t i = corruption_random(state, chunks.count - 1);
    splice(dump, chunks.at[i], chunks.at[i + 1] - chunks.at[i], NULL, 0);
    return true;
}

static bool repeat_chunk(struct corrupted *dump, uint64_t *state)
{
    size_t i = corruption_random(state, chunks.count);
    size_t to = corruption_random(state, chunks.count);
    size_t size = chunks.at[i + 1] - chunks.at[i];
    uint8_t *copy = malloc(size);
    if (!copy)
        abort();
    memcpy(copy, dump->bytes + chunks.at[i], size);
    splice(dump, chunks.at[to + 1], 0, copy, size);
    free(copy);
    return true;
}

static bool swap_chunks(struct corrupted *dump, uint64_t *state)
{
    if (chunks.count < 3)
        return false;
    size_t i = corruption_random(state, chunks.count - 1);
    size_t first = chunks.at[i + 1] - chunks.at[i];
    size_t second = chunks.at[i + 2] - chunks.at[i + 1];
    uint8_t *copy = malloc(first);
    if (!copy)
        abort();
    memcpy(copy, dump->bytes + chunks.at[i], first);
    memmove(dump->bytes + chunks.at[i], dump->bytes + chunks.at[i + 1], second);
    memcpy(dump->bytes + chunks.at[i] + second, copy, first);
    free(copy);
    return true;
}

/* A header whose checksum fits, with sizes, numbers or times that do not. */
static bool lie_in_header(struct corrupted *dump, uint64_t *state)
{
    static const uint64_t values[] = {0, 1, 35, 255, 65535, (1 << 24) - 1, UINT32_MAX, UINT64_MAX};
    struct yarn_dump_chunk chunk;
    uint8_t *header = dump->bytes + chunks.at[corruption_random(state, chunks.count)];
    if (!yarn_dump_chunk_decode(yarn_span_of(header, YARN_DUMP_CHUNK_HEADER_BYTES), &chunk))
        return false;
    uint64_t value = values[corruption_random(state, YARN_COUNT_OF(values))];
    switch (corruption_random(state, 7)) {
    case 0:
        chunk.raw_bytes = (uint32_t)value & YARN_DUMP_PAYLOAD_MAX;
        break;
    case 1:
        chunk.stored_bytes = (uint32_t)value & YARN_DUMP_PAYLOAD_MAX;
        break;
    case 2:
        chunk.sequence = (uint32_t)value;
        break;
    case 3:
        chunk.process = (uint16_t)value;
        break;
    case 4:
        chunk.epoch = (uint16_t)value;
        break;
    case 5:
        chunk.time_ns = value;
        break;
    default:
        chunk.codec = (uint8_t)value;
        break;
    }
    yarn_dump_chunk_encode(&chunk, header);
    return true;
}

static void change_payload(uint8_t *payload, size_t size, uint64_t *state)
{
    for (uint64_t n = 1 + corruption_random(state, 4); n > 0; n--) {
        size_t at = corruption_random(state, size);
        switch (corruption_random(state, 3)) {
        case 0:
            payload[at] = (uint8_t)corruption_random(state, 256);
            break;
        case 1: /* the longest number there is */
            memset(payload + at, 0xff, yarn_size_min(9, size - at));
            break;
        default:
            payload[at] ^= (uint8_t)(1u << corruption_random(state, 8));
            break;
        }
    }
}

/* The payload of the chunk that lies there; *unpacker has seen those before it. */
static bool unpack(struct yarn_dump_unpacker *unpacker, struct yarn_span span, size_t at,
                   struct yarn_dump_chunk *ret_chunk, struct yarn_span *ret_payload)
{
    if (!yarn_dump_chunk_decode(yarn_span_from(span, at), ret_chunk))
        return false;
    struct yarn_span stored =
        yarn_span_sub(span, at + ret_chunk->header_bytes, ret_chunk->stored_bytes);
    return yarn_dump_unpacker_unpack(unpacker, ret_chunk, stored, ret_payload) == 0;
}

/* Without compression, and with lies in it where a state is given. */
static void add_chunk(struct yarn_byte_buffer *bytes, struct yarn_dump_chunk chunk,
                      struct yarn_span payload, uint64_t *state)
{
    uint8_t header[YARN_DUMP_CHUNK_HEADER_BYTES];
    size_t at = bytes->size + sizeof header;
    if (yarn_bytes_room(bytes) < sizeof header + payload.size)
        abort();
    memcpy(bytes->data + at, payload.data, payload.size);
    if (state)
        change_payload(bytes->data + at, payload.size, state);
    chunk.codec = YARN_DUMP_CODEC_NONE;
    chunk.stored_bytes = chunk.raw_bytes;
    chunk.payload_crc = yarn_crc32c(0, yarn_span_of(bytes->data + at, payload.size));
    chunk.header_bytes = sizeof header;
    yarn_dump_chunk_encode(&chunk, header);
    yarn_bytes_put(bytes, header, sizeof header);
    bytes->size += payload.size;
}

/* Records that are invalid in a chunk whose checksum fits. */
static bool lie_in_payload(struct corrupted *dump, uint64_t *state)
{
    struct yarn_dump_chunk chunk;
    struct yarn_span payload, span = yarn_span_of(dump->bytes, dump->size);
    struct yarn_dump_unpacker unpacker;
    size_t liar = corruption_random(state, chunks.count);
    size_t room = dump->size + CORRUPTED_ROOM;
    uint8_t *data = malloc(room);
    if (!data || yarn_dump_unpacker_open(&unpacker))
        abort();
    struct yarn_byte_buffer bytes = yarn_bytes_of(data, room);
    bool is_good = unpack(&unpacker, span, chunks.at[liar], &chunk, &payload) && payload.size &&
                   2 * payload.size < CORRUPTED_ROOM;
    if (is_good) {
        add_chunk(&bytes, chunk, payload, state);
        splice(dump, chunks.at[liar], chunks.at[liar + 1] - chunks.at[liar], data, bytes.size);
    }
    yarn_dump_unpacker_close(&unpacker);
    free(data);
    return is_good;
}

bool corruption_apply(struct corrupted *dump, uint64_t *state, struct corruption *ret_corruption)
{
    static const struct {
        struct corruption corruption;
        bool (*apply)(struct corrupted *dump, uint64_t *state);
    } ways[] = {
        {{"a flipped bit", true}, flip_bit},
        {{"a changed byte", true}, change_byte},
        {{"a blot", true}, blot},
        {{"a cut", true}, cut},
        {{"a piece cut out", true}, cut_out},
        {{"garbage between", true}, insert},
        {{"a lost chunk", true}, lose_chunk},
        {{"a chunk twice", true}, repeat_chunk},
        {{"swapped chunks", true}, swap_chunks},
        {{"a lying header", false}, lie_in_header},
        {{"lying records", false}, lie_in_payload},
    };
    size_t way = corruption_random(state, YARN_COUNT_OF(ways));
    find_chunks(dump);
    *ret_corruption = ways[way].corruption;
    return chunks.count && dump->size > 64 && ways[way].apply(dump, state);
}
