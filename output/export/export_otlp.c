/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/export/otlp_dictionary.h"

/*
 * A ProfilesData message of OpenTelemetry's profiles, v1development, by its field numbers: a
 * resource a process image, in it a profile an event, and one dictionary of what they refer to,
 * whose tables each begin with an empty item. Addresses are linked ones, as are those of mappings.
 */

enum { /* ProfilesData; an export request is the same */
       DATA_RESOURCE_PROFILES = 1,
       DATA_DICTIONARY = 2,
};
struct otlp {
    struct yarn_export *export;
    struct yarn_otlp_dictionary dictionary;
    struct yarn_wire *samples; /* owned; of each event of each dump, as they stand in a profile */
};

static int add_sample(struct otlp *otlp, const struct yarn_export_sample *sample)
{
    enum { PROFILE_SAMPLES = 2, STACK = 1, ITS_ATTRIBUTES = 2, VALUES = 4 };
    const struct yarn_profile *profile = otlp->export->profile;
    struct yarn_wire *wire = &otlp->samples[sample->dump * profile->nr_events + sample->event];
    uint64_t stack, attributes[3];
    size_t count = 0;
    int err = yarn_otlp_stack(&otlp->dictionary, sample, &stack);
    if (!err)
        err =
            yarn_otlp_attribute(&otlp->dictionary, YARN_OTLP_THREAD_NAME,
                                yarn_profile_text(profile, sample->comm), 0, &attributes[count++]);
    if (!err && sample->thread != YARN_DUMP_NONE)
        err = yarn_otlp_attribute(&otlp->dictionary, YARN_OTLP_THREAD_ID, NULL,
                                  profile->threads[sample->thread].tid, &attributes[count++]);
    if (!err && sample->cpu != UINT16_MAX)
        err = yarn_otlp_attribute(&otlp->dictionary, YARN_OTLP_CPU, NULL, sample->cpu,
                                  &attributes[count++]);
    if (err)
        return err;
    size_t begin = yarn_wire_begin(wire, PROFILE_SAMPLES);
    yarn_wire_u64(wire, STACK, stack);
    yarn_wire_packed(wire, ITS_ATTRIBUTES, attributes, count);
    yarn_wire_packed(wire, VALUES, &sample->weight, 1);
    yarn_wire_end(wire, begin);
    return wire->err ? wire->err : otlp->dictionary.wire.err;
}

static int add_kernel(struct otlp *otlp)
{
    const struct yarn_profile *profile = otlp->export->profile;
    struct yarn_kernel_time *list;
    size_t count;
    int err = yarn_export_kernel(otlp->export, &list, &count);
    for (size_t i = 0; !err && i < count; i++) {
        struct yarn_export_sample whole = yarn_export_kernel_sample(profile, &list[i]);
        if (otlp->samples[whole.dump * profile->nr_events + whole.event].size)
            err = add_sample(otlp, &whole);
    }
    free(list);
    return err;
}

static int add_samples(struct otlp *otlp)
{
    struct yarn_export_samples samples = YARN_EXPORT_SAMPLES(otlp->export);
    struct yarn_export_sample sample;
    int err = 0;
    while (!err && yarn_export_next(&samples, &sample))
        err = add_sample(otlp, &sample);
    return err ? err : add_kernel(otlp);
}

static void put_type(struct yarn_wire *wire, uint32_t field, uint64_t type, uint64_t unit)
{
    enum { TYPE = 1, UNIT = 2 };
    size_t begin = yarn_wire_begin(wire, field);
    yarn_wire_u64(wire, TYPE, type);
    yarn_wire_u64(wire, UNIT, unit);
    yarn_wire_end(wire, begin);
}

static int put_profile(struct otlp *otlp, struct yarn_wire *wire, uint32_t dump, uint32_t number)
{
    enum {
        SCOPE_PROFILES = 2,
        SAMPLE_TYPE = 1,
        TIME = 3,
        DURATION = 4,
        PERIOD_TYPE = 5,
        PERIOD = 6
    };
    const struct yarn_profile *profile = otlp->export->profile;
    const struct yarn_profile_event *event = &profile->events[number];
    const struct yarn_profile_dump *its = &profile->dumps[dump];
    struct yarn_wire *samples = &otlp->samples[dump * profile->nr_events + number];
    const char *unit = yarn_profile_text(profile, event->unit);
    uint64_t type, unit_number;
    if (!samples->size)
        return 0;
    int err = yarn_otlp_text(&otlp->dictionary, yarn_profile_text(profile, event->name), &type);
    if (!err)
        err = yarn_otlp_text(&otlp->dictionary, strcmp(unit, "ns") == 0 ? "nanoseconds" : unit,
                             &unit_number);
    if (err)
        return err;
    size_t begin = yarn_wire_begin(wire, SCOPE_PROFILES);
    put_type(wire, SAMPLE_TYPE, type, unit_number);
    yarn_wire_fixed64(wire, TIME, its->process.start_realtime_ns);
    yarn_wire_u64(wire, DURATION, yarn_u64_minus(its->last_ns, its->process.start_ns));
    put_type(wire, PERIOD_TYPE, type, unit_number);
    yarn_wire_u64(wire, PERIOD, event->period);
    yarn_wire_fields(wire, yarn_wire_span(samples));
    yarn_wire_end(wire, begin);
    yarn_wire_fini(samples);
    return wire->err;
}

static void put_resource_text(struct yarn_wire *wire, const char *name, const char *text,
                              uint64_t number)
{
    enum { ITS_ATTRIBUTES = 1, KEY = 1, VALUE = 2 };
    size_t begin = yarn_wire_begin(wire, ITS_ATTRIBUTES);
    yarn_wire_text(wire, KEY, name);
    yarn_otlp_put_value(wire, VALUE, text, number);
    yarn_wire_end(wire, begin);
}

static void put_resource(const struct otlp *otlp, struct yarn_wire *wire,
                         const struct yarn_profile_dump *dump)
{
    enum { RESOURCE = 1 };
    const struct yarn_profile *profile = otlp->export->profile;
    size_t begin = yarn_wire_begin(wire, RESOURCE);
    const char *name = otlp->export->name;
    put_resource_text(wire, "service.name", name ? name : yarn_profile_text(profile, dump->program),
                      0);
    if (dump->process.host.size)
        put_resource_text(wire, "host.name", yarn_profile_text(profile, dump->host), 0);
    put_resource_text(wire, "process.pid", NULL, dump->process.pid);
    put_resource_text(wire, "process.executable.name", yarn_profile_text(profile, dump->comm), 0);
    put_resource_text(wire, "process.command_line", yarn_profile_text(profile, dump->command), 0);
    if (dump->process.rank.size)
        put_resource_text(wire, "rank", yarn_profile_text(profile, dump->rank), 0);
    yarn_wire_end(wire, begin);
}

static bool has_samples(const struct otlp *otlp, size_t dump)
{
    size_t nr_events = otlp->export->profile->nr_events;
    for (size_t i = 0; i < nr_events; i++) {
        if (otlp->samples[dump * nr_events + i].size)
            return true;
    }
    return false;
}

static int write_bytes(struct yarn_export *export, const struct yarn_wire *wire, uint64_t *written)
{
    *written += wire->size;
    if (wire->err)
        return wire->err;
    if (*written > export->most_bytes)
        return -EFBIG;
    return fwrite(wire->bytes, 1, wire->size, export->file) == wire->size ? 0
           : errno                                                        ? -errno
                                                                          : -EIO;
}

static int write_process(struct otlp *otlp, uint32_t dump, uint64_t *written)
{
    enum { SCOPES = 2, SCOPE = 1, SCOPE_NAME = 1, SCOPE_VERSION = 2 };
    const struct yarn_profile *profile = otlp->export->profile;
    struct yarn_wire wire = YARN_WIRE_EMPTY;
    size_t whole = yarn_wire_begin(&wire, DATA_RESOURCE_PROFILES);
    put_resource(otlp, &wire, &profile->dumps[dump]);
    size_t scopes = yarn_wire_begin(&wire, SCOPES), scope = yarn_wire_begin(&wire, SCOPE);
    yarn_wire_text(&wire, SCOPE_NAME, "yarn");
    yarn_wire_text(&wire, SCOPE_VERSION, otlp->export->version);
    yarn_wire_end(&wire, scope);
    int err = 0;
    for (uint32_t i = 0; !err && i < profile->nr_events; i++)
        err = put_profile(otlp, &wire, dump, i);
    yarn_wire_end(&wire, scopes);
    yarn_wire_end(&wire, whole);
    if (!err)
        err = write_bytes(otlp->export, &wire, written);
    yarn_wire_fini(&wire);
    return err;
}

static int write_dictionary(struct otlp *otlp, uint64_t *written)
{
    struct yarn_wire wire = YARN_WIRE_EMPTY;
    int err = yarn_otlp_dictionary_finish(&otlp->dictionary);
    if (!err) {
        yarn_wire_bytes(&wire, DATA_DICTIONARY, yarn_wire_span(&otlp->dictionary.wire));
        err = write_bytes(otlp->export, &wire, written);
    }
    yarn_wire_fini(&wire);
    return err;
}

int yarn_export_otlp(struct yarn_export *export)
{
    const struct yarn_profile *profile = export->profile;
    size_t nr_profiles = profile->nr_dumps * profile->nr_events;
    struct otlp otlp = {
        .export = export,
        .samples = calloc(nr_profiles + 1, sizeof *otlp.samples),
    };
    uint64_t written = 0;
    int err = yarn_otlp_dictionary_init(&otlp.dictionary, export);
    if (!err)
        err = otlp.samples ? add_samples(&otlp) : -ENOMEM;
    for (uint32_t i = 0; !err && i < profile->nr_dumps; i++) {
        if (has_samples(&otlp, i))
            err = write_process(&otlp, i, &written);
    }
    if (!err)
        err = write_dictionary(&otlp, &written);
    for (size_t i = 0; otlp.samples && i < nr_profiles; i++)
        yarn_wire_fini(&otlp.samples[i]);
    free(otlp.samples);
    yarn_otlp_dictionary_fini(&otlp.dictionary);
    return err;
}
