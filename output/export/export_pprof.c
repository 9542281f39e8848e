/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <pprof.pb-c.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "output/analysis/time/completeness.h"
#include "output/export/export.h"
#include "output/export/mappings.h"
#include "output/export/samples.h"
#include "output/store/array.h"
#include "output/text/legible.h"

/*
 * A gzipped Profile message. It is written in parts: messages of one kind that follow one another
 * are read as one, so that no more than a part is ever in memory. Each event has two values: its
 * samples and their weight. Addresses are linked ones, as are those of mappings.
 */

struct pprof {
    struct yarn_export *export;
    gzFile gz;
    uint64_t size;   /* of what was written, unpacked */
    uint8_t *packed; /* owned array */
    size_t packed_capacity;
    struct yarn_strings strings; /* the string table */
    struct yarn_export_mappings mappings;
    struct yarn_sum *totals; /* owned */
    size_t *columns;         /* owned; of each event: its first value */
    size_t nr_values;
    struct yarn_table functions; /* (function, file) to id */
    uint32_t nr_functions;
    uint64_t *locations; /* owned array: ids of one sample */
    size_t locations_capacity;
    bool has_lines;
};

static int put(struct pprof *pprof, const Yarn__Pprof__Profile *part)
{
    size_t size = yarn__pprof__profile__get_packed_size(part);
    pprof->size += size;
    if (pprof->size > pprof->export->most_bytes)
        return -EFBIG;
    if (YARN_ARRAY_RESERVE(&pprof->packed, &pprof->packed_capacity, size + 1))
        return -ENOMEM;
    yarn__pprof__profile__pack(part, pprof->packed);
    return !size || gzwrite(pprof->gz, pprof->packed, (unsigned)size) > 0 ? 0 : -EIO;
}

static int number_text(struct pprof *pprof, const char *text, int64_t *ret_number)
{
    uint32_t number;
    int err = yarn_strings_intern(&pprof->strings, yarn_span_of_text(text), &number);
    if (!err)
        *ret_number = number;
    return err;
}

static int put_mapping(struct pprof *pprof, size_t number)
{
    const struct yarn_export_mapping *mapping = &pprof->mappings.list[number];
    const struct yarn_profile *profile = pprof->export->profile;
    char build_id[2 * 64 + 1];
    Yarn__Pprof__Profile part = YARN__PPROF__PROFILE__INIT;
    Yarn__Pprof__Mapping message = YARN__PPROF__MAPPING__INIT;
    Yarn__Pprof__Mapping *messages[] = {&message};
    part.n_mapping = 1;
    part.mapping = messages;
    message.id = number + 1;
    message.memory_start = mapping->start;
    message.memory_limit = mapping->end;
    message.file_offset = mapping->file_offset;
    message.has_functions = true;
    message.has_filenames = message.has_line_numbers = message.has_inline_frames = pprof->has_lines;
    int err = number_text(pprof, yarn_profile_text(profile, profile->modules[mapping->module].path),
                          &message.filename);
    if (!err)
        err = number_text(pprof, yarn_hex_text(mapping->build_id, build_id, sizeof build_id),
                          &message.build_id);
    return err ? err : put(pprof, &part);
}

/* Without a system name: readers shorten names that equal theirs. */
static int put_new_function(struct pprof *pprof, const char *name, const char *file,
                            uint64_t *ret_id)
{
    Yarn__Pprof__Profile part = YARN__PPROF__PROFILE__INIT;
    Yarn__Pprof__Function message = YARN__PPROF__FUNCTION__INIT;
    Yarn__Pprof__Function *messages[] = {&message};
    part.n_function = 1;
    part.function = messages;
    message.id = *ret_id = ++pprof->nr_functions;
    int err = number_text(pprof, name, &message.name);
    if (!err)
        err = number_text(pprof, file, &message.filename);
    return err ? err : put(pprof, &part);
}

static int put_function(struct pprof *pprof, uint32_t function, uint32_t file, uint64_t *ret_id)
{
    const struct yarn_profile *profile = pprof->export->profile;
    uint64_t key = (uint64_t)file << 32 | function;
    *ret_id = yarn_table_find(&pprof->functions, key);
    if (*ret_id != YARN_TABLE_NONE)
        return 0;
    int err = yarn_table_put(&pprof->functions, key, pprof->nr_functions + 1);
    const char *name = yarn_profile_text(profile, profile->functions[function].name);
    return err ? err : put_new_function(pprof, name, yarn_profile_text(profile, file), ret_id);
}

enum { LINES_MAX = 64 }; /* inlined into one another at one address */

/* The frame and, before it, what is inlined there: the innermost first. */
static int put_location(struct pprof *pprof, uint32_t number)
{
    const struct yarn_profile_frame *frame = &pprof->export->profile->frames[number];
    Yarn__Pprof__Line lines[LINES_MAX];
    Yarn__Pprof__Line *pointers[LINES_MAX];
    Yarn__Pprof__Profile part = YARN__PPROF__PROFILE__INIT;
    Yarn__Pprof__Location message = YARN__PPROF__LOCATION__INIT;
    Yarn__Pprof__Location *messages[] = {&message};
    part.n_location = 1;
    part.location = messages;
    message.id = (uint64_t)number + 1;
    message.address = frame->address;
    if (pprof->mappings.homes[number].mapping != YARN_DUMP_NONE)
        message.mapping_id = (uint64_t)pprof->mappings.homes[number].mapping + 1;
    message.n_line = yarn_size_min((size_t)frame->nr_inlined + 1, LINES_MAX);
    message.line = pointers;
    for (size_t i = 0; i < message.n_line; i++) {
        const struct yarn_profile_frame *part_frame = frame + (message.n_line - 1 - i);
        lines[i] = (Yarn__Pprof__Line)YARN__PPROF__LINE__INIT;
        lines[i].line = part_frame->line;
        pointers[i] = &lines[i];
        int err =
            put_function(pprof, part_frame->function, part_frame->file, &lines[i].function_id);
        if (err)
            return err;
    }
    return put(pprof, &part);
}

/* Functions that stand for what is missing come behind the frames. */
static uint64_t id_of_pseudo(const struct pprof *pprof, uint32_t function)
{
    return pprof->export->profile->nr_frames + 1 + function;
}

static int put_pseudo_locations(struct pprof *pprof)
{
    int err = 0;
    for (uint32_t i = 0; !err && i <= YARN_EXPORT_KERNEL_ROOT; i++) {
        Yarn__Pprof__Line line = YARN__PPROF__LINE__INIT;
        Yarn__Pprof__Line *lines[] = {&line};
        Yarn__Pprof__Profile part = YARN__PPROF__PROFILE__INIT;
        Yarn__Pprof__Location message = YARN__PPROF__LOCATION__INIT;
        Yarn__Pprof__Location *messages[] = {&message};
        part.n_location = 1;
        part.location = messages;
        message.id = id_of_pseudo(pprof, i);
        message.n_line = 1;
        message.line = lines;
        err = i == YARN_EXPORT_KERNEL_ROOT
                  ? put_new_function(pprof, "[kernel]", "", &line.function_id)
                  : put_function(pprof, i, 0, &line.function_id);
        if (!err)
            err = put(pprof, &part);
    }
    return err;
}

static bool is_inlined(const struct pprof *pprof, uint32_t frame)
{
    const struct yarn_profile *profile = pprof->export->profile;
    return profile->functions[profile->frames[frame].function].is_inlined;
}

static int put_code(struct pprof *pprof)
{
    const struct yarn_profile *profile = pprof->export->profile;
    int err = 0;
    for (uint32_t i = 0; !pprof->has_lines && i < profile->nr_frames; i++)
        pprof->has_lines = profile->frames[i].line != 0;
    size_t main_mapping = yarn_export_mappings_main(&pprof->mappings, profile);
    /* Why that one first: readers name the profile after it. */
    if (main_mapping < pprof->mappings.count)
        err = put_mapping(pprof, main_mapping);
    for (size_t i = 0; !err && i < pprof->mappings.count; i++) {
        if (i != main_mapping)
            err = put_mapping(pprof, i);
    }
    if (!err)
        err = put_pseudo_locations(pprof);
    for (uint32_t i = 0; !err && i < profile->nr_frames; i++) {
        if (pprof->mappings.homes[i].dump != YARN_DUMP_NONE && !is_inlined(pprof, i))
            err = put_location(pprof, i);
    }
    return err;
}

static int add_location(struct pprof *pprof, size_t *count, uint64_t id)
{
    if (YARN_ARRAY_RESERVE(&pprof->locations, &pprof->locations_capacity, *count + 1))
        return -ENOMEM;
    pprof->locations[(*count)++] = id;
    return 0;
}

static int add_locations(struct pprof *pprof, const struct yarn_export_sample *sample,
                         size_t *ret_count)
{
    const struct yarn_profile *profile = pprof->export->profile;
    size_t count = 0;
    int err = 0;
    for (uint32_t stack = sample->stack; !err && stack != YARN_DUMP_NONE;
         stack = profile->stacks[stack].parent) {
        uint32_t frame = profile->stacks[stack].frame;
        if (!is_inlined(pprof, frame))
            err = add_location(pprof, &count, (uint64_t)frame + 1);
    }
    if (!err && sample->root != YARN_DUMP_NONE)
        err = add_location(pprof, &count, id_of_pseudo(pprof, sample->root));
    *ret_count = count;
    return err;
}

enum { LABELS_MAX = 8 };

struct labels {
    Yarn__Pprof__Label list[LABELS_MAX];
    Yarn__Pprof__Label *pointers[LABELS_MAX];
    size_t count;
};

static int label_text(struct pprof *pprof, struct labels *labels, const char *key, const char *text)
{
    Yarn__Pprof__Label *label = &labels->list[labels->count];
    *label = (Yarn__Pprof__Label)YARN__PPROF__LABEL__INIT;
    labels->pointers[labels->count++] = label;
    int err = number_text(pprof, key, &label->key);
    return err ? err : number_text(pprof, text, &label->str);
}

static int label_number(struct pprof *pprof, struct labels *labels, const char *key,
                        uint32_t number)
{
    Yarn__Pprof__Label *label = &labels->list[labels->count];
    *label = (Yarn__Pprof__Label)YARN__PPROF__LABEL__INIT;
    labels->pointers[labels->count++] = label;
    label->num = number;
    return number_text(pprof, key, &label->key);
}

/* Why the cpu is a text: readers drop a number 0 without a unit. */
static int add_labels(struct pprof *pprof, const struct yarn_export_sample *sample,
                      struct labels *labels)
{
    const struct yarn_profile *profile = pprof->export->profile;
    const struct yarn_profile_dump *dump = &profile->dumps[sample->dump];
    char cpu[16];
    (void)snprintf(cpu, sizeof cpu, "%u", sample->cpu);
    labels->count = 0;
    int err = label_text(pprof, labels, "thread", yarn_profile_text(profile, sample->comm));
    if (!err && sample->thread != YARN_DUMP_NONE)
        err = label_number(pprof, labels, "tid", profile->threads[sample->thread].tid);
    if (!err)
        err = label_text(pprof, labels, "process", yarn_profile_text(profile, dump->comm));
    if (!err)
        err = label_number(pprof, labels, "pid", dump->process.pid);
    if (!err)
        err = label_text(pprof, labels, "command", yarn_profile_text(profile, dump->command));
    if (!err && dump->process.host.size)
        err = label_text(pprof, labels, "host", yarn_profile_text(profile, dump->host));
    if (!err && dump->process.rank.size)
        err = label_text(pprof, labels, "rank", yarn_profile_text(profile, dump->rank));
    if (!err && sample->cpu != UINT16_MAX)
        err = label_text(pprof, labels, "cpu", cpu);
    return err;
}

static int put_sample(struct pprof *pprof, const struct yarn_export_sample *sample, int64_t *values)
{
    struct labels labels;
    Yarn__Pprof__Profile part = YARN__PPROF__PROFILE__INIT;
    Yarn__Pprof__Sample message = YARN__PPROF__SAMPLE__INIT;
    Yarn__Pprof__Sample *messages[] = {&message};
    size_t column = pprof->columns[sample->event];
    part.n_sample = 1;
    part.sample = messages;
    int err = add_locations(pprof, sample, &message.n_location_id);
    if (!err)
        err = add_labels(pprof, sample, &labels);
    if (err)
        return err;
    message.location_id = pprof->locations;
    message.n_label = labels.count;
    message.label = labels.pointers;
    message.n_value = pprof->nr_values;
    message.value = values;
    values[column] = (int64_t)sample->count;
    values[column + 1] = (int64_t)sample->weight;
    err = put(pprof, &part);
    values[column] = values[column + 1] = 0;
    return err;
}

/* A weight without samples. */
static int put_kernel(struct pprof *pprof, int64_t *values)
{
    const struct yarn_profile *profile = pprof->export->profile;
    struct yarn_kernel_time *list;
    size_t count;
    int err = yarn_export_kernel(pprof->export, &list, &count);
    for (size_t i = 0; !err && i < count; i++) {
        struct yarn_export_sample whole = yarn_export_kernel_sample(profile, &list[i]);
        if (pprof->totals[whole.event].samples)
            err = put_sample(pprof, &whole, values);
    }
    free(list);
    return err;
}

static int put_samples(struct pprof *pprof)
{
    struct yarn_export_samples samples = YARN_EXPORT_SAMPLES(pprof->export);
    struct yarn_export_sample sample;
    int64_t *values = calloc(pprof->nr_values + 1, sizeof *values);
    int err = values ? 0 : -ENOMEM;
    while (!err && yarn_export_next(&samples, &sample))
        err = put_sample(pprof, &sample, values);
    if (!err)
        err = put_kernel(pprof, values);
    free(values);
    return err;
}

static int number_type(struct pprof *pprof, const char *type, const char *unit,
                       Yarn__Pprof__ValueType *ret)
{
    *ret = (Yarn__Pprof__ValueType)YARN__PPROF__VALUE_TYPE__INIT;
    int err = number_text(pprof, type, &ret->type);
    if (!err)
        err = number_text(pprof, strcmp(unit, "ns") == 0 ? "nanoseconds" : unit, &ret->unit);
    return err;
}

/* "samples" and "cpu-clock"; with several events, "cpu-clock:samples" and "cpu-clock". */
static int put_event(struct pprof *pprof, uint32_t number, bool is_only)
{
    const struct yarn_profile *profile = pprof->export->profile;
    const struct yarn_profile_event *event = &profile->events[number];
    const char *name = yarn_profile_text(profile, event->name);
    const char *unit = yarn_profile_text(profile, event->unit);
    char samples[256];
    Yarn__Pprof__ValueType types[2], period;
    Yarn__Pprof__ValueType *pointers[] = {&types[0], &types[1]};
    Yarn__Pprof__Profile part = YARN__PPROF__PROFILE__INIT;
    (void)snprintf(samples, sizeof samples, "%.240s:samples", name);
    int err = number_type(pprof, is_only ? "samples" : samples, "count", &types[0]);
    if (!err)
        err = number_type(pprof, name, unit, &types[1]);
    part.n_sample_type = 2;
    part.sample_type = pointers;
    bool is_first = pprof->nr_values == 0;
    pprof->columns[number] = pprof->nr_values;
    pprof->nr_values += 2;
    if (!err && is_first) {
        err = number_type(pprof, name, unit, &period);
        part.period_type = &period;
        part.period = (int64_t)event->period;
        part.default_sample_type = types[1].type;
    }
    return err ? err : put(pprof, &part);
}

/* Why one event even where none has samples: readers want a type. */
static int put_events(struct pprof *pprof)
{
    const struct yarn_profile *profile = pprof->export->profile;
    size_t nr_used = 0;
    int err = 0;
    for (size_t i = 0; i < profile->nr_events; i++)
        nr_used += pprof->totals[i].samples > 0;
    for (uint32_t i = 0; !err && i < profile->nr_events; i++) {
        if (pprof->totals[i].samples || (!nr_used && i == 0))
            err = put_event(pprof, i, nr_used <= 1);
    }
    return err;
}

static int put_comment(struct pprof *pprof, const char *text)
{
    Yarn__Pprof__Profile part = YARN__PPROF__PROFILE__INIT;
    int64_t number;
    int err = number_text(pprof, text, &number);
    part.n_comment = 1;
    part.comment = &number;
    return err ? err : put(pprof, &part);
}

/* Completeness of the whole profile, as `verify --trust` has it. */
static int put_completeness(struct pprof *pprof)
{
    struct yarn_completeness completeness = yarn_completeness_of(pprof->export->profile);
    int err = 0;
    for (size_t i = 0; !err && !pprof->export->process && i < completeness.count; i++) {
        char text[YARN_COMPLETENESS_TEXT];
        yarn_completeness_describe(&completeness.rows[i], text);
        err = put_comment(pprof, text);
    }
    return err;
}

static int put_head(struct pprof *pprof)
{
    const struct yarn_profile *profile = pprof->export->profile;
    Yarn__Pprof__Profile part = YARN__PPROF__PROFILE__INIT;
    uint64_t lost = 0, kernel_ns = 0;
    char text[192];
    size_t only = pprof->export->process, from = only ? only - 1 : 0;
    size_t to = only ? only : profile->nr_dumps;
    const struct yarn_profile_dump *dump = &profile->dumps[from];
    part.duration_nanos = (int64_t)(only ? yarn_u64_minus(dump->last_ns, dump->process.start_ns)
                                         : yarn_u64_minus(profile->end_ns, profile->start_ns));
    part.time_nanos = from < to ? (int64_t)dump->process.start_realtime_ns : 0;
    int err = put(pprof, &part);
    for (; dump < profile->dumps + to; dump++) {
        lost += dump->trust.lost;
        kernel_ns += dump->trust.kernel_ns;
    }
    (void)snprintf(text, sizeof text,
                   "processes: %zu, lost samples: %" PRIu64
                   ", CPU time in the kernel that was not sampled: %" PRIu64 " ns",
                   to - from, lost, kernel_ns);
    if (!err)
        err = put_comment(pprof, text);
    return err ? err : put_completeness(pprof);
}

/* Last, when all texts are known. */
static int put_strings(struct pprof *pprof)
{
    int err = 0;
    for (uint32_t i = 0; !err && i < pprof->strings.count; i++) {
        char *text = (char *)yarn_strings_text(&pprof->strings, i);
        Yarn__Pprof__Profile part = YARN__PPROF__PROFILE__INIT;
        part.n_string_table = 1;
        part.string_table = &text;
        err = put(pprof, &part);
    }
    return err;
}

static int put_all(struct pprof *pprof)
{
    int err = put_events(pprof);
    if (!err)
        err = put_head(pprof);
    if (!err)
        err = put_code(pprof);
    if (!err)
        err = put_samples(pprof);
    return err ? err : put_strings(pprof);
}

/* Why a descriptor of its own: closing the gzip stream closes it too. */
static int open_gz(struct pprof *pprof)
{
    int fd = dup(fileno(pprof->export->file));
    if (fd < 0)
        return -errno;
    pprof->gz = gzdopen(fd, "wb6");
    if (pprof->gz)
        return 0;
    (void)close(fd);
    return -ENOMEM;
}

static int pprof_init(struct pprof *pprof)
{
    const struct yarn_profile *profile = pprof->export->profile;
    pprof->totals = yarn_export_totals(pprof->export);
    pprof->columns = calloc(profile->nr_events + 1, sizeof *pprof->columns);
    int err = pprof->totals && pprof->columns ? yarn_strings_init(&pprof->strings) : -ENOMEM;
    if (!err)
        err = yarn_table_open(&pprof->functions, 1024, (size_t)1 << 31);
    if (!err)
        err = yarn_export_mappings_init(&pprof->mappings, pprof->export);
    return err ? err : open_gz(pprof);
}

static void pprof_fini(struct pprof *pprof)
{
    yarn_export_mappings_fini(&pprof->mappings);
    yarn_table_close(&pprof->functions);
    yarn_strings_fini(&pprof->strings);
    free(pprof->totals);
    free(pprof->columns);
    free(pprof->locations);
    free(pprof->packed);
}

int yarn_export_pprof(struct yarn_export *export)
{
    struct pprof pprof = {.export = export, .functions = YARN_TABLE_CLOSED};
    int err = pprof_init(&pprof);
    if (!err)
        err = put_all(&pprof);
    if (pprof.gz && gzclose(pprof.gz) != Z_OK && !err)
        err = -EIO;
    pprof_fini(&pprof);
    return err;
}
