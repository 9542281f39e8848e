/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/reader.h"

int yarn_reader_open(struct yarn_reader *reader, const struct yarn_reader_kind *kind,
                     const struct yarn_session *session, _Atomic uint32_t *command)
{
    *reader = (struct yarn_reader){
        .kind = kind,
        .session = session,
        .command = command,
        .wake_fd = -1,
        .arena = YARN_ARENA_CLOSED,
    };
    return kind->open(reader);
}

void yarn_reader_wait(struct yarn_reader *reader, uint64_t timeout_ns)
{
    reader->woke_early = false;
    if (atomic_load(reader->command) == 0)
        reader->kind->wait(reader, timeout_ns);
}

void yarn_reader_close(struct yarn_reader *reader)
{
    if (!reader->kind)
        return;
    reader->kind->close(reader);
    yarn_arena_close(&reader->arena);
    reader->kind = NULL;
}
