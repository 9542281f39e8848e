/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/load/build_names.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "core/sys/file.h"
#include "unwind/symbol/debug_file.h"

enum { FILES_MAX = 1024, PATH_BYTES = 4096, TEXTS_BYTES = 64 << 20 };
#define MOST_NS (30 * YARN_NS_PER_SECOND)

/* A file that was looked for, by its build id. */
struct yarn_build_file {
    struct yarn_build_id id;
    char *path; /* owned */
    struct yarn_image image;
    bool is_open;
};

static int open_names(struct yarn_build_names *names)
{
    if (names->symbols)
        return 0;
    if (!names->files)
        names->files = calloc(FILES_MAX, sizeof *names->files);
    yarn_arena_open(&names->texts, TEXTS_BYTES);
    return names->files ? yarn_symbols_new(&names->symbols) : -ENOMEM;
}

void yarn_build_names_close(struct yarn_build_names *names)
{
    yarn_symbols_free(names->symbols);
    for (size_t i = 0; i < names->nr_files; i++) {
        yarn_image_close(&names->files[i].image);
        free(names->files[i].path);
    }
    free(names->files);
    yarn_arena_close(&names->texts);
    *names = (struct yarn_build_names){.nr_files = 0};
}

static bool open_at_path(struct yarn_build_file *file)
{
    struct stat status;
    if (file->path[0] != '/' || stat(file->path, &status) || !S_ISREG(status.st_mode) ||
        yarn_image_open(&file->image, YARN_FILE_CWD, file->path))
        return false;
    if (yarn_build_id_equal(&file->image.build_id, &file->id))
        return true;
    yarn_image_close(&file->image);
    return false;
}

/* NULL where there are too many. */
static struct yarn_build_file *add(struct yarn_build_names *names, const char *path,
                                   const struct yarn_build_id *id)
{
    struct yarn_build_file *file = &names->files[names->nr_files];
    char *copy = names->nr_files < FILES_MAX ? strdup(path) : NULL;
    if (!copy)
        return NULL;
    names->nr_files++;
    *file = (struct yarn_build_file){.id = *id, .path = copy, .image = YARN_IMAGE_CLOSED};
    file->is_open = open_at_path(file) || yarn_debug_file_open_build(&file->image, id) == 0;
    if (file->is_open)
        yarn_cfi_index_tables(&file->image);
    return file;
}

static struct yarn_build_file *find(struct yarn_build_names *names, const char *path,
                                    const struct yarn_build_id *id)
{
    for (size_t i = 0; i < names->nr_files; i++)
        if (yarn_build_id_equal(&names->files[i].id, id) && strcmp(names->files[i].path, path) == 0)
            return &names->files[i];
    return add(names, path, id);
}

int yarn_build_names_ask(struct yarn_build_names *names, struct yarn_span path,
                         struct yarn_span build_id, struct yarn_symbol_question *questions,
                         size_t count)
{
    char text[PATH_BYTES];
    struct yarn_build_id id = {.size = (uint8_t)build_id.size};
    if (!build_id.size || build_id.size > sizeof id.bytes || path.size >= sizeof text ||
        (path.size && memchr(path.data, 0, path.size)))
        return -ENOENT;
    memcpy(id.bytes, build_id.data, build_id.size);
    if (path.size)
        memcpy(text, path.data, path.size);
    text[path.size] = 0;
    int err = open_names(names);
    if (err)
        return err;
    const struct yarn_build_file *file = find(names, text, &id);
    if (!file || !file->is_open)
        return -ENOENT;
    names->spent_ns += yarn_symbols_cost_ns(names->symbols, &file->image, text);
    if (names->spent_ns > MOST_NS)
        return -ETIMEDOUT;
    return yarn_symbols_ask(names->symbols, &file->image, text, questions, count, &names->texts,
                            UINT64_MAX);
}
