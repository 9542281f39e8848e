/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/value/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>

enum {
    MANGLED_SIZE = 4096,
    BACK_REFERENCES_MAX = 24, /* of D, each two of which may double the text */
};

struct text {
    char *at;
    size_t size, room;
    jmp_buf overflow;
};

/* Why a jump: a hostile name of some hundred bytes may expand to any amount of text, and libiberty
 * has no way to stop. It holds no memory while it calls. */
static void append(const char *piece, size_t size, void *opaque)
{
    struct text *text = opaque;
    if (size >= text->room - text->size)
        longjmp(text->overflow, 1);
    memcpy(text->at + text->size, piece, size);
    text->size += size;
    text->at[text->size] = 0;
}

typedef int demangle_fn(const char *name, int options, demangle_callbackref callback, void *opaque);

static bool demangle_with(demangle_fn *demangle, const char *name, char *ret_text)
{
    struct text text = {.at = ret_text, .room = YARN_DEMANGLED_SIZE};
    if (setjmp(text.overflow))
        return false;
    return demangle(name, DMGL_PARAMS | DMGL_ANSI, append, &text) && text.size;
}

static bool append_text(char *text, const char *more)
{
    size_t size = strlen(text), more_size = strlen(more);
    if (more_size >= YARN_DEMANGLED_SIZE - size)
        return false;
    memcpy(text + size, more, more_size + 1);
    return true;
}

/* As libiberty says it for C++. */
static bool append_clone(char *text, const char *suffix)
{
    return !suffix[0] || strncmp(suffix, ".llvm.", 6) == 0 ||
           (append_text(text, " [clone ") && append_text(text, suffix) && append_text(text, "]"));
}

static bool demangle_rust(const char *name, char *ret_text)
{
    /* What follows the name proper: the older names end in E and have points inside. */
    const char *end = name[1] == 'R' ? NULL : strrchr(name, 'E');
    const char *suffix = strchr(end ? end : name, '.');
    return demangle_with(rust_demangle_callback, name, ret_text) &&
           append_clone(ret_text, suffix ? suffix : "");
}

static size_t count_back_references(const char *name)
{
    size_t count = 0;
    for (; *name; name++)
        count += *name == 'Q';
    return count;
}

static bool demangle_d(char *name, char *ret_text)
{
    size_t size = strcspn(name, ".");
    char suffix[MANGLED_SIZE];
    (void)strcpy(suffix, name + size);
    name[size] = 0;
    if (count_back_references(name) > BACK_REFERENCES_MAX)
        return false;
    char *readable = dlang_demangle(name, DMGL_PARAMS | DMGL_ANSI);
    ret_text[0] = 0;
    bool is_done = readable && append_text(ret_text, readable) && append_clone(ret_text, suffix);
    free(readable);
    return is_done;
}

/* Not _Dmain, which D's own runtime calls so. */
static bool is_of_d(const char *name)
{
    return strncmp(name, "_D", 2) == 0 && name[2] >= '0' && name[2] <= '9';
}

static bool demangle_language(char *name, char *ret_text)
{
    if (is_of_d(name))
        return demangle_d(name, ret_text);
    if (strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0)
        return demangle_rust(name, ret_text) ||
               demangle_with(cplus_demangle_v3_callback, name, ret_text);
    /* Code that calls the constructors of globals. */
    return strncmp(name, "_GLOBAL_", 8) == 0 &&
           demangle_with(cplus_demangle_v3_callback, name, ret_text);
}

bool yarn_demangle(const char *name, char ret_text[YARN_DEMANGLED_SIZE])
{
    char plain[MANGLED_SIZE];
    if (name[0] != '_')
        return false;
    size_t size = strcspn(name, "@");
    if (size >= sizeof plain)
        return false;
    memcpy(plain, name, size);
    plain[size] = 0;
    return demangle_language(plain, ret_text) && append_text(ret_text, name + size);
}
