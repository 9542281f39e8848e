/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/symbol/debug_file.h"

#include "core/base/pages.h"
#include "core/base/text.h"
#include "core/sys/file.h"
#include "unwind/sections.h"

enum { PATH_BYTES = 1024, CRC_FILE_BYTES_MAX = 16 << 20, CRC_BUFFER_BYTES = 64 << 10 };
#define DEBUG_FOLDER "/usr/lib/debug"

struct debug_link {
    const char *name;
    uint32_t crc;
};

static void add_hex_bytes(struct yarn_text *text, struct yarn_span bytes)
{
    for (size_t i = 0; i < bytes.size; i++) {
        static const char digits[] = "0123456789abcdef";
        const char pair[2] = {digits[bytes.data[i] >> 4], digits[bytes.data[i] & 15]};
        yarn_text_add_sized(text, pair, sizeof pair);
    }
}

/* `image` as yarn_image_open_beside has it; NULL: alone. */
static int open_by_build_id(struct yarn_image *debug, const struct yarn_build_id *build_id,
                            const struct yarn_image *image)
{
    char data[PATH_BYTES];
    struct yarn_text path = yarn_text_of(data, sizeof data);
    struct yarn_span id = yarn_span_of(build_id->bytes, build_id->size);
    if (id.size < 2)
        return -ENOENT;
    yarn_text_add(&path, DEBUG_FOLDER "/.build-id/");
    add_hex_bytes(&path, yarn_span_sub(id, 0, 1));
    yarn_text_add(&path, "/");
    add_hex_bytes(&path, yarn_span_from(id, 1));
    yarn_text_add(&path, ".debug");
    int err = yarn_image_open_beside(debug, YARN_FILE_CWD, data, image ? image : debug);
    if (!err && !yarn_build_id_equal(&debug->build_id, build_id)) {
        yarn_image_close(debug);
        err = -ENOENT;
    }
    return err;
}

int yarn_debug_file_open_build(struct yarn_image *debug, const struct yarn_build_id *build_id)
{
    return open_by_build_id(debug, build_id, NULL);
}

/* CRC-32 of IEEE 802.3, the one of zlib. */
static uint32_t crc_of(uint32_t crc, struct yarn_span bytes)
{
    uint32_t table[256];
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (unsigned bit = 0; bit < 8; bit++)
            table[i] = (table[i] >> 1) ^ (table[i] & 1 ? UINT32_C(0xedb88320) : 0);
    }
    for (size_t i = 0; i < bytes.size; i++)
        crc = table[(crc ^ bytes.data[i]) & 0xff] ^ (crc >> 8);
    return crc;
}

static bool has_crc(const char *path, uint64_t size, uint32_t wanted)
{
    uint32_t crc = UINT32_MAX;
    uint64_t at = 0;
    uint8_t *buffer = size <= CRC_FILE_BYTES_MAX ? yarn_pages_map(CRC_BUFFER_BYTES) : NULL;
    int fd = buffer ? yarn_file_open(YARN_FILE_CWD, path) : -1;
    while (fd >= 0 && at < size) {
        ssize_t got = yarn_file_read_at(fd, buffer, CRC_BUFFER_BYTES, at);
        if (got <= 0)
            break;
        crc = crc_of(crc, yarn_span_of(buffer, (size_t)got));
        at += (uint64_t)got;
    }
    yarn_file_close(fd);
    yarn_pages_unmap(buffer, CRC_BUFFER_BYTES);
    return fd >= 0 && at == size && ~crc == wanted;
}

static bool belongs(const struct yarn_image *debug, const struct yarn_image *image,
                    const char *path, uint32_t crc)
{
    if (image->build_id.size)
        return yarn_build_id_equal(&debug->build_id, &image->build_id);
    return has_crc(path, debug->file_size, crc);
}

/* The name, padded to 4 bytes, then the CRC. */
static bool read_link(const struct yarn_image *image, struct debug_link *ret_link)
{
    struct yarn_sections sections = yarn_sections_of(image);
    struct yarn_elf_section section;
    if (!yarn_sections_find(&sections, ".gnu_debuglink", &section))
        return false;
    ret_link->name = yarn_section_text(&section.content, 0, YARN_WINDOW_NAME);
    if (!ret_link->name || !ret_link->name[0] || strchr(ret_link->name, '/'))
        return false;
    return yarn_section_read(&section.content, yarn_align_up(strlen(ret_link->name) + 1, 4),
                             &ret_link->crc, sizeof ret_link->crc);
}

static int open_linked(struct yarn_image *debug, const struct yarn_image *image, const char *path,
                       const char *root, const char *folder)
{
    char data[PATH_BYTES];
    struct yarn_text text = yarn_text_of(data, sizeof data);
    struct debug_link link;
    const char *slash = strrchr(path, '/');
    if (!slash || !read_link(image, &link))
        return -ENOENT;
    yarn_text_add(&text, root);
    yarn_text_add_sized(&text, path, (size_t)(slash - path) + 1);
    yarn_text_add(&text, folder);
    yarn_text_add(&text, link.name);
    /* A link that names the file itself is not a debug file. */
    if (text.cut || strcmp(data, path) == 0)
        return -ENOENT;
    int err = yarn_image_open_beside(debug, YARN_FILE_CWD, data, image);
    if (!err && !belongs(debug, image, data, link.crc)) {
        yarn_image_close(debug);
        err = -ENOENT;
    }
    return err;
}

int yarn_debug_file_open(struct yarn_image *debug, const struct yarn_image *image, const char *path)
{
    static const struct {
        const char *root, *folder;
    } places[] = {{"", ""}, {"", ".debug/"}, {DEBUG_FOLDER, ""}};
    if (open_by_build_id(debug, &image->build_id, image) == 0)
        return 0;
    for (size_t i = 0; i < YARN_COUNT_OF(places); i++)
        if (open_linked(debug, image, path, places[i].root, places[i].folder) == 0)
            return 0;
    return -ENOENT;
}
