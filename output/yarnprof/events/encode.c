/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/events/encode.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/event/encoded.h"

#ifdef YARN_HAVE_PFM
#include <linux/perf_event.h>
#include <perfmon/pfmlib_perf_event.h>

enum { NAME_MAX_BYTES = 256 };

static bool is_ready(void)
{
    static int state; /* 0: not tried */
    if (!state)
        state = pfm_initialize() == PFM_SUCCESS ? 1 : -1;
    return state > 0;
}

/* Why not libpfm4's own: the kernel's names and numbers are known by other rules. */
static bool is_of_kernel(const char *whole_name)
{
    return strncmp(whole_name, "perf", strlen("perf")) == 0;
}

static int encode(struct yarn_span words, struct yarn_event_encoding *ret_encoding)
{
    char name[NAME_MAX_BYTES], *whole_name = NULL;
    struct perf_event_attr attr = {.size = sizeof attr};
    pfm_perf_encode_arg_t argument = {.attr = &attr, .fstr = &whole_name, .size = sizeof argument};
    if (words.size >= sizeof name || !is_ready())
        return -ENOENT;
    memcpy(name, words.data, words.size);
    name[words.size] = 0;
    if (pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &argument) !=
        PFM_SUCCESS)
        return -ENOENT;
    bool is_raw = attr.type == PERF_TYPE_RAW && whole_name && !is_of_kernel(whole_name);
    free(whole_name);
    if (!is_raw)
        return -ENOENT;
    *ret_encoding = (struct yarn_event_encoding){attr.config, attr.config1, attr.config2};
    return 0;
}

/* EVENT, or EVENT:UMASK for each of its umasks. */
static bool pass_event(const pfm_event_info_t *event, yarn_machine_name_fn *tell, void *self)
{
    char name[NAME_MAX_BYTES];
    bool has_umask = false, goes_on = true;
    for (int i = 0; i < event->nattrs && goes_on; i++) {
        pfm_event_attr_info_t attribute = {.size = sizeof attribute};
        if (pfm_get_event_attr_info(event->idx, i, PFM_OS_NONE, &attribute) != PFM_SUCCESS ||
            attribute.type != PFM_ATTR_UMASK)
            continue;
        (void)snprintf(name, sizeof name, "%s:%s", event->name, attribute.name);
        goes_on = tell(self, name);
        has_umask = true;
    }
    return has_umask ? goes_on : tell(self, event->name);
}

static bool pass_pmu(pfm_pmu_t number, yarn_machine_name_fn *tell, void *self)
{
    pfm_pmu_info_t pmu = {.size = sizeof pmu};
    if (pfm_get_pmu_info(number, &pmu) != PFM_SUCCESS || !pmu.is_present ||
        pmu.type != PFM_PMU_TYPE_CORE)
        return true;
    for (int i = pmu.first_event; i >= 0; i = pfm_get_event_next(i)) {
        pfm_event_info_t event = {.size = sizeof event};
        if (pfm_get_event_info(i, PFM_OS_NONE, &event) == PFM_SUCCESS &&
            !pass_event(&event, tell, self))
            return false;
    }
    return true;
}

static void list_all(yarn_machine_name_fn *tell, void *self)
{
    bool goes_on = is_ready();
    for (int i = PFM_PMU_NONE; i < PFM_PMU_MAX && goes_on; i++)
        goes_on = pass_pmu((pfm_pmu_t)i, tell, self);
}
#else
static int encode(struct yarn_span words, struct yarn_event_encoding *ret_encoding)
{
    (void)words;
    (void)ret_encoding;
    return -ENOENT;
}

static void list_all(yarn_machine_name_fn *tell, void *self)
{
    (void)tell;
    (void)self;
}
#endif

void yarn_encode_list(yarn_machine_name_fn *tell, void *self)
{
    list_all(tell, self);
}

const struct yarn_event_machine *yarn_encode_machine(void)
{
    static struct yarn_event_machine machine;
    machine = yarn_event_machine_here;
    machine.encode = encode;
    return &machine;
}

char *yarn_encode_text(const char *text, const struct yarn_event_list *list)
{
    size_t room = strlen(text) + 1;
    for (size_t i = 0; i < list->count; i++)
        room += 512 + 2 * strlen(list->specs[i].asked);
    char *buffer = malloc(room);
    if (!buffer)
        return NULL;
    struct yarn_text out = yarn_text_of(buffer, room);
    yarn_event_list_encode(list, text, &out);
    return buffer;
}
