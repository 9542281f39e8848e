/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/calls/originals.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

static const char *const names[] = {
#define X(name) [YARN_ORIGINAL_##name] = #name,
    YARN_ORIGINALS(X)
#undef X
};

static void *originals[YARN_ORIGINAL_COUNT];

void yarn_originals_begin(void)
{
    for (size_t i = 0; i < YARN_ORIGINAL_COUNT; i++)
        originals[i] = dlsym(RTLD_NEXT, names[i]);
}

yarn_original_fn yarn_original_known(enum yarn_original which)
{
    yarn_original_fn function;
    memcpy(&function, &originals[which], sizeof function);
    return function;
}

bool yarn_original_find(enum yarn_original which, void *ret_function, size_t size)
{
    if (!originals[which]) /* a constructor that ran before ours */
        originals[which] = dlsym(RTLD_NEXT, names[which]);
    memcpy(ret_function, &originals[which], size);
    if (!originals[which])
        errno = ENOSYS;
    return originals[which];
}
