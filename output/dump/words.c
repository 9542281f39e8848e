/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/words.h"

static const char unknown[] = "unknown";

/* clang-format off */
#define YARN_ENUM(NAME, name, prose)                                                               \
    const char *yarn_dump_word_of_##name(uint64_t value)                                           \
    {                                                                                              \
        switch (value) {
#define YARN_VALUE(NAME, VALUE, number, word, prose)                                               \
        case YARN_DUMP_##VALUE:                                                                    \
            return word;
#define YARN_ENUM_END(NAME)                                                                        \
        default:                                                                                   \
            return unknown;                                                                        \
        }                                                                                          \
    }
#include "output/dump/format.def"
/* clang-format on */

#define YARN_ENUM(NAME, name, prose)                                                               \
    bool yarn_dump_is_##name(uint64_t value)                                                       \
    {                                                                                              \
        return yarn_dump_word_of_##name(value) != unknown;                                         \
    }
#include "output/dump/format.def"

static const struct {
    const char *name;
    const char *(*word_of)(uint64_t value);
} enumerations[] = {
#define YARN_ENUM(NAME, name, prose) {#name, yarn_dump_word_of_##name},
#include "output/dump/format.def"
};

const char *yarn_dump_word(const char *enumeration, uint64_t value)
{
    for (size_t i = 0; i < YARN_COUNT_OF(enumerations); i++) {
        if (strcmp(enumerations[i].name, enumeration) == 0)
            return enumerations[i].word_of(value);
    }
    return unknown;
}
