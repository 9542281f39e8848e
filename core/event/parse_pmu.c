/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/perf_event.h>

#include "core/event/catalog.h"
#include "core/event/nearest.h"
#include "core/event/parse.h"
#include "core/event/parse_form.h"

/* PMUs that mean something else than their folders say. */
static const struct {
    const char *name;
    const char *why;
} refused[] = {
    {"uprobe", "its terms are addresses in this process: write uprobe:PATH:SYMBOL"},
    {"kprobe", "its terms are addresses in this process: write kprobe:SYMBOL"},
    {"breakpoint", "has no terms: write mem:ADDRESS/LENGTH:rw"},
};

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

/* They write into a buffer of their own what only a decoder of the processor's format can read. */
static const char *refusal_of(const char *name)
{
    static const char *const tracers[] = {"intel_pt",  "intel_bts", "cs_etm",
                                          "coresight", "arm_spe",   "hisi_ptt"};
    for (size_t i = 0; i < YARN_COUNT_OF(tracers); i++)
        if (yarn_event_begins(yarn_span_of_text(name), tracers[i]))
            return "this PMU writes a trace, which is not recorded";
    return NULL;
}

static int add_pmu(struct yarn_event_reader *reader, const struct yarn_pmu *pmu)
{
    struct yarn_event_spec spec = {
        .kind = YARN_EVENT_PMU,
        .type = pmu->type,
        .unit = "events",
        .scale = 1,
        .pmu = pmu->name,
        .cpus = pmu->cpus,
        .is_of_cpus = pmu->is_of_cpus,
        .refusal = refusal_of(pmu->name),
    };
    return yarn_event_reader_add(reader, &spec);
}

struct search {
    struct yarn_event_reader *reader;
    struct yarn_span word;
    bool is_literal;                                /* - and _ are not alike */
    struct yarn_pmu found[YARN_EVENT_LIST_MAX + 1]; /* one too many is refused, not left out */
    size_t count;
    int err;
};

/* As perf has it: what numbers the several units of a kind may be left out, and "uncore_". */
static bool is_meant(struct yarn_span word, const char *name)
{
    struct yarn_span text = yarn_span_of_text(name);
    if (yarn_event_begins(text, "uncore_") && !yarn_event_begins(word, "uncore_"))
        text = yarn_span_from(text, strlen("uncore_"));
    if (!yarn_span_equal(yarn_span_sub(text, 0, word.size), word))
        return false;
    struct yarn_span digits = yarn_span_from(text, word.size);
    if (digits.size && digits.data[0] == '_')
        digits = yarn_span_from(digits, 1);
    for (size_t i = 0; i < digits.size; i++)
        if (digits.data[i] < '0' || digits.data[i] > '9')
            return false;
    return true;
}

static bool collect(struct search *search, struct yarn_span name)
{
    int err = yarn_pmu_find(search->reader->machine, name, search->reader->arena,
                            &search->found[search->count]);
    search->count += !err;
    search->err = err == -ENOMEM ? err : search->err;
    return !search->err && search->count < YARN_COUNT_OF(search->found);
}

static bool collect_named(void *self, const char *name)
{
    struct search *search = self;
    return !is_meant(search->word, name) || collect(search, yarn_span_of_text(name));
}

static int add_found(struct yarn_event_reader *reader, struct search *search)
{
    for (size_t i = 1; i < search->count; i++) {
        for (size_t j = i; j && search->found[j].type < search->found[j - 1].type; j--) {
            struct yarn_pmu swap = search->found[j];
            search->found[j] = search->found[j - 1];
            search->found[j - 1] = swap;
        }
    }
    int err = search->err;
    for (size_t i = 0; i < search->count && !err; i++)
        err = add_pmu(reader, &search->found[i]);
    return err;
}

int yarn_event_parse_pmu(struct yarn_event_reader *reader)
{
    struct yarn_span word = yarn_event_reader_word(reader);
    if (!word.size || yarn_event_reader_peek(reader, word.size) != '/')
        return -ENOENT;
    for (size_t i = 0; i < YARN_COUNT_OF(refused); i++)
        if (yarn_span_equal(word, yarn_span_of_text(refused[i].name)))
            return yarn_event_reader_fail(reader, reader->at, word.size, refused[i].why);
    struct search search = {.reader = reader, .word = word};
    (void)collect(&search, word);
    if (!search.count && !search.err)
        yarn_pmu_list(reader->machine, collect_named, &search);
    int err = search.count || search.err ? add_found(reader, &search) : -ENOENT;
    if (!err)
        reader->at += word.size;
    return err;
}

static bool has_event(const struct search *search, const struct yarn_pmu *pmu)
{
    struct yarn_pmu_event event;
    if (search->is_literal)
        return yarn_pmu_has_event(pmu, search->word);
    return yarn_pmu_find_event(pmu, search->word, search->reader->arena, &event) != -ENOENT;
}

static bool look_for_event(void *self, const char *name)
{
    struct search *search = self;
    size_t place = search->count;
    bool goes_on = collect(search, yarn_span_of_text(name));
    if (search->count > place && !has_event(search, &search->found[place]))
        search->count = place;
    return goes_on;
}

/* The event's own terms, as if it stood within its PMU's slashes. */
static int fill_from_event(struct yarn_event_reader *reader, struct yarn_event_spec *spec,
                           const struct yarn_pmu *pmu, struct yarn_span word)
{
    char buffer[YARN_MACHINE_NAME_MAX + 2];
    struct yarn_text text = yarn_text_of(buffer, sizeof buffer);
    yarn_text_add(&text, "/");
    yarn_text_add_sized(&text, (const char *)word.data, word.size);
    yarn_text_add(&text, "/");
    struct yarn_event_reader inner = *reader;
    inner.text = yarn_span_of(buffer, text.size);
    inner.at = 0;
    spec->pmu = pmu->name;
    int err = yarn_event_parse_terms(&inner, spec);
    if (err == -EINVAL) /* at the words that it was typed with */
        return yarn_event_reader_fail(reader, reader->at, word.size, reader->error->why);
    return err;
}

/* A name that a PMU has for an event of its own, without the PMU's. */
static int parse_alias(struct yarn_event_reader *reader, bool is_literal)
{
    struct search search = {
        .reader = reader, .word = yarn_event_reader_word(reader), .is_literal = is_literal};
    size_t first = reader->list->count;
    if (!search.word.size || search.word.size >= YARN_MACHINE_NAME_MAX)
        return -ENOENT;
    yarn_pmu_list(reader->machine, look_for_event, &search);
    if (!search.count)
        return search.err ? search.err : -ENOENT;
    int err = add_found(reader, &search);
    for (size_t i = 0; i < search.count && !err; i++)
        err =
            fill_from_event(reader, &reader->list->specs[first + i], &search.found[i], search.word);
    if (!err)
        reader->at += search.word.size;
    return err;
}

int yarn_event_parse_alias(struct yarn_event_reader *reader)
{
    return parse_alias(reader, false);
}

int yarn_event_parse_literal_alias(struct yarn_event_reader *reader)
{
    return parse_alias(reader, true);
}
