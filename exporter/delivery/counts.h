/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KEYHOLE_EXPORTER_DELIVERY_COUNTS_H
#define KEYHOLE_EXPORTER_DELIVERY_COUNTS_H

#include <stdint.h>

struct delivery_counts {
#define C(name, help) uint64_t name;
#include "exporter/delivery/counts.def"
#undef C
};

#endif
