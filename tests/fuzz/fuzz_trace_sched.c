/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as what a trace.dat of ours has beside its events: what is taken settles, and each life
 * is a thread's; what is refused has its place.
 */
#include "output/analysis/load/load_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_lives(const struct yarn_sched_log *sched, const struct yarn_profile *profile)
{
    for (size_t i = 0; i < sched->nr_lives; i++)
        if (sched->lives[i].owner >= profile->nr_threads ||
            profile->threads[sched->lives[i].owner].dump >= profile->nr_dumps)
            __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yarn_profile profile;
    struct yarn_sched_log sched = YARN_SCHED_LOG_EMPTY;
    struct yarn_table comms = YARN_TABLE_CLOSED;
    struct yarn_stream *stream = yarn_stream_new();
    if (yarn_profile_init(&profile) || !stream)
        __builtin_trap();
    stream->trace.bytes = stream->trace.sched = yarn_span_of(data, size);
    int err = yarn_profile_load_trace_sched(&profile, "", stream, &sched, &comms);
    if (err == -EBADMSG && (!stream->trace.fault.why || stream->trace.fault.at > size))
        __builtin_trap();
    if (!err && !yarn_sched_log_settle(&sched))
        check_lives(&sched, &profile);
    yarn_table_close(&comms);
    yarn_sched_log_fini(&sched);
    yarn_profile_fini(&profile);
    stream->trace.bytes = YARN_SPAN_EMPTY;
    yarn_stream_free(stream);
    return 0;
}
