/* SPDX-License-Identifier: Apache-2.0 */
#include "output/base/program.h"

#include <string.h>

#include "core/base/text.h"

const char *yarn_program_name(const char *first_argument, const char *file)
{
    const char *name = yarn_path_base(first_argument + (first_argument[0] == '-'));
    return name[0] && !strpbrk(name, " \t\n:") ? name : yarn_path_base(file);
}
