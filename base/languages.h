/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of base/languages.def and base/made_languages.def. */
#ifndef KEYHOLE_BASE_LANGUAGES_H
#define KEYHOLE_BASE_LANGUAGES_H

#include <stdint.h>

struct language {
	uint32_t runtime; /* enum runtime */
	const char *name, *object, *suffix, *frame_type;
};

/* Returns the row of an enum runtime, or NULL: keyhole does not name its functions. */
const struct language *language_of_runtime(uint32_t runtime);
/* Returns the row whose functions an object of this name holds, or NULL. */
const struct language *language_of_object(const char *name);

/* Returns the row for code that the runtime makes while the program runs, whatever it is. */
const struct language *language_of_made(uint32_t runtime);
/* Returns the row whose code an object of this name holds, or NULL. */
const struct language *language_of_made_object(const char *name);

#endif
