/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PROCMAP_QUERY asks a maps file about one mapping (Linux 6.11, ed5d583a88a9). Older headers of the
 * kernel do not have it.
 */
#ifndef KEYHOLE_POLICY_PROCMAP_H
#define KEYHOLE_POLICY_PROCMAP_H

#include <stdint.h>
#include <sys/ioctl.h>

#define PROCMAP_EXECUTABLE 0x04u

/* struct procmap_query of include/uapi/linux/fs.h */
struct procmap_query {
	uint64_t size, query_flags, address;
	uint64_t start, end, flags, page_size, offset, inode;
	uint32_t major, minor, name_size, build_id_size;
	uint64_t name, build_id;
};
_Static_assert(sizeof(struct procmap_query) == 104, "struct procmap_query");

#undef PROCMAP_QUERY
#define PROCMAP_QUERY _IOWR('f', 17, struct procmap_query)

#endif
