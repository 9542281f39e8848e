/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

#include "core/base/text.h"
#include "core/event/attr.h"
#include "core/event/parse_form.h"

static const size_t symbol_max = 1024;

/* ADDR, SYMBOL or SYMBOL+N. */
static int take_place(struct yarn_event_reader *reader, struct yarn_event_spec *spec)
{
    struct yarn_span whole = yarn_event_reader_until(reader, "/:,} ");
    struct yarn_span symbol = whole;
    uint64_t number = 0;
    if (!whole.size)
        return yarn_event_reader_fail(reader, reader->at, 0, "an address or a symbol is missing");
    if (whole.size > symbol_max)
        return yarn_event_reader_fail(reader, reader->at, whole.size, "a symbol of such a length");
    if (whole.data[0] >= '0' && whole.data[0] <= '9') {
        if (yarn_parse_number((const char *)whole.data, whole.size, &number))
            return yarn_event_reader_fail(reader, reader->at, whole.size, "not an address");
        spec->config1 = spec->site.offset = number;
        reader->at += whole.size;
        return 0;
    }
    const uint8_t *plus = memchr(whole.data, '+', whole.size);
    if (plus) {
        symbol = yarn_span_sub(whole, 0, (size_t)(plus - whole.data));
        struct yarn_span digits = yarn_span_from(whole, symbol.size + 1);
        if (!symbol.size || yarn_parse_number((const char *)digits.data, digits.size, &number))
            return yarn_event_reader_fail(reader, reader->at, whole.size, "not SYMBOL+NUMBER");
    }
    spec->site.offset = number;
    spec->site.symbol = yarn_arena_text(reader->arena, (const char *)symbol.data, symbol.size);
    reader->at += whole.size;
    return spec->site.symbol ? 0 : -ENOMEM;
}

/* /LEN: what else begins with a slash are terms, whose words begin with a letter. */
static int take_length(struct yarn_event_reader *reader, struct yarn_event_spec *spec)
{
    char first = yarn_event_reader_peek(reader, 1);
    if (yarn_event_reader_peek(reader, 0) != '/' || first < '0' || first > '9')
        return 0;
    reader->at++;
    struct yarn_span digits = yarn_event_reader_until(reader, ":/,} ");
    if (yarn_parse_number((const char *)digits.data, digits.size, &spec->config2))
        return yarn_event_reader_fail(reader, reader->at, digits.size, "not a length");
    if (!spec->config2 || spec->config2 > 8 || (spec->config2 & (spec->config2 - 1)))
        return yarn_event_reader_fail(reader, reader->at, digits.size,
                                      "a breakpoint is 1, 2, 4 or 8 bytes long");
    reader->at += digits.size;
    return 0;
}

/* :rwx, behind which modifiers may stand; other letters are modifiers, too. */
static int take_access(struct yarn_event_reader *reader, struct yarn_event_spec *spec)
{
    if (yarn_event_reader_peek(reader, 0) != ':')
        return 0;
    struct yarn_event_reader behind = *reader;
    behind.at++;
    struct yarn_span word = yarn_event_reader_word(&behind);
    size_t size = 0;
    for (; size < word.size; size++) {
        uint8_t c = word.data[size];
        uint32_t bit = c == 'r'   ? HW_BREAKPOINT_R
                       : c == 'w' ? HW_BREAKPOINT_W
                       : c == 'x' ? HW_BREAKPOINT_X
                                  : 0u;
        if (!bit)
            break;
        if (spec->breakpoint & bit)
            return yarn_event_reader_fail(reader, behind.at, word.size, "a letter twice");
        spec->breakpoint |= bit;
    }
    struct yarn_span rest = yarn_span_from(word, size);
    if (size && rest.size && !yarn_event_is_modifiers(rest))
        return yarn_event_reader_fail(reader, behind.at, word.size, "not made of r, w and x");
    reader->at = size ? behind.at + size : reader->at;
    return 0;
}

/* The kernel takes these as perf does: four bytes that are read or written, or an instruction. */
static int check(struct yarn_event_reader *reader, struct yarn_event_spec *spec, size_t start)
{
    if (!spec->breakpoint)
        spec->breakpoint = HW_BREAKPOINT_RW;
    if (!spec->config2)
        spec->config2 = spec->breakpoint & HW_BREAKPOINT_X ? sizeof(long) : HW_BREAKPOINT_LEN_4;
    const char *why = yarn_attr_breakpoint_fault(spec->breakpoint, spec->config2);
    if (!why && (spec->site.symbol ? 0 : spec->config1) & (spec->config2 - 1) &&
        !(spec->breakpoint & HW_BREAKPOINT_X))
        why = "the address is no multiple of the length";
    return why ? yarn_event_reader_fail(reader, start, reader->at - start, why) : 0;
}

int yarn_event_parse_breakpoint(struct yarn_event_reader *reader)
{
    struct yarn_event_spec spec = {
        .kind = YARN_EVENT_BREAKPOINT,
        .type = PERF_TYPE_BREAKPOINT,
        .unit = "events",
        .scale = 1,
        .has_default_period_1 = true,
    };
    size_t start = reader->at;
    if (!yarn_event_begins(yarn_span_from(reader->text, start), "mem:"))
        return -ENOENT;
    reader->at += strlen("mem:");
    int err = take_place(reader, &spec);
    if (!err)
        err = take_length(reader, &spec);
    if (!err)
        err = take_access(reader, &spec);
    if (!err)
        err = check(reader, &spec, start);
    if (err)
        return err;
    struct yarn_span words = yarn_span_sub(reader->text, start, reader->at - start);
    spec.event = yarn_arena_text(reader->arena, (const char *)words.data, words.size);
    bool has_more = yarn_event_reader_word(reader).size; /* mem:f:xu */
    if (has_more)
        err = yarn_event_parse_modifiers(reader, &spec);
    if (err)
        return err;
    return spec.event ? yarn_event_reader_add(reader, &spec) : -ENOMEM;
}
