/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/perf_event.h>

#include "core/event/catalog.h"
#include "core/event/nearest.h"
#include "core/event/parse_form.h"
#include "core/event/spec.h"

static const uint64_t frequency_max_hz = 100000;

/* Reads one term's value; on -EINVAL the error's offset counts from the value's start. */
typedef int term_fn(struct yarn_event_spec *spec, const char *value, size_t size,
                    struct yarn_parse_error *ret_error);

static const unsigned precise_max = 3;
static const char all_letters[] = "ukhpPIGHSDeW";

bool yarn_event_is_modifiers(struct yarn_span word)
{
    for (size_t i = 0; i < word.size; i++)
        if (!word.data[i] || !strchr(all_letters, word.data[i]))
            return false;
    return word.size > 0;
}

/* perf's rule: who names one of user, kernel and hypervisor leaves the others out, and so with the
 * guest and its host. Letters over earlier ones add to them. */
static void take_sides(struct yarn_event_spec *spec, struct yarn_span word)
{
    bool user = memchr(word.data, 'u', word.size), kernel = memchr(word.data, 'k', word.size);
    bool hv = memchr(word.data, 'h', word.size), guest = memchr(word.data, 'G', word.size);
    bool host = memchr(word.data, 'H', word.size);
    if (user || kernel || hv) {
        bool others = !spec->has_modifiers;
        spec->exclude_user = (spec->exclude_user || others) && !user;
        spec->exclude_kernel = (spec->exclude_kernel || others) && !kernel;
        spec->exclude_hv = (spec->exclude_hv || others) && !hv;
        spec->has_modifiers = true;
    }
    if (guest || host) {
        bool others = !spec->exclude_guest && !spec->exclude_host;
        spec->exclude_guest = (spec->exclude_guest || others) && !guest;
        spec->exclude_host = (spec->exclude_host || others) && !host;
    }
}

static void take_flags(struct yarn_event_spec *spec, struct yarn_span word)
{
    const struct {
        char letter;
        bool *flag;
    } flags[] = {
        {'P', &spec->is_most_precise}, {'I', &spec->exclude_idle}, {'S', &spec->reads_group},
        {'D', &spec->is_pinned},       {'e', &spec->is_exclusive}, {'W', &spec->is_weak},
    };
    for (size_t i = 0; i < YARN_COUNT_OF(flags); i++)
        *flags[i].flag |= memchr(word.data, flags[i].letter, word.size) != NULL;
}

int yarn_event_parse_modifiers(struct yarn_event_reader *reader, struct yarn_event_spec *spec)
{
    struct yarn_span word = yarn_event_reader_word(reader);
    if (!word.size)
        return yarn_event_reader_fail(reader, reader->at - 1, 1, "a modifier is missing");
    for (size_t i = 0; i < word.size; i++) {
        char letter = (char)word.data[i];
        if (letter == 'p' && spec->precise++ == precise_max)
            return yarn_event_reader_fail(reader, reader->at, word.size, "more than three p");
        if (!strchr(all_letters, letter))
            return yarn_event_reader_fail(
                reader, reader->at, word.size,
                "not made of the modifiers u, k, h, p, P, I, G, H, S, D, e and W");
        if (letter != 'p' && memchr(word.data, letter, i))
            return yarn_event_reader_fail(reader, reader->at, word.size, "a modifier twice");
    }
    reader->at += word.size;
    take_sides(spec, word);
    take_flags(spec, word);
    return 0;
}

static int fail_whole(struct yarn_parse_error *ret_error, size_t size, const char *why)
{
    *ret_error = (struct yarn_parse_error){.at = 0, .why = why, .size = size};
    return -EINVAL;
}

static int take_period(struct yarn_event_spec *spec, const char *value, size_t size,
                       struct yarn_parse_error *ret_error)
{
    uint64_t period = 0;
    int err = yarn_parse_number(value, size, &period);
    if (err == -EINVAL)
        return fail_whole(ret_error, size, "not a number");
    if (err || period > INT64_MAX)
        return fail_whole(ret_error, size, "too large");
    if (!period)
        return fail_whole(ret_error, size, "a period is at least 1");
    if (spec->is_clock && period < YARN_CLOCK_PERIOD_MIN_NS)
        return fail_whole(ret_error, size, "a clock's period is at least 10000 ns");
    if (spec->frequency)
        return fail_whole(ret_error, size, "a period beside a frequency");
    spec->period = period;
    spec->has_own_rate = spec->has_own_period = true;
    return 0;
}

static int take_frequency(struct yarn_event_spec *spec, const char *value, size_t size,
                          struct yarn_parse_error *ret_error)
{
    uint64_t hz = 0;
    int err = yarn_parse_count(value, size, &hz);
    if (err == -EINVAL)
        return fail_whole(ret_error, size, "not a number");
    if (err || hz > frequency_max_hz)
        return fail_whole(ret_error, size, "more than 100000 samples a second");
    if (!hz)
        return fail_whole(ret_error, size, "a frequency is at least 1");
    if (spec->period)
        return fail_whole(ret_error, size, "a frequency beside a period");
    spec->frequency = hz;
    spec->has_own_rate = true;
    return 0;
}

static int take_callgraph(struct yarn_event_spec *spec, const char *value, size_t size,
                          struct yarn_parse_error *ret_error)
{
    struct yarn_callgraph callgraph;
    int err = yarn_callgraph_parse(value, size, &callgraph, ret_error);
    if (err)
        return err;
    /* Why: stack-size= may stand on either side of call-graph=dwarf. */
    bool is_sized = spec->has_callgraph && spec->callgraph.kind == YARN_CALLGRAPH_DWARF;
    if (!is_sized || callgraph.kind != YARN_CALLGRAPH_DWARF)
        spec->callgraph = callgraph;
    spec->has_callgraph = true;
    return 0;
}

static int take_stack_size(struct yarn_event_spec *spec, const char *value, size_t size,
                           struct yarn_parse_error *ret_error)
{
    uint32_t bytes;
    int err = yarn_callgraph_parse_stack(value, size, &bytes, ret_error);
    if (err)
        return err;
    spec->callgraph = (struct yarn_callgraph){YARN_CALLGRAPH_DWARF, bytes};
    spec->has_callgraph = true;
    return 0;
}

static int take_name(struct yarn_event_spec *spec, const char *value, size_t size,
                     struct yarn_parse_error *ret_error)
{
    if (!size)
        return fail_whole(ret_error, size, "the name is missing");
    if (size >= sizeof spec->name)
        return fail_whole(ret_error, size, "a name of more than 63 bytes");
    struct yarn_text text = yarn_text_of(spec->name, sizeof spec->name);
    yarn_text_add_sized(&text, value, size);
    spec->has_own_name = true;
    return 0;
}

/* One or more kinds with | between them. */
static int take_branch(struct yarn_event_spec *spec, const char *value, size_t size,
                       struct yarn_parse_error *ret_error)
{
    for (size_t at = 0, end; at <= size; at = end + 1) {
        const char *bar = memchr(value + at, '|', size - at);
        end = bar ? (size_t)(bar - value) : size;
        uint64_t bits = yarn_branch_bits(yarn_span_of(value + at, end - at));
        if (!bits) {
            *ret_error = (struct yarn_parse_error){
                .at = at,
                .size = end - at,
                .why = "not a kind of branch: any, call, return, ind_call, ind_jmp, cond, …"};
            return -EINVAL;
        }
        spec->branches |= bits;
    }
    /* Why any: the kernel refuses sides without a kind. */
    if (!(spec->branches & ~(uint64_t)PERF_SAMPLE_BRANCH_PLM_ALL))
        spec->branches |= PERF_SAMPLE_BRANCH_ANY;
    return 0;
}

static const struct {
    const char *key;
    term_fn *take;
} terms[] = {
    {"period", take_period},      {"freq", take_frequency},        {"call-graph", take_callgraph},
    {"name", take_name},          {"stack-size", take_stack_size}, {"branch", take_branch},
    {"branch-type", take_branch},
};

static term_fn *find_term(struct yarn_span key)
{
    for (size_t i = 0; i < YARN_COUNT_OF(terms); i++)
        if (yarn_event_word_is(key, terms[i].key))
            return terms[i].take;
    return NULL;
}

/* What stands in quotes, in which commas and slashes are what they are. */
static int find_quoted(struct yarn_event_reader *reader, struct yarn_span *ret_text)
{
    char quote = yarn_event_reader_peek(reader, 0);
    struct yarn_span rest = yarn_span_from(reader->text, reader->at + 1);
    const uint8_t *end = rest.size ? memchr(rest.data, quote, rest.size) : NULL;
    if (!end)
        return yarn_event_reader_fail(reader, reader->at, 1, "the closing quote is missing");
    *ret_text = yarn_span_sub(rest, 0, (size_t)(end - rest.data));
    return 0;
}

static bool is_quote(char letter)
{
    return letter == '\'' || letter == '"';
}

static int take_filter(struct yarn_event_reader *reader, struct yarn_event_spec *spec)
{
    if (!is_quote(yarn_event_reader_peek(reader, 0)))
        return yarn_event_reader_fail(reader, reader->at, 0,
                                      "a filter stands in quotes: filter='…'");
    struct yarn_span text;
    int err = find_quoted(reader, &text);
    if (err)
        return err;
    reader->at++;
    err = yarn_event_check_filter(reader, spec, text, reader->error);
    if (err) {
        reader->error->at += reader->at;
        return err;
    }
    spec->filter = yarn_arena_text(reader->arena, (const char *)text.data, text.size);
    reader->at += text.size + 1;
    return spec->filter ? 0 : -ENOMEM;
}

/* asked='WORDS', each quote in them twice: of who wrote the list anew (yarn_event_spec_encode). */
static int take_asked(struct yarn_event_reader *reader)
{
    if (yarn_event_reader_peek(reader, 0) != '\'')
        return yarn_event_reader_fail(reader, reader->at, 0, "the words stand in quotes");
    size_t size = 0, end = 1;
    for (char c; (c = yarn_event_reader_peek(reader, end)) != 0; end++) {
        bool is_end = c == '\'' && yarn_event_reader_peek(reader, end + 1) != c;
        if (is_end)
            break;
        end += c == '\'';
    }
    if (!yarn_event_reader_peek(reader, end))
        return yarn_event_reader_fail(reader, reader->at, 1, "the closing quote is missing");
    struct yarn_span text = yarn_span_sub(reader->text, reader->at + 1, end - 1);
    char *words = yarn_arena_text(reader->arena, (const char *)text.data, text.size);
    if (!words)
        return -ENOMEM;
    for (size_t at = 0; at < text.size; at++) {
        words[size++] = words[at];
        at += words[at] == '\'';
    }
    words[size] = 0;
    reader->asked = words;
    reader->at += end + 1;
    return 0;
}

/* KEY=VALUE of any event, up to the comma or the slash behind it; a name may stand in quotes. */
static int take_term(struct yarn_event_reader *reader, struct yarn_event_spec *spec,
                     struct yarn_span key, term_fn *take)
{
    if (yarn_event_reader_peek(reader, key.size) != '=')
        return yarn_event_reader_fail(reader, reader->at, key.size, "has no =VALUE");
    reader->at += key.size + 1;
    if (!take)
        return yarn_event_word_is(key, "asked") ? take_asked(reader) : take_filter(reader, spec);
    bool is_quoted = take == take_name && is_quote(yarn_event_reader_peek(reader, 0));
    struct yarn_span value = yarn_event_reader_until(reader, ",/");
    int err = is_quoted ? find_quoted(reader, &value) : 0;
    if (err)
        return err;
    reader->at += is_quoted;
    err = take(spec, (const char *)value.data, value.size, reader->error);
    if (err) {
        reader->error->at += reader->at;
        return err;
    }
    reader->at += value.size + is_quoted;
    return 0;
}

static int fail_term(struct yarn_event_reader *reader, struct yarn_span key)
{
    struct yarn_nearest nearest = yarn_nearest_of(key);
    struct yarn_text why = yarn_event_reader_sentence(reader);
    for (size_t i = 0; i < YARN_COUNT_OF(terms); i++)
        yarn_nearest_offer(&nearest, terms[i].key);
    yarn_nearest_offer(&nearest, "filter");
    yarn_text_add(&why, key.size ? "not a known term" : "a term is missing");
    yarn_nearest_ask(&nearest, &why);
    return yarn_event_reader_fail(reader, reader->at, key.size, why.data);
}

static int parse_term(struct yarn_event_reader *reader, struct yarn_event_spec *spec,
                      struct yarn_event_bits *bits)
{
    struct yarn_span key = yarn_event_reader_until(reader, "=,/");
    term_fn *take = find_term(key);
    if (take || yarn_event_word_is(key, "filter") || yarn_event_word_is(key, "asked"))
        return take_term(reader, spec, key, take);
    return bits ? yarn_event_take_bits(reader, spec, bits) : fail_term(reader, key);
}

static int parse_all(struct yarn_event_reader *reader, struct yarn_event_spec *spec,
                     struct yarn_event_bits *bits)
{
    size_t start = reader->at++;
    if (yarn_event_reader_peek(reader, 0) == '/') {
        reader->at++;
        return 0;
    }
    for (;;) {
        int err = parse_term(reader, spec, bits);
        if (err)
            return err;
        char next = yarn_event_reader_peek(reader, 0);
        if (next != ',' && next != '/')
            return yarn_event_reader_fail(reader, start, reader->at - start,
                                          "the closing / is missing");
        reader->at++;
        if (next == '/')
            return 0;
    }
}

/* What an alias or a generic name has filled in already stays: its words are no PMU's terms. */
int yarn_event_parse_terms(struct yarn_event_reader *reader, struct yarn_event_spec *spec)
{
    struct yarn_event_bits bits = {.nr_wanted = 0};
    if (spec->kind != YARN_EVENT_PMU || spec->event)
        return parse_all(reader, spec, NULL);
    int err =
        yarn_pmu_find(reader->machine, yarn_span_of_text(spec->pmu), reader->arena, &bits.pmu);
    if (err == -ENOENT)
        return yarn_event_reader_fail(reader, reader->at, 0, "the PMU has gone");
    if (err)
        return err;
    bits.text = yarn_text_of(bits.words, sizeof bits.words);
    err = parse_all(reader, spec, &bits);
    return err ? err : yarn_event_finish_bits(reader, spec, &bits);
}
