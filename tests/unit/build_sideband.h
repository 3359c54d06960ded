/* SPDX-License-Identifier: Apache-2.0 */
/* Writes side-band records as the kernel does. */
#ifndef KEYHOLE_TESTS_UNIT_BUILD_SIDEBAND_H
#define KEYHOLE_TESTS_UNIT_BUILD_SIDEBAND_H

#include <stddef.h>
#include <stdint.h>

#include "worker/sample/sideband.h"

#define BUILD_SIDEBAND_BYTES 4096

struct build_sideband {
	void *page; /* the control page, then the data */
	struct sideband sideband;
};

void build_sideband_init(struct build_sideband *build);
void build_sideband_release(struct build_sideband *build);

void build_mmap(struct build_sideband *build, uint64_t time, uint32_t pid, uint64_t start,
		uint64_t bytes, uint64_t offset, uint64_t inode, uint32_t protection,
		const char *path);
void build_comm(struct build_sideband *build, uint64_t time, uint32_t pid, uint32_t tid,
		const char *comm, int exec);
void build_lost(struct build_sideband *build, uint64_t time, uint64_t lost);
/* Adds the bytes of a record as they are. */
void build_raw(struct build_sideband *build, const void *bytes, size_t size);

#endif
