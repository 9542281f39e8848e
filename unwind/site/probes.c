/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/perf_event.h>

#include "unwind/cfi.h"
#include "unwind/site/probe_sites.h"
#include "unwind/site/site_work.h"
#include "unwind/symbol/symbol_search.h"

enum { HITS_MAX = YARN_TRACEFS_PROBES_MAX };

/* Where one spec's probes go. */
struct probes {
    const struct yarn_event_spec *spec;
    const struct yarn_image *image;
    uint64_t address[HITS_MAX]; /* linked */
    char *name[HITS_MAX];
    size_t count;
    const char *why; /* one was left out, a static sentence; NULL */
    struct yarn_arena *arena;
};

static bool is_there(const struct probes *probes, uint64_t address)
{
    for (size_t i = 0; i < probes->count; i++)
        if (probes->address[i] == address)
            return true;
    return false;
}

static const char *fault_of(const struct probes *probes, const struct yarn_symbol_hit *hit)
{
    uint64_t offset = probes->spec->site.offset;
    if (hit->is_indirect)
        return "the function is chosen when the program is loaded (IFUNC): name the chosen one";
    if (hit->size && offset >= hit->size)
        return "the offset lies behind the function's end";
    if (!yarn_site_is_instruction(probes->image, hit->vaddr, offset))
        return "no instruction begins at that offset";
    return NULL;
}

static bool take_symbol(void *self, const struct yarn_symbol_hit *hit)
{
    struct probes *probes = self;
    uint64_t address = hit->vaddr + probes->spec->site.offset;
    const char *fault = fault_of(probes, hit);
    if (fault)
        probes->why = fault;
    if (fault || is_there(probes, address))
        return true;
    if (probes->count == HITS_MAX) {
        probes->why = "more functions than 32 have such a name";
        return false;
    }
    probes->name[probes->count] =
        yarn_arena_text(probes->arena, (const char *)hit->name.data, hit->name.size);
    probes->address[probes->count++] = address;
    return true;
}

/* Of a linked address; false where no segment has it in the file. */
static bool file_offset_of(const struct yarn_image *image, uint64_t vaddr, uint64_t *ret_offset)
{
    for (unsigned i = 0; i < image->nr_segments; i++) {
        const struct yarn_segment *segment = &image->segments[i];
        if (segment->executable && vaddr - segment->vaddr < segment->file_size) {
            *ret_offset = vaddr - segment->vaddr + segment->file_offset;
            return true;
        }
    }
    return false;
}

static bool is_return(const struct yarn_event_spec *spec)
{
    return spec->probe == YARN_EVENT_URETPROBE || spec->probe == YARN_EVENT_KRETPROBE;
}

/* A word that a tracepoint may bear. */
static const char *name_of(const struct yarn_event_spec *spec)
{
    const char *symbol = spec->site.symbol;
    size_t size = symbol ? strspn(symbol, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                                          "0123456789")
                         : 0;
    return size && !symbol[size] && (symbol[0] < '0' || symbol[0] > '9') ? symbol : "probe";
}

/* What an administrator can do instead of this user. */
static void refuse_right(struct yarn_site_work *work, struct yarn_event_spec *spec,
                         const struct yarn_tracefs_site *site)
{
    char line[YARN_SITE_PATH_MAX + 512];
    struct yarn_text text = yarn_text_of(line, sizeof line);
    const char *root = work->probe_sites->group.root, *name = name_of(spec);
    const char *group = site->path ? "yarn" : "kprobes"; /* `yarn` is taken for user code */
    const char *const words[] = {
        "echo '",
        site->is_return ? "r:" : "p:",
        group,
        "/",
        name,
        " ",
        site->path ? site->path : site->symbol,
        site->path ? ":0x" : "+0x",
    };
    for (size_t i = 0; i < YARN_COUNT_OF(words); i++)
        yarn_text_add(&text, words[i]);
    yarn_text_add_hex(&text, site->offset);
    const char *const rest[] = {"' >> ",
                                root,
                                site->path ? "/uprobe_events" : "/kprobe_events",
                                "; mount -o remount,gid=GROUP,mode=750 ",
                                root,
                                "; then it is the event ",
                                group,
                                ":",
                                name};
    for (size_t i = 0; i < YARN_COUNT_OF(rest); i++)
        yarn_text_add(&text, rest[i]);
    yarn_site_refuse(work, spec, EACCES, "only root may define probes; as root", line);
}

static const char *reason_of(int err, bool is_of_kernel)
{
    switch (err) {
    case -ENOENT:
        return is_of_kernel ? "the kernel has no such function" : "there is no such file";
    case -ENOSYS:
        return is_of_kernel ? "the kernel has no probes of its own functions, or there is no "
                              "tracefs in " YARN_TRACEFS
                            : "the kernel has no uprobes, or there is no tracefs in " YARN_TRACEFS;
    case -EINVAL:
        return "the kernel takes no probe there";
    case -ENOSPC:
        return "more than 32 probes";
    default:
        return "the kernel refused the probe";
    }
}

/* What the kernel knows it as; views go on showing it as it was written. */
static void become_tracepoint(struct yarn_site_work *work, struct yarn_event_spec *spec,
                              const char *name)
{
    char event[2 * YARN_TRACEFS_NAME_MAX];
    struct yarn_text text = yarn_text_of(event, sizeof event);
    yarn_text_add(&text, work->probe_sites->group.name);
    yarn_text_add(&text, ":");
    yarn_text_add(&text, name);
    const char *kept = yarn_arena_text(work->arena, event, text.size);
    if (!kept) {
        yarn_site_refuse(work, spec, ENOMEM, "no memory for its name", NULL);
        return;
    }
    spec->event = kept;
    spec->kind = YARN_EVENT_TRACEPOINT;
    spec->type = PERF_TYPE_TRACEPOINT;
    spec->has_own_name = true;
}

static void define(struct yarn_site_work *work, struct yarn_event_spec *spec,
                   const struct yarn_tracefs_site *site)
{
    char name[YARN_TRACEFS_NAME_MAX];
    struct yarn_probe_sites *sites = work->probe_sites;
    if (!sites->is_open) {
        (void)yarn_tracefs_sweep(sites->group.root);
        yarn_tracefs_group_open(&sites->group, sites->group.root);
        sites->is_open = true;
    }
    int err = yarn_tracefs_define(&sites->group, site, name, &spec->config);
    if (err == -EACCES || err == -EPERM)
        refuse_right(work, spec, site);
    else if (err)
        yarn_site_refuse(work, spec, -err, reason_of(err, !site->path), spec->site.symbol);
    else
        become_tracepoint(work, spec, name);
}

/* Where `part` stands in the text; NULL: it does not. */
static const char *find(const char *text, const char *part)
{
    size_t size = strlen(part);
    for (; strlen(text) >= size; text++)
        if (memcmp(text, part, size) == 0)
            return text;
    return NULL;
}

/* "uprobe:libc.so.6:malloc" of one function of a pattern. */
static void name_one(struct yarn_event_spec *spec, const char *pattern, const char *symbol)
{
    char name[YARN_EVENT_NAME_MAX];
    const char *found = symbol && strcmp(pattern, symbol) != 0 ? find(spec->name, pattern) : NULL;
    struct yarn_text text = yarn_text_of(name, sizeof name);
    if (!found)
        return;
    yarn_text_add_sized(&text, spec->name, (size_t)(found - spec->name));
    yarn_text_add(&text, symbol);
    yarn_text_add(&text, found + strlen(pattern));
    memcpy(spec->name, name, text.size + 1);
}

/* Makes room for as many specs as functions; how many there is room for. */
static size_t spread(struct yarn_event_list *list, size_t at, size_t count)
{
    size_t room = YARN_EVENT_LIST_MAX - list->count + 1;
    count = yarn_size_min(count, room);
    memmove(&list->specs[at + count], &list->specs[at + 1],
            (list->count - at - 1) * sizeof list->specs[0]);
    for (size_t i = 1; i < count; i++)
        list->specs[at + i] = list->specs[at];
    list->count += count - 1;
    return count;
}

static size_t put_all(struct yarn_site_work *work, size_t at, const struct probes *probes,
                      const char *path)
{
    const char *pattern = work->list->specs[at].site.symbol;
    size_t count = spread(work->list, at, probes->count);
    for (size_t i = 0; i < count; i++) {
        struct yarn_event_spec *spec = &work->list->specs[at + i];
        struct yarn_tracefs_site site = {.path = path, .is_return = is_return(spec)};
        name_one(spec, pattern, probes->name[i]);
        spec->site.symbol = probes->name[i];
        if (file_offset_of(probes->image, probes->address[i], &site.offset))
            define(work, spec, &site);
        else
            yarn_site_refuse(work, spec, EINVAL, "the symbol is not in code", probes->name[i]);
    }
    return count;
}

/* The function that a linked address is in: the last that begins at or before it; without symbols
 * the code of an FDE. */
struct cover {
    uint64_t vaddr, start;
    bool is_found;
};

static bool compare_start(void *self, const struct yarn_symbol_hit *hit)
{
    struct cover *cover = self;
    if (hit->vaddr > cover->vaddr || (hit->size && cover->vaddr - hit->vaddr >= hit->size) ||
        (cover->is_found && hit->vaddr <= cover->start))
        return true;
    cover->start = hit->vaddr;
    cover->is_found = true;
    return true;
}

static void find_cover(const struct yarn_image *image, const char *path, struct cover *cover)
{
    struct yarn_fde fde;
    (void)yarn_symbol_search(image, path, YARN_SYMBOL_CODE, "*", compare_start, cover);
    if (!cover->is_found && yarn_cfi_find(image, cover->vaddr, &fde) == 0) {
        cover->start = fde.start;
        cover->is_found = true;
    }
}

static size_t put_at_offset(struct yarn_site_work *work, struct yarn_event_spec *spec,
                            const struct yarn_image *image, const char *path)
{
    struct yarn_tracefs_site site = {
        .path = path, .offset = spec->site.offset, .is_return = is_return(spec)};
    struct cover cover = {0};
    bool is_in_file = yarn_image_vaddr_of(image, site.offset, &cover.vaddr);
    if (is_in_file)
        find_cover(image, path, &cover);
    if (cover.is_found && yarn_site_is_instruction(image, cover.start, cover.vaddr - cover.start))
        define(work, spec, &site);
    else
        yarn_site_refuse(work, spec, EINVAL,
                         cover.is_found ? "no instruction begins at that offset of the file"
                                        : "the file has no function at that offset",
                         path);
    return 1;
}

static size_t put_in_file(struct yarn_site_work *work, size_t at, const struct yarn_image *image,
                          const char *path)
{
    struct yarn_event_spec *spec = &work->list->specs[at];
    struct probes probes = {.spec = spec, .image = image, .arena = work->arena};
    if (!spec->site.symbol)
        return put_at_offset(work, spec, image, path);
    (void)yarn_symbol_search(image, path, YARN_SYMBOL_CODE, spec->site.symbol, take_symbol,
                             &probes);
    if (probes.count)
        return put_all(work, at, &probes, path);
    yarn_site_refuse(work, spec, probes.why ? EINVAL : ENOENT,
                     probes.why ? probes.why : "the file has no such function", spec->site.symbol);
    return 1;
}

size_t yarn_site_put_probe(struct yarn_site_work *work, size_t at)
{
    struct yarn_event_spec *spec = &work->list->specs[at];
    struct yarn_image image = YARN_IMAGE_CLOSED;
    char found[YARN_SITE_PATH_MAX];
    const char *path = spec->site.path;
    if (spec->probe == YARN_EVENT_KPROBE || spec->probe == YARN_EVENT_KRETPROBE) {
        struct yarn_tracefs_site site = {
            .symbol = spec->site.symbol, .offset = spec->site.offset, .is_return = is_return(spec)};
        define(work, spec, &site);
        return 1;
    }
    if (!strchr(path, '/')) {
        if (!yarn_site_module_path(path, found)) {
            yarn_site_refuse(work, spec, ENOENT, "no file of that name is mapped at the start",
                             path);
            return 1;
        }
        path = found;
    }
    int err = yarn_image_open(&image, YARN_FILE_CWD, path);
    if (err) {
        yarn_site_refuse(work, spec, -err,
                         err == -ENOEXEC ? "the file is no program and no library"
                                         : "the file cannot be read",
                         path);
        return 1;
    }
    size_t nr_here = put_in_file(work, at, &image, path);
    yarn_image_close(&image);
    return nr_here;
}
