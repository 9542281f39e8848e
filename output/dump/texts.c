/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/texts.h"

#include <stdlib.h>

enum { PIECE_BYTES = 64 << 10 };

struct yarn_texts_piece {
    struct yarn_texts_piece *before;
    size_t used, size;
    char bytes[];
};

char *yarn_texts_keep(struct yarn_texts *texts, struct yarn_span bytes)
{
    struct yarn_texts_piece *piece = texts->pieces;
    size_t needed = bytes.size + 1;
    if (!piece || piece->size - piece->used < needed) {
        size_t size = yarn_size_max(needed, PIECE_BYTES);
        piece = malloc(sizeof *piece + size);
        if (!piece)
            return NULL;
        *piece = (struct yarn_texts_piece){.before = texts->pieces, .size = size};
        texts->pieces = piece;
    }
    char *kept = piece->bytes + piece->used;
    if (bytes.size)
        memcpy(kept, bytes.data, bytes.size);
    kept[bytes.size] = 0;
    piece->used += needed;
    return kept;
}

void yarn_texts_close(struct yarn_texts *texts)
{
    while (texts->pieces) {
        struct yarn_texts_piece *before = texts->pieces->before;
        free(texts->pieces);
        texts->pieces = before;
    }
}
