/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/perf_event.h>

#include "core/event/catalog.h"
#include "core/event/parse_form.h"

enum {
    CAN_LOAD = 1 << PERF_COUNT_HW_CACHE_OP_READ,
    CAN_STORE = 1 << PERF_COUNT_HW_CACHE_OP_WRITE,
    CAN_PREFETCH = 1 << PERF_COUNT_HW_CACHE_OP_PREFETCH,
};

/* A word and what it stands for. The first word of a number is the canonical one. */
struct word {
    const char *text;
    uint32_t number;
};

static const struct word caches[] = {
    {"L1-dcache", PERF_COUNT_HW_CACHE_L1D}, {"l1-d", PERF_COUNT_HW_CACHE_L1D},
    {"l1d", PERF_COUNT_HW_CACHE_L1D},       {"L1-data", PERF_COUNT_HW_CACHE_L1D},
    {"L1-icache", PERF_COUNT_HW_CACHE_L1I}, {"l1-i", PERF_COUNT_HW_CACHE_L1I},
    {"l1i", PERF_COUNT_HW_CACHE_L1I},       {"L1-instruction", PERF_COUNT_HW_CACHE_L1I},
    {"LLC", PERF_COUNT_HW_CACHE_LL},        {"L2", PERF_COUNT_HW_CACHE_LL},
    {"dTLB", PERF_COUNT_HW_CACHE_DTLB},     {"d-tlb", PERF_COUNT_HW_CACHE_DTLB},
    {"Data-TLB", PERF_COUNT_HW_CACHE_DTLB}, {"iTLB", PERF_COUNT_HW_CACHE_ITLB},
    {"i-tlb", PERF_COUNT_HW_CACHE_ITLB},    {"Instruction-TLB", PERF_COUNT_HW_CACHE_ITLB},
    {"branch", PERF_COUNT_HW_CACHE_BPU},    {"branches", PERF_COUNT_HW_CACHE_BPU},
    {"bpu", PERF_COUNT_HW_CACHE_BPU},       {"btb", PERF_COUNT_HW_CACHE_BPU},
    {"bpc", PERF_COUNT_HW_CACHE_BPU},       {"node", PERF_COUNT_HW_CACHE_NODE},
};

static const uint8_t can[PERF_COUNT_HW_CACHE_MAX] = {
    [PERF_COUNT_HW_CACHE_L1D] = CAN_LOAD | CAN_STORE | CAN_PREFETCH,
    [PERF_COUNT_HW_CACHE_L1I] = CAN_LOAD | CAN_PREFETCH,
    [PERF_COUNT_HW_CACHE_LL] = CAN_LOAD | CAN_STORE | CAN_PREFETCH,
    [PERF_COUNT_HW_CACHE_DTLB] = CAN_LOAD | CAN_STORE | CAN_PREFETCH,
    [PERF_COUNT_HW_CACHE_ITLB] = CAN_LOAD,
    [PERF_COUNT_HW_CACHE_BPU] = CAN_LOAD,
    [PERF_COUNT_HW_CACHE_NODE] = CAN_LOAD | CAN_STORE | CAN_PREFETCH,
};

static const struct word operations[] = {
    {"load", PERF_COUNT_HW_CACHE_OP_READ},
    {"loads", PERF_COUNT_HW_CACHE_OP_READ},
    {"read", PERF_COUNT_HW_CACHE_OP_READ},
    {"store", PERF_COUNT_HW_CACHE_OP_WRITE},
    {"stores", PERF_COUNT_HW_CACHE_OP_WRITE},
    {"write", PERF_COUNT_HW_CACHE_OP_WRITE},
    {"prefetch", PERF_COUNT_HW_CACHE_OP_PREFETCH},
    {"prefetches", PERF_COUNT_HW_CACHE_OP_PREFETCH},
    {"speculative-read", PERF_COUNT_HW_CACHE_OP_PREFETCH},
    {"speculative-load", PERF_COUNT_HW_CACHE_OP_PREFETCH},
};

static const struct word results[] = {
    {"misses", PERF_COUNT_HW_CACHE_RESULT_MISS}, {"miss", PERF_COUNT_HW_CACHE_RESULT_MISS},
    {"refs", PERF_COUNT_HW_CACHE_RESULT_ACCESS}, {"Reference", PERF_COUNT_HW_CACHE_RESULT_ACCESS},
    {"ops", PERF_COUNT_HW_CACHE_RESULT_ACCESS},  {"access", PERF_COUNT_HW_CACHE_RESULT_ACCESS},
};

/* Takes the longest of the words that `rest` begins with, and the dash before it (unless it is
 * the first). NULL with nothing taken: none. */
static const struct word *take_word(struct yarn_span *rest, const struct word *words, size_t count,
                                    bool is_first)
{
    const struct word *best = NULL;
    size_t dash = is_first ? 0 : 1;
    if (dash && !(rest->size && (rest->data[0] == '-' || rest->data[0] == '_')))
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t size = strlen(words[i].text);
        struct yarn_span candidate = yarn_span_sub(*rest, dash, size);
        bool ends = rest->size == dash + size ||
                    (rest->size > dash + size &&
                     (rest->data[dash + size] == '-' || rest->data[dash + size] == '_'));
        if (ends && yarn_event_word_is(candidate, words[i].text) &&
            (!best || size > strlen(best->text)))
            best = &words[i];
    }
    if (best)
        *rest = yarn_span_from(*rest, dash + strlen(best->text));
    return best;
}

/* perf's own spelling: L1-dcache-loads, L1-dcache-load-misses. */
static void write_name(struct yarn_text *text, uint32_t cache, uint32_t operation, uint32_t result)
{
    static const char *const singular[] = {"-load", "-store", "-prefetch"};
    static const char *const plural[] = {"-loads", "-stores", "-prefetches"};
    size_t first = 0;
    while (caches[first].number != cache)
        first++;
    bool is_miss = result == PERF_COUNT_HW_CACHE_RESULT_MISS;
    yarn_text_add(text, caches[first].text);
    yarn_text_add(text, is_miss ? singular[operation] : plural[operation]);
    yarn_text_add(text, is_miss ? "-misses" : "");
}

static const char *make_name(struct yarn_arena *arena, uint64_t config)
{
    char buffer[YARN_NEAREST_MAX];
    struct yarn_text text = yarn_text_of(buffer, sizeof buffer);
    write_name(&text, config & 0xff, config >> 8 & 0xff, (uint32_t)(config >> 16));
    return yarn_arena_text(arena, text.data, text.size);
}

/* CACHE, CACHE-OPERATION, CACHE-RESULT, or all three, the last two in either order. */
static bool take_all(struct yarn_span word, uint32_t numbers[3])
{
    const struct word *cache = take_word(&word, caches, YARN_COUNT_OF(caches), true);
    if (!cache)
        return false;
    const struct word *result = take_word(&word, results, YARN_COUNT_OF(results), false);
    const struct word *operation = take_word(&word, operations, YARN_COUNT_OF(operations), false);
    if (!result)
        result = take_word(&word, results, YARN_COUNT_OF(results), false);
    numbers[0] = cache->number;
    numbers[1] = operation ? operation->number : PERF_COUNT_HW_CACHE_OP_READ;
    numbers[2] = result ? result->number : PERF_COUNT_HW_CACHE_RESULT_ACCESS;
    return !word.size;
}

bool yarn_event_cache_config(struct yarn_span word, uint64_t *ret_config, const char **ret_why)
{
    uint32_t numbers[3];
    if (!take_all(word, numbers))
        return false;
    *ret_why = can[numbers[0]] & 1 << numbers[1] ? NULL : "not something that this cache does";
    *ret_config = numbers[0] | numbers[1] << 8 | numbers[2] << 16;
    return true;
}

void yarn_event_offer_caches(struct yarn_nearest *nearest)
{
    char buffer[YARN_NEAREST_MAX];
    for (uint32_t cache = 0; cache < PERF_COUNT_HW_CACHE_MAX; cache++) {
        for (uint32_t i = 0; i < 6; i++) {
            if (can[cache] & 1u << i / 2) {
                struct yarn_text text = yarn_text_of(buffer, sizeof buffer);
                write_name(&text, cache, i / 2, i % 2);
                yarn_nearest_offer(nearest, buffer);
            }
        }
    }
}

int yarn_event_parse_cache(struct yarn_event_reader *reader)
{
    struct yarn_span word = yarn_event_reader_word(reader);
    struct yarn_event_spec spec = {
        .unit = "events", .scale = 1, .kind = YARN_EVENT_CACHE, .type = PERF_TYPE_HW_CACHE};
    const char *why;
    if (!yarn_event_cache_config(word, &spec.config, &why))
        return -ENOENT;
    if (why)
        return yarn_event_reader_fail(reader, reader->at, word.size, why);
    spec.event = make_name(reader->arena, spec.config);
    if (!spec.event)
        return -ENOMEM;
    int err = yarn_event_reader_add_generic(reader, &spec);
    if (!err)
        reader->at += word.size;
    return err;
}
