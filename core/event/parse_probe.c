/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/perf_event.h>

#include "core/base/text.h"
#include "core/event/parse_form.h"

static const size_t place_max = 4096;

static const struct {
    const char *prefix;
    enum yarn_event_probe probe;
    bool is_of_file, is_return;
} forms[] = {
    {"uprobe:", YARN_EVENT_UPROBE, true, false},
    {"uretprobe:", YARN_EVENT_URETPROBE, true, true},
    {"kprobe:", YARN_EVENT_KPROBE, false, false},
    {"kretprobe:", YARN_EVENT_KRETPROBE, false, true},
};

/* Where the last : before `end` stands, SIZE_MAX: there is none. */
static size_t find_colon(struct yarn_span text, size_t end)
{
    while (end-- > 0)
        if (text.data[end] == ':')
            return end;
    return SIZE_MAX;
}

/* PATH:SYMBOL: a path may have colons. Behind the symbol stand terms, which end its words, or
 * :MODIFIERS, which are such only where another colon is left for the symbol's. */
static int split(struct yarn_span rest, struct yarn_span *ret_path, struct yarn_span *ret_symbol)
{
    size_t colon = find_colon(rest, rest.size);
    size_t other = colon == SIZE_MAX ? SIZE_MAX : find_colon(rest, colon);
    if (other != SIZE_MAX && colon - other > 1 &&
        (rest.data[colon - 1] == '/' || yarn_event_is_modifiers(yarn_span_from(rest, colon + 1))))
        colon = other;
    if (colon == SIZE_MAX)
        return -ENOENT;
    size_t end = colon + 1;
    while (end < rest.size && rest.data[end] != '/' && rest.data[end] != ':')
        end++;
    *ret_path = yarn_span_sub(rest, 0, colon);
    *ret_symbol = yarn_span_sub(rest, colon + 1, end - colon - 1);
    return 0;
}

/* SYMBOL, SYMBOL+OFFSET, or a number: an offset in the file. */
static int take_symbol(struct yarn_event_reader *reader, struct yarn_event_spec *spec,
                       struct yarn_span whole)
{
    struct yarn_span symbol = whole;
    const uint8_t *plus = whole.size ? memchr(whole.data, '+', whole.size) : NULL;
    if (!whole.size)
        return yarn_event_reader_fail(reader, reader->at, 0, "a symbol is missing");
    bool is_number = whole.data[0] >= '0' && whole.data[0] <= '9';
    if (plus)
        symbol = yarn_span_sub(whole, 0, (size_t)(plus - whole.data));
    struct yarn_span digits = is_number ? whole : yarn_span_from(whole, symbol.size + 1);
    if ((is_number || plus) &&
        yarn_parse_number((const char *)digits.data, digits.size, &spec->site.offset))
        return yarn_event_reader_fail(reader, reader->at, whole.size, "not an offset");
    reader->at += whole.size;
    if (is_number)
        return 0;
    spec->site.symbol = yarn_arena_text(reader->arena, (const char *)symbol.data, symbol.size);
    return spec->site.symbol ? 0 : -ENOMEM;
}

static int take_place(struct yarn_event_reader *reader, struct yarn_event_spec *spec,
                      bool is_of_file)
{
    struct yarn_span rest = yarn_event_reader_until(reader, ",}");
    struct yarn_span path = YARN_SPAN_EMPTY, symbol;
    if (rest.size > place_max)
        return yarn_event_reader_fail(reader, reader->at, rest.size, "a path of such a length");
    if (!is_of_file)
        return take_symbol(reader, spec, yarn_event_reader_until(reader, "/:,} "));
    if (split(rest, &path, &symbol) || !path.size)
        return yarn_event_reader_fail(reader, reader->at, rest.size, "is not PATH:SYMBOL");
    if (path.data[path.size - 1] == '/')
        return yarn_event_reader_fail(reader, reader->at, path.size, "a folder is no file");
    spec->site.path = yarn_arena_text(reader->arena, (const char *)path.data, path.size);
    reader->at += path.size + 1;
    return spec->site.path ? take_symbol(reader, spec, symbol) : -ENOMEM;
}

int yarn_event_parse_probe(struct yarn_event_reader *reader)
{
    struct yarn_span rest = yarn_span_from(reader->text, reader->at);
    size_t start = reader->at, which = 0;
    while (which < YARN_COUNT_OF(forms) && !yarn_event_begins(rest, forms[which].prefix))
        which++;
    if (which == YARN_COUNT_OF(forms))
        return -ENOENT;
    struct yarn_event_spec spec = {
        .kind = YARN_EVENT_PROBE,
        .type = PERF_TYPE_TRACEPOINT,
        .probe = forms[which].probe,
        .unit = "events",
        .scale = 1,
        .has_default_period_1 = true,
        .is_in_kernel = !forms[which].is_of_file,
    };
    reader->at += strlen(forms[which].prefix);
    int err = take_place(reader, &spec, forms[which].is_of_file);
    if (err)
        return err;
    struct yarn_span words = yarn_span_sub(reader->text, start, reader->at - start);
    if (forms[which].is_return && spec.site.symbol && spec.site.offset)
        return yarn_event_reader_fail(reader, start, words.size,
                                      "a function returns from its beginning, not from an offset");
    spec.event = yarn_arena_text(reader->arena, (const char *)words.data, words.size);
    return spec.event ? yarn_event_reader_add(reader, &spec) : -ENOMEM;
}
