/* SPDX-License-Identifier: Apache-2.0 */
/* A request for the page of metrics. */
#include <stdint.h>

#include "exporter/metrics/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct query *query)
{
	static const int known[] = {200, 400, 404, 405, 431, 505};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (query->status == known[i] && query->form <= PAGE_OPENMETRICS)
			return;
	__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct query query;

	if (size > QUERY_BYTES_MAX)
		return 0;
	if (query_read((const char *)data, size, &query))
		check(&query);
	else if (size == QUERY_BYTES_MAX)
		__builtin_trap();
	return 0;
}
