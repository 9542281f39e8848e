/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/perf_event.h>

#include "core/event/catalog.h"
#include "core/event/nearest.h"
#include "core/event/parse_form.h"

static const char second_event[] = "a second event: one of them has to go";

static uint64_t *config_of(struct yarn_event_spec *spec, unsigned number)
{
    uint64_t *const configs[YARN_PMU_CONFIGS] = {&spec->config, &spec->config1, &spec->config2};
    return configs[number];
}

static void put(struct yarn_event_spec *spec, struct yarn_event_bits *bits,
                const struct yarn_pmu_format *format, uint64_t value)
{
    yarn_pmu_format_put(format, value, config_of(spec, format->config));
    bits->given[format->config] |= format->bits;
}

/* "at most 255" */
static int fail_large(struct yarn_event_reader *reader, size_t size, uint64_t max)
{
    struct yarn_text why = yarn_event_reader_sentence(reader);
    yarn_text_add(&why, "too large: at most ");
    yarn_text_add_u64(&why, max);
    return yarn_event_reader_fail(reader, reader->at, size, why.data);
}

/* TERM or TERM=VALUE by the PMU's format; the reader stands at the value, or behind the term. */
static int take_value(struct yarn_event_reader *reader, struct yarn_event_spec *spec,
                      struct yarn_event_bits *bits, const struct yarn_pmu_format *format,
                      struct yarn_span value, bool has_value)
{
    uint64_t number = 1;
    int err = has_value ? yarn_parse_number((const char *)value.data, value.size, &number) : 0;
    uint64_t max = yarn_pmu_format_max(format);
    if (err == -EINVAL)
        return yarn_event_reader_fail(reader, reader->at, value.size, "not a number");
    if (err || number > max)
        return fail_large(reader, value.size, max);
    put(spec, bits, format, number);
    return 0;
}

/* config=, config1= and config2= are the whole of them, whatever the format says. */
static bool is_whole(struct yarn_span key, struct yarn_pmu_format *ret_format)
{
    static const char *const names[YARN_PMU_CONFIGS] = {"config", "config1", "config2"};
    for (unsigned i = 0; i < YARN_PMU_CONFIGS; i++) {
        if (!yarn_span_equal(key, yarn_span_of_text(names[i])))
            continue;
        *ret_format = (struct yarn_pmu_format){.config = i, .bits = UINT64_MAX};
        return true;
    }
    return false;
}

/* What an event's own term says holds for the bits that the words do not give. */
static void put_own(struct yarn_event_spec *spec, const struct yarn_event_bits *bits,
                    const struct yarn_pmu_format *format, uint64_t value)
{
    if (!(bits->given[format->config] & format->bits))
        yarn_pmu_format_put(format, value, config_of(spec, format->config));
}

static bool want(struct yarn_event_bits *bits, struct yarn_span key,
                 const struct yarn_pmu_format *format)
{
    if (bits->nr_wanted == YARN_COUNT_OF(bits->wanted))
        return false;
    struct yarn_text name =
        yarn_text_of(bits->wanted[bits->nr_wanted].name, sizeof bits->wanted[0].name);
    yarn_text_add_sized(&name, (const char *)key.data, key.size);
    bits->wanted[bits->nr_wanted++].format = *format;
    return true;
}

/* One term of what a PMU says an event is; false where it cannot be understood. */
static bool take_own(struct yarn_event_spec *spec, struct yarn_event_bits *bits,
                     struct yarn_span term)
{
    const uint8_t *equals = term.size ? memchr(term.data, '=', term.size) : NULL;
    struct yarn_span key = equals ? yarn_span_sub(term, 0, (size_t)(equals - term.data)) : term;
    struct yarn_span value = yarn_span_from(term, equals ? key.size + 1 : term.size);
    struct yarn_pmu_format format;
    uint64_t number = 1;
    if (!is_whole(key, &format) && yarn_pmu_find_format(&bits->pmu, key, &format))
        return false;
    if (equals && yarn_parse_number((const char *)value.data, value.size, &number))
        return want(bits, key, &format); /* "?", or a word that stands for one */
    if (number > yarn_pmu_format_max(&format))
        return false;
    put_own(spec, bits, &format, number);
    return true;
}

/* -ENOENT: no event of that name. */
static int take_event(struct yarn_event_reader *reader, struct yarn_event_spec *spec,
                      struct yarn_event_bits *bits, struct yarn_span name)
{
    struct yarn_pmu_event event;
    int err = yarn_pmu_find_event(&bits->pmu, name, reader->arena, &event);
    bool is_good = !err;
    if (err && err != -EINVAL)
        return err == -ENOMEM ? err : -ENOENT;
    struct yarn_span terms = yarn_span_of_text(is_good ? event.terms : "");
    for (size_t at = 0; is_good && at < terms.size;) {
        const uint8_t *comma = memchr(terms.data + at, ',', terms.size - at);
        size_t end = comma ? (size_t)(comma - terms.data) : terms.size;
        is_good = take_own(spec, bits, yarn_span_sub(terms, at, end - at));
        at = end + 1;
    }
    if (!is_good)
        return yarn_event_reader_fail(reader, reader->at, name.size,
                                      "what the kernel says of it cannot be understood");
    if (bits->has_event)
        return yarn_event_reader_fail(reader, reader->at, name.size, second_event);
    spec->scale = event.scale;
    if (event.unit)
        spec->unit = event.unit;
    bits->has_event = true;
    return 0;
}

/* cycles, L1-dcache-loads or r1c2 within a core's PMU. */
static int take_generic(struct yarn_event_reader *reader, struct yarn_event_spec *spec,
                        struct yarn_event_bits *bits, struct yarn_span name)
{
    static const struct yarn_pmu_format all = {.bits = UINT64_MAX};
    const struct yarn_catalog_entry *entry = yarn_catalog_find(name);
    const char *why = NULL;
    uint64_t config = 0;
    int err = yarn_event_raw_config(name, &config);
    if (err != -ENOENT) {
        put(spec, bits, &all, config);
        return err == -ERANGE ? fail_large(reader, name.size, UINT64_MAX) : 0;
    }
    if (!bits->pmu.is_core)
        return -ENOENT;
    bool is_cache = !entry && yarn_event_cache_config(name, &config, &why);
    if (!is_cache && (!entry || entry->kind != YARN_EVENT_HARDWARE))
        return -ENOENT;
    if (bits->has_event)
        why = second_event;
    if (why)
        return yarn_event_reader_fail(reader, reader->at, name.size, why);
    bool has_type = yarn_pmu_is_one_of_several(&bits->pmu);
    spec->config = (is_cache ? config : entry->config) |
                   (has_type ? (uint64_t)spec->type << PERF_PMU_TYPE_SHIFT : 0);
    spec->type = is_cache ? PERF_TYPE_HW_CACHE : PERF_TYPE_HARDWARE;
    if (!is_cache)
        spec->unit = entry->unit;
    bits->has_event = true;
    return 0;
}

static bool offer(void *self, const char *name)
{
    yarn_nearest_offer(self, name);
    return true;
}

static int fail_unknown(struct yarn_event_reader *reader, const struct yarn_event_bits *bits,
                        struct yarn_span key)
{
    struct yarn_nearest nearest = yarn_nearest_of(key);
    struct yarn_text why = yarn_event_reader_sentence(reader);
    if (!key.size)
        return yarn_event_reader_fail(reader, reader->at, 0, "a term is missing");
    yarn_pmu_list_formats(&bits->pmu, offer, &nearest);
    yarn_pmu_list_events(&bits->pmu, offer, &nearest);
    yarn_text_add(&why, "not a term or event of the PMU ");
    yarn_text_add(&why, bits->pmu.name);
    yarn_nearest_ask(&nearest, &why);
    return yarn_event_reader_fail(reader, reader->at, key.size, why.data);
}

static void keep_words(struct yarn_event_bits *bits, struct yarn_span words)
{
    yarn_text_add(&bits->text, bits->text.size ? "," : "");
    yarn_text_add_sized(&bits->text, (const char *)words.data, words.size);
}

int yarn_event_take_bits(struct yarn_event_reader *reader, struct yarn_event_spec *spec,
                         struct yarn_event_bits *bits)
{
    struct yarn_span key = yarn_event_reader_until(reader, "=,/");
    struct yarn_span whole = yarn_event_reader_until(reader, ",/");
    bool has_value = whole.size > key.size;
    struct yarn_span value = yarn_span_from(whole, key.size + has_value);
    struct yarn_pmu_format format;
    int err = is_whole(key, &format) ? 0 : -ENOENT;
    if (err)
        err = yarn_pmu_find_format(&bits->pmu, key, &format);
    if (!err) {
        reader->at += has_value ? key.size + 1 : 0;
        err = take_value(reader, spec, bits, &format, value, has_value);
        reader->at -= has_value ? key.size + 1 : 0;
    } else if (err == -EINVAL || err == -EACCES) {
        err = yarn_event_reader_fail(reader, reader->at, key.size,
                                     "the kernel's format of this term cannot be read");
    } else if (!has_value) {
        err = take_event(reader, spec, bits, key);
        if (err == -ENOENT)
            err = take_generic(reader, spec, bits, key);
    }
    if (err == -ENOENT)
        err = fail_unknown(reader, bits, key);
    keep_words(bits, whole);
    reader->at += err ? 0 : whole.size;
    return err;
}

/* "chip= is missing" */
static int check_wanted(struct yarn_event_reader *reader, const struct yarn_event_bits *bits)
{
    for (size_t i = 0; i < bits->nr_wanted; i++) {
        const struct yarn_pmu_format *format = &bits->wanted[i].format;
        if (bits->given[format->config] & format->bits)
            continue;
        struct yarn_text why = yarn_event_reader_sentence(reader);
        yarn_text_add(&why, bits->wanted[i].name);
        yarn_text_add(&why, "= is missing, which this event needs");
        return yarn_event_reader_fail(reader, reader->at - 1, 1, why.data);
    }
    return 0;
}

int yarn_event_finish_bits(struct yarn_event_reader *reader, struct yarn_event_spec *spec,
                           struct yarn_event_bits *bits)
{
    char buffer[YARN_MACHINE_NAME_MAX + sizeof bits->words];
    struct yarn_text text = yarn_text_of(buffer, sizeof buffer);
    int err = check_wanted(reader, bits);
    if (err)
        return err;
    if (spec->type != bits->pmu.type && (bits->given[0] || bits->given[1] || bits->given[2]))
        return yarn_event_reader_fail(reader, reader->at - 1, 1,
                                      "a generic event takes no terms of the PMU beside it");
    if (bits->text.cut)
        return yarn_event_reader_fail(reader, reader->at - 1, 1, "too many terms");
    yarn_text_add(&text, spec->pmu);
    yarn_text_add(&text, "/");
    yarn_text_add_sized(&text, bits->words, bits->text.size);
    yarn_text_add(&text, "/");
    spec->event = yarn_arena_text(reader->arena, text.data, text.size);
    return spec->event ? 0 : -ENOMEM;
}
