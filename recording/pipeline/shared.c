/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/pipeline/shared.h"

int yarn_pipeline_shared_open(struct yarn_pipeline_shared *shared)
{
    int err = yarn_symbols_new(&shared->symbols);
    if (!err)
        err = yarn_known_names_open(&shared->names);
    if (!err)
        err = yarn_image_cache_open(&shared->images);
    if (err)
        yarn_pipeline_shared_close(shared);
    return err;
}

void yarn_pipeline_shared_close(struct yarn_pipeline_shared *shared)
{
    yarn_symbols_free(shared->symbols);
    shared->symbols = NULL;
    yarn_known_names_close(&shared->names);
    yarn_image_cache_close(&shared->images);
}
