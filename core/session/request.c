/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/request.h"

enum yarn_stacks yarn_session_stack_kind(const struct yarn_callgraph *callgraph)
{
    switch (callgraph->kind) {
    case YARN_CALLGRAPH_NONE:
        return YARN_STACKS_NONE;
    case YARN_CALLGRAPH_FP:
        return YARN_STACKS_CHAIN;
    case YARN_CALLGRAPH_LBR:
        return YARN_STACKS_CALLS;
    case YARN_CALLGRAPH_AUTO:
    case YARN_CALLGRAPH_DWARF:
        break;
    }
    return YARN_STACKS_COPY;
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
