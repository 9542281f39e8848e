/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/trace_format.h"
#include "output/analysis/load/loader.h"
#include "output/analysis/load/raw_threads.h"
#include "output/base/array.h"
#include "output/text/data_source.h"

enum { FIELDS_MAX = 4096, CORE_DIGITS = 3, WORD_BYTES = 64 };

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

/* The fields of a tracepoint's sample as one text: NAME=VALUE of each, and those of the scheduler
 * as their own format file prints them. Both are untrusted. */
static void show_tracepoint(const struct yarn_trace_fields *fields, struct yarn_span raw,
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

static int keep_raw(struct yarn_loader *loader, struct yarn_span raw,
                    struct yarn_profile_detail *detail)
{
    if (!loader->options->has_raw || !raw.size)
        return 0;
    detail->raw = (const uint8_t *)yarn_strings_keep(&loader->profile->strings, raw);
    detail->raw_bytes = (uint32_t)raw.size;
    return detail->raw ? 0 : -ENOMEM;
}

const struct yarn_trace_fields *yarn_loader_fields(struct yarn_loader *loader, uint32_t event)
{
    struct yarn_profile_dump_event *of = &yarn_loader_dump(loader)->events[event];
    if (of->fields || !of->record.format.size)
        return of->fields;
    of->fields = yarn_trace_fields_new(of->record.format);
    return of->fields;
}

/* Tracepoints of one thread say the same again and again. */
static int keep_detail(struct yarn_profile *profile, const struct yarn_profile_detail *detail,
                       bool is_text, uint32_t *ret_detail)
{
    const uint64_t key = (uint64_t)detail->raw_pid << 32 | detail->fields;
    *ret_detail = is_text ? yarn_table_find(&profile->detail_index, key) : YARN_TABLE_NONE;
    if (*ret_detail != YARN_TABLE_NONE)
        return 0;
    int err =
        YARN_ARRAY_PUT(&profile->details, &profile->nr_details, &profile->details_capacity, detail);
    *ret_detail = err ? 0 : (uint32_t)profile->nr_details;
    return err || !is_text ? err : yarn_table_remember(&profile->detail_index, key, *ret_detail);
}

int yarn_loader_detail(struct yarn_loader *loader, const struct yarn_sample *sample,
                       uint32_t *ret_detail)
{
    struct yarn_profile *profile = loader->profile;
    struct yarn_profile_detail detail = {
        .address = sample->address,
        .latency = sample->latency,
        .data_source = sample->data_source,
    };
    char buffer[FIELDS_MAX];
    struct yarn_text text = yarn_text_of(buffer, sizeof buffer);
    const struct yarn_trace_fields *fields =
        sample->raw.size ? yarn_loader_fields(loader, sample->event) : NULL;
    uint64_t pid;
    *ret_detail = 0;
    if (sample->raw.size && !loader->options->has_raw)
        show_tracepoint(fields, yarn_span_of_bytes(sample->raw), &text);
    size_t raw_bytes = loader->options->has_raw ? sample->raw.size : 0;
    bool has_access = detail.address || detail.latency || detail.data_source;
    if (!has_access && !text.size && !raw_bytes)
        return 0;
    int err = text.size ? yarn_strings_intern(&profile->strings, yarn_span_of(text.data, text.size),
                                              &detail.fields)
                        : 0;
    if (!err)
        err = keep_raw(loader, yarn_span_of_bytes(sample->raw), &detail);
    if (!err &&
        yarn_trace_fields_value(fields, "common_pid", yarn_span_of_bytes(sample->raw), &pid))
        detail.raw_pid = (uint32_t)pid;
    return err ? err : keep_detail(profile, &detail, !has_access && !raw_bytes, ret_detail);
}

static int name_runner(struct yarn_loader *loader, uint32_t pid, uint32_t *ret_comm)
{
    char name[16];
    struct yarn_text text = yarn_text_of(name, sizeof name);
    *ret_comm = yarn_table_find(&loader->raw_comms, pid);
    if (*ret_comm != YARN_TABLE_NONE)
        return 0;
    yarn_text_add_format(&text, ":%lu", (uint64_t)pid);
    return yarn_strings_intern(&loader->profile->strings,
                               pid ? yarn_span_of_text(name) : yarn_span_of_text("swapper"),
                               ret_comm);
}

int yarn_loader_runner(struct yarn_loader *loader, const struct yarn_sample *sample,
                       struct yarn_timeline_entry *entry)
{
    const struct yarn_trace_fields *fields = yarn_loader_fields(loader, sample->event);
    struct yarn_span raw = yarn_span_of_bytes(sample->raw);
    uint64_t pid;
    int err = yarn_raw_threads_note(&loader->raw_comms, &loader->profile->strings, fields, raw);
    if (err || !yarn_trace_fields_value(fields, "common_pid", raw, &pid))
        return err;
    if (entry->thread == YARN_DUMP_NONE)
        return name_runner(loader, (uint32_t)pid, &entry->comm);
    entry->comm = loader->profile->threads[entry->thread].comm;
    return 0;
}

/* "0x7f0000001000", and behind it where the access was served, if that is known: "0x7f0000001000
 * load, L3 hit". Empty where the sample is about no address; else the bytes of the address alone.
 */
static size_t show_address(const struct yarn_sample *sample, struct yarn_text *text)
{
    char source[YARN_DATA_SOURCE_MAX];
    if (!sample->address)
        return 0;
    yarn_text_add(text, "0x");
    yarn_text_add_hex(text, sample->address);
    size_t address_bytes = text->size;
    if (!sample->data_source)
        return address_bytes;
    yarn_text_add(text, " ");
    yarn_text_add(text, yarn_data_source_text(sample->data_source, source));
    return address_bytes;
}

/* Keeps the parts of such a text, unless it is known. */
static int keep_access(struct yarn_profile *profile, uint32_t value, struct yarn_span text,
                       size_t address_bytes)
{
    struct yarn_profile_access access = {0};
    if (yarn_table_find(&profile->access_index, value) != YARN_TABLE_NONE)
        return 0;
    int err = yarn_strings_intern(&profile->strings, yarn_span_of(text.data, address_bytes),
                                  &access.address);
    if (!err && text.size > address_bytes)
        err = yarn_strings_intern(&profile->strings, yarn_span_from(text, address_bytes + 1),
                                  &access.source);
    if (!err)
        err = yarn_table_put(&profile->access_index, value, (uint32_t)profile->nr_accesses);
    return err ? err
               : YARN_ARRAY_PUT(&profile->accesses, &profile->nr_accesses,
                                &profile->accesses_capacity, &access);
}

static void show_field(struct yarn_loader *loader, const struct yarn_sample *sample,
                       struct yarn_text *text)
{
    struct yarn_trace_field field;
    const struct yarn_trace_fields *fields = yarn_loader_fields(loader, sample->event);
    if (yarn_trace_fields_find(fields, yarn_span_of_text(loader->options->by_field), &field))
        yarn_trace_field_show(&field, yarn_span_of_bytes(sample->raw), text);
}

int yarn_loader_value(struct yarn_loader *loader, const struct yarn_sample *sample,
                      uint32_t *ret_value)
{
    char buffer[FIELDS_MAX];
    struct yarn_text text = yarn_text_of(buffer, sizeof buffer);
    size_t address_bytes = 0;
    *ret_value = 0;
    if (loader->options->by_address)
        address_bytes = show_address(sample, &text);
    else if (loader->options->by_field)
        show_field(loader, sample, &text);
    else
        return 0;
    if (!text.size)
        yarn_text_add(&text, "[none]");
    struct yarn_span span = yarn_span_of(text.data, text.size);
    int err = yarn_strings_intern(&loader->profile->strings, span, ret_value);
    return err || !address_bytes ? err
                                 : keep_access(loader->profile, *ret_value, span, address_bytes);
}
