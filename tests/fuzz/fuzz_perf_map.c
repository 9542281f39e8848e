/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as lines of a perf map, and of kallsyms: what is understood is a range, its name lies
 * in the line, and the last of two that overlap is what a look-up gives.
 */
#include "core/sys/kernel_names.h"
#include "unwind/symbol/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool lies_in(struct yarn_span part, struct yarn_span whole)
{
    return !part.size ||
           (part.data >= whole.data && part.data + part.size <= whole.data + whole.size);
}

static void add_line(struct yarn_span text, struct yarn_code_names *names)
{
    struct yarn_perf_map_line line;
    struct yarn_kernel_symbol symbol;
    if (yarn_kernel_names_parse(text, &symbol) == 0 &&
        (!lies_in(symbol.name, text) || !lies_in(symbol.module, text)))
        __builtin_trap();
    if (yarn_perf_map_parse(text, &line) != 0)
        return;
    if (!line.size || line.start + line.size < line.start || !lies_in(line.name, text))
        __builtin_trap();
    yarn_code_names_add(names, line.start, line.size, line.name, 1);
    uint32_t number = yarn_code_names_find(names, line.start + line.size - 1);
    if (number == YARN_CODE_NAME_NONE || yarn_code_names_at(names, number).start != line.start)
        __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yarn_code_names names;
    yarn_code_names_open(&names);
    struct yarn_span rest = yarn_span_of(data, size);
    while (rest.size) {
        const uint8_t *newline = memchr(rest.data, '\n', rest.size);
        size_t end = newline ? (size_t)(newline - rest.data) : rest.size;
        add_line(yarn_span_sub(rest, 0, end), &names);
        rest = newline ? yarn_span_from(rest, end + 1) : YARN_SPAN_EMPTY;
    }
    yarn_code_names_close(&names);
    return 0;
}
