/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/view.h"

#include "core/base/pages.h"

enum {
    PAGE = 4096,
    LINE = 64,
    BLOCK = 16 << 10,
    WINDOW = 1024, /* each but the last, YARN_WINDOW_READ */
    LAST_WINDOW = 4096,
    WINDOWS_BYTES = (YARN_VIEW_WINDOWS - 1) * WINDOW + LAST_WINDOW,
    WINDOWS_OF_BLOCK = 8, /* which cost as much as the block with its fresh pages */
    THERE = UINT8_MAX,
    SLOTS_MAX = 64,
    SLOTS_LEAST = 4,
    CODE_PER_SLOT = 64 << 10,
    OVERLAP = 64, /* of a slot with the next page, so that a peek is never shorter than this */
    SLOT = PAGE + OVERLAP,
};

struct extent {
    uint64_t offset, size; /* in the file */
    size_t at;             /* in the memory */
    size_t first_block;
};

/* Stands at the begin of the memory, the names and a byte for each block behind it. */
struct yarn_view {
    size_t reserved, counted;
    struct yarn_file_info info;
    int dir[YARN_VIEW_NAMES];
    const char *path[YARN_VIEW_NAMES];
    struct yarn_view_open_files *open_files;
    bool keeps;    /* yarn_view_keep */
    uint8_t *uses; /* by block: how often a window was opened; or THERE */
    size_t windows_at;
    struct yarn_span in_window[YARN_VIEW_WINDOWS]; /* where in the memory they should be */
    unsigned nr_extents, nr_slots;
    size_t slots_at;
    uint64_t page_of_slot[SLOTS_MAX]; /* number plus one; 0: empty */
    uint16_t size_of_slot[SLOTS_MAX];
    struct extent extent[YARN_VIEW_EXTENTS_MAX];
};

enum {
    PIECE = 4096,      /* of the window's size */
    TEXT_WINDOW = 256, /* has the end of most texts */
};

/* In whole windows: mostly more is wanted of what lies beside it. */
bool yarn_section_read(const struct yarn_section *section, uint64_t at, void *ret, size_t size)
{
    uint8_t *to = ret;
    if (!section->view)
        return yarn_span_read(section->bytes, at, ret, size);
    if (!yarn_span_has(section->bytes, at, size))
        return false;
    while (size) {
        uint64_t first = at / PIECE * PIECE;
        struct yarn_span bytes = yarn_section_window(
            section, first, yarn_u64_min(PIECE, section->bytes.size - first), YARN_WINDOW_READ);
        bytes = yarn_span_from(bytes, at - first);
        size_t part = yarn_size_min(size, bytes.size);
        if (!part)
            return false;
        memcpy(to, bytes.data, part);
        to += part;
        at += part;
        size -= part;
    }
    return true;
}

const char *yarn_section_text(const struct yarn_section *section, uint64_t at, unsigned number)
{
    if (!section->view || at >= section->bytes.size)
        return yarn_span_text(section->bytes, at);
    for (uint64_t size = TEXT_WINDOW;; size *= 4) {
        size = yarn_u64_min(size, section->bytes.size - at);
        struct yarn_span bytes = yarn_section_window(section, at, size, number);
        const char *text = yarn_span_text(bytes, 0);
        if (text || !bytes.size || size == section->bytes.size - at)
            return text;
    }
}

void yarn_view_want(struct yarn_view_extents *extents, uint64_t offset, uint64_t size)
{
    if (!size || offset + size < offset || extents->count == YARN_VIEW_EXTENTS_MAX)
        return;
    extents->item[extents->count].offset = offset;
    extents->item[extents->count++].size = size;
}

static void sort(struct yarn_view_extents *extents)
{
    for (unsigned i = 1; i < extents->count; i++) {
        for (unsigned k = i; k > 0 && extents->item[k].offset < extents->item[k - 1].offset; k--) {
            uint64_t offset = extents->item[k].offset, size = extents->item[k].size;
            extents->item[k] = extents->item[k - 1];
            extents->item[k - 1].offset = offset;
            extents->item[k - 1].size = size;
        }
    }
}

/* Extents that overlap or nearly adjoin become one. Nothing lies behind the end of the file. */
static void lay_out(struct yarn_view *view, struct yarn_view_extents *extents)
{
    sort(extents);
    for (unsigned i = 0; i < extents->count; i++) {
        uint64_t start = extents->item[i].offset / LINE * LINE;
        uint64_t end =
            yarn_u64_min(extents->item[i].offset + extents->item[i].size, view->info.size_bytes);
        struct extent *last = view->nr_extents ? &view->extent[view->nr_extents - 1] : NULL;
        if (end <= start)
            continue;
        if (last && start <= last->offset + last->size + PAGE)
            last->size = yarn_u64_max(last->size, end - last->offset);
        else
            view->extent[view->nr_extents++] =
                (struct extent){.offset = start, .size = end - start};
    }
}

static size_t count_blocks(struct yarn_view *view)
{
    size_t count = 0;
    for (unsigned i = 0; i < view->nr_extents; i++) {
        view->extent[i].first_block = count;
        count += (size_t)((view->extent[i].size + BLOCK - 1) / BLOCK);
    }
    return count;
}

static unsigned count_slots(uint64_t code_bytes)
{
    unsigned count = SLOTS_LEAST;
    while (count < SLOTS_MAX && count < code_bytes / CODE_PER_SLOT)
        count *= 2;
    return count;
}

/* Gives the extents and the slots their places behind `at`. */
static void place(struct yarn_view *view, size_t at)
{
    for (unsigned i = 0; i < view->nr_extents; i++) {
        at = yarn_align_up(at, PAGE);
        view->extent[i].at = at;
        at += (size_t)view->extent[i].size;
    }
    view->windows_at = yarn_align_up(at, PAGE);
    view->slots_at = view->windows_at + WINDOWS_BYTES;
    view->reserved = yarn_align_up(view->slots_at + (size_t)view->nr_slots * SLOT, PAGE);
}

static char *copy_text(char *to, const char *text)
{
    size_t size = strlen(text) + 1;
    memcpy(to, text, size);
    return to + size;
}

static void keep(struct yarn_view_open_files *open_files, const struct yarn_view *view, int fd)
{
    unsigned at = open_files->next++ % YARN_VIEW_OPEN_MAX;
    if (open_files->item[at].view)
        yarn_file_close(open_files->item[at].fd);
    open_files->item[at].view = view;
    open_files->item[at].fd = fd;
}

int yarn_view_open(struct yarn_view **ret_view, struct yarn_view_file *file,
                   struct yarn_view_extents *extents, uint64_t code_bytes)
{
    struct yarn_view made;
    memset(&made, 0, sizeof made);
    made.info = file->info;
    made.open_files = file->open_files;
    made.nr_slots = count_slots(code_bytes);
    lay_out(&made, extents);
    size_t nr_blocks = count_blocks(&made), names = 0;
    for (unsigned i = 0; i < YARN_VIEW_NAMES; i++)
        names += file->name[i].path ? strlen(file->name[i].path) + 1 : 0;
    size_t head = sizeof made + nr_blocks + names;
    place(&made, head);
    uint8_t *memory = yarn_pages_reserve(made.reserved);
    if (!memory)
        return -ENOMEM;
    struct yarn_view *view = (struct yarn_view *)(void *)memory;
    made.counted = yarn_align_up(head, PAGE) + WINDOWS_BYTES;
    yarn_pages_count(made.counted);
    made.uses = memory + sizeof made;
    char *name = (char *)made.uses + nr_blocks;
    for (unsigned i = 0; i < YARN_VIEW_NAMES; i++) {
        made.dir[i] = file->name[i].dir;
        if (!file->name[i].path)
            continue;
        made.path[i] = name;
        name = copy_text(name, file->name[i].path);
    }
    *view = made;
    if (file->open_files) {
        keep(file->open_files, view, file->fd);
        file->fd = -1;
    }
    *ret_view = view;
    return 0;
}

struct yarn_view_open_files *yarn_view_open_files_of(const struct yarn_view *view)
{
    return view->open_files;
}

struct yarn_span yarn_view_memory(const struct yarn_view *view)
{
    return yarn_span_of(view, view->reserved);
}

static const uint8_t *memory_of(const struct yarn_view *view)
{
    return (const uint8_t *)view;
}

struct yarn_span yarn_view_place_from(const struct yarn_view *view, uint64_t offset)
{
    for (unsigned i = 0; i < view->nr_extents; i++) {
        const struct extent *extent = &view->extent[i];
        uint64_t at = offset - extent->offset;
        if (offset >= extent->offset && at < extent->size)
            return yarn_span_of(memory_of(view) + extent->at + at, (size_t)(extent->size - at));
    }
    return YARN_SPAN_EMPTY;
}

struct yarn_span yarn_view_place(const struct yarn_view *view, uint64_t offset, uint64_t size)
{
    return yarn_span_sub(yarn_view_place_from(view, offset), 0, size);
}

static bool is_same(const struct yarn_file_info *a, const struct yarn_file_info *b)
{
    return a->device == b->device && a->inode == b->inode && a->size_bytes == b->size_bytes &&
           a->modified_ns == b->modified_ns;
}

static int open_by(const struct yarn_view *view, int dir, const char *path)
{
    struct yarn_file_info info;
    int fd = yarn_file_open_below(dir, path);
    if (fd >= 0 && yarn_file_stat(fd, &info) == 0 && is_same(&info, &view->info))
        return fd;
    yarn_file_close(fd);
    return -ESTALE;
}

/* The file that was opened at first, by whichever name it still has. */
static int open_again(const struct yarn_view *view)
{
    int fd = -ESTALE;
    for (unsigned i = 0; i < YARN_VIEW_NAMES && fd < 0; i++)
        fd = view->path[i] ? open_by(view, view->dir[i], view->path[i]) : -ESTALE;
    return fd;
}

void yarn_view_move(struct yarn_view *view, int root, const char *path)
{
    if (view->path[0] && strcmp(view->path[0], path) == 0)
        view->dir[0] = root;
}

bool yarn_view_is_at(const struct yarn_view *view, const char *path)
{
    int fd = open_by(view, YARN_FILE_CWD, path);
    yarn_file_close(fd);
    return fd >= 0;
}

/* The file's descriptor, to be given to leave, which closes it unless `open_files` keep it. */
static int enter(const struct yarn_view *view)
{
    struct yarn_view_open_files *open_files = view->open_files;
    for (unsigned i = 0; open_files && i < YARN_VIEW_OPEN_MAX; i++)
        if (open_files->item[i].view == view)
            return open_files->item[i].fd;
    int fd = open_again(view);
    if (!open_files)
        return fd;
    if (fd < 0) { /* the host may have left one descriptor */
        yarn_view_open_files_close(open_files);
        fd = open_again(view);
    }
    if (fd < 0)
        return fd;
    keep(open_files, view, fd);
    return fd;
}

static void leave(const struct yarn_view *view, int fd)
{
    if (!view->open_files)
        yarn_file_close(fd);
}

static void close_one(struct yarn_view_open_files *open_files, unsigned at)
{
    if (open_files->item[at].view)
        yarn_file_close(open_files->item[at].fd);
    open_files->item[at].view = NULL;
}

void yarn_view_open_files_close(struct yarn_view_open_files *open_files)
{
    for (unsigned i = 0; i < YARN_VIEW_OPEN_MAX; i++)
        close_one(open_files, i);
}

static bool read_exactly(int fd, uint8_t *ret, size_t size, uint64_t offset)
{
    while (size) {
        ssize_t got = yarn_file_read_at(fd, ret, size, offset);
        if (got <= 0)
            return false;
        ret += got;
        size -= (size_t)got;
        offset += (uint64_t)got;
    }
    return true;
}

static bool read_unchanged(const struct yarn_view *view, uint8_t *ret, size_t size, uint64_t offset)
{
    int fd = enter(view);
    bool is_good = fd >= 0 && read_exactly(fd, ret, size, offset);
    leave(view, fd);
    return is_good;
}

static bool is_there(const struct yarn_view *view, const struct extent *extent, size_t block)
{
    return view->uses[extent->first_block + block] == THERE;
}

/* Blocks that are not there yet, one behind the other. */
static bool read_blocks(struct yarn_view *view, const struct extent *extent, size_t first,
                        size_t end)
{
    size_t at = first * BLOCK, size = (size_t)yarn_u64_min(extent->size, end * BLOCK) - at;
    uint8_t *memory = (uint8_t *)view + extent->at + at;
    yarn_pages_populate(memory, size);
    if (!read_unchanged(view, memory, size, extent->offset + at))
        return false;
    memset(&view->uses[extent->first_block + first], THERE, end - first);
    view->counted += yarn_align_up(size, PAGE);
    yarn_pages_count(yarn_align_up(size, PAGE));
    return true;
}

static bool read_missing(struct yarn_view *view, const struct extent *extent, size_t first,
                         size_t end)
{
    while (first < end) {
        size_t behind = first;
        while (behind < end && !is_there(view, extent, behind))
            behind++;
        if (behind > first && !read_blocks(view, extent, first, behind))
            return false;
        first = behind + 1;
    }
    return true;
}

static const struct extent *extent_at(const struct yarn_view *view, size_t at)
{
    for (unsigned i = 0; i < view->nr_extents; i++)
        if (at >= view->extent[i].at && at - view->extent[i].at < view->extent[i].size)
            return &view->extent[i];
    return NULL;
}

bool yarn_view_read(struct yarn_view *view, struct yarn_span span)
{
    if (!span.size)
        return true;
    size_t at = (size_t)(span.data - memory_of(view));
    const struct extent *extent = extent_at(view, at);
    if (!extent)
        return false;
    at -= extent->at;
    return read_missing(view, extent, at / BLOCK, (at + span.size - 1) / BLOCK + 1);
}

/* Whether all of it is there, at `at` of the extent: perhaps because it has been looked at so often
 * that its blocks are better read. */
static bool is_loaded(struct yarn_view *view, const struct extent *extent, size_t at, size_t size)
{
    bool is_all = true, is_wanted = false;
    for (size_t block = at / BLOCK; block <= (at + size - 1) / BLOCK; block++) {
        if (is_there(view, extent, block))
            continue;
        is_all = false;
        is_wanted |= ++view->uses[extent->first_block + block] >= WINDOWS_OF_BLOCK;
    }
    return is_all ||
           (is_wanted && read_missing(view, extent, at / BLOCK, (at + size - 1) / BLOCK + 1));
}

static struct yarn_span read_window(struct yarn_view *view, struct yarn_span span, uint64_t offset,
                                    unsigned number)
{
    uint8_t *window = (uint8_t *)view + view->windows_at + (size_t)number * WINDOW;
    view->in_window[number] = YARN_SPAN_EMPTY;
    if (!read_unchanged(view, window, span.size, offset))
        return YARN_SPAN_EMPTY;
    view->in_window[number] = span;
    return yarn_span_of(window, span.size);
}

struct yarn_span yarn_view_window(struct yarn_view *view, struct yarn_span span, unsigned number)
{
    const struct yarn_span *known = &view->in_window[number];
    if (!span.size)
        return span;
    if (view->keeps)
        return yarn_view_read(view, span) ? span : YARN_SPAN_EMPTY;
    if (known->data && span.data >= known->data &&
        span.data + span.size <= known->data + known->size)
        return yarn_span_of(memory_of(view) + view->windows_at + (size_t)number * WINDOW +
                                (span.data - known->data),
                            span.size);
    size_t at = (size_t)(span.data - memory_of(view));
    const struct extent *extent = extent_at(view, at);
    if (!extent)
        return YARN_SPAN_EMPTY;
    at -= extent->at;
    if (is_loaded(view, extent, at, span.size))
        return span;
    if (span.size > (number == YARN_WINDOW_READ ? LAST_WINDOW : WINDOW))
        return yarn_view_read(view, span) ? span : YARN_SPAN_EMPTY;
    return read_window(view, span, extent->offset + at, number);
}

void yarn_view_keep(struct yarn_view *view, bool keeps)
{
    if (view)
        view->keeps = keeps;
}

void yarn_view_drop(struct yarn_view *view, struct yarn_span span)
{
    size_t at = span.size ? (size_t)(span.data - memory_of(view)) : 0;
    const struct extent *extent = span.size ? extent_at(view, at) : NULL;
    if (!extent)
        return;
    /* Whole blocks only: a neighbour may have the rest of the first and the last. */
    size_t first = (at - extent->at + BLOCK - 1) / BLOCK,
           end = (at - extent->at + span.size) / BLOCK;
    for (size_t block = first; block < end; block++) {
        if (!is_there(view, extent, block))
            continue;
        view->uses[extent->first_block + block] = 0;
        yarn_pages_empty((uint8_t *)view + extent->at + block * BLOCK, BLOCK);
        yarn_pages_uncount(BLOCK);
        view->counted -= BLOCK;
    }
}

static bool fill_slot(struct yarn_view *view, size_t slot, uint64_t page)
{
    uint8_t *memory = (uint8_t *)view + view->slots_at + slot * SLOT;
    uint64_t offset = page * PAGE;
    if (offset >= view->info.size_bytes)
        return false;
    size_t size = (size_t)yarn_u64_min(view->info.size_bytes - offset, SLOT);
    bool is_good = read_unchanged(view, memory, size, offset);
    if (!view->size_of_slot[slot]) {
        view->counted += SLOT;
        yarn_pages_count(SLOT);
    }
    view->size_of_slot[slot] = (uint16_t)size;
    view->page_of_slot[slot] = is_good ? page + 1 : 0;
    return is_good;
}

struct yarn_span yarn_view_peek(struct yarn_view *view, uint64_t offset, uint64_t most)
{
    uint64_t page = offset / PAGE;
    size_t slot = (size_t)(page % view->nr_slots);
    if (view->page_of_slot[slot] != page + 1 && !fill_slot(view, slot, page))
        return YARN_SPAN_EMPTY;
    struct yarn_span bytes =
        yarn_span_of(memory_of(view) + view->slots_at + slot * SLOT, view->size_of_slot[slot]);
    bytes = yarn_span_from(bytes, offset % PAGE);
    bytes.size = (size_t)yarn_u64_min(bytes.size, most);
    return bytes;
}

void yarn_view_close(struct yarn_view *view)
{
    if (!view)
        return;
    for (unsigned i = 0; view->open_files && i < YARN_VIEW_OPEN_MAX; i++)
        if (view->open_files->item[i].view == view)
            close_one(view->open_files, i);
    yarn_pages_uncount(view->counted);
    yarn_pages_release(view, view->reserved);
}

bool yarn_section_read_once(const struct yarn_section *section, uint64_t at, void *ret, size_t size)
{
    struct yarn_span span = yarn_span_sub(section->bytes, at, size);
    if (!section->view || !span.size)
        return yarn_span_read(section->bytes, at, ret, size);
    size_t place = (size_t)(span.data - memory_of(section->view));
    const struct extent *extent = extent_at(section->view, place);
    return extent &&
           read_unchanged(section->view, ret, size, extent->offset + (place - extent->at));
}
