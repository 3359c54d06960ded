/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the files of the kernel's energy zones (RAPL), which only root may read. The loader reads
 * none of them: the worker gets the descriptors.
 */
#ifndef KEYHOLE_LOADER_ZONES_H
#define KEYHOLE_LOADER_ZONES_H

#include <stdint.h>

#include "ipc/zones.h"

/* Descriptors stay open, for the worker that takes the place of another one. */
struct zones {
	int error;	/* 0, or why there is no zone: a negative errno */
	uint32_t count; /* of the zones below, in ascending order of their numbers */
	struct {
		uint32_t number; /* ZONE_NUMBER() */
		int files[ZONE_FILES];
	} zone[ZONES_MAX];
};

void zones_open(struct zones *zones);

#endif
