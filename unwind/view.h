/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a file that are needed, read into memory of our own. Never a mapping of the file:
 * one that shrinks raises SIGBUS where its mapping is touched, one that is written shows its new
 * bytes in it, and each keeps its blocks on the disk and its file system mounted. Here the sections
 * that may be needed have adjacent address space, and are read into it in blocks of 16 KiB on first
 * access; rarely used data is read into a small window that is reused, because a fresh page costs
 * more than the reading. For that the file is opened by its name, and closed
 * before the reader sleeps or replies, so it keeps no reference to it. At each opening it must
 * still be the one that was opened at first: the same inode, size and time of
 * change. Where it is not, what was read before stays valid and the rest is unavailable. Knows
 * files and memory; does not know what is in them.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/span.h"
#include "core/sys/file.h"

enum { YARN_VIEW_EXTENTS_MAX = 48, YARN_VIEW_NAMES = 2, YARN_VIEW_OPEN_MAX = 4 };

struct yarn_view;

/* The files that are open at this moment, of all views that share it. All zeros: none. */
struct yarn_view_open_files {
    struct {
        const struct yarn_view *view; /* NULL: free */
        int fd;
    } item[YARN_VIEW_OPEN_MAX];
    unsigned next; /* to be closed for another */
};

void yarn_view_open_files_close(struct yarn_view_open_files *open_files);

struct yarn_view_extents {
    unsigned count;
    struct {
        uint64_t offset, size; /* in the file */
    } item[YARN_VIEW_EXTENTS_MAX];
};

/* Extents beyond the limit are left out. */
void yarn_view_want(struct yarn_view_extents *extents, uint64_t offset, uint64_t size);

/* The file, and the names under which it may be found again, in the order of trying. */
struct yarn_view_file {
    int fd; /* owned by the open files once it is opened, and -1 here; without them borrowed */
    struct yarn_view_open_files
        *open_files; /* borrowed; outlive the view; NULL: closed after each reading */
    struct yarn_file_info info;
    struct {
        int dir;          /* borrowed: the root that a whole path begins at, or YARN_FILE_CWD */
        const char *path; /* copied; NULL: none */
    } name[YARN_VIEW_NAMES];
};

/* `code_bytes`: how much code the file has, which yarn_view_peek may be asked for. `extents` are
 * put in order. */
YARN_MUST_CHECK int yarn_view_open(struct yarn_view **ret_view, struct yarn_view_file *file,
                                   struct yarn_view_extents *extents, uint64_t code_bytes);

/* The addresses of these bytes of the file once they are read; empty where no extent has them. */
struct yarn_span yarn_view_place(const struct yarn_view *view, uint64_t offset, uint64_t size);

/* From there to the end of the extent. */
struct yarn_span yarn_view_place_from(const struct yarn_view *view, uint64_t offset);

/* Reads them, `span` inside one that yarn_view_place gave. False where they are unavailable. */
bool yarn_view_read(struct yarn_view *view, struct yarn_span span);

/* The same bytes, at their addresses if they are read already, otherwise in a window, valid until
 * the next call with this number. Empty where they are unavailable. */
enum yarn_view_window {
    YARN_WINDOW_CIE,
    YARN_WINDOW_FDE,
    YARN_WINDOW_NAME,
    YARN_WINDOW_OTHER_NAME,
    YARN_WINDOW_READ, /* of yarn_section_read, and of the table's pages; larger than the others */
    YARN_VIEW_WINDOWS,
};
struct yarn_span yarn_view_window(struct yarn_view *view, struct yarn_span span, unsigned number);

/* From now on what windows would show is read as a whole, to its address, where it stays: for those
 * who keep addresses. NULL is allowed. */
void yarn_view_keep(struct yarn_view *view, bool keeps);

/* Releases their memory; they are read again on the next access. */
void yarn_view_drop(struct yarn_view *view, struct yarn_span span);

/* Some bytes from anywhere in the file, `most` at most and 64 if there are so many, until the next
 * peek. Empty where they are unavailable. */
struct yarn_span yarn_view_peek(struct yarn_view *view, uint64_t offset, uint64_t most);

struct yarn_view_open_files *yarn_view_open_files_of(const struct yarn_view *view);

/* Below this root it is found again from now on, where it has that name. */
void yarn_view_move(struct yarn_view *view, int root, const char *path);

/* Whether that is the file's name at this moment. */
bool yarn_view_is_at(const struct yarn_view *view, const char *path);

/* All of the memory, read or not. */
struct yarn_span yarn_view_memory(const struct yarn_view *view);

/* NULL is allowed. */
void yarn_view_close(struct yarn_view *view);

/* An extent of bytes together with the address that it is linked at. */
struct yarn_section {
    struct yarn_span bytes; /* access by the functions below only, or after yarn_section_need */
    uint64_t vaddr;
    struct yarn_view *view; /* borrowed; NULL: all of the bytes are there */
};

static inline bool yarn_section_need(const struct yarn_section *section, uint64_t at, uint64_t size)
{
    struct yarn_span span = yarn_span_sub(section->bytes, at, size);
    return yarn_span_has(section->bytes, at, size) &&
           (!section->view || yarn_view_read(section->view, span));
}

/* These bytes, valid until the next call with this number (yarn_view_window); empty where they are
 * unavailable. */
static inline struct yarn_span yarn_section_window(const struct yarn_section *section, uint64_t at,
                                                   uint64_t size, unsigned number)
{
    struct yarn_span span = yarn_span_sub(section->bytes, at, size);
    return section->view ? yarn_view_window(section->view, span, number) : span;
}

/* As yarn_span_read. */
bool yarn_section_read(const struct yarn_section *section, uint64_t at, void *ret, size_t size);

/* The same at once, of much that is looked at once: none of it is kept. */
bool yarn_section_read_once(const struct yarn_section *section, uint64_t at, void *ret,
                            size_t size);

/* As yarn_span_text, valid as long as yarn_section_window. */
const char *yarn_section_text(const struct yarn_section *section, uint64_t at, unsigned number);
