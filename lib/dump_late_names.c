/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/dump_late_names.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "output/dump/reader.h"
#include "output/store/array.h"

struct yarn_late_row {
    uint32_t process, module;
    uint64_t address;
    size_t order; /* in the file: the last one counts */
    char *name;
};

static int on_process(void *self, const struct yarn_dump_process *process)
{
    struct yarn_late_names *names = self;
    (void)process;
    names->process += names->has_process;
    names->has_process = true;
    return 0;
}

static int on_code_name(void *self, const struct yarn_dump_code_name *record)
{
    struct yarn_late_names *names = self;
    if (!record->name.size)
        return 0;
    char *name = strdup((const char *)record->name.data);
    const struct yarn_late_row row = {names->process, record->module, record->address, names->count,
                                      name};
    if (name && !YARN_ARRAY_PUT(&names->rows, &names->count, &names->max, &row))
        return 0;
    free(name);
    return -ENOMEM;
}

static int compare_places(const struct yarn_late_row *a, const struct yarn_late_row *b)
{
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->module != b->module)
        return a->module < b->module ? -1 : 1;
    return a->address < b->address ? -1 : a->address > b->address;
}

static int compare(const void *a, const void *b)
{
    const struct yarn_late_row *one = a, *other = b;
    int order = compare_places(one, other);
    return order ? order : one->order < other->order ? -1 : one->order > other->order;
}

int yarn_late_names_read(struct yarn_late_names *names, const char *path)
{
    static const struct yarn_dump_visitor visitor = {
        .process = on_process,
        .code_name = on_code_name,
    };
    struct yarn_dump_summary summary;
    struct stat status;
    if (stat(path, &status) || !S_ISREG(status.st_mode))
        return 0;
    int err = yarn_dump_read_file(path, &visitor, names, &summary);
    if (!err && names->count)
        qsort(names->rows, names->count, sizeof *names->rows, compare);
    return err;
}

const char *yarn_late_names_find(const struct yarn_late_names *names, uint32_t process,
                                 uint32_t module, uint64_t address)
{
    const struct yarn_late_row wanted = {.process = process, .module = module, .address = address};
    size_t from = 0, to = names->count; /* the first row that lies behind it */
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (compare_places(&names->rows[middle], &wanted) > 0)
            to = middle;
        else
            from = middle + 1;
    }
    bool is_found = from && !compare_places(&names->rows[from - 1], &wanted);
    return is_found ? names->rows[from - 1].name : NULL;
}

void yarn_late_names_close(struct yarn_late_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->rows[i].name);
    free(names->rows);
    *names = (struct yarn_late_names){0};
}
