/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "output/yarnprof/columns.h"
#include "output/yarnprof/numbers.h"
#include "output/yarnprof/select.h"
#include "output/yarnprof/status.h"
#include "output/yarnprof/verb.h"

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

static const struct yarn_command command = {
    .verb = "verify",
    .operands = "FILE…",
    .about = "Checks structure and checksums of dumps. 0: whole, or ending early (which is said);\n"
             "1: damaged, or no dump.",
    .arguments = arguments,
    .take = take,
};

static void print_damage(const struct yarn_dump_summary *summary, const struct yarn_out *out)
{
    size_t kept = yarn_size_min(summary->nr_damages, YARN_COUNT_OF(summary->damages));
    for (size_t i = 0; i < kept; i++) {
        const struct yarn_dump_damage *damage = &summary->damages[i];
        (void)fprintf(out->file, "  offset %" PRIu64 ": %s (%" PRIu64 " bytes passed over)\n",
                      damage->offset, damage->why, damage->size);
    }
    if (kept < summary->nr_damages)
        (void)fprintf(out->file, "  and %zu more\n", summary->nr_damages - kept);
}

static bool is_damaged(const struct yarn_dump_summary *summary)
{
    return summary->nr_damages || summary->records_bad;
}

static void print_state(const struct yarn_profile_dump *dump, const struct yarn_out *out)
{
    const struct yarn_dump_summary *summary = &dump->summary;
    if (is_damaged(summary))
        (void)fprintf(out->file, "%sdamaged%s", yarn_out_paint(out, YARN_PAINT_HOT),
                      yarn_out_plain(out));
    else if (!summary->has_end)
        (void)fprintf(out->file, "%sends early%s", yarn_out_paint(out, YARN_PAINT_WARNING),
                      yarn_out_plain(out));
    else
        (void)fprintf(out->file, "%swhole%s", yarn_out_paint(out, YARN_PAINT_WARM),
                      yarn_out_plain(out));
}

/* Samples of all processes of the file. */
static uint64_t count_samples(const struct yarn_profile *profile, size_t number)
{
    uint64_t samples = 0;
    const char *path = profile->dumps[number].path;
    for (; number < profile->nr_dumps && profile->dumps[number].path == path; number++)
        samples += profile->dumps[number].trust.samples;
    return samples;
}

static void print_dump(const struct yarn_profile *profile, size_t number,
                       const struct yarn_out *out)
{
    const struct yarn_profile_dump *dump = &profile->dumps[number];
    const struct yarn_dump_summary *summary = &dump->summary;
    yarn_print_cut(out, dump->path, 0);
    (void)fputs(": ", out->file);
    print_state(dump, out);
    (void)fprintf(out->file, ": %s, ", yarn_number_bytes(summary->file_bytes).text);
    (void)fprintf(out->file, "%s readable, ", yarn_number_of_things(summary->chunks, "chunk").text);
    (void)fprintf(out->file, "%s\n",
                  yarn_number_of_things(count_samples(profile, number), "sample").text);
    if (!summary->has_end && summary->is_cut)
        (void)fprintf(out->file,
                      "  the last write was interrupted: nothing from offset %" PRIu64 " on\n",
                      summary->cut_at);
    else if (!summary->has_end)
        (void)fputs("  the recording was not closed: the process was killed, or still runs\n",
                    out->file);
    if (summary->records_bad)
        (void)fprintf(out->file, "  %s without sense passed over\n",
                      yarn_number_of_things(summary->records_bad, "record").text);
    if (summary->records_unknown)
        (void)fprintf(out->file, "  %s of a later version passed over\n",
                      yarn_number_of_things(summary->records_unknown, "record").text);
    print_damage(summary, out);
}

static bool is_trusted(const struct yarn_trust *sum, const struct request *request)
{
    double doubt = yarn_trust_doubt_percent(sum);
    bool is_enough = sum->samples && doubt <= request->doubt_percent;
    (void)fprintf(request->out.file,
                  "%s: %.2f %% of the samples are lost (%" PRIu64 "), cut (%" PRIu64
                  "), failed (%" PRIu64 ") or unknown (%" PRIu64 "); the bound is %g %%\n",
                  is_enough ? "trusted" : "not trusted", doubt, sum->lost, sum->stacks_truncated,
                  sum->stacks_no_unwind_info + sum->stacks_failed, sum->leaves_unknown,
                  request->doubt_percent);
    return is_enough;
}

/* True where all that the path names is readable and undamaged. */
static bool check(char *path, const struct request *request, struct yarn_trust *sum)
{
    char *const paths[] = {path, NULL};
    struct yarn_load_options options = {.time = YARN_TIME_RANGE_ALL};
    struct yarn_profile profile;
    bool is_good = true;
    if (yarn_select_load("verify", paths, &options, &profile) >= 0)
        return false;
    for (size_t i = 0; i < profile.nr_dumps; i++) {
        const struct yarn_profile_dump *dump = &profile.dumps[i];
        yarn_trust_add(sum, &dump->trust);
        is_good = is_good && !is_damaged(&dump->summary);
        /* Why: a merged file is many dumps of one summary. */
        if (!i || dump->path != profile.dumps[i - 1].path)
            print_dump(&profile, i, &request->out);
    }
    yarn_profile_fini(&profile);
    return is_good;
}

int yarn_verb_verify(int argc, char **argv)
{
    struct request request = {0};
    struct yarn_command mine = command;
    struct yarn_trust sum = {.clean_end = true};
    int first;
    mine.self = &request;
    int status = yarn_command_parse(&mine, argc, argv, &first);
    if (status >= 0)
        return status;
    if (!argv[first]) {
        yarn_complain("verify", "no dump is named; see yarnprof verify --help");
        return YARN_STATUS_USAGE;
    }
    status = yarn_out_open(&request.out, "verify");
    if (status >= 0)
        return status;
    bool is_good = true;
    for (int i = first; i < argc; i++)
        is_good = check(argv[i], &request, &sum) && is_good;
    if (request.has_trust && !is_trusted(&sum, &request))
        is_good = false;
    status = yarn_out_close(&request.out, "verify");
    return status >= 0 ? status : is_good ? YARN_STATUS_OK : YARN_STATUS_FAILED;
}
