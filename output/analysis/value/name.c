/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/value/name.h"

#include <inttypes.h>
#include <stdio.h>

#include "output/analysis/value/demangle.h"

enum { MANGLED_MAX = 4096 }; /* a longer name is shown as it is */

int yarn_name_demangle(struct yarn_strings *strings, struct yarn_span name, uint32_t *ret_text)
{
    char mangled[MANGLED_MAX + 1], readable[YARN_DEMANGLED_SIZE];
    if (name.size < 3 || name.size > MANGLED_MAX || name.data[0] != '_')
        return yarn_strings_intern(strings, name, ret_text);
    memcpy(mangled, name.data, name.size);
    mangled[name.size] = 0;
    if (!yarn_demangle(mangled, readable))
        return yarn_strings_intern(strings, name, ret_text);
    return yarn_strings_intern(strings, yarn_span_of_text(readable), ret_text);
}

int yarn_name_of_address(struct yarn_strings *strings, const char *module, uint64_t address,
                         uint32_t *ret_text)
{
    char text[512];
    if (module)
        (void)snprintf(text, sizeof text, "%.255s+0x%" PRIx64, module, address);
    else if (address)
        (void)snprintf(text, sizeof text, "0x%" PRIx64, address);
    else
        (void)snprintf(text, sizeof text, "[unknown]");
    return yarn_strings_intern(strings, yarn_span_of_text(text), ret_text);
}
