/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/ask.h"

enum { NAME_BYTES = 1 << 20 };

struct yarn_symbol ask_symbol(struct yarn_symbols *symbols, const struct yarn_image *image,
                              const char *path, uint64_t vaddr)
{
    static uint64_t memory[NAME_BYTES / sizeof(uint64_t)];
    static uint8_t name[NAME_BYTES];
    struct yarn_arena names;
    struct yarn_symbol_question question = {.vaddr = vaddr};
    yarn_arena_open_over(&names, memory, sizeof memory);
    int err = yarn_symbols_ask(symbols, image, path, &question, 1, &names, UINT64_MAX);
    if (err)
        question.answer = (struct yarn_symbol){.start = 0};
    if (question.answer.name.size)
        memcpy(name, question.answer.name.data, question.answer.name.size);
    question.answer.name.data = name;
    yarn_arena_close(&names);
    return question.answer;
}
