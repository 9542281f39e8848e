/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/text.h"

struct yarn_text yarn_text_of(char *data, size_t capacity)
{
    data[0] = 0;
    return (struct yarn_text){.data = data, .capacity = capacity};
}

void yarn_text_add_sized(struct yarn_text *text, const char *more, size_t size)
{
    size_t room = text->capacity - text->size - 1;
    if (size > room) {
        size = room;
        text->cut = true;
    }
    if (size)
        memcpy(text->data + text->size, more, size);
    text->size += size;
    text->data[text->size] = 0;
}

void yarn_text_add(struct yarn_text *text, const char *more)
{
    yarn_text_add_sized(text, more, strlen(more));
}

static void add_in_base(struct yarn_text *text, uint64_t value, unsigned base)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    yarn_text_add_sized(text, digits + at, sizeof digits - at);
}

void yarn_text_add_u64(struct yarn_text *text, uint64_t value)
{
    add_in_base(text, value, 10);
}

void yarn_text_add_i64(struct yarn_text *text, int64_t value)
{
    if (value < 0)
        yarn_text_add(text, "-");
    add_in_base(text, value < 0 ? -(uint64_t)value : (uint64_t)value, 10);
}

void yarn_text_add_hex(struct yarn_text *text, uint64_t value)
{
    add_in_base(text, value, 16);
}

static const char *add_argument(struct yarn_text *text, const char *letter, va_list *arguments)
{
    if (*letter == 's')
        yarn_text_add(text, va_arg(*arguments, const char *));
    else if (*letter == 'd')
        yarn_text_add_i64(text, va_arg(*arguments, int));
    else
        yarn_text_add_u64(text, va_arg(*arguments, unsigned long));
    return letter + (*letter == 'l' ? 2 : 1);
}

/* Why inline: host threads have little stack. */
static inline __attribute__((always_inline)) void
add_arguments(struct yarn_text *text, const char *format, va_list *arguments)
{
    while (*format) {
        size_t plain = strcspn(format, "%");
        yarn_text_add_sized(text, format, plain);
        format += plain;
        if (*format)
            format = add_argument(text, format + 1, arguments);
    }
}

void yarn_text_add_format(struct yarn_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_arguments(text, format, &arguments);
    va_end(arguments);
}

void yarn_text_add_arguments(struct yarn_text *text, const char *format, va_list *arguments)
{
    add_arguments(text, format, arguments);
}

static int digit_of(char c, unsigned base)
{
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    return digit < (int)base ? digit : -1;
}

/* Takes the digits at the front of the text and says how many there were. */
static int parse_digits(const char *text, size_t size, unsigned base, uint64_t *ret_value,
                        size_t *ret_taken)
{
    uint64_t value = 0;
    size_t at = 0;
    for (; at < size && digit_of(text[at], base) >= 0; at++) {
        uint64_t digit = (uint64_t)digit_of(text[at], base);
        if (value > (UINT64_MAX - digit) / base)
            return -ERANGE;
        value = value * base + digit;
    }
    if (!at)
        return -EINVAL;
    *ret_value = value;
    *ret_taken = at;
    return 0;
}

int yarn_parse_u64(const char *text, size_t size, uint64_t *ret_value)
{
    uint64_t value;
    size_t taken;
    int err = parse_digits(text, size, 10, &value, &taken);
    if (err)
        return err;
    if (taken != size)
        return -EINVAL;
    *ret_value = value;
    return 0;
}

int yarn_parse_number(const char *text, size_t size, uint64_t *ret_value)
{
    uint64_t value;
    size_t taken;
    if (size < 3 || text[0] != '0' || (text[1] != 'x' && text[1] != 'X'))
        return yarn_parse_u64(text, size, ret_value);
    int err = parse_digits(text + 2, size - 2, 16, &value, &taken);
    if (err)
        return err;
    if (taken != size - 2)
        return -EINVAL;
    *ret_value = value;
    return 0;
}

size_t yarn_parse_hex_front(const char *text, size_t size, uint64_t *ret_value)
{
    size_t taken;
    return parse_digits(text, size, 16, ret_value, &taken) ? 0 : taken;
}

struct suffix {
    const char *name;
    uint64_t factor;
};

static const struct suffix *find_suffix(const struct suffix *suffixes, size_t count,
                                        const char *text, size_t size)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(suffixes[i].name) == size && memcmp(suffixes[i].name, text, size) == 0)
            return &suffixes[i];
    return NULL;
}

/* The fraction whose decimal digits are given, times the factor, rounded down. */
static uint64_t scale_fraction(const char *digits, size_t count, uint64_t factor)
{
    uint64_t value = 0;
    for (size_t i = count; i-- > 0;)
        value = (value + (uint64_t)digit_of(digits[i], 10) * factor) / 10;
    return value;
}

/* NUMBER[.FRACTION]SUFFIX, times the suffix's factor, which is below 2^60. */
static int parse_scaled(const char *text, size_t size, const struct suffix *suffixes, size_t count,
                        uint64_t *ret_value)
{
    uint64_t whole;
    size_t at;
    int err = parse_digits(text, size, 10, &whole, &at);
    if (err)
        return err;
    size_t point = at;
    size_t nr_decimals = 0;
    if (at < size && text[at] == '.') {
        for (at++; at < size && digit_of(text[at], 10) >= 0; at++)
            nr_decimals++;
        if (!nr_decimals)
            return -EINVAL;
    }
    const struct suffix *suffix = find_suffix(suffixes, count, text + at, size - at);
    if (!suffix || (nr_decimals && suffix->factor == 1))
        return -EINVAL;
    if (whole > UINT64_MAX / suffix->factor)
        return -ERANGE;
    uint64_t value = whole * suffix->factor;
    uint64_t fraction = 0;
    if (nr_decimals)
        fraction = scale_fraction(text + point + 1, nr_decimals, suffix->factor);
    if (fraction > UINT64_MAX - value)
        return -ERANGE;
    *ret_value = value + fraction;
    return 0;
}

int yarn_parse_bytes(const char *text, size_t size, uint64_t *ret_bytes)
{
    static const struct suffix suffixes[] = {
        {"", 1},          {"B", 1},         {"K", 1 << 10},  {"k", 1 << 10},
        {"KB", 1 << 10},  {"KiB", 1 << 10}, {"M", 1 << 20},  {"MB", 1 << 20},
        {"MiB", 1 << 20}, {"G", 1 << 30},   {"GB", 1 << 30}, {"GiB", 1 << 30},
    };
    return parse_scaled(text, size, suffixes, YARN_COUNT_OF(suffixes), ret_bytes);
}

static int parse_duration(const char *text, size_t size, uint64_t bare_ns, uint64_t *ret_ns)
{
    const struct suffix suffixes[] = {
        {"", bare_ns},
        {"s", YARN_NS_PER_SECOND},
        {"ms", YARN_NS_PER_MS},
        {"us", 1000},
        {"ns", 1},
        {"m", 60 * YARN_NS_PER_SECOND},
        {"min", 60 * YARN_NS_PER_SECOND},
        {"h", 3600 * YARN_NS_PER_SECOND},
    };
    return parse_scaled(text, size, suffixes, YARN_COUNT_OF(suffixes), ret_ns);
}

int yarn_parse_duration(const char *text, size_t size, uint64_t *ret_ns)
{
    return parse_duration(text, size, YARN_NS_PER_SECOND, ret_ns);
}

int yarn_parse_duration_ms(const char *text, size_t size, uint64_t *ret_ns)
{
    return parse_duration(text, size, YARN_NS_PER_MS, ret_ns);
}

int yarn_parse_count(const char *text, size_t size, uint64_t *ret_count)
{
    static const struct suffix suffixes[] = {
        {"", 1}, {"k", 1000}, {"K", 1000}, {"M", 1000000}, {"G", 1000000000},
    };
    return parse_scaled(text, size, suffixes, YARN_COUNT_OF(suffixes), ret_count);
}

const char *yarn_path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}
