/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as a line of /proc/self/maps: what is understood is a range, and its path lies in the
 * line.
 */
#include "core/sys/proc_maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yarn_proc_map map;
    if (yarn_proc_map_parse(yarn_span_of(data, size), &map) != 0)
        return 0;
    if (map.start >= map.end || map.path.size > size ||
        (map.path.size && (map.path.data < data || map.path.data + map.path.size > data + size)))
        __builtin_trap();
    return 0;
}
