/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/process/ld_preload.h"

#include "core/base/span.h"

static const char variable[] = "LD_PRELOAD=";
static const char separators[] = " :";

static bool is_ours(const char *path, size_t size)
{
    static const char own[] = "libyarn_preload.so";
    for (size_t at = size; at-- > 0;) {
        if (path[at] != '/')
            continue;
        path += at + 1;
        size -= at + 1;
        break;
    }
    return size >= sizeof own - 1 && memcmp(path, own, sizeof own - 1) == 0;
}

/* The list without us, in place; false where nothing is left of it. */
static bool shorten(char *list)
{
    char *to = list;
    for (const char *at = list; *at;) {
        size_t gap = strspn(at, separators);
        size_t size = strcspn(at + gap, separators);
        if (size && !is_ours(at + gap, size)) {
            if (to != list)
                *to++ = ':';
            memmove(to, at + gap, size);
            to += size;
        }
        at += gap + size;
    }
    *to = 0;
    return to != list;
}

void yarn_ld_preload_remove(char *envp[])
{
    for (size_t i = 0; envp && envp[i];) {
        bool is_it = strncmp(envp[i], variable, sizeof variable - 1) == 0;
        if (!is_it || shorten(envp[i] + sizeof variable - 1)) {
            i++;
            continue;
        }
        for (size_t k = i; envp[k]; k++)
            envp[k] = envp[k + 1];
    }
}
