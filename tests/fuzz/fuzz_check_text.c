/* SPDX-License-Identifier: Apache-2.0 */
/* The texts about a process that keyhole check reads. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "view/check/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char value[TEXT_FIELD_BYTES], tag[TEXT_TAG_BYTES], *text = malloc(size + 1);
	unsigned long long hard;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	text_field(text, "Uid", value, sizeof(value));
	if (strlen(value) >= sizeof(value) || strchr(value, '\n'))
		abort();
	text_limit(text, "Max processes", &hard);
	if (text_program_tag(text, tag) && (!*tag || strlen(tag) >= sizeof(tag)))
		abort();
	free(text);
	return 0;
}
