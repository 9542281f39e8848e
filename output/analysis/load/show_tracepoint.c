/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/load/show_tracepoint.h"

enum { CORE_DIGITS = 3, WORD_BYTES = 64 };

static void add_named(const struct yarn_trace_field *field, struct yarn_text *text)
{
    yarn_text_add(text, text->size ? " " : "");
    yarn_text_add_sized(text, (const char *)field->name.data, field->name.size);
    yarn_text_add(text, "=");
}

static bool is_called(const struct yarn_trace_field *field, const char *name)
{
    return yarn_span_equal(field->name, yarn_span_of_text(name));
}

/* Up to `stop`, which is taken with it. */
static struct yarn_span take(struct yarn_span *rest, char stop)
{
    const uint8_t *end = rest->size ? memchr(rest->data, stop, rest->size) : NULL;
    size_t size = end ? (size_t)(end - rest->data) : rest->size;
    struct yarn_span part = yarn_span_sub(*rest, 0, size);
    *rest = yarn_span_from(*rest, end ? size + 1 : size);
    return part;
}

/* { 0x00000001, "S" }: the next of them in a print format. */
static bool next_letter(struct yarn_span *rest, uint64_t *ret_bit, struct yarn_span *ret_letter)
{
    (void)take(rest, '{');
    struct yarn_span number = take(rest, ',');
    (void)take(rest, '"');
    *ret_letter = take(rest, '"');
    while (number.size && number.data[0] == ' ')
        number = yarn_span_from(number, 1);
    return ret_letter->size && number.size > 2 && number.data[1] == 'x' &&
           yarn_parse_hex_front((const char *)number.data + 2, number.size - 2, ret_bit);
}

/* As the kernel's own letters say it, R where none of them is meant; + behind it: preempted, the
 * bit above all of theirs. Kernels differ in the letters. */
static bool show_state(struct yarn_span rest, uint64_t state, struct yarn_text *text)
{
    struct yarn_span letter;
    uint64_t bit, all = 0;
    size_t before = text->size;
    while (next_letter(&rest, &bit, &letter)) {
        all |= bit;
        if (!(state & bit))
            continue;
        yarn_text_add(text, text->size > before ? "|" : "");
        yarn_text_add_sized(text, (const char *)letter.data, letter.size);
    }
    if (!all)
        return false;
    yarn_text_add(text, text->size > before ? "" : "R");
    yarn_text_add(text, state & (all + 1) ? "+" : "");
    return true;
}

static void add_core(uint64_t core, struct yarn_text *text)
{
    char digits[24];
    struct yarn_text number = yarn_text_of(digits, sizeof digits);
    yarn_text_add_u64(&number, core);
    for (size_t i = number.size; i < CORE_DIGITS; i++)
        yarn_text_add(text, "0");
    yarn_text_add(text, digits);
}

/* What the scheduler's print formats have otherwise than numbers; false: nothing of that. */
static bool show_of_scheduler(struct yarn_span flags, const struct yarn_trace_field *field,
                              struct yarn_span raw, struct yarn_text *text)
{
    uint64_t number;
    if (is_called(field, "next_comm"))
        yarn_text_add(text, " ==>");
    if (!is_called(field, "prev_state") && !is_called(field, "target_cpu"))
        return false;
    if (!yarn_trace_field_value(field, raw, &number))
        return false;
    char word[WORD_BYTES];
    struct yarn_text value = yarn_text_of(word, sizeof word);
    if (is_called(field, "target_cpu"))
        add_core(number, &value);
    else if (!show_state(flags, number, &value))
        return false;
    add_named(field, text);
    yarn_text_add(text, word);
    return true;
}

static bool is_of_scheduler(struct yarn_span format)
{
    static const char name[] = "name: sched_";
    return format.size >= sizeof name - 1 && memcmp(format.data, name, sizeof name - 1) == 0;
}

void yarn_show_tracepoint(const struct yarn_trace_fields *fields, struct yarn_span raw,
                          struct yarn_text *text)
{
    bool is_scheduler = fields && is_of_scheduler(fields->format);
    for (size_t i = 0; fields && i < fields->count; i++) {
        const struct yarn_trace_field *field = &fields->list[i];
        if (field->is_common ||
            (is_scheduler && show_of_scheduler(fields->flags, field, raw, text)))
            continue;
        add_named(field, text);
        yarn_trace_field_show(field, raw, text);
    }
}
