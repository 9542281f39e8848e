/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/glob.h"
#include "output/analysis/value/runtime.h"
#include "output/yarnprof/io/written.h"
#include "output/yarnprof/verbs/doctor_looks.h"
#include "output/yarnprof/verbs/launch.h"
#include "output/yarnprof/verbs/loadable.h"
#include "output/yarnprof/verbs/unrecorded.h"

bool yarn_doctor_look_at_place(struct yarn_findings *findings, char *ret_preload, size_t size)
{
    struct yarn_launch launch;
    char why[4096 + 512];
    if (access("/proc/self/maps", R_OK)) {
        yarn_findings_add(findings, YARN_FINDING_BAD, "/proc",
                          "a program's mappings and threads cannot be read: %s", strerror(errno));
        yarn_findings_mend(findings, "mount -t proc proc /proc");
        return false;
    }
    if (yarn_launch_find(&launch, why, sizeof why)) {
        yarn_findings_add(findings, YARN_FINDING_BAD, "library", "libyarn_preload.so is missing");
        yarn_findings_mend(findings, "%.1000s", why);
        return false;
    }
    if (launch.preload[strcspn(launch.preload, ": \t")]) {
        yarn_findings_add(findings, YARN_FINDING_BAD, "library",
                          "its path has a blank or a colon, which LD_PRELOAD cannot hold: %.900s",
                          launch.preload);
        yarn_findings_mend(findings, "install it in another folder");
        return false;
    }
    yarn_findings_add(findings, YARN_FINDING_GOOD, "library", "%.1400s", launch.preload);
    (void)snprintf(ret_preload, size, "%s", launch.preload);
    return true;
}

/* The sections of a file: whether one of this type is there. */
static bool has_section(const uint8_t *file, size_t size, uint32_t type)
{
    const Elf64_Ehdr *elf = (const void *)file;
    size_t room = size - yarn_size_min(size, elf->e_shoff);
    for (size_t i = 0; i < elf->e_shnum && i < room / sizeof(Elf64_Shdr); i++) {
        Elf64_Shdr header;
        memcpy(&header, file + elf->e_shoff + i * sizeof header, sizeof header);
        if (header.sh_type == type)
            return true;
    }
    return false;
}

static bool has_symbols(const char *path)
{
    struct stat status;
    bool is_named = true; /* also where nothing can be said */
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > (off_t)sizeof(Elf64_Ehdr)) {
        size_t size = (size_t)status.st_size;
        uint8_t *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (file != MAP_FAILED) {
            if (memcmp(file, ELFMAG, SELFMAG) == 0)
                is_named = has_section(file, size, SHT_SYMTAB);
            (void)munmap(file, size);
        }
    }
    if (fd >= 0)
        (void)close(fd);
    return is_named;
}

static void look_at_names(struct yarn_findings *findings, const char *command)
{
    char path[PATH_MAX];
    (void)yarn_loadable_program(command, path);
    char *real = realpath(path, NULL);
    const char *file = real ? real : path;
    const struct yarn_runtime *runtime = yarn_runtime_of(file);
    if (!runtime)
        runtime = yarn_runtime_of(path);
    if (has_symbols(file))
        yarn_findings_add(findings, YARN_FINDING_GOOD, "names", "%.1400s has its symbols", file);
    else {
        yarn_findings_add(findings, YARN_FINDING_LIMIT, "names",
                          "%.1200s is stripped: only what it exports has a name", file);
        yarn_findings_mend(findings, "install its debug symbols, or build it without -s");
    }
    if (runtime && !getenv(runtime->variable)) {
        yarn_findings_add(findings, YARN_FINDING_LIMIT, runtime->name,
                          "its functions have no names by default");
        yarn_findings_mend(findings, "%s%s%s%s, or yarnprof record --jit", runtime->way,
                           runtime->note ? " (" : "", runtime->note ? runtime->note : "",
                           runtime->note ? ")" : "");
    }
    free(real);
}

static void look_at_file(struct yarn_findings *findings, const char *command, const char *path)
{
    char bytes[YARN_FINDING_BYTES];
    struct yarn_text why = yarn_text_of(bytes, sizeof bytes);
    if (yarn_loadable_is(command, &why)) {
        yarn_findings_add(findings, YARN_FINDING_GOOD, "command", "%.1400s takes the preload",
                          path);
        look_at_names(findings, command);
        return;
    }
    char *way = strstr(bytes, "; ");
    if (way)
        *way = 0;
    yarn_findings_add(findings, YARN_FINDING_BAD, "command", "%s", bytes);
    yarn_findings_mend(findings, "%s", way ? way + 2 : "");
}

/* Why the kernel would not run it, as far as its file says: a negative errno. */
static int try_to_run(const char *command, char ret_path[PATH_MAX])
{
    struct stat status;
    if (!yarn_loadable_find(command, ret_path) || stat(ret_path, &status))
        return -ENOENT;
    if (!S_ISREG(status.st_mode))
        return -EACCES;
    if (access(ret_path, X_OK))
        return -errno;
    char program[PATH_MAX];
    (void)yarn_loadable_program(command, program);
    return access(program, X_OK) ? -errno : 0;
}

static void look_at_choice(struct yarn_findings *findings, const struct yarn_options *options,
                           const char *command)
{
    const char *slash = strrchr(command, '/');
    const char *base = slash ? slash + 1 : command;
    if (yarn_unrecorded_is_of(options->comm, command))
        return;
    bool has_others = options->follow == (YARN_FOLLOW_FORK | YARN_FOLLOW_EXEC);
    yarn_findings_add(findings, has_others ? YARN_FINDING_LIMIT : YARN_FINDING_BAD, "command",
                      "YARN_COMM=%.500s leaves out %.500s%s", options->comm, base,
                      has_others ? " itself; what it starts is recorded where it has such a name"
                                 : "");
    yarn_findings_mend(findings, "leave YARN_COMM empty, or add the name to it");
}

void yarn_doctor_look_at_command(struct yarn_findings *findings, const struct yarn_options *options,
                                 const char *command)
{
    char path[PATH_MAX];
    int err = try_to_run(command, path);
    if (err) {
        yarn_findings_add(findings, YARN_FINDING_BAD, "command", "%.1000s: %s", command,
                          strerror(-err));
        yarn_findings_mend(findings, err == -ENOENT
                                         ? "name a program that is in PATH, or its path; a "
                                           "script's first line names one"
                                         : "name a file that this user may run");
        return;
    }
    look_at_file(findings, command, path);
    look_at_choice(findings, options, command);
}

/* What keeps a recording from beginning with the command. */
void yarn_doctor_look_at_start(struct yarn_findings *findings, const struct yarn_options *options)
{
    if (options->start == YARN_START_OFF) {
        yarn_findings_add(findings, YARN_FINDING_LIMIT, "start",
                          "nothing is recorded until something starts it (YARN_START=off)");
        yarn_findings_mend(findings,
                           options->control[0]
                               ? "yarnprof ctl SOCKET start, or the program's yarn_start()"
                               : "YARN_CONTROL=SOCKET and yarnprof ctl SOCKET start, or "
                                 "the program's yarn_start()");
    }
    if (options->delay_ns) {
        yarn_findings_add(findings, YARN_FINDING_LIMIT, "start",
                          "what ends before YARN_DELAY=%.100s is over is not recorded",
                          options->texts[YARN_OPTION_DELAY]);
        yarn_findings_mend(findings, "leave YARN_DELAY empty");
    }
}

void yarn_doctor_look_at_folder(struct yarn_findings *findings, const struct yarn_options *options)
{
    struct yarn_written_folder folder;
    yarn_written_folder(options->output, &folder);
    int err = yarn_unrecorded_try_to_write(folder.path);
    if (!err) {
        yarn_findings_add(findings, YARN_FINDING_GOOD, "dumps", "can be written in %.1400s",
                          folder.path);
        return;
    }
    yarn_findings_add(findings, YARN_FINDING_BAD, "dumps", "cannot be written in %.1200s: %s",
                      folder.path, strerror(-err));
    yarn_findings_mend(findings, "yarnprof record -o FOLDER/ (YARN_OUTPUT) takes another place");
}
