/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/locked_memory.h"

#include <linux/capability.h>
#include <sys/resource.h>

#include "core/base/text.h"
#include "core/sys/file.h"
#include "core/sys/process.h"

enum { STATUS_BYTES = 4096, HEXADECIMAL = 16, DECIMAL = 10 };

static unsigned digit_of(char letter)
{
    return letter >= '0' && letter <= '9'   ? (unsigned)(letter - '0')
           : letter >= 'a' && letter <= 'f' ? (unsigned)(letter - 'a') + DECIMAL
                                            : HEXADECIMAL;
}

/* Of a line of a status file; 0 where there is none. */
static uint64_t number_in(const char *status, const char *key, unsigned base)
{
    uint64_t number = 0;
    while (status && strncmp(status, key, strlen(key)) != 0) {
        status = strchr(status, '\n');
        status = status ? status + 1 : NULL;
    }
    if (!status)
        return 0;
    status += strlen(key);
    for (status += strspn(status, "\t "); digit_of(*status) < base; status++)
        number = number * base + digit_of(*status);
    return number;
}

/* Rights that count everywhere, not only among the ids of a container. Why not of
 * /proc/thread-self: what was looked up below a thread's own folder is thrown away at its end, and
 * who reaps the process at that moment spins until it is (d_walk; 5 ms of the parent for each of
 * make's children).
 */
static bool is_among_first_users(void)
{
    char name[64];
    return yarn_file_read_link(YARN_FILE_CWD, "/proc/self/ns/user", name, sizeof name) > 0 &&
           !strcmp(name, "user:[4026531837]");
}

uint64_t yarn_locked_memory_left(void)
{
    char status[STATUS_BYTES] = "";
    uint64_t limit = yarn_process_limit(RLIMIT_MEMLOCK);
    if (limit == UINT64_MAX)
        return limit;
    int fd = yarn_file_open(YARN_FILE_CWD, "/proc/self/status");
    if (fd >= 0) {
        ssize_t length = yarn_file_read(fd, status, sizeof status - 1);
        status[length < 0 ? 0 : length] = 0;
        yarn_file_close(fd);
    }
    if (number_in(status, "CapEff:", HEXADECIMAL) >> CAP_IPC_LOCK & 1 && is_among_first_users())
        return UINT64_MAX;
    uint64_t pinned = YARN_KIB(number_in(status, "VmPin:", DECIMAL));
    return limit - yarn_u64_min(limit, pinned);
}
