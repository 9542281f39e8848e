/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/calls/interpose.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

static const char *const names[] = {
#define X(name) [YARN_ORIGINAL_##name] = #name,
    YARN_ORIGINALS(X)
#undef X
};

static YARN_IN_DATA void *originals[YARN_ORIGINAL_COUNT];

void yarn_originals_begin(void)
{
    for (size_t i = 0; i < YARN_ORIGINAL_COUNT; i++)
        originals[i] = dlsym(RTLD_NEXT, names[i]);
}

yarn_original_fn yarn_original_known(enum yarn_original which)
{
    yarn_original_fn function; /* which cannot be cast from what the loader gives */
    memcpy(&function, &originals[which], sizeof function);
    return function;
}

yarn_original_fn yarn_original_find(enum yarn_original which)
{
    if (!originals[which]) /* a constructor that ran before ours */
        originals[which] = dlsym(RTLD_NEXT, names[which]);
    if (!originals[which])
        errno = ENOSYS;
    return yarn_original_known(which);
}
