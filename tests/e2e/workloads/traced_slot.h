/* SPDX-License-Identifier: Apache-2.0 */
/* The thread-local variable of OTEP 4947, in the program or in a library, and its record. */
#ifndef TRACED_SLOT_H
#define TRACED_SLOT_H

#include <stdint.h>

struct traced_record {
	uint8_t trace[16], span[8], valid, flags;
	uint16_t bytes;
};

/* Lets the thread have the record. NULL: none. */
void traced_attach(const void *record);

#endif
