/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/options/view.h"

#include "core/base/text.h"

static int take_limit(struct yarn_view *view, const char *value, const char **ret_right)
{
    uint64_t limit;
    *ret_right = "a number of rows";
    int err = yarn_parse_u64(value, strlen(value), &limit);
    if (err)
        return err;
    view->limit = (size_t)limit;
    view->has_limit = true;
    return 0;
}

int yarn_view_take(struct yarn_view *view, int id, const char *value, const char **ret_right)
{
    if (id == YARN_ARGUMENT_LIMIT)
        return take_limit(view, value, ret_right);
    int err = yarn_select_take(&view->select, id, value, ret_right);
    return err == -ENOENT ? yarn_out_take(&view->out, id, value, ret_right) : err;
}

size_t yarn_view_limit(const struct yarn_view *view, size_t of_text)
{
    if (view->has_limit)
        return view->limit;
    return view->out.format == YARN_OUT_TEXT ? of_text : 0;
}
