/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/load/raw_threads.h"

#define OWN_NAME "[yarn]"

int yarn_raw_threads_note_own(struct yarn_table *comms, struct yarn_strings *strings,
                              uint32_t raw_pid)
{
    uint32_t text;
    int err = yarn_strings_intern(strings, yarn_span_of_text(OWN_NAME), &text);
    return err ? err : yarn_table_remember(comms, raw_pid, text);
}

struct noting {
    struct yarn_table *comms;
    struct yarn_strings *strings;
};

/* Up to a NUL. Legible texts stay as they are when they are made legible. */
static bool is_text(const char *known, struct yarn_span text)
{
    return strlen(known) <= text.size && !strncmp(known, (const char *)text.data, text.size);
}

static int note(void *self, uint32_t raw_pid, struct yarn_span comm)
{
    struct noting *noting = self;
    uint32_t text = yarn_table_find(noting->comms, raw_pid);
    const char *known = text == YARN_TABLE_NONE ? "" : yarn_strings_text(noting->strings, text);
    if (strcmp(known, OWN_NAME) == 0 || (*known && is_text(known, comm)))
        return 0;
    int err = yarn_strings_intern(noting->strings, comm, &text);
    return err ? err : yarn_table_remember(noting->comms, raw_pid, text);
}

int yarn_raw_threads_note(struct yarn_table *comms, struct yarn_strings *strings,
                          const struct yarn_trace_fields *fields, struct yarn_span raw)
{
    struct noting noting = {comms, strings};
    return yarn_trace_fields_tasks(fields, raw, note, &noting);
}
