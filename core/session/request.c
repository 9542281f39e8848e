/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/request.h"

enum yarn_stacks yarn_session_stack_kind(const struct yarn_callgraph *callgraph)
{
    static const enum yarn_stacks stacks[] = {
        [YARN_CALLGRAPH_NONE] = YARN_STACKS_NONE,  [YARN_CALLGRAPH_FP] = YARN_STACKS_CHAIN,
        [YARN_CALLGRAPH_LBR] = YARN_STACKS_CALLS,  [YARN_CALLGRAPH_AUTO] = YARN_STACKS_COPY,
        [YARN_CALLGRAPH_DWARF] = YARN_STACKS_COPY,
    };
    return stacks[callgraph->kind];
}

enum yarn_stacks yarn_session_request_stack(const struct yarn_session_request *request,
                                            const struct yarn_event_spec *event)
{
    return event->has_callgraph ? yarn_session_stack_kind(&event->callgraph) : request->stack;
}

uint32_t yarn_session_request_copy_bytes(const struct yarn_session_request *request,
                                         const struct yarn_event_spec *event)
{
    enum yarn_stacks stack = yarn_session_request_stack(request, event);
    if (stack != YARN_STACKS_COPY && stack != YARN_STACKS_CALLS)
        return 0;
    bool has_own = event->has_callgraph && event->callgraph.stack_bytes;
    return has_own ? event->callgraph.stack_bytes : request->stack_bytes;
}
