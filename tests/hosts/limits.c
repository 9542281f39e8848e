/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host that limits itself in its main: `limits fsize|nofile|sigpending VALUE [ROUNDS]` sets the
 * limit, hard and soft; `limits mlockall [ROUNDS]` locks all of its memory, present and future.
 * Then it works for so many times 10 ms and maps, touches and frees 256 KiB after each. Status 1
 * where the kernel refuses.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/hosts/work.h"

enum { BLOCK_BYTES = 256 << 10, PAGE_BYTES = 4096, ROUNDS = 20, REST_US = 200000 };

static int limit(const char *name, const char *value)
{
    rlim_t most = (rlim_t)strtoull(value, NULL, 10);
    struct rlimit limits = {.rlim_cur = most, .rlim_max = most};
    if (!strcmp(name, "sigpending"))
        return setrlimit(RLIMIT_SIGPENDING, &limits);
    return setrlimit(strcmp(name, "nofile") ? RLIMIT_FSIZE : RLIMIT_NOFILE, &limits);
}

static int use_memory(void)
{
    char *block =
        mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return -1;
    /* Not memset: its variants have no symbols in a stripped C library, so a tick in one has no
     * name. */
    for (size_t i = 0; i < BLOCK_BYTES; i += PAGE_BYTES)
        ((volatile char *)block)[i] = 1;
    return munmap(block, BLOCK_BYTES);
}

__attribute__((noinline)) static uint64_t limited_work(uint64_t value)
{
    return yarn_host_work(1, value, 11) ^ 1;
}

int main(int argc, char **argv)
{
    int is_locking = argc > 1 && !strcmp(argv[1], "mlockall");
    int at = is_locking ? 2 : 3;
    int nr_rounds = argc > at ? atoi(argv[at]) : ROUNDS;
    uint64_t value = 1;
    if (argc < at || (is_locking ? mlockall(MCL_CURRENT | MCL_FUTURE) : limit(argv[1], argv[2]))) {
        perror("limits");
        return 1;
    }
    for (int i = 0; i < nr_rounds; i++) {
        value = limited_work(value);
        if (use_memory()) {
            perror("limits");
            return 1;
        }
    }
    usleep(REST_US); /* nothing wakes the reader any more */
    printf("limits: %d rounds, %016" PRIx64 "\n", nr_rounds, value);
    return 0;
}
