/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/image_cache.h"

#include "core/base/pages.h"
#include "core/base/text.h"
#include "core/sys/file.h"
#include "core/sys/proc_maps.h"
#include "unwind/cfi.h"

enum { SWEEP_LEAST = 16 };
enum { IMAGES_MAX = 4096, FIRST_KEYS = 64, NAME_BYTES = 64, COMPARED_BYTES = 64 << 10 };
enum { FIRST_PAGE_BYTES = 4096, VDSO_MAX_BYTES = 1 << 20 };

/* The file as it stood when it was opened. A file that was written again in place has another time
 * of change and is opened again. */
struct cached_image {
    struct yarn_image image;
    struct yarn_file_info info;
    bool is_seen; /* in this sweep */
    bool is_gone; /* not seen at the last one */
};

/* The vDSO of a process: its bytes, which no file has. Every process of the machine has the same
 * one, so that another's is read from the calling process: the other may be gone, or not ours to
 * read. Only one of another machine's bits has another size. */

struct sought {
    size_t size;
    uint64_t start; /* 0: not found */
};

static int compare(void *context, const struct yarn_proc_map *line)
{
    struct sought *sought = context;
    if (yarn_span_equal(line->path, yarn_span_of_text("[vdso]")) &&
        line->end - line->start == sought->size)
        sought->start = line->start;
    return sought->start != 0;
}

/* Its mapping is [start, start + size). -ESRCH: the calling process has none of that size. */
static int read_vdso(const struct yarn_target *target, uint64_t start, void *ret_bytes, size_t size)
{
    struct sought own = {.size = size};
    if (target->kind == YARN_TARGET_OWN)
        return yarn_target_read(target, start, ret_bytes, size);
    int err = yarn_proc_maps_read(YARN_FILE_CWD, "/proc/self/maps", compare, &own);
    if (err < 0)
        return err;
    return own.start ? yarn_target_read(&yarn_target_self, own.start, ret_bytes, size) : -ESRCH;
}

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

int yarn_image_cache_open(struct yarn_image_cache *cache)
{
    cache->vdso = NULL;
    cache->sweep_at = SWEEP_LEAST;
    cache->nr_aliases = 0;
    yarn_pool_open(&cache->images, sizeof(struct cached_image), IMAGES_MAX);
    return yarn_table_open(&cache->by_file, FIRST_KEYS, 2 * IMAGES_MAX);
}

static struct cached_image *cached_at(const struct yarn_image_cache *cache, uint32_t number)
{
    return yarn_pool_at(&cache->images, number);
}

/* In the place of one that was closed, if there is any. */
static struct cached_image *add_image(struct yarn_image_cache *cache,
                                      const struct yarn_image *image, uint32_t *ret_number)
{
    struct cached_image *cached = NULL;
    uint32_t number = 0;
    while (number < cache->images.count && cached_at(cache, number)->image.memory.data)
        number++;
    cached =
        number < cache->images.count ? cached_at(cache, number) : yarn_pool_add(&cache->images);
    if (!cached)
        return NULL;
    *cached = (struct cached_image){.image = *image};
    *ret_number = number;
    cache->nr_open++;
    return cached;
}

static int find_open_file(struct yarn_image_cache *cache, struct yarn_view_file *file,
                          struct yarn_image **ret_image)
{
    uint64_t key = key_of(&file->info);
    uint32_t number = yarn_table_find(&cache->by_file, key);
    struct cached_image *cached =
        number == YARN_TABLE_NONE ? NULL : yarn_pool_at(&cache->images, number);
    if (!cached || !cached->image.memory.data || !is_same_file(&cached->info, &file->info)) {
        struct yarn_image image;
        int err = yarn_image_open_file(&image, file);
        if (err)
            return err;
        cached = add_image(cache, &image, &number);
        if (!cached) {
            yarn_image_close(&image);
            return -ENOSPC;
        }
        cached->info = file->info;
        yarn_cfi_index_tables(&cached->image);
        err = yarn_table_put(&cache->by_file, key, number);
        if (err)
            return err;
    }
    cached->is_gone = false;
    if (cached->image.view && file->name[0].path)
        yarn_view_move(cached->image.view, file->name[0].dir, file->name[0].path);
    *ret_image = &cached->image;
    return 0;
}

/* Whether the mapping holds what stands in the file: the last word where the numbers cannot say.
 * Code is not written to, so the first 64 KiB of the two are equal. */
static bool has_equal_code(const struct yarn_image_request *request, int fd)
{
    size_t size = (size_t)yarn_u64_min(request->end - request->start, COMPARED_BYTES);
    uint8_t *both = yarn_pages_map(2 * size);
    if (!both)
        return false;
    ssize_t got = yarn_file_read_at(fd, both, size, request->file_offset);
    bool is_equal =
        got > 0 &&
        yarn_target_read(request->target, request->start, both + size, (size_t)got) == 0 &&
        memcmp(both, both + size, (size_t)got) == 0;
    yarn_pages_unmap(both, 2 * size);
    return is_equal;
}

static bool are_aliases(const struct yarn_image_cache *cache, uint64_t mapped, uint64_t named)
{
    for (size_t i = 0; i < cache->nr_aliases; i++)
        if (cache->alias[i].mapped == mapped && cache->alias[i].named == named)
            return true;
    return false;
}

static void add_alias(struct yarn_image_cache *cache, uint64_t mapped, uint64_t named)
{
    if (cache->nr_aliases == YARN_DEVICE_ALIASES)
        return;
    cache->alias[cache->nr_aliases].mapped = mapped;
    cache->alias[cache->nr_aliases++].named = named;
}

/* Device numbers of btrfs and overlay differ between a mapping and stat, inode numbers of some
 * overlays too: then they prove nothing, until one file's code has shown which two are one. Of
 * another process such a number may be that of a file system that we do not see. */
static bool is_mapped_file(struct yarn_image_cache *cache, const struct yarn_image_request *request,
                           const struct yarn_view_file *file)
{
    const struct yarn_file_info *info = &file->info;
    bool is_inode = request->inode == info->inode;
    if (!request->inode)
        return !request->was_deleted;
    if (request->device == info->device || request->target->kind == YARN_TARGET_OWN)
        return is_inode || (request->device != info->device && has_equal_code(request, file->fd));
    if (is_inode && are_aliases(cache, request->device, info->device))
        return true;
    bool is_equal = has_equal_code(request, file->fd);
    if (is_inode && is_equal)
        add_alias(cache, request->device, info->device);
    return is_equal;
}

enum { LINK_BYTES = 4096 };

/* By the first of its names; below a root that is not kept open, it is found by another later on,
 * in `room`. */
static int open_first(const struct yarn_root *root, const struct yarn_target *target,
                      struct yarn_view_file *file, char room[LINK_BYTES])
{
    char bytes[NAME_BYTES];
    struct yarn_text link = yarn_text_of(bytes, sizeof bytes);
    if (!root)
        return yarn_file_open(YARN_FILE_CWD, file->name[0].path);
    int fd = yarn_target_open_file(target, file->name[0].path);
    file->name[0].dir = root->fd;
    if (fd < 0 || root->fd != YARN_FILE_CWD)
        return fd;
    yarn_text_add_format(&link, "/proc/self/fd/%d", fd);
    file->name[0].path =
        yarn_file_read_link(YARN_FILE_CWD, bytes, room, LINK_BYTES) > 0 ? room : NULL;
    return fd;
}

/* Opens it for the length of the call, by the first of its names. */
static int find_by_name(struct yarn_image_cache *cache, const struct yarn_image_request *request,
                        bool is_mapping, struct yarn_view_file file, struct yarn_image **ret_image)
{
    char room[LINK_BYTES];
    const struct yarn_root *root = is_mapping ? NULL : request->target->root;
    file.fd = open_first(root, request->target, &file, room);
    if (file.fd == -EMFILE && file.open_files) {
        yarn_view_open_files_close(file.open_files);
        file.fd = open_first(root, request->target, &file, room);
    }
    if (file.fd < 0)
        return file.fd;
    int err = yarn_file_stat(file.fd, &file.info);
    bool is_asked = !is_mapping || request->inode;
    if (!err && is_asked && !is_mapped_file(cache, request, &file))
        err = -ESTALE;
    if (!err)
        err = find_open_file(cache, &file, ret_image);
    yarn_file_close(file.fd);
    return err;
}

int yarn_image_cache_find(struct yarn_image_cache *cache, const struct yarn_image_request *request,
                          struct yarn_image **ret_image)
{
    char data[NAME_BYTES];
    const char *mapping = request->target->proc[0] && !request->target->has_ended ? data : NULL;
    struct yarn_text name = yarn_text_of(data, sizeof data);
    yarn_text_add(&name, request->target->proc);
    yarn_text_add(&name, "/map_files/");
    yarn_text_add_hex(&name, request->start);
    yarn_text_add(&name, "-");
    yarn_text_add_hex(&name, request->end);
    struct yarn_view_file by_path = {
        .open_files = &cache->open_files,
        .name = {{YARN_FILE_CWD, request->path}, {YARN_FILE_CWD, mapping}}};
    struct yarn_view_file by_mapping = {.open_files = &cache->open_files,
                                        .name = {{YARN_FILE_CWD, mapping}}};
    int err = -ENOENT;
    if (request->path[0] == '/')
        err = find_by_name(cache, request, false, by_path, ret_image);
    if (mapping && (err == -ESTALE || err == -ENOENT || err == -EACCES || err == -ENOTDIR)) {
        /* Something newer may be mapped there by now: find_by_name asks. */
        int second = find_by_name(cache, request, true, by_mapping, ret_image);
        if (!second || second == -ENOEXEC)
            return second;
    }
    return err;
}

void yarn_image_cache_read_build_id(const struct yarn_target *target, uint64_t start,
                                    struct yarn_build_id *ret_id)
{
    uint8_t page[FIRST_PAGE_BYTES];
    if (yarn_target_read(target, start, page, sizeof page) == 0)
        yarn_image_find_build_id(yarn_span_of(page, sizeof page), ret_id);
}

static int copy_vdso(const struct yarn_image_request *request, size_t size,
                     struct yarn_image *ret_image)
{
    uint8_t *bytes = yarn_pages_map(size);
    int err = bytes ? read_vdso(request->target, request->start, bytes, size) : -ENOMEM;
    if (!err)
        err = yarn_image_open_copy(ret_image, yarn_span_of(bytes, size));
    yarn_pages_unmap(bytes, size);
    return err;
}

int yarn_image_cache_find_vdso(struct yarn_image_cache *cache,
                               const struct yarn_image_request *request,
                               struct yarn_image **ret_image)
{
    struct yarn_image image;
    uint32_t number;
    size_t size = (size_t)yarn_u64_min(request->end - request->start, VDSO_MAX_BYTES);
    bool is_others = request->target->kind != YARN_TARGET_OWN;
    if (is_others && cache->vdso && cache->vdso_bytes == size) {
        *ret_image = cache->vdso;
        return 0;
    }
    int err = copy_vdso(request, size, &image);
    if (err)
        return err;
    struct cached_image *cached = add_image(cache, &image, &number);
    if (!cached) {
        yarn_image_close(&image);
        return -ENOSPC;
    }
    if (is_others) {
        cache->vdso = &cached->image;
        cache->vdso_bytes = size;
    }
    *ret_image = &cached->image;
    return 0;
}

bool yarn_image_cache_is_due(const struct yarn_image_cache *cache)
{
    return cache->nr_open >= cache->sweep_at || cache->nr_gone;
}

void yarn_image_cache_see(struct yarn_image *image)
{
    ((struct cached_image *)(void *)image)->is_seen = true; /* it is the first in it */
}

/* Of a file that is closed for good the table would keep the key for ever. */
static void index_again(struct yarn_image_cache *cache)
{
    yarn_table_clear(&cache->by_file);
    for (uint32_t i = 0; i < cache->images.count; i++) {
        const struct cached_image *cached = cached_at(cache, i);
        /* Why an error may pass: the file would be opened once more. */
        if (cached->image.origin == YARN_IMAGE_VIEWED &&
            yarn_table_put(&cache->by_file, key_of(&cached->info), i))
            return;
    }
}

void yarn_image_cache_sweep(struct yarn_image_cache *cache)
{
    cache->nr_gone = 0;
    for (uint32_t i = 0; i < cache->images.count; i++) {
        struct cached_image *cached = cached_at(cache, i);
        bool is_gone = !cached->is_seen && cached->image.origin == YARN_IMAGE_VIEWED;
        if (is_gone && cached->is_gone) {
            yarn_image_close(&cached->image);
            cache->nr_open--;
            is_gone = false;
        }
        cached->is_gone = is_gone;
        cached->is_seen = false;
        cache->nr_gone += is_gone;
    }
    cache->sweep_at = 2 * cache->nr_open + SWEEP_LEAST;
    index_again(cache);
}

void yarn_image_cache_close(struct yarn_image_cache *cache)
{
    yarn_view_open_files_close(&cache->open_files);
    for (uint32_t i = 0; i < cache->images.count; i++) {
        struct cached_image *cached = yarn_pool_at(&cache->images, i);
        yarn_image_close(&cached->image);
    }
    yarn_pool_close(&cache->images);
    yarn_table_close(&cache->by_file);
}
