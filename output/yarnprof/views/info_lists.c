/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "output/analysis/profile/event_status.h"
#include "output/analysis/value/clock.h"
#include "output/dump/words.h"
#include "output/text/legible.h"
#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/views/info.h"

static const struct yarn_profile_dump *dump_of(const struct yarn_show_cell *cell)
{
    return ((const struct yarn_info *)cell->self)->dump;
}

/* The member on the clock that views show. */
static void get_time(struct yarn_show_cell *cell)
{
    yarn_show_member(cell);
    cell->number = yarn_clock_shown_ns(&dump_of(cell)->process, cell->number);
}

/* The member, unless it is 0 or, of a status, unknown. */
static void get_known(struct yarn_show_cell *cell)
{
    yarn_show_member(cell);
    if (cell->kind == YARN_SHOW_I64 ? (int64_t)cell->number < 0 : !cell->number)
        cell->kind = YARN_SHOW_NONE;
}

/* Whether the member has a flag. */
static void get_flag(struct yarn_show_cell *cell)
{
    yarn_show_member(cell);
    yarn_show_bool(cell, cell->number & cell->column->nth);
}

/* ---- events ---- */

static void get_status(struct yarn_show_cell *cell)
{
    static char bytes[128];
    struct yarn_text words = yarn_text_of(bytes, sizeof bytes);
    const struct yarn_profile_dump_event *event = cell->row;
    size_t number = (size_t)(event - dump_of(cell)->events);
    yarn_event_status_describe(yarn_dump_event_status(dump_of(cell), number).bits, &words);
    yarn_show_text(cell, bytes);
}

#define EVENT(name) YARN_SHOW_MEMBER(struct yarn_profile_dump_event, name)

const struct yarn_show_column yarn_info_events[] = {
    YARN_SHOW_COLUMN("name", NULL, EVENT(record.name)),
    YARN_SHOW_COLUMN("asked", NULL, EVENT(record.asked)),
    YARN_SHOW_COLUMN("got", NULL, EVENT(record.got)),
    YARN_SHOW_COLUMN("status", NULL, .get = get_status),
    YARN_SHOW_COLUMN("errno", NULL, EVENT(record.error)),
    YARN_SHOW_COLUMN("count", NULL, EVENT(count.count)),
    YARN_SHOW_COLUMN("time_enabled", NULL, EVENT(count.time_enabled_ns)),
    YARN_SHOW_COLUMN("time_running", NULL, EVENT(count.time_running_ns)),
    YARN_SHOW_COLUMN("lost", NULL, EVENT(count.lost)),
    YARN_SHOW_COLUMN("in_error", NULL, EVENT(count.is_in_error)),
    YARN_SHOW_COLUMN("samples", NULL, EVENT(samples)),
    YARN_SHOW_COLUMN("unit", NULL, EVENT(record.unit)),
    YARN_SHOW_COLUMN("reason", NULL, EVENT(record.reason)),
    YARN_SHOW_COLUMN("period", NULL, EVENT(record.period)),
    YARN_SHOW_COLUMN("alternate_period", NULL, EVENT(alternate_period), .get = get_known),
    YARN_SHOW_COLUMN("frequency", NULL, EVENT(record.frequency)),
    YARN_SHOW_COLUMN("group", NULL, EVENT(record.group)),
    YARN_SHOW_COLUMN("format", NULL, EVENT(record.format)),
    YARN_SHOW_COLUMN("filter", NULL, EVENT(record.filter)),
    YARN_SHOW_COLUMN("excludes_kernel", NULL, EVENT(record.flags), .get = get_flag,
                     .nth = YARN_DUMP_EVENT_EXCLUDES_KERNEL),
    YARN_SHOW_COLUMN("kernel_refused", NULL, EVENT(record.flags), .get = get_flag,
                     .nth = YARN_DUMP_EVENT_KERNEL_REFUSED),
    {0},
};

/* ---- threads ---- */

static void get_comm(struct yarn_show_cell *cell)
{
    const struct yarn_profile_thread *thread = cell->row;
    yarn_show_text(
        cell, yarn_profile_text(((const struct yarn_info *)cell->self)->profile, thread->comm));
}

static void get_end(struct yarn_show_cell *cell)
{
    if (((const struct yarn_profile_thread *)cell->row)->has_ended)
        get_time(cell);
}

static void get_cpu(struct yarn_show_cell *cell)
{
    yarn_show_member(cell);
    if (cell->number)
        yarn_show_add(cell, "  %s of CPU time", yarn_number_duration(cell->number).text);
    else
        cell->text = "";
}

static void get_samples(struct yarn_show_cell *cell)
{
    const struct yarn_profile_thread *thread = cell->row;
    yarn_show_add(cell, "%s", yarn_number_of_things(thread->samples, "sample").text);
}

static void get_life(struct yarn_show_cell *cell)
{
    const struct yarn_profile_thread *thread = cell->row;
    if (thread->has_ended && thread->start_ns && thread->end_ns > thread->start_ns)
        yarn_show_add(cell, "  lived %s",
                      yarn_number_duration(thread->end_ns - thread->start_ns).text);
}

#define THREAD(name) YARN_SHOW_MEMBER(struct yarn_profile_thread, name)
#define LEFT(columns) .align = YARN_SHOW_LEFT, .width = columns

const struct yarn_show_column yarn_info_threads[] = {
    YARN_SHOW_COLUMN("tid", "", THREAD(tid), LEFT(8), .gap = 2),
    YARN_SHOW_COLUMN("parent_tid", NULL, THREAD(parent_tid)),
    YARN_SHOW_COLUMN("comm", "", .get = get_comm, LEFT(16)),
    YARN_SHOW_COLUMN(NULL, "", .get = get_samples, .gap = 1, .width = 14),
    YARN_SHOW_COLUMN("start_ns", NULL, THREAD(start_ns), .get = get_time),
    YARN_SHOW_COLUMN("end_ns", NULL, THREAD(end_ns), .get = get_end),
    YARN_SHOW_COLUMN("cpu_ns", "", THREAD(cpu_ns), .get = get_cpu, .align = YARN_SHOW_TAIL),
    YARN_SHOW_COLUMN("samples", NULL, THREAD(samples)),
    YARN_SHOW_COLUMN(NULL, "", .get = get_life, .align = YARN_SHOW_TAIL),
    {0},
};

/* ---- modules ---- */

static void get_range(struct yarn_show_cell *cell)
{
    const struct yarn_dump_module *module = cell->row;
    yarn_show_add(cell, "%012" PRIx64 "-%012" PRIx64, module->start, module->end);
}

static void get_build_id(struct yarn_show_cell *cell)
{
    static char hex[72];
    const struct yarn_dump_module *module = cell->row;
    if (module->build_id.size)
        yarn_show_text_if(cell, yarn_hex_text(module->build_id, hex, sizeof hex));
    cell->text = cell->text ? cell->text : "-";
}

/* The state of a file that is no longer what was mapped. */
static void get_odd_state(struct yarn_show_cell *cell)
{
    const struct yarn_dump_module *module = cell->row;
    const char *word = yarn_dump_word_of_module_state(module->state);
    if (strcmp(word, "absent") == 0 || strcmp(word, "replaced") == 0)
        yarn_show_add(cell, " (%s)", word);
}

#define MODULE(name) YARN_SHOW_MEMBER(struct yarn_dump_module, name)

const struct yarn_show_column yarn_info_modules[] = {
    YARN_SHOW_COLUMN(NULL, "", .get = get_range, .gap = 2),
    YARN_SHOW_COLUMN(NULL, "", .get = get_build_id, .align = YARN_SHOW_NAME, .gap = 2, .width = 40),
    YARN_SHOW_COLUMN("path", "", MODULE(path), .align = YARN_SHOW_TAIL, .gap = 2),
    YARN_SHOW_COLUMN("build_id", NULL, .get = get_build_id),
    YARN_SHOW_COLUMN("start", NULL, MODULE(start)),
    YARN_SHOW_COLUMN("end", NULL, MODULE(end)),
    YARN_SHOW_COLUMN("file_offset", NULL, MODULE(file_offset)),
    YARN_SHOW_COLUMN("bias", NULL, MODULE(bias)),
    YARN_SHOW_COLUMN("time_ns", NULL, MODULE(time_ns), .get = get_time),
    YARN_SHOW_COLUMN("kind", NULL, MODULE(kind), .word = yarn_dump_word_of_module_kind),
    YARN_SHOW_COLUMN("state", NULL, MODULE(state), .word = yarn_dump_word_of_module_state),
    YARN_SHOW_COLUMN(NULL, "", .get = get_odd_state, .align = YARN_SHOW_TAIL),
    YARN_SHOW_COLUMN("file_bytes", NULL, MODULE(file_bytes)),
    {0},
};

/* ---- messages ---- */

static void get_message_time(struct yarn_show_cell *cell)
{
    const struct yarn_dump_message *message = cell->row;
    uint64_t start_ns = yarn_u64_min(dump_of(cell)->process.start_ns, message->time_ns);
    get_time(cell);
    yarn_show_add(cell, "+%s", yarn_number_duration(message->time_ns - start_ns).text);
}

#define MESSAGE(name) YARN_SHOW_MEMBER(struct yarn_dump_message, name)

const struct yarn_show_column yarn_info_messages[] = {
    YARN_SHOW_COLUMN("time_ns", "", MESSAGE(time_ns), .get = get_message_time, LEFT(11), .gap = 2),
    YARN_SHOW_COLUMN("kind", "", MESSAGE(kind), .word = yarn_dump_word_of_message_kind, LEFT(8),
                     .gap = 1),
    YARN_SHOW_COLUMN("tid", NULL, MESSAGE(tid)),
    YARN_SHOW_COLUMN("text", "", MESSAGE(text), .align = YARN_SHOW_TAIL, .gap = 1),
    {0},
};

/* ---- the tree of a recording from outside ---- */

#define PROCESS(name) YARN_SHOW_MEMBER(struct yarn_dump_tree_process, name)
#define FLAG(name) PROCESS(flags), .get = get_flag, .nth = YARN_DUMP_TREE_##name

const struct yarn_show_column yarn_info_tree_processes[] = {
    YARN_SHOW_COLUMN("pid", NULL, PROCESS(pid)),
    YARN_SHOW_COLUMN("ppid", NULL, PROCESS(parent_pid)),
    YARN_SHOW_COLUMN("exe", NULL, PROCESS(program)),
    YARN_SHOW_COLUMN("start_ns", NULL, PROCESS(start_ns), .get = get_time),
    YARN_SHOW_COLUMN("end_ns", NULL, PROCESS(end_ns), .get = get_time),
    YARN_SHOW_COLUMN("exit", NULL, PROCESS(reason), .word = yarn_dump_word_of_end_reason),
    YARN_SHOW_COLUMN("exit_status", NULL, PROCESS(status), .get = get_known),
    YARN_SHOW_COLUMN("cpu_ns", NULL, PROCESS(cpu_ns)),
    YARN_SHOW_COLUMN("sampled_ns", NULL, PROCESS(sampled_ns)),
    YARN_SHOW_COLUMN("has_dump", NULL, FLAG(HAS_DUMP)),
    YARN_SHOW_COLUMN("is_estimated", NULL, FLAG(IS_ESTIMATED)),
    YARN_SHOW_COLUMN("is_unknown", NULL, FLAG(IS_UNKNOWN)),
    {0},
};

#define PROGRAM(name) YARN_SHOW_MEMBER(struct yarn_dump_tree_program, name)

const struct yarn_show_column yarn_info_tree_programs[] = {
    YARN_SHOW_COLUMN("exe", NULL, PROGRAM(program)),
    YARN_SHOW_COLUMN("processes", NULL, PROGRAM(processes)),
    YARN_SHOW_COLUMN("silent", NULL, PROGRAM(silent)),
    YARN_SHOW_COLUMN("unknown", NULL, PROGRAM(unknown)),
    YARN_SHOW_COLUMN("cpu_ns", NULL, PROGRAM(cpu_ns)),
    YARN_SHOW_COLUMN("sampled_ns", NULL, PROGRAM(sampled_ns)),
    {0},
};

/* ---- files ---- */

#define DAMAGE(name) YARN_SHOW_MEMBER(struct yarn_dump_damage, name)

const struct yarn_show_column yarn_info_damages[] = {
    YARN_SHOW_COLUMN("offset", NULL, DAMAGE(offset)),
    YARN_SHOW_COLUMN("bytes", NULL, DAMAGE(size)),
    YARN_SHOW_COLUMN("why", NULL, DAMAGE(why)),
    {0},
};

#define FROM(name) YARN_SHOW_MEMBER(struct yarn_dump_from, name)

static const struct yarn_show_column yarn_info_froms[] = {
    YARN_SHOW_COLUMN("path", NULL, FROM(path)),
    YARN_SHOW_COLUMN("bytes", NULL, FROM(file_bytes)),
    YARN_SHOW_COLUMN("damages", NULL, FROM(nr_damages)),
    YARN_SHOW_COLUMN("damaged_bytes", NULL, FROM(damaged_bytes)),
    YARN_SHOW_COLUMN("damage_offset", NULL, FROM(damage_at)),
    YARN_SHOW_COLUMN("damage", NULL, FROM(damage)),
    YARN_SHOW_COLUMN("is_cut", NULL, FROM(is_cut)),
    YARN_SHOW_COLUMN("cut_offset", NULL, FROM(cut_at)),
    {0},
};

void yarn_info_show(const struct yarn_info *info, const struct yarn_show_column *columns,
                    const char *key, const void *rows, size_t count, size_t size)
{
    const struct yarn_show_table table = {
        .out = info->out, .self = info, .parts = {columns}, .is_bare = true};
    yarn_show_rows(&table, key, rows, count, size, 0);
}

/* Lists that nothing stands behind, of records that a profile keeps each of. */
static const struct list {
    const char *title; /* of text; NULL: not in text */
    const char *key;   /* of JSON; NULL: not in JSON, or further up */
    const struct yarn_show_column *columns;
    size_t rows, count, size; /* the first two: members of the dump */
} lists[] = {
#define LIST(title, key, names)                                                                    \
    {                                                                                              \
        title, key, yarn_info_##names, offsetof(struct yarn_profile_dump, names),                  \
            offsetof(struct yarn_profile_dump, nr_##names),                                        \
            sizeof *((struct yarn_profile_dump *)0)->names                                         \
    }
    LIST("Messages", NULL, messages),
    LIST(NULL, "merged_from", froms),
};

void yarn_info_show_lists(const struct yarn_info *info)
{
    const uint8_t *dump = (const uint8_t *)info->dump;
    for (size_t i = 0; i < YARN_COUNT_OF(lists); i++) {
        const struct list *list = &lists[i];
        const void *rows;
        size_t count;
        memcpy(&rows, dump + list->rows, sizeof rows);
        memcpy(&count, dump + list->count, sizeof count);
        if (info->out->json ? !list->key : !list->title || !count)
            continue;
        if (!info->out->json)
            yarn_info_section(info->out, list->title);
        yarn_info_show(info, list->columns, list->key, rows, count, list->size);
    }
}
