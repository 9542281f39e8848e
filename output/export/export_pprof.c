/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "output/analysis/time/completeness.h"
#include "output/base/array.h"
#include "output/export/export.h"
#include "output/export/mappings.h"
#include "output/export/samples.h"
#include "output/export/wire.h"
#include "output/text/legible.h"

/*
 * A gzipped Profile message. It is written in parts: messages of one kind that follow one another
 * are read as one, so that no more than a part is ever in memory. Each event has two values: its
 * samples and their weight. Addresses are linked ones, as are those of mappings. Texts are indices
 * into the string table, whose first is empty.
 */

enum profile_field {
    SAMPLE_TYPE = 1,
    SAMPLE = 2,
    MAPPING = 3,
    LOCATION = 4,
    FUNCTION = 5,
    STRING = 6,
    TIME_NS = 9,
    DURATION_NS = 10,
    PERIOD_TYPE = 11,
    PERIOD = 12,
    COMMENT = 13,
    DEFAULT_SAMPLE_TYPE = 14,
};

struct pprof {
    struct yarn_export *export;
    gzFile gz;
    uint64_t size;               /* of what was written, unpacked */
    struct yarn_wire wire;       /* a part, and what has failed */
    struct yarn_strings strings; /* the string table */
    struct yarn_export_mappings mappings;
    struct yarn_sum *totals; /* owned */
    size_t *columns;         /* owned; of each event: its first value */
    uint64_t *values;        /* owned; of a sample */
    size_t nr_values;
    struct yarn_table functions; /* (function, file) to id */
    uint32_t nr_functions;
    uint64_t *locations; /* owned array: ids of one sample */
    size_t locations_capacity;
    bool has_lines;
};

static void note(struct pprof *pprof, int err)
{
    pprof->wire.err = pprof->wire.err ? pprof->wire.err : err;
}

/* Of a file: zlib's own errors have no errno. */
static int error_of(int zlib_error)
{
    return zlib_error == Z_ERRNO ? -errno : -EIO;
}

static int write_error(gzFile gz)
{
    int zlib_error;
    (void)gzerror(gz, &zlib_error);
    return error_of(zlib_error);
}

/* What the wire has becomes a part. */
static void put(struct pprof *pprof)
{
    struct yarn_wire *wire = &pprof->wire;
    pprof->size += wire->size;
    if (pprof->size > pprof->export->most_bytes)
        note(pprof, -EFBIG);
    if (!wire->err && wire->size && gzwrite(pprof->gz, wire->bytes, (unsigned)wire->size) <= 0)
        wire->err = write_error(pprof->gz);
    wire->size = 0;
}

static uint64_t number_of(struct pprof *pprof, const char *text)
{
    uint32_t number = 0;
    note(pprof, yarn_strings_intern(&pprof->strings, yarn_span_of_text(text), &number));
    return number;
}

static void put_mapping(struct pprof *pprof, size_t number)
{
    enum {
        ID = 1,
        START = 2,
        LIMIT = 3,
        OFFSET = 4,
        FILENAME = 5,
        BUILD_ID = 6,
        HAS_FUNCTIONS = 7
    };
    const struct yarn_export_mapping *mapping = &pprof->mappings.list[number];
    const struct yarn_profile *profile = pprof->export->profile;
    struct yarn_wire *wire = &pprof->wire;
    char build_id[2 * 64 + 1];
    size_t begin = yarn_wire_begin(wire, MAPPING);
    yarn_wire_u64(wire, ID, number + 1);
    yarn_wire_u64(wire, START, mapping->start);
    yarn_wire_u64(wire, LIMIT, mapping->end);
    yarn_wire_u64(wire, OFFSET, mapping->file_offset);
    yarn_wire_u64(
        wire, FILENAME,
        number_of(pprof, yarn_profile_text(profile, profile->modules[mapping->module].path)));
    yarn_wire_u64(wire, BUILD_ID,
                  number_of(pprof, yarn_hex_text(mapping->build_id, build_id, sizeof build_id)));
    yarn_wire_u64(wire, HAS_FUNCTIONS, 1);
    for (uint32_t i = 1; i <= 3; i++) /* file names, line numbers, inlined frames */
        yarn_wire_u64(wire, HAS_FUNCTIONS + i, pprof->has_lines);
    yarn_wire_end(wire, begin);
    put(pprof);
}

/* Without a system name: readers shorten names that equal theirs. Gives its id. */
static uint64_t put_new_function(struct pprof *pprof, const char *name, const char *file)
{
    enum { ID = 1, NAME = 2, FILENAME = 4 };
    struct yarn_wire *wire = &pprof->wire;
    size_t begin = yarn_wire_begin(wire, FUNCTION);
    yarn_wire_u64(wire, ID, ++pprof->nr_functions);
    yarn_wire_u64(wire, NAME, number_of(pprof, name));
    yarn_wire_u64(wire, FILENAME, number_of(pprof, file));
    yarn_wire_end(wire, begin);
    put(pprof);
    return pprof->nr_functions;
}

static uint64_t put_function(struct pprof *pprof, uint32_t function, uint32_t file)
{
    const struct yarn_profile *profile = pprof->export->profile;
    uint64_t key = (uint64_t)file << 32 | function;
    uint32_t id = yarn_table_find(&pprof->functions, key);
    if (id != YARN_TABLE_NONE)
        return id;
    note(pprof, yarn_table_put(&pprof->functions, key, pprof->nr_functions + 1));
    return put_new_function(pprof, yarn_profile_text(profile, profile->functions[function].name),
                            yarn_profile_text(profile, file));
}

enum { LINES_MAX = 64 }; /* inlined into one another at one address */

struct line {
    uint64_t function, number;
};

/* `mapping`: 1 + its number, or 0. The functions of the lines are written before. */
static void put_location(struct pprof *pprof, uint64_t id, uint64_t mapping, uint64_t address,
                         const struct line *lines, size_t nr_lines)
{
    enum { ID = 1, MAPPING_ID = 2, ADDRESS = 3, LINE = 4, LINE_FUNCTION = 1, LINE_NUMBER = 2 };
    struct yarn_wire *wire = &pprof->wire;
    size_t begin = yarn_wire_begin(wire, LOCATION);
    yarn_wire_u64(wire, ID, id);
    yarn_wire_u64(wire, MAPPING_ID, mapping);
    yarn_wire_u64(wire, ADDRESS, address);
    for (size_t i = 0; i < nr_lines; i++) {
        size_t line = yarn_wire_begin(wire, LINE);
        yarn_wire_u64(wire, LINE_FUNCTION, lines[i].function);
        yarn_wire_u64(wire, LINE_NUMBER, lines[i].number);
        yarn_wire_end(wire, line);
    }
    yarn_wire_end(wire, begin);
    put(pprof);
}

/* The frame and, before it, what is inlined there: the innermost first. */
static void put_frame(struct pprof *pprof, uint32_t number)
{
    const struct yarn_profile_frame *frame = &pprof->export->profile->frames[number];
    uint32_t mapping = pprof->mappings.homes[number].mapping;
    struct line lines[LINES_MAX];
    size_t nr_lines = yarn_size_min((size_t)frame->nr_inlined + 1, LINES_MAX);
    for (size_t i = 0; i < nr_lines; i++) {
        const struct yarn_profile_frame *part = frame + (nr_lines - 1 - i);
        lines[i] = (struct line){put_function(pprof, part->function, part->file), part->line};
    }
    put_location(pprof, (uint64_t)number + 1, mapping == YARN_DUMP_NONE ? 0 : (uint64_t)mapping + 1,
                 frame->address, lines, nr_lines);
}

/* Functions that stand for what is missing come behind the frames. */
static uint64_t id_of_pseudo(const struct pprof *pprof, uint32_t function)
{
    return pprof->export->profile->nr_frames + 1 + function;
}

static void put_pseudo_locations(struct pprof *pprof)
{
    for (uint32_t i = 0; i <= YARN_EXPORT_KERNEL_ROOT; i++) {
        struct line line = {i == YARN_EXPORT_KERNEL_ROOT ? put_new_function(pprof, "[kernel]", "")
                                                         : put_function(pprof, i, 0),
                            0};
        put_location(pprof, id_of_pseudo(pprof, i), 0, 0, &line, 1);
    }
}

static bool is_inlined(const struct pprof *pprof, uint32_t frame)
{
    const struct yarn_profile *profile = pprof->export->profile;
    return profile->functions[profile->frames[frame].function].is_inlined;
}

static void put_code(struct pprof *pprof)
{
    const struct yarn_profile *profile = pprof->export->profile;
    for (uint32_t i = 0; !pprof->has_lines && i < profile->nr_frames; i++)
        pprof->has_lines = profile->frames[i].line != 0;
    size_t main_mapping = yarn_export_mappings_main(&pprof->mappings, profile);
    /* Why that one first: readers name the profile after it. */
    if (main_mapping < pprof->mappings.count)
        put_mapping(pprof, main_mapping);
    for (size_t i = 0; i < pprof->mappings.count; i++) {
        if (i != main_mapping)
            put_mapping(pprof, i);
    }
    put_pseudo_locations(pprof);
    for (uint32_t i = 0; !pprof->wire.err && i < profile->nr_frames; i++) {
        if (pprof->mappings.homes[i].dump != YARN_DUMP_NONE && !is_inlined(pprof, i))
            put_frame(pprof, i);
    }
}

static void add_location(struct pprof *pprof, size_t *count, uint64_t id)
{
    if (YARN_ARRAY_RESERVE(&pprof->locations, &pprof->locations_capacity, *count + 1))
        note(pprof, -ENOMEM);
    else
        pprof->locations[(*count)++] = id;
}

static size_t add_locations(struct pprof *pprof, const struct yarn_export_sample *sample)
{
    const struct yarn_profile *profile = pprof->export->profile;
    size_t count = 0;
    for (uint32_t stack = sample->stack; stack != YARN_DUMP_NONE;
         stack = profile->stacks[stack].parent) {
        uint32_t frame = profile->stacks[stack].frame;
        if (!is_inlined(pprof, frame))
            add_location(pprof, &count, (uint64_t)frame + 1);
    }
    if (sample->root != YARN_DUMP_NONE)
        add_location(pprof, &count, id_of_pseudo(pprof, sample->root));
    return count;
}

/* A text, or a number where that is NULL. */
static void put_label(struct pprof *pprof, const char *key, const char *text, uint32_t number)
{
    enum { LABEL = 3, KEY = 1, TEXT = 2, NUMBER = 3 };
    struct yarn_wire *wire = &pprof->wire;
    size_t begin = yarn_wire_begin(wire, LABEL);
    yarn_wire_u64(wire, KEY, number_of(pprof, key));
    if (text)
        yarn_wire_u64(wire, TEXT, number_of(pprof, text));
    else
        yarn_wire_u64(wire, NUMBER, number);
    yarn_wire_end(wire, begin);
}

/* Why the cpu is a text: readers drop a number 0 without a unit. */
static void put_labels(struct pprof *pprof, const struct yarn_export_sample *sample)
{
    const struct yarn_profile *profile = pprof->export->profile;
    const struct yarn_profile_dump *dump = &profile->dumps[sample->dump];
    char cpu[16];
    (void)snprintf(cpu, sizeof cpu, "%u", sample->cpu);
    put_label(pprof, "thread", yarn_profile_text(profile, sample->comm), 0);
    if (sample->thread != YARN_DUMP_NONE)
        put_label(pprof, "tid", NULL, profile->threads[sample->thread].tid);
    put_label(pprof, "process", yarn_profile_text(profile, dump->program), 0);
    put_label(pprof, "pid", NULL, dump->process.pid);
    put_label(pprof, "command", yarn_profile_text(profile, dump->command), 0);
    if (dump->process.host.size)
        put_label(pprof, "host", yarn_profile_text(profile, dump->host), 0);
    if (dump->process.rank.size)
        put_label(pprof, "rank", yarn_profile_text(profile, dump->rank), 0);
    if (sample->cpu != UINT16_MAX)
        put_label(pprof, "cpu", cpu, 0);
}

static void put_sample(struct pprof *pprof, const struct yarn_export_sample *sample)
{
    enum { LOCATIONS = 1, VALUES = 2 };
    struct yarn_wire *wire = &pprof->wire;
    uint64_t *values = &pprof->values[pprof->columns[sample->event]];
    size_t count = add_locations(pprof, sample), begin = yarn_wire_begin(wire, SAMPLE);
    values[0] = sample->count;
    values[1] = sample->weight;
    yarn_wire_packed(wire, LOCATIONS, pprof->locations, count);
    yarn_wire_packed(wire, VALUES, pprof->values, pprof->nr_values);
    values[0] = values[1] = 0;
    put_labels(pprof, sample);
    yarn_wire_end(wire, begin);
    put(pprof);
}

/* A weight without samples. */
static void put_kernel(struct pprof *pprof)
{
    struct yarn_kernel_time *list;
    size_t count;
    note(pprof, yarn_export_kernel(pprof->export, &list, &count));
    for (size_t i = 0; !pprof->wire.err && i < count; i++) {
        struct yarn_export_sample whole =
            yarn_export_kernel_sample(pprof->export->profile, &list[i]);
        if (pprof->totals[whole.event].samples)
            put_sample(pprof, &whole);
    }
    free(list);
}

static void put_samples(struct pprof *pprof)
{
    struct yarn_export_samples samples = YARN_EXPORT_SAMPLES(pprof->export);
    struct yarn_export_sample sample;
    while (!pprof->wire.err && yarn_export_next(&samples, &sample))
        put_sample(pprof, &sample);
    if (!pprof->wire.err)
        put_kernel(pprof);
}

/* Gives the number of its name. */
static uint64_t put_type(struct pprof *pprof, enum profile_field field, const char *type,
                         const char *unit)
{
    enum { TYPE = 1, UNIT = 2 };
    size_t begin = yarn_wire_begin(&pprof->wire, field);
    uint64_t name = number_of(pprof, type);
    yarn_wire_u64(&pprof->wire, TYPE, name);
    yarn_wire_u64(&pprof->wire, UNIT,
                  number_of(pprof, strcmp(unit, "ns") == 0 ? "nanoseconds" : unit));
    yarn_wire_end(&pprof->wire, begin);
    return name;
}

/* "samples" and "cpu-clock"; with several events, "cpu-clock:samples" and "cpu-clock". */
static void put_event(struct pprof *pprof, uint32_t number, bool is_only)
{
    const struct yarn_profile *profile = pprof->export->profile;
    const struct yarn_profile_event *event = &profile->events[number];
    const char *name = yarn_profile_text(profile, event->name);
    const char *unit = yarn_profile_text(profile, event->unit);
    char samples[256];
    (void)snprintf(samples, sizeof samples, "%.240s:samples", name);
    put_type(pprof, SAMPLE_TYPE, is_only ? "samples" : samples, "count");
    uint64_t type = put_type(pprof, SAMPLE_TYPE, name, unit);
    if (!pprof->nr_values) {
        put_type(pprof, PERIOD_TYPE, name, unit);
        yarn_wire_u64(&pprof->wire, PERIOD, event->period);
        yarn_wire_u64(&pprof->wire, DEFAULT_SAMPLE_TYPE, type);
    }
    pprof->columns[number] = pprof->nr_values;
    pprof->nr_values += 2;
    put(pprof);
}

/* Why one event even where none has samples: readers want a type. */
static void put_events(struct pprof *pprof)
{
    const struct yarn_profile *profile = pprof->export->profile;
    size_t nr_used = 0;
    for (size_t i = 0; i < profile->nr_events; i++)
        nr_used += pprof->totals[i].samples > 0;
    for (uint32_t i = 0; i < profile->nr_events; i++) {
        if (pprof->totals[i].samples || (!nr_used && i == 0))
            put_event(pprof, i, nr_used <= 1);
    }
}

static void put_comment(struct pprof *pprof, const char *text)
{
    uint64_t number = number_of(pprof, text);
    yarn_wire_packed(&pprof->wire, COMMENT, &number, 1);
    put(pprof);
}

/* Completeness of the whole profile, as `verify --trust` has it. */
static void put_completeness(struct pprof *pprof)
{
    struct yarn_completeness completeness = yarn_completeness_of(pprof->export->profile);
    for (size_t i = 0; !pprof->export->process && i < completeness.count; i++) {
        char text[YARN_COMPLETENESS_TEXT];
        yarn_completeness_describe(&completeness.rows[i], text);
        put_comment(pprof, text);
    }
}

static void put_head(struct pprof *pprof)
{
    const struct yarn_profile *profile = pprof->export->profile;
    uint64_t lost = 0, kernel_ns = 0;
    char text[192];
    size_t only = pprof->export->process, from = only ? only - 1 : 0;
    size_t to = only ? only : profile->nr_dumps;
    const struct yarn_profile_dump *dump = &profile->dumps[from];
    yarn_wire_u64(&pprof->wire, TIME_NS, from < to ? dump->process.start_realtime_ns : 0);
    yarn_wire_u64(&pprof->wire, DURATION_NS,
                  only ? yarn_u64_minus(dump->last_ns, dump->process.start_ns)
                       : yarn_u64_minus(profile->end_ns, profile->start_ns));
    put(pprof);
    for (; dump < profile->dumps + to; dump++) {
        lost += dump->trust.lost;
        kernel_ns += dump->trust.kernel_ns;
    }
    (void)snprintf(text, sizeof text,
                   "processes: %zu, lost samples: %" PRIu64
                   ", CPU time in the kernel that was not sampled: %" PRIu64 " ns",
                   to - from, lost, kernel_ns);
    put_comment(pprof, text);
    put_completeness(pprof);
}

static void put_all(struct pprof *pprof)
{
    put_events(pprof);
    put_head(pprof);
    put_code(pprof);
    put_samples(pprof);
    for (uint32_t i = 0; !pprof->wire.err && i < pprof->strings.count; i++) {
        yarn_wire_text(&pprof->wire, STRING, yarn_strings_text(&pprof->strings, i));
        put(pprof);
    }
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
    pprof->values = calloc(2 * profile->nr_events + 1, sizeof *pprof->values);
    int err = pprof->totals && pprof->columns && pprof->values ? yarn_strings_init(&pprof->strings)
                                                               : -ENOMEM;
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
    free(pprof->values);
    yarn_wire_fini(&pprof->wire);
}

int yarn_export_pprof(struct yarn_export *export)
{
    struct pprof pprof = {.export = export, .functions = YARN_TABLE_CLOSED};
    int err = pprof_init(&pprof);
    if (!err) {
        put_all(&pprof);
        err = pprof.wire.err;
    }
    int closed = pprof.gz ? gzclose(pprof.gz) : Z_OK;
    if (closed != Z_OK && !err)
        err = error_of(closed);
    pprof_fini(&pprof);
    return err;
}
