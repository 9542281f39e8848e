/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/proc_maps.h"
#include "unwind/site/site_work.h"

struct named {
    const char *name;
    char *path;
    bool is_found;
};

static int compare_name(void *context, const struct yarn_proc_map *map)
{
    struct named *named = context;
    size_t size = strlen(named->name);
    if (!map->executable || map->path.size <= size || map->path.size >= YARN_SITE_PATH_MAX ||
        map->path.data[map->path.size - size - 1] != '/' ||
        memcmp(map->path.data + map->path.size - size, named->name, size) != 0)
        return 0;
    memcpy(named->path, map->path.data, map->path.size);
    named->path[map->path.size] = 0;
    named->is_found = true;
    return 1;
}

bool yarn_site_module_path(const char *name, char ret_path[YARN_SITE_PATH_MAX])
{
    struct named named = {.name = name, .path = ret_path};
    int err = yarn_proc_maps_read(YARN_FILE_CWD, "/proc/self/maps", compare_name, &named);
    return err >= 0 && named.is_found;
}
