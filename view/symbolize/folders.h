/* SPDX-License-Identifier: Apache-2.0 */
/* The files that may have what is known of an object, by its build id. Of what is in them nothing
 * is read here. */
#ifndef KEYHOLE_VIEW_SYMBOLIZE_FOLDERS_H
#define KEYHOLE_VIEW_SYMBOLIZE_FOLDERS_H

#include <stddef.h>

#include "view/symbolize/exchange.h"

#define FOLDERS_MAX 8

struct folders {
	const char *paths[FOLDERS_MAX];
	size_t count;
};

/* Until nobody asks any more: 0, or -EPROTO. */
int folders_serve(const struct folders *folders, const struct exchange *exchange);

#endif
