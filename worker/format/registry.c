/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/format/format.h"

static const struct format *const formats[] = {
#define F(number, name, suffix) &format_##name,
#include "ipc/formats.def"
#undef F
};

const struct format *format_find(uint32_t id)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (formats[i]->id == id)
			return formats[i];
	}
	return NULL;
}
