/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/io/memory.h"

#include <stdio.h>
#include <sys/resource.h>

#include "core/base/text.h"
#include "output/analysis/source/bounded.h"
#include "output/yarnprof/io/numbers.h"

/* The tool itself and its libraries, which are no data of this process alone. */
#define PROGRAM_BYTES YARN_MIB(16)

static uint64_t memory_bytes = YARN_MIB(1024);
static struct rlimit before;
static bool is_bounded;

int yarn_memory_take(const char *value, const char **ret_right)
{
    uint64_t bytes;
    *ret_right = "a size from 64M to 1024G, such as 512M or 4G";
    if (yarn_parse_bytes(value, strlen(value), &bytes) || bytes < YARN_MIB(64) ||
        bytes > YARN_MIB(1024 * 1024))
        return -EINVAL;
    memory_bytes = bytes;
    return 0;
}

void yarn_memory_bound(void)
{
    /* A sanitizer's shadow alone is larger than any limit, and its allocator ends the program where
     * memory is short. */
    if (is_bounded || yarn_bounded_data_bytes() > memory_bytes || getrlimit(RLIMIT_DATA, &before))
        return;
    struct rlimit limit = before;
    limit.rlim_cur = yarn_u64_min(before.rlim_cur, memory_bytes - PROGRAM_BYTES);
    is_bounded = setrlimit(RLIMIT_DATA, &limit) == 0;
}

void yarn_memory_unbound(void)
{
    if (is_bounded)
        (void)setrlimit(RLIMIT_DATA, &before);
    is_bounded = false;
}

const char *yarn_memory_why(int err)
{
    static char sentence[160];
    if (err == -ENOBUFS)
        return "it asks for more work than any recording of its size, and is not shown";
    if (err != -ENOMEM || !is_bounded)
        return strerror(-err);
    (void)snprintf(sentence, sizeof sentence,
                   "it takes more memory than the limit of %s; --memory=SIZE raises it",
                   yarn_number_bytes(memory_bytes).text);
    return sentence;
}
