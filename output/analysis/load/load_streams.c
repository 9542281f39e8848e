/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/load/loader.h"

/* Streams have the times of the process's own machine. */
#define TAKE(name, ...)                                                                            \
    struct yarn_loader *loader = self;                                                             \
    int err = loader->visitor.name(loader, __VA_ARGS__);                                           \
    return err ? err : yarn_stream_visitor.name(&loader->reading, __VA_ARGS__)
#define ONE(name)                                                                                  \
    static int on_##name(void *self, const struct yarn_dump_##name *record)                        \
    {                                                                                              \
        TAKE(name, record);                                                                        \
    }

ONE(event)
ONE(thread)
ONE(thread_name)
ONE(sampler)

static int on_samples(void *self, const struct yarn_sample *samples, size_t count)
{
    TAKE(samples, samples, count);
}

static int on_runs(void *self, const struct yarn_dump_run *runs, size_t count)
{
    TAKE(runs, runs, count);
}

static int on_process(void *self, const struct yarn_dump_process *record)
{
    struct yarn_loader *loader = self;
    int err = loader->visitor.process(loader, record);
    if (!err)
        err = yarn_stream_visitor.process(&loader->reading, record);
    if (!err && loader->reading.stream)
        loader->reading.stream->dump = loader->dump;
    return err;
}

struct yarn_dump_visitor yarn_loader_streams_visitor(const struct yarn_loader *loader)
{
    struct yarn_dump_visitor visitor = loader->visitor;
    visitor.process = on_process;
    visitor.event = on_event;
    visitor.thread = on_thread;
    visitor.thread_name = on_thread_name;
    visitor.sampler = on_sampler;
    visitor.samples = on_samples;
    visitor.runs = on_runs;
    return visitor;
}
