/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YARN_YARN_H
#define YARN_YARN_H
#include <yarn/counters.h>
#include <yarn/dump.h>
#include <yarn/event.h>
#include <yarn/record.h>
#endif
