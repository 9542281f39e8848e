/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/load.h"

#include <stdio.h>
#include <stdlib.h>

#include "output/analysis/array.h"
#include "output/analysis/loader.h"

static int loader_init(struct yarn_loader *loader, struct yarn_profile *profile,
                       const struct yarn_load_options *options)
{
    *loader = (struct yarn_loader){
        .profile = profile,
        .options = options,
        .dump = (uint32_t)profile->nr_dumps - 1,
        .to_ns = UINT64_MAX,
        .threads = YARN_TABLE_CLOSED,
    };
    return yarn_table_open(&loader->threads, 64, (size_t)1 << 31);
}

static void loader_fini(struct yarn_loader *loader)
{
    yarn_number_map_fini(&loader->modules);
    yarn_number_map_fini(&loader->symbols);
    yarn_number_map_fini(&loader->starts);
    yarn_number_map_fini(&loader->frames);
    yarn_number_map_fini(&loader->stacks);
    free(loader->start_list);
    yarn_table_close(&loader->threads);
}

static int add_dump(struct yarn_profile *profile, const char *path)
{
    struct yarn_profile_dump *dumps = yarn_array_grow(profile->dumps, &profile->dumps_capacity,
                                                      profile->nr_dumps + 1, sizeof *dumps);
    if (!dumps)
        return -ENOMEM;
    profile->dumps = dumps;
    const char *kept = yarn_strings_keep(&profile->strings, yarn_span_of_text(path));
    if (!kept)
        return -ENOMEM;
    dumps[profile->nr_dumps++] = (struct yarn_profile_dump){.path = kept};
    return 0;
}

/* `at` as the clock of the dumps says it, or from the start of the first of them. */
static uint64_t moment(uint64_t at, bool is_absolute, uint64_t start_ns, int64_t offset_ns)
{
    if (at == UINT64_MAX || (!is_absolute && at > UINT64_MAX - start_ns))
        return UINT64_MAX;
    if (!is_absolute)
        return at + start_ns;
    return offset_ns > 0 && at < (uint64_t)offset_ns ? 0 : at - (uint64_t)offset_ns;
}

static void settle_dump(struct yarn_profile *profile, struct yarn_profile_dump *dump,
                        uint32_t first_thread)
{
    profile->end_ns = yarn_u64_max(profile->end_ns, dump->last_ns);
    yarn_trust_settle(&dump->trust, dump->has_end);
    for (size_t i = first_thread; i < profile->nr_threads; i++) {
        /* Why: a first thread that no record named was there before the recording. */
        if (!profile->threads[i].has_record && !profile->threads[i].start_ns)
            profile->threads[i].start_ns = dump->process.start_ns;
    }
}

static int load_one(struct yarn_profile *profile, const struct yarn_source *source,
                    uint64_t start_ns, const struct yarn_load_options *options)
{
    struct yarn_loader loader;
    int err = add_dump(profile, source->path);
    if (err)
        return err;
    err = loader_init(&loader, profile, options);
    if (err)
        return err;
    const struct yarn_time_range *time = &options->time;
    int64_t offset_ns = source->clock_offset_ns;
    loader.from_ns = moment(time->from_ns, time->from_is_absolute, start_ns, offset_ns);
    loader.to_ns = moment(time->to_ns, time->to_is_absolute, start_ns, offset_ns);
    if (!time->from_ns && !time->from_is_absolute)
        loader.from_ns = 0;

    uint32_t first_thread = (uint32_t)profile->nr_threads;
    struct yarn_dump_summary summary;
    err = yarn_dump_read_file(source->path, &yarn_loader_visitor, &loader, &summary);
    struct yarn_profile_dump *dump = yarn_loader_dump(&loader);
    dump->summary = summary;
    loader_fini(&loader);
    if (!err)
        settle_dump(profile, dump, first_thread);
    return err;
}

int yarn_profile_load(struct yarn_profile *profile, const struct yarn_sources *sources,
                      const struct yarn_load_options *options,
                      struct yarn_source_failure *ret_failure)
{
    uint64_t start_ns = UINT64_MAX;
    for (size_t i = 0; i < sources->count; i++) {
        if (sources->list[i].has_process)
            start_ns = yarn_u64_min(start_ns, sources->list[i].start_ns);
    }
    profile->start_ns = start_ns == UINT64_MAX ? 0 : start_ns;
    for (size_t i = 0; i < sources->count; i++) {
        const struct yarn_source *source = &sources->list[i];
        int err = load_one(profile, source, profile->start_ns, options);
        if (err) {
            (void)snprintf(ret_failure->path, sizeof ret_failure->path, "%s", source->path);
            (void)snprintf(ret_failure->why, sizeof ret_failure->why, "%s", strerror(-err));
            return err;
        }
    }
    return 0;
}
