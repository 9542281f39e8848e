/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/events/catalogue.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/event/catalog.h"
#include "core/event/parse.h"
#include "core/event/pmu.h"
#include "output/base/array.h"
#include "output/yarnprof/events/encode.h"

const char *const yarn_catalogue_kinds[YARN_EVENT_KIND_COUNT] = {
    [YARN_EVENT_CLOCK] = "clock",
    [YARN_EVENT_SOFTWARE] = "software",
    [YARN_EVENT_HARDWARE] = "hardware",
    [YARN_EVENT_CACHE] = "cache",
    [YARN_EVENT_RAW] = "raw",
    [YARN_EVENT_PMU] = "pmu",
    [YARN_EVENT_TRACEPOINT] = "tracepoint",
    [YARN_EVENT_BREAKPOINT] = "breakpoint",
    [YARN_EVENT_PROBE] = "probe",
    [YARN_EVENT_OFF_CPU] = "off-cpu",
};

static const char *keep(struct yarn_catalogue *catalogue, const char *text)
{
    const char *copy = yarn_arena_text(&catalogue->arena, text, strlen(text));
    catalogue->has_no_memory |= !copy;
    return copy;
}

static void add(struct yarn_catalogue *catalogue, const char *name, enum yarn_event_kind kind,
                const char *help, const struct yarn_usable *usable)
{
    struct yarn_catalogue_row row = {
        .name = keep(catalogue, name),
        .kind = yarn_catalogue_kinds[kind],
        .help = help,
        .is_usable = usable->is_usable,
        .why = keep(catalogue, usable->why),
    };
    if (!catalogue->has_no_memory)
        catalogue->has_no_memory =
            YARN_ARRAY_PUT(&catalogue->rows, &catalogue->count, &catalogue->room, &row);
}

/* What a name becomes decides whether it can be had; of several, the first. */
static void add_parsed(struct yarn_catalogue *catalogue, const char *text, const char *help)
{
    static struct yarn_event_list list;
    struct yarn_parse_error error;
    struct yarn_usable usable;
    size_t mark = catalogue->arena.used;
    if (yarn_event_list_parse_on(yarn_encode_machine(), text, strlen(text), &catalogue->arena,
                                 &list, &error))
        return;
    yarn_event_spec_apply_rate(&list.specs[0], 999);
    yarn_usable_ask(&list.specs[0], &usable);
    enum yarn_event_kind kind = list.specs[0].kind;
    yarn_arena_rewind(&catalogue->arena, mark);
    add(catalogue, text, kind, help, &usable);
}

static void add_named(struct yarn_catalogue *catalogue)
{
    const struct yarn_catalog_entry *entry;
    for (size_t i = 0; (entry = yarn_catalog_at(i)); i++)
        add_parsed(catalogue, entry->name, entry->help);
}

static void add_caches(struct yarn_catalogue *catalogue)
{
    static const char *const caches[] = {"L1-dcache", "L1-icache", "LLC", "dTLB",
                                         "iTLB",      "branch",    "node"};
    static const char *const rest[] = {"-loads",        "-load-misses", "-stores",
                                       "-store-misses", "-prefetches",  "-prefetch-misses"};
    char name[64];
    for (size_t i = 0; i < YARN_COUNT_OF(caches); i++) {
        for (size_t j = 0; j < YARN_COUNT_OF(rest); j++) {
            (void)snprintf(name, sizeof name, "%s%s", caches[i], rest[j]);
            add_parsed(catalogue, name, NULL); /* what a cache does not do is no event */
        }
    }
}

struct pmu_rows {
    struct yarn_catalogue *catalogue;
    struct yarn_pmu pmu;
};

static bool add_pmu_event(void *self, const char *name)
{
    struct pmu_rows *rows = self;
    char text[2 * YARN_MACHINE_NAME_MAX];
    (void)snprintf(text, sizeof text, "%s/%s/", rows->pmu.name, name);
    add_parsed(rows->catalogue, text, NULL);
    return true;
}

static bool has_any(void *self, const char *name)
{
    (void)name;
    *(bool *)self = true;
    return false;
}

static bool add_pmu(void *self, const char *name)
{
    struct pmu_rows rows = {.catalogue = self};
    char text[YARN_MACHINE_NAME_MAX + 32];
    bool has_terms = false;
    size_t before = rows.catalogue->count;
    if (yarn_pmu_find(&yarn_event_machine_here, yarn_span_of_text(name), &rows.catalogue->arena,
                      &rows.pmu))
        return true;
    yarn_pmu_list_formats(&rows.pmu, has_any, &has_terms);
    (void)snprintf(text, sizeof text, "%s//", name);
    if (has_terms)
        add_parsed(rows.catalogue, text,
                   "any event of the PMU: its terms stand between the slashes");
    yarn_pmu_list_events(&rows.pmu, add_pmu_event, &rows);
    if (!has_terms && rows.catalogue->count == before && rows.pmu.type >= PERF_TYPE_MAX)
        add_parsed(rows.catalogue, text, NULL);
    return true;
}

static bool add_encoded(void *self, const char *name)
{
    add_parsed(self, name, NULL);
    return true;
}

/* SYSTEM:NAME a line, as the kernel lists them all. */
static void add_tracepoints(struct yarn_catalogue *catalogue)
{
    char path[YARN_MACHINE_PATH_MAX], line[256], system[64];
    struct yarn_usable usable;
    (void)snprintf(path, sizeof path, "%s/available_events", yarn_event_machine_here.tracing);
    FILE *file = fopen(path, "re");
    if (!file) {
        yarn_usable_tracepoints(-errno, "", &usable);
        add(catalogue, "SYSTEM:TRACEPOINT", YARN_EVENT_TRACEPOINT, NULL, &usable);
        return;
    }
    struct yarn_usable others;
    yarn_usable_tracepoints(0, "", &others);
    yarn_usable_tracepoints(0, "syscalls", &usable);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (sscanf(line, "%63[^:]:", system) == 1)
            add(catalogue, line, YARN_EVENT_TRACEPOINT, NULL,
                strcmp(system, "syscalls") == 0 ? &usable : &others);
    }
    (void)fclose(file);
}

static void add_forms(struct yarn_catalogue *catalogue)
{
    static const struct {
        const char *name, *help, *example;
        enum yarn_event_kind kind;
    } forms[] = {
        {"rNNN", "an event of the cores' PMU by its number in hexadecimal", "r0", YARN_EVENT_RAW},
        {"mem:ADDRESS[/LENGTH][:rwx]", "reads, writes, or calls of what lies there", "mem:0x1000",
         YARN_EVENT_BREAKPOINT},
        {"mem:SYMBOL[+N][/LENGTH][:rwx]", "the same by name", "mem:0x1000", YARN_EVENT_BREAKPOINT},
        {"uprobe:PATH:SYMBOL[+OFFSET]", "calls of a function of a program or library",
         "uprobe:/proc:f", YARN_EVENT_PROBE},
        {"uretprobe:PATH:SYMBOL", "returns from it", "uretprobe:/proc:f", YARN_EVENT_PROBE},
        {"kprobe:SYMBOL[+OFFSET]", "calls of a function of the kernel", "kprobe:f",
         YARN_EVENT_PROBE},
        {"kretprobe:SYMBOL", "returns from it", "kretprobe:f", YARN_EVENT_PROBE},
    };
    for (size_t i = 0; i < YARN_COUNT_OF(forms); i++) {
        size_t before = catalogue->count;
        add_parsed(catalogue, forms[i].example, forms[i].help);
        if (catalogue->count > before)
            catalogue->rows[before].name = forms[i].name;
    }
}

int yarn_catalogue_make(struct yarn_catalogue *ret_catalogue)
{
    struct yarn_catalogue catalogue = {.arena = YARN_ARENA_CLOSED};
    yarn_arena_open(&catalogue.arena, YARN_MIB(64));
    add_named(&catalogue);
    add_caches(&catalogue);
    add_forms(&catalogue);
    yarn_pmu_list(&yarn_event_machine_here, add_pmu, &catalogue);
    yarn_encode_list(add_encoded, &catalogue);
    add_tracepoints(&catalogue);
    if (catalogue.has_no_memory) {
        yarn_catalogue_fini(&catalogue);
        return -ENOMEM;
    }
    *ret_catalogue = catalogue;
    return 0;
}

void yarn_catalogue_fini(struct yarn_catalogue *catalogue)
{
    free(catalogue->rows);
    catalogue->rows = NULL;
    yarn_arena_close(&catalogue->arena);
}
