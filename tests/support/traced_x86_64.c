/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/traced.h"

#define PAGE UINT64_C(4096)

/* In the child. */
static void become(char **command)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(null, STDOUT_FILENO) >= 0 &&
        ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
        (void)execvp(command[0], command);
    _exit(127);
}

int traced_start(struct traced *traced, char **command)
{
    int status;
    *traced = (struct traced){.pid = fork()};
    if (traced->pid == 0)
        become(command);
    if (traced->pid < 0)
        return -errno;
    if (waitpid(traced->pid, &status, 0) != traced->pid || !WIFSTOPPED(status))
        return -EPERM;
    if (ptrace(PTRACE_SETOPTIONS, traced->pid, NULL, PTRACE_O_EXITKILL))
        return -errno;
    traced->target = yarn_target_of(traced->pid);
    return yarn_module_map_new(&traced->map, &traced->target, NULL);
}

bool traced_run_on(const struct traced *traced, unsigned pause_us)
{
    const struct timespec pause = {pause_us / 1000000, (long)(pause_us % 1000000) * 1000};
    int status, pass = 0;
    if (ptrace(PTRACE_CONT, traced->pid, NULL, NULL))
        return false;
    (void)nanosleep(&pause, NULL);
    (void)kill(traced->pid, SIGSTOP);
    while (waitpid(traced->pid, &status, 0) == traced->pid && WIFSTOPPED(status)) {
        if (WSTOPSIG(status) == SIGSTOP)
            return true;
        pass = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
        if (ptrace(PTRACE_CONT, traced->pid, NULL, pass))
            return false;
    }
    return false;
}

static int read_registers(pid_t pid, struct yarn_registers *ret_registers)
{
    struct user_regs_struct user;
    if (ptrace(PTRACE_GETREGS, pid, NULL, &user))
        return -errno;
    const uint64_t in_order[] = {user.rax, user.rdx, user.rcx, user.rbx, user.rsi, user.rdi,
                                 user.rbp, user.rsp, user.r8,  user.r9,  user.r10, user.r11,
                                 user.r12, user.r13, user.r14, user.r15, user.rip};
    *ret_registers =
        (struct yarn_registers){.valid = (1 << 17) - 1, .sp = user.rsp, .ip = user.rip};
    memcpy(ret_registers->value, in_order, sizeof in_order);
    return 0;
}

/* Page by page: the copy ends where the mapping does. */
static size_t copy_stack(pid_t pid, uint64_t from, uint8_t *to, size_t max)
{
    size_t done = 0;
    while (done < max) {
        size_t size = yarn_size_min(PAGE - (from + done) % PAGE, max - done);
        struct iovec local = {to + done, size}, remote = {(void *)(uintptr_t)(from + done), size};
        if (process_vm_readv(pid, &local, 1, &remote, 1, 0) != (ssize_t)size)
            break;
        done += size;
    }
    return done;
}

/* New mappings are taken up as they appear. */
static int refresh_map(struct traced *traced)
{
    char path[64], line[1024];
    uint64_t hash = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/maps", traced->pid);
    FILE *maps = fopen(path, "r");
    if (!maps)
        return -errno;
    while (fgets(line, sizeof line, maps))
        if (strstr(line, "x"))
            for (const char *at = line; *at; at++)
                hash = yarn_hash_u64(hash ^ (uint8_t)*at);
    (void)fclose(maps);
    if (hash == traced->maps_hash)
        return 0;
    traced->maps_hash = hash;
    return yarn_module_map_read_proc(traced->map, 0);
}

int traced_take(struct traced *traced, struct yarn_registers *ret_registers,
                struct yarn_stack_copy *ret_stack, uint8_t *bytes, size_t max)
{
    int err = refresh_map(traced);
    if (err)
        return err;
    err = read_registers(traced->pid, ret_registers);
    if (err)
        return err;
    uint64_t sp = ret_registers->sp;
    *ret_stack = (struct yarn_stack_copy){
        .start = sp,
        .first = yarn_span_of(bytes, copy_stack(traced->pid, sp, bytes, max)),
    };
    return 0;
}

void traced_end(struct traced *traced)
{
    if (traced->pid > 0 && kill(traced->pid, SIGKILL) == 0)
        (void)waitpid(traced->pid, NULL, 0);
    yarn_module_map_free(traced->map);
    *traced = (struct traced){.pid = 0};
}
