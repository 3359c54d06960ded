/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the lines of processes, cgroups and containers onto the page of metrics. */
#ifndef KEYHOLE_EXPORTER_METRICS_SHARE_PAGE_H
#define KEYHOLE_EXPORTER_METRICS_SHARE_PAGE_H

#include "exporter/metrics/page.h"
#include "exporter/otlp/buffer.h"

struct shares;

/* An error is the buffer's. */
void share_page_write(const struct shares *shares, enum page_form form, struct buffer *buffer);

#endif
