/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/parse.h"

#include <linux/perf_event.h>

#include "core/base/text.h"
#include "core/event/catalog.h"
#include "core/event/nearest.h"
#include "core/event/parse_form.h"

struct offers {
    struct yarn_event_reader *reader;
    struct yarn_nearest nearest;
    bool is_before_slash; /* a PMU may be meant */
};

static const size_t digits_max = 16; /* of a 64-bit configuration */

static bool is_literal(const struct yarn_catalog_entry *entry, struct yarn_span word)
{
    return yarn_span_equal(word, yarn_span_of_text(entry->name)) ||
           (entry->alias && yarn_span_equal(word, yarn_span_of_text(entry->alias)));
}

/* It is no counter, and a thread has one wait at a time. */
static int check_off_cpu(struct yarn_event_reader *reader, struct yarn_span word)
{
    if (reader->is_in_group)
        return yarn_event_reader_fail(reader, reader->at, word.size,
                                      "off-cpu is no counter, so it stands outside of groups");
    for (size_t i = 0; i < reader->list->count; i++)
        if (reader->list->specs[i].kind == YARN_EVENT_OFF_CPU)
            return yarn_event_reader_fail(reader, reader->at, word.size, "off-cpu, once more");
    return 0;
}

/* cpu-clock, cycles, auto */
static int parse_named(struct yarn_event_reader *reader)
{
    struct yarn_span word = yarn_event_reader_word(reader);
    bool is_auto = yarn_event_word_is(word, "auto");
    const struct yarn_catalog_entry *entry =
        yarn_catalog_find(is_auto ? yarn_span_of_text("cycles") : word);
    if (!entry)
        return -ENOENT;
    if (entry->kind == YARN_EVENT_OFF_CPU) {
        int err = check_off_cpu(reader, word);
        if (err)
            return err;
    }
    /* Why first: ARM's PMUs have an event of their own that is called cpu_cycles. */
    if (!is_auto && !is_literal(entry, word)) {
        int err = yarn_event_parse_literal_alias(reader);
        if (err != -ENOENT)
            return err;
    }
    struct yarn_event_spec spec = yarn_catalog_spec(entry);
    spec.is_auto = is_auto;
    int err = yarn_event_reader_add_generic(reader, &spec);
    if (!err)
        reader->at += word.size;
    return err;
}

static bool is_hex(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static uint64_t digit_of(uint8_t c)
{
    return (uint64_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

int yarn_event_raw_config(struct yarn_span word, uint64_t *ret_config)
{
    uint64_t config = 0;
    if (word.size < 2 || word.data[0] != 'r')
        return -ENOENT;
    for (size_t i = 1; i < word.size; i++) {
        if (!is_hex(word.data[i]))
            return -ENOENT;
        config = config << 4 | digit_of(word.data[i]);
    }
    if (word.size > 1 + digits_max)
        return -ERANGE;
    *ret_config = config;
    return 0;
}

/* r01c2 */
static int parse_raw(struct yarn_event_reader *reader)
{
    struct yarn_span word = yarn_event_reader_word(reader);
    struct yarn_event_spec spec = {
        .unit = "events", .scale = 1, .kind = YARN_EVENT_RAW, .type = PERF_TYPE_RAW};
    int err = yarn_event_raw_config(word, &spec.config);
    if (err == -ERANGE)
        return yarn_event_reader_fail(reader, reader->at, word.size,
                                      "a raw event of more than 16 digits");
    if (err)
        return err;
    spec.event = yarn_arena_text(reader->arena, (const char *)word.data, word.size);
    if (!spec.event)
        return -ENOMEM;
    err = yarn_event_reader_add_generic(reader, &spec);
    if (!err)
        reader->at += word.size;
    return err;
}

static bool offer_event(void *self, const char *name)
{
    struct offers *offers = self;
    yarn_nearest_offer(&offers->nearest, name);
    return true;
}

static bool offer_pmu(void *self, const char *name)
{
    struct offers *offers = self;
    struct yarn_pmu pmu;
    if (offers->is_before_slash)
        yarn_nearest_offer(&offers->nearest, name);
    if (!yarn_pmu_find(offers->reader->machine, yarn_span_of_text(name), offers->reader->arena,
                       &pmu))
        yarn_pmu_list_events(&pmu, offer_event, offers);
    return true;
}

static void offer_catalog(struct yarn_nearest *nearest)
{
    const struct yarn_catalog_entry *entry;
    yarn_nearest_offer(nearest, "auto");
    for (size_t i = 0; (entry = yarn_catalog_at(i)); i++) {
        yarn_nearest_offer(nearest, entry->name);
        if (entry->alias)
            yarn_nearest_offer(nearest, entry->alias);
    }
    yarn_event_offer_caches(nearest);
}

/* A word that no other parser took: never 0. */
static int parse_unknown(struct yarn_event_reader *reader)
{
    struct yarn_span word = yarn_event_reader_word(reader);
    struct offers offers = {reader, yarn_nearest_of(word),
                            yarn_event_reader_peek(reader, word.size) == '/'};
    struct yarn_text why = yarn_event_reader_sentence(reader);
    if (word.size) {
        offer_catalog(&offers.nearest);
        yarn_pmu_list(reader->machine, offer_pmu, &offers);
    }
    yarn_text_add(&why, offers.is_before_slash ? "not a known event, and no PMU of this machine"
                                               : "not a known event");
    yarn_nearest_ask(&offers.nearest, &why);
    return yarn_event_reader_fail(
        reader, reader->at, word.size ? word.size : yarn_event_reader_until(reader, ",}").size,
        why.data);
}

/* The words without :MODIFIERS behind them, which the tail reads. */
static struct yarn_span without_modifiers(struct yarn_span words)
{
    size_t colon = words.size;
    while (colon && words.data[colon - 1] != ':')
        colon--;
    bool has = colon > 1 && yarn_event_is_modifiers(yarn_span_from(words, colon));
    return has ? yarn_span_sub(words, 0, colon - 1) : words;
}

/* In words that the preload can read, too: it is handed on to it. */
static void write_event(const struct yarn_event_encoding *encoding, struct yarn_text *text)
{
    bool is_raw = !encoding->config1 && !encoding->config2;
    yarn_text_add(text, is_raw ? "r" : "cpu/config=0x");
    yarn_text_add_hex(text, encoding->config);
    if (is_raw)
        return;
    yarn_text_add(text, ",config1=0x");
    yarn_text_add_hex(text, encoding->config1);
    yarn_text_add(text, ",config2=0x");
    yarn_text_add_hex(text, encoding->config2);
    yarn_text_add(text, "/");
}

/* skl::MEM_LOAD_RETIRED:L3_MISS */
static int parse_encoded(struct yarn_event_reader *reader)
{
    struct yarn_span whole = yarn_event_reader_until(reader, ",/} ");
    struct yarn_span words = without_modifiers(whole);
    struct yarn_event_encoding encoding = {0};
    if (!reader->machine->encode || !words.size)
        return -ENOENT;
    int err = reader->machine->encode(words, &encoding);
    if (err == -ENOENT && words.size < whole.size)
        err = reader->machine->encode(words = whole, &encoding);
    if (err)
        return err;
    char buffer[96];
    struct yarn_text text = yarn_text_of(buffer, sizeof buffer);
    write_event(&encoding, &text);
    struct yarn_event_spec spec = {
        .event = yarn_arena_text(reader->arena, text.data, text.size),
        .unit = "events",
        .scale = 1,
        .kind = buffer[0] == 'r' ? YARN_EVENT_RAW : YARN_EVENT_PMU,
        .type = PERF_TYPE_RAW,
        .config = encoding.config,
        .config1 = encoding.config1,
        .config2 = encoding.config2,
        .has_own_name = true,
        .is_encoded = true,
    };
    struct yarn_text name = yarn_text_of(spec.name, sizeof spec.name);
    yarn_text_add_sized(&name, (const char *)words.data, words.size);
    if (!spec.event)
        return -ENOMEM;
    err = yarn_event_reader_add(reader, &spec);
    if (!err)
        reader->at += words.size;
    return err;
}

/* As it is called where no PMU has cycles. */
static const char *later_name(const struct yarn_event_spec *spec, struct yarn_event_spec *room)
{
    if (!spec->is_auto)
        return spec->name;
    *room = *spec;
    yarn_event_spec_fall_back(room);
    return room->name;
}

static bool are_called_alike(const struct yarn_event_spec *a, const struct yarn_event_spec *b)
{
    struct yarn_event_spec rooms[2];
    return strcmp(a->name, b->name) == 0 ||
           strcmp(later_name(a, &rooms[0]), later_name(b, &rooms[1])) == 0;
}

/* The clock of counted events has a rate and is shown nowhere. */
static bool is_shown(const struct yarn_event_spec *spec)
{
    return !(spec->is_counted && spec->has_own_rate) && !spec->is_scheduling;
}

static bool are_two(const struct yarn_event_spec *a, const struct yarn_event_spec *b)
{
    return a->item != b->item && a->is_counted == b->is_counted && is_shown(a) && is_shown(b);
}

static bool has_double(const struct yarn_event_spec *specs, size_t count,
                       const struct yarn_event_spec *spec)
{
    for (size_t i = 0; i < count; i++)
        if (are_two(spec, &specs[i]) && are_called_alike(spec, &specs[i]))
            return true;
    return false;
}

/* One of the events that a pattern became, to which its words are no name. */
static bool is_one_of_several(const struct yarn_event_spec *specs, size_t count,
                              const struct yarn_event_spec *spec)
{
    for (size_t i = 0; i < count; i++)
        if (specs[i].item == spec->item && strcmp(specs[i].event, spec->event) != 0)
            return true;
    return false;
}

static void number(const struct yarn_event_spec *specs, struct yarn_event_spec *spec)
{
    char digits[16], base[YARN_EVENT_NAME_MAX];
    memcpy(base, spec->name, sizeof base);
    for (unsigned nr = 2; has_double(specs, (size_t)(spec - specs), spec); nr++) {
        struct yarn_text tail = yarn_text_of(digits, sizeof digits);
        yarn_text_add(&tail, " #");
        yarn_text_add_u64(&tail, nr);
        struct yarn_text name = yarn_text_of(spec->name, sizeof spec->name);
        size_t room = sizeof spec->name - 1 - tail.size;
        yarn_text_add_sized(&name, base, yarn_size_min(strlen(base), room));
        yarn_text_add(&name, digits);
        spec->is_told_apart = true;
    }
}

void yarn_event_specs_tell_apart(struct yarn_event_spec *specs, size_t count)
{
    enum { MOST = 64 };
    uint64_t are_doubles = 0;
    for (size_t i = 0; i < count && i < MOST; i++)
        are_doubles |= (uint64_t)has_double(specs, count, &specs[i]) << i;
    for (size_t i = 0; i < count && i < MOST; i++) {
        if (!(are_doubles >> i & 1))
            continue;
        if (!is_one_of_several(specs, count, &specs[i]))
            yarn_event_spec_call(&specs[i], specs[i].asked);
        specs[i].is_told_apart = true;
    }
    for (size_t i = 0; i < count; i++)
        number(specs, &specs[i]);
}

int yarn_event_reader_fail(struct yarn_event_reader *reader, size_t at, size_t size,
                           const char *why)
{
    *reader->error = (struct yarn_parse_error){.at = at, .why = why, .size = size};
    return -EINVAL;
}

static bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
}

struct yarn_span yarn_event_reader_word(const struct yarn_event_reader *reader)
{
    size_t size = 0;
    while (is_word_byte(yarn_event_reader_peek(reader, size)))
        size++;
    return yarn_span_sub(reader->text, reader->at, size);
}

struct yarn_span yarn_event_reader_pattern(const struct yarn_event_reader *reader)
{
    size_t size = 0;
    for (char c; (c = yarn_event_reader_peek(reader, size));) {
        if (!is_word_byte(c) && !strchr("*?[]", c))
            break;
        size++;
    }
    return yarn_span_sub(reader->text, reader->at, size);
}

struct yarn_text yarn_event_reader_sentence(struct yarn_event_reader *reader)
{
    return yarn_text_of(reader->list->sentence, sizeof reader->list->sentence);
}

struct yarn_span yarn_event_reader_until(const struct yarn_event_reader *reader, const char *stops)
{
    struct yarn_span rest = yarn_span_from(reader->text, reader->at);
    size_t size = 0;
    while (size < rest.size && !(rest.data[size] && strchr(stops, rest.data[size])))
        size++;
    return yarn_span_sub(rest, 0, size);
}

static void skip_blanks(struct yarn_event_reader *reader)
{
    while (yarn_event_reader_peek(reader, 0) == ' ')
        reader->at++;
}

int yarn_event_reader_add(struct yarn_event_reader *reader, const struct yarn_event_spec *spec)
{
    struct yarn_event_list *list = reader->list;
    if (list->count == YARN_EVENT_LIST_MAX)
        return yarn_event_reader_fail(
            reader, reader->at, yarn_event_reader_until(reader, ",}").size, "more than 32 events");
    list->specs[list->count] = *spec;
    list->specs[list->count].item = reader->nr_items;
    list->specs[list->count++].group = reader->is_in_group ? reader->nr_groups : 0;
    return 0;
}

static bool add_core(void *self, const char *name)
{
    struct yarn_event_reader *reader = self;
    struct yarn_pmu *pmu = &reader->cores[reader->nr_cores];
    if (strncmp(name, "cpu_", 4) == 0 &&
        !yarn_pmu_find(reader->machine, yarn_span_of_text(name), reader->arena, pmu) &&
        yarn_pmu_is_one_of_several(pmu))
        reader->nr_cores++;
    return reader->nr_cores < YARN_COUNT_OF(reader->cores);
}

/* By type, so that a list reads alike whatever the order of the folder. */
static void find_cores(struct yarn_event_reader *reader)
{
    reader->has_cores = true;
    yarn_pmu_list(reader->machine, add_core, reader);
    for (size_t i = 1; i < reader->nr_cores; i++) {
        for (size_t j = i; j && reader->cores[j].type < reader->cores[j - 1].type; j--) {
            struct yarn_pmu swap = reader->cores[j];
            reader->cores[j] = reader->cores[j - 1];
            reader->cores[j - 1] = swap;
        }
    }
}

static bool is_of_cores(const struct yarn_event_spec *spec)
{
    return spec->type == PERF_TYPE_HARDWARE || spec->type == PERF_TYPE_HW_CACHE ||
           spec->type == PERF_TYPE_RAW;
}

int yarn_event_reader_add_generic(struct yarn_event_reader *reader,
                                  const struct yarn_event_spec *spec)
{
    if (is_of_cores(spec) && !reader->has_cores)
        find_cores(reader);
    if (!is_of_cores(spec) || !reader->nr_cores)
        return yarn_event_reader_add(reader, spec);
    int err = 0;
    for (size_t i = 0; i < reader->nr_cores && !err; i++) {
        const struct yarn_pmu *pmu = &reader->cores[i];
        struct yarn_event_spec own = *spec;
        own.pmu = pmu->name;
        own.cpus = pmu->cpus;
        own.is_auto = spec->is_auto && !i; /* one cpu-clock is enough */
        if (spec->type == PERF_TYPE_RAW)
            own.type = pmu->type;
        else
            own.config |= (uint64_t)pmu->type << PERF_PMU_TYPE_SHIFT;
        err = yarn_event_reader_add(reader, &own);
    }
    return err;
}

static int parse_form(struct yarn_event_reader *reader)
{
    static yarn_event_form_fn *const forms[] = {
        parse_named,
        yarn_event_parse_cache,
        parse_raw,
        yarn_event_parse_breakpoint,
        yarn_event_parse_probe,
        yarn_event_parse_pmu,
        parse_encoded,
        yarn_event_parse_tracepoint,
        yarn_event_parse_alias,
        parse_unknown,
    };
    int err = -ENOENT;
    for (size_t i = 0; i < YARN_COUNT_OF(forms) && err == -ENOENT; i++)
        err = forms[i](reader);
    return err;
}

static int parse_tail(struct yarn_event_reader *reader, struct yarn_event_spec *spec)
{
    bool has_terms = yarn_event_reader_peek(reader, 0) == '/';
    int err = has_terms ? yarn_event_parse_terms(reader, spec) : 0;
    if (err)
        return err;
    bool has_colon = yarn_event_reader_peek(reader, 0) == ':';
    reader->at += has_colon;
    if (has_colon || (has_terms && yarn_event_reader_word(reader).size))
        err = yarn_event_parse_modifiers(reader, spec);
    if (!err && !spec->has_own_name)
        yarn_event_spec_name(spec);
    return err;
}

/* What follows an event is read over for each spec that the event has become. A PMU that was meant
 * by a pattern and does not know the terms is left out, as long as another does. */
static int parse_tails(struct yarn_event_reader *reader, size_t first)
{
    struct yarn_event_list *list = reader->list;
    size_t tail = reader->at, behind = tail;
    int fault = 0;
    for (size_t i = first; i < list->count;) {
        reader->at = tail;
        int err = parse_tail(reader, &list->specs[i]);
        if (err && (err != -EINVAL || list->specs[i].kind != YARN_EVENT_PMU))
            return err;
        if (!err) {
            behind = reader->at;
            i++;
            continue;
        }
        fault = err;
        list->count--;
        memmove(&list->specs[i], &list->specs[i + 1], (list->count - i) * sizeof list->specs[0]);
    }
    reader->at = behind;
    return list->count == first ? fault : 0;
}

static int parse_item(struct yarn_event_reader *reader)
{
    size_t start = reader->at, first = reader->list->count;
    reader->asked = NULL;
    char next = yarn_event_reader_peek(reader, 0);
    if (next == ',' || next == '}' || start == reader->text.size)
        return yarn_event_reader_fail(reader, start, next != 0, "an event is missing");
    int err = parse_form(reader);
    if (!err)
        err = parse_tails(reader, first);
    if (err)
        return err;
    struct yarn_span words = yarn_span_sub(reader->text, start, reader->at - start);
    const char *asked = reader->asked;
    if (!asked)
        asked = yarn_arena_text(reader->arena, (const char *)words.data, words.size);
    if (!asked)
        return -ENOMEM;
    for (size_t i = first; i < reader->list->count; i++) {
        reader->list->specs[i].asked = asked;
        reader->list->specs[i].asked_at = start;
        reader->list->specs[i].asked_end = reader->at;
    }
    reader->nr_items++;
    return 0;
}

/* :MODIFIERS of a group are added to those of each member; what is the group's is its leader's. */
static int parse_group_modifiers(struct yarn_event_reader *reader, size_t first)
{
    struct yarn_event_list *list = reader->list;
    size_t letters = reader->at;
    for (size_t i = first; i < list->count; i++) {
        struct yarn_event_spec *spec = &list->specs[i];
        reader->at = letters;
        int err = yarn_event_parse_modifiers(reader, spec);
        if (err)
            return err;
        if (!yarn_event_spec_leads(list->specs, i))
            spec->is_pinned = spec->is_exclusive = false;
        if (!spec->has_own_name)
            yarn_event_spec_name(spec);
    }
    return 0;
}

/* Which of the kinds of core counts it: 0 also where all do. */
static uint8_t core_of(const struct yarn_event_reader *reader, const struct yarn_event_spec *spec)
{
    for (uint8_t i = 0; spec->pmu && i < reader->nr_cores; i++)
        if (strcmp(reader->cores[i].name, spec->pmu) == 0)
            return i;
    return 0;
}

/* A group is of one PMU: what was typed as one becomes one for each kind of core. */
static void split_group(struct yarn_event_reader *reader, size_t first)
{
    struct yarn_event_list *list = reader->list;
    uint8_t last = 0;
    for (size_t i = first + 1; i < list->count; i++) {
        struct yarn_event_spec spec = list->specs[i];
        size_t j = i;
        for (; j > first && core_of(reader, &spec) < core_of(reader, &list->specs[j - 1]); j--)
            list->specs[j] = list->specs[j - 1];
        list->specs[j] = spec;
    }
    for (size_t i = first; i < list->count; i++) {
        uint8_t core = core_of(reader, &list->specs[i]);
        if (i > first && core != last)
            reader->nr_groups++;
        list->specs[i].group = reader->nr_groups;
        last = core;
    }
}

/* What the kernel refuses with EINVAL without a word. */
static int check_members(struct yarn_event_reader *reader, size_t first, size_t start)
{
    for (size_t i = first; i < reader->list->count; i++) {
        const struct yarn_event_spec *spec = &reader->list->specs[i];
        if (!yarn_event_spec_leads(reader->list->specs, i) &&
            (spec->is_pinned || spec->is_exclusive))
            return yarn_event_reader_fail(reader, start, reader->at - start,
                                          "D and e are of the whole group, behind its }");
    }
    return 0;
}

static int parse_list(struct yarn_event_reader *reader, char end);

/* {EVENT,…}[:MODIFIERS] */
static int parse_group(struct yarn_event_reader *reader)
{
    size_t start = reader->at++, first = reader->list->count;
    if (reader->is_in_group)
        return yarn_event_reader_fail(reader, start, 1, "a group within a group");
    reader->is_in_group = true;
    reader->nr_groups++;
    int err = parse_list(reader, '}');
    reader->is_in_group = false;
    if (err)
        return err;
    if (yarn_event_reader_peek(reader, 0) != '}')
        return yarn_event_reader_fail(reader, start, reader->at - start,
                                      "the closing } is missing");
    reader->at++;
    split_group(reader, first);
    err = check_members(reader, first, start);
    if (err || yarn_event_reader_peek(reader, 0) != ':')
        return err;
    reader->at++;
    return parse_group_modifiers(reader, first);
}

/* Items up to `end` (0: of the text), before which it stops. */
static int parse_list(struct yarn_event_reader *reader, char end)
{
    for (;;) {
        skip_blanks(reader);
        bool is_group = yarn_event_reader_peek(reader, 0) == '{';
        int err = is_group ? parse_group(reader) : parse_item(reader);
        if (err)
            return err;
        skip_blanks(reader);
        if (reader->at == reader->text.size || (end && yarn_event_reader_peek(reader, 0) == end))
            return 0;
        if (yarn_event_reader_peek(reader, 0) != ',')
            return yarn_event_reader_fail(
                reader, reader->at, yarn_event_reader_until(reader, ",").size, "not expected here");
        reader->at++;
    }
}

/* They would end paths and texts early. */
static int check_bytes(struct yarn_event_reader *reader)
{
    for (size_t i = 0; i < reader->text.size; i++)
        if (reader->text.data[i] < ' ' || reader->text.data[i] == 0x7f)
            return yarn_event_reader_fail(reader, i, 1, "a control character");
    return 0;
}

int yarn_event_list_parse_on(const struct yarn_event_machine *machine, const char *text,
                             size_t size, struct yarn_arena *arena,
                             struct yarn_event_list *ret_list, struct yarn_parse_error *ret_error)
{
    struct yarn_parse_error error = {.why = NULL};
    struct yarn_event_reader reader = {.text = yarn_span_of(text, size),
                                       .machine = machine,
                                       .arena = arena,
                                       .error = &error,
                                       .list = ret_list};
    size_t mark = arena->used;

    ret_list->count = 0;
    int err = check_bytes(&reader);
    if (!err)
        err = parse_list(&reader, 0);
    if (err) {
        ret_list->count = 0;
        yarn_arena_rewind(arena, mark);
    }
    yarn_event_specs_tell_apart(ret_list->specs, ret_list->count);
    if (err == -EINVAL)
        *ret_error = error;
    return err;
}

int yarn_event_list_parse(const char *text, size_t size, struct yarn_arena *arena,
                          struct yarn_event_list *ret_list, struct yarn_parse_error *ret_error)
{
    return yarn_event_list_parse_on(&yarn_event_machine_here, text, size, arena, ret_list,
                                    ret_error);
}
