/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning of a worker that was taken over: it behaves until it has all its descriptors. */
#ifndef KEYHOLE_TESTS_CANARY_TAKEN_OVER_H
#define KEYHOLE_TESTS_CANARY_TAKEN_OVER_H

#include "bpf/abi.h"
#include "ipc/channel.h"
#include "worker/regions.h"
#include "worker/sample/ring.h"

#define TAKEN_OVER_PAGE 4096u

/* Fills all in, up to the moment at which samples come. Ends the process where that fails. */
void taken_over_begin(struct channel *loader, struct regions *regions,
		      struct ring rings[ABI_MAX_CPUS]);

#endif
