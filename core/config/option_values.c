/* SPDX-License-Identifier: Apache-2.0 */
#include "core/config/option_values.h"

#include "core/base/callgraph.h"
#include "core/base/choices.h"
#include "core/base/sched.h"
#include "core/config/pattern.h"

static const uint64_t frequency_max_hz = 100000;
static const uint64_t ring_min_bytes = YARN_KIB(4);
static const uint64_t ring_max_bytes = YARN_MIB(1024);
static const uint64_t interval_min_ns = YARN_NS_PER_MS;
static const uint64_t interval_max_ns = 3600 * YARN_NS_PER_SECOND;
static const uint64_t while_max_ns = UINT64_C(1000) * 3600 * YARN_NS_PER_SECOND;

static int fail_whole(const char *text, const char *why, struct yarn_parse_error *ret_error)
{
    *ret_error = (struct yarn_parse_error){.at = 0, .why = why, .size = strlen(text)};
    return -EINVAL;
}

int yarn_option_parse_text(const char *text, void *ret_field, struct yarn_parse_error *ret_error)
{
    (void)ret_error;
    *(const char **)ret_field = text;
    return 0;
}

int yarn_option_parse_path(const char *text, void *ret_field, struct yarn_parse_error *ret_error)
{
    return yarn_option_parse_text(text, ret_field, ret_error);
}

int yarn_option_parse_pattern(const char *text, void *ret_field, struct yarn_parse_error *ret_error)
{
    int err = yarn_pattern_check(text, strlen(text), ret_error);
    if (err)
        return err;
    return yarn_option_parse_text(text, ret_field, ret_error);
}

int yarn_option_parse_optional_pattern(const char *text, void *ret_field,
                                       struct yarn_parse_error *ret_error)
{
    return *text ? yarn_option_parse_pattern(text, ret_field, ret_error)
                 : yarn_option_parse_text(text, ret_field, ret_error);
}

/* `err` is what the parse of the number returned. */
static int check_range(const char *text, int err, uint64_t value, uint64_t min, uint64_t max,
                       const char *no_number, struct yarn_parse_error *ret_error)
{
    if (err == -EINVAL)
        return fail_whole(text, no_number, ret_error);
    if (err || value > max)
        return fail_whole(text, "too large", ret_error);
    if (value < min)
        return fail_whole(text, "too small", ret_error);
    return 0;
}

int yarn_option_parse_frequency(const char *text, void *ret_field,
                                struct yarn_parse_error *ret_error)
{
    uint64_t hz = 0;
    int err = yarn_parse_count(text, strlen(text), &hz);
    err = check_range(text, err, hz, 1, frequency_max_hz, "not a number", ret_error);
    if (err)
        return err;
    *(uint64_t *)ret_field = hz;
    return 0;
}

int yarn_option_parse_callgraph(const char *text, void *ret_field,
                                struct yarn_parse_error *ret_error)
{
    return yarn_callgraph_parse(text, strlen(text), ret_field, ret_error);
}

int yarn_option_parse_sched(const char *text, void *ret_field, struct yarn_parse_error *ret_error)
{
    return yarn_sched_parse(text, strlen(text), ret_field, ret_error);
}

int yarn_option_parse_ring(const char *text, void *ret_field, struct yarn_parse_error *ret_error)
{
    uint64_t bytes = 0;
    if (strcmp(text, "auto") == 0) {
        *(uint64_t *)ret_field = 0;
        return 0;
    }
    int err = yarn_parse_bytes(text, strlen(text), &bytes);
    err = check_range(text, err, bytes, ring_min_bytes, ring_max_bytes, "not a number of bytes",
                      ret_error);
    if (err)
        return err;
    if (bytes & (bytes - 1))
        return fail_whole(text, "not a power of two", ret_error);
    *(uint64_t *)ret_field = bytes;
    return 0;
}

int yarn_option_parse_interval(const char *text, void *ret_field,
                               struct yarn_parse_error *ret_error)
{
    uint64_t ns = 0;
    int err = yarn_parse_duration_ms(text, strlen(text), &ns);
    err = check_range(text, err, ns, interval_min_ns, interval_max_ns, "not a time", ret_error);
    if (err)
        return err;
    *(uint64_t *)ret_field = ns;
    return 0;
}

int yarn_option_parse_while(const char *text, void *ret_field, struct yarn_parse_error *ret_error)
{
    uint64_t ns = 0;
    int err = 0;
    if (strcmp(text, "none") != 0)
        err = yarn_parse_duration_ms(text, strlen(text), &ns);
    err = check_range(text, err, ns, 0, while_max_ns, "not a time", ret_error);
    if (err)
        return err;
    *(uint64_t *)ret_field = ns;
    return 0;
}

/* Into an enumeration, whose values are the places of their words. */
static int parse_word(const char *text, const char *const *words, unsigned count, void *ret_field,
                      struct yarn_parse_error *ret_error)
{
    _Static_assert(sizeof(enum yarn_sampler) == sizeof count, "enumerations are unsigned");
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(text, words[i]) == 0) {
            memcpy(ret_field, &i, sizeof i);
            return 0;
        }
    }
    return fail_whole(text, "not one of its values", ret_error);
}

int yarn_option_parse_unwinder(const char *text, void *ret_field,
                               struct yarn_parse_error *ret_error)
{
    static const char *const words[] = {
        [YARN_UNWINDER_AUTO] = "auto", [YARN_UNWINDER_LIBUNWIND] = "libunwind"};
    return parse_word(text, words, YARN_COUNT_OF(words), ret_field, ret_error);
}

int yarn_option_parse_sampler(const char *text, void *ret_field, struct yarn_parse_error *ret_error)
{
    return parse_word(text, yarn_sampler_words, YARN_SAMPLER_COUNT, ret_field, ret_error);
}

int yarn_option_parse_strategy(const char *text, void *ret_field,
                               struct yarn_parse_error *ret_error)
{
    return parse_word(text, yarn_strategy_words, YARN_STRATEGY_COUNT, ret_field, ret_error);
}

int yarn_option_parse_reader(const char *text, void *ret_field, struct yarn_parse_error *ret_error)
{
    return parse_word(text, yarn_reader_words, YARN_READER_COUNT, ret_field, ret_error);
}

int yarn_option_parse_clock(const char *text, void *ret_field, struct yarn_parse_error *ret_error)
{
    static const char *const words[] = {[YARN_CLOCK_MONOTONIC] = "monotonic",
                                        [YARN_CLOCK_MONOTONIC_RAW] = "monotonic_raw",
                                        [YARN_CLOCK_BOOTTIME] = "boottime"};
    return parse_word(text, words, YARN_COUNT_OF(words), ret_field, ret_error);
}

int yarn_option_parse_empty(const char *text, void *ret_field, struct yarn_parse_error *ret_error)
{
    static const char *const words[] = {[YARN_EMPTY_DROP] = "drop", [YARN_EMPTY_KEEP] = "keep"};
    return parse_word(text, words, YARN_COUNT_OF(words), ret_field, ret_error);
}

int yarn_option_parse_start(const char *text, void *ret_field, struct yarn_parse_error *ret_error)
{
    static const char *const words[] = {[YARN_START_ON] = "on", [YARN_START_OFF] = "off"};
    return parse_word(text, words, YARN_COUNT_OF(words), ret_field, ret_error);
}

/* The bit of one word of the list; 0: not one of its words. */
static uint32_t follow_of(const char *word, size_t size)
{
    if (size == 4 && memcmp(word, "fork", size) == 0)
        return YARN_FOLLOW_FORK;
    return size == 4 && memcmp(word, "exec", size) == 0 ? YARN_FOLLOW_EXEC : 0;
}

int yarn_option_parse_follow(const char *text, void *ret_field, struct yarn_parse_error *ret_error)
{
    uint32_t follow = YARN_FOLLOW_NONE;
    if (strcmp(text, "none") != 0) {
        for (const char *word = text;; word++) {
            const char *comma = strchr(word, ',');
            size_t size = comma ? (size_t)(comma - word) : strlen(word);
            uint32_t bit = follow_of(word, size);
            if (!bit) {
                *ret_error = (struct yarn_parse_error){
                    .at = (size_t)(word - text), .why = "not one of its words", .size = size};
                return -EINVAL;
            }
            follow |= bit;
            if (!comma)
                break;
            word = comma;
        }
    }
    *(uint32_t *)ret_field = follow;
    return 0;
}

int yarn_option_parse_log(const char *text, void *ret_field, struct yarn_parse_error *ret_error)
{
    static const char *const words[] = {[YARN_LOG_OFF] = "off",
                                        [YARN_LOG_ERROR] = "error",
                                        [YARN_LOG_WARNING] = "warning",
                                        [YARN_LOG_INFO] = "info",
                                        [YARN_LOG_DEBUG] = "debug"};
    return parse_word(text, words, YARN_COUNT_OF(words), ret_field, ret_error);
}
