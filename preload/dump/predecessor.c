/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/dump/predecessor.h"

#include "core/base/glob.h"
#include "core/sys/file.h"
#include "core/sys/folder.h"
#include "core/sys/process.h"
#include "output/dump/chunk.h"

/* A process that started so shortly before has had no time to be recorded. */
#define YOUNG_NS (5 * YARN_NS_PER_MS)
/* Resolution of the kernel's start time. */
#define TICK_NS (10 * YARN_NS_PER_MS)

enum { NAMES_MAX = 20000 };

struct search {
    int folder;
    struct yarn_span like;
    uint64_t from_ns, until_ns;
    uint64_t latest_ns; /* 0: none yet */
    size_t nr_names;
};

/* A taken name has .1, .2, … behind it. */
static bool is_like(struct yarn_span like, const char *name)
{
    size_t size = strlen(name);
    if (yarn_glob_matches(like, yarn_span_of(name, size)))
        return true;
    while (size && name[size - 1] >= '0' && name[size - 1] <= '9')
        size--;
    return size && name[size] && name[size - 1] == '.' &&
           yarn_glob_matches(like, yarn_span_of(name, size - 1));
}

/* The start of the recording that the file holds; 0 where it is no dump. */
static uint64_t read_start(int folder, const char *name)
{
    uint8_t bytes[YARN_DUMP_FILE_HEADER_BYTES + YARN_DUMP_CHUNK_HEADER_BYTES];
    struct yarn_dump_file_header header;
    struct yarn_dump_chunk chunk;
    int fd = yarn_file_open(folder, name);
    if (fd < 0)
        return 0;
    ssize_t size = yarn_file_read_at(fd, bytes, sizeof bytes, 0);
    yarn_file_close(fd);
    struct yarn_span span = yarn_span_of(bytes, sizeof bytes);
    if (size != (ssize_t)sizeof bytes || !yarn_dump_file_header_decode(span, &header) ||
        header.header_bytes != YARN_DUMP_FILE_HEADER_BYTES ||
        !yarn_dump_chunk_decode(yarn_span_from(span, YARN_DUMP_FILE_HEADER_BYTES), &chunk))
        return 0;
    return chunk.sequence == 0 ? chunk.time_ns : 0;
}

static bool look_at(void *self, const char *name)
{
    struct search *search = self;
    if (is_like(search->like, name)) {
        uint64_t start_ns = read_start(search->folder, name);
        if (start_ns >= search->from_ns && start_ns < search->until_ns &&
            start_ns > search->latest_ns)
            search->latest_ns = start_ns;
    }
    return ++search->nr_names < NAMES_MAX;
}

void yarn_predecessor_find(const struct yarn_dump_file *file, const struct yarn_facts *facts,
                           uint64_t birth_ns, struct yarn_lineage *lineage)
{
    char folder[YARN_PATH_MAX];
    const char *slash = strrchr(file->like, '/');
    if (!file->like[0] || !birth_ns || birth_ns + YOUNG_NS > facts->start_ns)
        return;
    struct search search = {
        .like = yarn_span_of_text(slash ? slash + 1 : file->like),
        .from_ns = yarn_u64_minus(birth_ns, TICK_NS),
        .until_ns = facts->start_ns,
    };
    search.folder = yarn_process_open_folder(YARN_FILE_CWD, yarn_path_folder(file->like, folder));
    if (search.folder < 0)
        return;
    int err = yarn_folder_list(search.folder, look_at, &search);
    yarn_file_close(search.folder);
    if (err || !search.latest_ns)
        return;
    lineage->predecessor = facts->pid;
    lineage->predecessor_start_ns = search.latest_ns;
}
