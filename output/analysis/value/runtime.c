/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/value/runtime.h"

#include "core/base/glob.h"
#include "core/base/text.h"

#define JAVA_OPTIONS "-XX:+PreserveFramePointer -XX:+DumpPerfMapAtExit"

static const struct yarn_runtime runtimes[] = {
    {"python[0-9]*,libpython[0-9]*", "Python", "python3 -X perf", "PYTHONPERFSUPPORT", "1", false,
     true, true, "from Python 3.12 on", "-E and -I"},
    {"node,nodejs,libnode.so*", "Node.js", "node --perf-basic-prof", "NODE_OPTIONS",
     "--perf-basic-prof", true, true, false, NULL, NULL},
    /* Without the second one a Java 17 that is asked for the last one does not start. */
    {"java,libjvm.so", "Java", "java -XX:+UnlockDiagnosticVMOptions " JAVA_OPTIONS,
     "JAVA_TOOL_OPTIONS",
     "-XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions " JAVA_OPTIONS, true, true,
     false, "from Java 17 on", NULL},
    {"ruby,ruby[0-9]*,libruby*.so*", "Ruby", "ruby --yjit-perf", "RUBYOPT", "--yjit-perf", true,
     false, true, "from Ruby 3.3 on, with YJIT", NULL},
    {"dotnet,libcoreclr.so", ".NET", "DOTNET_PerfMapEnabled=1", "DOTNET_PerfMapEnabled", "1", false,
     true, false, NULL, NULL},
};

const struct yarn_runtime *yarn_runtime_at(size_t number)
{
    return number < YARN_COUNT_OF(runtimes) ? &runtimes[number] : NULL;
}

const struct yarn_runtime *yarn_runtime_of(const char *path)
{
    for (size_t i = 0; i < YARN_COUNT_OF(runtimes); i++)
        if (yarn_glob_list_matches(runtimes[i].files, yarn_path_base(path)))
            return &runtimes[i];
    return NULL;
}
