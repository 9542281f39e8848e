/* SPDX-License-Identifier: Apache-2.0 */
#include "core/config/pattern.h"

#include "core/config/environment.h"

static const size_t path_max = 4095;

/* A run of plain bytes (letter 0), or one %: its letter, and for %{NAME} the name. */
struct piece {
    char letter;
    const char *text; /* borrowed; the plain bytes or the name */
    size_t size;
    size_t end; /* offset behind the piece */
};

static int fail_at(struct yarn_parse_error *ret_error, size_t at, size_t size, const char *why)
{
    *ret_error = (struct yarn_parse_error){.at = at, .why = why, .size = size};
    return -EINVAL;
}

static int read_name(const char *pattern, size_t size, size_t at, struct piece *ret_piece,
                     struct yarn_parse_error *ret_error)
{
    const char *name = pattern + at + 2;
    const char *brace = memchr(name, '}', size - at - 2);
    if (!brace)
        return fail_at(ret_error, at, size - at, "the closing } is missing");
    if (brace == name)
        return fail_at(ret_error, at, 3, "the name is missing");
    size_t name_size = (size_t)(brace - name);
    *ret_piece = (struct piece){'{', name, name_size, at + 2 + name_size + 1};
    return 0;
}

static int read_piece(const char *pattern, size_t size, size_t at, struct piece *ret_piece,
                      struct yarn_parse_error *ret_error)
{
    const char *percent = memchr(pattern + at, '%', size - at);
    size_t plain = percent ? (size_t)(percent - pattern) - at : size - at;
    if (plain) {
        *ret_piece = (struct piece){0, pattern + at, plain, at + plain};
        return 0;
    }
    if (at + 1 == size)
        return fail_at(ret_error, at, 1, "a letter is missing behind %");
    char letter = pattern[at + 1];
    if (letter == '{')
        return read_name(pattern, size, at, ret_piece, ret_error);
    if (!memchr("ephtnr%", letter, 7))
        return fail_at(ret_error, at, 2, "not a letter that stands for anything");
    *ret_piece = (struct piece){letter, NULL, 0, at + 2};
    return 0;
}

int yarn_pattern_check(const char *pattern, size_t size, struct yarn_parse_error *ret_error)
{
    struct piece piece;
    if (!size)
        return fail_at(ret_error, 0, 0, "a path is missing");
    if (size > path_max)
        return fail_at(ret_error, 0, size, "longer than a path may be");
    for (size_t at = 0; at < size; at = piece.end) {
        int err = read_piece(pattern, size, at, &piece, ret_error);
        if (err)
            return err;
    }
    return 0;
}

/* Why the order: a launcher under Slurm sets its own rank beside Slurm's, and its own is right. */
static const char *const rank_variables[] = {
    "OMPI_COMM_WORLD_RANK", "PMIX_RANK",      "PMI_RANK",
    "MV2_COMM_WORLD_RANK",  "PALS_RANKID",    "JSM_NAMESPACE_RANK",
    "ALPS_APP_PE",          "FLUX_TASK_RANK", "PMI_ID",
    "MPI_RANKID",           "SLURM_PROCID",
};

const char *yarn_pattern_rank(char *const envp[])
{
    for (size_t i = 0; i < YARN_COUNT_OF(rank_variables); i++) {
        const char *name = rank_variables[i];
        const char *value = yarn_environment_find(envp, yarn_span_of_text(name));
        uint64_t rank;
        if (value && yarn_parse_u64(value, strlen(value), &rank) == 0)
            return value;
    }
    return NULL;
}

static bool is_read_by(const struct piece *piece, struct yarn_span name)
{
    if (piece->letter == '{')
        return piece->size == name.size && memcmp(piece->text, name.data, name.size) == 0;
    for (size_t i = 0; piece->letter == 'r' && i < YARN_COUNT_OF(rank_variables); i++)
        if (strlen(rank_variables[i]) == name.size &&
            memcmp(rank_variables[i], name.data, name.size) == 0)
            return true;
    return false;
}

static bool is_read(const char *pattern, struct yarn_span name)
{
    struct piece piece;
    struct yarn_parse_error error;
    size_t size = strlen(pattern);
    for (size_t at = 0; at < size; at = piece.end) {
        if (read_piece(pattern, size, at, &piece, &error))
            return false;
        if (is_read_by(&piece, name))
            return true;
    }
    return false;
}

char *const *yarn_pattern_environment(const char *pattern, char *const envp[],
                                      struct yarn_arena *arena)
{
    size_t count = 0, at = 0;
    for (size_t i = 0; envp && envp[i]; i++)
        count += is_read(pattern, yarn_environment_name(envp[i]));
    char **block = YARN_ARENA_NEW(arena, char *, count + 1);
    for (size_t i = 0; block && envp && envp[i] && at < count; i++) {
        if (!is_read(pattern, yarn_environment_name(envp[i])))
            continue;
        block[at] = yarn_arena_text(arena, envp[i], strlen(envp[i]));
        if (!block[at++])
            return NULL;
    }
    if (block)
        block[at] = NULL;
    return block;
}

/* Why without slashes: names of hosts and executables must not choose folders. */
static void add_without_slashes(struct yarn_text *text, const char *more)
{
    for (; *more; more++)
        yarn_text_add_sized(text, *more == '/' ? "_" : more, 1);
}

static void add_piece(const struct piece *piece, const struct yarn_pattern_facts *facts,
                      struct yarn_text *text)
{
    const char *value;
    switch (piece->letter) {
    case 'e':
        yarn_text_add(text, yarn_path_base(facts->exe));
        break;
    case 'p':
        yarn_text_add_u64(text, facts->pid);
        break;
    case 'h':
        add_without_slashes(text, facts->host);
        break;
    case 't':
        yarn_text_add_u64(text, facts->start_ns);
        break;
    case 'n':
        yarn_text_add_u64(text, facts->sequence);
        break;
    case 'r':
        value = yarn_pattern_rank(facts->envp);
        yarn_text_add(text, value ? value : "0");
        break;
    case '{':
        value = yarn_environment_find(facts->envp, yarn_span_of(piece->text, piece->size));
        yarn_text_add(text, value ? value : "");
        break;
    case '%':
        yarn_text_add(text, "%");
        break;
    default:
        yarn_text_add_sized(text, piece->text, piece->size);
    }
}

static int expand_pieces(const char *pattern, const struct yarn_pattern_facts *facts,
                         struct yarn_text *text, struct yarn_parse_error *ret_error)
{
    struct piece piece;
    size_t size = strlen(pattern);
    int err = yarn_pattern_check(pattern, size, ret_error);
    if (err)
        return err;
    for (size_t at = 0; at < size; at = piece.end) {
        err = read_piece(pattern, size, at, &piece, ret_error);
        if (err)
            return err;
        add_piece(&piece, facts, text);
    }
    return 0;
}

int yarn_pattern_expand(const char *pattern, const struct yarn_pattern_facts *facts,
                        struct yarn_text *text, struct yarn_parse_error *ret_error)
{
    size_t start = text->size;
    int err = expand_pieces(pattern, facts, text, ret_error);
    if (err)
        return err;
    bool has_slash = text->size > start && text->data[text->size - 1] == '/';
    if (facts->is_folder && !has_slash)
        yarn_text_add(text, "/");
    if (facts->is_folder || has_slash) {
        const char *name = facts->in_folder ? facts->in_folder : YARN_PATTERN_DEFAULT;
        err = expand_pieces(name, facts, text, ret_error);
        if (err)
            return err;
    }
    return text->cut ? -ENAMETOOLONG : 0;
}
