/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/models.h"

void yarn_dump_models_reset(struct yarn_dump_models *models)
{
    models->is_out_of_step = false;
    for (size_t i = 0; i < YARN_COUNT_OF(models->model); i++) {
        if (models->model[i].is_used || !models->model[i].is_more.quick)
            yarn_column_model_reset(&models->model[i]);
    }
}
