/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/views/annotate.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/analysis/source/module_file.h"
#include "output/base/array.h"
#include "output/yarnprof/io/numbers.h"

static void note(struct yarn_annotate *annotate, const char *format, ...) YARN_PRINTF(2, 3);
static void note(struct yarn_annotate *annotate, const char *format, ...)
{
    va_list args;
    if (annotate->nr_notes == YARN_ANNOTATE_NOTES_MAX)
        return;
    va_start(args, format);
    (void)vsnprintf(annotate->notes[annotate->nr_notes++], sizeof annotate->notes[0], format, args);
    va_end(args);
}

static const struct yarn_profile_function *function_of(const struct yarn_annotate *annotate)
{
    return &annotate->annotation.profile->functions[annotate->annotation.function];
}

static const char *path_of(const struct yarn_annotate *annotate)
{
    const struct yarn_profile *profile = annotate->annotation.profile;
    return yarn_profile_text(profile, profile->modules[function_of(annotate)->module].path);
}

static const char *file_of(const struct yarn_annotate *annotate)
{
    return annotate->annotation.profile->modules[function_of(annotate)->module].file;
}

/* The file, while it is the one that was recorded; -1, noted, where it is not. */
static int open_module(struct yarn_annotate *annotate)
{
    const char *path = path_of(annotate);
    enum yarn_module_file_state state;
    int fd = yarn_module_file_open(file_of(annotate), annotate->annotation.build_id,
                                   annotate->annotation.file_bytes, &state);
    if (state == YARN_MODULE_FILE_ABSENT)
        note(annotate, "%.180s is not there: instructions are addresses only", path);
    else if (state == YARN_MODULE_FILE_OTHER)
        note(annotate, "%.160s is not the file that was recorded: instructions are addresses only",
             path);
    else if (!annotate->annotation.build_id.size)
        note(annotate,
             "%.140s has no build id: whether it is the file that was recorded is unknown", path);
    return fd;
}

/* Of a function whose end is unknown: to the last sample in it, and the instruction there. */
static uint64_t end_of(const struct yarn_annotate *annotate,
                       const struct yarn_annotation_extent *extent)
{
    const struct yarn_profile *profile = annotate->annotation.profile;
    uint64_t end = extent->end;
    for (size_t i = 0; extent->end <= extent->start && i < profile->nr_frames; i++) {
        const struct yarn_profile_frame *frame = &profile->frames[i];
        if (frame->function == annotate->annotation.function && frame->start == extent->start)
            end = yarn_u64_max(end, frame->address + 1);
    }
    return yarn_u64_max(end, extent->start + 1);
}

static int disassemble_file(struct yarn_annotate *annotate, int fd)
{
    const char *objdump = annotate->objdump ? annotate->objdump : "objdump";
    int err = 0;
    for (size_t i = 0; !err && i < annotate->annotation.nr_extents; i++) {
        const struct yarn_annotation_extent *extent = &annotate->annotation.extents[i];
        err = yarn_disassembly_add(&annotate->disassembly, objdump, fd, extent->start,
                                   end_of(annotate, extent));
    }
    if (err == -ENOENT)
        note(annotate,
             "%.100s is not installed (Debian: binutils): instructions are addresses only",
             objdump);
    else if (err == -ENOEXEC)
        note(annotate, "%.80s cannot disassemble %.120s: instructions are addresses only", objdump,
             path_of(annotate));
    return err == -ENOENT || err == -ENOEXEC ? 0 : err;
}

static int disassemble(struct yarn_annotate *annotate)
{
    const struct yarn_annotation *annotation = &annotate->annotation;
    if (function_of(annotate)->is_inlined) {
        note(annotate,
             "the function was inlined into others, whose instructions are shown with them");
        return 0;
    }
    if (!annotation->nr_extents || !annotation->is_file) {
        note(annotate, "its code is in no file: instructions are addresses only");
        return 0;
    }
    int fd = open_module(annotate);
    if (fd < 0)
        return 0;
    int err = disassemble_file(annotate, fd);
    (void)close(fd);
    return err;
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

static void open_source(struct yarn_annotate *annotate, struct yarn_annotate_file *file)
{
    struct stat module;
    int err = yarn_source_text_open(&file->text, file->path, annotate->source_root);
    if (err)
        note(annotate, "%.160s: %s; --source-root names another folder", file->path,
             strerror(-err));
    else if (stat(file_of(annotate), &module) == 0 &&
             is_later(&file->text.modified, &module.st_mtim))
        note(annotate, "%.160s is newer than the module: its lines may have moved",
             file->text.path);
}

static int find_sources(struct yarn_annotate *annotate)
{
    const struct yarn_annotation *annotation = &annotate->annotation;
    bool has_line = false;
    for (size_t i = 0; i < annotation->nr_lines; i++) {
        const char *path = yarn_profile_text(annotation->profile, annotation->lines[i].file);
        if (annotate->nr_files && annotation->lines[i].file == annotation->lines[i - 1].file) {
            annotate->files[annotate->nr_files - 1].count++;
            continue;
        }
        if (YARN_ARRAY_RESERVE(&annotate->files, &annotate->files_capacity, annotate->nr_files + 1))
            return -ENOMEM;
        struct yarn_annotate_file *file = &annotate->files[annotate->nr_files++];
        *file = (struct yarn_annotate_file){.path = path, .first = i, .count = 1};
        has_line = has_line || path[0];
        if (path[0])
            open_source(annotate, file);
    }
    if (!has_line && annotation->nr_lines)
        note(annotate, "no debug information of %.150s is at hand: its source lines are unknown",
             path_of(annotate));
    return 0;
}

int yarn_annotate_init(struct yarn_annotate *annotate, const struct yarn_choice *choice,
                       uint32_t function)
{
    int err = yarn_annotation_init(&annotate->annotation, choice, function);
    if (err)
        return err;
    if (annotate->annotation.other_samples)
        note(annotate, "%s in other builds of the module are left out",
             yarn_number_of_things(annotate->annotation.other_samples, "sample").text);
    err = disassemble(annotate);
    if (!err)
        err = yarn_annotation_place(&annotate->annotation, &annotate->disassembly);
    return err ? err : find_sources(annotate);
}

void yarn_annotate_fini(struct yarn_annotate *annotate)
{
    for (size_t i = 0; i < annotate->nr_files; i++)
        yarn_source_text_close(&annotate->files[i].text);
    free(annotate->files);
    yarn_annotation_fini(&annotate->annotation);
    yarn_disassembly_fini(&annotate->disassembly);
    *annotate = (struct yarn_annotate){0};
}
