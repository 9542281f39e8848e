/* SPDX-License-Identifier: Apache-2.0 */
/* Public: libyarn shows it. */
#pragma GCC visibility push(default)
#include "core/include/yarn/dump.h"
#pragma GCC visibility pop

#include <stdlib.h>

#include "core/sys/process.h"
#include "lib/dump_late_names.h"
#include "output/base/array.h"
#include "output/dump/reader.h"

struct thread {
    const char *name; /* NULL: unknown */
    bool is_alive;
};

struct symbol {
    const char *name; /* the reader's; NULL: unknown */
    uint32_t module;
};

struct yarn_dump {
    struct yarn_dump_reader reader;
    struct yarn_dump_summary summary;
    struct yarn_late_names late_names;
    pid_t owner;         /* whose it is: a child has the file's place in common with it */
    uint32_t process;    /* of the items */
    size_t nr_processes; /* that have begun */

    /* Of the process: what its numbers stand for. */
    struct yarn_texts texts;  /* of the next three */
    const char *process_name; /* NULL: unknown */
    const char **modules;     /* owned; by number; NULL: unknown */
    struct thread *threads;   /* owned */
    size_t nr_modules, max_modules, nr_threads, max_threads;
    struct yarn_table tids; /* to threads */

    /* Of the epoch, by number. The reader hands a thing on before others name it. */
    struct symbol *symbols;         /* owned */
    struct yarn_dump_frame *frames; /* owned */
    struct yarn_dump_stack *stacks; /* owned */
    size_t max_symbols, max_frames, max_stacks;

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

/* A copy that stays as long as the process. */
static const char *keep(struct yarn_dump *dump, struct yarn_span text)
{
    return yarn_texts_keep(&dump->texts, text);
}

static int begin_process(struct yarn_dump *dump, const struct yarn_dump_process *process)
{
    dump->nr_processes++;
    dump->process = process->pid;
    dump->nr_modules = dump->nr_threads = 0;
    yarn_table_close(&dump->tids);
    yarn_texts_close(&dump->texts);
    dump->process_name = NULL;
    if (!process->exe.size)
        return 0;
    const char *exe = (const char *)process->exe.data, *slash = strrchr(exe, '/');
    dump->process_name = keep(dump, yarn_span_of_text(slash ? slash + 1 : exe));
    return dump->process_name ? 0 : -ENOMEM;
}

static int on_process(void *self, const struct yarn_dump_process *process)
{
    struct yarn_dump *dump = self;
    add_totals(&dump->before, &dump->totals);
    dump->totals = (struct yarn_dump_totals){0};
    int err = begin_process(dump, process);
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

/* NULL: it was never named. */
static struct thread *find_thread(const struct yarn_dump *dump, uint32_t tid)
{
    uint32_t at = yarn_table_find(&dump->tids, tid);
    return at == YARN_TABLE_NONE ? NULL : &dump->threads[at];
}

static int add_thread(struct yarn_dump *dump, uint32_t tid)
{
    const struct thread thread = {.name = NULL};
    int err = YARN_ARRAY_PUT(&dump->threads, &dump->nr_threads, &dump->max_threads, &thread);
    return err ? err : yarn_table_remember(&dump->tids, tid, (uint32_t)dump->nr_threads - 1);
}

static const char *name_of_maker(const struct yarn_dump *dump, uint32_t tid)
{
    const struct thread *maker = find_thread(dump, tid);
    return maker && maker->name ? maker->name : dump->process_name;
}

/* One that is made has its maker's name until it gets another. */
static int put_thread(struct yarn_dump *dump, uint32_t tid, uint32_t parent_tid,
                      struct yarn_span comm, uint64_t time_ns)
{
    int err = find_thread(dump, tid) ? 0 : add_thread(dump, tid);
    struct thread *thread = err ? NULL : find_thread(dump, tid);
    if (!thread)
        return err;
    const char *name = thread->name;
    if (!comm.size && !thread->is_alive)
        name = name_of_maker(dump, parent_tid);
    else if (comm.size && (!name || strcmp(name, (const char *)comm.data) != 0))
        name = keep(dump, comm);
    if (comm.size && !name)
        return -ENOMEM;
    if (thread->is_alive && name == thread->name)
        return 0;
    *thread = (struct thread){name, true};
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
    struct thread *ended = find_thread(self, thread->tid);
    if (ended)
        ended->is_alive = false;
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
    const uint32_t number = module->number;
    if (YARN_ARRAY_EXTEND(&dump->modules, &dump->nr_modules, &dump->max_modules, number))
        return -ENOMEM;
    dump->modules[number] = module->path.size ? keep(dump, module->path) : NULL;
    return module->path.size && !dump->modules[number] ? -ENOMEM : 0;
}

static int on_symbol(void *self, const struct yarn_dump_symbol *symbol)
{
    struct yarn_dump *dump = self;
    if (YARN_ARRAY_RESERVE(&dump->symbols, &dump->max_symbols, (size_t)symbol->number + 1))
        return -ENOMEM;
    dump->symbols[symbol->number] = (struct symbol){text_of(symbol->name), symbol->module};
    return 0;
}

static int on_frame(void *self, const struct yarn_dump_frame *frame)
{
    struct yarn_dump *dump = self;
    if (YARN_ARRAY_RESERVE(&dump->frames, &dump->max_frames, (size_t)frame->number + 1))
        return -ENOMEM;
    dump->frames[frame->number] = *frame;
    return 0;
}

static int on_stack(void *self, const struct yarn_dump_stack *stack)
{
    struct yarn_dump *dump = self;
    if (YARN_ARRAY_RESERVE(&dump->stacks, &dump->max_stacks, (size_t)stack->number + 1))
        return -ENOMEM;
    dump->stacks[stack->number] = *stack;
    return 0;
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
    yarn_late_names_close(&dump->late_names);
    yarn_texts_close(&dump->texts);
    yarn_table_close(&dump->tids);
    free(dump->modules);
    free(dump->threads);
    free(dump->symbols);
    free(dump->frames);
    free(dump->stacks);
    free(dump->items);
    free(dump);
}

static int open_dump(const char *path, struct yarn_dump **ret_dump)
{
    struct yarn_dump *dump = calloc(1, sizeof *dump);
    if (!dump)
        return -ENOMEM;
    dump->owner = yarn_process_pid();
    dump->tids = dump->late_names.index = YARN_TABLE_CLOSED;
    int err = yarn_dump_reader_open(&dump->reader, path, &visitor, dump, &dump->summary);
    if (err) {
        free(dump);
        return err;
    }
    err = yarn_late_names_read(&dump->late_names, path);
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
    dump->nr_frames = sample->stack == YARN_DUMP_NONE ? 0 : dump->stacks[sample->stack].depth;
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

static const char *name_of(const struct yarn_dump *dump, const struct yarn_dump_frame *frame,
                           const struct symbol *symbol)
{
    bool is_kernel = frame->flags & YARN_DUMP_FRAME_KERNEL;
    return symbol->name
               ? symbol->name
               : yarn_late_names_find(&dump->late_names, dump->nr_processes,
                                      is_kernel ? YARN_DUMP_NONE : symbol->module, frame->address);
}

static const char *module_of(const struct yarn_dump *dump, const struct yarn_dump_frame *frame,
                             const struct symbol *symbol)
{
    if (frame->flags & YARN_DUMP_FRAME_KERNEL)
        return "[kernel.kallsyms]";
    return symbol->module == YARN_DUMP_NONE ? NULL : dump->modules[symbol->module];
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
        dump->next_stack = dump->stacks[dump->next_stack].parent;
    const struct yarn_dump_frame *frame = &dump->frames[dump->stacks[dump->next_stack].frame];
    const struct symbol *symbol = &dump->symbols[frame->symbol];
    *ret_frame = (struct yarn_frame){
        .function = name_of(dump, frame, symbol),
        .module = module_of(dump, frame, symbol),
        .address = frame->address,
    };
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
