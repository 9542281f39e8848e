/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Makes one dump of many: the chunks of each are copied as they are, one process behind the other,
 * with new sequence and process numbers in their headers, and each process gets a FROM record that
 * names the file it was copied from and what of that could not be read. So records that this
 * version does not know are kept, a process without END still has none, and memory is bounded by a
 * chunk.
 * Knows chunks and where records begin; does not know what they mean.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "output/dump/allowance.h"
#include "output/dump/chunk.h"
#include "output/dump/reader.h"

enum { YARN_DUMP_PROCESSES_MAX = 1 << 16 }; /* of one dump */

/* Appends to the new dump. A negative errno ends the merging. */
typedef int yarn_dump_put_fn(void *self, struct yarn_span bytes);

/* The last chunk of a process, until it is known that it is the last. */
struct yarn_dump_held {
    struct yarn_dump_chunk chunk;
    uint8_t *whole; /* owned; as in the file */
    size_t whole_bytes, whole_capacity;
    uint8_t *payload; /* owned; unpacked */
    size_t payload_bytes, payload_capacity;
    bool is_there;
};

struct yarn_dump_merger {
    yarn_dump_put_fn *put;
    void *self;
    /* Borrowed; of what is added from now on: put before the END of its process, which must have
     * one, and in place of a FROM: it is the same dump. */
    const struct yarn_dump_code_name *names;
    size_t nr_names;                      /* 0: none */
    uint32_t sequence;                    /* of the next chunk */
    uint32_t nr_processes;                /* so far; the last is open */
    struct yarn_dump_allowance allowance; /* one for all files: they become one */
    struct yarn_dump_held held;
    uint8_t *scratch; /* owned; a chunk that is made here */
    size_t scratch_capacity;
};

/* Writes the file's header. `minor`: the greatest of the dumps'. */
YARN_MUST_CHECK int yarn_dump_merger_open(struct yarn_dump_merger *merger, uint16_t minor,
                                          yarn_dump_put_fn *put, void *self);
/* Idempotent. */
void yarn_dump_merger_close(struct yarn_dump_merger *merger);

/* -ENOEXEC as yarn_dump_read_file; -EOVERFLOW: more processes than a dump can hold. Damage is no
 * error: see *ret_summary, in which only chunks are counted, not records. */
YARN_MUST_CHECK int yarn_dump_merger_add_file(struct yarn_dump_merger *merger, const char *path,
                                              struct yarn_dump_summary *ret_summary);
YARN_MUST_CHECK int yarn_dump_merger_add_bytes(struct yarn_dump_merger *merger, const char *path,
                                               struct yarn_span bytes,
                                               struct yarn_dump_summary *ret_summary);
