/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/filters.h"

#include "core/event/sample_filter.h"

int yarn_filters_prepare(const struct yarn_session *session, struct yarn_event_status *state,
                         const char **ret_why)
{
    if (!yarn_event_spec_has_sample_filter(&state->spec) || state->program >= 0)
        return 0;
    *ret_why = session->request->bpf_refusal;
    if (*ret_why)
        return -EPERM;
    *ret_why = "a group that is read with each sample (:S) has no filter: samples would be missing";
    if (state->spec.reads_group)
        return -EOPNOTSUPP;
    int program = yarn_sample_filter_load(state->spec.filter);
    *ret_why = yarn_sample_filter_refusal(program);
    if (program < 0)
        return program;
    state->program = program;
    return 0;
}

int yarn_filters_set(const struct yarn_event_status *state, int fd)
{
    int err = !state->spec.filter  ? 0
              : state->program < 0 ? yarn_perf_set_filter(fd, state->spec.filter)
                                   : yarn_perf_set_program(fd, state->program);
    return err ? -EDOM : 0;
}
