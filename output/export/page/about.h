/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The texts of a page that describe the recording: its title, events, threads, modules, functions,
 * and how far it is to be trusted. Everything foreign is escaped. Threads: one.
 */
#pragma once

#include <stdio.h>

#include "output/export/page/order.h"

/* The command that was recorded, as one line. */
void yarn_page_about_command(const struct yarn_profile *profile, FILE *file);
/* <dt> and <dd> elements for each side. */
void yarn_page_about_recording(const struct yarn_page_graph *graph, FILE *file);
/* Sentences on what is missing to a degree that matters; nothing where nothing is. */
void yarn_page_about_missing(const struct yarn_page_graph *graph, FILE *file);
/* <option> elements. */
void yarn_page_about_events(const struct yarn_page_graph *graph, FILE *file);
/* <li> elements. */
void yarn_page_about_threads(const struct yarn_page_graph *graph, FILE *file);
/* The command lines of processes that have threads. */
void yarn_page_about_images(const struct yarn_page_graph *graph, FILE *file);
void yarn_page_about_modules(const struct yarn_page_order *order, FILE *file);
/* Rows of a table, in groups. */
void yarn_page_about_functions(const struct yarn_page_graph *graph,
                               const struct yarn_page_order *order, FILE *file);
