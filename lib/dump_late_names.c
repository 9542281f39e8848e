/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/dump_late_names.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "output/base/array.h"
#include "output/dump/reader.h"

static uint64_t key_of(size_t nr_processes, uint32_t module, uint64_t address)
{
    return yarn_hash_u64(address) ^ yarn_hash_u64((uint64_t)nr_processes << 32 | module);
}

static int on_process(void *self, const struct yarn_dump_process *process)
{
    struct yarn_late_names *names = self;
    (void)process;
    names->nr_processes++;
    return 0;
}

static int on_code_name(void *self, const struct yarn_dump_code_name *record)
{
    struct yarn_late_names *names = self;
    if (!record->name.size)
        return 0;
    const char *name = yarn_texts_keep(&names->texts, record->name);
    if (!name || YARN_ARRAY_PUT(&names->list, &names->count, &names->max, &name))
        return -ENOMEM;
    uint64_t key = key_of(names->nr_processes, record->module, record->address);
    return yarn_table_remember(&names->index, key, (uint32_t)names->count - 1);
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
    return yarn_dump_read_file(path, &visitor, names, &summary);
}

const char *yarn_late_names_find(const struct yarn_late_names *names, size_t nr_processes,
                                 uint32_t module, uint64_t address)
{
    uint32_t at = yarn_table_find(&names->index, key_of(nr_processes, module, address));
    return at == YARN_TABLE_NONE ? NULL : names->list[at];
}

void yarn_late_names_close(struct yarn_late_names *names)
{
    yarn_texts_close(&names->texts);
    yarn_table_close(&names->index);
    free(names->list);
}
