/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/kept_pages.h"

#include <stdatomic.h>

#include "core/base/pages.h"

enum { KEPT_MAX = 512 };
#define LARGEST_BYTES YARN_KIB(256)
#define KEPT_BYTES YARN_MIB(16)

static struct {
    atomic_flag is_busy;
    size_t count, bytes;
    struct {
        void *pages;
        size_t size, backed;
    } blocks[KEPT_MAX];
} kept = {.is_busy = ATOMIC_FLAG_INIT};

static bool keep(void *pages, size_t size, size_t backed)
{
    if (backed > LARGEST_BYTES || atomic_flag_test_and_set(&kept.is_busy))
        return false;
    bool has_room = kept.count < KEPT_MAX && backed <= KEPT_BYTES - kept.bytes;
    if (has_room) {
        kept.blocks[kept.count].pages = pages;
        kept.blocks[kept.count].size = size;
        kept.blocks[kept.count++].backed = backed;
        kept.bytes += backed;
    }
    atomic_flag_clear(&kept.is_busy);
    return has_room;
}

static void *take(size_t size, size_t *ret_backed)
{
    void *pages = NULL;
    if (atomic_flag_test_and_set(&kept.is_busy))
        return NULL;
    size_t at = kept.count;
    while (at && kept.blocks[at - 1].size != size)
        at--;
    if (at) {
        pages = kept.blocks[at - 1].pages;
        *ret_backed = kept.blocks[at - 1].backed;
        kept.bytes -= *ret_backed;
        kept.blocks[at - 1] = kept.blocks[--kept.count];
    }
    atomic_flag_clear(&kept.is_busy);
    if (pages)
        memset(pages, 0, *ret_backed);
    return pages;
}

void yarn_pages_keep_released(void)
{
    static const struct yarn_pages_keeper keeper = {keep, take, LARGEST_BYTES};
    yarn_pages_use(&keeper);
}
