/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A C program that loads a C++ library which throws and catches, and says from which library
 * the unwinder of those exceptions comes. `dlthrow PLUGIN`.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_unwinder(const char *when, void *scope)
{
    Dl_info info;
    void *raise = dlsym(scope, "_Unwind_RaiseException");
    const char *name = "nobody";
    if (raise && dladdr(raise, &info)) {
        const char *slash = strrchr(info.dli_fname, '/');
        name = slash ? slash + 1 : info.dli_fname;
    }
    printf("%s: exceptions are raised by %s\n", when, name);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    print_unwinder("program", RTLD_DEFAULT);
    void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!plugin) {
        printf("%s\n", dlerror());
        return EXIT_FAILURE;
    }
    print_unwinder("plugin", plugin);
    int (*throw_and_catch)(int);
    /* Why so: POSIX lets an object pointer be a function's address, ISO C has no cast for it. */
    *(void **)&throw_and_catch = dlsym(plugin, "throw_and_catch");
    if (!throw_and_catch)
        return EXIT_FAILURE;
    int sum = 0;
    for (int i = 0; i < 20000; i++)
        sum += throw_and_catch(i % 20);
    printf("caught %d\n", sum);
    return 0;
}
