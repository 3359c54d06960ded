/* SPDX-License-Identifier: Apache-2.0 */
#include "traced_slot.h"

__attribute__((visibility("default"))) __thread const void *volatile otel_thread_ctx_v1;

/* More than glibc keeps for libraries that come late: then the variable is where the DTV says. */
#ifdef TRACED_ROOM
static __thread volatile char room[TRACED_ROOM];
#endif

void traced_attach(const void *record)
{
#ifdef TRACED_ROOM
	room[0] = 1;
#endif
	otel_thread_ctx_v1 = record;
}
