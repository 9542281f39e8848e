/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/kernel_names.h"
#include "output/analysis/load/loader.h"
#include "output/store/array.h"

static const char kernel_module[] = "[kernel.kallsyms]";

/* "nf_hook [netfilter]": of a loadable module, whose name is the last word. The rest is the
 * function's. */
static struct yarn_span split_module(struct yarn_span *name)
{
    const char *text = (const char *)name->data;
    const char *bracket = name->size && text[name->size - 1] == ']' ? strrchr(text, '[') : NULL;
    if (!bracket || bracket == text || bracket[-1] != ' ')
        return yarn_span_of_text(kernel_module);
    size_t at = (size_t)(bracket - text);
    struct yarn_span module = yarn_span_from(*name, at);
    name->size = at - 1;
    return module;
}

int yarn_loader_kernel_function(struct yarn_profile *profile, uint32_t function,
                                uint32_t *ret_function)
{
    uint32_t module, other, text = profile->functions[function].name;
    struct yarn_span name = yarn_span_of_text(yarn_profile_text(profile, text));
    struct yarn_span home = split_module(&name);
    int err = yarn_profile_module(profile, home, &module);
    if (!err)
        err = yarn_strings_intern(&profile->strings, name, &text);
    if (!err)
        err = yarn_profile_function(profile, module, text, &other);
    if (err)
        return err;
    profile->functions[other].is_nameless = profile->functions[function].is_nameless;
    profile->functions[other].is_unknown = profile->functions[function].is_unknown;
    profile->functions[other].is_made = profile->functions[function].is_made;
    *ret_function = other;
    return 0;
}

static bool is_of_this_boot(const struct yarn_dump_process *process)
{
    char here[YARN_BOOT_ID_SIZE];
    yarn_kernel_boot_id(here);
    return here[0] && yarn_span_equal(process->boot_id, yarn_span_of_text(here));
}

static bool lacks_name(const struct yarn_profile *profile, const struct yarn_profile_frame *frame)
{
    return (frame->flags & YARN_DUMP_FRAME_KERNEL) &&
           profile->functions[frame->function].is_nameless;
}

/* Not of a loadable module: another may be at its place by now. */
static int add_name(struct yarn_loader *loader, uint64_t address)
{
    struct yarn_kernel_name found;
    if (!yarn_kernel_names_find(&loader->profile->kernel_names, address, &found) ||
        found.text.data[found.text.size - 1] == ']')
        return 0;
    struct yarn_dump_code_name record = {
        .module = YARN_DUMP_NONE,
        .address = address,
        .start = found.start,
        .end = found.end,
        .name = found.text,
    };
    return yarn_loader_on_code_name(loader, &record);
}

int yarn_loader_name_kernel(struct yarn_loader *loader)
{
    struct yarn_profile *profile = loader->profile;
    size_t first = loader->first_frame;
    while (first < profile->nr_frames && !lacks_name(profile, &profile->frames[first]))
        first++;
    if (first == profile->nr_frames || !is_of_this_boot(&yarn_loader_dump(loader)->process))
        return 0;
    while (!yarn_kernel_names_step(&profile->kernel_names, "/proc/kallsyms"))
        continue;
    int err = 0;
    for (size_t i = first; !err && i < profile->nr_frames; i++)
        if (lacks_name(profile, &profile->frames[i]))
            err = add_name(loader, profile->frames[i].address);
    return err;
}
