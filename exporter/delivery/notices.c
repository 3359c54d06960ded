/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/delivery/notices.h"

bool notice_due(struct notices *notices, enum notice kind, uint64_t now, uint64_t *ret_left_out)
{
	*ret_left_out = notices->kind[kind].left_out;
	if (notices->kind[kind].told && now - notices->kind[kind].at < NOTICE_INTERVAL_NS) {
		notices->kind[kind].left_out++;
		return false;
	}
	notices->kind[kind].told = true;
	notices->kind[kind].at = now;
	notices->kind[kind].left_out = 0;
	return true;
}

void notice_again(struct notices *notices, enum notice kind)
{
	notices->kind[kind].told = false;
}
