/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/record_body.h"

enum { WORD = sizeof(uint64_t), IDS = 2 * sizeof(uint32_t), LINK = 2 * WORD };

/* By what follows the fixed part. */
enum tail { NOTHING, TEXT, LINKS, CODE, VALUES };

static const struct {
    bool is_known;
    size_t fixed;
    enum tail tail;
} kinds[PERF_RECORD_MAX] = {
    [PERF_RECORD_MMAP] = {true, IDS + 3 * WORD, TEXT},
    [PERF_RECORD_LOST] = {true, 2 * WORD, NOTHING},
    [PERF_RECORD_COMM] = {true, IDS, TEXT},
    [PERF_RECORD_EXIT] = {true, 2 * IDS + WORD, NOTHING},
    [PERF_RECORD_THROTTLE] = {true, 3 * WORD, NOTHING},
    [PERF_RECORD_UNTHROTTLE] = {true, 3 * WORD, NOTHING},
    [PERF_RECORD_FORK] = {true, 2 * IDS + WORD, NOTHING},
    [PERF_RECORD_READ] = {true, IDS, VALUES},
    [PERF_RECORD_MMAP2] = {true, IDS + 7 * WORD, TEXT},
    [PERF_RECORD_AUX] = {true, 3 * WORD, NOTHING},
    [PERF_RECORD_ITRACE_START] = {true, IDS, NOTHING},
    [PERF_RECORD_LOST_SAMPLES] = {true, WORD, NOTHING},
    [PERF_RECORD_SWITCH] = {true, 0, NOTHING},
    [PERF_RECORD_SWITCH_CPU_WIDE] = {true, IDS, NOTHING},
    [PERF_RECORD_NAMESPACES] = {true, IDS, LINKS},
    [PERF_RECORD_KSYMBOL] = {true, 2 * WORD, TEXT},
    [PERF_RECORD_BPF_EVENT] = {true, 2 * WORD, NOTHING},
    [PERF_RECORD_CGROUP] = {true, WORD, TEXT},
    [PERF_RECORD_TEXT_POKE] = {true, WORD, CODE},
    [PERF_RECORD_AUX_OUTPUT_HW_ID] = {true, WORD, NOTHING},
};

/* The kernel fills the last word of a text up with zeros, of which it needs one. */
static void pass_text(struct yarn_words *words)
{
    const uint8_t *end = words->left ? memchr(words->next, 0, words->left) : NULL;
    if (!end || words->left - (size_t)(end - words->next) > WORD)
        words->is_broken = true;
    else
        yarn_words_take(words, words->left);
}

static void pass_code(struct yarn_words *words)
{
    uint16_t lengths[2] = {0};
    const uint8_t *bytes = yarn_words_take(words, sizeof lengths);
    if (!bytes)
        return;
    memcpy(lengths, bytes, sizeof lengths);
    size_t size = sizeof lengths + lengths[0] + lengths[1];
    yarn_words_take(words, (size + WORD - 1) / WORD * WORD - sizeof lengths);
}

void yarn_record_pass_values(struct yarn_words *words, uint64_t read_format)
{
    bool is_group = read_format & PERF_FORMAT_GROUP;
    size_t each = WORD;
    uint64_t count = is_group ? yarn_words_u64(words) : 1;
    if (read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
        yarn_words_take(words, WORD);
    if (read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
        yarn_words_take(words, WORD);
    if (read_format & PERF_FORMAT_ID)
        each += WORD;
    if (read_format & PERF_FORMAT_LOST)
        each += WORD;
    yarn_words_take_many(words, count, each);
}

bool yarn_record_body_fits(const struct perf_event_attr *attr, uint32_t type, const uint8_t *bytes,
                           size_t size)
{
    struct yarn_words words = {.next = bytes, .left = size};
    if (type >= PERF_RECORD_MAX || !kinds[type].is_known)
        return true;
    yarn_words_take(&words, kinds[type].fixed);
    switch (kinds[type].tail) {
    case TEXT:
        pass_text(&words);
        break;
    case LINKS:
        yarn_words_take_many(&words, yarn_words_u64(&words), LINK);
        break;
    case CODE:
        pass_code(&words);
        break;
    case VALUES:
        yarn_record_pass_values(&words, attr->read_format);
        break;
    case NOTHING:
        break;
    }
    return !words.is_broken && !words.left;
}
