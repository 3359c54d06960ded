/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes what the accounts have as OTLP metrics, by the names of OpenTelemetry's semantic
 * conventions where these have one. A process, a cgroup and a container is a resource.
 */
#ifndef KEYHOLE_EXPORTER_METRICS_SHARE_OTLP_H
#define KEYHOLE_EXPORTER_METRICS_SHARE_OTLP_H

#include <stdint.h>

#include "exporter/otlp/buffer.h"

struct figures;

/* Put nothing where there are no accounts. now: ns since 1970. An error is the buffer's. */

/* Puts the metrics of the machine into the scope that is open. */
void share_otlp_system(const struct figures *figures, uint64_t now, struct buffer *buffer);
/* Puts a resource for each share. */
void share_otlp_write(const struct figures *figures, uint64_t now, struct buffer *buffer);

#endif
