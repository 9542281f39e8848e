/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/name.h"

#include <inttypes.h>
#include <libiberty/demangle.h>
#include <stdio.h>
#include <stdlib.h>

enum { MANGLED_MAX = 4096 }; /* a longer name is shown as it is: demangled it could fill memory */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Owned by the caller; NULL where the name is not mangled. */
static char *demangle(const char *name)
{
    int options = DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI;
    if (name[0] != '_')
        return NULL;
    if (name[1] == 'D' && is_digit(name[2]))
        return dlang_demangle(name, options);
    if (name[1] == 'Z' || name[1] == 'R' || name[1] == 'G' || name[1] == '_')
        return cplus_demangle(name, options);
    return NULL;
}

int yarn_name_demangle(struct yarn_strings *strings, struct yarn_span name, uint32_t *ret_text)
{
    char mangled[MANGLED_MAX + 1];
    if (name.size < 3 || name.size > MANGLED_MAX || name.data[0] != '_')
        return yarn_strings_intern(strings, name, ret_text);
    memcpy(mangled, name.data, name.size);
    mangled[name.size] = 0;
    char *readable = demangle(mangled);
    int err = yarn_strings_intern(strings, readable ? yarn_span_of_text(readable) : name, ret_text);
    free(readable);
    return err;
}

int yarn_name_of_address(struct yarn_strings *strings, const char *module, uint64_t address,
                         uint32_t *ret_text)
{
    char text[512];
    if (module)
        (void)snprintf(text, sizeof text, "%.400s+0x%" PRIx64, module, address);
    else if (address)
        (void)snprintf(text, sizeof text, "0x%" PRIx64, address);
    else
        (void)snprintf(text, sizeof text, "[unknown]");
    return yarn_strings_intern(strings, yarn_span_of_text(text), ret_text);
}

const char *yarn_name_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}
