/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/options/inlines.h"

#include "output/yarnprof/io/status.h"

int yarn_inlines_open(enum yarn_inlines inlines, bool view_has_lines, bool view_has_inlines,
                      struct yarn_load_options *options)
{
    bool is_on = inlines == YARN_INLINES_AUTO ? view_has_inlines : inlines == YARN_INLINES_ON;
    if (!is_on && !view_has_lines)
        return 0;
    options->has_no_inlines = !is_on;
    options->lines = yarn_lines_new(NULL);
    return options->lines ? 0 : -ENOMEM;
}

void yarn_inlines_close(const char *verb, struct yarn_load_options *options)
{
    const char *path;
    enum yarn_debuginfo_state why;
    for (size_t i = 0; options->lines && (path = yarn_lines_unknown(options->lines, i, &why)); i++)
        yarn_complain(verb, "%s: %s: its source lines are unknown", path,
                      why == YARN_DEBUGINFO_OTHER_FILE
                          ? "not the file that was recorded"
                          : "its debug information asks for more than any of this size");
    yarn_lines_free(options->lines);
    options->lines = NULL;
}
