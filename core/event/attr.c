/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/attr.h"

#include <time.h>

const char *yarn_attr_feature_name(enum yarn_attr_feature feature)
{
    switch (feature) {
    case YARN_ATTR_LOST:
        return "exact count of lost samples (Linux 6.0)";
    case YARN_ATTR_INHERIT_THREAD:
        return "inheritance by threads only (Linux 5.13)";
    case YARN_ATTR_REMOVE_ON_EXEC:
        return "removal at exec (Linux 5.13)";
    case YARN_ATTR_CLOCK:
        return "CLOCK_MONOTONIC timestamps (Linux 4.1)";
    case YARN_ATTR_ALL:
        break;
    }
    return NULL;
}

uint32_t yarn_attr_without_newest(uint32_t features)
{
    return features & (features - 1);
}

static struct perf_event_attr common_attr(const struct yarn_attr_options *options)
{
    struct perf_event_attr attr = {
        .size = sizeof attr,
        .sample_type = YARN_SAMPLE_TYPE_COMMON | options->sample_type,
        .sample_id_all = 1,
        .disabled = 1,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
    };
    if (options->features & YARN_ATTR_CLOCK) {
        attr.use_clockid = 1;
        attr.clockid = CLOCK_MONOTONIC;
    }
    if (options->features & YARN_ATTR_LOST)
        attr.read_format |= PERF_FORMAT_LOST;
    return attr;
}

/* No build ids (attr.build_id): the kernel then marks the record that it makes for others of the
 * same mapping, too, which have none in it, and perf ends over that (Linux 6.18, perf 6.1). */
static void add_side_band(struct perf_event_attr *attr)
{
    attr->mmap = attr->mmap2 = 1;
    attr->comm = attr->comm_exec = 1;
    attr->task = 1;
}

static bool is_counted_by_software(enum yarn_event_kind kind)
{
    return kind == YARN_EVENT_SOFTWARE || kind == YARN_EVENT_TRACEPOINT ||
           kind == YARN_EVENT_BREAKPOINT || kind == YARN_EVENT_PROBE;
}

/* Where a sample has its period, the kernel ignores the period that such an event asks for: each
 * occurrence is a sample. */
static bool tells_period(const struct yarn_event_spec *spec)
{
    return !is_counted_by_software(spec->kind) || spec->frequency || spec->period <= 1;
}

static bool is_fault(uint64_t config)
{
    return config == PERF_COUNT_SW_PAGE_FAULTS || config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
           config == PERF_COUNT_SW_PAGE_FAULTS_MAJ || config == PERF_COUNT_SW_ALIGNMENT_FAULTS;
}

/* A precise counter's sample may be one of a known access to memory. */
static bool tells_access(const struct yarn_event_spec *spec)
{
    return yarn_event_spec_can_be_precise(spec) && yarn_event_spec_precise(spec);
}

/* What else a sample holds, by the kind of its event. */
static uint64_t extra_parts(const struct yarn_event_spec *spec)
{
    switch (spec->kind) {
    case YARN_EVENT_TRACEPOINT:
    case YARN_EVENT_PROBE:
        return PERF_SAMPLE_RAW;
    case YARN_EVENT_BREAKPOINT:
        return PERF_SAMPLE_ADDR;
    case YARN_EVENT_SOFTWARE:
        return is_fault(spec->config) ? PERF_SAMPLE_ADDR : 0;
    default:
        return tells_access(spec) ? PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC
                                  : 0;
    }
}

struct perf_event_attr yarn_attr_of(const struct yarn_event_spec *spec,
                                    const struct yarn_attr_options *options)
{
    struct perf_event_attr attr = common_attr(options);
    attr.type = spec->type;
    if (tells_period(spec))
        attr.sample_type |= PERF_SAMPLE_PERIOD;
    attr.sample_type |= extra_parts(spec);
    attr.config = spec->config;
    attr.exclude_user = spec->exclude_user;
    attr.exclude_kernel = spec->exclude_kernel;
    attr.exclude_hv = spec->exclude_hv;
    attr.exclude_idle = spec->exclude_idle;
    attr.exclude_host = spec->exclude_host;
    attr.exclude_guest = spec->exclude_guest;
    attr.config1 = spec->config1;
    attr.config2 = spec->config2;
    attr.bp_type = spec->breakpoint;
    attr.pinned = spec->is_pinned;
    attr.exclusive = spec->is_exclusive;
    attr.precise_ip = yarn_event_spec_precise(spec) & 3u;
    attr.inherit = !options->is_single;
    attr.inherit_thread = attr.inherit && options->features & YARN_ATTR_INHERIT_THREAD;
    attr.remove_on_exec = !!(options->features & YARN_ATTR_REMOVE_ON_EXEC);
    attr.enable_on_exec = options->starts_at_exec;
    if (options->reads_members) {
        attr.sample_type |= PERF_SAMPLE_READ;
        attr.read_format |= PERF_FORMAT_GROUP | PERF_FORMAT_ID;
    }
    if (spec->branches && !options->is_read) {
        attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
        attr.branch_sample_type = spec->branches;
    }
    if (options->has_call_branches) {
        attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
        attr.branch_sample_type = PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_USER;
    }
    if (options->is_read) {
        attr.sample_period = 0;
    } else if (spec->frequency) {
        attr.freq = 1;
        attr.sample_freq = spec->frequency;
    } else {
        attr.sample_period = spec->period;
    }
    if (options->sample_type & PERF_SAMPLE_REGS_USER)
        attr.sample_regs_user = options->registers_mask;
    if (options->sample_type & PERF_SAMPLE_STACK_USER)
        attr.sample_stack_user = options->stack_bytes;
    if (options->sample_type & PERF_SAMPLE_CALLCHAIN) {
        attr.exclude_callchain_kernel = spec->exclude_kernel;
        attr.exclude_callchain_user = !options->has_user_chain;
    }
    if (options->has_side_band)
        add_side_band(&attr);
    attr.context_switch = options->has_side_band && options->has_switches;
    if (options->watermark_bytes) {
        attr.watermark = 1;
        attr.wakeup_watermark = options->watermark_bytes;
    }
    return attr;
}

struct perf_event_attr yarn_attr_of_counter(const struct yarn_event_spec *spec,
                                            const struct yarn_attr_options *options)
{
    struct perf_event_attr attr = yarn_attr_of(spec, options);
    attr.freq = 0;
    attr.sample_freq = 0;
    attr.sample_type = 0;
    attr.sample_id_all = 0;
    attr.precise_ip = 0; /* x86 refuses it where nothing is sampled */
    attr.branch_sample_type = 0;
    return attr;
}

struct perf_event_attr yarn_attr_of_switches(const struct yarn_attr_options *options)
{
    struct perf_event_attr attr = yarn_attr_of_leader(options, 1);
    attr.watermark = 0;
    attr.wakeup_watermark = 0;
    attr.inherit = !options->is_single;
    attr.inherit_thread = attr.inherit && options->features & YARN_ATTR_INHERIT_THREAD;
    attr.remove_on_exec = !!(options->features & YARN_ATTR_REMOVE_ON_EXEC);
    attr.enable_on_exec = options->starts_at_exec;
    attr.context_switch = options->has_switches;
    if (options->has_side_band)
        add_side_band(&attr);
    return attr;
}

struct perf_event_attr yarn_attr_of_watch(const struct yarn_attr_options *options)
{
    struct perf_event_attr attr = yarn_attr_of_leader(options, 1);
    attr.remove_on_exec = !!(options->features & YARN_ATTR_REMOVE_ON_EXEC);
    add_side_band(&attr);
    return attr;
}

struct perf_event_attr yarn_attr_of_leader(const struct yarn_attr_options *options,
                                           uint32_t watermark_bytes)
{
    struct yarn_attr_options plain = {.features = options->features};
    struct perf_event_attr attr = common_attr(&plain);
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_DUMMY;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    attr.watermark = 1;
    attr.wakeup_watermark = watermark_bytes;
    return attr;
}
