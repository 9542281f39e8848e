/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Who gets the records. Called on the reader thread, in time order; what a record borrows is
 * valid for the length of the call.
 */
#pragma once

#include "core/record/record.h"

struct yarn_record_listener {
    void *self;
    void (*record)(void *self, const struct yarn_typed_record *record);
    /* A record of `size` bytes that could not be decoded, or what was left of a broken ring. */
    void (*malformed)(void *self, uint32_t kernel_type, size_t size);
};
