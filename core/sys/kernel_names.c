/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/kernel_names.h"

#include "core/base/pages.h"
#include "core/base/sort.h"
#include "core/base/text.h"
#include "core/sys/file.h"

enum {
    BUFFER_BYTES = 64 << 10,
    STEP_BYTES = 48 << 10, /* about 0.4 ms */
    COUNT_MAX = 256 << 10,
    LAST_BYTES = 4096, /* of the last function, which has no next one */
};
#define TEXTS_BYTES YARN_MIB(12)
#define KEYS_BYTES (COUNT_MAX * sizeof(uint64_t))
#define HALF_REACH UINT64_C(0x80000000)

static bool is_code(uint8_t type)
{
    return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/* "ADDRESS TYPE NAME", behind a tab "[MODULE]" where it is a module's. */
int yarn_kernel_names_parse(struct yarn_span line, struct yarn_kernel_symbol *ret_symbol)
{
    struct yarn_kernel_symbol symbol = {.address = 0};
    size_t at = yarn_parse_hex_front((const char *)line.data, line.size, &symbol.address);
    if (!at || !symbol.address || !yarn_span_has(line, at, 4) || line.data[at] != ' ' ||
        !is_code(line.data[at + 1]) || line.data[at + 2] != ' ')
        return -EINVAL;
    symbol.name = yarn_span_from(line, at + 3);
    const uint8_t *tab = memchr(symbol.name.data, '\t', symbol.name.size);
    if (tab) {
        size_t size = (size_t)(tab - symbol.name.data);
        symbol.module = yarn_span_from(symbol.name, size + 1);
        symbol.name.size = size;
        if (symbol.module.size < 3 || symbol.module.data[0] != '[' ||
            symbol.module.data[symbol.module.size - 1] != ']')
            return -EINVAL;
        symbol.module = yarn_span_sub(symbol.module, 1, symbol.module.size - 2);
    }
    if (!symbol.name.size)
        return -EINVAL;
    *ret_symbol = symbol;
    return 0;
}

static int put_text(struct yarn_kernel_names *names, const struct yarn_kernel_symbol *symbol,
                    uint32_t *ret_at)
{
    size_t module_size = symbol->module.size ? symbol->module.size + 3 : 0;
    size_t size = symbol->name.size + module_size + 1;
    char *to = yarn_arena_alloc(&names->texts, size, 1);
    if (!to)
        return -ENOSPC;
    struct yarn_text text = yarn_text_of(to, size);
    yarn_text_add_sized(&text, (const char *)symbol->name.data, symbol->name.size);
    if (module_size) {
        yarn_text_add(&text, " [");
        yarn_text_add_sized(&text, (const char *)symbol->module.data, symbol->module.size);
        yarn_text_add(&text, "]");
    }
    *ret_at = (uint32_t)((size_t)((uint8_t *)to - names->texts.base));
    return 0;
}

/* Functions lie within a few GiB of each other, modules included; what does not is left out. */
static void add(struct yarn_kernel_names *names, const struct yarn_kernel_symbol *symbol)
{
    uint32_t text;
    if (!names->base)
        names->base = symbol->address - yarn_u64_min(symbol->address - 1, HALF_REACH);
    uint64_t distance = symbol->address - names->base;
    if (distance > UINT32_MAX || names->count == COUNT_MAX)
        return;
    if (put_text(names, symbol, &text) == 0)
        names->keys[names->count++] = distance << 32 | text;
}

static void take_lines(struct yarn_kernel_names *names)
{
    struct yarn_kernel_symbol symbol;
    const uint8_t *newline;
    uint8_t *buffer = names->buffer;
    size_t at = 0;
    while ((newline = memchr(buffer + at, '\n', names->held - at)) != NULL) {
        size_t end = (size_t)(newline - buffer);
        if (yarn_kernel_names_parse(yarn_span_of(buffer + at, end - at), &symbol) == 0)
            add(names, &symbol);
        at = end + 1;
    }
    names->held -= at;
    memmove(buffer, buffer + at, names->held);
}

/* Of several names at one address the first is kept, as the kernel itself prefers. */
static void sort(struct yarn_kernel_names *names)
{
    size_t kept = 0;
    yarn_sort_u64(names->keys, names->count);
    for (size_t i = 0; i < names->count; i++)
        if (!kept || names->keys[kept - 1] >> 32 != names->keys[i] >> 32)
            names->keys[kept++] = names->keys[i];
    names->count = kept;
}

static bool begin(struct yarn_kernel_names *names, const char *path)
{
    names->fd = yarn_file_open(YARN_FILE_CWD, path);
    names->buffer = yarn_pages_map(BUFFER_BYTES);
    names->keys = yarn_pages_map(KEYS_BYTES);
    yarn_arena_open(&names->texts, TEXTS_BYTES);
    return names->fd >= 0 && names->buffer && names->keys;
}

static void finish(struct yarn_kernel_names *names)
{
    yarn_file_close(names->fd);
    yarn_pages_unmap(names->buffer, BUFFER_BYTES);
    names->fd = -1;
    names->buffer = NULL;
    names->is_read = true;
    if (names->keys)
        sort(names);
}

bool yarn_kernel_names_step(struct yarn_kernel_names *names, const char *path)
{
    if (names->is_read)
        return true;
    bool is_good = names->buffer || begin(names, path);
    /* Why a bound in bytes: the kernel gives a page at a time. */
    for (size_t taken = 0; is_good && taken < STEP_BYTES;) {
        ssize_t got =
            yarn_file_read(names->fd, names->buffer + names->held, BUFFER_BYTES - names->held);
        is_good = got > 0;
        if (!is_good)
            break;
        names->held += (size_t)got;
        taken += (size_t)got;
        take_lines(names);
    }
    if (!is_good)
        finish(names);
    return names->is_read;
}

/* The number of functions that begin at or below the address. */
static size_t position_of(const struct yarn_kernel_names *names, uint64_t distance)
{
    size_t low = 0, high = names->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (names->keys[middle] >> 32 <= distance)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool yarn_kernel_names_find(const struct yarn_kernel_names *names, uint64_t address,
                            struct yarn_kernel_name *ret_name)
{
    uint64_t distance = address - names->base;
    if (!names->is_read || address < names->base || distance > UINT32_MAX)
        return false;
    size_t position = position_of(names, distance);
    if (!position)
        return false;
    uint64_t start = names->base + (names->keys[position - 1] >> 32);
    uint64_t end =
        position == names->count ? start + LAST_BYTES : names->base + (names->keys[position] >> 32);
    if (address >= end)
        return false;
    const char *text = (const char *)names->texts.base + (uint32_t)names->keys[position - 1];
    *ret_name = (struct yarn_kernel_name){yarn_span_of_text(text), start, end};
    return true;
}

void yarn_kernel_names_close(struct yarn_kernel_names *names)
{
    yarn_file_close(names->fd);
    yarn_pages_unmap(names->buffer, BUFFER_BYTES);
    yarn_pages_unmap(names->keys, KEYS_BYTES);
    yarn_arena_close(&names->texts);
    *names = YARN_KERNEL_NAMES_CLOSED;
}

void yarn_kernel_boot_id(char ret_id[YARN_BOOT_ID_SIZE])
{
    const size_t length = YARN_BOOT_ID_SIZE - 1;
    int fd = yarn_file_open(YARN_FILE_CWD, "/proc/sys/kernel/random/boot_id");
    ssize_t got = fd < 0 ? -1 : yarn_file_read(fd, ret_id, length);
    yarn_file_close(fd);
    ret_id[got == (ssize_t)length ? length : 0] = 0;
}
