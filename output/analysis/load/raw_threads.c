/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/load/raw_threads.h"

bool yarn_raw_thread_pid(const struct yarn_trace_fields *fields, const char *name,
                         struct yarn_span raw, uint32_t *ret_pid)
{
    struct yarn_trace_field field;
    uint64_t number;
    if (!yarn_trace_fields_find(fields, yarn_span_of_text(name), &field) ||
        !yarn_trace_field_number(&field, yarn_trace_field_bytes(&field, raw), 0, &number))
        return false;
    *ret_pid = (uint32_t)number;
    return true;
}

int yarn_raw_thread_note(struct yarn_table *comms, struct yarn_strings *strings,
                         const struct yarn_trace_fields *fields, struct yarn_span raw,
                         const char *pid_name, const char *comm_name)
{
    struct yarn_trace_field field;
    uint32_t pid, comm;
    if (!yarn_raw_thread_pid(fields, pid_name, raw, &pid) ||
        !yarn_trace_fields_find(fields, yarn_span_of_text(comm_name), &field))
        return 0;
    int err = yarn_strings_intern(strings, yarn_trace_field_bytes(&field, raw), &comm);
    return err ? err : yarn_table_remember(comms, pid, comm);
}

int yarn_raw_thread_note_switch(struct yarn_table *comms, struct yarn_strings *strings,
                                const struct yarn_trace_fields *fields, struct yarn_span raw)
{
    int err = yarn_raw_thread_note(comms, strings, fields, raw, "prev_pid", "prev_comm");
    return err ? err : yarn_raw_thread_note(comms, strings, fields, raw, "next_pid", "next_comm");
}
