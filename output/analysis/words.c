/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/words.h"

static const char *word(const char *const *words, size_t count, uint32_t number)
{
    return number < count ? words[number] : "unknown";
}

const char *yarn_word_of_end(uint32_t reason)
{
    static const char *const words[YARN_DUMP_END_REASON_COUNT] = {
        [YARN_DUMP_END_EXIT] = "exit",     [YARN_DUMP_END_EXIT_RAW] = "exit_raw",
        [YARN_DUMP_END_EXEC] = "exec",     [YARN_DUMP_END_STOPPED] = "stopped",
        [YARN_DUMP_END_FAILED] = "failed", [YARN_DUMP_END_SECCOMP] = "seccomp",
    };
    return word(words, YARN_COUNT_OF(words), reason);
}

const char *yarn_word_of_message(uint32_t kind)
{
    static const char *const words[YARN_DUMP_MESSAGE_KIND_COUNT] = {
        [YARN_DUMP_MESSAGE_ERROR] = "error", [YARN_DUMP_MESSAGE_WARNING] = "warning",
        [YARN_DUMP_MESSAGE_INFO] = "info",   [YARN_DUMP_MESSAGE_DEBUG] = "debug",
        [YARN_DUMP_MESSAGE_MARK] = "mark",
    };
    return word(words, YARN_COUNT_OF(words), kind);
}

const char *yarn_word_of_coverage_cause(uint32_t cause)
{
    static const char *const words[YARN_DUMP_COVERAGE_CAUSE_COUNT] = {
        [YARN_DUMP_COVERAGE_OPTION] = "option",     [YARN_DUMP_COVERAGE_PROGRAM] = "program",
        [YARN_DUMP_COVERAGE_SOCKET] = "socket",     [YARN_DUMP_COVERAGE_DELAY] = "delay",
        [YARN_DUMP_COVERAGE_DURATION] = "duration",
    };
    return word(words, YARN_COUNT_OF(words), cause);
}

const char *yarn_word_of_module_kind(uint32_t kind)
{
    static const char *const words[] = {"file", "vdso", "anonymous"};
    return word(words, YARN_COUNT_OF(words), kind);
}

const char *yarn_word_of_module_state(uint32_t state)
{
    static const char *const words[] = {"untried", "open", "absent", "replaced"};
    return word(words, YARN_COUNT_OF(words), state);
}

const char *yarn_word_of_clock(uint32_t clock)
{
    static const char *const words[] = {"monotonic", "monotonic_raw", "boottime"};
    return word(words, YARN_COUNT_OF(words), clock);
}
