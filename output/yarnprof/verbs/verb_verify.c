/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "output/analysis/time/children.h"
#include "output/analysis/time/completeness.h"
#include "output/yarnprof/io/columns.h"
#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/options/select.h"
#include "output/yarnprof/verbs/verb.h"

enum { TRUST = YARN_ARGUMENT_OWN };

#define DOUBT_PERCENT 5.0

static const struct yarn_argument arguments[] = {
    {"trust", 0, "[=PERCENT]",
     "fail also where lost, cut, failed and unknown samples exceed PERCENT (5)", TRUST},
    YARN_OUT_ARGUMENTS,
    {0},
};

struct request {
    struct yarn_out out;
    bool has_trust;
    double doubt_percent;
};

static int take(void *self, int id, const char *value, const char **ret_right)
{
    struct request *request = self;
    char *end;
    if (id != TRUST)
        return yarn_out_take(&request->out, id, value, ret_right);
    *ret_right = "a percentage from 0 to 100";
    request->has_trust = true;
    request->doubt_percent = value ? strtod(value, &end) : DOUBT_PERCENT;
    if (value && (end == value || *end))
        return -EINVAL;
    return request->doubt_percent >= 0 && request->doubt_percent <= 100 ? 0 : -EINVAL;
}

static void print_damage(const struct yarn_dump_summary *summary, const struct yarn_out *out)
{
    size_t kept = yarn_size_min(summary->nr_damages, YARN_COUNT_OF(summary->damages));
    for (size_t i = 0; i < kept; i++) {
        const struct yarn_dump_damage *damage = &summary->damages[i];
        (void)fprintf(out->file, "  offset %" PRIu64 ": %s (%" PRIu64 " bytes skipped)\n",
                      damage->offset, damage->why, damage->size);
    }
    if (kept < summary->nr_damages)
        (void)fprintf(out->file, "  and %zu more\n", summary->nr_damages - kept);
}

/* A file with all its processes, which lie together in the profile. */
struct file {
    const struct yarn_profile_dump *dumps;
    size_t nr_dumps;
    size_t nr_early;        /* processes without an end */
    uint64_t nr_bad_before; /* damaged when they were merged */
    uint64_t nr_samples;
};

static struct file gather(const struct yarn_profile *profile, size_t first)
{
    struct file file = {.dumps = &profile->dumps[first]};
    for (size_t i = first; i < profile->nr_dumps && profile->dumps[i].path == file.dumps[0].path;
         i++) {
        const struct yarn_profile_dump *dump = &profile->dumps[i];
        file.nr_dumps++;
        file.nr_early += !dump->has_end;
        file.nr_samples += dump->trust.samples;
        for (size_t k = 0; k < dump->nr_froms; k++)
            file.nr_bad_before += dump->froms[k].nr_damages != 0;
    }
    return file;
}

static bool is_damaged(const struct file *file)
{
    const struct yarn_dump_summary *summary = &file->dumps[0].summary;
    return summary->nr_damages || summary->records_bad || file->nr_bad_before;
}

static void print_state(const struct file *file, const struct yarn_out *out)
{
    const struct yarn_dump_summary *summary = &file->dumps[0].summary;
    if (is_damaged(file))
        (void)fprintf(out->file, "%sdamaged%s", yarn_out_paint(out, YARN_PAINT_HOT),
                      yarn_out_plain(out));
    else if (file->nr_early || summary->is_cut) /* also between two processes of a merged one */
        (void)fprintf(out->file, "%sends early%s", yarn_out_paint(out, YARN_PAINT_WARNING),
                      yarn_out_plain(out));
    else
        (void)fprintf(out->file, "%swhole%s", yarn_out_paint(out, YARN_PAINT_WARM),
                      yarn_out_plain(out));
}

static void print_early(const struct file *file, const struct yarn_out *out)
{
    const struct yarn_dump_summary *summary = &file->dumps[0].summary;
    if (summary->is_cut)
        (void)fprintf(out->file,
                      "  the last write was interrupted: nothing from offset %" PRIu64 " on\n",
                      summary->cut_at);
    if (file->nr_early && file->nr_dumps > 1)
        (void)fprintf(out->file,
                      "  %zu of %zu recordings were not closed: the processes, or who recorded "
                      "them, were killed, or still ran\n",
                      file->nr_early, file->nr_dumps);
    else if (file->nr_early && !summary->is_cut)
        (void)fputs(
            "  the recording was not closed: the process, or who recorded it, was killed, or "
            "still runs\n",
            out->file);
}

/* What could not be read when the dump was merged. */
static void print_from(const struct yarn_dump_from *from, const struct yarn_out *out)
{
    if (!from->nr_damages && !from->is_cut)
        return;
    (void)fputs("  merged from ", out->file);
    yarn_print_cut(out, from->path.size ? (const char *)from->path.data : "", 0);
    if (from->nr_damages)
        (void)fprintf(out->file,
                      ", damaged at offset %" PRIu64 ": %s (%" PRIu64 " bytes skipped in all)",
                      from->damage_at, from->damage.size ? (const char *)from->damage.data : "",
                      from->damaged_bytes);
    if (from->is_cut)
        (void)fprintf(out->file, ", cut: nothing from offset %" PRIu64 " on", from->cut_at);
    (void)fputc('\n', out->file);
}

static void print_file(const struct file *file, const struct yarn_out *out)
{
    const struct yarn_dump_summary *summary = &file->dumps[0].summary;
    yarn_print_cut(out, file->dumps[0].path, 0);
    (void)fputs(": ", out->file);
    print_state(file, out);
    (void)fprintf(out->file, ": %s, ", yarn_number_bytes(summary->file_bytes).text);
    if (file->nr_dumps > 1)
        (void)fprintf(out->file, "%zu processes, ", file->nr_dumps);
    (void)fprintf(out->file, "%s readable, ", yarn_number_of_things(summary->chunks, "chunk").text);
    (void)fprintf(out->file, "%s\n", yarn_number_of_things(file->nr_samples, "sample").text);
    print_early(file, out);
    if (summary->records_bad > summary->samples_nameless)
        (void)fprintf(
            out->file, "  %s invalid, skipped\n",
            yarn_number_of_things(summary->records_bad - summary->samples_nameless, "record").text);
    if (summary->samples_nameless)
        (void)fprintf(out->file, "  %s nameless: their stacks were in what is missing\n",
                      yarn_number_of_things(summary->samples_nameless, "sample").text);
    if (summary->records_unknown)
        (void)fprintf(out->file, "  %s of a later version, skipped\n",
                      yarn_number_of_things(summary->records_unknown, "record").text);
    print_damage(summary, out);
    for (size_t i = 0; i < file->nr_dumps; i++) {
        for (size_t k = 0; k < file->dumps[i].nr_froms; k++)
            print_from(&file->dumps[i].froms[k], out);
    }
}

/* Of the CPU time, with that of children that are in no dump. */
static double unsampled_percent(const struct yarn_trust *sum, uint64_t unread_ns)
{
    struct yarn_trust all = *sum;
    all.cpu_ns += unread_ns;
    all.unsampled_ns += unread_ns;
    return yarn_trust_gaps(&all).unsampled;
}

static bool is_trusted(const struct yarn_profile *profile, const struct request *request)
{
    struct yarn_trust all = {.clean_end = true}, *sum = &all;
    for (size_t i = 0; i < profile->nr_dumps; i++)
        yarn_trust_add(sum, &profile->dumps[i].trust);
    double doubt = yarn_trust_doubt_percent(sum);
    double unsampled = unsampled_percent(sum, yarn_children_unread_ns(profile));
    bool is_enough = sum->samples && doubt <= request->doubt_percent;
    bool is_part = unsampled > request->doubt_percent;
    bool is_open = !sum->clean_end;
    (void)fprintf(request->out.file,
                  "%s: %.2f %% of the samples are lost (%" PRIu64 "), cut (%" PRIu64
                  "), failed (%" PRIu64 ") or unknown (%" PRIu64 "); the bound is %g %%",
                  !is_enough           ? "not trusted"
                  : is_part || is_open ? "trusted as far as it goes"
                                       : "trusted",
                  doubt, sum->lost, sum->stacks_truncated,
                  sum->stacks_no_unwind_info + sum->stacks_failed, sum->leaves_unknown,
                  request->doubt_percent);
    if (is_part)
        (void)fprintf(request->out.file, "; %.2f %% of the CPU time has no sample", unsampled);
    if (is_open)
        (void)fputs("; not closed: the end is missing", request->out.file);
    (void)fputc('\n', request->out.file);
    return is_enough;
}

/* "        12  samples were lost (0.40 %)" */
static void print_completeness(const struct yarn_profile *profile, const struct yarn_out *out)
{
    struct yarn_completeness completeness = yarn_completeness_of(profile);
    for (size_t i = 0; i < completeness.count; i++) {
        const struct yarn_completeness_row *row = &completeness.rows[i];
        (void)fprintf(out->file, "%12s  %s",
                      row->unit == YARN_COMPLETENESS_NS ? yarn_number_duration(row->count).text
                                                        : yarn_number_grouped(row->count).text,
                      row->what);
        if (row->percent >= 0)
            (void)fprintf(out->file, " (%.2f %%)", row->percent);
        (void)fputc('\n', out->file);
    }
}

/* True where all of its dumps are undamaged. */
static bool check(const struct yarn_profile *profile, const struct request *request)
{
    bool is_good = true;
    for (size_t i = 0; i < profile->nr_dumps;) {
        struct file file = gather(profile, i);
        is_good = is_good && !is_damaged(&file);
        print_file(&file, &request->out);
        i += file.nr_dumps;
    }
    return is_good;
}

static bool judge(const struct yarn_profile *profile, const struct request *request)
{
    if (!request->has_trust)
        return true;
    print_completeness(profile, &request->out);
    return is_trusted(profile, request);
}

/* Only trust asks whether code has a name. */
static bool load(char *const *paths, bool has_trust, struct yarn_profile *ret_profile)
{
    struct yarn_load_options options = YARN_LOAD_SHORT;
    options.has_no_files = !has_trust;
    return yarn_select_load("verify", paths, &options, ret_profile) < 0;
}

/* Each by itself, so that what cannot be read hides no other. They are trusted as one profile, as
 * report shows them: a child of one may be in another. */
static bool check_each(char **paths, const struct request *request)
{
    struct yarn_profile profile, none = {0};
    size_t nr_read = 0;
    bool is_good = true;
    for (size_t i = 0; paths[i]; i++) {
        char *const path[] = {paths[i], NULL};
        bool is_read = load(path, false, &profile);
        is_good = is_read && check(&profile, request) && is_good;
        if (!is_read)
            continue;
        yarn_profile_fini(&profile);
        paths[nr_read++] = paths[i];
    }
    paths[nr_read] = NULL;
    if (!request->has_trust)
        return is_good;
    if (!nr_read || !load(paths, true, &profile))
        return judge(&none, request) && is_good;
    is_good = judge(&profile, request) && is_good;
    yarn_profile_fini(&profile);
    return is_good;
}

static bool check_one(char *path, const struct request *request)
{
    struct yarn_profile profile = {0};
    char *const paths[] = {path, NULL};
    bool is_read = load(paths, request->has_trust, &profile);
    bool is_good = is_read && check(&profile, request);
    is_good = judge(&profile, request) && is_good;
    if (is_read)
        yarn_profile_fini(&profile);
    return is_good;
}

static int run(void *self, char **operands)
{
    struct request *request = self;
    char newest[PATH_MAX];
    if (!operands[0] && !yarn_newest_find("verify", newest))
        return YARN_STATUS_USAGE;
    int status = yarn_out_open(&request->out, "verify");
    if (status >= 0)
        return status;
    bool is_one = !operands[0] || !operands[1];
    bool is_good = is_one ? check_one(operands[0] ? operands[0] : newest, request)
                          : check_each(operands, request);
    status = yarn_out_finish(&request->out, "verify", 0);
    return is_good ? status : YARN_STATUS_FAILED;
}

const struct yarn_command yarn_verb_verify = {
    .verb = "verify",
    .operands = "FILE...",
    .about = "Checks structure and checksums of dumps. 0: whole, or ending early (which is said);\n"
             "1: damaged, or no dump.",
    .arguments = arguments,
    .take = take,
    .request_bytes = sizeof(struct request),
    .run = run,
};
