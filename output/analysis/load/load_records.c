/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/text.h"
#include "output/analysis/load/load_sched.h"
#include "output/analysis/load/loader.h"
#include "output/analysis/load/raw_threads.h"
#include "output/analysis/value/name.h"
#include "output/base/array.h"
#include "output/base/program.h"

enum {
    LEGIBLE_MAX = 4, /* bytes that a byte may become */
    BUILD_ID_MAX = 64,
    LINE_MAX = 1024,
    NO_PROFILE = YARN_DUMP_EVENT_IS_COUNTED | YARN_DUMP_EVENT_IS_SCHEDULING,
};

int yarn_loader_note(struct yarn_loader *loader, uint64_t time_ns, uint32_t thread, uint32_t cpu,
                     const char *format, ...)
{
    struct yarn_profile_dump *dump = yarn_loader_dump(loader);
    dump->last_ns = yarn_u64_max(dump->last_ns, time_ns);
    if (!loader->options->timeline || time_ns < loader->from_ns || time_ns > loader->to_ns)
        return 0;

    char line[LINE_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    struct yarn_timeline_entry entry = {
        .time_ns = time_ns,
        .stack = YARN_DUMP_NONE,
        .thread = thread,
        .comm = thread == YARN_DUMP_NONE ? dump->comm : loader->profile->threads[thread].comm,
        .dump = loader->dump,
        .cpu = (uint16_t)cpu,
    };
    int err = yarn_strings_intern(&loader->profile->strings, yarn_span_of_text(line), &entry.text);
    return err ? err : yarn_timeline_add(loader->options->timeline, &entry);
}

/* The bytes of a record are gone after the visit; what is kept is legible. */
static int keep(struct yarn_loader *loader, struct yarn_span *span)
{
    return yarn_strings_legible(&loader->profile->strings, *span, span);
}

/* As they are. */
static int keep_bytes(struct yarn_loader *loader, struct yarn_span *span)
{
    char *kept = yarn_strings_keep(&loader->profile->strings, *span);
    if (!kept)
        return -ENOMEM;
    *span = yarn_span_of(kept, span->size);
    return 0;
}

/* Texts separated by NULs: what is not printable in them is escaped. */
static int keep_list(struct yarn_loader *loader, struct yarn_span *list)
{
    size_t size = 0;
    char *kept = malloc(LEGIBLE_MAX * list->size + 1);
    int err = kept ? 0 : -ENOMEM;
    for (size_t at = 0; !err && at < list->size; at++) {
        struct yarn_span rest = yarn_span_from(*list, at);
        const uint8_t *nul = memchr(rest.data, 0, rest.size);
        struct yarn_span item = yarn_span_sub(rest, 0, nul ? (size_t)(nul - rest.data) : rest.size);
        at += item.size;
        err = keep(loader, &item);
        if (!err && item.size)
            memcpy(kept + size, item.data, item.size);
        size += err ? 0 : item.size;
        if (nul && !err)
            kept[size++] = 0;
    }
    *list = yarn_span_of(kept, size);
    if (!err)
        err = keep_bytes(loader, list);
    free(kept);
    return err;
}

/* Of a record, which is the loader's copy. */
static int keep_texts(struct yarn_loader *loader, enum yarn_dump_record record, void *thing)
{
    struct yarn_span texts[YARN_DUMP_TEXTS_MAX];
    size_t count = yarn_dump_fields_texts(record, thing, texts);
    int err = 0;
    for (size_t i = 0; !err && i < count; i++)
        err = keep(loader, &texts[i]);
    yarn_dump_fields_set_texts(record, thing, texts);
    return err;
}

int yarn_loader_keep(struct yarn_loader *loader, enum yarn_dump_record record, void *thing)
{
    struct yarn_profile_dump *dump = yarn_loader_dump(loader);
    int err = 0;
    switch (record) {
#define YARN_KEPT_LAST(NAME, name)                                                                 \
    case YARN_DUMP_RECORD_##NAME:                                                                  \
        err = keep_texts(loader, record, thing);                                                   \
        dump->name = *(struct yarn_dump_##name *)thing;                                            \
        dump->has_##name = true;                                                                   \
        return err;
#define YARN_KEPT_EACH(NAME, name, names)                                                          \
    case YARN_DUMP_RECORD_##NAME:                                                                  \
        err = keep_texts(loader, record, thing);                                                   \
        return err ? err                                                                           \
                   : YARN_ARRAY_PUT(&dump->names, &dump->nr_##names, &dump->names##_capacity,      \
                                    (struct yarn_dump_##name *)thing);
#include "output/dump/format.def"
    default:
        return 0;
    }
}

int yarn_loader_show(struct yarn_loader *loader, enum yarn_dump_record record, const void *thing,
                     const struct yarn_dump_shown_at *at)
{
    char line[LINE_MAX];
    uint32_t thread = YARN_DUMP_NONE;
    struct yarn_byte_buffer bytes = yarn_bytes_of(line, sizeof line);
    yarn_dump_show(&bytes, record, thing);
    struct yarn_span text = yarn_bytes_span(&bytes);
    int err = loader->options->timeline ? keep(loader, &text) : 0;
    if (!err && at->tid != YARN_DUMP_NONE && at->tid)
        err = yarn_loader_thread(loader, at->tid, &thread);
    if (err)
        return err;
    return yarn_loader_note(loader, at->time_ns, thread, at->cpu, "%.*s", (int)text.size,
                            (const char *)text.data);
}

/* Nothing has been read of the process yet. */
static bool is_blank(const struct yarn_loader *loader)
{
    const struct yarn_profile_dump *dump = &loader->profile->dumps[loader->dump];
    return !dump->has_process && !dump->last_ns && !dump->nr_events && !dump->nr_modules &&
           !dump->nr_options && !dump->nr_froms &&
           loader->profile->nr_threads == loader->first_thread;
}

/* The arguments with blanks between them; the program's name where it has none. */
static int keep_command(struct yarn_strings *strings, struct yarn_span cmdline, const char *program,
                        uint32_t *ret_command)
{
    size_t size = cmdline.size;
    while (size && !cmdline.data[size - 1])
        size--;
    if (!size)
        return yarn_strings_intern(strings, yarn_span_of_text(program), ret_command);
    char *text = malloc(size + 1);
    if (!text)
        return -ENOMEM;
    for (size_t i = 0; i < size; i++)
        text[i] = cmdline.data[i] ? (char)cmdline.data[i] : ' ';
    int err = yarn_strings_intern(strings, yarn_span_of(text, size), ret_command);
    free(text);
    return err;
}

static int name_process(struct yarn_strings *strings, struct yarn_profile_dump *dump)
{
    const struct yarn_dump_process *process = &dump->process;
    const char *exe = yarn_path_base((const char *)process->exe.data);
    const char *first = process->cmdline.size ? (const char *)process->cmdline.data : "";
    const char *program =
        process->name.size ? (const char *)process->name.data : yarn_program_name(first, exe);
    int err = yarn_strings_intern(strings, yarn_span_of_text(exe), &dump->comm);
    if (!err)
        err = yarn_strings_intern(strings, yarn_span_of_text(program), &dump->program);
    if (!err)
        err = yarn_strings_intern(strings, process->host, &dump->host);
    if (!err)
        err = yarn_strings_intern(
            strings, process->rank.size ? process->rank : yarn_span_of_text("-"), &dump->rank);
    return err ? err : keep_command(strings, process->cmdline, program, &dump->command);
}

static int on_process(void *self, const struct yarn_dump_process *record)
{
    struct yarn_loader *loader = self;
    /* Why: a merged dump holds one process after the other, and a record may be lost. */
    if (!is_blank(loader)) {
        int ended = yarn_loader_end_dump(loader);
        if (ended)
            return ended;
        ended = yarn_loader_begin_dump(loader);
        if (ended)
            return ended;
    }
    struct yarn_profile_dump *dump = yarn_loader_dump(loader);
    dump->process = *record;
    dump->has_process = record->pid != 0;
    yarn_loader_set_time(loader);
    dump->process.cmdline = YARN_SPAN_EMPTY;
    int err = keep_texts(loader, YARN_DUMP_RECORD_PROCESS, &dump->process);
    dump->process.cmdline = record->cmdline;
    if (!err)
        err = keep_list(loader, &dump->process.cmdline);
    if (err)
        return err;
    return name_process(&loader->profile->strings, dump);
}

static int note_own(struct yarn_loader *loader, uint32_t raw_pid)
{
    struct yarn_profile *profile = loader->profile;
    int err = yarn_raw_threads_note_own(&loader->raw_comms, &profile->strings, raw_pid);
    return err ? err : yarn_raw_threads_note_own(&profile->raw_comms, &profile->strings, raw_pid);
}

static int on_sampler(void *self, const struct yarn_dump_sampler *record)
{
    return record->own_tid ? note_own(self, record->own_tid) : 0;
}

static int on_switches(void *self, const struct yarn_dump_switches *record)
{
    struct yarn_profile_dump *dump = yarn_loader_dump(self);
    int err = yarn_loader_sched_switches(self, record);
    if (record->is_on && dump->switches_off_ns)
        dump->switches_cut_ns += yarn_u64_minus(record->time_ns, dump->switches_off_ns);
    dump->switches_off_ns = record->is_on ? 0 : record->time_ns;
    return err;
}

/* An event that is defined again is the same one, defined anew. */
static int room_for_event(struct yarn_profile_dump *dump, uint32_t number)
{
    if (number >= UINT16_MAX)
        return -E2BIG;
    if (YARN_ARRAY_RESERVE(&dump->events, &dump->events_capacity, (size_t)number + 1))
        return -ENOMEM;
    while (dump->nr_events <= number)
        dump->events[dump->nr_events++] = (struct yarn_profile_dump_event){0};
    return 0;
}

static int on_event(void *self, const struct yarn_dump_event *record)
{
    struct yarn_loader *loader = self;
    struct yarn_profile *profile = loader->profile;
    struct yarn_profile_dump *dump = yarn_loader_dump(loader);
    int err = room_for_event(dump, record->number);
    if (err)
        return err;
    struct yarn_profile_dump_event *event = &dump->events[record->number];
    event->record = *record;
    free(event->fields);
    event->fields = NULL;
    event->record.format = YARN_SPAN_EMPTY; /* which is no text to be shown */
    err = keep_texts(loader, YARN_DUMP_RECORD_EVENT, &event->record);
    event->record.format = record->format;
    if (!err)
        err = keep_bytes(loader, &event->record.format);
    if (!err)
        err = yarn_loader_find_event(loader, &event->record, &event->event);
    if (err)
        return err;
    struct yarn_profile_event *shared = &profile->events[event->event];
    if (!shared->was_opened && !(record->flags & NO_PROFILE)) {
        shared->flags = record->flags;
        shared->period = record->period;
        shared->frequency = record->frequency;
        shared->was_opened = !record->error;
    }
    return 0;
}

static int on_alternate(void *self, const struct yarn_dump_event *record)
{
    struct yarn_profile_dump *dump = yarn_loader_dump(self);
    if (record->alternate_of <= dump->nr_events)
        dump->events[record->alternate_of - 1].alternate_period = record->period;
    return 0;
}

static int on_count(void *self, const struct yarn_dump_count *record)
{
    struct yarn_loader *loader = self;
    struct yarn_profile_dump *dump = yarn_loader_dump(loader);
    dump->last_ns = yarn_u64_max(dump->last_ns, record->time_ns);
    if (record->event >= dump->nr_events)
        return 0;
    dump->events[record->event].count = *record;
    dump->events[record->event].has_count = true;
    if (!loader->options->has_counts)
        return 0;
    return YARN_ARRAY_PUT(&dump->counts, &dump->nr_counts, &dump->counts_capacity, record);
}

static enum yarn_loader_build note_build(const struct yarn_dump_module *kept,
                                         struct yarn_profile_module *module)
{
    if (!kept->build_id.size)
        return YARN_LOADER_BUILD_UNKNOWN;
    if (!module->build_id.size)
        module->build_id = kept->build_id;
    return yarn_span_equal(kept->build_id, module->build_id) ? YARN_LOADER_BUILD_FIRST
                                                             : YARN_LOADER_BUILD_OTHER;
}

static int on_module(void *self, const struct yarn_dump_module *record)
{
    struct yarn_loader *loader = self;
    struct yarn_profile_dump *dump = yarn_loader_dump(loader);
    struct yarn_loader_module module = {.at = (uint32_t)dump->nr_modules + 1};
    int err = yarn_profile_module(loader->profile, record->path, &module.module);
    if (!err)
        err = yarn_loader_note_lines(loader, record, &module.lines);
    if (err)
        return err;
    if (YARN_ARRAY_RESERVE(&dump->modules, &dump->modules_capacity, dump->nr_modules + 1) ||
        YARN_ARRAY_EXTEND(&loader->modules, &loader->nr_modules, &loader->modules_capacity,
                          record->number))
        return -ENOMEM;
    struct yarn_dump_module *kept = &dump->modules[dump->nr_modules++];
    *kept = *record;
    err = keep(loader, &kept->path);
    kept->build_id =
        yarn_span_sub(kept->build_id, 0, yarn_size_min(kept->build_id.size, BUILD_ID_MAX));
    if (!err)
        err = keep_bytes(loader, &kept->build_id);
    if (err)
        return err;
    module.build = note_build(kept, &loader->profile->modules[module.module]);
    loader->modules[record->number] = module;
    uint32_t pid = dump->process.pid;
    return yarn_loader_note(
        loader, record->time_ns, YARN_DUMP_NONE, YARN_DUMP_NONE,
        "PERF_RECORD_MMAP2 %u/%u: [0x%" PRIx64 "(0x%" PRIx64 ") @ 0x%" PRIx64 "]: r-xp %s", pid,
        pid, record->start, record->end - record->start, record->file_offset,
        yarn_profile_text(loader->profile, loader->profile->modules[module.module].path));
}

static int on_lost(void *self, const struct yarn_dump_lost *record)
{
    struct yarn_loader *loader = self;
    uint64_t *lost = &yarn_loader_dump(loader)->trust.lost_records;
    *lost = yarn_u64_min(*lost + record->count, UINT64_C(1) << 61);
    return yarn_loader_sched_lost(loader, record);
}

static int on_totals(void *self, const struct yarn_dump_totals *record)
{
    struct yarn_loader *loader = self;
    struct yarn_trust *trust = &yarn_loader_dump(loader)->trust;
    trust->stored = *record;
    trust->has_stored = true;
    yarn_loader_dump(loader)->has_end = false; /* each flush has totals: the end was taken back */
    return yarn_loader_note(loader, record->time_ns, YARN_DUMP_NONE, YARN_DUMP_NONE,
                            "YARN_totals samples %" PRIu64 " lost %" PRIu64 " truncated %" PRIu64
                            " bytes_written %" PRIu64,
                            record->value[YARN_DUMP_TOTAL_SAMPLES],
                            record->value[YARN_DUMP_TOTAL_LOST],
                            record->value[YARN_DUMP_TOTAL_STACKS_TRUNCATED],
                            record->value[YARN_DUMP_TOTAL_BYTES_WRITTEN]);
}

static int on_tree_program(void *self, const struct yarn_dump_tree_program *record)
{
    struct yarn_loader *loader = self;
    struct yarn_profile_dump *dump = yarn_loader_dump(loader);
    struct yarn_dump_tree_program kept = *record;
    int err = keep(loader, &kept.program);
    if (err)
        return err;
    for (size_t i = 0; i < dump->nr_tree_programs; i++)
        if (yarn_span_equal(dump->tree_programs[i].program, kept.program)) {
            dump->tree_programs[i] = kept;
            return 0;
        }
    return YARN_ARRAY_PUT(&dump->tree_programs, &dump->nr_tree_programs,
                          &dump->tree_programs_capacity, &kept);
}

static int on_chunk(void *self, uint64_t offset)
{
    struct yarn_loader *loader = self;
    const struct yarn_load_options *options = loader->options;
    if (options->show_progress)
        options->show_progress(options->progress_self, loader->reached.done + offset,
                               loader->reached.all);
    return 0;
}

const struct yarn_dump_visitor yarn_loader_visitor = {
    .process = on_process,
    .sampler = on_sampler,
    .switches = on_switches,
    .event = on_event,
    .alternate = on_alternate,
    .count = on_count,
    .thread = yarn_loader_on_thread,
    .thread_name = yarn_loader_on_thread_name,
    .thread_end = yarn_loader_on_thread_end,
    .module = on_module,
    .symbol = yarn_loader_on_symbol,
    .frame = yarn_loader_on_frame,
    .stack = yarn_loader_on_stack,
    .code_name = yarn_loader_on_code_name,
    .samples = yarn_loader_on_samples,
    .lost = on_lost,
    .totals = on_totals,
    .tree_program = on_tree_program,
    .runs = yarn_loader_on_runs,
    .branches = yarn_loader_on_branches,
    .thread_times = yarn_loader_on_thread_times,
    .chunk = on_chunk,
    .reset = yarn_loader_on_reset,
};
