/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/image_cache.h"

#include "core/base/pages.h"
#include "core/base/text.h"
#include "core/sys/file.h"
#include "core/sys/own_memory.h"
#include "unwind/cfi.h"

enum { IMAGES_MAX = 4096, FIRST_KEYS = 64, NAME_BYTES = 64, COMPARED_BYTES = 64 << 10 };

/* The file as it stood when it was opened. A file that was written again in place has another time
 * of change and is opened again. */
struct cached_image {
    struct yarn_image image;
    struct yarn_file_info info;
};

static uint64_t key_of(const struct yarn_file_info *info)
{
    return yarn_hash_u64(info->inode ^ yarn_hash_u64(info->device)) ^
           yarn_hash_u64(info->modified_ns ^ yarn_hash_u64(info->size_bytes));
}

static bool is_same_file(const struct yarn_file_info *a, const struct yarn_file_info *b)
{
    return a->device == b->device && a->inode == b->inode && a->size_bytes == b->size_bytes &&
           a->modified_ns == b->modified_ns;
}

int yarn_image_cache_open(struct yarn_image_cache *cache, const char *proc)
{
    cache->proc = proc;
    yarn_pool_open(&cache->images, sizeof(struct cached_image), IMAGES_MAX);
    return yarn_table_open(&cache->by_file, FIRST_KEYS, 2 * IMAGES_MAX);
}

static struct cached_image *add_image(struct yarn_image_cache *cache,
                                      const struct yarn_image *image)
{
    struct cached_image *cached = yarn_pool_add(&cache->images);
    if (cached)
        cached->image = *image;
    return cached;
}

static int find_open_file(struct yarn_image_cache *cache, int fd, struct yarn_file_info info,
                          struct yarn_image **ret_image)
{
    uint32_t number = yarn_table_find(&cache->by_file, key_of(&info));
    struct cached_image *cached =
        number == YARN_TABLE_NONE ? NULL : yarn_pool_at(&cache->images, number);
    if (!cached || !is_same_file(&cached->info, &info)) {
        struct yarn_image image;
        int err = yarn_image_open_file(&image, fd);
        if (err)
            return err;
        cached = add_image(cache, &image);
        if (!cached) {
            yarn_image_close(&image);
            return -ENOSPC;
        }
        cached->info = info;
        yarn_cfi_guide(&cached->image);
        err = yarn_table_put(&cache->by_file, key_of(&info), cache->images.count - 1);
        if (err)
            return err;
    }
    *ret_image = &cached->image;
    return 0;
}

/* What is mapped is what stands in the file: the last word where the numbers cannot tell. Code is
 * not written to, so the first 64 KiB of the two are equal. */
static bool has_equal_code(const struct yarn_image_request *request, const struct yarn_image *image)
{
    uint64_t size = yarn_u64_min(request->end - request->start, COMPARED_BYTES);
    struct yarn_span file = yarn_span_from(image->file, request->file_offset);
    file.size = (size_t)yarn_u64_min(file.size, size);
    uint8_t *memory = file.size ? yarn_pages_map(file.size) : NULL;
    bool is_equal = memory && yarn_own_memory_read(request->start, memory, file.size) == 0 &&
                    memcmp(memory, file.data, file.size) == 0;
    yarn_pages_unmap(memory, file.size);
    return is_equal;
}

/* Device numbers of btrfs and overlay differ
 * between a mapping and stat, inode numbers of some overlays too: then they prove nothing. */
static bool is_mapped_file(const struct yarn_image_request *request,
                           const struct yarn_file_info *info, const struct yarn_image *image)
{
    if (!request->inode)
        return !request->was_deleted;
    if (request->inode == info->inode)
        return true;
    return request->device != info->device && has_equal_code(request, image);
}

static int find_by_path(struct yarn_image_cache *cache, const struct yarn_image_request *request,
                        struct yarn_image **ret_image)
{
    if (request->path[0] != '/')
        return -ENOENT;
    int fd = yarn_file_open(YARN_FILE_CWD, request->path);
    if (fd < 0)
        return fd;
    struct yarn_file_info info;
    struct yarn_image *image = NULL;
    int err = yarn_file_stat(fd, &info);
    /* Not worth a mapping where the numbers alone say that it is another file. */
    if (!err && request->inode && request->inode != info.inode && request->device == info.device)
        err = -ESTALE;
    if (!err)
        err = find_open_file(cache, fd, info, &image);
    if (!err && !is_mapped_file(request, &info, image))
        err = -ESTALE;
    if (!err)
        *ret_image = image;
    yarn_file_close(fd);
    return err;
}

static int find_by_mapping(struct yarn_image_cache *cache, const struct yarn_image_request *request,
                           struct yarn_image **ret_image)
{
    char data[NAME_BYTES];
    struct yarn_text name = yarn_text_of(data, sizeof data);
    if (!cache->proc)
        return -ENOENT;
    yarn_text_add(&name, cache->proc);
    yarn_text_add(&name, "/map_files/");
    yarn_text_add_hex(&name, request->start);
    yarn_text_add(&name, "-");
    yarn_text_add_hex(&name, request->end);
    int fd = yarn_file_open(YARN_FILE_CWD, data);
    if (fd < 0)
        return fd;
    struct yarn_file_info info;
    struct yarn_image *image = NULL;
    int err = yarn_file_stat(fd, &info);
    if (!err)
        err = find_open_file(cache, fd, info, &image);
    /* Something newer may be mapped there by now. */
    if (!err && request->inode && !is_mapped_file(request, &info, image))
        err = -ESTALE;
    if (!err)
        *ret_image = image;
    yarn_file_close(fd);
    return err;
}

int yarn_image_cache_find(struct yarn_image_cache *cache, const struct yarn_image_request *request,
                          struct yarn_image **ret_image)
{
    int err = find_by_path(cache, request, ret_image);
    if (err == -ESTALE || err == -ENOENT || err == -EACCES || err == -ENOTDIR) {
        int second = find_by_mapping(cache, request, ret_image);
        if (!second || second == -ENOEXEC)
            return second;
    }
    return err;
}

int yarn_image_cache_copy(struct yarn_image_cache *cache, struct yarn_span bytes,
                          struct yarn_image **ret_image)
{
    struct yarn_image image;
    int err = yarn_image_open_copy(&image, bytes);
    if (err)
        return err;
    struct cached_image *cached = add_image(cache, &image);
    if (!cached) {
        yarn_image_close(&image);
        return -ENOSPC;
    }
    *ret_image = &cached->image;
    return 0;
}

void yarn_image_cache_close(struct yarn_image_cache *cache)
{
    for (uint32_t i = 0; i < cache->images.count; i++) {
        struct cached_image *cached = yarn_pool_at(&cache->images, i);
        yarn_image_close(&cached->image);
    }
    yarn_pool_close(&cache->images);
    yarn_table_close(&cache->by_file);
}
