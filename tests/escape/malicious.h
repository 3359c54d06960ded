/* SPDX-License-Identifier: Apache-2.0 */
/* Datagrams as a process sends them that was taken over: built from the table, then made wrong. */
#ifndef KEYHOLE_TESTS_MALICIOUS_H
#define KEYHOLE_TESTS_MALICIOUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/channel.h"

enum variant {
#define V(name, help) VARIANT_##name,
#include "tests/escape/variants.def"
#undef V
	VARIANT_COUNT
};

/* Whether it is wrong at all for this type. */
bool variant_applies(enum variant variant, unsigned int type);

/* Sends it on the channel, as the next message or not, whatever the table says of who may. Returns
 * 0 or a negative errno. Never waits. */
int malicious_send(struct channel *channel, unsigned int type, enum variant variant);

#endif
