/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces a child that ended or hangs. */
#ifndef KEYHOLE_LOADER_REPLACE_H
#define KEYHOLE_LOADER_REPLACE_H

#include <stdint.h>

#include "loader/monitor.h"

struct recording;

/*
 * Runs monitor_run(), and replaces children until something else happens. Never returns
 * MONITOR_ENDED. Explains a failure.
 */
enum monitor_result replace_watch(struct recording *rec, enum monitor_goal goal, uint64_t until);

#endif
