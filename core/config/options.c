/* SPDX-License-Identifier: Apache-2.0 */
#include "core/config/options.h"

#include "core/config/environment.h"
#include "core/config/pattern.h"

static const struct yarn_option_row rows[] = {
#define YARN_OPTION(id, name, short_name, type, field, parse, default_text, value, help, right)    \
    [id] = {name, short_name, default_text, value, help, right},
#include "core/config/options.def"
#undef YARN_OPTION
};

/* From the words of one variable to its value, by its row. -EINVAL with *ret_error filled. */
typedef int parse_fn(const char *text, const struct yarn_option_row *row, void *ret_field,
                     struct yarn_parse_error *ret_error);

static const uint64_t frequency_max_hz = 100000;
static const uint64_t ring_min_bytes = YARN_KIB(4), ring_max_bytes = YARN_MIB(1024);
static const uint64_t interval_max_ns = 3600 * YARN_NS_PER_SECOND;
static const uint64_t while_max_ns = UINT64_C(1000) * 3600 * YARN_NS_PER_SECOND;

static int fail_whole(const char *text, const char *why, struct yarn_parse_error *ret_error)
{
    *ret_error = (struct yarn_parse_error){.at = 0, .why = why, .size = strlen(text)};
    return -EINVAL;
}

static int parse_text(const char *text, const struct yarn_option_row *row, void *ret_field,
                      struct yarn_parse_error *ret_error)
{
    (void)row;
    (void)ret_error;
    *(const char **)ret_field = text;
    return 0;
}

static int parse_pattern(const char *text, const struct yarn_option_row *row, void *ret_field,
                         struct yarn_parse_error *ret_error)
{
    int err = yarn_pattern_check(text, strlen(text), ret_error);
    return err ? err : parse_text(text, row, ret_field, ret_error);
}

static int parse_optional_pattern(const char *text, const struct yarn_option_row *row,
                                  void *ret_field, struct yarn_parse_error *ret_error)
{
    return (*text ? parse_pattern : parse_text)(text, row, ret_field, ret_error);
}

/* `err` is what the parse of the number returned. */
static int put_number(const char *text, int err, uint64_t value, uint64_t min, uint64_t max,
                      const char *no_number, void *ret_field, struct yarn_parse_error *ret_error)
{
    if (err == -EINVAL)
        return fail_whole(text, no_number, ret_error);
    if (err || value > max)
        return fail_whole(text, "too large", ret_error);
    if (value < min)
        return fail_whole(text, "too small", ret_error);
    *(uint64_t *)ret_field = value;
    return 0;
}

static int parse_frequency(const char *text, const struct yarn_option_row *row, void *ret_field,
                           struct yarn_parse_error *ret_error)
{
    uint64_t hz = 0;
    int err = yarn_parse_count(text, strlen(text), &hz);
    (void)row;
    return put_number(text, err, hz, 1, frequency_max_hz, "not a number", ret_field, ret_error);
}

static int parse_callgraph(const char *text, const struct yarn_option_row *row, void *ret_field,
                           struct yarn_parse_error *ret_error)
{
    (void)row;
    return yarn_callgraph_parse(text, strlen(text), ret_field, ret_error);
}

static int parse_sched(const char *text, const struct yarn_option_row *row, void *ret_field,
                       struct yarn_parse_error *ret_error)
{
    (void)row;
    return yarn_sched_parse(text, strlen(text), ret_field, ret_error);
}

static int parse_ring(const char *text, const struct yarn_option_row *row, void *ret_field,
                      struct yarn_parse_error *ret_error)
{
    uint64_t bytes = 0;
    (void)row;
    if (strcmp(text, "auto") == 0)
        return put_number(text, 0, 0, 0, 0, "", ret_field, ret_error);
    int err = yarn_parse_bytes(text, strlen(text), &bytes);
    if (!err && bytes >= ring_min_bytes && bytes <= ring_max_bytes && (bytes & (bytes - 1)))
        return fail_whole(text, "not a power of two", ret_error);
    return put_number(text, err, bytes, ring_min_bytes, ring_max_bytes, "not a number of bytes",
                      ret_field, ret_error);
}

static int parse_interval(const char *text, const struct yarn_option_row *row, void *ret_field,
                          struct yarn_parse_error *ret_error)
{
    uint64_t ns = 0;
    int err = yarn_parse_duration_ms(text, strlen(text), &ns);
    (void)row;
    return put_number(text, err, ns, YARN_NS_PER_MS, interval_max_ns, "not a time", ret_field,
                      ret_error);
}

/* A length of time; 0 where there is none. */
static int parse_while(const char *text, const struct yarn_option_row *row, void *ret_field,
                       struct yarn_parse_error *ret_error)
{
    uint64_t ns = 0;
    int err = strcmp(text, "none") ? yarn_parse_duration_ms(text, strlen(text), &ns) : 0;
    (void)row;
    return put_number(text, err, ns, 0, while_max_ns, "not a time", ret_field, ret_error);
}

/* One of the row's words, "auto|poll|timed": its place is the value of the enumeration. */
static int parse_choice(const char *text, const struct yarn_option_row *row, void *ret_field,
                        struct yarn_parse_error *ret_error)
{
    unsigned place = 0;
    _Static_assert(sizeof(enum yarn_sampler) == sizeof place, "enumerations are unsigned");
    for (const char *word = row->value; word; place++) {
        const char *bar = strchr(word, '|');
        size_t size = bar ? (size_t)(bar - word) : strlen(word);
        if (strlen(text) == size && memcmp(text, word, size) == 0) {
            memcpy(ret_field, &place, sizeof place);
            return 0;
        }
        word = bar ? bar + 1 : NULL;
    }
    return fail_whole(text, "not one of its values", ret_error);
}

static int parse_follow(const char *text, const struct yarn_option_row *row, void *ret_field,
                        struct yarn_parse_error *ret_error)
{
    uint32_t follow = YARN_FOLLOW_NONE;
    (void)row;
    for (const char *word = strcmp(text, "none") ? text : NULL; word;) {
        const char *comma = strchr(word, ',');
        size_t size = comma ? (size_t)(comma - word) : strlen(word);
        bool is_fork = size == 4 && memcmp(word, "fork", size) == 0;
        if (!is_fork && (size != 4 || memcmp(word, "exec", size) != 0)) {
            *ret_error = (struct yarn_parse_error){
                .at = (size_t)(word - text), .why = "not one of its words", .size = size};
            return -EINVAL;
        }
        follow |= is_fork ? YARN_FOLLOW_FORK : YARN_FOLLOW_EXEC;
        word = comma ? comma + 1 : NULL;
    }
    *(uint32_t *)ret_field = follow;
    return 0;
}

/* Where a row's value goes, and by which function. */
static const struct {
    size_t offset;
    parse_fn *parse;
} fields[] = {
#define YARN_OPTION(id, name, short_name, type, field, parse, ...)                                 \
    [id] = {offsetof(struct yarn_options, field), parse},
#include "core/config/options.def"
#undef YARN_OPTION
};

static const char prefix[] = "YARN_";
static const size_t prefix_size = sizeof prefix - 1;

/* The form of the variable YARN: KEY=VALUE with ; between. Knows the form; does not know the keys.
 */

struct pair {
    struct yarn_span key;   /* without blanks around it */
    struct yarn_span value; /* as it stands */
    bool has_value;         /* there is a = */
};

struct pair_reader {
    struct yarn_span text;
    size_t at;
};

static inline struct pair_reader read_pairs(struct yarn_span text)
{
    return (struct pair_reader){text, 0};
}

static size_t find_byte(struct yarn_span text, char byte)
{
    const uint8_t *found = text.size ? memchr(text.data, byte, text.size) : NULL;
    return found ? (size_t)(found - text.data) : text.size;
}

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n';
}

static struct yarn_span trim(struct yarn_span text)
{
    size_t start = 0;
    size_t end = text.size;
    while (start < end && is_blank(text.data[start]))
        start++;
    while (end > start && is_blank(text.data[end - 1]))
        end--;
    return yarn_span_sub(text, start, end - start);
}

/* False at the end. Empty pairs are skipped. */
static bool next_pair(struct pair_reader *reader, struct pair *ret_pair)
{
    while (reader->at < reader->text.size) {
        struct yarn_span rest = yarn_span_from(reader->text, reader->at);
        struct yarn_span pair = yarn_span_sub(rest, 0, find_byte(rest, ';'));
        reader->at += pair.size + 1;
        if (!trim(pair).size)
            continue;
        size_t equals = find_byte(pair, '=');
        *ret_pair = (struct pair){
            .key = trim(yarn_span_sub(pair, 0, equals)),
            .value = yarn_span_from(pair, equals + 1),
            .has_value = equals < pair.size,
        };
        return true;
    }
    return false;
}

const struct yarn_option_row *yarn_option_row(enum yarn_option option)
{
    return &rows[option];
}

static char capital_of(char c)
{
    return (char)(c == '-' ? '_' : c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
}

void yarn_option_variable(enum yarn_option option, struct yarn_text *text)
{
    yarn_text_add(text, prefix);
    for (const char *c = rows[option].name; *c; c++) {
        char capital = capital_of(*c);
        yarn_text_add_sized(text, &capital, 1);
    }
}

static bool is_variable_of(struct yarn_span variable, const char *name)
{
    if (variable.size != prefix_size + strlen(name))
        return false;
    for (size_t i = 0; name[i]; i++)
        if ((char)variable.data[prefix_size + i] != capital_of(name[i]))
            return false;
    return true;
}

static bool is_key_of(struct yarn_span key, const char *name)
{
    if (key.size != strlen(name))
        return false;
    for (size_t i = 0; i < key.size; i++)
        if ((key.data[i] == '_' ? '-' : (char)key.data[i]) != name[i])
            return false;
    return true;
}

/* COUNT: none. */
static enum yarn_option find_option(struct yarn_span name,
                                    bool (*is_of)(struct yarn_span name, const char *row))
{
    unsigned option = 0;
    while (option < YARN_OPTION_COUNT && !is_of(name, rows[option].name))
        option++;
    return (enum yarn_option)option;
}

static void warn(struct yarn_options *options, struct yarn_arena *arena, struct yarn_span name)
{
    static const size_t shown_max = 64;
    char buffer[160];
    struct yarn_text text = yarn_text_of(buffer, sizeof buffer);
    yarn_text_add_sized(&text, (const char *)name.data, yarn_size_min(name.size, shown_max));
    yarn_text_add(&text, " is not a variable that yarn knows");
    const char *kept = NULL;
    if (options->nr_warnings < YARN_OPTION_WARNINGS_MAX)
        kept = yarn_arena_text(arena, text.data, text.size);
    if (kept)
        options->warnings[options->nr_warnings++] = kept;
    else
        options->nr_warnings_dropped++;
}

void yarn_options_default(struct yarn_options *ret_options)
{
    struct yarn_parse_error error;
    *ret_options = (struct yarn_options){.nr_warnings = 0};
    for (size_t i = 0; i < YARN_OPTION_COUNT; i++) {
        uint8_t *field = (uint8_t *)ret_options + fields[i].offset;
        ret_options->texts[i] = rows[i].default_text;
        /* Why unchecked: a default is constant, and the tests parse each of them. */
        (void)fields[i].parse(rows[i].default_text, &rows[i], field, &error);
    }
}

/* The words of one option as the environment has them. */
struct words {
    struct yarn_span text; /* borrowed; empty: not set */
    bool in_compact;
};

static struct yarn_option_fault fault_at(enum yarn_option option, const struct words *words,
                                         const struct yarn_parse_error *error)
{
    struct yarn_span word = yarn_span_sub(words->text, error->at, error->size);
    return (struct yarn_option_fault){
        .option = option,
        .in_compact = words->in_compact,
        .word = word.size ? word : words->text,
        .at = error->at,
        .why = error->why,
        .right = rows[option].right,
    };
}

static int set_words(struct yarn_options *options, struct yarn_arena *arena,
                     enum yarn_option option, const struct words *words,
                     struct yarn_option_fault *ret_fault)
{
    struct yarn_parse_error error = {.why = "too long", .size = 32};
    size_t mark = arena->used;
    if (words->text.size > YARN_OPTION_TEXT_MAX) {
        *ret_fault = fault_at(option, words, &error);
        return -EINVAL;
    }
    const char *copy = yarn_arena_text(arena, (const char *)words->text.data, words->text.size);
    if (!copy)
        return -ENOMEM;
    int err = fields[option].parse(copy, &rows[option], (uint8_t *)options + fields[option].offset,
                                   &error);
    if (err) {
        *ret_fault = fault_at(option, words, &error);
        yarn_arena_rewind(arena, mark);
        return err;
    }
    options->texts[option] = copy;
    options->in_compact[option] = words->in_compact;
    return 0;
}

int yarn_options_set(struct yarn_options *options, struct yarn_arena *arena,
                     enum yarn_option option, const char *text, struct yarn_option_fault *ret_fault)
{
    struct words words = {yarn_span_of_text(text), false};
    return set_words(options, arena, option, &words, ret_fault);
}

/* Of a pair whose key is not known or which has no value. */
static struct yarn_option_fault compact_fault(struct yarn_span text, const struct pair *pair,
                                              bool is_known)
{
    return (struct yarn_option_fault){
        .option = YARN_OPTION_COUNT,
        .in_compact = true,
        .word = pair->key.size ? pair->key : text,
        .at = pair->key.size ? (size_t)(pair->key.data - text.data) : 0,
        .why = is_known ? "has no =VALUE" : "not an option",
        .right = "a list such as events=cpu-clock,page-faults;frequency=4999",
    };
}

static int collect_compact(struct yarn_span compact, struct words wanted[YARN_OPTION_COUNT],
                           struct yarn_option_fault *ret_fault)
{
    struct pair_reader reader = read_pairs(compact);
    struct pair pair;
    while (next_pair(&reader, &pair)) {
        enum yarn_option option = find_option(pair.key, is_key_of);
        if (option == YARN_OPTION_COUNT || !pair.has_value) {
            *ret_fault = compact_fault(compact, &pair, option != YARN_OPTION_COUNT);
            return -EINVAL;
        }
        wanted[option] = (struct words){pair.value, true};
    }
    return 0;
}

/* A single variable wins over YARN; of two of one name the first counts, as for getenv(3). */
static void collect_variables(struct yarn_options *options, struct yarn_arena *arena,
                              char *const envp[], struct words wanted[YARN_OPTION_COUNT])
{
    bool is_seen[YARN_OPTION_COUNT] = {false};
    for (size_t i = 0; envp && envp[i]; i++) {
        struct yarn_span name = yarn_environment_name(envp[i]);
        if (name.size < prefix_size || memcmp(name.data, prefix, prefix_size) != 0 ||
            envp[i][name.size] != '=')
            continue;
        enum yarn_option option = find_option(name, is_variable_of);
        if (option == YARN_OPTION_COUNT) {
            warn(options, arena, name);
            continue;
        }
        struct yarn_span text = yarn_span_of_text(envp[i] + name.size + 1);
        if (text.size && !is_seen[option])
            wanted[option] = (struct words){text, false};
        is_seen[option] = true;
    }
}

int yarn_options_from_env(struct yarn_options *ret_options, struct yarn_arena *arena,
                          char *const envp[], struct yarn_option_fault *ret_fault)
{
    struct yarn_options options;
    struct words wanted[YARN_OPTION_COUNT] = {{.text = YARN_SPAN_EMPTY}};
    const char *compact = yarn_environment_find(envp, yarn_span_of_text("YARN"));

    yarn_options_default(&options);
    if (compact) {
        int err = collect_compact(yarn_span_of_text(compact), wanted, ret_fault);
        if (err)
            return err;
    }
    collect_variables(&options, arena, envp, wanted);
    for (size_t i = 0; i < YARN_OPTION_COUNT; i++) {
        if (!wanted[i].text.size)
            continue;
        int err = set_words(&options, arena, (enum yarn_option)i, &wanted[i], ret_fault);
        if (err)
            return err;
    }
    *ret_options = options;
    return 0;
}

struct yarn_option_fault yarn_option_fault_in(const struct yarn_options *options,
                                              enum yarn_option option,
                                              const struct yarn_parse_error *error)
{
    struct words words = {yarn_span_of_text(options->texts[option]), options->in_compact[option]};
    return fault_at(option, &words, error);
}

enum yarn_option yarn_options_next_changed(const struct yarn_options *options,
                                           enum yarn_option from)
{
    size_t i = (size_t)from;
    while (i < YARN_OPTION_COUNT && strcmp(options->texts[i], rows[i].default_text) == 0)
        i++;
    return (enum yarn_option)i;
}

/* Why replaced: the line goes to a terminal, and the value may be anything. */
static void add_printable(struct yarn_text *text, struct yarn_span word)
{
    static const size_t shown_max = 80;
    size_t shown = yarn_size_min(word.size, shown_max);
    for (size_t i = 0; i < shown; i++) {
        bool is_control = word.data[i] < ' ' || word.data[i] == 0x7f;
        yarn_text_add_sized(text, is_control ? "?" : (const char *)word.data + i, 1);
    }
    if (shown < word.size)
        yarn_text_add(text, "...");
}

void yarn_option_fault_describe(const struct yarn_option_fault *fault, struct yarn_text *text)
{
    yarn_text_add(text, "yarn: ");
    if (fault->option == YARN_OPTION_COUNT || fault->in_compact)
        yarn_text_add(text, "YARN");
    else
        yarn_option_variable(fault->option, text);
    yarn_text_add(text, ": ");
    if (fault->option != YARN_OPTION_COUNT && fault->in_compact)
        yarn_text_add_format(text, "%s: ", yarn_option_row(fault->option)->name);
    if (fault->word.size) {
        yarn_text_add(text, "\"");
        add_printable(text, fault->word);
        yarn_text_add(text, "\": ");
    }
    yarn_text_add_format(text, "%s; %s would be right", fault->why, fault->right);
}
