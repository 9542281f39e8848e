/* SPDX-License-Identifier: Apache-2.0 */
/* A library that takes more keys of data of threads than each thread has places for. */
#include <pthread.h>

enum { KEYS = 40 };

__attribute__((constructor)) static void take_keys(void)
{
    pthread_key_t key;
    for (int i = 0; i < KEYS; i++)
        if (pthread_key_create(&key, NULL))
            return;
}
