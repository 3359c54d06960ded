/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "object/symbol/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Most inputs would be no mangled names: they are tried as the rest of one, too. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const prefixes[] = {"", "_Z", "_R", "_ZN1aCI11bI"};
	char name[DEMANGLE_INPUT_MAX + 64];

	if (size > DEMANGLE_INPUT_MAX)
		return 0;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t length = strlen(prefixes[i]);

		memcpy(name, prefixes[i], length);
		memcpy(name + length, data, size);
		name[length + size] = '\0';
		free(demangle(name));
	}
	return 0;
}
