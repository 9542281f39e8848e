/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `own_restorer TIMES`: signals whose handler returns to code of the program's own, without an
 * unwind table, as runtimes without the C library have it; another function lies right before it.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { KERNEL_RESTORER = 0x04000000, SET_BYTES = 8, STEPS = 200000 };

__asm__(".text\n"
        ".type before_restorer, @function\nbefore_restorer:\n ret\n"
        ".size before_restorer, . - before_restorer\n"
        ".type own_restorer, @function\nown_restorer:\n mov $15, %rax\n syscall\n"
        ".size own_restorer, . - own_restorer\n");

void own_restorer(void);

/* As the kernel has it. */
struct kernel_action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
};

static volatile unsigned steps;

static __attribute__((noinline)) void on_signal(int number)
{
    (void)number;
    for (unsigned i = 0; i < STEPS; i++)
        steps = steps + 1;
}

static __attribute__((noinline)) void send_signal(void)
{
    syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1);
    steps = 0;
}

int main(int argc, char **argv)
{
    const struct kernel_action action = {on_signal, KERNEL_RESTORER, own_restorer, 0};
    unsigned long times = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
    if (syscall(SYS_rt_sigaction, SIGUSR1, &action, NULL, SET_BYTES))
        return EXIT_FAILURE;
    while (times--)
        send_signal();
    return EXIT_SUCCESS;
}
