/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as an environment (entries end at NUL): a fault can be reported in one line; options
 * that are understood survive the way through an environment; the output pattern gives a path.
 */
#include "core/config/options.h"
#include "core/config/pattern.h"
#include "tests/support/options_environment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct yarn_arena arena;
static char block[8192];

static void require(bool holds)
{
    if (!holds)
        __builtin_trap();
}

static void split_entries(const uint8_t *data, size_t size, char *envp[], size_t max)
{
    size_t count = 0;
    size = yarn_size_min(size, sizeof block - 1);
    if (size)
        memcpy(block, data, size);
    block[size] = 0;
    for (size_t at = 0; at < size && count + 1 < max; at += strlen(block + at) + 1)
        envp[count++] = block + at;
    envp[count] = NULL;
}

static void check_fault(const struct yarn_option_fault *fault)
{
    char buffer[512];
    struct yarn_text text = yarn_text_of(buffer, sizeof buffer);
    yarn_option_fault_describe(fault, &text);
    require(!text.cut && fault->word.size);
    for (size_t i = 0; i < text.size; i++)
        require((uint8_t)buffer[i] >= ' ');
}

static void check_round_trip(const struct yarn_options *options)
{
    char *envp[YARN_OPTION_COUNT + 1];
    struct yarn_options again;
    struct yarn_option_fault fault;
    options_environment(envp, options, &arena);
    require(yarn_options_from_env(&again, &arena, envp, &fault) == 0);
    for (size_t i = 0; i < YARN_OPTION_COUNT; i++)
        require(strcmp(options->texts[i], again.texts[i]) == 0);
    require(options->frequency_hz == again.frequency_hz);
    require(options->ring_bytes == again.ring_bytes);
    require(options->interval_ns == again.interval_ns);
    require(options->callgraph.stack_bytes == again.callgraph.stack_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *envp[64];
    char path[4096];
    struct yarn_options options;
    struct yarn_option_fault fault;
    struct yarn_parse_error error;
    struct yarn_text text = yarn_text_of(path, sizeof path);

    if (!arena.base)
        yarn_arena_open(&arena, 4 * YARN_OPTIONS_ARENA_BYTES);
    yarn_arena_rewind(&arena, 0);
    split_entries(data, size, envp, YARN_COUNT_OF(envp));
    int err = yarn_options_from_env(&options, &arena, envp, &fault);
    require(err == 0 || err == -EINVAL);
    if (err) {
        check_fault(&fault);
        return 0;
    }
    check_round_trip(&options);
    struct yarn_pattern_facts facts = {.exe = "/bin/x", .host = "h", .envp = envp};
    err = yarn_pattern_expand(options.output, &facts, &text, &error);
    require(err == 0 || err == -ENAMETOOLONG);
    return 0;
}
