/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/spec.h"

#include <linux/perf_event.h>

#include "core/event/nearest.h"

#define KIND(word, name)                                                                           \
    {                                                                                              \
        word, PERF_SAMPLE_BRANCH_##name                                                            \
    }
const struct yarn_branch_kind yarn_branch_kinds[] = {
    KIND("any", ANY),
    KIND("any_call", ANY_CALL),
    KIND("any_ret", ANY_RETURN),
    KIND("ind_call", IND_CALL),
    KIND("ind_jmp", IND_JUMP),
    KIND("cond", COND),
    KIND("abort_tx", ABORT_TX),
    KIND("in_tx", IN_TX),
    KIND("no_tx", NO_TX),
    KIND("call", CALL),
    KIND("u", USER),
    KIND("k", KERNEL),
    KIND("hv", HV),
    KIND("return", ANY_RETURN),
};
#undef KIND

enum { WORDS = YARN_COUNT_OF(yarn_branch_kinds) };
const size_t yarn_branch_kind_count = WORDS - 1;

/* The decimal number at *at, which goes on behind it; UINT32_MAX is more than any cpu. */
static uint64_t take_number(const char **at)
{
    uint64_t number = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++)
        number = number < UINT32_MAX ? number * 10 + (uint64_t)(**at - '0') : number;
    return number;
}

bool yarn_cpu_list_has(const char *list, unsigned cpu)
{
    for (const char *at = list; *at >= '0' && *at <= '9'; at++) {
        uint64_t first = take_number(&at), last = first;
        if (*at == '-') {
            at++;
            last = take_number(&at);
        }
        if (first <= cpu && cpu <= last)
            return true;
        if (*at != ',')
            return false;
    }
    return false;
}

uint64_t yarn_branch_bits(struct yarn_span word)
{
    for (size_t i = 0; i < WORDS; i++)
        if (yarn_event_word_is(word, yarn_branch_kinds[i].word))
            return yarn_branch_kinds[i].bits;
    return 0;
}

/* Behind the slash of terms no colon is needed. */
static bool ends_in_slash(const struct yarn_text *text)
{
    return text->size && text->data[text->size - 1] == '/';
}

/* What the event counts, and (`is_whole`) how it is opened beside others. */
static void add_modifiers(const struct yarn_event_spec *spec, bool has_modes, bool is_whole,
                          struct yarn_text *text)
{
    const struct {
        bool is_set;
        const char *letter;
    } letters[] = {
        {has_modes && !spec->exclude_user, "u"},
        {has_modes && !spec->exclude_kernel, "k"},
        {has_modes && !spec->exclude_hv, "h"},
        {spec->precise > 0, "p"},
        {spec->precise > 1, "p"},
        {spec->precise > 2, "p"},
        {spec->is_most_precise, "P"},
        {spec->exclude_idle, "I"},
        {spec->exclude_host && !spec->exclude_guest, "G"},
        {spec->exclude_guest && !spec->exclude_host, "H"},
        {is_whole && spec->reads_group, "S"},
        {is_whole && spec->is_pinned, "D"},
        {is_whole && spec->is_exclusive, "e"},
        {is_whole && spec->is_weak, "W"},
    };
    bool is_first = true;
    for (size_t i = 0; i < YARN_COUNT_OF(letters); i++) {
        if (!letters[i].is_set)
            continue;
        if (is_first && !ends_in_slash(text))
            yarn_text_add(text, ":");
        yarn_text_add(text, letters[i].letter);
        is_first = false;
    }
}

bool yarn_event_spec_is_on(const struct yarn_event_spec *spec, int cpu)
{
    return !spec->cpus || yarn_cpu_list_has(spec->cpus, (unsigned)cpu);
}

/* Of a long one the kind and the end: probes of one long path differ there. */
static void add_event(const char *event, struct yarn_text *text)
{
    enum { ROOM = YARN_EVENT_NAME_MAX - 16 }; /* modifiers follow */
    static const char gap[] = "…";
    size_t size = strlen(event), head = strcspn(event, ":") + 1;
    if (size >= YARN_EVENT_NAME_MAX && head < ROOM / 2) {
        yarn_text_add_sized(text, event, head);
        yarn_text_add(text, gap);
        for (event += size - (ROOM - head - strlen(gap)); (*event & 0xc0) == 0x80;)
            event++; /* within a letter */
    }
    yarn_text_add(text, event);
}

void yarn_event_spec_call(struct yarn_event_spec *spec, const char *words)
{
    struct yarn_text text = yarn_text_of(spec->name, sizeof spec->name);
    add_event(words, &text);
}

void yarn_event_spec_name(struct yarn_event_spec *spec)
{
    struct yarn_text text = yarn_text_of(spec->name, sizeof spec->name);
    add_event(spec->event, &text);
    add_modifiers(spec, spec->has_modifiers, false, &text);
    spec->has_own_name = false;
}

int yarn_event_spec_check(const struct yarn_event_spec *spec, const char **ret_why)
{
    *ret_why = spec->refusal;
    if (spec->refusal && spec->refusal_error)
        return -spec->refusal_error;
    if (spec->refusal)
        return spec->kind == YARN_EVENT_TRACEPOINT ? -EACCES : -EOPNOTSUPP;
    if (spec->kind == YARN_EVENT_OFF_CPU)
        *ret_why = "no counter: it is recorded (YARN_EVENTS), not counted";
    else if (spec->is_in_kernel && spec->exclude_kernel)
        *ret_why = "happens in the kernel: without the kernel's part (u) it would always be 0";
    else if (spec->is_of_cpus)
        *ret_why = "counts whole cpus and no threads: yarnprof stat";
    else if (spec->kind == YARN_EVENT_BREAKPOINT && spec->site.symbol && !spec->config1)
        *ret_why = "its symbol has no address here";
    else if (spec->kind == YARN_EVENT_PROBE && !spec->config)
        *ret_why = "the probe is not defined";
    else if (yarn_event_spec_has_sample_filter(spec) && spec->is_counted)
        *ret_why = "its filter drops samples, not counts: those of tracepoints and probes do";
    else if (spec->branches && !yarn_event_spec_can_be_precise(spec))
        *ret_why = "only counters of the cpu record branches";
    return *ret_why ? -EOPNOTSUPP : 0;
}

bool yarn_event_spec_can_be_precise(const struct yarn_event_spec *spec)
{
    return spec->type != PERF_TYPE_SOFTWARE && spec->type != PERF_TYPE_TRACEPOINT &&
           spec->type != PERF_TYPE_BREAKPOINT;
}

bool yarn_event_spec_lower_precise(struct yarn_event_spec *spec)
{
    unsigned precise = yarn_event_spec_precise(spec);
    if (!precise || !yarn_event_spec_can_be_precise(spec))
        return false;
    spec->precise = (uint8_t)(precise - 1);
    spec->is_most_precise = false;
    return true;
}

bool yarn_event_spec_leave_kernel(struct yarn_event_spec *spec)
{
    if (spec->has_modifiers || spec->exclude_kernel || spec->is_in_kernel)
        return false;
    spec->has_left_kernel = spec->exclude_kernel = spec->exclude_hv = true;
    return true;
}

void yarn_event_spec_fall_back(struct yarn_event_spec *spec)
{
    if (!spec->is_auto)
        return;
    spec->event = "cpu-clock";
    spec->unit = "ns";
    spec->kind = YARN_EVENT_CLOCK;
    spec->type = PERF_TYPE_SOFTWARE;
    spec->config = PERF_COUNT_SW_CPU_CLOCK;
    spec->is_clock = true;
    spec->is_auto = false;
    if (!spec->has_own_rate)
        spec->period = spec->frequency = 0;
    if (spec->period)
        spec->period = yarn_u64_max(spec->period, YARN_CLOCK_PERIOD_MIN_NS);
    if (!spec->has_own_name && !spec->is_told_apart)
        yarn_event_spec_name(spec);
}

void yarn_event_spec_apply_rate(struct yarn_event_spec *spec, uint64_t frequency_hz)
{
    if (!spec->period && !spec->frequency) {
        if (spec->has_default_period_1)
            spec->period = 1;
        else
            spec->frequency = yarn_u64_max(frequency_hz, 1);
    }
    if ((spec->is_clock || spec->kind == YARN_EVENT_OFF_CPU) && spec->frequency) {
        spec->period = yarn_u64_max(YARN_NS_PER_SECOND / spec->frequency, YARN_CLOCK_PERIOD_MIN_NS);
        spec->frequency = 0;
    }
}

struct terms {
    struct yarn_text *text;
    bool has_one;   /* within the slashes */
    bool has_slash; /* the first */
};

/* Begins a term: a slash before the first, a comma before each other. */
static void begin_term(struct terms *terms, const char *key)
{
    if (!terms->has_slash)
        yarn_text_add(terms->text, "/");
    if (terms->has_one)
        yarn_text_add(terms->text, ",");
    yarn_text_add(terms->text, key);
    terms->has_one = terms->has_slash = true;
}

/* The event's own words: those of a PMU end in a slash, before which there is room for terms. */
static struct terms begin(const struct yarn_event_spec *spec, struct yarn_text *text)
{
    struct terms terms = {.text = text};
    size_t size = strlen(spec->event);
    if (spec->kind == YARN_EVENT_PMU && size && spec->event[size - 1] == '/') {
        yarn_text_add_sized(text, spec->event, size - 1);
        terms.has_slash = true;
        terms.has_one = spec->event[size - 2] != '/' && strchr(spec->event, '/')[1] != 0;
    } else if (spec->pmu) {
        yarn_text_add(text, spec->pmu);
        yarn_text_add(text, "/");
        yarn_text_add(text, spec->event);
        terms.has_slash = terms.has_one = true;
    } else {
        yarn_text_add(text, spec->event);
    }
    return terms;
}

static void add_branches(const struct yarn_event_spec *spec, struct terms *terms)
{
    bool is_first = true;
    for (size_t i = 0; i < yarn_branch_kind_count; i++) {
        if (!(spec->branches & yarn_branch_kinds[i].bits))
            continue;
        if (is_first)
            begin_term(terms, "branch=");
        else
            yarn_text_add(terms->text, "|");
        yarn_text_add(terms->text, yarn_branch_kinds[i].word);
        is_first = false;
    }
}

/* Names of probes hold paths. A name that has both kinds of quotes cannot be written. */
static void add_name(const struct yarn_event_spec *spec, struct terms *terms)
{
    bool has_single = strchr(spec->name, '\''), has_double = strchr(spec->name, '"');
    bool is_plain = !spec->name[strcspn(spec->name, ",/'\"")];
    if (has_single && has_double)
        return;
    const char *quote = is_plain ? "" : has_single ? "\"" : "'";
    begin_term(terms, "name=");
    yarn_text_add(terms->text, quote);
    yarn_text_add(terms->text, spec->name);
    yarn_text_add(terms->text, quote);
}

/* In quotes, each quote in it twice. */
static void add_asked(const struct yarn_event_spec *spec, struct terms *terms)
{
    begin_term(terms, "asked='");
    for (const char *at = spec->asked; *at; at++)
        yarn_text_add_sized(terms->text, *at == '\'' ? "''" : at, *at == '\'' ? 2 : 1);
    yarn_text_add(terms->text, "'");
}

static void describe(const struct yarn_event_spec *spec, bool says_asked, struct yarn_text *text)
{
    struct terms terms = begin(spec, text);
    if (spec->has_own_rate && spec->period) {
        begin_term(&terms, "period=");
        yarn_text_add_u64(text, spec->period);
    }
    if (spec->has_own_rate && spec->frequency) {
        begin_term(&terms, "freq=");
        yarn_text_add_u64(text, spec->frequency);
    }
    if (spec->has_callgraph) {
        begin_term(&terms, "call-graph=");
        yarn_callgraph_describe(&spec->callgraph, text);
    }
    if (spec->has_own_name)
        add_name(spec, &terms);
    add_branches(spec, &terms);
    if (says_asked)
        add_asked(spec, &terms);
    if (spec->filter) {
        bool has_quote = strchr(spec->filter, '\'');
        begin_term(&terms, has_quote ? "filter=\"" : "filter='");
        yarn_text_add(text, spec->filter);
        yarn_text_add(text, has_quote ? "\"" : "'");
    }
    if (terms.has_slash)
        yarn_text_add(text, "/");
    add_modifiers(spec, spec->has_modifiers || spec->has_left_kernel, true, text);
}

void yarn_event_spec_describe(const struct yarn_event_spec *spec, struct yarn_text *text)
{
    describe(spec, false, text);
}

void yarn_event_spec_encode(const struct yarn_event_spec *spec, struct yarn_text *text)
{
    describe(spec, true, text);
}

bool yarn_event_spec_has_sample_filter(const struct yarn_event_spec *spec)
{
    return spec->filter && spec->kind != YARN_EVENT_TRACEPOINT && spec->kind != YARN_EVENT_PROBE;
}

unsigned yarn_event_spec_precise(const struct yarn_event_spec *spec)
{
    return spec->is_most_precise ? YARN_PRECISE_MAX : spec->precise;
}
