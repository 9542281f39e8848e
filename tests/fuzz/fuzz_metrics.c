/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as a file of metrics: a fault has a line and a sentence, what is understood can be
 * worked out.
 */
#include "output/metrics/metric_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct yarn_metric_file file;
    static double values[YARN_METRIC_VARIABLE_COUNT + YARN_METRIC_NAMES_MAX];
    struct yarn_metric_fault fault;
    struct yarn_arena arena = YARN_ARENA_CLOSED;
    yarn_arena_open(&arena, 1 << 20);
    int err = yarn_metric_file_parse(yarn_span_of(data, size), &arena, &file, &fault);
    require(!err || err == -ENOMEM || (fault.line && fault.text[0]));
    for (size_t i = 0; !err && i < file.nr_metrics; i++) {
        double value = yarn_expression_evaluate(&file.metrics[i].expression, values);
        int missing = yarn_expression_missing(&file.metrics[i].expression, values);
        require(missing == -ENOENT && file.metrics[i].unit[0] && file.metrics[i].text);
        values[0] = value == value ? value : 1;
    }
    values[0] = 0;
    yarn_arena_close(&arena);
    return 0;
}
