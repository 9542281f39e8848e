/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <sys/mman.h>

#include "output/export/export.h"
#include "output/export/mappings.h"
#include "output/export/perf_file.h"
#include "output/export/samples.h"

/*
 * A perf.data file whose records are made up from the profile: names of threads, mappings, samples
 * with their call chains. perf finds symbols by itself, so code must lie in mappings; these
 * get new addresses, the same in all processes, so that unmapped ones do not overlap others, and
 * far enough apart for the whole file, which hotspot places around its code. Programs that must run
 * at their linked address stay there, and generated code where it was, for perf's own map files.
 * What stands for something missing is a mapping of its name. Names of generated code and inlined
 * functions have no place in this format.
 */

#define FIRST_ADDRESS UINT64_C(0x100000000000)
#define SLOT_BYTES (UINT64_C(1) << 30) /* for a module's file, or as many times as it needs */
#define LINKED_MAX (UINT64_C(1) << 40) /* no file is linked at more */
enum { PAGE = 4096, BUILD_ID_SIZE = 20, RECORD_BUILD_ID = 67, KIND_ANONYMOUS = 2 };
enum { MISC_COMM_EXEC = 1 << 13, MISC_BUILD_ID_SIZE = 1 << 15 };

static const uint32_t features[] = {
    YARN_PERF_BUILD_ID, YARN_PERF_HOSTNAME, YARN_PERF_OSRELEASE,  YARN_PERF_VERSION,
    YARN_PERF_ARCH,     YARN_PERF_NRCPUS,   YARN_PERF_EVENT_DESC,
};

struct perf_data {
    const struct yarn_export *export;
    struct yarn_perf_file file;
    struct yarn_export_mappings mappings;
    uint64_t *bases; /* owned; of each mapping, and behind them the pseudo-functions */
    uint32_t *comms; /* owned; of each thread: the name that was written last; 0: none */
    uint8_t *dumps;  /* owned; a byte each, 1: begun */
    struct perf_event_attr *attrs; /* owned */
    uint64_t *ids;                 /* owned; of each event of the profile */
    uint32_t *events;              /* owned; of each attribute */
    size_t nr_attrs;
    bool has_kernel;
};

/* Events that perf cannot open without the machine that they were recorded on have only their
 * names. */
static bool is_plain(uint32_t type)
{
    return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_SOFTWARE || type == PERF_TYPE_HW_CACHE ||
           type == PERF_TYPE_RAW;
}

static struct perf_event_attr attr_of(const struct yarn_profile *profile, uint32_t number)
{
    const struct yarn_profile_event *event = &profile->events[number];
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_DUMMY,
        .size = sizeof attr,
        .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
                       PERF_SAMPLE_CALLCHAIN,
        .exclude_kernel = (event->flags & YARN_DUMP_EVENT_EXCLUDES_KERNEL) != 0,
        .mmap = 1,
        .mmap2 = 1,
        .comm = 1,
        .comm_exec = 1,
        .task = 1,
        .sample_id_all = 1,
        .exclude_hv = 1,
    };
    attr.freq = event->frequency != 0;
    attr.sample_period = event->frequency ? event->frequency : event->period;
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        for (size_t e = 0; e < profile->dumps[i].nr_events; e++) {
            const struct yarn_profile_dump_event *one = &profile->dumps[i].events[e];
            if (one->event != number || one->record.error || !is_plain(one->record.type))
                continue;
            attr.type = one->record.type;
            attr.config = one->record.config;
            return attr;
        }
    }
    return attr;
}

/* Why one even where none has samples: a file without an event is none for perf. */
static int choose_events(struct perf_data *perf)
{
    const struct yarn_profile *profile = perf->export->profile;
    struct yarn_sum *totals = yarn_export_totals(perf->export);
    if (!totals)
        return -ENOMEM;
    for (uint32_t i = 0; i < profile->nr_events; i++) {
        bool is_last_chance = i + 1 == profile->nr_events && !perf->nr_attrs;
        if (!totals[i].samples && !is_last_chance)
            continue;
        perf->attrs[perf->nr_attrs] = attr_of(profile, i);
        perf->events[perf->nr_attrs++] = i;
        perf->ids[i] = perf->nr_attrs;
    }
    free(totals);
    return 0;
}

/* Another piece of the same file, which is laid out already; `i`: none. */
static size_t same_file(const struct perf_data *perf, size_t i)
{
    const struct yarn_export_mapping *list = perf->mappings.list;
    size_t other = 0;
    while (other < i && (list[other].module != list[i].module ||
                         !yarn_span_equal(list[other].build_id, list[i].build_id)))
        other++;
    return other;
}

static uint64_t lay_out_one(struct perf_data *perf, size_t i, uint64_t next)
{
    const struct yarn_export_mapping *mapping = &perf->mappings.list[i];
    size_t other = same_file(perf, i);
    if (mapping->kind == KIND_ANONYMOUS || mapping->is_fixed) {
        perf->bases[i] = mapping->start;
    } else if (mapping->end > LINKED_MAX) {
        perf->bases[i] = next;
        next += yarn_align_up(mapping->end - mapping->start + 1, SLOT_BYTES);
    } else if (other < i) {
        perf->bases[i] = perf->bases[other] - perf->mappings.list[other].start + mapping->start;
    } else {
        perf->bases[i] = next + mapping->start;
        next += yarn_align_up(mapping->end + 1, SLOT_BYTES) + SLOT_BYTES;
    }
    return next;
}

static void lay_out(struct perf_data *perf)
{
    const struct yarn_profile *profile = perf->export->profile;
    uint64_t next = FIRST_ADDRESS;
    for (size_t i = 0; i < perf->mappings.count; i++)
        next = lay_out_one(perf, i, next);
    for (size_t i = 0; i < YARN_FUNCTION_PSEUDO_COUNT; i++)
        perf->bases[perf->mappings.count + i] = next + 2 * i * PAGE;
    for (size_t i = 0; i < profile->nr_frames; i++)
        perf->has_kernel |= perf->mappings.homes[i].dump != YARN_DUMP_NONE &&
                            profile->frames[i].flags & YARN_DUMP_FRAME_KERNEL;
}

/* The tail of each record but samples: who, when, where, and an event. */
static void add_identity(struct perf_data *perf, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
    yarn_perf_add_u32(&perf->file, pid);
    yarn_perf_add_u32(&perf->file, tid);
    yarn_perf_add_u64(&perf->file, time_ns);
    yarn_perf_add_u64(&perf->file, 0);
    yarn_perf_add_u64(&perf->file, 1);
}

static void put_mmap(struct perf_data *perf, uint32_t pid, uint64_t time_ns, uint64_t start,
                     uint64_t size, uint64_t file_offset, const char *path, uint16_t misc)
{
    uint64_t nothing[3] = {0};
    yarn_perf_begin_record(&perf->file, PERF_RECORD_MMAP2, misc);
    yarn_perf_add_u32(&perf->file, pid);
    yarn_perf_add_u32(&perf->file, pid == UINT32_MAX ? 0 : pid);
    yarn_perf_add_u64(&perf->file, start);
    yarn_perf_add_u64(&perf->file, size);
    yarn_perf_add_u64(&perf->file, file_offset);
    yarn_perf_add(&perf->file, nothing, sizeof nothing);
    yarn_perf_add_u32(&perf->file, PROT_READ | PROT_EXEC);
    yarn_perf_add_u32(&perf->file, MAP_PRIVATE);
    yarn_perf_add_text(&perf->file, yarn_span_of_text(path), 8);
    add_identity(perf, pid, pid, time_ns);
    yarn_perf_end_record(&perf->file);
}

static void put_comm(struct perf_data *perf, uint32_t pid, uint32_t tid, uint64_t time_ns,
                     uint32_t comm, uint16_t misc)
{
    const char *text = yarn_profile_text(perf->export->profile, comm);
    yarn_perf_begin_record(&perf->file, PERF_RECORD_COMM, misc);
    yarn_perf_add_u32(&perf->file, pid);
    yarn_perf_add_u32(&perf->file, tid);
    yarn_perf_add_text(&perf->file, yarn_span_of_text(text), 8);
    add_identity(perf, pid, tid, time_ns);
    yarn_perf_end_record(&perf->file);
}

/* The kernel's map, as perf wants to have it; its symbols are those of the reading machine.
 */
static void put_kernel(struct perf_data *perf, uint64_t time_ns)
{
    const uint64_t start = UINT64_C(0xffffffff80000000);
    if (perf->has_kernel)
        put_mmap(perf, UINT32_MAX, time_ns, start, UINT64_MAX - start, 0, "[kernel.kallsyms]_text",
                 PERF_RECORD_MISC_KERNEL);
}

static bool has_module(const struct yarn_profile_dump *dump, const char *path)
{
    for (size_t i = 0; i < dump->nr_modules; i++) {
        if (yarn_span_equal(dump->modules[i].path, yarn_span_of_text(path)))
            return true;
    }
    return false;
}

/* At the first sample of a dump; a pid that had another image before drops its mappings. */
static void begin_dump(struct perf_data *perf, uint32_t number, uint64_t time_ns)
{
    const struct yarn_profile *profile = perf->export->profile;
    const struct yarn_profile_dump *dump = &profile->dumps[number];
    uint32_t pid = dump->process.pid;
    perf->dumps[number] = 1;
    put_comm(perf, pid, pid, time_ns, dump->program, MISC_COMM_EXEC);
    for (size_t i = 0; i < perf->mappings.count; i++) {
        const struct yarn_export_mapping *mapping = &perf->mappings.list[i];
        bool is_generated = mapping->kind == KIND_ANONYMOUS;
        const char *path = yarn_profile_text(profile, profile->modules[mapping->module].path);
        if (mapping->is_fixed && !has_module(dump, path))
            continue;
        put_mmap(perf, pid, time_ns, perf->bases[i], mapping->end - mapping->start,
                 is_generated ? 0 : mapping->file_offset, is_generated ? "//anon" : path,
                 PERF_RECORD_MISC_USER);
    }
    for (uint32_t i = 0; i < YARN_FUNCTION_PSEUDO_COUNT; i++)
        put_mmap(perf, pid, time_ns, perf->bases[perf->mappings.count + i], PAGE, 0,
                 yarn_profile_text(profile, profile->functions[i].name), PERF_RECORD_MISC_USER);
}

static uint64_t address_of_frame(const struct perf_data *perf, uint32_t frame)
{
    uint64_t address = perf->export->profile->frames[frame].address;
    uint32_t mapping = perf->mappings.homes[frame].mapping;
    if (mapping == YARN_DUMP_NONE)
        return address;
    return perf->bases[mapping] + address - perf->mappings.list[mapping].start;
}

static uint64_t address_of_pseudo(const struct perf_data *perf, uint32_t function)
{
    return perf->bases[perf->mappings.count + function];
}

enum { CHAIN_MAX = 4096 }; /* what a record has room for, with the marks between the modes */

/* Innermost first, with marks where the mode changes; the number of entries. */
static size_t make_chain(const struct perf_data *perf, const struct yarn_export_sample *sample,
                         uint64_t chain[CHAIN_MAX])
{
    const struct yarn_profile *profile = perf->export->profile;
    uint64_t mode = 0;
    size_t count = 0;
    for (uint32_t stack = sample->stack; stack != YARN_DUMP_NONE && count + 3 < CHAIN_MAX;
         stack = profile->stacks[stack].parent) {
        uint32_t frame = profile->stacks[stack].frame;
        bool is_kernel = profile->frames[frame].flags & YARN_DUMP_FRAME_KERNEL;
        uint64_t now = is_kernel ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER;
        if (now != mode)
            chain[count++] = mode = now;
        chain[count++] = address_of_frame(perf, frame);
    }
    if (sample->root == YARN_DUMP_NONE)
        return count;
    if (mode != PERF_CONTEXT_USER)
        chain[count++] = PERF_CONTEXT_USER;
    chain[count++] = address_of_pseudo(perf, sample->root);
    return count;
}

static void put_sample(struct perf_data *perf, const struct yarn_export_sample *sample)
{
    const struct yarn_profile *profile = perf->export->profile;
    uint64_t chain[CHAIN_MAX];
    size_t nr_chain = make_chain(perf, sample, chain);
    bool is_kernel = nr_chain && chain[0] == PERF_CONTEXT_KERNEL;
    yarn_perf_begin_record(&perf->file, PERF_RECORD_SAMPLE,
                           is_kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER);
    yarn_perf_add_u64(&perf->file, perf->ids[sample->event]);
    yarn_perf_add_u64(&perf->file, nr_chain > 1 ? chain[1] : 0);
    yarn_perf_add_u32(&perf->file, profile->dumps[sample->dump].process.pid);
    yarn_perf_add_u32(&perf->file, profile->threads[sample->thread].tid);
    yarn_perf_add_u64(&perf->file, sample->time_ns);
    yarn_perf_add_u32(&perf->file, sample->cpu);
    yarn_perf_add_u32(&perf->file, 0);
    yarn_perf_add_u64(&perf->file, sample->weight);
    yarn_perf_add_u64(&perf->file, nr_chain);
    yarn_perf_add(&perf->file, chain, nr_chain * sizeof *chain);
    yarn_perf_end_record(&perf->file);
}

static void put_records(struct perf_data *perf)
{
    const struct yarn_profile *profile = perf->export->profile;
    struct yarn_export_samples samples = YARN_EXPORT_SAMPLES(perf->export);
    struct yarn_export_sample sample;
    put_kernel(perf, profile->start_ns);
    while (!perf->file.err && yarn_export_next(&samples, &sample)) {
        uint32_t pid = profile->dumps[sample.dump].process.pid;
        if (!perf->dumps[sample.dump])
            begin_dump(perf, sample.dump, sample.time_ns);
        if (perf->comms[sample.thread] != sample.comm)
            put_comm(perf, pid, profile->threads[sample.thread].tid, sample.time_ns, sample.comm,
                     0);
        perf->comms[sample.thread] = sample.comm;
        put_sample(perf, &sample);
    }
}

static void put_build_ids(struct perf_data *perf)
{
    const struct yarn_profile *profile = perf->export->profile;
    yarn_perf_begin_feature(&perf->file, YARN_PERF_BUILD_ID);
    for (size_t i = 0; i < perf->mappings.count; i++) {
        const struct yarn_export_mapping *mapping = &perf->mappings.list[i];
        uint8_t build_id[BUILD_ID_SIZE + 4] = {0};
        size_t size = yarn_size_min(mapping->build_id.size, BUILD_ID_SIZE);
        if (!size)
            continue;
        memcpy(build_id, mapping->build_id.data, size);
        build_id[BUILD_ID_SIZE] = (uint8_t)size;
        const char *path = yarn_profile_text(profile, profile->modules[mapping->module].path);
        yarn_perf_begin_record(&perf->file, RECORD_BUILD_ID,
                               PERF_RECORD_MISC_USER | MISC_BUILD_ID_SIZE);
        yarn_perf_add_u32(&perf->file, UINT32_MAX); /* of any process */
        yarn_perf_add(&perf->file, build_id, sizeof build_id);
        yarn_perf_add_text(&perf->file, yarn_span_of_text(path), 64);
        yarn_perf_end_record(&perf->file);
    }
    yarn_perf_end_feature(&perf->file);
}

static void put_text_feature(struct perf_data *perf, uint32_t feature, struct yarn_span text)
{
    yarn_perf_begin_feature(&perf->file, feature);
    yarn_perf_put_text(&perf->file, text);
    yarn_perf_end_feature(&perf->file);
}

static void put_event_names(struct perf_data *perf)
{
    const struct yarn_profile *profile = perf->export->profile;
    yarn_perf_begin_feature(&perf->file, YARN_PERF_EVENT_DESC);
    yarn_perf_put_u32(&perf->file, (uint32_t)perf->nr_attrs);
    yarn_perf_put_u32(&perf->file, sizeof perf->attrs[0]);
    for (size_t i = 0; i < perf->nr_attrs; i++) {
        uint64_t id = i + 1;
        const char *name = yarn_profile_text(profile, profile->events[perf->events[i]].name);
        yarn_perf_put(&perf->file, &perf->attrs[i], sizeof perf->attrs[i]);
        yarn_perf_put_u32(&perf->file, 1);
        yarn_perf_put_text(&perf->file, yarn_span_of_text(name));
        yarn_perf_put(&perf->file, &id, sizeof id);
    }
    yarn_perf_end_feature(&perf->file);
}

/* In the order of their numbers. */
static void put_features(struct perf_data *perf)
{
    static const struct yarn_dump_process unknown = {0};
    const struct yarn_profile *profile = perf->export->profile;
    const struct yarn_dump_process *process =
        profile->nr_dumps ? &profile->dumps[0].process : &unknown;
    char version[64];
    (void)snprintf(version, sizeof version, "yarn %s", perf->export->version);
    put_build_ids(perf);
    put_text_feature(perf, YARN_PERF_HOSTNAME, process->host);
    put_text_feature(perf, YARN_PERF_OSRELEASE, process->kernel);
    put_text_feature(perf, YARN_PERF_VERSION, yarn_span_of_text(version));
    put_text_feature(perf, YARN_PERF_ARCH, process->arch);
    yarn_perf_begin_feature(&perf->file, YARN_PERF_NRCPUS);
    yarn_perf_put_u32(&perf->file, process->cpus_present);
    yarn_perf_put_u32(&perf->file, process->cpus_online);
    yarn_perf_end_feature(&perf->file);
    put_event_names(perf);
}

static int perf_data_init(struct perf_data *perf)
{
    const struct yarn_profile *profile = perf->export->profile;
    int err = yarn_export_mappings_init(&perf->mappings, perf->export);
    if (err)
        return err;
    perf->bases = calloc(perf->mappings.count + YARN_FUNCTION_PSEUDO_COUNT, sizeof *perf->bases);
    perf->comms = calloc(profile->nr_threads + 1, sizeof *perf->comms);
    perf->dumps = calloc(profile->nr_dumps + 1, 1);
    perf->attrs = calloc(profile->nr_events + 1, sizeof *perf->attrs);
    perf->ids = calloc(profile->nr_events + 1, sizeof *perf->ids);
    perf->events = calloc(profile->nr_events + 1, sizeof *perf->events);
    if (!perf->bases || !perf->comms || !perf->dumps || !perf->attrs || !perf->ids || !perf->events)
        return -ENOMEM;
    lay_out(perf);
    err = choose_events(perf);
    return err ? err
               : yarn_perf_file_init(&perf->file, perf->export->file, perf->export->most_bytes);
}

static void perf_data_fini(struct perf_data *perf)
{
    yarn_export_mappings_fini(&perf->mappings);
    yarn_perf_file_fini(&perf->file);
    free(perf->bases);
    free(perf->comms);
    free(perf->dumps);
    free(perf->attrs);
    free(perf->ids);
    free(perf->events);
}

int yarn_export_perf_data(struct yarn_export *export)
{
    struct perf_data perf = {.export = export};
    int err = perf_data_init(&perf);
    if (!err) {
        yarn_perf_put_attrs(&perf.file, perf.attrs, perf.nr_attrs);
        put_records(&perf);
        yarn_perf_end_data(&perf.file, features, YARN_COUNT_OF(features));
        put_features(&perf);
        err = yarn_perf_file_finish(&perf.file);
    }
    perf_data_fini(&perf);
    return err;
}
