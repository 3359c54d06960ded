/* SPDX-License-Identifier: Apache-2.0 */
/* Which log lines are written: one of a kind a minute, with the number of those left out before. */
#ifndef KEYHOLE_EXPORTER_DELIVERY_NOTICES_H
#define KEYHOLE_EXPORTER_DELIVERY_NOTICES_H

#include <stdbool.h>
#include <stdint.h>

#define NOTICE_INTERVAL_NS 60000000000ull

enum notice {
#define N(name) NOTICE_##name,
#include "exporter/delivery/notices.def"
#undef N
	NOTICES
};

struct notices {
	struct {
		bool told;
		uint64_t at, left_out;
	} kind[NOTICES];
};

/* Returns whether to write the line, and how many like it were left out since the last one. */
bool notice_due(struct notices *notices, enum notice kind, uint64_t now, uint64_t *ret_left_out);
/* Has the next line of the kind written. */
void notice_again(struct notices *notices, enum notice kind);

#endif
