/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/pmu.h"

#include "core/base/text.h"

enum { BITS = 64 };

static uint64_t bits_of(uint64_t first, uint64_t last)
{
    return (UINT64_MAX >> (BITS - 1 - (last - first))) << first;
}

/* The decimal number at *at, which goes on behind it; false where there is none below 64. */
static bool take_bit(struct yarn_span text, size_t *at, uint64_t *ret_bit)
{
    uint64_t bit = 0;
    size_t first = *at;
    for (; *at < text.size && text.data[*at] >= '0' && text.data[*at] <= '9'; (*at)++) {
        bit = bit * 10 + (uint64_t)(text.data[*at] - '0');
        if (bit >= BITS)
            return false;
    }
    *ret_bit = bit;
    return *at > first;
}

/* "0-7,32" */
static int parse_ranges(struct yarn_span text, uint64_t *ret_bits)
{
    uint64_t bits = 0, first, last;
    for (size_t at = 0;; at++) {
        if (!take_bit(text, &at, &first))
            return -EINVAL;
        last = first;
        if (at < text.size && text.data[at] == '-') {
            at++;
            if (!take_bit(text, &at, &last) || last < first)
                return -EINVAL;
        }
        bits |= bits_of(first, last);
        if (at == text.size)
            break;
        if (text.data[at] != ',')
            return -EINVAL;
    }
    *ret_bits = bits;
    return 0;
}

int yarn_pmu_format_parse(struct yarn_span text, struct yarn_pmu_format *ret_format)
{
    static const char *const names[YARN_PMU_CONFIGS] = {"config:", "config1:", "config2:"};
    for (unsigned i = 0; i < YARN_PMU_CONFIGS; i++) {
        struct yarn_span name = yarn_span_of_text(names[i]);
        struct yarn_pmu_format format = {.config = i};
        if (!yarn_span_equal(yarn_span_sub(text, 0, name.size), name))
            continue;
        int err = parse_ranges(yarn_span_from(text, name.size), &format.bits);
        if (!err)
            *ret_format = format;
        return err;
    }
    return -EINVAL;
}

uint64_t yarn_pmu_format_max(const struct yarn_pmu_format *format)
{
    return format->bits ? UINT64_MAX >> (BITS - __builtin_popcountll(format->bits)) : 0;
}

void yarn_pmu_format_put(const struct yarn_pmu_format *format, uint64_t value, uint64_t *config)
{
    *config &= ~format->bits;
    for (uint64_t left = format->bits; left; left &= left - 1, value >>= 1)
        if (value & 1)
            *config |= left & -left;
}

/* Digits, with a point among them, and how many of them stand behind it. */
static size_t take_digits(struct yarn_span text, double *ret_value, int *ret_behind)
{
    size_t at = 0;
    bool has_point = false;
    for (; at < text.size; at++) {
        uint8_t c = text.data[at];
        if (c == '.' && !has_point) {
            has_point = true;
            continue;
        }
        if (c < '0' || c > '9')
            break;
        *ret_value = *ret_value * 10 + (c - '0');
        *ret_behind += has_point;
    }
    return at;
}

int yarn_pmu_scale_parse(struct yarn_span text, double *ret_scale)
{
    double value = 0, power = 1;
    int exponent = 0;
    uint64_t digits = 0;
    size_t at = take_digits(text, &value, &exponent);
    exponent = -exponent;
    if (at < text.size && (text.data[at] | 0x20) == 'e') {
        bool is_negative = ++at < text.size && text.data[at] == '-';
        at += is_negative || (at < text.size && text.data[at] == '+');
        if (yarn_parse_u64((const char *)text.data + at, text.size - at, &digits) || digits > 300)
            return -EINVAL;
        exponent += is_negative ? -(int)digits : (int)digits;
        at = text.size;
    }
    if (at < text.size || !(value > 0) || exponent < -300 || exponent > 300)
        return -EINVAL;
    for (int i = exponent < 0 ? -exponent : exponent; i > 0; i--)
        power *= 10;
    *ret_scale = exponent < 0 ? value / power : value * power;
    return 0;
}

static int path_in(const struct yarn_pmu *pmu, const char *folder, struct yarn_span name,
                   char ret_path[YARN_MACHINE_PATH_MAX])
{
    struct yarn_span parts[] = {yarn_span_of_text(pmu->name), yarn_span_of_text(folder), name};
    if (!folder[0]) {
        parts[1] = name;
        return yarn_machine_path(pmu->machine->pmus, parts, 2, ret_path);
    }
    return yarn_machine_path(pmu->machine->pmus, parts, name.size ? 3 : 2, ret_path);
}

/* The file's text; its size, 0 where there is none of that name. */
static int read_own(const struct yarn_pmu *pmu, const char *name, char *ret_text, size_t capacity)
{
    char path[YARN_MACHINE_PATH_MAX];
    int err = path_in(pmu, "", yarn_span_of_text(name), path);
    return err ? err : yarn_machine_read(path, ret_text, capacity);
}

static int read_cpus(struct yarn_pmu *pmu, const char *name, struct yarn_arena *arena)
{
    char text[1024];
    int size = read_own(pmu, name, text, sizeof text);
    if (size <= 0)
        return -ENOENT;
    pmu->cpus = yarn_arena_text(arena, text, (size_t)size);
    return pmu->cpus ? 0 : -ENOMEM;
}

/* PMUs of machines with one kind of core have no list of cpus, or are called cpu. */
static bool is_core_name(const char *name)
{
    static const char *const fronts[] = {"cpu_", "armv", "apple_", "riscv"};
    for (size_t i = 0; i < YARN_COUNT_OF(fronts); i++)
        if (strncmp(name, fronts[i], strlen(fronts[i])) == 0)
            return true;
    return strcmp(name, "cpu") == 0;
}

int yarn_pmu_find(const struct yarn_event_machine *machine, struct yarn_span name,
                  struct yarn_arena *arena, struct yarn_pmu *ret_pmu)
{
    char path[YARN_MACHINE_PATH_MAX], text[32];
    struct yarn_span parts[] = {name, yarn_span_of_text("type")};
    uint64_t type;
    int size = yarn_machine_path(machine->pmus, parts, 2, path);
    if (!size)
        size = yarn_machine_read(path, text, sizeof text);
    if (size < 0 || yarn_parse_u64(text, (size_t)size, &type) || type > UINT32_MAX)
        return size < 0 && size != -ENOTDIR ? size : -ENOENT;
    struct yarn_pmu pmu = {
        .machine = machine,
        .name = yarn_arena_text(arena, (const char *)name.data, name.size),
        .type = (uint32_t)type,
    };
    if (!pmu.name)
        return -ENOMEM;
    pmu.is_core = is_core_name(pmu.name);
    int err = read_cpus(&pmu, "cpus", arena);
    if (err == -ENOENT) {
        err = read_cpus(&pmu, "cpumask", arena);
        pmu.is_of_cpus = !err;
    }
    if (err == -ENOMEM)
        return err;
    *ret_pmu = pmu;
    return 0;
}

/* A file in one of the folders, by its name as it is, and then with - for _ and _ for -. */
static int read_named(const struct yarn_pmu *pmu, const char *folder, struct yarn_span name,
                      char *ret_text, size_t capacity)
{
    static const char swaps[][2] = {{'-', '_'}, {'_', '-'}};
    char path[YARN_MACHINE_PATH_MAX], other[YARN_MACHINE_NAME_MAX];
    if (name.size > sizeof other)
        return -ENOENT;
    int size = path_in(pmu, folder, name, path);
    if (!size)
        size = yarn_machine_read(path, ret_text, capacity);
    for (size_t i = 0; size == -ENOENT && i < YARN_COUNT_OF(swaps); i++) {
        if (!memchr(name.data, swaps[i][0], name.size))
            continue;
        for (size_t at = 0; at < name.size; at++)
            other[at] = (char)(name.data[at] == swaps[i][0] ? swaps[i][1] : (char)name.data[at]);
        size = path_in(pmu, folder, yarn_span_of(other, name.size), path);
        if (!size)
            size = yarn_machine_read(path, ret_text, capacity);
    }
    return size == -EISDIR || size == -ENOTDIR ? -ENOENT : size;
}

int yarn_pmu_find_format(const struct yarn_pmu *pmu, struct yarn_span term,
                         struct yarn_pmu_format *ret_format)
{
    char text[128];
    int size = term.size ? read_named(pmu, "format", term, text, sizeof text) : -ENOENT;
    return size < 0 ? size : yarn_pmu_format_parse(yarn_span_of(text, (size_t)size), ret_format);
}

/* NAME.scale and NAME.unit beside an event say what its count means. */
static int read_beside(const struct yarn_pmu *pmu, struct yarn_span name, const char *ending,
                       char *ret_text, size_t capacity)
{
    char buffer[YARN_MACHINE_NAME_MAX];
    struct yarn_text text = yarn_text_of(buffer, sizeof buffer);
    yarn_text_add_sized(&text, (const char *)name.data, name.size);
    yarn_text_add(&text, ending);
    return text.cut
               ? -ENOENT
               : read_named(pmu, "events", yarn_span_of(buffer, text.size), ret_text, capacity);
}

static bool is_beside(struct yarn_span name)
{
    static const char *const endings[] = {".scale", ".unit", ".per-pkg", ".snapshot"};
    for (size_t i = 0; i < YARN_COUNT_OF(endings); i++) {
        size_t size = strlen(endings[i]);
        if (name.size > size && memcmp(name.data + name.size - size, endings[i], size) == 0)
            return true;
    }
    return false;
}

int yarn_pmu_find_event(const struct yarn_pmu *pmu, struct yarn_span name, struct yarn_arena *arena,
                        struct yarn_pmu_event *ret_event)
{
    struct yarn_pmu_event event = {.scale = 1};
    char text[128];
    if (!name.size || is_beside(name))
        return -ENOENT;
    int size = read_named(pmu, "events", name, event.terms, sizeof event.terms);
    if (size < 0)
        return size;
    size = read_beside(pmu, name, ".scale", text, sizeof text);
    if (size > 0 && yarn_pmu_scale_parse(yarn_span_of(text, (size_t)size), &event.scale))
        return -EINVAL;
    size = read_beside(pmu, name, ".unit", text, sizeof text);
    if (size > 0) {
        event.unit = yarn_arena_text(arena, text, (size_t)size);
        if (!event.unit)
            return -ENOMEM;
    }
    *ret_event = event;
    return 0;
}

bool yarn_pmu_has_event(const struct yarn_pmu *pmu, struct yarn_span name)
{
    char path[YARN_MACHINE_PATH_MAX], text[8];
    return name.size && !is_beside(name) && path_in(pmu, "events", name, path) == 0 &&
           yarn_machine_read(path, text, sizeof text) >= 0;
}

void yarn_pmu_list(const struct yarn_event_machine *machine, yarn_machine_name_fn *tell, void *self)
{
    int err = yarn_machine_list(machine->pmus, tell, self);
    (void)err;
}

static void list_in(const struct yarn_pmu *pmu, const char *folder, yarn_machine_name_fn *tell,
                    void *self)
{
    char path[YARN_MACHINE_PATH_MAX];
    int err = path_in(pmu, folder, YARN_SPAN_EMPTY, path);
    if (!err)
        err = yarn_machine_list(path, tell, self);
    (void)err;
}

void yarn_pmu_list_formats(const struct yarn_pmu *pmu, yarn_machine_name_fn *tell, void *self)
{
    list_in(pmu, "format", tell, self);
}

struct events {
    yarn_machine_name_fn *tell;
    void *self;
};

static bool pass_event(void *self, const char *name)
{
    const struct events *events = self;
    return is_beside(yarn_span_of_text(name)) || events->tell(events->self, name);
}

void yarn_pmu_list_events(const struct yarn_pmu *pmu, yarn_machine_name_fn *tell, void *self)
{
    struct events events = {tell, self};
    list_in(pmu, "events", pass_event, &events);
}
