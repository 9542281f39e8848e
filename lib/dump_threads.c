/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/dump_threads.h"

#include <stdlib.h>

#include "output/store/array.h"

struct yarn_thread_name {
    char *name; /* NULL: unknown */
    bool has_ended;
};

static struct yarn_thread_name *find(struct yarn_thread_names *names, uint32_t tid)
{
    uint32_t place = yarn_table_find(&names->places, tid);
    return place == YARN_TABLE_NONE ? NULL : &names->rows[place];
}

/* As one that has ended, of no name. */
static int add(struct yarn_thread_names *names, uint32_t tid, struct yarn_thread_name **ret_row)
{
    const struct yarn_thread_name ended = {.has_ended = true};
    int err = YARN_ARRAY_PUT(&names->rows, &names->count, &names->max, &ended);
    if (!err)
        err = yarn_table_remember(&names->places, tid, (uint32_t)names->count - 1);
    if (!err)
        *ret_row = &names->rows[names->count - 1];
    return err;
}

/* A copy; the text ends with a NUL. */
static char *copy_of(struct yarn_span text)
{
    return strdup((const char *)text.data);
}

static const char *name_of_maker(struct yarn_thread_names *names, uint32_t tid)
{
    const struct yarn_thread_name *maker = find(names, tid);
    return maker && maker->name ? maker->name : names->of_process;
}

int yarn_thread_names_begin(struct yarn_thread_names *names, uint32_t tid, uint32_t parent_tid,
                            struct yarn_span name, const char **ret_name, bool *ret_is_news)
{
    char *own = NULL;
    struct yarn_thread_name *row = find(names, tid);
    int err = row ? 0 : add(names, tid, &row);
    if (err)
        return err;
    *ret_is_news = row->has_ended;
    if (!name.size && row->has_ended) {
        const char *inherited = name_of_maker(names, parent_tid);
        own = inherited ? strdup(inherited) : NULL;
    } else if (name.size) {
        own = copy_of(name);
        *ret_is_news |= !own || !row->name || strcmp(own, row->name) != 0;
    }
    if (name.size && !own)
        return -ENOMEM;
    if (own || row->has_ended) {
        free(row->name);
        row->name = own;
    }
    row->has_ended = false;
    *ret_name = row->name;
    return 0;
}

void yarn_thread_names_end(struct yarn_thread_names *names, uint32_t tid)
{
    struct yarn_thread_name *row = find(names, tid);
    if (row)
        row->has_ended = true;
}

int yarn_thread_names_begin_process(struct yarn_thread_names *names, struct yarn_span exe)
{
    yarn_thread_names_close(names);
    if (!exe.size)
        return 0;
    const char *slash = strrchr((const char *)exe.data, '/');
    names->of_process = strdup(slash ? slash + 1 : (const char *)exe.data);
    return names->of_process ? 0 : -ENOMEM;
}

void yarn_thread_names_close(struct yarn_thread_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->rows[i].name);
    free(names->rows);
    free(names->of_process);
    yarn_table_close(&names->places);
    *names = YARN_THREAD_NAMES_CLOSED;
}
