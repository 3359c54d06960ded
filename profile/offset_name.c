/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/offset_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FILE_BYTES 256

void offset_name(char *ret_name, size_t size, const char *file, uint64_t address)
{
	snprintf(ret_name, size, "%.*s+0x%" PRIx64, FILE_BYTES, file, address);
}

bool offset_name_is_of(const char *name, const char *file)
{
	const size_t length = strlen(file);

	return strncmp(name, file, length) == 0 && name[length] == '+';
}
