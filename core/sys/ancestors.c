/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/ancestors.h"

#include "core/base/text.h"
#include "core/sys/file.h"
#include "core/sys/proc_maps.h"
#include "core/sys/process.h"

enum { LEVELS_MAX = 64, PATH_BYTES = 32, EXE_BYTES = 4096, BLOCK_BYTES = 4096 };

static void path_of(pid_t pid, const char *file, char ret_path[PATH_BYTES])
{
    struct yarn_text text = yarn_text_of(ret_path, PATH_BYTES);
    yarn_text_add(&text, "/proc/");
    yarn_text_add_u64(&text, (uint64_t)pid);
    yarn_text_add(&text, file);
}

/* 1: it is that file. */
static int compare_path(void *context, const struct yarn_proc_map *map)
{
    struct yarn_span name = *(const struct yarn_span *)context;
    struct yarn_span path = map->path;
    return path.size > name.size && path.data[path.size - name.size - 1] == '/' &&
           yarn_span_equal(yarn_span_from(path, path.size - name.size), name);
}

static bool has_mapped(pid_t pid, const char *file_name)
{
    char path[PATH_BYTES];
    struct yarn_span name = yarn_span_of_text(file_name);
    path_of(pid, "/maps", path);
    return yarn_proc_maps_read(YARN_FILE_CWD, path, compare_path, &name) == 1;
}

static bool is_wanted(pid_t pid, yarn_ancestor_fn *wanted, const void *self)
{
    char path[PATH_BYTES], exe[EXE_BYTES];
    path_of(pid, "/exe", path);
    ssize_t size = yarn_file_read_link(YARN_FILE_CWD, path, exe, sizeof exe);
    return size > 0 && wanted(self, exe);
}

static bool has_word(const char *bytes, size_t size, const char *word, size_t word_size)
{
    for (size_t at = 0; at + word_size <= size; at++)
        if (bytes[at] == word[0] && memcmp(bytes + at, word, word_size) == 0)
            return true;
    return false;
}

bool yarn_ancestor_was_given(pid_t pid, const char *word)
{
    char path[PATH_BYTES], block[BLOCK_BYTES];
    size_t kept = 0, word_size = strlen(word);
    bool is_found = false;
    ssize_t got = 0;
    path_of(pid, "/environ", path);
    int fd = yarn_file_open(YARN_FILE_CWD, path);
    while (fd >= 0 && !is_found &&
           (got = yarn_file_read(fd, block + kept, sizeof block - kept)) > 0) {
        size_t size = kept + (size_t)got;
        is_found = has_word(block, size, word, word_size);
        kept = yarn_size_min(size, word_size - 1); /* it may stand across two blocks */
        memmove(block, block + size - kept, kept);
    }
    yarn_file_close(fd);
    return is_found;
}

bool yarn_ancestors_have_mapped(const char *file_name, yarn_ancestor_fn *wanted, const void *self)
{
    pid_t pid = yarn_process_parent();
    for (int level = 0; pid > 0 && level < LEVELS_MAX; level++) {
        if (has_mapped(pid, file_name) && is_wanted(pid, wanted, self))
            return true;
        pid = yarn_process_parent_of(pid);
    }
    return false;
}

struct yarn_ancestor yarn_ancestors_root(pid_t pid, pid_t parent, const char *file_name)
{
    /* Most were given it, and what a process has mapped takes the kernel longer to say. */
    for (int level = 0;
         parent > 0 && level < LEVELS_MAX &&
         (yarn_ancestor_was_given(parent, file_name) || has_mapped(parent, file_name));
         level++) {
        pid = parent;
        parent = yarn_process_parent_of(pid);
    }
    return (struct yarn_ancestor){pid, yarn_process_birth_ns(pid)};
}
