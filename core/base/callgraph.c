/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/callgraph.h"

static int fail_at(struct yarn_parse_error *ret_error, size_t at, size_t size, const char *why)
{
    *ret_error = (struct yarn_parse_error){.at = at, .why = why, .size = size};
    return -EINVAL;
}

int yarn_callgraph_parse_stack(const char *text, size_t size, uint32_t *ret_bytes,
                               struct yarn_parse_error *ret_error)
{
    uint64_t bytes;
    int err = yarn_parse_bytes(text, size, &bytes);
    if (err == -EINVAL)
        return fail_at(ret_error, 0, size, "not a number of bytes");
    if (err || bytes > YARN_STACK_BYTES_MAX)
        return fail_at(ret_error, 0, size, "more than the 65528 bytes that the kernel copies");
    if (bytes < YARN_STACK_BYTES_MIN)
        return fail_at(ret_error, 0, size, "less than 512 bytes");
    if (bytes % 8)
        return fail_at(ret_error, 0, size, "not a multiple of 8");
    *ret_bytes = (uint32_t)bytes;
    return 0;
}

static const struct {
    const char *word;
    struct yarn_callgraph callgraph;
} words[] = {
    {"auto", {YARN_CALLGRAPH_AUTO, YARN_STACK_BYTES_DEFAULT}},
    {"fp", {YARN_CALLGRAPH_FP, 0}},
    {"dwarf", {YARN_CALLGRAPH_DWARF, YARN_STACK_BYTES_DEFAULT}},
    {"lbr", {YARN_CALLGRAPH_LBR, 0}},
    {"none", {YARN_CALLGRAPH_NONE, 0}},
    {"no", {YARN_CALLGRAPH_NONE, 0}},
};

int yarn_callgraph_parse(const char *text, size_t size, struct yarn_callgraph *ret_callgraph,
                         struct yarn_parse_error *ret_error)
{
    static const char sized[] = "dwarf:";
    const size_t prefix = sizeof sized - 1;
    for (size_t i = 0; i < YARN_COUNT_OF(words); i++) {
        if (size == strlen(words[i].word) && memcmp(text, words[i].word, size) == 0) {
            *ret_callgraph = words[i].callgraph;
            return 0;
        }
    }
    if (size < prefix || memcmp(text, sized, prefix) != 0)
        return fail_at(ret_error, 0, size, "not a way to record stacks");
    uint32_t bytes;
    int err = yarn_callgraph_parse_stack(text + prefix, size - prefix, &bytes, ret_error);
    if (err) {
        ret_error->at += prefix;
        return err;
    }
    *ret_callgraph = (struct yarn_callgraph){YARN_CALLGRAPH_DWARF, bytes};
    return 0;
}

void yarn_callgraph_describe(const struct yarn_callgraph *callgraph, struct yarn_text *text)
{
    for (size_t i = 0; i < YARN_COUNT_OF(words); i++) {
        if (words[i].callgraph.kind != callgraph->kind)
            continue;
        yarn_text_add(text, words[i].word);
        if (callgraph->kind == YARN_CALLGRAPH_DWARF) {
            yarn_text_add(text, ":");
            yarn_text_add_u64(text, callgraph->stack_bytes);
        }
        return;
    }
}
