/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads enter the namespace that they are in, at once and again and again. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

enum { NR_THREADS = 24, NR_TURNS = 8 };

static void *enter_namespace(void *unused)
{
    for (int turn = 0; turn < NR_TURNS; turn++) {
        int fd = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        int refused = setns(fd, 0);
        close(fd);
        if (refused)
            break; /* only root may */
    }
    return unused;
}

int main(void)
{
    pthread_t threads[NR_THREADS];
    for (int i = 0; i < NR_THREADS; i++) {
        if (pthread_create(&threads[i], NULL, enter_namespace, NULL))
            return 1;
    }
    for (int i = 0; i < NR_THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d threads have ended\n", NR_THREADS);
    return 0;
}
