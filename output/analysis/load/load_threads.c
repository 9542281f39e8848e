/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/load/loader.h"
#include "output/base/array.h"

static int add_thread(struct yarn_loader *loader, uint32_t tid, uint32_t *ret_thread)
{
    struct yarn_profile *profile = loader->profile;
    if (YARN_ARRAY_RESERVE(&profile->threads, &profile->threads_capacity, profile->nr_threads + 1))
        return -ENOMEM;
    uint32_t number = (uint32_t)profile->nr_threads;
    int err = yarn_table_put(&loader->threads, tid, number);
    if (err)
        return err;
    profile->threads[profile->nr_threads++] = (struct yarn_profile_thread){
        .dump = loader->dump,
        .tid = tid,
        .comm = yarn_loader_dump(loader)->comm,
        .last_comm = YARN_COMM_NONE,
    };
    loader->has_last_thread = false;
    *ret_thread = number;
    return 0;
}

int yarn_loader_thread(struct yarn_loader *loader, uint32_t tid, uint32_t *ret_thread)
{
    if (!loader->has_last_thread || loader->last_tid != tid) {
        uint32_t found = yarn_table_find(&loader->threads, tid);
        if (found == YARN_TABLE_NONE) {
            int err = add_thread(loader, tid, &found);
            if (err)
                return err;
        }
        loader->last_tid = tid;
        loader->last_thread = found;
        loader->has_last_thread = true;
    }
    *ret_thread = loader->last_thread;
    return 0;
}

static int set_comm(struct yarn_loader *loader, uint32_t thread, struct yarn_span comm,
                    uint64_t from_ns)
{
    uint32_t text;
    int err = yarn_strings_intern(&loader->profile->strings, comm, &text);
    if (err || !text)
        return err;
    loader->profile->threads[thread].comm = text;
    return yarn_comms_add(&loader->profile->comms, text, from_ns,
                          &loader->profile->threads[thread].last_comm);
}

static const char *comm_of(const struct yarn_loader *loader, uint32_t thread)
{
    return yarn_profile_text(loader->profile, loader->profile->threads[thread].comm);
}

int yarn_loader_on_thread(void *self, const struct yarn_dump_thread *record)
{
    struct yarn_loader *loader = self;
    uint32_t number;
    int err = yarn_loader_thread(loader, record->tid, &number);
    if (err)
        return err;
    /* Why not for a second record of a living thread: it only says again what is known. */
    if (loader->profile->threads[number].has_ended) {
        err = add_thread(loader, record->tid, &number);
        if (err)
            return err;
    }
    struct yarn_profile_thread *thread = &loader->profile->threads[number];
    thread->has_record = true;
    thread->parent_tid = record->parent_tid;
    thread->start_ns = record->time_ns;
    err = set_comm(loader, number, record->comm, record->time_ns);
    if (err)
        return err;
    uint32_t pid = yarn_loader_dump(loader)->process.pid;
    return yarn_loader_note(loader, record->time_ns, number, YARN_DUMP_NONE,
                            "PERF_RECORD_FORK(%u:%u):(%u:%u)", pid, record->tid, pid,
                            record->parent_tid);
}

int yarn_loader_on_thread_name(void *self, const struct yarn_dump_thread_name *record)
{
    struct yarn_loader *loader = self;
    uint32_t number;
    int err = yarn_loader_thread(loader, record->tid, &number);
    if (err)
        return err;
    err = set_comm(loader, number, record->comm, record->time_ns);
    if (err)
        return err;
    return yarn_loader_note(loader, record->time_ns, number, YARN_DUMP_NONE,
                            "PERF_RECORD_COMM: %s:%u/%u", comm_of(loader, number),
                            yarn_loader_dump(loader)->process.pid, record->tid);
}

int yarn_loader_on_thread_end(void *self, const struct yarn_dump_thread_end *record)
{
    struct yarn_loader *loader = self;
    uint32_t number;
    int err = yarn_loader_thread(loader, record->tid, &number);
    if (err)
        return err;
    struct yarn_profile_thread *thread = &loader->profile->threads[number];
    if (thread->has_ended && thread->end_ns == record->time_ns) { /* more is known of it */
        thread->cpu_ns = record->cpu_ns;
        return 0;
    }
    if (thread->has_ended) {
        err = add_thread(loader, record->tid, &number);
        if (err)
            return err;
        thread = &loader->profile->threads[number];
    }
    thread->has_ended = true;
    thread->end_ns = record->time_ns;
    thread->cpu_ns = record->cpu_ns;
    uint32_t pid = yarn_loader_dump(loader)->process.pid;
    return yarn_loader_note(loader, record->time_ns, number, YARN_DUMP_NONE,
                            "PERF_RECORD_EXIT(%u:%u):(%u:%u)", pid, record->tid, pid,
                            thread->parent_tid);
}
