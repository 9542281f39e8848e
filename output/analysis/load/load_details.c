/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/trace_format.h"
#include "output/analysis/load/loader.h"
#include "output/analysis/load/raw_threads.h"
#include "output/analysis/load/show_tracepoint.h"
#include "output/store/array.h"
#include "output/text/data_source.h"

enum { FIELDS_MAX = 4096 };

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
    *ret_detail = 0;
    if (sample->raw.size && !loader->options->has_raw)
        yarn_show_tracepoint(yarn_loader_fields(loader, sample->event),
                             yarn_span_of_bytes(sample->raw), &text);
    size_t raw_bytes = loader->options->has_raw ? sample->raw.size : 0;
    bool has_access = detail.address || detail.latency || detail.data_source;
    if (!has_access && !text.size && !raw_bytes)
        return 0;
    int err = text.size ? yarn_strings_intern(&profile->strings, yarn_span_of(text.data, text.size),
                                              &detail.fields)
                        : 0;
    if (!err)
        err = keep_raw(loader, yarn_span_of_bytes(sample->raw), &detail);
    if (err)
        return err;
    err = YARN_ARRAY_PUT(&profile->details, &profile->nr_details, &profile->details_capacity,
                         &detail);
    if (err)
        return err;
    *ret_detail = (uint32_t)profile->nr_details;
    return 0;
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
    if (entry->detail)
        loader->profile->details[entry->detail - 1].raw_pid = (uint32_t)pid;
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
