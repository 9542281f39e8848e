/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "core/base/bytes.h"
#include "output/export/export.h"
#include "output/export/trace_events.h"
#include "output/export/trace_pages.h"

/*
 * A trace.dat of version 7, uncompressed, as trace-cmd.dat.v7(5) has it: sections with the formats
 * of events and what pids are called, the pages of each core at the pages of the file, and the
 * options that say where all of these lie. What readers do without (kernel symbols, printk formats,
 * names of sections) is not there.
 */

enum {
    LONG_BYTES = 8,
    SECTION_OPTIONS = 0,
    SECTION_BUFFER = 3,
    SECTION_HEADERS = 16,
    SECTION_FTRACE,
    SECTION_FORMATS,
    SECTION_NAMES = 21,
    OPTION_DONE = 0,
    OPTION_BUFFER = 3,
    OPTION_CLOCK = 4,
    OPTION_CORES = 8,
    SECTION_HEAD = 16, /* bytes */
    CORE_BYTES = 20,   /* in OPTION_BUFFER */
    OPTIONS_BYTES = 256,
};

static const char page_header[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                                  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                                  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                                  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";

static const char event_header[] = "# compressed entry header\n"
                                   "\ttype_len    :    5 bits\n"
                                   "\ttime_delta  :   27 bits\n"
                                   "\tarray       :   32 bits\n\n"
                                   "\tpadding     : type == 29\n"
                                   "\ttime_extend : type == 30\n"
                                   "\ttime_stamp : type == 31\n"
                                   "\tdata max type_len  == 28\n";

struct trace_file {
    struct yarn_export *export;
    struct yarn_trace_events events;
    struct yarn_trace_pages pages;
    uint64_t sections[SECTION_NAMES + 1]; /* where each begins; 0: it is not there */
};

static void put(const struct trace_file *file, const void *bytes, size_t size)
{
    (void)fwrite(bytes, 1, size, file->export->file);
}

static void put_u32(const struct trace_file *file, uint32_t value)
{
    put(file, &value, sizeof value);
}

static void put_u64(const struct trace_file *file, uint64_t value)
{
    put(file, &value, sizeof value);
}

static void put_sized(const struct trace_file *file, struct yarn_span text)
{
    put_u64(file, text.size);
    put(file, text.data, text.size);
}

static uint64_t place_of(const struct trace_file *file)
{
    off_t at = ftello(file->export->file);
    return at < 0 ? 0 : (uint64_t)at;
}

static void put_section_head(const struct trace_file *file, uint16_t section, uint64_t size)
{
    put(file, &section, sizeof section);
    put(file, &(uint16_t){0}, sizeof(uint16_t));
    put_u32(file, 0);
    put_u64(file, size);
}

static void begin_section(struct trace_file *file, uint16_t section)
{
    file->sections[section] = place_of(file);
    put_section_head(file, section, 0);
}

/* The section's size is known now. */
static int end_section_at(const struct trace_file *file, uint16_t section, uint64_t start)
{
    uint64_t end = place_of(file);
    if (fseeko(file->export->file, (off_t)start, SEEK_SET))
        return -errno;
    put_section_head(file, section, end - start - SECTION_HEAD);
    return fseeko(file->export->file, (off_t)end, SEEK_SET) ? -errno : 0;
}

static int end_section(const struct trace_file *file, uint16_t section)
{
    return end_section_at(file, section, file->sections[section]);
}

/* The options' place is not known yet. */
static void put_begin(const struct trace_file *file, uint64_t options_at)
{
    static const char magic[] = "\x17\x08\x44tracing7"; /* and its NUL */
    put(file, magic, sizeof magic);
    put(file, "\0", 1); /* little-endian */
    put(file, &(uint8_t){LONG_BYTES}, 1);
    put_u32(file, YARN_TRACE_PAGE);
    put(file, "none\0", sizeof "none\0");
    put_u64(file, options_at);
}

static int put_headers(struct trace_file *file)
{
    begin_section(file, SECTION_HEADERS);
    put(file, "header_page", sizeof "header_page");
    put_sized(file, yarn_span_of_text(page_header));
    put(file, "header_event", sizeof "header_event");
    put_sized(file, yarn_span_of_text(event_header));
    return end_section(file, SECTION_HEADERS);
}

static bool is_first_of_system(const struct yarn_trace_events *events, size_t number)
{
    for (size_t i = 0; i < number; i++)
        if (yarn_span_equal(events->formats[i].system, events->formats[number].system))
            return false;
    return true;
}

static void put_system(const struct trace_file *file, size_t first)
{
    const struct yarn_trace_events *events = &file->events;
    struct yarn_span system = events->formats[first].system;
    uint32_t count = 0;
    for (size_t i = first; i < events->nr_formats; i++)
        count += yarn_span_equal(events->formats[i].system, system);
    put(file, system.data, system.size);
    put(file, "", 1);
    put_u32(file, count);
    for (size_t i = first; i < events->nr_formats; i++)
        if (yarn_span_equal(events->formats[i].system, system))
            put_sized(file, events->formats[i].text);
}

static int put_formats(struct trace_file *file)
{
    const struct yarn_trace_events *events = &file->events;
    uint32_t nr_systems = 0;
    begin_section(file, SECTION_FTRACE);
    put_u32(file, 0);
    int err = end_section(file, SECTION_FTRACE);
    begin_section(file, SECTION_FORMATS);
    for (size_t i = 0; i < events->nr_formats; i++)
        nr_systems += is_first_of_system(events, i);
    put_u32(file, nr_systems);
    for (size_t i = 0; i < events->nr_formats; i++)
        if (is_first_of_system(events, i))
            put_system(file, i);
    return err ? err : end_section(file, SECTION_FORMATS);
}

/* A line each: what would end it has no place in a name. */
static int put_name(FILE *memory, const struct yarn_trace_name *name)
{
    char comm[sizeof name->comm];
    memcpy(comm, name->comm, sizeof comm);
    for (char *at = comm; *at; at++)
        if (*at == '\n')
            *at = '?';
    return fprintf(memory, "%u %s\n", name->pid, comm[0] ? comm : "<...>");
}

static int put_names(struct trace_file *file)
{
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return -errno;
    for (size_t i = 0; i < file->events.nr_names; i++)
        (void)put_name(memory, &file->events.names[i]);
    int err = fclose(memory) ? -ENOMEM : 0;
    begin_section(file, SECTION_NAMES);
    if (!err)
        put_sized(file, yarn_span_of(text, size));
    free(text);
    return err ? err : end_section(file, SECTION_NAMES);
}

static int put_event(void *self, uint32_t core, uint64_t time_ns, struct yarn_span event)
{
    struct trace_file *file = self;
    return yarn_trace_pages_put(&file->pages, core, time_ns, event);
}

static int put_all_events(struct trace_file *file)
{
    int err = yarn_trace_events_each(&file->events, put_event, file);
    return err ? err : yarn_trace_pages_end(&file->pages);
}

/* The places of each core's pages; the end of the last is returned. */
static uint64_t lay_out(struct trace_file *file, uint64_t at)
{
    at = yarn_align_up(at, YARN_TRACE_PAGE);
    for (size_t i = 0; i < file->pages.nr_cores; i++) {
        file->pages.cores[i].at = at;
        at += file->pages.cores[i].nr_pages * YARN_TRACE_PAGE;
    }
    return at;
}

static int put_buffer(struct trace_file *file)
{
    begin_section(file, SECTION_BUFFER);
    int err = put_all_events(file);
    uint64_t end = lay_out(file, place_of(file));
    if (!err && end > file->export->most_bytes)
        err = -EFBIG;
    if (err)
        return err;
    yarn_trace_pages_restart(&file->pages, file->export->file);
    err = put_all_events(file);
    if (!err && fseeko(file->export->file, (off_t)end, SEEK_SET))
        err = -errno;
    return err ? err : end_section(file, SECTION_BUFFER);
}

static void put_option(const struct trace_file *file, uint16_t option, uint32_t size)
{
    put(file, &option, sizeof option);
    put_u32(file, size);
}

static void put_buffer_option(const struct trace_file *file)
{
    static const char names[] = "\0mono"; /* of the buffer, none, and of its clock */
    const struct yarn_trace_pages *pages = &file->pages;
    uint32_t nr_cores = (uint32_t)pages->nr_cores;
    put_option(file, OPTION_BUFFER,
               (uint32_t)(LONG_BYTES + sizeof names + 2 * sizeof nr_cores) + nr_cores * CORE_BYTES);
    put_u64(file, file->sections[SECTION_BUFFER]);
    put(file, names, sizeof names);
    put_u32(file, YARN_TRACE_PAGE);
    put_u32(file, nr_cores);
    for (uint32_t i = 0; i < nr_cores; i++) {
        put_u32(file, i);
        put_u64(file, pages->cores[i].at);
        put_u64(file, pages->cores[i].nr_pages * YARN_TRACE_PAGE);
    }
}

static int put_options(struct trace_file *file)
{
    static const uint16_t sections[] = {SECTION_HEADERS, SECTION_FTRACE, SECTION_FORMATS,
                                        SECTION_NAMES};
    static const char clock[] = "[mono]";
    begin_section(file, SECTION_OPTIONS);
    for (size_t i = 0; i < YARN_COUNT_OF(sections); i++) {
        put_option(file, sections[i], LONG_BYTES);
        put_u64(file, file->sections[sections[i]]);
    }
    put_option(file, OPTION_CORES, sizeof(uint32_t));
    put_u32(file, (uint32_t)file->pages.nr_cores);
    put_option(file, OPTION_CLOCK, sizeof clock);
    put(file, clock, sizeof clock);
    put_buffer_option(file);
    put_option(file, OPTION_DONE, LONG_BYTES);
    put_u64(file, 0);
    return end_section(file, SECTION_OPTIONS);
}

static int put_file(struct trace_file *file)
{
    put_begin(file, 0);
    int err = put_headers(file);
    if (!err)
        err = put_formats(file);
    if (!err)
        err = put_names(file);
    if (!err)
        err = put_buffer(file);
    if (!err)
        err = put_options(file);
    if (!err && fseeko(file->export->file, 0, SEEK_SET))
        err = -errno;
    if (!err)
        put_begin(file, file->sections[SECTION_OPTIONS]);
    return err;
}

int yarn_export_trace_dat(struct yarn_export *export)
{
    struct trace_file file = {.export = export};
    int err = yarn_trace_events_init(&file.events, export);
    if (!err)
        err = yarn_trace_pages_init(&file.pages, file.events.nr_cores);
    if (!err)
        err = put_file(&file);
    if (!err && file.events.nr_made)
        (void)snprintf(export->note, sizeof export->note,
                       "%" PRIu64 " switches are known from one side only: the other is pid 0, "
                       "not-recorded, and priorities are 0",
                       file.events.nr_made);
    yarn_trace_pages_fini(&file.pages);
    yarn_trace_events_fini(&file.events);
    return err;
}
