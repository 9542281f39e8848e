/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/catalog.h"
#include "core/event/parse_form.h"

static const uint64_t frequency_max_hz = 100000;
static const unsigned precise_max = 3;

/* Reads one term's value; on -EINVAL the error's offset counts from the value's start. */
typedef int term_fn(struct yarn_event_spec *spec, const char *value, size_t size,
                    struct yarn_parse_error *ret_error);

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
    spec->has_own_rate = true;
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
    for (size_t i = 0; i < size; i++)
        if ((uint8_t)value[i] < ' ' || value[i] == 0x7f)
            return fail_whole(ret_error, size, "a control character in a name");
    struct yarn_text text = yarn_text_of(spec->name, sizeof spec->name);
    yarn_text_add_sized(&text, value, size);
    spec->has_own_name = true;
    return 0;
}

static const struct {
    const char *key;
    term_fn *take;
} terms[] = {
    {"period", take_period},         {"freq", take_frequency}, {"call-graph", take_callgraph},
    {"stack-size", take_stack_size}, {"name", take_name},
};

static term_fn *find_term(struct yarn_span key)
{
    for (size_t i = 0; i < YARN_COUNT_OF(terms); i++)
        if (yarn_catalog_is_same(key, terms[i].key))
            return terms[i].take;
    return NULL;
}

/* KEY=VALUE, up to the comma or the slash behind it. */
static int parse_term(struct yarn_event_reader *reader, struct yarn_event_spec *spec)
{
    struct yarn_span key = yarn_event_reader_until(reader, "=,/");
    term_fn *take = find_term(key);
    if (!take)
        return yarn_event_reader_fail(reader, reader->at, key.size,
                                      key.size ? "not a known term" : "a term is missing");
    if (yarn_event_reader_peek(reader, key.size) != '=')
        return yarn_event_reader_fail(reader, reader->at, key.size, "has no =VALUE");
    reader->at += key.size + 1;
    struct yarn_span value = yarn_event_reader_until(reader, ",/");
    int err = take(spec, (const char *)value.data, value.size, reader->error);
    if (err) {
        reader->error->at += reader->at;
        return err;
    }
    reader->at += value.size;
    return 0;
}

static int parse_terms(struct yarn_event_reader *reader, struct yarn_event_spec *spec)
{
    size_t start = reader->at++;
    if (yarn_event_reader_peek(reader, 0) == '/') {
        reader->at++;
        return 0;
    }
    for (;;) {
        int err = parse_term(reader, spec);
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
        if (!strchr("ukhpPIGHSDeW", letter))
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

int yarn_event_parse_tail(struct yarn_event_reader *reader, struct yarn_event_spec *spec)
{
    bool has_terms = yarn_event_reader_peek(reader, 0) == '/';
    if (has_terms) {
        int err = parse_terms(reader, spec);
        if (err)
            return err;
    }
    if (yarn_event_reader_peek(reader, 0) == ':') {
        reader->at++;
        return yarn_event_parse_modifiers(reader, spec);
    }
    if (has_terms && yarn_event_reader_word(reader).size)
        return yarn_event_parse_modifiers(reader, spec);
    return 0;
}
