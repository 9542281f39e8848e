/* SPDX-License-Identifier: Apache-2.0 */
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
