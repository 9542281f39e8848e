/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "output/analysis/profile/filter.h"
#include "output/analysis/profile/profile.h"
#include "output/analysis/time/timeline.h"
#include "output/analysis/value/clock.h"
#include "output/fold/choice.h"
#include "output/text/data_source.h"
#include "output/text/legible.h"
#include "output/yarnprof/io/memory.h"
#include "output/yarnprof/io/out.h"
#include "output/yarnprof/io/progress.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/options/command_line.h"
#include "output/yarnprof/options/select.h"
#include "output/yarnprof/verbs/verb.h"
#include "output/yarnprof/views/stream_list.h"

/*
 * A timeline as text in the layout of perf script, so that what reads that text reads this:
 *
 *     COMM  PID/TID [CPU] SECONDS.MICROS:     PERIOD EVENT: [MEMORY] [FIELD=VALUE …]
 *             ADDRESS FUNCTION+0xOFFSET (MODULE)            one line a frame, the leaf first
 *     (an empty line)
 *
 * Records that are no samples are one line each, without the empty line. Addresses are those of the
 * module's file. Where a stack's root side is missing, the reason stands for a frame.
 *
 * Threads: one.
 */

enum yarn_script_field {
    YARN_SCRIPT_COMM,
    YARN_SCRIPT_PID,
    YARN_SCRIPT_TID,
    YARN_SCRIPT_CPU,
    YARN_SCRIPT_TIME,
    YARN_SCRIPT_PERIOD,
    YARN_SCRIPT_EVENT,
    YARN_SCRIPT_IP,
    YARN_SCRIPT_SYM,
    YARN_SCRIPT_SYMOFF,
    YARN_SCRIPT_DSO,
    YARN_SCRIPT_ADDR,
    YARN_SCRIPT_TRACE,
    YARN_SCRIPT_WEIGHT,
    YARN_SCRIPT_DATA_SRC,
    YARN_SCRIPT_FIELD_COUNT,
};

#define YARN_SCRIPT_FIELDS_DEFAULT ((1u << YARN_SCRIPT_FIELD_COUNT) - 1)

struct yarn_stream_list;

struct yarn_script {
    const struct yarn_profile *profile;
    const struct yarn_filter *filter;
    const struct yarn_choice *choice;       /* of the profile */
    const struct yarn_stream_list *streams; /* NULL: couplebreak is off */
    unsigned fields;                        /* a bit each */
    bool has_no_header;
    bool is_samples_only;
};

static const char *const field_names[YARN_SCRIPT_FIELD_COUNT] = {
    "comm", "pid",    "tid", "cpu",  "time",  "period", "event",    "ip",
    "sym",  "symoff", "dso", "addr", "trace", "weight", "data_src",
};

static int field_of(const char *word, size_t size)
{
    for (int i = 0; i < YARN_SCRIPT_FIELD_COUNT; i++) {
        if (strlen(field_names[i]) == size && memcmp(field_names[i], word, size) == 0)
            return i;
    }
    return -EINVAL;
}

static int parse_fields(const char *text, unsigned *fields)
{
    bool is_change = text[0] == '+' || text[0] == '-';
    unsigned chosen = is_change ? *fields : 0;
    for (const char *at = text; *at; at += *at == ',') {
        bool is_less = at[0] == '-';
        if (is_change != (at[0] == '+' || is_less))
            return -EINVAL;
        at += is_change;
        size_t size = strcspn(at, ",");
        int field = field_of(at, size);
        if (field < 0)
            return field;
        chosen = is_less ? chosen & ~(1u << field) : chosen | 1u << field;
        at += size;
    }
    *fields = chosen;
    return 0;
}

/* A frame as it is printed. */
struct line {
    char *text; /* owned; NULL: not yet made */
    size_t size;
};

struct printer {
    const struct yarn_script *script;
    FILE *file;
    struct line *lines; /* owned; of each frame */
    size_t kept_bytes;  /* of them */
};

enum { LINES_BYTES_MAX = 16 << 20 };

static bool has(const struct yarn_script *script, enum yarn_script_field field)
{
    return script->fields & (1u << field);
}

/* The begin of a line, up to the event; without one, up to the time. */
struct beginning {
    const char *comm, *event; /* NULL: none */
    uint32_t pid, tid;
    int cpu; /* negative: none */
    uint64_t time_ns, period;
};

static void begin_line(const struct yarn_script *script, const struct beginning *line, FILE *file)
{
    if (has(script, YARN_SCRIPT_COMM)) {
        yarn_legible_print(line->comm, file);
        (void)fputc(' ', file);
    }
    if (has(script, YARN_SCRIPT_PID) && has(script, YARN_SCRIPT_TID))
        (void)fprintf(file, "%7u/%-7u ", line->pid, line->tid);
    else if (has(script, YARN_SCRIPT_PID) || has(script, YARN_SCRIPT_TID))
        (void)fprintf(file, "%7u ", has(script, YARN_SCRIPT_PID) ? line->pid : line->tid);
    if (has(script, YARN_SCRIPT_CPU) && line->cpu >= 0)
        (void)fprintf(file, "[%03d] ", line->cpu);
    if (has(script, YARN_SCRIPT_TIME))
        (void)fprintf(file, "%5" PRIu64 ".%06" PRIu64 ": ", line->time_ns / YARN_NS_PER_SECOND,
                      line->time_ns % YARN_NS_PER_SECOND / 1000);
    if (line->event && has(script, YARN_SCRIPT_PERIOD))
        (void)fprintf(file, "%10" PRIu64 " ", line->period);
    if (line->event && has(script, YARN_SCRIPT_EVENT)) {
        yarn_legible_print(line->event, file);
        (void)fputs(": ", file);
    }
}

static void print_begin(const struct yarn_script *script, const struct yarn_timeline_entry *entry,
                        FILE *file)
{
    const struct yarn_profile *profile = script->profile;
    const struct yarn_profile_dump *dump = &profile->dumps[entry->dump];
    struct beginning line = {
        .comm = yarn_profile_text(profile, entry->comm),
        .event =
            entry->text ? NULL : yarn_profile_text(profile, profile->events[entry->event].name),
        .pid = dump->process.pid,
        .cpu = entry->cpu == UINT16_MAX ? -1 : entry->cpu,
        .time_ns = yarn_clock_shown_ns(&dump->process, entry->time_ns),
        .period = entry->weight,
    };
    line.tid = entry->thread == YARN_DUMP_NONE ? line.pid : profile->threads[entry->thread].tid;
    if (entry->thread == YARN_DUMP_NONE && !entry->text) /* of another process */
        line.pid = line.tid = entry->detail ? profile->details[entry->detail - 1].raw_pid : 0;
    begin_line(script, &line, file);
}

static void print_frame_anew(const struct yarn_script *script, FILE *file,
                             const struct yarn_profile_frame *frame)
{
    const struct yarn_profile *profile = script->profile;
    const struct yarn_profile_function *function = &profile->functions[frame->function];
    (void)fputc('\t', file);
    if (has(script, YARN_SCRIPT_IP))
        (void)fprintf(file, "%16" PRIx64 " ", frame->address);
    if (has(script, YARN_SCRIPT_SYM)) {
        yarn_legible_print(
            function->is_unknown ? "[unknown]" : yarn_profile_text(profile, function->name), file);
        if (has(script, YARN_SCRIPT_SYMOFF) && !function->is_unknown &&
            frame->address >= frame->start)
            (void)fprintf(file, "+0x%" PRIx64, frame->address - frame->start);
    }
    if (function->is_inlined && has(script, YARN_SCRIPT_SYM)) {
        (void)fputs(" (inlined)", file);
    } else if (has(script, YARN_SCRIPT_DSO)) {
        (void)fputs(" (", file);
        yarn_legible_print(yarn_profile_text(profile, profile->modules[function->module].path),
                           file);
        (void)fputc(')', file);
    }
    (void)fputc('\n', file);
}

/* The line of a frame is the same each time, and there are a thousand times as many lines as
 * frames. */
static int print_frame(struct printer *printer, uint32_t number)
{
    const struct yarn_script *script = printer->script;
    struct line *line = &printer->lines[number];
    if (!line->text && printer->kept_bytes > LINES_BYTES_MAX) {
        print_frame_anew(script, printer->file, &script->profile->frames[number]);
        return 0;
    }
    if (!line->text) {
        FILE *memory = open_memstream(&line->text, &line->size);
        if (!memory)
            return -errno;
        print_frame_anew(script, memory, &script->profile->frames[number]);
        if (fclose(memory))
            return -ENOMEM;
        printer->kept_bytes += line->size;
    }
    (void)fwrite_unlocked(line->text, 1, line->size, printer->file);
    return 0;
}

static void print_pseudo_frame(const struct yarn_script *script, FILE *file, uint32_t function)
{
    struct yarn_profile_frame frame = {.function = function, .start = UINT64_MAX};
    print_frame_anew(script, file, &frame);
}

static int print_stack(struct printer *printer, const struct yarn_timeline_entry *entry)
{
    const struct yarn_script *script = printer->script;
    const struct yarn_profile_stack *stacks = script->profile->stacks;
    uint32_t root = yarn_profile_root_of(entry->stack, entry->stack_end);
    int err = 0;
    (void)fputc('\n', printer->file);
    for (uint32_t stack = entry->stack; !err && stack != YARN_DUMP_NONE;
         stack = stacks[stack].parent)
        err = print_frame(printer, stacks[stack].frame);
    if (root != YARN_DUMP_NONE)
        print_pseudo_frame(script, printer->file, root);
    (void)fputc('\n', printer->file);
    return err;
}

/* The memory that it is about, and a tracepoint's fields. */
static void print_detail(const struct yarn_script *script, const struct yarn_profile_detail *detail,
                         FILE *file)
{
    if (has(script, YARN_SCRIPT_ADDR) && detail->address)
        (void)fprintf(file, "%16" PRIx64 " ", detail->address);
    if (has(script, YARN_SCRIPT_WEIGHT) && detail->latency)
        (void)fprintf(file, "weight %" PRIu64 " ", detail->latency);
    if (has(script, YARN_SCRIPT_DATA_SRC) && detail->data_source) {
        char text[YARN_DATA_SOURCE_MAX];
        (void)fprintf(file, "%s ", yarn_data_source_text(detail->data_source, text));
    }
    if (has(script, YARN_SCRIPT_TRACE) && detail->fields)
        yarn_legible_print(yarn_profile_text(script->profile, detail->fields), file);
}

static int print_sample(struct printer *printer, const struct yarn_timeline_entry *entry)
{
    const struct yarn_script *script = printer->script;
    FILE *file = printer->file;
    bool has_frames =
        has(script, YARN_SCRIPT_IP) || has(script, YARN_SCRIPT_SYM) || has(script, YARN_SCRIPT_DSO);
    print_begin(script, entry, file);
    if (entry->detail)
        print_detail(script, &script->profile->details[entry->detail - 1], file);
    if (has_frames)
        return print_stack(printer, entry);
    (void)fputc('\n', file);
    return 0;
}

static void print_header(const struct yarn_script *script, FILE *file)
{
    /* As perf has it: Firefox's importer knows the text by this line. */
    (void)fputs("# ========\n", file);
    for (size_t i = 0; i < script->profile->nr_dumps; i++) {
        const struct yarn_profile_dump *dump = &script->profile->dumps[i];
        char *line = yarn_command_line(dump->process.cmdline);
        (void)fputs("# dump: ", file);
        yarn_legible_print(dump->path, file);
        (void)fprintf(file, "\n# pid: %u\n# cmdline: ", dump->process.pid);
        yarn_legible_print(line ? line : "", file);
        (void)fputc('\n', file);
        yarn_command_line_free(line);
        for (size_t e = 0; e < dump->nr_events; e++) {
            const struct yarn_dump_event *event = &dump->events[e].record;
            char asked[256];
            (void)snprintf(asked, sizeof asked, "%.*s: %.*s", (int)event->name.size,
                           (const char *)event->name.data, (int)event->got.size,
                           (const char *)event->got.data);
            (void)fputs("# event: ", file);
            yarn_legible_print(asked, file);
            (void)fprintf(file, event->error ? " refused (%s)\n" : "\n",
                          strerror((int)event->error));
        }
    }
    (void)fputs("# ========\n#\n", file);
}

static void print_stream_entry(const struct yarn_script *script, struct yarn_stream *stream,
                               const struct yarn_entry *entry, FILE *file)
{
    bool is_own = yarn_stream_is_own(stream, entry->pid); /* else its process is not known */
    const struct beginning line = {
        .comm = yarn_stream_task(stream, entry),
        .pid = is_own ? yarn_stream_pid(stream) : (uint32_t)entry->pid,
        .tid = (uint32_t)entry->pid,
        .cpu = entry->cpu,
        .time_ns = entry->time_ns,
        .event = yarn_stream_event_name(stream, entry),
        .period = 1,
    };
    const char *info = yarn_stream_info(stream, entry);
    begin_line(script, &line, file);
    if (info && script->fields & 1u << YARN_SCRIPT_TRACE)
        yarn_legible_print(info, file);
    (void)fputc('\n', file);
}

static void print_streams(const struct yarn_script *script, const struct yarn_stream_view *shown,
                          const struct yarn_out *out)
{
    for (size_t i = 0; i < script->streams->count; i++) {
        size_t count;
        struct yarn_stream *stream = script->streams->list[i];
        const struct yarn_entry *entries = yarn_stream_entries(stream, &count);
        struct yarn_stream_choice choice = yarn_stream_choice_of(script->streams, shown, i);
        for (size_t e = 0; e < count && !ferror(out->file); e++)
            if (yarn_stream_choice_passes(&choice, &entries[e]))
                print_stream_entry(script, stream, &entries[e], out->file);
        yarn_stream_drop_pages(stream);
    }
}

static size_t first_at(const struct yarn_entry *entries, size_t count, uint64_t time_ns)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (entries[middle].time_ns < time_ns)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* A core has one event of a kind at a time. */
static const struct yarn_entry *find_target(const struct yarn_stream *stream,
                                            const struct yarn_timeline_entry *sample,
                                            const char *event)
{
    size_t count;
    int id;
    const struct yarn_entry *entries = yarn_stream_entries(stream, &count);
    if (yarn_stream_find_event(stream, event, &id))
        return NULL;
    for (size_t i = first_at(entries, count, sample->time_ns);
         i < count && entries[i].time_ns == sample->time_ns; i++) {
        const struct yarn_entry *origin = yarn_couplebreak_origin(&entries[i]);
        if (origin && origin->event_id == id && origin->cpu == sample->cpu)
            return &entries[i];
    }
    return NULL;
}

static void print_target(const struct yarn_script *script, const struct yarn_timeline_entry *sample,
                         FILE *file)
{
    const struct yarn_profile *profile = script->profile;
    struct yarn_stream *stream = yarn_stream_list_of_dump(script->streams, sample->dump);
    const char *event = yarn_profile_text(profile, profile->events[sample->event].name);
    const struct yarn_entry *target = stream ? find_target(stream, sample, event) : NULL;
    const struct yarn_stream_view shown = {.profile = profile, .filter = script->filter};
    if (!target || !yarn_stream_view_has_thread(&shown, stream, target) ||
        !yarn_filter_list_has(script->filter->lists[YARN_FILTER_EVENT],
                              yarn_stream_event_name(stream, target)))
        return;
    print_stream_entry(script, stream, target, file);
    (void)fputc('\n', file);
}

static bool passes(const struct printer *printer, const struct yarn_timeline_entry *entry)
{
    const struct yarn_choice *choice = printer->script->choice;
    if (entry->text) /* of the whole process where it is of no thread */
        return choice->has_records &&
               (entry->thread == YARN_DUMP_NONE || choice->threads[entry->thread]);
    return yarn_choice_has(choice, entry->event, entry->thread, entry->stack, entry->stack_end);
}

static int print_own(struct printer *printer, struct yarn_timeline_entry *entry)
{
    const struct yarn_script *script = printer->script;
    if (!passes(printer, entry) || (entry->text && script->is_samples_only))
        return 0;
    if (entry->thread != YARN_DUMP_NONE)
        entry->comm = yarn_profile_comm_at(script->profile, entry->thread, entry->time_ns);
    if (!entry->text)
        return print_sample(printer, entry);
    print_begin(script, entry, printer->file);
    yarn_legible_print(yarn_profile_text(script->profile, entry->text), printer->file);
    (void)fputc('\n', printer->file);
    return 0;
}

static int print_entry(struct printer *printer, struct yarn_timeline_entry *entry)
{
    int err = print_own(printer, entry);
    if (!err && printer->script->streams && !entry->text)
        print_target(printer->script, entry, printer->file);
    return err;
}

static int printer_init(struct printer *printer, const struct yarn_script *script, FILE *file)
{
    *printer = (struct printer){
        .script = script,
        .file = file,
        .lines = calloc(script->profile->nr_frames + 1, sizeof *printer->lines),
    };
    return printer->lines ? 0 : -ENOMEM;
}

static void printer_fini(struct printer *printer)
{
    for (size_t i = 0; i < printer->script->profile->nr_frames; i++)
        free(printer->lines[i].text);
    free(printer->lines);
}

static void drop_pages(const struct yarn_stream_list *streams)
{
    for (size_t i = 0; streams && i < streams->count; i++)
        yarn_stream_drop_pages(streams->list[i]);
}

static int print_timeline(const struct yarn_script *script, struct yarn_timeline *timeline,
                          const struct yarn_out *out)
{
    struct printer printer;
    struct yarn_timeline_entry entry;
    int err = printer_init(&printer, script, out->file);
    if (err)
        return err;
    if (!script->has_no_header)
        print_header(script, out->file);
    /* On a terminal the output itself shows the progress. */
    struct yarn_progress progress = yarn_progress_begin("printing");
    progress.is_on = progress.is_on && !out->is_terminal;
    uint64_t nr_printed = 0;
    int more = 1;
    /* Why until it fails: who has left the pager, or closed the pipe, wants no more of it. */
    while (!err && more > 0 && !ferror(out->file)) {
        more = yarn_sorter_next(&timeline->rows, &entry);
        if (more > 0)
            err = print_entry(&printer, &entry);
        yarn_progress_show(&progress, ++nr_printed, timeline->rows.nr_added);
        if (nr_printed % YARN_STREAM_DROP == 0)
            drop_pages(script->streams);
    }
    yarn_progress_end(&progress);
    printer_fini(&printer);
    return err ? err : more < 0 ? more : 0;
}

enum { FIELDS = YARN_ARGUMENT_OWN };

struct request {
    struct yarn_view view;
    struct yarn_script script;
    const char *couplebreak; /* NULL: off */
    struct yarn_stream_list streams;
};

static const struct yarn_argument arguments[] = {
    {"fields", 'F', "LIST",
     "comm, pid, tid, cpu, time, period, event, ip, sym, symoff, dso; +NAME, -NAME", FIELDS},
    {"samples", 0, NULL, "samples only: no other records",
     YARN_ARGUMENT_INTO(struct request, script.is_samples_only)},
    {"couplebreak", 0, "[=STREAM,...]",
     "behind switches and wakings their targets, of these pids or files",
     YARN_ARGUMENT_INTO(struct request, couplebreak)},
    {"no-header", 0, NULL, "without the lines that begin with #",
     YARN_ARGUMENT_INTO(struct request, script.has_no_header)},
    YARN_SELECT_ARGUMENTS,
    {"", 0, NULL, "Output:", 0},
    YARN_OUT_ARGUMENTS,
    {0},
};

static int take(void *self, int id, const char *value, const char **ret_right)
{
    struct request *request = self;
    switch (id) {
    case FIELDS:
        *ret_right =
            "a comma-separated list of comm, pid, tid, cpu, time, period, event, ip, sym, symoff, "
            "dso (or each with + or - before it)";
        return parse_fields(value, &request->script.fields);
    default:
        return yarn_view_take(&request->view, id, value, ret_right);
    }
}

static int show(struct request *request, struct yarn_timeline *timeline)
{
    struct yarn_script *script = &request->script;
    int err = yarn_timeline_sort(timeline);
    if (err) {
        yarn_complain("script", "%s", yarn_memory_why(err));
        return YARN_STATUS_FAILED;
    }
    int status = yarn_out_open(&request->view.out, "script");
    if (status >= 0)
        return status;
    err = print_timeline(script, timeline, &request->view.out);
    return yarn_out_finish(&request->view.out, "script", err);
}

/* An exit status, or -1. */
static int couplebreak(struct request *request)
{
    if (!request->couplebreak)
        return -1;
    request->script.streams = &request->streams;
    return yarn_stream_list_couplebreak(&request->streams, "script", request->couplebreak);
}

static int run_dumps(struct request *request, char *const *paths)
{
    struct yarn_timeline timeline = {.rows = {.most = YARN_SORTER_MOST}};
    struct yarn_load_options options = {.timeline = &timeline,
                                        .has_scheduling = true,
                                        .streams = request->couplebreak ? &request->streams : NULL};
    struct yarn_profile profile;
    int status =
        yarn_select_load_view("script", &request->view.select, 0, paths, &options, &profile);
    if (status < 0) {
        request->script.profile = &profile;
        request->script.choice = &request->view.select.choices[0];
        struct yarn_filter known = request->view.select.filter;
        if (request->couplebreak) /* whose targets have events that no dump knows */
            known.lists[YARN_FILTER_EVENT] = NULL;
        status = couplebreak(request);
        if (status < 0)
            status = yarn_select_choose_records("script", &request->view.select, &known, &profile);
        if (status < 0)
            status = show(request, &timeline);
        yarn_profile_fini(&profile);
    }
    yarn_sorter_fini(&timeline.rows);
    return status;
}

static int run_traces(struct request *request, char *const *paths)
{
    struct yarn_script *script = &request->script;
    struct yarn_stream_view shown = {.filter = script->filter, .time = request->view.select.time};
    int status = -1;
    if (yarn_filter_is_by_function(script->filter)) {
        yarn_complain("script", "a trace.dat has neither modules nor functions");
        return YARN_STATUS_USAGE;
    }
    for (; status < 0 && *paths; paths++)
        status = yarn_stream_list_add(&request->streams, "script", *paths);
    if (status < 0 && request->couplebreak)
        status = yarn_stream_list_couplebreak(&request->streams, "script", request->couplebreak);
    if (status < 0)
        status = yarn_out_open(&request->view.out, "script");
    if (status >= 0)
        return status;
    script->streams = &request->streams;
    print_streams(script, &shown, &request->view.out);
    return yarn_out_finish(&request->view.out, "script", 0);
}

static int run(void *self, char **operands)
{
    struct request *request = self;
    bool is_trace;
    request->script.filter = &request->view.select.filter;
    int status = yarn_stream_list_kind("script", operands, &is_trace);
    if (status >= 0)
        return status;
    return is_trace ? run_traces(request, operands) : run_dumps(request, operands);
}

static void fini(void *self)
{
    struct request *request = self;
    yarn_stream_list_fini(&request->streams);
    yarn_select_fini(&request->view.select);
}

const struct yarn_command yarn_verb_script = {
    .verb = "script",
    .operands = "FILE...",
    .about = "Prints every record as text in time order, in the layout of perf script.",
    .arguments = arguments,
    .take = take,
    .initial = &(const struct request){.view = YARN_VIEW_EMPTY,
                                       .script = {.fields = YARN_SCRIPT_FIELDS_DEFAULT}},
    .request_bytes = sizeof(struct request),
    .run = run,
    .fini = fini,
};
