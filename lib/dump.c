/* SPDX-License-Identifier: Apache-2.0 */
/* Public: libyarn shows it. */
#pragma GCC visibility push(default)
#include "core/include/yarn/dump.h"
#pragma GCC visibility pop

#include <stdlib.h>

#include "core/sys/process.h"
#include "lib/dump_stacks.h"
#include "lib/dump_threads.h"
#include "output/dump/reader.h"
#include "output/store/array.h"

struct yarn_dump {
    struct yarn_dump_reader reader;
    struct yarn_dump_summary summary;
    struct yarn_stack_tables tables;
    struct yarn_thread_names threads;
    pid_t owner;      /* whose it is: a child has the file's place in common with it */
    uint32_t process; /* of the items */
    uint64_t merged_damages;
    struct yarn_dump_totals totals, before; /* of the process; the sum of those that went before */
    int result; /* 0 while there is more; then what each further call gives */
    bool is_at_end;

    /* What the reader's last step gave, in this order. */
    struct yarn_item *items; /* owned */
    size_t nr_items, next_item, max_items;
    const struct yarn_sample *samples; /* the reader's */
    size_t nr_samples, next_sample;

    struct yarn_item end; /* of a process, unless something follows it */
    bool has_end;

    const struct yarn_sample *sample; /* that was given last; NULL: the last item is none */
    size_t nr_frames;                 /* of it */
    size_t at;                        /* which frame the next is the innermost of */
    uint32_t next_stack;
};

static const char *text_of(struct yarn_span text)
{
    return text.size ? (const char *)text.data : NULL;
}

static int put(struct yarn_dump *dump, struct yarn_item item)
{
    item.pid = dump->process;
    return YARN_ARRAY_PUT(&dump->items, &dump->nr_items, &dump->max_items, &item);
}

static int put_end(struct yarn_dump *dump)
{
    bool has_end = dump->has_end;
    dump->has_end = false;
    return has_end ? put(dump, dump->end) : 0;
}

static void add_totals(struct yarn_dump_totals *sum, const struct yarn_dump_totals *more)
{
    for (size_t i = 0; i < YARN_DUMP_TOTAL_COUNT; i++)
        sum->value[i] += more->value[i];
}

static int on_process(void *self, const struct yarn_dump_process *process)
{
    struct yarn_dump *dump = self;
    yarn_stack_tables_begin_process(&dump->tables);
    add_totals(&dump->before, &dump->totals);
    dump->totals = (struct yarn_dump_totals){0};
    dump->process = process->pid;
    int err = yarn_thread_names_begin_process(&dump->threads, process->exe);
    if (err)
        return err;
    return put(dump, (struct yarn_item){.kind = YARN_ITEM_PROCESS,
                                        .tid = process->pid,
                                        .time_ns = process->start_ns,
                                        .name = text_of(process->exe)});
}

static int on_event(void *self, const struct yarn_dump_event *event)
{
    return put(self, (struct yarn_item){.kind = YARN_ITEM_EVENT,
                                        .event = event->number,
                                        .name = text_of(event->name)});
}

static int put_thread(struct yarn_dump *dump, uint32_t tid, uint32_t parent_tid,
                      struct yarn_span comm, uint64_t time_ns)
{
    const char *name;
    bool is_news;
    int err = yarn_thread_names_begin(&dump->threads, tid, parent_tid, comm, &name, &is_news);
    if (err || !is_news)
        return err;
    return put(dump, (struct yarn_item){
                         .kind = YARN_ITEM_THREAD, .tid = tid, .time_ns = time_ns, .name = name});
}

static int on_thread(void *self, const struct yarn_dump_thread *thread)
{
    return put_thread(self, thread->tid, thread->parent_tid, thread->comm, thread->time_ns);
}

static int on_thread_name(void *self, const struct yarn_dump_thread_name *thread)
{
    return put_thread(self, thread->tid, 0, thread->comm, thread->time_ns);
}

static int on_thread_end(void *self, const struct yarn_dump_thread_end *thread)
{
    struct yarn_dump *dump = self;
    yarn_thread_names_end(&dump->threads, thread->tid);
    return 0;
}

static int on_count(void *self, const struct yarn_dump_count *count)
{
    return put(self, (struct yarn_item){.kind = YARN_ITEM_COUNT,
                                        .event = count->event,
                                        .time_ns = count->time_ns,
                                        .value = count->count});
}

static int on_lost(void *self, const struct yarn_dump_lost *lost)
{
    return put(self, (struct yarn_item){.kind = YARN_ITEM_LOST,
                                        .cpu = lost->cpu,
                                        .event = lost->event,
                                        .time_ns = lost->time_ns,
                                        .value = lost->count});
}

static int on_message(void *self, const struct yarn_dump_message *message)
{
    if (message->kind != YARN_DUMP_MESSAGE_MARK)
        return 0;
    return put(self, (struct yarn_item){.kind = YARN_ITEM_MARK,
                                        .tid = message->tid,
                                        .time_ns = message->time_ns,
                                        .name = text_of(message->text)});
}

static int on_end(void *self, const struct yarn_dump_end *end)
{
    struct yarn_dump *dump = self;
    dump->has_end = true;
    dump->end = (struct yarn_item){.kind = YARN_ITEM_END, .time_ns = end->time_ns};
    return 0;
}

static int on_from(void *self, const struct yarn_dump_from *from)
{
    struct yarn_dump *dump = self;
    dump->merged_damages += from->nr_damages + from->is_cut;
    return 0;
}

static int on_totals(void *self, const struct yarn_dump_totals *totals)
{
    struct yarn_dump *dump = self;
    dump->totals = *totals;
    return 0;
}

static int on_module(void *self, const struct yarn_dump_module *module)
{
    struct yarn_dump *dump = self;
    return yarn_stack_tables_add_module(&dump->tables, module);
}

static int on_symbol(void *self, const struct yarn_dump_symbol *symbol)
{
    struct yarn_dump *dump = self;
    return yarn_stack_tables_add_symbol(&dump->tables, symbol);
}

static int on_frame(void *self, const struct yarn_dump_frame *frame)
{
    struct yarn_dump *dump = self;
    return yarn_stack_tables_add_frame(&dump->tables, frame);
}

static int on_stack(void *self, const struct yarn_dump_stack *stack)
{
    struct yarn_dump *dump = self;
    return yarn_stack_tables_add_stack(&dump->tables, stack);
}

static int on_samples(void *self, const struct yarn_sample *samples, size_t count)
{
    struct yarn_dump *dump = self;
    dump->samples = samples;
    dump->nr_samples = count;
    dump->next_sample = 0;
    return 0;
}

/* Another epoch begins, or another process: then the one before has ended. */
static int on_reset(void *self)
{
    struct yarn_dump *dump = self;
    return dump->summary.has_end ? 0 : put_end(dump);
}

static const struct yarn_dump_visitor visitor = {
    .process = on_process,
    .event = on_event,
    .thread = on_thread,
    .thread_name = on_thread_name,
    .thread_end = on_thread_end,
    .count = on_count,
    .lost = on_lost,
    .message = on_message,
    .end = on_end,
    .from = on_from,
    .totals = on_totals,
    .module = on_module,
    .symbol = on_symbol,
    .frame = on_frame,
    .stack = on_stack,
    .samples = on_samples,
    .reset = on_reset,
};

static void destroy(struct yarn_dump *dump)
{
    yarn_dump_reader_close(&dump->reader);
    yarn_stack_tables_close(&dump->tables);
    yarn_thread_names_close(&dump->threads);
    free(dump->items);
    free(dump);
}

static int open_dump(const char *path, struct yarn_dump **ret_dump)
{
    struct yarn_dump *dump = calloc(1, sizeof *dump);
    if (!dump)
        return -ENOMEM;
    dump->owner = yarn_process_pid();
    dump->threads = YARN_THREAD_NAMES_CLOSED;
    int err = yarn_dump_reader_open(&dump->reader, path, &visitor, dump, &dump->summary);
    if (err) {
        free(dump);
        return err;
    }
    err = yarn_late_names_read(&dump->tables.late_names, path);
    if (err)
        destroy(dump);
    else
        *ret_dump = dump;
    return err;
}

int yarn_dump_open(const char *path, struct yarn_dump **ret_dump)
{
    int saved = errno;
    int err = path && ret_dump ? open_dump(path, ret_dump) : -EINVAL;
    errno = saved;
    return err;
}

/* One record. An end that something follows was taken back. */
static void step(struct yarn_dump *dump)
{
    bool is_end = false;
    dump->nr_items = dump->next_item = dump->nr_samples = dump->next_sample = 0;
    dump->result = yarn_dump_reader_next(&dump->reader, &is_end);
    if (!dump->result && is_end) {
        dump->is_at_end = true;
        dump->result = put_end(dump);
    }
    if (!dump->summary.has_end)
        dump->has_end = false;
}

static void give_sample(struct yarn_dump *dump, struct yarn_item *ret_item)
{
    const struct yarn_sample *sample = &dump->samples[dump->next_sample++];
    dump->sample = sample;
    dump->next_stack = sample->stack;
    dump->nr_frames = yarn_stack_tables_depth(&dump->tables, sample->stack);
    dump->at = 0;
    *ret_item = (struct yarn_item){
        .kind = YARN_ITEM_SAMPLE,
        .pid = dump->process,
        .tid = sample->tid,
        .cpu = sample->cpu,
        .event = sample->event,
        .time_ns = sample->time_ns,
        .value = sample->weight,
        .nr_frames = dump->nr_frames,
        .sample = sample,
    };
}

static int next(struct yarn_dump *dump, struct yarn_item *ret_item)
{
    dump->nr_frames = 0;
    dump->sample = NULL;
    for (;;) {
        if (dump->next_item < dump->nr_items) {
            *ret_item = dump->items[dump->next_item++];
            return 1;
        }
        if (dump->next_sample < dump->nr_samples) {
            give_sample(dump, ret_item);
            return 1;
        }
        if (dump->result || dump->is_at_end)
            return dump->result;
        step(dump);
    }
}

int yarn_dump_next(struct yarn_dump *dump, struct yarn_item *ret_item)
{
    int saved = errno;
    if (!dump || !ret_item)
        return -EINVAL;
    if (dump->owner != yarn_process_pid())
        return -ECHILD;
    int result = next(dump, ret_item);
    errno = saved;
    return result;
}

int yarn_dump_frame(struct yarn_dump *dump, size_t index, struct yarn_frame *ret_frame)
{
    if (!dump || !ret_frame)
        return -EINVAL;
    if (index >= dump->nr_frames)
        return -ENOENT;
    if (index < dump->at) {
        dump->at = 0;
        dump->next_stack = dump->sample->stack;
    }
    for (; dump->at < index; dump->at++)
        dump->next_stack = yarn_stack_tables_parent(&dump->tables, dump->next_stack);
    yarn_stack_tables_frame(&dump->tables, dump->next_stack, ret_frame);
    return 0;
}

int yarn_dump_stack_end(const struct yarn_dump *dump)
{
    if (!dump)
        return -EINVAL;
    return dump->sample ? (int)dump->sample->stack_end : -ENOENT;
}

int yarn_dump_trust_report(const struct yarn_dump *dump, struct yarn_trust_report *ret_report)
{
    if (!dump || !ret_report || (ret_report->size && ret_report->size < sizeof ret_report->size))
        return -EINVAL;
    struct yarn_dump_totals sum = dump->before;
    add_totals(&sum, &dump->totals);
    size_t size = ret_report->size && ret_report->size < sizeof *ret_report ? ret_report->size
                                                                            : sizeof *ret_report;
    const struct yarn_trust_report report = {
        .size = size,
        .samples = sum.value[YARN_DUMP_TOTAL_SAMPLES],
        .lost = sum.value[YARN_DUMP_TOTAL_LOST],
        .throttled = sum.value[YARN_DUMP_TOTAL_THROTTLED],
        .stacks_complete = sum.value[YARN_DUMP_TOTAL_STACKS_COMPLETE],
        .stacks_cut = sum.value[YARN_DUMP_TOTAL_STACKS_TRUNCATED],
        .stacks_no_info = sum.value[YARN_DUMP_TOTAL_STACKS_NO_UNWIND_INFO],
        .stacks_failed = sum.value[YARN_DUMP_TOTAL_STACKS_FAILED],
        .stacks_absent = sum.value[YARN_DUMP_TOTAL_STACKS_NONE],
        .frames_unknown = sum.value[YARN_DUMP_TOTAL_FRAMES_UNKNOWN],
        .cpu_ns = sum.value[YARN_DUMP_TOTAL_CPU_NS],
        .unsampled_ns = sum.value[YARN_DUMP_TOTAL_UNSAMPLED_NS],
        .switches_lost = sum.value[YARN_DUMP_TOTAL_SWITCHES_LOST],
        .damages = yarn_dump_damages(dump),
    };
    memcpy(ret_report, &report, size);
    return 0;
}

uint64_t yarn_dump_damages(const struct yarn_dump *dump)
{
    if (!dump)
        return 0;
    const struct yarn_dump_summary *summary = &dump->summary;
    return summary->nr_damages + summary->records_bad + summary->is_cut + dump->merged_damages;
}

void yarn_dump_close(struct yarn_dump *dump)
{
    int saved = errno;
    if (dump)
        destroy(dump);
    errno = saved;
}
