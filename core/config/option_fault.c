/* SPDX-License-Identifier: Apache-2.0 */
#include "core/config/options.h"

/* Why replaced: the line goes to a terminal, and the value may be anything. */
static void add_printable(struct yarn_text *text, struct yarn_span word)
{
    static const size_t shown_max = 80;
    size_t shown = yarn_size_min(word.size, shown_max);
    for (size_t i = 0; i < shown; i++) {
        bool is_control = word.data[i] < ' ' || word.data[i] == 0x7f;
        yarn_text_add_sized(text, is_control ? "?" : (const char *)word.data + i, 1);
    }
    if (shown < word.size)
        yarn_text_add(text, "...");
}

void yarn_option_fault_describe(const struct yarn_option_fault *fault, struct yarn_text *text)
{
    yarn_text_add(text, "yarn: ");
    if (fault->option == YARN_OPTION_COUNT || fault->in_compact)
        yarn_text_add(text, "YARN");
    else
        yarn_option_variable(fault->option, text);
    yarn_text_add(text, ": ");
    if (fault->option != YARN_OPTION_COUNT && fault->in_compact)
        yarn_text_add_format(text, "%s: ", yarn_option_row(fault->option)->name);
    if (fault->word.size) {
        yarn_text_add(text, "\"");
        add_printable(text, fault->word);
        yarn_text_add(text, "\": ");
    }
    yarn_text_add_format(text, "%s; %s would be right", fault->why, fault->right);
}
