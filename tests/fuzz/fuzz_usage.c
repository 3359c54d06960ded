/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "helper/output/counts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A cgroup's cpu.stat: a number of microseconds, or nothing. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char key[] = "usage_usec ";
	uint64_t nanoseconds = 1;
	int r = counts_parse_usage((const char *)data, size, &nanoseconds);

	if (r == 0 && (nanoseconds % 1000 || !memmem(data, size, key, sizeof(key) - 1)))
		__builtin_trap();
	if (r != 0 && (r != -EBADMSG || nanoseconds != 1))
		__builtin_trap();
	return 0;
}
