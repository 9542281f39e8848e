/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as the files of a PMU: format, event, scale and cpus, each to a newline, and then a
 * list of events. What is understood has a configuration within the format's bits and can be
 * described.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/event/parse.h"
#include "core/event/pmu.h"
#include "core/event/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct yarn_arena arena;
static char root[] = "/tmp/yarn-fuzz-pmu-XXXXXX";

static void require(bool holds)
{
    if (!holds)
        __builtin_trap();
}

static void write_file(const char *name, struct yarn_span text)
{
    char path[64];
    (void)snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *file = fopen(path, "w");
    require(file);
    (void)fwrite(text.data, 1, text.size, file);
    (void)fclose(file);
}

static void make_folder(const char *name)
{
    char path[64];
    (void)snprintf(path, sizeof path, "%s/%s", root, name);
    (void)mkdir(path, 0700);
}

static void clean_up(void)
{
    char command[64];
    (void)snprintf(command, sizeof command, "rm -rf %s", root);
    require(system(command) == 0);
}

static void begin(void)
{
    yarn_arena_open(&arena, YARN_MIB(1));
    require(mkdtemp(root) && atexit(clean_up) == 0);
    make_folder("cpu_p");
    make_folder("cpu_p/format");
    make_folder("cpu_p/events");
    write_file("cpu_p/type", yarn_span_of_text("77\n"));
    write_file("cpu_p/format/b", yarn_span_of_text("config1:3-9\n"));
}

static struct yarn_span take_line(struct yarn_span *rest)
{
    const uint8_t *end = rest->size ? memchr(rest->data, '\n', rest->size) : NULL;
    struct yarn_span line = end ? yarn_span_sub(*rest, 0, (size_t)(end - rest->data)) : *rest;
    *rest = yarn_span_from(*rest, line.size + (end != NULL));
    return line;
}

static void check_format(struct yarn_span text)
{
    struct yarn_pmu_format format;
    uint64_t config = UINT64_MAX;
    if (yarn_pmu_format_parse(text, &format))
        return;
    require(format.config < YARN_PMU_CONFIGS && format.bits);
    yarn_pmu_format_put(&format, 0, &config);
    require(config == ~format.bits);
    yarn_pmu_format_put(&format, yarn_pmu_format_max(&format), &config);
    require(config == UINT64_MAX);
}

static void check_list(const struct yarn_event_machine *machine, struct yarn_span text)
{
    static struct yarn_event_list list, again;
    static char buffer[1 << 20];
    struct yarn_parse_error error = {.why = NULL};
    int err = yarn_event_list_parse_on(machine, (const char *)text.data, text.size, &arena, &list,
                                       &error);
    if (err == -EINVAL)
        require(error.why && error.at <= text.size && error.size <= text.size - error.at);
    for (size_t i = 0; !err && i < list.count; i++) {
        const struct yarn_event_spec *spec = &list.specs[i];
        struct yarn_text described = yarn_text_of(buffer, sizeof buffer);
        require(spec->scale > 0);
        yarn_event_spec_describe(spec, &described);
        if (described.cut ||
            yarn_event_list_parse_on(machine, buffer, described.size, &arena, &again, &error))
            __builtin_trap();
        require(again.count == 1 && again.specs[0].config == spec->config);
        require(again.specs[0].config1 == spec->config1 && again.specs[0].type == spec->type);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yarn_span rest = yarn_span_of(data, size);
    struct yarn_event_machine machine = {.pmus = root, .tracing = "/nowhere"};
    double scale;
    char cpus[64] = "";
    static bool is_begun;
    if (!is_begun)
        begin();
    is_begun = true;
    yarn_arena_rewind(&arena, 0);
    struct yarn_span format = take_line(&rest), event = take_line(&rest);
    struct yarn_span factor = take_line(&rest), list = take_line(&rest);
    check_format(format);
    if (!yarn_pmu_scale_parse(factor, &scale))
        require(scale > 0);
    memcpy(cpus, list.data ? list.data : data, yarn_size_min(list.size, sizeof cpus - 1));
    if (yarn_cpu_list_has(cpus, 3))
        require(cpus[0] >= '0' && cpus[0] <= '9');
    write_file("cpu_p/format/a", format);
    write_file("cpu_p/events/e", event);
    write_file("cpu_p/events/e.scale", factor);
    write_file("cpu_p/cpus", list);
    check_list(&machine, rest);
    return 0;
}
