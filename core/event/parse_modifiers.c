/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/parse_form.h"

static const unsigned precise_max = 3;
static const char all_letters[] = "ukhpPIGHSDeW";

bool yarn_event_is_modifiers(struct yarn_span word)
{
    for (size_t i = 0; i < word.size; i++)
        if (!word.data[i] || !strchr(all_letters, word.data[i]))
            return false;
    return word.size > 0;
}

/* perf's rule: who names one of user, kernel and hypervisor leaves the others out, and so with the
 * guest and its host. Letters over earlier ones add to them. */
static void take_sides(struct yarn_event_spec *spec, struct yarn_span word)
{
    bool user = memchr(word.data, 'u', word.size), kernel = memchr(word.data, 'k', word.size);
    bool hv = memchr(word.data, 'h', word.size), guest = memchr(word.data, 'G', word.size);
    bool host = memchr(word.data, 'H', word.size);
    if (user || kernel || hv) {
        bool others = !spec->has_modifiers;
        spec->exclude_user = (spec->exclude_user || others) && !user;
        spec->exclude_kernel = (spec->exclude_kernel || others) && !kernel;
        spec->exclude_hv = (spec->exclude_hv || others) && !hv;
        spec->has_modifiers = true;
    }
    if (guest || host) {
        bool others = !spec->exclude_guest && !spec->exclude_host;
        spec->exclude_guest = (spec->exclude_guest || others) && !guest;
        spec->exclude_host = (spec->exclude_host || others) && !host;
    }
}

static void take_flags(struct yarn_event_spec *spec, struct yarn_span word)
{
    const struct {
        char letter;
        bool *flag;
    } flags[] = {
        {'P', &spec->is_most_precise}, {'I', &spec->exclude_idle}, {'S', &spec->reads_group},
        {'D', &spec->is_pinned},       {'e', &spec->is_exclusive}, {'W', &spec->is_weak},
    };
    for (size_t i = 0; i < YARN_COUNT_OF(flags); i++)
        *flags[i].flag |= memchr(word.data, flags[i].letter, word.size) != NULL;
}

int yarn_event_parse_modifiers(struct yarn_event_reader *reader, struct yarn_event_spec *spec)
{
    struct yarn_span word = yarn_event_reader_word(reader);
    if (!word.size)
        return yarn_event_reader_fail(reader, reader->at - 1, 1, "a modifier is missing");
    for (size_t i = 0; i < word.size; i++) {
        char letter = (char)word.data[i];
        if (letter == 'p' && spec->precise++ == precise_max)
            return yarn_event_reader_fail(reader, reader->at, word.size, "more than three p");
        if (!strchr(all_letters, letter))
            return yarn_event_reader_fail(
                reader, reader->at, word.size,
                "not made of the modifiers u, k, h, p, P, I, G, H, S, D, e and W");
        if (letter != 'p' && memchr(word.data, letter, i))
            return yarn_event_reader_fail(reader, reader->at, word.size, "a modifier twice");
    }
    reader->at += word.size;
    take_sides(spec, word);
    take_flags(spec, word);
    return 0;
}
