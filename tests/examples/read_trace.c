/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Prints the entries of a trace.dat, or of the first process of a dump, with couplebreak.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <yarn/couplebreak.h>
#include <yarn/sched.h>

static void print(struct yarn_stream *stream, const struct yarn_entry *entries, size_t at)
{
    const struct yarn_entry *entry = &entries[at], *origin = yarn_couplebreak_origin(entry);
    printf("%" PRIu64 " %d %d %d %ld|%s|%s|%s|%s|%s\n", entry->time_ns, entry->event_id, entry->pid,
           entry->cpu, origin ? (long)(origin - entries) : -1L,
           yarn_stream_event_name(stream, entry), yarn_stream_task(stream, entry),
           yarn_stream_latency(stream, entry), yarn_stream_info(stream, entry),
           yarn_stream_dump_text(stream, entry));
}

int main(int argc, char **argv)
{
    struct yarn_stream *stream;
    size_t count, nr_ids;
    int id, err = argc > 1 ? yarn_stream_open(argv[1], 0, &stream) : -1;
    if (err) {
        fprintf(stderr, "read_trace: %s\n", strerror(-err));
        return 1;
    }
    err = yarn_stream_couplebreak(stream, true);
    const struct yarn_entry *entries = yarn_stream_entries(stream, &count);
    for (size_t i = 0; !err && i < count; i++)
        print(stream, entries, i);
    (void)yarn_stream_couplebreak_ids(stream, &nr_ids);
    bool is_found = yarn_stream_find_event(stream, "couplebreak/sched_switch[target]", &id) == 0;
    printf("kinds %u, flags %u, ids %zu, switches %s\n", yarn_stream_n_couplebreak_events(stream),
           (unsigned)yarn_stream_couplebreak_flags(stream), nr_ids, is_found ? "found" : "none");
    yarn_stream_free(stream);
    return err ? 1 : 0;
}
