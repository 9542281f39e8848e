/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/blocked.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "core/base/text.h"
#include "core/sys/file.h"

enum { PATH_BYTES = 64, TEXT_BYTES = 256 };

int yarn_blocked_open(const struct yarn_target *target, pid_t tid)
{
    char bytes[PATH_BYTES];
    struct yarn_text path = yarn_text_of(bytes, sizeof bytes);
    yarn_text_add_format(&path, "%s/task/%d/syscall", target->proc, tid);
    return yarn_file_open(YARN_FILE_CWD, path.data);
}

int yarn_blocked_read(int fd, struct yarn_blocked *ret_blocked)
{
    char text[TEXT_BYTES];
    ssize_t size = yarn_file_read_at(fd, text, sizeof text, 0);
    if (size == -EPERM || size == -EACCES || size == -ESRCH)
        return (int)size;
    return size > 0 && yarn_blocked_parse(text, (size_t)size, ret_blocked) ? 0 : -EAGAIN;
}

/* ---- the text ---- */

struct words {
    const char *at, *end;
};

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* The next number, up to a blank, a newline or the end. */
static bool take_number(struct words *words, unsigned base, uint64_t *ret_number)
{
    const char *begin;
    uint64_t number = 0;
    while (words->at < words->end && *words->at == ' ')
        words->at++;
    if (base == 16 && words->end - words->at > 2 && words->at[0] == '0' && words->at[1] == 'x')
        words->at += 2;
    for (begin = words->at; words->at < words->end; words->at++) {
        unsigned digit = (unsigned)digit_of(*words->at);
        if (digit >= base)
            break;
        number = number * base + digit;
    }
    *ret_number = number;
    return words->at > begin &&
           (words->at == words->end || *words->at == ' ' || *words->at == '\n');
}

bool yarn_blocked_parse(const char *text, size_t size, struct yarn_blocked *ret_blocked)
{
    struct words words = {text, text + size};
    struct yarn_blocked blocked = {.call = YARN_BLOCKED_NO_CALL};
    bool has_call = size > 0 && text[0] != '-';
    uint64_t number;
    words.at += !has_call && size > 0;
    if (!take_number(&words, 10, &number))
        return false;
    if (has_call)
        blocked.call = (int64_t)number;
    for (size_t i = 0; has_call && i < YARN_BLOCKED_ARGUMENTS; i++)
        if (!take_number(&words, 16, &blocked.argument[i]))
            return false;
    if (!take_number(&words, 16, &blocked.sp) || !take_number(&words, 16, &blocked.ip) ||
        !blocked.sp || !blocked.ip)
        return false;
    *ret_blocked = blocked;
    return true;
}

/* ---- locks ---- */

/* glibc's struct pthread_mutex_t from its futex word on, and pthread_rwlock_t. */
struct mutex {
    uint32_t word, count, owner, users, kind;
};

struct rwlock {
    uint32_t readers, writers, phase_word, writers_word, pad[2], writer;
};

enum {
    FUTEX_CONTENDED = 2,
    MUTEX_KINDS = 3 | 16 | 32 | 64 | 128 | 256 | 512, /* type, robust, inherits priority, … */
    RWLOCK_WRITE_LOCKED = 2,
};

static bool is_wait(const struct yarn_blocked *blocked)
{
    if (blocked->call != SYS_futex)
        return false;
    uint32_t operation = (uint32_t)blocked->argument[1] & (uint32_t)FUTEX_CMD_MASK;
    return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET ||
           operation == FUTEX_LOCK_PI || operation == 13 /* FUTEX_LOCK_PI2 */;
}

static uint32_t holder_of_mutex(const struct yarn_target *target, uint64_t address)
{
    struct mutex mutex;
    if (yarn_target_read(target, address, &mutex, sizeof mutex))
        return 0;
    bool is_waited_for = mutex.word == FUTEX_CONTENDED || mutex.word & FUTEX_WAITERS;
    return is_waited_for && !(mutex.kind & ~(uint32_t)MUTEX_KINDS) ? mutex.owner : 0;
}

/* `offset`: of the word within the lock. */
static uint32_t holder_of_rwlock(const struct yarn_target *target, uint64_t address, size_t offset)
{
    struct rwlock lock;
    if (yarn_target_read(target, address - offset, &lock, sizeof lock))
        return 0;
    return lock.readers & RWLOCK_WRITE_LOCKED ? lock.writer : 0;
}

struct yarn_blocked_lock yarn_blocked_lock_of(const struct yarn_target *target,
                                              const struct yarn_blocked *blocked)
{
    struct yarn_blocked_lock lock = {.holder = 0};
    uint64_t address = blocked->argument[0];
    if (!is_wait(blocked) || address % sizeof(uint32_t))
        return lock;
    lock.holder = holder_of_mutex(target, address);
    if (!lock.holder)
        lock.holder = holder_of_rwlock(target, address, offsetof(struct rwlock, phase_word));
    if (!lock.holder)
        lock.holder = holder_of_rwlock(target, address, offsetof(struct rwlock, writers_word));
    lock.address = lock.holder ? address : 0;
    return lock;
}
