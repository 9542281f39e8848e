/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The numbers of the format (FORMAT.md says what they mean): versions, sizes, bounds, the record
 * types of format.def. Shared by writer and reader. Threads, signals: safe anywhere.
 */
#pragma once

#include "core/base/base.h"

#define YARN_DUMP_MAGIC "YARNDUMP"
#define YARN_DUMP_CHUNK_MAGIC UINT32_C(0x314359ea) /* the bytes EA 'Y' 'C' '1' */

enum {
    YARN_DUMP_MAJOR = 1,
    YARN_DUMP_MAJOR_MAX = 255, /* what states a later one is damaged */
    YARN_DUMP_MINOR = 0,
    YARN_DUMP_FILE_HEADER_BYTES = 32,
    YARN_DUMP_CHUNK_HEADER_BYTES = 36,
    YARN_DUMP_PAYLOAD_MAX = (1 << 24) - 1, /* raw or stored: the header has 24 bits for each */
    YARN_DUMP_PAYLOAD_FREE = 512 << 10, /* larger ones are at most so many times what is stored: */
    YARN_DUMP_RATIO_MAX = 256,

    /* Numbers are below these. */
    YARN_DUMP_EVENTS_MAX = 1 << 12,
    YARN_DUMP_MODULES_MAX = 1 << 20,
    YARN_DUMP_STRINGS_MAX = 1 << 22,
    YARN_DUMP_SYMBOLS_MAX = 1 << 22,
    YARN_DUMP_FRAMES_MAX = 1 << 24,
    YARN_DUMP_STACKS_MAX = 1 << 24,

    YARN_DUMP_BATCH_MAX = 1 << 16, /* rows in one batch record */
    YARN_DUMP_TEXT_MAX = 1 << 16,  /* bytes of a text */
    YARN_DUMP_DEPTH_MAX = 1 << 12, /* frames of a stack; twice what the recorder walks */
    YARN_DUMP_CPU_BITS = 15,
};

enum yarn_dump_codec {
    YARN_DUMP_CODEC_NONE,
    YARN_DUMP_CODEC_ZSTD, /* one frame */
    YARN_DUMP_CODEC_COUNT,
};

enum yarn_dump_record {
#define YARN_RECORD(number, NAME, name, prose) YARN_DUMP_RECORD_##NAME = (number),
#define YARN_BATCH(number, NAME, names, row, prose) YARN_DUMP_RECORD_##NAME = (number),
#include "output/dump/format.def"
};
